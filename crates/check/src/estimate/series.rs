//! Computes rates window by window, and latencies second by second, over all workers of a run.

use fsdyno_results::{LatencySlice, Row, Samples, latency_series};

use super::directions;
use crate::metric::IoDirection;

/// Rates of one run in windows of equal length, summed over its workers: I/Os or bytes per second.
pub(super) fn of_run(row: &Row, io_direction: IoDirection, bytes: bool) -> Vec<f64> {
    let Some(run) = &row.run else { return Vec::new() };
    let samples = |record: &'_ fsdyno_results::DirectionRecord| -> Samples {
        if bytes { record.bandwidth_samples.clone() } else { record.iops_samples.clone() }
    };
    let all: Vec<Samples> = run.jobs.iter().flat_map(|job| directions(job, io_direction)).map(samples).collect();
    // Bandwidth is sampled in KiB/s.
    let unit = if bytes { 1024.0 } else { 1.0 };
    fsdyno_results::added_up(&all.iter().map(|samples| &samples.series[..]).collect::<Vec<_>>())
        .into_iter()
        .map(|rate| rate * unit)
        .collect()
}

/// Mean latency of each second of each run, ns, to the width of a class: accurate enough for the variation, not for the
/// value.
pub(super) fn mean_latencies(rows: &[&Row]) -> Vec<f64> {
    let mut means = Vec::new();
    for run in rows.iter().filter_map(|row| row.run.as_ref()) {
        means.extend(latency_series(&run.jobs).iter().filter_map(mean_of));
    }
    means
}

fn mean_of(slice: &LatencySlice) -> Option<f64> {
    let count: u64 = slice.classes.iter().map(|(_, count)| count).sum();
    let sum: f64 = slice.classes.iter().map(|(class, count)| middle_ns(*class) * *count as f64).sum();
    (count > 0).then(|| sum / count as f64)
}

/// The middle of a class, ns: class `4 * e + q` begins at 2^e * (1 + q / 4) and is a quarter of 2^e wide.
fn middle_ns(class: u16) -> f64 {
    let (exponent, quarter) = (i32::from(class / 4), f64::from(class % 4));
    2f64.powi(exponent) * (1.0 + (quarter + 0.5) / 4.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_have_middles() {
        // 2^10 to 1.25 * 2^10.
        assert_eq!(middle_ns(40), 1152.0);
        assert_eq!(middle_ns(43), 1920.0);
        assert_eq!(mean_of(&LatencySlice { at_ms: 1, classes: vec![(40, 1), (43, 1)] }), Some(1536.0));
        assert_eq!(mean_of(&LatencySlice::default()), None);
    }
}
