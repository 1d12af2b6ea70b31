//! The table of `compare`: patterns down, targets across, the first target the baseline; then who is ahead where, as
//! far as the rounds can tell.

use results::quantity::{latency, number};
use results::{Study, Trust};

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
        None => "without an interval: that takes three rounds".to_string(),
    };
    match grid.rounds() {
        1 => "One round each: there is no interval, and nothing shows how much they differ by chance.".to_string(),
        rounds => format!(
            "Medians of {rounds} rounds that took turns; × {baseline}: the median of the rounds' quotients, {interval}. \
             Percentiles are of all rounds' requests together; CPU % is of one processor; scatter is the deviation of \
             the rounds' MB/s over their mean."
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
    row("MB/s", each(&|cell| Some(number(cell.value(metric)? / 1e6))));
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
    row("MB per CPU-s", each(&|cell| Some(number(cell.value(Metric::BytesPerCpuSecond)? / 1e6))));
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

/// The cells that have a number that counts, the fastest first, and the targets that have none although they ran.
fn ranked(line: &Line<'_>) -> (Vec<(usize, f64)>, Vec<usize>) {
    let metric = line.headline();
    let mut valid: Vec<(usize, f64)> = Vec::new();
    let mut left_out = Vec::new();
    for (index, cell) in line.cells.iter().enumerate() {
        match cell.value(metric) {
            Some(value) if cell.trust() < Trust::Invalid && cell.error().is_none() => valid.push((index, value)),
            _ if cell.repeats.is_empty() => {}
            _ => left_out.push(index),
        }
    }
    valid.sort_by(|one, other| other.1.total_cmp(&one.1));
    (valid, left_out)
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
        let (valid, without) = ranked(line);
        without.into_iter().for_each(|target| add(&mut left_out, target, line.pattern.clone()));
        let [(first, _), (second, _), ..] = valid[..] else { continue };
        match line.cells[first].ratio(&line.cells[second], line.headline()).filter(Ratio::is_distinct) {
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
            1 => format!("One round cannot show a difference: nobody won in {}.", listed(&open)),
            _ => format!("In {} the rounds show no difference between the fastest two.", listed(&open)),
        });
    }
    let refused = left_out.iter().map(|(target, patterns)| {
        format!("{} cannot win in {}: see what was found against it.", name(*target), listed(patterns))
    });
    sentences.extend(refused);
    sentences
}

/// Who is ahead in a pattern, as far as the rounds can tell. An invalid cell cannot win.
fn standing(line: &Line<'_>, targets: &[String]) -> String {
    let metric = line.headline();
    let (valid, left_out) = ranked(line);
    let left_out: Vec<String> = left_out.into_iter().map(|index| targets[index].clone()).collect();
    let mut text = match valid[..] {
        [] => format!("{}: no target has a number that counts.", line.pattern),
        [(only, _)] => format!("{}: only {} has a number that counts.", line.pattern, targets[only]),
        [(first, _), (second, _), ..] => lead(line, targets, metric, first, second),
    };
    if !left_out.is_empty() && !valid.is_empty() {
        text.push_str(&format!(" {} cannot win: see its trust.", listed(&left_out)));
    }
    text
}

fn lead(line: &Line<'_>, targets: &[String], metric: Metric, first: usize, second: usize) -> String {
    let (winner, next) = (&targets[first], &targets[second]);
    match line.cells[first].ratio(&line.cells[second], metric) {
        Some(found) if found.is_distinct() => {
            format!("{}: {winner} is ahead, {} times as fast as {next}.", line.pattern, times(found.value))
        }
        Some(found) if found.interval.is_none() => format!(
            "{}: {winner} was {} times as fast as {next}; too few rounds to call that a difference.",
            line.pattern,
            times(found.value)
        ),
        Some(_) => format!("{}: no difference between {winner} and {next} that the rounds could show.", line.pattern),
        None => format!("{}: {winner} and {next} were not measured in the same rounds.", line.pattern),
    }
}
