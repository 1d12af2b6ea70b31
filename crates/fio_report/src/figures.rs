//! Computes the figures of a row that every format shows, and the labels of their classes.

use fsdyno_results::JobRecord;

/// Labels of the I/Os per submit or reap call.
pub(crate) const CALL_LABELS: [&str; 7] = ["0", "4", "8", "16", "32", "64", ">=64"];
/// Labels of the latency classes: their upper bounds. Only milliseconds use the last two.
pub(crate) const LATENCY_LABELS: [&str; 12] =
    ["2", "4", "10", "20", "50", "100", "250", "500", "750", "1000", "2000", ">=2000"];

/// Distributions of a row, percent.
pub(crate) struct Shares {
    /// Percent of all transfers; above 100 if syncs were counted too.
    pub(crate) depth: [f64; 7],
    pub(crate) submit: [f64; 7],
    pub(crate) complete: [f64; 7],
    pub(crate) latency_ns: [f64; 10],
    pub(crate) latency_us: [f64; 10],
    pub(crate) latency_ms: [f64; 12],
}

impl Shares {
    pub(crate) fn of(row: &JobRecord) -> Shares {
        let ios = row.directions.read.ios + row.directions.write.ios + row.directions.trim.ios;
        Shares {
            depth: shares(&row.depth_levels, ios, 0.1),
            submit: shares(&row.submit_sizes, row.submit_sizes.iter().sum(), 0.1),
            complete: shares(&row.complete_sizes, row.complete_sizes.iter().sum(), 0.1),
            latency_ns: shares(&row.latency_ns_counts, ios, 0.01),
            latency_us: shares(&row.latency_us_counts, ios, 0.01),
            latency_ms: shares(&row.latency_ms_counts, ios, 0.01),
        }
    }
}

/// `counts` in percent of `total`; a value above 0 is shown as at least `smallest`.
fn shares<const N: usize>(counts: &[u64; N], total: u64, smallest: f64) -> [f64; N] {
    counts.map(|count| if count == 0 || total == 0 { 0.0 } else { (count as f64 / total as f64 * 100.0).max(smallest) })
}

/// errno of the error that ended the row's first failed worker, else of the first error that was continued after, else
/// 0.
pub(crate) fn error_code(row: &JobRecord) -> i32 {
    let survived = row.survived_errors.map_or(0, |errors| errors.first);
    row.error.as_ref().map_or(survived, |error| error.code)
}

/// The system's text for an errno.
pub(crate) fn error_text(code: i32) -> String {
    let text = std::io::Error::from_raw_os_error(code).to_string();
    let suffix = format!(" (os error {code})");
    text.strip_suffix(&suffix).unwrap_or(&text).to_owned()
}

/// The mean, rounded down; 0 without values.
pub(crate) fn mean(values: &[u64]) -> u64 {
    let sum: u128 = values.iter().map(|value| u128::from(*value)).sum();
    sum.checked_div(values.len() as u128).map_or(0, |mean| mean as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_of_something_is_not_shown_as_nothing() {
        assert_eq!(shares(&[1, 0, 1 << 15], 1 << 16, 0.01), [0.01, 0.0, 50.0]);
        assert_eq!(shares(&[5], 0, 0.1), [0.0]);
    }
}
