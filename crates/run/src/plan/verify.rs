//! What a plan says about blocks that will be verified.

use std::collections::BTreeMap;
use std::path::Path;

use fsdyno_job::{Job, VerifyBacklog};
use fsdyno_os::errno::EINVAL;
use fsdyno_results::{Note, Severity};
use fsdyno_workload::Workload;

use super::{Refusal, WorkerPlan};

/// What of the job's writes is read back among them.
pub(super) fn backlog(job: &Job) -> Option<VerifyBacklog> {
    let verify = job.verify.as_ref().filter(|verify| verify.read_back && !verify.only && verify.backlog.writes > 0)?;
    job.pattern.access.writes.then_some(verify.backlog)
}

/// A block that is written again is no longer the trimmed one, and which of the two comes last is not followed.
pub(super) fn refuse_trims(job: &Job, workload: &Workload) -> Option<Refusal> {
    (workload.trims.is_some() && workload.writes_again()).then(|| Refusal {
        code: EINVAL,
        function: "trim_backlog",
        message: format!(
            "fio: {}: trim_backlog needs writes that come to each block once. Next step: leave out loops, time_based, \
             io_size and norandommap, or leave out trim_backlog",
            job.name
        ),
    })
}

/// A block that somebody else writes meanwhile is no longer the one that was written.
pub(super) fn note_of_shared_files(workers: &[WorkerPlan]) -> Option<Note> {
    let writers = workers.iter().filter(|worker| worker.job.pattern.access.writes);
    let mut users: BTreeMap<&Path, (u32, Option<&WorkerPlan>)> = BTreeMap::new();
    for worker in writers.filter(|worker| !worker.job.submission.engine.is_diskless()) {
        for file in &worker.files {
            let (count, verifies) = users.entry(&file.path).or_default();
            *count += 1;
            *verifies = verifies.or(worker.job.verify.is_some().then_some(worker));
        }
    }
    let shared = users.values().find_map(|(count, verifies)| verifies.filter(|_| *count > 1))?;
    Some(Note {
        job: Some(shared.job.name.clone()),
        ..Note::new(
            "verify-shared-file",
            Severity::Caution,
            "multiple writers may overwrite blocks that belong to other jobs. This can cause verification \
               failures.",
        )
    })
}

/// What is read back among buffered writes is still in memory.
pub(super) fn note_of_cached_backlog(workers: &[WorkerPlan]) -> Option<Note> {
    let cached = workers.iter().find(|worker| {
        let submission = &worker.job.submission;
        worker.workload.backlog.is_some() && !submission.direct && !submission.engine.is_diskless()
    })?;
    let name = &cached.job.name;
    let text = format!(
        "{name}: verify_backlog reads buffered writes back from the page cache, and says nothing of the storage; add direct=1, \
         or leave verify_backlog out"
    );
    Some(Note { job: Some(name.clone()), ..Note::new("verified-from-cache", Severity::Caution, text) })
}
