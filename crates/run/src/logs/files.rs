//! Which log files a run has, and which of them a worker writes.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::path::PathBuf;

use job::{Logs, WindowValue};

use super::lines::Style;
use super::rows::Subject;
use crate::plan::{Plan, WorkerPlan};

/// One open log file.
pub(super) struct LogFile {
    pub(super) path: PathBuf,
    pub(super) file: File,
}

/// Where the rows of one worker go.
pub(super) struct Targets {
    /// Index of the file for each subject; `None`: not logged.
    pub(super) files: [Option<usize>; Subject::ALL.len()],
    pub(super) style: Style,
}

/// All files of a run.
pub(super) struct LogFiles {
    pub(super) files: Vec<LogFile>,
    /// By worker.
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
            let mut targets = Targets { files: [None; Subject::ALL.len()], style: style(worker) };
            for subject in Subject::ALL {
                let Some(path) = path(worker, subject) else { continue };
                let index = match by_path.get(&path) {
                    Some(index) => *index,
                    None => {
                        let file = open_one(&path, logs.per_job)?;
                        opened.files.push(LogFile { path: path.clone(), file });
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

fn open_one(path: &PathBuf, alone: bool) -> Result<File, String> {
    let mut options = OpenOptions::new();
    options.create(true);
    if alone {
        options.write(true).truncate(true)
    } else {
        options.append(true)
    };
    options.open(path).map_err(|error| {
        let shown = path.display();
        format!("fio: cannot write the log {shown}: {error}\nNext step: create its directory, or choose another one")
    })
}

/// The file of a subject; `None`: its log is not written.
fn path(worker: &WorkerPlan, subject: Subject) -> Option<PathBuf> {
    let reporting = &worker.job.reporting;
    let logs = &reporting.logs;
    let latency = |kept: bool| logs.latency.as_ref().filter(|_| kept);
    // A latency that is not measured has no file, as with fio; the slat of an engine that has none is an empty one.
    let stem = match subject {
        Subject::Bandwidth => logs.bandwidth.as_ref(),
        Subject::Iops => logs.iops.as_ref(),
        Subject::Slat => latency(reporting.submission_latency),
        Subject::Clat => latency(reporting.completion_latency),
        Subject::Lat => latency(reporting.total_latency),
    }?;
    let stem = if stem.is_empty() { worker.job.label(worker.clone) } else { stem };
    let suffix = subject.suffix();
    Some(PathBuf::from(match logs.per_job {
        true => format!("{stem}_{suffix}.{}.log", worker.thread_number),
        false => format!("{stem}_{suffix}.log"),
    }))
}

fn style(worker: &WorkerPlan) -> Style {
    /// The class that goes before all others.
    const REAL_TIME: u8 = 1;
    let logs: &Logs = &worker.job.reporting.logs;
    let (class, level) = worker.job.process.priority.unwrap_or_default();
    Style {
        offset: logs.offset,
        value: if logs.window_ms > 0 { logs.window_value } else { WindowValue::Mean },
        priority: match logs.priority {
            true => format!("0x{:04x}", u16::from(class) << 13 | u16::from(level)),
            false => u8::from(class == REAL_TIME).to_string(),
        },
    }
}
