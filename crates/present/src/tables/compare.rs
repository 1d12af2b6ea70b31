//! Shows the tables of `compare`: a small one with the ranking; then, if asked for, all figures: patterns as rows,
//! targets as columns, the first target as the baseline.

use fsdyno_results::{Lane, Metric, Ratio, Study, TestRounds, Trust};
use fsdyno_text::quantity::{Units, latency, number, rate_number, rate_unit};

use super::table::{Form, Table};
use crate::headline::{Headline, PatternRanking, TestFigures, figures, metrics, ratio_legend};
use crate::quantity::{times, times_between};
use crate::summary::{Grid, PatternLine};

/// A line for each pattern with the figures of all targets and who is ahead, in the longest words that have room.
pub(super) fn answer(headline: &Headline, study: &Study, form: Form) -> String {
    if headline.standings.is_empty() {
        return String::new();
    }
    let targets = study.target_names();
    let mut tables = LeaderLabel::ALL.into_iter().map(|ahead| table(headline, &targets, ahead));
    let table = match tables.find(|table| table.is_even(form)) {
        Some(table) => table.shown(form),
        None => table(headline, &targets, LeaderLabel::Nothing).in_parts(form),
    };
    let trusts: Vec<Trust> = headline.tests.iter().map(|test| test.trust).collect();
    let ratio = ratio_legend(&headline.standings, Grid::of(study).rounds());
    format!("{table}{}", legend(&trusts, "invalid, cannot win", ratio, form))
}

/// How it is told who is ahead. From the second on units stand beside the names.
#[derive(Clone, Copy, PartialEq)]
enum LeaderLabel {
    /// `no difference shown: 0.97–1.04`, each figure with its unit.
    Unit,
    Sentence,
    /// `local 14.0x`.
    Ratio,
    /// `local`.
    Name,
    /// The sentence above the table has it.
    Nothing,
}

impl LeaderLabel {
    const ALL: [LeaderLabel; 5] =
        [LeaderLabel::Unit, LeaderLabel::Sentence, LeaderLabel::Ratio, LeaderLabel::Name, LeaderLabel::Nothing];

    fn header(self) -> Option<&'static str> {
        match self {
            LeaderLabel::Unit | LeaderLabel::Sentence => Some("<"),
            LeaderLabel::Ratio | LeaderLabel::Name => Some("<winner"),
            LeaderLabel::Nothing => None,
        }
    }

    fn words(self, standing: &PatternRanking) -> Option<String> {
        let winner = standing.winner.as_deref();
        let ratio = || Some(format!("{} {}x", winner?, times(standing.ratio?)));
        Some(match self {
            LeaderLabel::Unit | LeaderLabel::Sentence => standing.conclusion.clone(),
            LeaderLabel::Ratio => ratio().unwrap_or("-".to_owned()),
            LeaderLabel::Name => winner.unwrap_or("-").to_owned(),
            LeaderLabel::Nothing => return None,
        })
    }
}

fn table(headline: &Headline, targets: &[String], ahead: LeaderLabel) -> Table {
    let headers: Vec<&str> = [""].into_iter().chain(targets.iter().map(String::as_str)).chain(ahead.header()).collect();
    let mut table = Table::new(&headers);
    let marks = headline.tests.iter().map(|test| mark(test.trust).len() + 1).filter(|columns| *columns > 1);
    let mark_columns = if ahead == LeaderLabel::Unit { 3 } else { marks.max().unwrap_or(0) };
    for standing in &headline.standings {
        let of =
            |target: &String| headline.tests.iter().find(|test| test.name == standing.name && test.target == **target);
        let tests: Vec<Option<&TestFigures>> = targets.iter().map(of).collect();
        let figures: Vec<String> = tests.iter().map(|test| test.map_or("-".to_owned(), figure)).collect();
        let unit = common_unit(&figures).filter(|_| ahead != LeaderLabel::Unit);
        let name = unit.map_or(standing.name.clone(), |unit| format!("{}\u{a0}{unit}", standing.name));
        let marked = |(figure, test): (&String, &Option<&TestFigures>)| {
            let alone = unit.and_then(|unit| figure.strip_suffix(unit)).unwrap_or(figure).trim_end();
            let behind = test.map_or(String::new(), |test| format!("\u{a0}{}", mark_of(test)));
            format!("{alone}{behind:\u{a0}<mark_columns$}")
        };
        let cells = figures.iter().zip(&tests).map(marked);
        table.row([name].into_iter().chain(cells).chain(ahead.words(standing)).collect());
    }
    table
}

/// The unit that all figures have.
fn common_unit(figures: &[String]) -> Option<&str> {
    let mut units = figures.iter().filter_map(|figure| Some(figure.rsplit_once(' ')?.1));
    let first = units.next()?;
    units.all(|unit| unit == first).then_some(first)
}

/// The marks after a figure.
const CAUTION: &str = "!";
const INVALID: &str = "!!";

fn figure(test: &TestFigures) -> String {
    let words = || figures::compared(test).unwrap_or_else(|| "-".to_string());
    if test.error.is_some() { "failed".to_owned() } else { words() }
}

fn mark_of(test: &TestFigures) -> &'static str {
    if test.error.is_some() { INVALID } else { mark(test.trust) }
}

