//! The plan's layouts, one after the other, with fio's lines for them.

use crate::conduct::Observer;
use crate::control::Control;
use crate::layout::{LaidOut, LayoutError, LayoutRequest, Meter, Progress, lay_out};
use crate::plan::{LayoutStep, Make, Plan};
use crate::worker::Refused;

const ENOSPC: i32 = 28;

/// A worker whose files could not be made.
pub(crate) struct LayoutOutcome {
    pub(crate) worker: usize,
    pub(crate) refused: Refused,
}

/// Makes all files of the plan; the failures, each of which ends one worker.
pub(crate) fn lay_out_all(plan: &Plan, control: &Control, observer: &mut dyn Observer) -> Vec<LayoutOutcome> {
    let mut failures = Vec::new();
    for step in &plan.layouts {
        if control.stopped() {
            break;
        }
        observer.layout(&line(step));
        let made = lay_out_step(plan, step, control, observer);
        if let Err(error @ LayoutError::Interrupted { .. }) = &made {
            // The run was told to end: that is no failure of the job.
            observer.message(&message(error));
        } else if let Err(error) = made {
            let refused = Refused { code: error.code(), function: error.function(), message: message(&error) };
            failures.push(LayoutOutcome { worker: step.worker, refused });
        }
    }
    failures
}

fn lay_out_step(
    plan: &Plan,
    step: &LayoutStep,
    control: &Control,
    observer: &mut dyn Observer,
) -> Result<(), LayoutError> {
    let worker = &plan.workers[step.worker];
    let job = &worker.job;
    let mut unreserved = Vec::new();
    let mut watcher = |progress: Progress| {
        let seconds_left = progress.remaining.map(|remaining| remaining.as_secs());
        observer.layout_progress(progress.bytes_done, progress.bytes_total, seconds_left);
    };
    let mut meter = Meter::new(step.bytes(), &mut watcher);
    for (index, (path, bytes_needed, make)) in step.files.iter().enumerate() {
        let request = LayoutRequest {
            path,
            bytes_needed: *bytes_needed,
            fill: *make == Make::Fill,
            fallocate: job.files.fallocate,
            content: &job.content,
            block_bytes: job.pattern.block_size.write.min().max(1),
            seed: worker.workload.seed ^ (u64::from(worker.thread_number) << 32) ^ index as u64,
            create_fsync: job.files.create_fsync,
        };
        if let LaidOut::Made { unreserved: Some(error) } = lay_out(&request, &mut meter, control.stop_flag())? {
            unreserved.push(error);
        }
    }
    for error in unreserved {
        observer.message(&format!("{}: note: {error}; the run may find the disk full", step.job_name));
    }
    Ok(())
}

impl LayoutStep {
    fn bytes(&self) -> u64 {
        self.files.iter().map(|(_, bytes, _)| bytes).sum()
    }
}

fn line(step: &LayoutStep) -> String {
    let mib = step.bytes() >> 20;
    match step.files.len() {
        1 => format!("{}: Laying out IO file (1 file / {mib}MiB)", step.job_name),
        count => format!("{}: Laying out IO files ({count} files / total {mib}MiB)", step.job_name),
    }
}

fn message(error: &LayoutError) -> String {
    match error.code() {
        ENOSPC => format!("fio: ENOSPC on laying out file, stopping\nfio: {error}"),
        _ => format!("fio: {error}"),
    }
}
