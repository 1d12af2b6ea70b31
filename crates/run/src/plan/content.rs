//! Plans the blocks that the writes of workers repeat.

use fsdyno_workload::RepeatedBlocks;

use super::WorkerPlan;

/// `dedupe_mode=working_set`: the working set of each worker; with `dedupe_global` it is shared by all.
pub(super) fn share_working_sets(workers: &mut [WorkerPlan]) {
    let of_all: Vec<RepeatedBlocks> =
        workers.iter().filter(|worker| is_global(worker)).filter_map(working_set).collect();
    for worker in workers {
        let set = working_set(worker);
        worker.repeated = if is_global(worker) { of_all.clone() } else { set.into_iter().collect() };
    }
}

fn is_global(worker: &WorkerPlan) -> bool {
    worker.job.content.dedupe.is_some_and(|dedupe| dedupe.global && dedupe.working_set_percent.is_some())
}

fn working_set(worker: &WorkerPlan) -> Option<RepeatedBlocks> {
    let job = &worker.job;
    let dedupe = job.content.dedupe.filter(|_| job.pattern.access.writes)?;
    let bytes = worker.files.iter().fold(0u64, |sum, file| sum.saturating_add(file.length));
    let count = dedupe.working_set(bytes, job.pattern.block_size.write.min())?;
    Some(RepeatedBlocks { seed: worker.content_seed(), count })
}
