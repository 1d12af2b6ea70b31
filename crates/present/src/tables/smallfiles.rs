//! Shows the phases of `smallfiles` in a table.

use fsdyno_results::test_name::phase_of_part;
use fsdyno_results::{Lane, Metric, PhaseRecord, Study, TestRounds, Trust, Verdict, VerdictRow};
use fsdyno_text::quantity::{count, latency, number};

use super::sentence::first_error;
use super::table::{Form, Table};
use crate::summary::{Grid, PatternLine};

pub(super) fn tables(study: &Study, form: Form) -> String {
    let grid = Grid::of(study);
    let parts: Vec<String> =
        [reasons(study, form), phases(&grid, form), failures(&grid, form)].into_iter().flatten().collect();
    parts.join("\n")
}

/// All phases that ran, two beside each other where there is room: names, rates and 99th percentiles, or names and rates.
pub(super) fn in_short(study: &Study, form: Form) -> String {
    let grid = Grid::of(study);
    let shown = |line: &&PatternLine<'_>| !line.pattern.starts_with("shell") && phase_of_part(&line.pattern).is_none();
    let (mut cells, trusts): (Vec<[String; 3]>, Vec<Trust>) = grid.lines.iter().filter(shown).filter_map(brief).unzip();
    // With few files there is no 99th percentile.
    let has_p99 = cells.iter().any(|[.., p99]| p99 != "-");
    if !has_p99 {
        cells.iter_mut().for_each(|[.., p99]| p99.clear());
    }
    if cells.is_empty() {
        return String::new();
    }
    let p99 = if has_p99 { "p99" } else { "" };
    let both = beside(&cells, p99);
    let rates = both.without(p99);
    let table = [both, rates].into_iter().find(|table| table.fits(form)).unwrap_or_else(|| below(&cells, p99));
    format!("{}{}", table.shown(form), super::compare::legend(&trusts, "invalid", None, form))
}

/// The phases in one column.
fn below(cells: &[[String; 3]], p99: &str) -> Table {
    let mut table = Table::new(&["phase", "ops/s", p99]);
    cells.iter().for_each(|cells| table.row(cells.to_vec()));
    table
}

/// The second half of the phases beside the first.
fn beside(cells: &[[String; 3]], p99: &str) -> Table {
    let mut table = Table::new(&["phase", "ops/s", p99, "<\u{a0}\u{a0}phase", "ops/s", p99]);
    let (left, right) = cells.split_at(cells.len().div_ceil(2));
    for (index, cells) in left.iter().enumerate() {
        let [name, others @ ..] = right.get(index).cloned().unwrap_or_default();
        // No-break spaces keep a name whole and aligned.
        let beside = [format!("\u{a0}\u{a0}{name}").replace(' ', "\u{a0}")].into_iter().chain(others);
        table.row(cells.iter().cloned().chain(beside).collect());
    }
    table
}

/// A phase with its rate, and the mark after it; `None`: it has no rate.
fn brief(line: &PatternLine<'_>) -> Option<([String; 3], Trust)> {
    let cell = line.cells.first()?;
    let trust = cell.trust();
    let rate = format!("{}\u{a0}{:\u{a0}<2}", number(cell.value(Metric::Operations)?), super::compare::mark(trust));
    let p99 = cell.value(Metric::P99(Lane::Operation)).map_or("-".to_owned(), latency);
    // The number of names in a directory is shown in the wide table only.
    let name = line.title.split(", ").take_while(|part| !part.ends_with(" names")).collect::<Vec<_>>().join(", ");
    Some(([name, rate, p99], trust))
}

/// Why some phases were not judged, where their lines do not say it.
fn reasons(study: &Study, form: Form) -> Option<String> {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    let open = |verdict: &&VerdictRow| verdict.margin_percent.is_none() && verdict.verdict != Verdict::NotApplicable;
    for verdict in study.verdicts.iter().filter(open) {
        let Some(row) = verdict.rows.first().and_then(|index| study.rows.get(*index)) else { continue };
        match reasons.iter_mut().find(|(reason, _)| *reason == verdict.reason) {
            Some((_, titles)) => titles.push(&row.title),
            None => reasons.push((&verdict.reason, vec![&row.title])),
        }
    }
    let line = |(reason, titles): &(&str, Vec<&str>)| form.paragraph(&format!("{}: {reason}.", titles.join(", ")));
    (!reasons.is_empty()).then(|| reasons.iter().map(line).collect())
}

