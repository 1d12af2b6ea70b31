//! Carries out the plan's layouts, with fio's messages: before the first stage one job after the other, and before each
//! stage those of its jobs with `create_serialize=0`, all at the same time. They run on separate threads, so that one
//! that is stuck in the kernel delays neither a stop nor the report.

mod lanes;
pub(crate) mod shared_files;

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use fsdyno_os::errno::ENOSPC;
use fsdyno_os::files::FileCause;
use fsdyno_results::{Note, Severity};

use crate::conduct::Shared;
use crate::layout::{LaidOut, LayoutError, LayoutRequest, Meter, Progress, lay_out, serves};
use crate::plan::{LayoutStep, Plan};
use crate::worker::Refused;

/// Stack of a layout thread, bytes: buffers are on the heap.
const STACK_BYTES: usize = 256 * 1024;

/// Larger blocks are filled in parts of this size, as each part is held in memory, bytes.
const LAYOUT_BLOCK_MAX: u64 = 64 << 20;

/// The events of the layouts, in order.
pub(crate) enum LayoutEvent {
    /// The layouts of a worker begin on a thread.
    Begins {
        /// The worker's index.
        worker: usize,
        /// The thread's id in the kernel.
        thread: u32,
        /// fio's line, unless it was shown before.
        line: Option<String>,
    },
    /// The layouts of a thread have ended, or it waits for other ranks.
    Pauses(u32),
    /// A thread has made a chunk.
    Progress(u32, Progress),
    /// A message to show at once.
    Message(String),
    /// A note for the record.
    Note(Note),
    /// The files of this worker could not be made.
    Failed(usize, Refused),
}

/// Begins to make the files that are due before a stage, except those of later stages with `create_serialize=0`. The
/// channel closes when all are made. `None`: there is nothing to do.
pub(crate) fn begin(shared: Arc<Shared>, stage: u32) -> Option<std::io::Result<Receiver<LayoutEvent>>> {
    // Other ranks take part in everything that is made before the first stage.
    let any = if stage == 0 { !shared.plan.layouts.is_empty() } else { due(&shared.plan, stage).next().is_some() };
    any.then(|| begin_thread(shared, stage))
}

/// The layout steps before a stage.
pub(crate) fn due(plan: &Plan, stage: u32) -> impl Iterator<Item = &LayoutStep> {
    let one_by_one = (stage == 0).then(|| steps(plan, None));
    one_by_one.into_iter().flatten().chain(steps(plan, Some(stage)))
}

fn begin_thread(shared: Arc<Shared>, stage: u32) -> std::io::Result<Receiver<LayoutEvent>> {
    let (news, reader) = channel();
    fsdyno_os::thread::begin("layout", STACK_BYTES, move || {
        if stage == 0 { lay_out_all(&shared, &news) } else { lay_out_stage(&shared, stage, false, &news) }
    })?;
    Ok(reader)
}

/// Makes the files; events are sent without checks, as the receiver may have abandoned this thread.
fn lay_out_all(shared: &Shared, news: &Sender<LayoutEvent>) {
    let together = shared.control.other_ranks().filter(|other_ranks| other_ranks.layers() > 1);
    together.inspect(|other_ranks| shared_files::lay_out(shared, *other_ranks, news));
    let is_told = together.is_some();
    lay_out_steps(shared, steps(&shared.plan, None), is_told, news);
    lay_out_stage(shared, 0, is_told, news);
}

/// The steps that are made one after the other (`None`), or at the same time before a stage.
fn steps(plan: &Plan, at_once: Option<u32>) -> impl Iterator<Item = &LayoutStep> {
    plan.layouts.iter().filter(move |step| {
        let worker = &plan.workers[step.worker];
        match at_once {
            None => worker.job.files.create_serialize,
            Some(stage) => !worker.job.files.create_serialize && worker.stage == stage,
        }
    })
}

