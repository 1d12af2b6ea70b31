//! The plan's layouts, one after the other, with fio's messages about them. They run on a thread of their own, so that
//! one that is stuck in the kernel delays neither a stop nor the report.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use engine::errno::ENOSPC;
use engine::files::FileCause;
use results::{Note, Severity};

use crate::conduct::Shared;
use crate::layout::{LaidOut, LayoutError, LayoutRequest, Meter, Progress, lay_out};
use crate::plan::LayoutStep;
use crate::worker::Refused;

/// The thread's stack: the buffers are on the heap.
const STACK_BYTES: usize = 256 * 1024;

/// What happens during the layouts, in order.
pub(crate) enum LayoutEvent {
    /// The layouts of a worker begin, with the thread that makes them.
    Begins {
        /// Its index.
        worker: usize,
        /// The kernel's number of the thread.
        thread: u32,
        /// fio's line.
        line: String,
    },
    /// A chunk was made.
    Progress(Progress),
    /// To be read at once.
    Message(String),
    /// For the record.
    Note(Note),
    /// The files of this worker could not be made.
    Failed(usize, Refused),
}

/// Begins to make all files of the plan; the channel closes when that is over.
pub(crate) fn begin(shared: Arc<Shared>) -> std::io::Result<Receiver<LayoutEvent>> {
    let (news, reader) = channel();
    std::thread::Builder::new()
        .name("layout".to_owned())
        .stack_size(STACK_BYTES)
        .spawn(move || lay_out_all(&shared, &news))?;
    Ok(reader)
}

/// Whoever reads the news may have given up on this thread: then telling them fails, and nobody misses them.
fn lay_out_all(shared: &Shared, news: &Sender<LayoutEvent>) {
    let thread = engine::thread::thread_id();
    for step in &shared.plan.layouts {
        if shared.control.stopped() {
            break;
        }
        let _ = news.send(LayoutEvent::Begins { worker: step.worker, thread, line: line(step) });
        let made = lay_out_step(shared, step, news);
        if let Err(error @ LayoutError::Interrupted { .. }) = &made {
            // The run was told to end: that is no failure of the job.
            let _ = news.send(LayoutEvent::Message(message(error)));
        } else if let Err(error) = made {
            let refused = Refused { code: error.code(), function: error.function(), message: message(&error) };
            let _ = news.send(LayoutEvent::Failed(step.worker, refused));
        }
    }
}

fn lay_out_step(shared: &Shared, step: &LayoutStep, news: &Sender<LayoutEvent>) -> Result<(), LayoutError> {
    let worker = &shared.plan.workers[step.worker];
    let job = &worker.job;
    let mut unreserved = Vec::new();
    let mut watcher = |progress: Progress| {
        let _ = news.send(LayoutEvent::Progress(progress));
    };
    let mut meter = Meter::new(step.bytes(), &mut watcher);
    for (index, (path, bytes_needed, make)) in step.files.iter().enumerate() {
        let request = LayoutRequest {
            reach: &worker.reach,
            path,
            bytes_needed: *bytes_needed,
            method: *make,
            fallocate: job.files.fallocate,
            content: &job.content,
            block_bytes: job.pattern.block_size.write.min().max(1),
            seed: worker.workload.seed ^ (u64::from(worker.thread_number) << 32) ^ index as u64,
            create_fsync: job.files.create_fsync,
        };
        if let LaidOut::Made { unreserved: Some(error) } = lay_out(&request, &mut meter, shared.control.stop_flag())? {
            unreserved.push(error);
        }
    }
    for error in unreserved {
        let text = match error.cause {
            // Nothing is wrong, and nobody need have asked for it: it is the default.
            FileCause::Unsupported => format!(
                "{}: this file system cannot reserve space for {}; the run may fill the disk",
                step.job_name,
                error.path.display()
            ),
            _ => format!("{}: {error}; the run may fill the disk", step.job_name),
        };
        let note = Note { job: Some(step.job_name.clone()), ..Note::new("not-reserved", Severity::Caution, text) };
        let _ = news.send(LayoutEvent::Note(note));
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
