//! Protects devices in use: a job changes them only if the user allows it. Each name is checked when the job is
//! planned, and again when a worker has opened it: the name may then refer to another file, and the device may have
//! been mounted meanwhile.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use fsdyno_job::{Job, Memory};
use fsdyno_os::errno::EBUSY;
use fsdyno_os::files::{OpenFile, Reach};
use fsdyno_probe::{DeviceUse, Look};

use crate::plan::{Refusal, WorkerPlan};
use crate::worker::Refused;

/// Judges the files that the workers of a run have opened.
#[derive(Debug, Default)]
pub(crate) struct Guard {
    /// The machine facts for workers that begin together: a device that they share is examined once.
    look: Mutex<Option<(Beginning, Look)>>,
}

/// Identifies a beginning: the stage, and the workers that ended before.
type Beginning = (u32, Vec<usize>);

impl Guard {
    /// Whether the worker may change this file. Files below a directory of ours are always allowed.
    pub(crate) fn judge(&self, plan: &WorkerPlan, file: &OpenFile) -> Result<(), Refused> {
        if !is_asked(&plan.job) || matches!(plan.reach, Reach::Beneath(_)) {
            return Ok(());
        }
        judged(plan, &file.path(), &self.look_of(plan).device_use_of_open(file))
    }

    /// Whether the worker's buffers may be placed as `iomem` asks, in a file or on a device that they share.
    pub(crate) fn judge_memory(&self, plan: &WorkerPlan) -> Result<(), Refused> {
        let Some(path) = memory_path(&plan.job) else { return Ok(()) };
        judged(plan, &path, &self.look_of(plan).device_use(&path))
    }

    fn look_of(&self, plan: &WorkerPlan) -> Look {
        let mut kept = self.look.lock().unwrap_or_else(PoisonError::into_inner);
        match &*kept {
            Some(((stage, after), look)) if *stage == plan.stage && *after == plan.waits_for => look.clone(),
            _ => kept.insert(((plan.stage, plan.waits_for.clone()), Look::new())).1.clone(),
        }
    }
}

fn judged(plan: &WorkerPlan, path: &Path, found: &DeviceUse) -> Result<(), Refused> {
    let Some(reason) = found.reason() else { return Ok(()) };
    let Refusal { code, function, message } = refusal(&plan.job, path, &reason);
    Err(Refused { code, function, message })
}

/// Whether the job changes its files and was not given `allow_mounted_write`.
pub(crate) fn is_asked(job: &Job) -> bool {
    let engine = job.submission.engine;
    let changes = job.pattern.access.modifies() || engine.changes_space();
    changes && !engine.is_diskless() && !job.files.allow_mounted_write
}

/// The file or device that holds the job's buffers, and is therefore written.
pub(crate) fn memory_path(job: &Job) -> Option<PathBuf> {
    match &job.submission.memory {
        Memory::File { path, shared: true } if !job.files.allow_mounted_write => Some(fsdyno_os::written::path(path)),
        _ => None,
    }
}

/// The message about a device in use.
pub(crate) fn refusal(job: &Job, path: &Path, reason: &str) -> Refusal {
    let trims = job.pattern.access.trims && !job.pattern.access.writes;
    let (change, changes) = if trims { ("trim", "trims") } else { ("write to", "writes") };
    let message = format!(
        "fio: {path} {reason}; refusing to {change} it. Next step: use another one, or free this one first; \
         --allow_mounted_write=1 {changes} anyway",
        path = fsdyno_job::bytes::shown(path)
    );
    Refusal { code: EBUSY, function: "mounted device", message }
}
