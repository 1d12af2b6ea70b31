//! The table of `compare`: patterns down, targets across, the first target the baseline; then who is ahead where, as
//! far as the rounds can tell.

use results::quantity::{Units, latency, number, rate_number, rate_unit};
use results::statistics::{Difference, WINNER_ROUNDS};
use results::{Study, Trust, sort};

use super::table::{Form, Table};
use crate::quantity::{listed, ratio, times, times_between};
use crate::summary::{Cell, Grid, Lane, Line, Metric, Ratio};

pub(super) fn table(study: &Study, form: Form) -> String {
    let grid = Grid::of(study);
    if grid.lines.is_empty() {
        return String::new();
    }
    let mut headers = vec!["pattern"];
    headers.extend(grid.targets.iter().map(String::as_str));
    let mut table = Table::new(&headers);
    for line in &grid.lines {
        add(&mut table, line, &grid.targets[0], form);
    }
    let mut text = table.shown(form);
    text.push('\n');
    text.push_str(&form.paragraph(&how_to_read(&grid)));
    text.push('\n');
    for line in &grid.lines {
        text.push_str(&form.paragraph(&standing(line, &grid.targets)));
    }
    text
}

fn how_to_read(grid: &Grid<'_>) -> String {
    let baseline = &grid.targets[0];
    let ratios = || {
        let of_line = |line: &Line<'_>| {
            let others = line.cells.iter().skip(1);
            others.filter_map(|cell| cell.ratio(&line.cells[0], line.headline())?.interval).collect::<Vec<_>>()
        };
        grid.lines.iter().flat_map(of_line)
    };
    let confidence = ratios().map(|interval| interval.confidence).reduce(f64::min);
    let interval = match confidence {
        Some(confidence) => format!("with its {:.0} % interval", confidence * 100.0),
        None => "without an interval (it needs three rounds)".to_string(),
    };
    match grid.rounds() {
        1 => "One round each: there is no interval, and the noise is unknown.".to_string(),
        rounds => format!(
            "Medians of {rounds} alternating rounds; × {baseline}: the median of the rounds' ratios, {interval}. \
             Percentiles are over the requests of all rounds; CPU % is of one CPU; scatter is the deviation of the \
             rounds' rates over their mean."
        ),
    }
}

fn add(table: &mut Table, line: &Line<'_>, baseline: &str, form: Form) {
    let metric = line.headline();
    let each = |show: &dyn Fn(&Cell<'_>) -> Option<String>| -> Vec<String> {
        line.cells.iter().map(|cell| show(cell).unwrap_or_else(|| "-".to_string())).collect()
    };
    let mut row = |name: String, cells: Vec<String>| table.row(std::iter::once(name).chain(cells).collect());
    row(line.pattern.clone(), line.cells.iter().map(trust).collect());
    let mut row = |figure: &str, cells: Vec<String>| row(format!("  {figure}"), cells);
    row(rate_unit(), each(&|cell| Some(rate_number(cell.value(metric)?))));
    let against = |(index, cell): (usize, &Cell<'_>)| match cell.ratio(&line.cells[0], metric) {
        _ if index == 0 => String::new(),
        Some(_) if cell.trust().max(line.cells[0].trust()) == Trust::Invalid => "not compared".to_string(),
        Some(ratio) => multiple(&ratio),
        None => "-".to_string(),
    };
    row(&format!("× {baseline}"), line.cells.iter().enumerate().map(against).collect());
    row("IOPS", each(&|cell| cell.value(Metric::Iops).map(number)));
    for lane in [Lane::Read, Lane::Write] {
        for (name, metric) in [("p50", Metric::P50(lane)), ("p99", Metric::P99(lane))] {
            let percentile = |cell: &Cell<'_>| match cell.value(metric) {
                Some(_) if cell.is_scarce(metric) => Some("too few".to_string()),
                value => value.map(latency),
            };
            let percentiles = each(&percentile);
            if percentiles.iter().any(|cell| cell != "-") {
                row(&format!("{name} {}", lane.word()), percentiles);
            }
        }
    }
    row("CPU %", each(&|cell| cell.value(Metric::Cpu).map(number)));
    let per_cpu = format!("{} per CPU-s", Units::shown().megabyte());
    row(&per_cpu, each(&|cell| Some(rate_number(cell.value(Metric::BytesPerCpuSecond)?))));
    let scatter = each(&|cell| cell.scatter_percent(metric).map(|percent| format!("{percent:.1}")));
    if scatter.iter().any(|cell| cell != "-") {
        row("scatter %", scatter);
    }
    let reasons: Vec<String> = line.cells.iter().map(|cell| reasons(cell, form)).collect();
    if reasons.iter().any(|cell| !cell.is_empty()) {
        row("found", reasons);
    }
}

/// A multiple of the baseline, and where it lies: `1.83 (1.40–2.21)`.
fn multiple(ratio: &Ratio) -> String {
    match ratio.interval {
        Some(interval) => format!("{} ({})", times(ratio.value), times_between(&interval)),
        None => times(ratio.value),
    }
}

fn trust(cell: &Cell<'_>) -> String {
    if cell.repeats.is_empty() {
        return "did not run".to_string();
    }
    if cell.error().is_some() {
        return "failed".to_string();
    }
    cell.trust().word().to_string()
}

/// The kinds of finding behind a trust that is not ok, one a line: side by side they would push the table apart.
fn reasons(cell: &Cell<'_>, form: Form) -> String {
    let between = if matches!(form, Form::Markdown) { ", " } else { "\n" };
    if cell.trust() == Trust::Ok { String::new() } else { cell.reasons().join(between) }
}

