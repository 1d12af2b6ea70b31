//! Describes a row in a few words.

use fsdyno_results::{
    Lane, LatencyFigures, PhaseRecord, RANKS_APART, Row, Severity, Study, TestRounds, Trust, test_name,
};
use fsdyno_text::quantity::{are_apart, bytes_per_s, count, count_per_s, latency, number};

/// A row's result for a part of a line: rate, latency, trust; or the error.
pub fn summary(row: &Row) -> String {
    if let Some(phase) = &row.phase {
        return of_phase(row, phase);
    }
    if let Some(error) = first_error(row) {
        return format!("failed: {error}");
    }
    let round = TestRounds::of_rows([row]);
    let (bytes, requests) = round.rates();
    let Some(rate) = round.value(requests) else { return "did not run".to_string() };
    let moved = round.value(bytes).filter(|rate| *rate > 0.0).map(bytes_per_s);
    let mut parts: Vec<String> = moved.into_iter().chain([count_per_s(rate)]).collect();
    // Where each write is synced, the latency of the write alone says little.
    let times = |lane| round.latency(lane).as_ref().and_then(LatencyFigures::of);
    let word = if row.pattern == test_name::SYNC_LATENCY { "" } else { "sync " };
    parts.extend(match times(Lane::Sync) {
        Some(syncs) => Some(format!("{word}{}", percentiles(&syncs))),
        None => times(Lane::Request).as_ref().map(percentiles),
    });
    parts.extend(doubt(row));
    parts.join(", ")
}

/// The result of a phase; one that failed in part still has its rate.
fn of_phase(row: &Row, phase: &PhaseRecord) -> String {
    let attempted = phase.operations + phase.failures;
    if attempted == 0 {
        let reason = phase.cache.as_ref().map(|reason| format!(": {reason}"));
        return format!("did not run{}", reason.unwrap_or_default());
    }
    if row.tree.is_some() && phase.failures == 0 {
        // One of several commands in a step.
        return format!("{} {}", row.pattern, latency(phase.elapsed_ns as f64));
    }
    let failed =
        first_error(row).map(|error| format!("{} of {} failed: {error}", count(phase.failures), count(attempted)));
    let rate = phase.rate_per_s().map(|rate| format!("{} ops/s", number(rate)));
    let found = LatencyFigures::of(&phase.latency).as_ref().map(percentiles);
    [failed, rate, found, doubt(row)].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn percentiles(found: &LatencyFigures) -> String {
    let mean = Some(found.mean_ns).filter(|mean_ns| are_apart(*mean_ns, found.p50_ns as f64));
    let mean = mean.map(|ns| format!(" (mean {})", latency(ns))).unwrap_or_default();
    let p50 = format!("p50 {}{mean}", latency(found.p50_ns as f64));
    found.p99_ns.map_or(p50.clone(), |p99_ns| format!("{p50}, p99 {}", latency(p99_ns as f64)))
}

fn doubt(row: &Row) -> Option<String> {
    (row.trust() != Trust::Ok).then(|| TestRounds::of_rows([row]).trust_word().to_string())
}

/// Says which tests there was no time for: their figures are missing in the answer.
pub(crate) fn left_out(study: &Study) -> impl Iterator<Item = &str> {
    let notes = study.notes.iter().filter(|note| note.id == "tests-left-out" && note.severity > Severity::Info);
    notes.map(|note| note.text.as_str())
}

/// Why the study is not complete, and what that means for its figures; `None`: it is complete.
pub(crate) fn incomplete(study: &Study) -> Option<[&'static str; 2]> {
    match () {
        () if study.complete => None,
        () if study.lacks_ranks() => Some(["Incomplete", "some ranks sent no results; these are those of the others"]),
        () if study.rows.is_empty() => Some(["Stopped early", "nothing was measured until then"]),
        () => Some(["Stopped early", "these are the results until then"]),
    }
}

/// The first error of the row, in words.
pub(crate) fn first_error(row: &Row) -> Option<String> {
    let (rank, error) = row.first_error()?;
    // A sentence of its own reports on what the ranks disagree.
    let function = if error.function == RANKS_APART { String::new() } else { format!("{}: ", error.function) };
    Some(format!("{rank}{function}{}", error.text))
}
