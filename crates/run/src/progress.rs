//! Estimates the progress of a run from its plan and the workers' published totals.

use fsdyno_drive::WorkerState;

use crate::conduct::View;
use crate::plan::WorkerPlan;

const NS: u64 = 1_000_000_000;

/// Seconds until the run ends; `None`: not known.
pub fn seconds_left(view: &View<'_>) -> Option<u64> {
    let mut left: u64 = 0;
    let mut waiting_stages: std::collections::BTreeMap<u32, Option<u64>> = Default::default();
    for (index, worker) in view.plan.workers.iter().enumerate() {
        match view.cells[index].state() {
            WorkerState::Exited | WorkerState::Reaped | WorkerState::Failed => {}
            WorkerState::Waiting => {
                let stage = waiting_stages.entry(worker.stage).or_insert(Some(0));
                *stage = stage.zip(whole_duration(worker)).map(|(longest, own)| longest.max(own));
            }
            _ => left = left.max(worker_seconds_left(view, index, worker)?),
        }
    }
    for waiting in waiting_stages.into_values() {
        left += waiting?;
    }
    Some(left)
}

/// Ramp and runtime of a worker, s, if the runtime decides its end.
fn whole_duration(worker: &WorkerPlan) -> Option<u64> {
    let extent = &worker.job.extent;
    (extent.runtime_ns > 0).then(|| (extent.ramp_ns + extent.runtime_ns).div_ceil(NS))
}

/// The share of its transfers that a worker verifies, percent.
fn percent_read_back(worker: &WorkerPlan) -> u32 {
    let pattern = &worker.job.pattern;
    match (crate::verification::reads_back(&worker.job), pattern.access.reads) {
        (false, _) => 0,
        (true, false) => 100,
        (true, true) => 100 - pattern.read_percent.min(100),
    }
}

fn worker_seconds_left(view: &View<'_>, index: usize, worker: &WorkerPlan) -> Option<u64> {
    let elapsed_ns = view.elapsed_ns.saturating_sub(view.started_ns[index]?);
    let by_time = whole_duration(worker).map(|whole| whole.saturating_sub(elapsed_ns / NS));
    if worker.workload.time_based {
        return by_time;
    }
    let done: u64 = view.cells[index].published().bytes.into_values().iter().sum();
    let transferred = u128::from(worker.workload.bytes) * u128::from(worker.workload.loops);
    let total = transferred + transferred * u128::from(percent_read_back(worker)) / 100;
    let by_bytes = (done > 0).then(|| {
        let rest = total.saturating_sub(u128::from(done));
        let left_ns = rest * u128::from(elapsed_ns) / u128::from(done);
        u64::try_from(left_ns / u128::from(NS)).unwrap_or(u64::MAX)
    });
    match (by_time, by_bytes) {
        (Some(time), Some(bytes)) => Some(time.min(bytes)),
        (time, bytes) => time.or(bytes),
    }
}