fn lay_out_stage(shared: &Shared, stage: u32, is_told: bool, news: &Sender<LayoutEvent>) {
    let (at_once, later) = lanes::of(steps(&shared.plan, Some(stage)));
    lanes::at_once(&at_once, &|step| lay_out_steps(shared, std::iter::once(step), is_told, news));
    lay_out_steps(shared, later.into_iter(), is_told, news);
}

/// Makes these steps one after the other, on the calling thread.
fn lay_out_steps<'plan>(
    shared: &Shared,
    steps: impl Iterator<Item = &'plan LayoutStep>,
    is_told: bool,
    news: &Sender<LayoutEvent>,
) {
    for step in steps {
        if shared.control.stopped() {
            break;
        }
        // Another job may have made the files meanwhile.
        if step.files.iter().enumerate().all(|(index, _)| serves(&request_of(&shared.plan, step, index))) {
            continue;
        }
        begins(step, Some(line(step)).filter(|_| !is_told), news);
        let made = lay_out_step(shared, step, news);
        if let Err(error @ LayoutError::Interrupted { .. }) = &made {
            // The run was told to end: the job did not fail.
            let _ = news.send(LayoutEvent::Message(message(error)));
        } else if let Err(error) = made {
            let refused = Refused { code: error.code(), function: error.function(), message: message(&error) };
            let _ = news.send(LayoutEvent::Failed(step.worker, refused));
        }
        pauses(news);
    }
}

/// Reports that the calling thread is not in a system call now.
fn pauses(news: &Sender<LayoutEvent>) {
    let _ = news.send(LayoutEvent::Pauses(fsdyno_os::thread::thread_id()));
}

fn begins(step: &LayoutStep, line: Option<String>, news: &Sender<LayoutEvent>) {
    let _ = news.send(LayoutEvent::Begins { worker: step.worker, thread: fsdyno_os::thread::thread_id(), line });
}

/// The layout request for a file of a step.
fn request_of<'plan>(plan: &'plan Plan, step: &'plan LayoutStep, index: usize) -> LayoutRequest<'plan> {
    let worker = &plan.workers[step.worker];
    let job = &worker.job;
    let (path, bytes_needed, method) = &step.files[index];
    LayoutRequest {
        reach: &worker.reach,
        path,
        bytes_needed: *bytes_needed,
        method: *method,
        fallocate: job.files.fallocate,
        content: &job.content,
        block_bytes: job.pattern.block_size.write.min().clamp(1, LAYOUT_BLOCK_MAX),
        seed: worker.workload.seed ^ (u64::from(worker.thread_number) << 32) ^ index as u64,
        create_fsync: job.files.create_fsync,
    }
}

fn lay_out_step(shared: &Shared, step: &LayoutStep, news: &Sender<LayoutEvent>) -> Result<(), LayoutError> {
    let mut unreserved = Vec::new();
    let thread = fsdyno_os::thread::thread_id();
    let mut watcher = |progress: Progress| {
        let _ = news.send(LayoutEvent::Progress(thread, progress));
    };
    let mut meter = Meter::new(step.bytes(), &mut watcher);
    for index in 0..step.files.len() {
        let request = request_of(&shared.plan, step, index);
        if let LaidOut::Made { unreserved: Some(error) } = lay_out(&request, &mut meter, shared.control.stop_flag())? {
            unreserved.push(error);
        }
    }
    for error in unreserved {
        let text = match error.cause {
            // An unsupported default is no problem, as nobody asked for it.
            FileCause::Unsupported => format!(
                "the filesystem of {} cannot reserve space: the run may fill the disk",
                fsdyno_job::bytes::shown(directory_of(&error.path))
            ),
            _ => format!("{}: {error}; the run may fill the disk", step.job_name),
        };
        let note = Note { job: Some(step.job_name.clone()), ..Note::new("not-reserved", Severity::Caution, text) };
        let _ = news.send(LayoutEvent::Note(note));
    }
    Ok(())
}

fn directory_of(file: &Path) -> &Path {
    file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
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