pub(super) fn mark(trust: Trust) -> &'static str {
    match trust {
        Trust::Ok => "",
        Trust::Caution => CAUTION,
        Trust::Invalid => INVALID,
    }
}

/// The legend of the marks and of the ratios; the trust line gives the reasons.
pub(super) fn legend(trusts: &[Trust], invalid: &str, ratio: Option<&str>, form: Form) -> String {
    let marks = [(CAUTION, "caution", Trust::Caution), (INVALID, invalid, Trust::Invalid)];
    let used = marks.into_iter().filter(|(.., trust)| trusts.contains(trust));
    let marks = used.map(|(mark, meaning, _)| format!("{mark} {meaning}"));
    let meanings: Vec<String> = marks.chain(ratio.map(str::to_owned)).collect();
    if meanings.is_empty() {
        return String::new();
    }
    let text = form.paragraph(&meanings.join("; "));
    // Markdown needs an empty line: else it is part of the table.
    if matches!(form, Form::Markdown) { format!("\n{text}") } else { text }
}

/// The tables of all figures.
pub(super) fn tables(study: &Study, form: Form) -> String {
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
    format!("{}\n{}", table.shown(form), form.paragraph(&how_to_read(&grid)))
}

fn how_to_read(grid: &Grid<'_>) -> String {
    let baseline = &grid.targets[0];
    let ratios = || {
        let of_line = |line: &PatternLine<'_>| {
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
            "Medians of {rounds} alternating rounds; the ratio to {baseline} is the median of the rounds' ratios, \
             {interval}. Percentiles are over the requests of all rounds; CPU % is of one CPU; scatter is the deviation of the \
             rounds' rates over their mean."
        ),
    }
}

fn add(table: &mut Table, line: &PatternLine<'_>, baseline: &str, form: Form) {
    let metric = line.headline();
    let each = |show: &dyn Fn(&TestRounds<'_>) -> Option<String>| -> Vec<String> {
        line.cells.iter().map(|cell| show(cell).unwrap_or_else(|| "-".to_string())).collect()
    };
    let mut row = |name: String, cells: Vec<String>| table.row(std::iter::once(name).chain(cells).collect());
    row(line.pattern.clone(), line.cells.iter().map(trust).collect());
    let mut row = |figure: &str, cells: Vec<String>| row(format!("  {figure}"), cells);
    if line.is_phase() {
        row("ops/s", each(&|cell| cell.value(metric).map(number)));
    } else {
        row(rate_unit(), each(&|cell| Some(rate_number(cell.value(metric)?))));
    }
    let against = |(index, cell): (usize, &TestRounds<'_>)| match cell.ratio(&line.cells[0], metric) {
        _ if index == 0 => String::new(),
        Some(_) if cell.trust().max(line.cells[0].trust()) == Trust::Invalid => "not compared".to_string(),
        Some(ratio) => multiple(&ratio),
        None => "-".to_string(),
    };
    row(&format!("ratio to {baseline}"), line.cells.iter().enumerate().map(against).collect());
    if line.is_phase() {
        let moved = each(&|cell| Some(rate_number(cell.value(Metric::Throughput)?)));
        if moved.iter().any(|cell| cell != "-") {
            row(rate_unit(), moved);
        }
    } else {
        row("IOPS", each(&|cell| cell.value(metrics(line).1).map(number)));
    }
    for lane in [Lane::Read, Lane::Write, Lane::Operation] {
        for (name, metric) in [("p50", Metric::P50(lane)), ("p99", Metric::P99(lane))] {
            let percentile = |cell: &TestRounds<'_>| match cell.value(metric) {
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
    if !line.is_phase() {
        let per_cpu = format!("{} per CPU-s", Units::shown().megabyte());
        row(&per_cpu, each(&|cell| Some(rate_number(cell.value(Metric::BytesPerCpuSecond)?))));
    }
    let scatter = each(&|cell| cell.scatter_percent(metric).map(|percent| format!("{percent:.1}")));
    if scatter.iter().any(|cell| cell != "-") {
        row("scatter %", scatter);
    }
    let reasons: Vec<String> = line.cells.iter().map(|cell| reasons(cell, form)).collect();
    if reasons.iter().any(|cell| !cell.is_empty()) {
        row("found", reasons);
    }
}

/// The ratio to the baseline with its interval: `1.83 (1.40–2.21)`.
fn multiple(ratio: &Ratio) -> String {
    match ratio.interval {
        Some(interval) => format!("{} ({})", times(ratio.value), times_between(&interval)),
        None => times(ratio.value),
    }
}

fn trust(cell: &TestRounds<'_>) -> String {
    if cell.repeats.is_empty() {
        return "did not run".to_string();
    }
    if cell.error().is_some() {
        return "failed".to_string();
    }
    cell.trust().word().to_string()
}

/// The findings behind a trust that is not ok, one per line to keep the column narrow.
fn reasons(cell: &TestRounds<'_>, form: Form) -> String {
    let between = if matches!(form, Form::Markdown) { ", " } else { "\n" };
    if cell.trust() == Trust::Ok { String::new() } else { cell.reasons().join(between) }
}
