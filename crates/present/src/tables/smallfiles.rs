//! The table of `smallfiles`: the phases.

use results::quantity::{count, latency, number};
use results::{Figures, LatencyFigures, PhaseRecord, Row, Study, Trust, Verdict, VerdictRow};

use super::sentence::first_error;
use super::table::{Form, Table};

pub(super) fn tables(study: &Study, form: Form) -> String {
    let parts: Vec<String> =
        [reasons(study, form), phases(study, form), failures(study, form)].into_iter().flatten().collect();
    parts.join("\n")
}

/// Why some were not judged, as far as their lines do not say it.
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

/// Calls that are timed within another phase.
pub(super) const WITHIN: [&str; 3] = ["write-close", "fsync-file-only", "fsync-directory-only"];

fn phases(study: &Study, form: Form) -> Option<String> {
    let mut table = Table::new(&["phase", "ops/s", "p50", "p99", "failed", "<cache"]);
    // On a terminal those that count: the sheet, Markdown and CSV have the calls within.
    let within = |row: &Row| matches!(form, Form::Text { .. }) && WITHIN.contains(&row.pattern.as_str());
    // The shell's loops stand above: they tell no latency.
    for row in study.rows.iter().filter(|row| !row.pattern.starts_with("shell") && !within(row)) {
        table.row(match (&row.phase, row.figures()) {
            (Some(phase), Some(figures)) => measured(row, phase, &figures),
            _ => cells(row, ["-", "-", "-", "-", "did not run"]),
        });
    }
    (!table.is_empty()).then(|| table.shown(form))
}

fn cells(row: &Row, others: [&str; 5]) -> Vec<String> {
    let mut cells = vec![row.title.clone()];
    cells.extend(others.map(str::to_string));
    cells
}

fn measured(row: &Row, phase: &PhaseRecord, figures: &Figures) -> Vec<String> {
    // An answer of the client's attribute cache is what a hot row is about, and not the storage's all the same.
    let cached = row.findings.iter().any(|finding| finding.id == "attribute-cache");
    let cache = match (phase.cache.as_deref(), cached) {
        (Some("hot"), true) => "attribute cache",
        (cache, _) => cache.unwrap_or(""),
    };
    if phase.operations == 0 && phase.failures == 0 {
        return cells(row, ["-", "-", "-", "-", if cache.is_empty() { "did not run" } else { cache }]);
    }
    let time = |pick: fn(&LatencyFigures) -> Option<u64>| {
        figures.total.latency.as_ref().and_then(pick).map_or("-".to_string(), |ns| latency(ns as f64))
    };
    let rate = phase.rate_per_s().map_or("-".to_string(), number);
    let failed = count(phase.failures);
    let comma = if cache.is_empty() { "" } else { ", " };
    let mark = if row.trust() == Trust::Ok { String::new() } else { format!("{comma}{}", row.trust().word()) };
    cells(
        row,
        [&rate, &time(|found| Some(found.p50_ns)), &time(|found| found.p99_ns), &failed, &format!("{cache}{mark}")],
    )
}

/// The first error of each phase that had one.
fn failures(study: &Study, form: Form) -> Option<String> {
    let line = |row: &Row| {
        let failed = row.phase.as_ref()?.failures;
        let error = first_error(row)?;
        Some(form.paragraph(&format!("{}: {} failed, the first with {error}", row.title, count(failed))))
    };
    let lines: String = study.rows.iter().filter_map(line).collect();
    (!lines.is_empty()).then_some(lines)
}

#[cfg(test)]
mod tests;
