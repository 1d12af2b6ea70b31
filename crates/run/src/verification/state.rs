//! `verify_state_save` and `verify_state_load`: keeps how far the writes of a job came in a file that outlives a crash
//! of the storage.

use std::borrow::Cow;
use std::path::PathBuf;

use fsdyno_drive::LoopParts;
use fsdyno_os::errno::{EINVAL, reason};
use fsdyno_os::files::{Reach, Readers, SMALL_FILE_BYTES_MAX, read_whole, write_whole};
use fsdyno_os::written;
use fsdyno_results::{Note, Severity};
use fsdyno_workload::{Generator, LastWrites, SavedState, Workload};

use crate::plan::WorkerPlan;
use crate::worker::Refused;

/// The file's path in fio's form, in which jobs count from 0. With several nodes it begins with the node's name.
fn path(plan: &WorkerPlan) -> PathBuf {
    let job = plan.job.name.replace('/', ".");
    let node = plan.job.files.client.as_deref().unwrap_or("local");
    let name = format!("{node}-{job}-{}-verify.state", plan.thread_number - 1);
    let directory = plan.job.verify.as_ref().and_then(|verify| verify.aux_path.clone());
    written::path(&directory.unwrap_or_default()).join(written::path(&name))
}

/// The state of the writes that have ended. `None`: it is not saved.
#[inline(never)]
pub(crate) fn of(plan: &WorkerPlan, parts: &LoopParts<'_>) -> Option<SavedState> {
    let verify = plan.job.verify.as_ref()?;
    // A held directory contains only the files of its command.
    let saves = verify.state_save && plan.job.pattern.access.writes && !verify.only;
    if !saves || !matches!(plan.reach, Reach::ByPath) {
        return None;
    }
    let failed = parts.failed_writes();
    let completed = parts.writes_issued();
    let content = parts.content.as_ref()?;
    let prepared = content.writes_prepared()?;
    // Lost writes have no place in the list; it is not known which they are.
    let known = if prepared == completed { usize::MAX } else { 0 };
    let places = content.last_writes().take(known).filter(|place| !failed.contains(place));
    let places = places.map(|(file, offset)| (file.into(), offset)).collect();
    let depth = plan.queueing.depth as u64;
    let state = SavedState { writes: prepared, last: LastWrites::Completed { depth, places } };
    if !verify.only_synced {
        return Some(state);
    }
    let writes = Generator::writes_before_sync(&plan.workload, prepared).ok()?;
    // Everything before the sync has completed.
    Some(SavedState { writes, last: LastWrites::Completed { depth: 0, places: Vec::new() } })
}

/// Saves the state; returns an error in fio's words.
pub(crate) fn save(plan: &WorkerPlan, state: &SavedState) -> Option<String> {
    let path = path(plan);
    let bytes = state.to_bytes(&plan.job.name, plan.files.len() as u32);
    let error = write_whole(&path, Readers::ByUmask, &bytes).err()?;
    Some(format!(
        "fio: open state file: {}\nfio: state file: {} (for_write=1)",
        reason(&error),
        fsdyno_job::bytes::shown(&path)
    ))
}

/// Number of the job's requests that can be verified by the saved state. `None`: no state was asked for.
pub(crate) fn verifiable(plan: &WorkerPlan) -> Result<Option<u64>, Refused> {
    let Some(verify) = plan.job.verify.as_ref().filter(|verify| verify.state_load) else { return Ok(None) };
    if plan.job.pattern.access.writes && !verify.only {
        return Ok(None);
    }
    let path = path(plan);
    let refused = |message| Refused { code: EINVAL, function: "verify_state_load", message };
    let bytes = read_whole(&path, SMALL_FILE_BYTES_MAX).map_err(|error| {
        let text = format!(
            "fio: open state file: {}\nfio: state file: {} (for_write=0)",
            reason(&error),
            fsdyno_job::bytes::shown(&path)
        );
        Refused { code: error.raw_os_error().unwrap_or(EINVAL), function: "verify_state_load", message: text }
    })?;
    let state = SavedState::of_bytes(&bytes)
        .map_err(|error| refused(format!("{error}: {}", fsdyno_job::bytes::shown(&path))))?;
    let number = state.verifiable(&plan.workload).map_err(|error| refused(error.to_string()))?;
    Ok(Some(number))
}

/// The worker's workload, limited to the reads that the saved state allows.
pub(crate) fn limited(plan: &WorkerPlan, verifiable: Option<u64>) -> Cow<'_, Workload> {
    match verifiable.filter(|_| !plan.job.pattern.access.writes) {
        // A workload without requests is not run.
        Some(requests) => {
            let asked = Some(plan.workload.number_ios).filter(|number| *number > 0).unwrap_or(u64::MAX);
            Cow::Owned(Workload { number_ios: requests.clamp(1, asked), loops: 1, ..plan.workload.clone() })
        }
        None => Cow::Borrowed(&plan.workload),
    }
}

/// The note on the number of requests that were verified.
pub(crate) fn note(job: &str, requests: u64) -> Note {
    let text = format!("{job}: verified as far as the saved state says: the first {requests} writes");
    Note { job: Some(job.to_owned()), ..Note::new("verified-to-saved-state", Severity::Info, text) }
}
