//! The tables of `smallfiles`: the published rule, then the phases.

use results::quantity::{bytes, count, counted, latency, number};
use results::{Figures, LatencyFigures, PhaseRecord, Row, Study, Trust, VerdictRow};

use super::sentence::first_error;
use super::table::{Form, Table};

pub(super) fn tables(study: &Study, form: Form) -> String {
    let parts: Vec<String> =
        [rule(study, form), phases(study, form), failures(study, form)].into_iter().flatten().collect();
    parts.join("\n")
}

/// The rows that the published rule was held against.
fn rule(study: &Study, form: Form) -> Option<String> {
    let of_row = |verdict: &VerdictRow| Some((study.rows.get(*verdict.rows.first()?)?.clone(), verdict.clone()));
    let judged: Vec<(Row, VerdictRow)> = study.verdicts.iter().filter_map(of_row).collect();
    let first = judged.iter().find_map(|(row, _)| row.phase.as_ref())?;
    let mut table = Table::new(&[&files(first), "time", "limit", "margin", "<verdict"]);
    for (row, verdict) in &judged {
        let Some(phase) = &row.phase else { continue };
        let requirement = &verdict.requirement;
        table.row(vec![
            row.title.clone(),
            format!("{} s", number(phase.elapsed_ns as f64 / 1e9)),
            format!("{} {}", requirement.threshold, requirement.unit),
            verdict.margin_percent.map_or("-".to_string(), |percent| format!("{} %", number(percent))),
            verdict.verdict.word().to_string(),
        ]);
    }
    Some(format!("{}{}", table.shown(form), reasons(&judged, form)))
}

/// Why some were not judged.
fn reasons(judged: &[(Row, VerdictRow)], form: Form) -> String {
    let mut reasons: Vec<(String, Vec<&str>)> = Vec::new();
    for (row, verdict) in judged.iter().filter(|(_, verdict)| verdict.margin_percent.is_none()) {
        match reasons.iter_mut().find(|(reason, _)| *reason == verdict.reason) {
            Some((_, titles)) => titles.push(&row.title),
            None => reasons.push((verdict.reason.clone(), vec![&row.title])),
        }
    }
    let lines: String =
        reasons.iter().map(|(reason, titles)| form.paragraph(&format!("{}: {reason}.", titles.join(", ")))).collect();
    // Without an empty line Markdown would take it for a part of the table.
    if lines.is_empty() { lines } else { format!("\n{lines}") }
}

/// `1,001 files of 5 bytes`.
fn files(phase: &PhaseRecord) -> String {
    let attempted = phase.operations + phase.failures;
    let each = phase.bytes.filter(|_| phase.operations > 0).map(|all| all / phase.operations);
    let size = each.map(|each| match each {
        0..1000 => format!(" of {}", counted(each, "byte")),
        _ => format!(" of {}", bytes(each as f64)),
    });
    format!("{}{}", counted(attempted, "file"), size.unwrap_or_default())
}

fn phases(study: &Study, form: Form) -> Option<String> {
    let mut table = Table::new(&["phase", "ops/s", "p50", "p99", "failed", "<cache"]);
    // The shell's loops stand above: they tell no latency.
    for row in study.rows.iter().filter(|row| !row.pattern.starts_with("shell")) {
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
    let mark = if row.trust() == Trust::Ok { String::new() } else { format!(", {}", row.trust().word()) };
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
