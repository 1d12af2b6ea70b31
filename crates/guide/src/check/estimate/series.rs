//! Rates window by window, and latencies second by second, over all workers of a run.

use results::{LatencySlice, Row, Samples};

use super::super::metric::Flow;
use super::directions;

/// Rates of one run in windows of equal length, its workers added up: I/Os or bytes per second.
pub(super) fn of_run(row: &Row, flow: Flow, bytes: bool) -> Vec<f64> {
    let Some(run) = &row.run else { return Vec::new() };
    let samples = |record: &'_ results::DirectionRecord| -> Samples {
        if bytes { record.bandwidth_samples.clone() } else { record.iops_samples.clone() }
    };
    let all: Vec<Samples> = run.jobs.iter().flat_map(|job| directions(job, flow)).map(samples).collect();
    // Bandwidth is sampled in KiB/s.
    let unit = if bytes { 1024.0 } else { 1.0 };
    added_up(&all.iter().map(|samples| &samples.series[..]).collect::<Vec<_>>())
        .into_iter()
        .map(|rate| rate * unit)
        .collect()
}

/// Adds up series of `(end in ms, rate)`. A window in which nothing happened has no entry: it is a rate of 0.
fn added_up(series: &[&[(u64, u64)]]) -> Vec<f64> {
    let busy: Vec<&[(u64, u64)]> = series.iter().copied().filter(|series| !series.is_empty()).collect();
    let gaps = busy.iter().flat_map(|series| series.windows(2).map(|pair| pair[1].0.saturating_sub(pair[0].0)));
    let firsts = busy.iter().map(|series| series[0].0);
    let Some(window_ms) = gaps.chain(firsts).filter(|gap| *gap > 0).min() else { return Vec::new() };
    let place = |at_ms: u64| ((at_ms + window_ms / 2) / window_ms).saturating_sub(1) as usize;
    // As long as all of them lasted: a sum without one of them is another rate.
    let lasting = busy.iter().filter_map(|series| series.last()).map(|(at_ms, _)| place(*at_ms) + 1).min();
    let mut rates = vec![0.0; lasting.unwrap_or(0)];
    for (at_ms, rate) in busy.iter().flat_map(|series| series.iter()) {
        if let Some(sum) = rates.get_mut(place(*at_ms)) {
            *sum += *rate as f64;
        }
    }
    rates
}

/// Mean latency of each second of each run, ns, to the width of a class: for its scatter, not its size.
pub(super) fn mean_latencies(rows: &[&Row]) -> Vec<f64> {
    let mut means = Vec::new();
    for run in rows.iter().filter_map(|row| row.run.as_ref()) {
        let mut jobs = run.jobs.iter();
        let Some(mut all) = jobs.next().cloned() else { continue };
        jobs.for_each(|job| all.merge(job));
        means.extend(all.latency_series.iter().filter_map(mean_of));
    }
    means
}

fn mean_of(slice: &LatencySlice) -> Option<f64> {
    let count: u64 = slice.classes.iter().map(|(_, count)| count).sum();
    let sum: f64 = slice.classes.iter().map(|(class, count)| middle_ns(*class) * *count as f64).sum();
    (count > 0).then(|| sum / count as f64)
}

/// The middle of a class: class `4 * e + q` begins at 2^e * (1 + q / 4) and is a quarter of 2^e wide.
fn middle_ns(class: u16) -> f64 {
    let (exponent, quarter) = (i32::from(class / 4), f64::from(class % 4));
    2f64.powi(exponent) * (1.0 + (quarter + 0.5) / 4.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_are_added_up_window_by_window() {
        let one = [(500, 10), (1001, 20), (1502, 30), (2003, 7)];
        let other = [(501, 1), (1000, 2), (1503, 3)];
        assert_eq!(added_up(&[&one, &other]), [11.0, 22.0, 33.0]);
        assert_eq!(added_up(&[&one, &[]]), [10.0, 20.0, 30.0, 7.0]);
        assert_eq!(added_up(&[]), [0.0; 0]);
    }

    #[test]
    fn a_window_without_io_is_zero() {
        assert_eq!(added_up(&[&[(100, 5), (200, 5), (500, 5)]]), [5.0, 5.0, 0.0, 0.0, 5.0]);
    }

    #[test]
    fn classes_have_middles() {
        // 2^10 to 1.25 * 2^10.
        assert_eq!(middle_ns(40), 1152.0);
        assert_eq!(middle_ns(43), 1920.0);
        assert_eq!(mean_of(&LatencySlice { at_ms: 1, classes: vec![(40, 1), (43, 1)] }), Some(1536.0));
        assert_eq!(mean_of(&LatencySlice::default()), None);
    }
}
