//! Finds the log files of a run, and makes sure that they can be written.

mod files;

use std::collections::HashSet;
use std::path::PathBuf;

use fsdyno_drive::LogWriter;

use crate::plan::Plan;

/// Makes the log files of the plan, empty, so that it is known before the run that they can be written. The error is a
/// sentence.
pub fn claim_logs(plan: &Plan) -> Result<(), String> {
    files::LogFiles::open(plan).map(drop)
}

/// The log files of the plan.
pub(crate) fn paths(plan: &Plan) -> HashSet<PathBuf> {
    files::paths(plan).collect()
}

/// Opens the files and begins to write them; `None`: the plan has no logs. The error is a sentence.
pub(crate) fn begin(plan: &Plan) -> Result<Option<LogWriter>, String> {
    if !plan.workers.iter().any(|worker| worker.job.reporting.logs.any()) {
        return Ok(None);
    }
    let opened = files::LogFiles::open(plan)?;
    let compressing = |worker: &crate::plan::WorkerPlan| worker.job.reporting.logs.compression_cpus.clone();
    let cpus = plan.workers.iter().flat_map(compressing).collect();
    LogWriter::begin(opened.files, opened.targets, cpus).map(Some)
}
