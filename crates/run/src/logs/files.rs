//! Determines the log files of a run, and which of them a worker writes.

use std::collections::HashMap;
use std::path::PathBuf;

use fsdyno_drive::{LogColumns, LogFile, LoggedFigure, Style, Targets, epoch_ms};
use fsdyno_job::{Logs, WindowValue};

use crate::open_log::open_one;
use crate::plan::{Plan, WorkerPlan};

/// All log files of a run.
pub(super) struct LogFiles {
    pub(super) files: Vec<LogFile>,
    /// The files of each worker.
    pub(super) targets: Vec<Targets>,
}

impl LogFiles {
    /// Opens and truncates every file; one that several jobs share is appended to, as with fio. The error is a
    /// sentence.
    pub(super) fn open(plan: &Plan) -> Result<LogFiles, String> {
        let mut opened = LogFiles { files: Vec::new(), targets: Vec::new() };
        let mut by_path = HashMap::new();
        for worker in &plan.workers {
            let logs = &worker.job.reporting.logs;
            if logs.any() && logs.alternate_epoch && epoch_ms(logs.epoch_clock).is_none() {
                let id = logs.epoch_clock;
                return Err(format!(
                    "fio: log_alternate_epoch_clock_id={id}: this system cannot read such a clock\nNext step: use 0, the \
                     wall clock, or 1, the monotonic clock"
                ));
            }
            let mut targets = Targets { files: [None; LoggedFigure::ALL.len()], style: style(worker) };
            for subject in LoggedFigure::ALL {
                let Some(path) = path(worker, subject) else { continue };
                let index = match by_path.get(&path) {
                    Some(index) => *index,
                    None => {
                        let file = open_one(&path, logs.per_job)?;
                        let compressed_bytes = is_compressed(logs, subject).then_some(logs.compressed_bytes);
                        opened.files.push(LogFile { path: path.clone(), file, compressed_bytes });
                        by_path.insert(path, opened.files.len() - 1);
                        opened.files.len() - 1
                    }
                };
                targets.files[subject as usize] = Some(index);
            }
            opened.targets.push(targets);
        }
        Ok(opened)
    }
}

/// The paths of all workers' logs.
pub(super) fn paths(plan: &Plan) -> impl Iterator<Item = PathBuf> {
    plan.workers.iter().flat_map(|worker| LoggedFigure::ALL.into_iter().filter_map(|subject| path(worker, subject)))
}

/// The path of a log; `None`: it is not written.
fn path(worker: &WorkerPlan, subject: LoggedFigure) -> Option<PathBuf> {
    let reporting = &worker.job.reporting;
    let logs = &reporting.logs;
    let latency = |kept: bool| logs.latency.as_ref().filter(|_| kept);
    // As in fio, a latency that is not measured has no file; the slat of an engine without one has an empty file.
    let stem = match subject {
        LoggedFigure::Bandwidth => logs.bandwidth.as_ref(),
        LoggedFigure::Iops => logs.iops.as_ref(),
        LoggedFigure::Slat => latency(reporting.submission_latency),
        LoggedFigure::Clat => latency(reporting.completion_latency),
        LoggedFigure::Lat => latency(reporting.total_latency),
        LoggedFigure::Histogram => logs.histograms.as_ref(),
    }?;
    let stem = if stem.is_empty() { worker.job.label(worker.clone) } else { stem };
    let suffix = subject.suffix();
    let compressed = if is_compressed(logs, subject) { ".fz" } else { "" };
    Some(fsdyno_os::written::path(&worker.job.name_on_node(match logs.per_job {
        true => format!("{stem}_{suffix}.{}.log{compressed}", worker.thread_number),
        false => format!("{stem}_{suffix}.log{compressed}"),
    })))
}

/// Whether the log is compressed. Samples with histograms are not: fio would store memory addresses.
fn is_compressed(logs: &Logs, subject: LoggedFigure) -> bool {
    logs.stored_compressed && subject != LoggedFigure::Histogram
}

fn style(worker: &WorkerPlan) -> Style {
    let logs: &Logs = &worker.job.reporting.logs;
    let value = if logs.window_ms > 0 { logs.window_value } else { WindowValue::Mean };
    let columns = LogColumns {
        offset: logs.offset,
        both: value == WindowValue::Both,
        whole_priority: logs.priority,
        issue_time: logs.issue_time,
    };
    Style { columns, value, priority: worker.job.process.priority.unwrap_or_default().as_number() }
}
