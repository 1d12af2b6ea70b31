//! The table of `compare`: patterns down, targets across, the first target the baseline; then who is ahead where, as
//! far as the rounds can tell.

use results::quantity::{latency, number};
use results::{Study, Trust};

use super::table::{Form, Table};
use crate::summary::{Cell, Grid, Lane, Line, Metric, Ratio};

/// The five patterns in the order in which people read them; others follow.
const ORDER: [&str; 5] = ["read", "write", "randread", "randwrite", "randrw"];

pub(super) fn table(study: &Study, form: Form) -> String {
    let grid = Grid::of(study);
    if grid.lines.is_empty() {
        return String::new();
    }
    let mut headers = vec!["pattern", "<figure"];
    headers.extend(grid.targets.iter().map(String::as_str));
    let mut table = Table::new(&headers);
    for line in ordered(&grid) {
        add(&mut table, line, &grid.targets[0]);
    }
    let rounds = match grid.rounds() {
        1 => "One round each: there is no interval, and nothing shows how much they differ by chance.".to_string(),
        rounds => format!(
            "Medians of up to {rounds} rounds that took turns; × {} is the median over the rounds with its interval.",
            grid.targets[0]
        ),
    };
    let mut text = table.shown(form);
    text.push('\n');
    text.push_str(&form.paragraph(&rounds));
    for line in ordered(&grid) {
        text.push_str(&form.paragraph(&standing(line, &grid.targets)));
    }
    text
}

fn ordered<'g, 'a>(grid: &'g Grid<'a>) -> Vec<&'g Line<'a>> {
    let mut lines: Vec<&Line<'a>> = grid.lines.iter().collect();
    lines.sort_by_key(|line| ORDER.iter().position(|name| *name == line.pattern).unwrap_or(ORDER.len()));
    lines
}

/// The figure by which targets are ranked: what was durable, where something was written.
pub(crate) fn headline(line: &Line<'_>) -> Metric {
    let durable = |cell: &Cell<'_>| cell.value(Metric::Durable).is_some();
    let reads = |cell: &Cell<'_>| cell.latency(Lane::Read).is_some();
    if line.cells.iter().any(durable) && !line.cells.iter().any(reads) { Metric::Durable } else { Metric::Throughput }
}

fn add(table: &mut Table, line: &Line<'_>, baseline: &str) {
    let metric = headline(line);
    let each = |show: &dyn Fn(&Cell<'_>) -> Option<String>| -> Vec<String> {
        line.cells.iter().map(|cell| show(cell).unwrap_or_else(|| "-".to_string())).collect()
    };
    let mut first = true;
    let mut row = |figure: &str, cells: Vec<String>| {
        let name = if first { line.pattern.clone() } else { String::new() };
        first = false;
        let mut all = vec![name, figure.to_string()];
        all.extend(cells);
        table.row(all);
    };
    row("MB/s", each(&|cell| Some(number(cell.value(metric)? / 1e6))));
    let against = |show: &dyn Fn(&Ratio) -> String| -> Vec<String> {
        let of_cell = |(index, cell): (usize, &Cell<'_>)| match cell.ratio(&line.cells[0], metric) {
            _ if index == 0 => String::new(),
            Some(ratio) => show(&ratio),
            None => "-".to_string(),
        };
        line.cells.iter().enumerate().map(of_cell).collect()
    };
    row(&format!("× {baseline}"), against(&|ratio| number(ratio.value)));
    row("  interval", against(&interval));
    row("IOPS", each(&|cell| cell.value(Metric::Iops).map(number)));
    for lane in [Lane::Read, Lane::Write] {
        for (name, metric) in [("p50", Metric::P50(lane)), ("p99", Metric::P99(lane))] {
            let percentiles = each(&|cell| cell.value(metric).map(latency));
            if percentiles.iter().any(|cell| cell != "-") {
                row(&format!("{name} {}", lane.word()), percentiles);
            }
        }
    }
    row("CPU %", each(&|cell| cell.value(Metric::Cpu).map(number)));
    row("MB per CPU-s", each(&|cell| Some(number(cell.value(Metric::BytesPerCpuSecond)? / 1e6))));
    row("trust", line.cells.iter().map(trust).collect());
}

/// Where a multiple of the baseline lies.
fn interval(ratio: &Ratio) -> String {
    match ratio.interval {
        Some(interval) => format!("{}..{}", number(interval.low), number(interval.high)),
        None => "none".to_string(),
    }
}

fn trust(cell: &Cell<'_>) -> String {
    if cell.repeats.is_empty() {
        return "did not run".to_string();
    }
    if cell.error().is_some() {
        return "failed".to_string();
    }
    let reasons = cell.reasons();
    let word = cell.trust().word();
    if cell.trust() == Trust::Ok || reasons.is_empty() {
        word.to_string()
    } else {
        format!("{word}: {}", reasons.join(", "))
    }
}

/// Who is ahead in a pattern, as far as the rounds can tell. An invalid cell cannot win.
pub(crate) fn standing(line: &Line<'_>, targets: &[String]) -> String {
    let metric = headline(line);
    let mut valid: Vec<(usize, f64)> = Vec::new();
    let mut left_out = Vec::new();
    for (index, cell) in line.cells.iter().enumerate() {
        match cell.value(metric) {
            Some(value) if cell.trust() < Trust::Invalid && cell.error().is_none() => valid.push((index, value)),
            _ if cell.repeats.is_empty() => {}
            _ => left_out.push(targets[index].as_str()),
        }
    }
    valid.sort_by(|one, other| other.1.total_cmp(&one.1));
    let mut text = match valid[..] {
        [] => format!("{}: no target has a number that counts.", line.pattern),
        [(only, _)] => format!("{}: only {} has a number that counts.", line.pattern, targets[only]),
        [(first, _), (second, _), ..] => lead(line, targets, metric, first, second),
    };
    if !left_out.is_empty() && !valid.is_empty() {
        text.push_str(&format!(" {} cannot win: see its trust.", left_out.join(" and ")));
    }
    text
}

fn lead(line: &Line<'_>, targets: &[String], metric: Metric, first: usize, second: usize) -> String {
    let (winner, next) = (&targets[first], &targets[second]);
    match line.cells[first].ratio(&line.cells[second], metric) {
        Some(ratio) if ratio.is_distinct() => {
            format!("{}: {winner} is ahead, {} times as fast as {next}.", line.pattern, number(ratio.value))
        }
        Some(_) => format!("{}: no difference between {winner} and {next} that the rounds could show.", line.pattern),
        None => format!("{}: {winner} and {next} were not measured in the same rounds.", line.pattern),
    }
}
