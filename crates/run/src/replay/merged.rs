//! `merge_blktrace_file`: merges the traces of a job into one, which is replayed in their place.

use std::io::{self, BufWriter, Write};
use std::sync::Arc;

use fsdyno_job::{Job, MergedTrace};
use fsdyno_os::errno::reason;
use fsdyno_os::files::RecordedInput;
use fsdyno_os::written::path;
use fsdyno_workload::TraceToMerge;

use super::{Stored, failed};
use crate::open_log::open_one;

/// Merges the traces of all jobs that ask for it.
///
/// # Errors
/// A sentence about the first that cannot be merged.
pub fn merge_traces(jobs: &[Job]) -> Result<(), String> {
    jobs.iter()
        .filter_map(|job| Some((job, job.traces.merge.as_ref()?)))
        .try_for_each(|(job, merge)| merged(job, merge))
}

/// Merges the traces of a job.
pub(super) fn merged(job: &Job, merge: &MergedTrace) -> Result<(), String> {
    let names = &job.traces.replay;
    let mut parts = Vec::new();
    for (index, name) in names.iter().enumerate() {
        let next = "name traces that are there";
        let opened = RecordedInput::open(&path(name)).and_then(|mut input| {
            // A stream is stored while it is read.
            io::copy(&mut input, &mut io::sink())?;
            Ok(input.into_log())
        });
        let log = opened.map_err(|error| failed(job, name, &reason(&error), next))?;
        let of = |list: &[f64], otherwise| list.get(index).copied().unwrap_or(otherwise);
        let (scale_percent, passes) = (of(&merge.scalars, 100.0), of(&merge.iterations, 1.0).max(1.0) as u64);
        parts.push(TraceToMerge { log: Arc::new(Stored(log)), scale_percent, passes });
    }
    let out = open_one(&path(&merge.file), true)?;
    let mut out = BufWriter::new(out);
    let written = fsdyno_workload::merge(parts, &mut out).and_then(|()| Ok(out.flush()?));
    written.map_err(|error| {
        let name = match &error {
            fsdyno_workload::MergeError::Trace(index, _) => names[*index].as_str(),
            fsdyno_workload::MergeError::Write(_) => merge.file.as_str(),
        };
        failed(job, name, &error, "merge traces of blktrace (blkparse -d makes one of the files of all processors)")
    })
}
