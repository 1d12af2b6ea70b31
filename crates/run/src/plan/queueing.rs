//! Computes iodepth and batches as the engine will really use them.

use fsdyno_drive::Queueing;
use fsdyno_job::Job;
use fsdyno_results::QueueingPlan;

/// The queueing in the form of the record.
pub(super) fn for_record(queueing: Queueing) -> QueueingPlan {
    let Queueing { depth, batch, reap_min, reap_max, depth_low } = queueing;
    let [depth, batch, reap_min, reap_max, depth_low] =
        [depth, batch, reap_min, reap_max, depth_low].map(|count| count as u64);
    QueueingPlan { depth, batch, reap_min, reap_max, depth_low }
}

/// The effective queueing. The warning that a synchronous engine limits the depth comes from the job language.
pub(super) fn effective(job: &Job) -> Queueing {
    let asked = job.submission.depth.max(1) as usize;
    if job.submission.is_synchronous() {
        return Queueing::ONE;
    }
    let submission = &job.submission;
    let batch = match submission.batch as usize {
        // fio: a batch of 0 means the whole depth.
        0 => asked,
        batch => batch.min(asked),
    };
    let reap_min = (submission.batch_complete_min as usize).min(asked);
    // Reaping everything that is complete costs nothing and hides no latency; a maximum is kept if one was asked for.
    let reap_max = match submission.batch_complete_max as usize {
        max if max > reap_min.max(1) => max.min(asked),
        _ => asked,
    };
    let depth_low = submission.depth_low.map_or(asked, |low| (low as usize).clamp(1, asked));
    Queueing { depth: asked, batch, reap_min, reap_max, depth_low }
}
