//! What the reader must know beside fio's report: on stderr, so that every format stays as it is.

use results::{JobRecord, Latency, RunRecord};

/// Lines for stderr after a run; what was known before it has been printed.
pub(super) fn after_run(record: &RunRecord) -> Vec<String> {
    record.report_rows().iter().filter_map(sampled).collect()
}

/// The latencies that `gtod_reduce` keeps out of the report.
fn sampled(job: &JobRecord) -> Option<String> {
    let latencies = job.sampled_latency.as_ref()?;
    let figures: Vec<String> = latencies.iter().filter_map(|(direction, one)| figures(direction.name(), one)).collect();
    (!figures.is_empty()).then(|| {
        format!(
            "note: {name}: gtod_reduce=1 leaves latency out of the report; one I/O in {every} was timed: {figures}",
            name = job.name,
            every = job.timed_one_in,
            figures = figures.join("; ")
        )
    })
}

fn figures(direction: &str, latency: &Latency) -> Option<String> {
    let histogram = latency.histogram.as_ref()?;
    let at = |percent| histogram.percentile(percent).map(|ns| ns as f64 / 1000.0);
    let (p50, p99) = (at(50.0)?, at(99.0)?);
    Some(format!("{direction} clat p50={p50:.1}us p99={p99:.1}us ({count} samples)", count = latency.moments.count))
}
