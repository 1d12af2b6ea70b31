//! Plans the verification of blocks.

use std::collections::BTreeMap;
use std::path::Path;

use fsdyno_job::{Job, VerifyBacklog};
use fsdyno_os::errno::EINVAL;
use fsdyno_results::{Note, Severity};
use fsdyno_workload::Workload;

use super::{Refusal, WorkerPlan};

/// The `verify_backlog` of a job that writes.
pub(super) fn backlog(job: &Job) -> Option<VerifyBacklog> {
    let verify = job.verify.as_ref().filter(|verify| verify.read_back && !verify.only && verify.backlog.writes > 0)?;
    job.pattern.access.writes.then_some(verify.backlog)
}

/// Refuses trims together with repeated writes: whether the trim or the write of a block came last is not tracked.
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

/// The note on files that several workers write: a block that another worker writes meanwhile cannot be verified.
pub(super) fn note_of_shared_files(workers: &[WorkerPlan]) -> Option<Note> {
    let writers = workers.iter().filter(|worker| worker.job.pattern.access.writes);
    let mut users: BTreeMap<&Path, (u32, Option<&WorkerPlan>)> = BTreeMap::new();
    for worker in writers.filter(|worker| worker.job.submission.engine.carries_data()) {
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

/// The note on options of the content that `verify_pattern` replaces.
pub(super) fn note_of_replaced_content(job: &Job) -> Option<Note> {
    let content = &job.content;
    let options = [
        (content.compress.is_some(), "buffer_compress_percentage"),
        (content.dedupe.is_some(), "dedupe_percentage"),
        (content.pattern.is_some(), "buffer_pattern"),
        (content.zero, "zero_buffers"),
    ];
    let asked: Vec<&str> = options.into_iter().filter(|(asked, _)| *asked).map(|(_, name)| name).collect();
    if asked.is_empty() || !writes_pattern(job) {
        return None;
    }
    let text = format!(
        "{}: no effect beside verify_pattern: writes contain that pattern; leave verify_pattern out, or these options",
        asked.join(", ")
    );
    Some(Note { job: Some(job.name.clone()), ..Note::new("verify-pattern-content", Severity::Caution, text) })
}

/// Whether the job's writes contain the pattern of `verify_pattern`.
pub(super) fn writes_pattern(job: &Job) -> bool {
    job.pattern.access.writes && job.verify.as_ref().is_some_and(|verify| verify.pattern.is_some())
}

/// The note that `verify_backlog` reads buffered writes from the page cache.
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
