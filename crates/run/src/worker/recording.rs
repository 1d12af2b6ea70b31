//! `write_iolog`: records a worker's I/O. Workers with the same log write it one after the other, as in fio: each keeps
//! its part separate until it ends.

use std::fs::File;
use std::io::{self, Seek};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use fsdyno_drive::Recording;
use fsdyno_os::errno::EIO;

use super::Refused;
use crate::conduct::Shared;
use crate::open_log::open_one;
use crate::plan::{Plan, WorkerPlan};

/// Held while a worker appends its part to a shared log.
static APPENDING: Mutex<()> = Mutex::new(());

/// Opens the log of a worker; `None`: its job has none.
pub(super) fn open(plan: &WorkerPlan, shared: &Shared) -> Result<Option<File>, Refused> {
    let Some(path) = path(plan) else { return Ok(None) };
    let refused = |message| Refused { code: EIO, function: "write_iolog", message };
    let log = open_one(&path, false).map_err(refused)?;
    let file = if is_shared(plan, &shared.plan) {
        fsdyno_os::files::nameless()
            .map_err(|error| refused(format!("fio: {}: write_iolog: {error}", plan.job.name)))?
    } else {
        log
    };
    Ok(Some(file))
}

/// Begins the recording of a worker whose files are open.
#[inline(never)]
pub(super) fn begin(plan: &WorkerPlan, file: File, now_ns: u64) -> Recording {
    let names =
        plan.files.iter().map(|file| fsdyno_job::bytes::bytes(&fsdyno_job::bytes::shown(&file.path)).into_owned());
    let mut recording = Recording::begin(file, names, now_ns);
    recording.note_files("open", now_ns);
    recording
}

/// Writes the end of a log. `synced`: the number of files that were synced last, at `now_ns`.
///
/// # Errors
/// A sentence, when not all of it is written.
#[inline(never)]
pub(super) fn end(
    plan: &WorkerPlan,
    whole: &Plan,
    mut recording: Recording,
    (synced, now_ns): (u32, u64),
) -> Result<(), String> {
    let Some(path) = path(plan) else { return Ok(()) };
    recording.note_end(synced, now_ns);
    let written = recording.finish();
    let stored = if is_shared(plan, whole) { written.and_then(|part| append(part, &path)) } else { written.map(drop) };
    stored.map_err(|error| {
        format!("fio: {}: {}: {error}: the log is not whole", plan.job.name, fsdyno_job::bytes::shown(&path))
    })
}

fn append(mut part: File, path: &Path) -> io::Result<()> {
    let _turn = APPENDING.lock().unwrap_or_else(PoisonError::into_inner);
    part.rewind()?;
    let mut log = open_one(path, false).map_err(io::Error::other)?;
    io::copy(&mut part, &mut log).map(drop)
}

fn path(plan: &WorkerPlan) -> Option<PathBuf> {
    let name = plan.job.traces.record.clone()?;
    Some(fsdyno_os::written::path(&plan.job.name_on_node(name)))
}

fn is_shared(plan: &WorkerPlan, whole: &Plan) -> bool {
    whole.workers.iter().filter(|other| other.job.traces.record == plan.job.traces.record).nth(1).is_some()
}