/// Who stands where in a pattern.
struct Standing {
    /// The targets with a number that counts, the fastest first, by the ratios of their rounds.
    ranks: Vec<usize>,
    /// Those that ran and cannot win: nothing of them counts, or they lead with a number that says too little.
    left_out: Vec<usize>,
}

impl Standing {
    fn of(line: &Line<'_>) -> Standing {
        let metric = line.headline();
        let ran = (0..line.cells.len()).filter(|index| !line.cells[*index].repeats.is_empty());
        let (mut ranks, mut left_out): (Vec<usize>, Vec<usize>) =
            ran.partition(|index| line.cells[*index].counts(metric));
        let faster = |one: usize, other: usize| {
            line.cells[one].ratio(&line.cells[other], metric).is_some_and(|ratio| ratio.value > 1.0)
        };
        let all = ranks.clone();
        sort::by_key(&mut ranks, |one| std::cmp::Reverse(all.iter().filter(|other| faster(*one, **other)).count()));
        let barred = ranks.iter().take_while(|index| !line.cells[**index].can_win()).count();
        left_out.extend(ranks.drain(..barred));
        left_out.sort_unstable();
        Standing { ranks, left_out }
    }

    /// The first, and the ratio to the one behind it that decides: the first to which no difference is shown, else the
    /// second. `None` with fewer than two; the ratio is missing where the two have no round in common.
    fn lead(&self, line: &Line<'_>) -> Option<(usize, usize, Option<Ratio>)> {
        let (first, others) = self.ranks.split_first()?;
        let ratio = |other: usize| line.cells[*first].ratio(&line.cells[other], line.headline());
        let open = others.iter().find(|other| !ratio(**other).is_some_and(|found| is_ahead(&found)));
        let decides = *open.or(others.first())?;
        Some((*first, decides, ratio(decides)))
    }
}

fn is_ahead(found: &Ratio) -> bool {
    found.difference() == Difference::Shown && found.value > 1.0
}

/// The whole comparison in a few sentences: who is ahead of whom in which patterns, where no difference is shown, and
/// whose numbers cannot win. Empty when there is nothing to compare.
pub(crate) fn verdict(grid: &Grid<'_>) -> Vec<String> {
    let mut ahead: Vec<(usize, Vec<String>)> = Vec::new();
    let mut left_out: Vec<(usize, Vec<String>)> = Vec::new();
    let mut open: Vec<String> = Vec::new();
    let add = |list: &mut Vec<(usize, Vec<String>)>, target: usize, words: String| match list
        .iter_mut()
        .find(|(known, _)| *known == target)
    {
        Some((_, known)) => known.push(words),
        None => list.push((target, vec![words])),
    };
    let name = |index: usize| &grid.targets[index];
    for line in &grid.lines {
        let standing = Standing::of(line);
        standing.left_out.iter().for_each(|target| add(&mut left_out, *target, line.pattern.clone()));
        let Some((first, second, found)) = standing.lead(line) else { continue };
        match found.filter(is_ahead) {
            Some(found) => {
                add(&mut ahead, first, format!("{} ({} of {})", line.pattern, ratio(found.value), name(second)));
            }
            None => open.push(line.pattern.clone()),
        }
    }
    let fastest =
        |(first, patterns): &(usize, Vec<String>)| format!("{} is the fastest in {}.", name(*first), listed(patterns));
    let mut sentences: Vec<String> = ahead.iter().map(fastest).collect();
    if !open.is_empty() {
        sentences.push(match grid.rounds() {
            1 => format!("One round cannot show a difference: no winner in {}.", listed(&open)),
            few if few < WINNER_ROUNDS.0 as usize => format!(
                "{few} rounds cannot show a difference ({} are needed): no winner in {}.",
                WINNER_ROUNDS.0,
                listed(&open)
            ),
            _ => format!("In {} there is no clear difference between the fastest two.", listed(&open)),
        });
    }
    let refused = left_out
        .iter()
        .map(|(target, patterns)| format!("{} cannot win in {}: see its findings.", name(*target), listed(patterns)));
    sentences.extend(refused);
    sentences
}

/// Which target is ahead in a pattern, as far as the rounds show it.
fn standing(line: &Line<'_>, targets: &[String]) -> String {
    let standing = Standing::of(line);
    let left_out: Vec<String> = standing.left_out.iter().map(|index| targets[*index].clone()).collect();
    let mut text = match (standing.lead(line), &standing.ranks[..]) {
        (Some((first, second, found)), _) => lead(&line.pattern, &targets[first], &targets[second], found),
        (None, [only, ..]) => format!("{}: only {} has a valid number.", line.pattern, targets[*only]),
        (None, []) => format!("{}: no target has a valid number.", line.pattern),
    };
    if !left_out.is_empty() && !standing.ranks.is_empty() {
        text.push_str(&format!(" {} cannot win: see its trust.", listed(&left_out)));
    }
    text
}

fn lead(pattern: &str, winner: &str, next: &str, found: Option<Ratio>) -> String {
    let Some(found) = found else {
        return format!("{pattern}: {winner} and {next} were not measured in the same rounds.");
    };
    let multiple = times(found.value);
    match found.difference() {
        Difference::Shown if is_ahead(&found) => {
            format!("{pattern}: {winner} is ahead, {multiple} times as fast as {next}.")
        }
        Difference::TooFew => format!(
            "{pattern}: {winner} was {multiple} times as fast as {next}, but too few rounds ran to call it a \
             difference."
        ),
        Difference::Shown | Difference::NotShown => {
            format!("{pattern}: no clear difference between {winner} and {next}.")
        }
    }
}
