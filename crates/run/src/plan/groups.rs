//! Plans the relations between jobs: which ones a job waits for, and the settings that must agree within a reporting
//! group.

use std::sync::Arc;

use fsdyno_job::Job;

use super::WorkerPlan;

/// The workers planned so far that must have ended before this job starts.
pub(super) fn waits_for(job: &Arc<Job>, workers: &[WorkerPlan]) -> Vec<usize> {
    let Some(name) = &job.wait_for else { return Vec::new() };
    let awaited = |worker: &WorkerPlan| worker.job.name == *name && !Arc::ptr_eq(&worker.job, job);
    workers.iter().enumerate().filter(|(_, worker)| awaited(worker)).map(|(index, _)| index).collect()
}

/// Sentences on groups whose jobs contradict each other.
pub(super) fn rejections(workers: &[WorkerPlan]) -> Vec<String> {
    let grouped: Vec<&WorkerPlan> = workers.iter().filter(|worker| worker.job.reporting.group).collect();
    let mut sentences = Vec::new();
    for (index, worker) in grouped.iter().enumerate() {
        let differs = |differ: fn(&Job, &Job) -> bool| {
            let earlier = grouped[..index].iter().filter(|earlier| earlier.group == worker.group);
            earlier.rev().take(1).any(|earlier| differ(&earlier.job, &worker.job))
        };
        if differs(steady_states_differ) {
            sentences.push(rejected(worker, "steadystate options must be consistent within reporting groups"));
        }
        if differs(|one, other| one.extent.ramp_bytes != other.extent.ramp_bytes) {
            sentences.push(rejected(worker, "ramp_size must be the same within reporting groups"));
        }
    }
    sentences
}

fn steady_states_differ(one: &Job, other: &Job) -> bool {
    let (one, other) = (&one.reporting.steady_state, &other.reporting.steady_state);
    one.is_some() && other.is_some() && one != other
}

fn rejected(worker: &WorkerPlan, reason: &str) -> String {
    format!(
        "fio: job {} rejected: {reason}\nNext step: give these jobs the same options, or begin a group with new_group",
        worker.job.name
    )
}
