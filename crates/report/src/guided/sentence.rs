//! A row in a few words.

use results::Row;

use results::quantity::{bytes_per_s, count_per_s, latency, number};

/// What a row found, on part of a line: rate, latency, trust; or the error.
pub fn summary(row: &Row) -> String {
    if let Some(error) = first_error(row) {
        return format!("failed: {error}");
    }
    let Some(figures) = row.figures() else { return "did not run".to_string() };
    let total = figures.total;
    let mut parts = Vec::new();
    if total.bytes > 0 {
        parts.push(bytes_per_s(total.bytes_per_s));
    }
    parts.push(match &row.phase {
        Some(_) => format!("{}/s", number(total.iops)),
        None => count_per_s(total.iops),
    });
    if let Some(found) = total.latency {
        parts.push(format!("p50 {}, p99 {}", latency(found.p50_ns as f64), latency(found.p99_ns as f64)));
    }
    if row.trust() != results::Trust::Ok {
        parts.push(row.trust().word().to_string());
    }
    parts.join(", ")
}

/// The first error of the row, in words.
pub(crate) fn first_error(row: &Row) -> Option<String> {
    let of_job = row.run.iter().flat_map(|run| &run.jobs).find_map(|job| job.error.as_ref());
    let error = of_job.or(row.phase.as_ref().and_then(|phase| phase.error.as_ref()))?;
    Some(format!("{}: {}", error.function, error.text))
}