/// The medians of the passes, and their spread.
fn phases(grid: &Grid<'_>, form: Form) -> Option<String> {
    let several = grid.rounds() > 1;
    let spread = if several { &["spread"][..] } else { &[] };
    let headers = [&["phase", "ops/s"], spread, &["p50", "p99", "failed", "<cache"]].concat();
    let mut table = Table::new(&headers);
    // The terminal leaves out the calls within other phases; the sheet, Markdown and CSV have them.
    let within = |name: &str| matches!(form, Form::Text { .. }) && phase_of_part(name).is_some();
    // The shell loops stand above: they have no latency.
    let shown = |line: &&PatternLine<'_>| !line.pattern.starts_with("shell") && !within(&line.pattern);
    for line in grid.lines.iter().filter(shown) {
        let Some(cell) = line.cells.first() else { continue };
        let mut cells = measured(cell);
        if several {
            let spread = spread_percent(cell).map_or("-".to_owned(), |percent| format!("{} %", number(percent)));
            cells.insert(1, spread);
        }
        cells.insert(0, line.title.clone());
        table.row(cells);
    }
    (!table.is_empty()).then(|| table.shown(form))
}

/// Range from the slowest pass to the fastest, percent of the median.
fn spread_percent(cell: &TestRounds<'_>) -> Option<f64> {
    let rates = cell.by_round(Metric::Operations);
    let (least, most) =
        rates.iter().fold((f64::INFINITY, 0.0f64), |(least, most), rate| (least.min(*rate), most.max(*rate)));
    (rates.len() > 1).then(|| Some((most - least) / cell.value(Metric::Operations)? * 100.0)).flatten()
}

/// Rate, latencies, failures and cache of a phase.
fn measured(cell: &TestRounds<'_>) -> Vec<String> {
    let passes: Vec<&PhaseRecord> = cell.repeats.iter().filter_map(|repeat| repeat.phase).collect();
    let blank = |why: &str| ["-", "-", "-", "-", why].map(str::to_owned).to_vec();
    let Some(first) = passes.first() else { return blank("did not run") };
    // A hot row is meant to be answered by the client's attribute cache, but its rate is not the storage's.
    let cached = cell.findings().any(|finding| finding.id == "attribute-cache");
    let cache = match (first.cache.as_deref(), cached) {
        (Some("hot"), true) => "attribute cache",
        (cache, _) => cache.unwrap_or(""),
    };
    if passes.iter().all(|phase| phase.operations == 0 && phase.failures == 0) {
        return blank(if cache.is_empty() { "did not run" } else { cache });
    }
    let time = |metric| cell.value(metric).map_or("-".to_owned(), latency);
    let rate = cell.value(Metric::Operations).map_or("-".to_owned(), number);
    let failed: u64 = passes.iter().map(|phase| phase.failures).sum();
    let comma = if cache.is_empty() { "" } else { ", " };
    let mark = if cell.trust() == Trust::Ok { String::new() } else { format!("{comma}{}", cell.trust_word()) };
    let (p50, p99) = (Metric::P50(Lane::Operation), Metric::P99(Lane::Operation));
    vec![rate, time(p50), time(p99), count(failed), format!("{cache}{mark}")]
}

/// The first error of each phase that had one.
fn failures(grid: &Grid<'_>, form: Form) -> Option<String> {
    let line = |line: &PatternLine<'_>| {
        let repeats = || line.cells.iter().flat_map(|cell| &cell.repeats);
        // An error that ended a phase counts, even if no operation was counted as failed.
        let of_phase = |phase: &PhaseRecord| phase.failures.max(u64::from(phase.error.is_some()));
        let failed: u64 = repeats().filter_map(|repeat| repeat.phase).map(of_phase).sum();
        let error = repeats().find_map(|repeat| first_error(repeat.row))?;
        Some(form.paragraph(&format!("{}: {} failed, the first with {error}", line.title, count(failed))))
    };
    let lines: String = grid.lines.iter().filter_map(line).collect();
    (!lines.is_empty()).then_some(lines)
}

#[cfg(test)]
mod tests;
