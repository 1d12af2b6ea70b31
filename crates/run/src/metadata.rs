//! Runs metadata work: workers whose requests are operations on names, as programs with many small files do them. They
//! begin together at the gate, stop between two operations, and publish their counters in their cells; a worker that is
//! stuck in the kernel is abandoned.

pub mod caches;
pub mod operations;
pub mod phase_counters;
mod stuck;
pub mod tree;
mod worker;

use std::any::Any;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::control::Control;
use fsdyno_drive::WorkerCell;
use fsdyno_os::clock::{Clock, RealClock};
use fsdyno_results::{JobError, Latency, PhaseRecord};

use crate::conduct::Observer;
use crate::stage_workers::{StageWorkers, StartGate};
use crate::stall::{Liveness, StallDetector};
use operations::{Item, Prepare};

/// Stack of a worker, bytes.
const STACK_BYTES: usize = 256 * 1024;

/// Interval at which the workers are checked.
const LOOK: Duration = Duration::from_millis(100);

/// The only stage of a task.
const STAGE: u32 = 0;

/// The work to be done.
pub struct Task {
    /// The title for people.
    pub title: String,
    /// Makes the operation of a worker.
    pub prepare: Prepare,
    /// Whether a part of each operation is timed separately.
    pub has_part: bool,
    /// The items of the operations, in this order.
    pub items: Vec<Item>,
    /// Number of workers at a time.
    pub threads: u32,
    /// Time limit, ns; `None`: no limit.
    pub limit_ns: Option<u64>,
    /// Whether each rank goes on after the time limit until it has done as many items as the rank that has done most. It
    /// is for one worker.
    pub wears_out: bool,
    /// Extra time before an operation counts as stuck, because it moves or lists much, ns.
    pub more_ns: u64,
    /// Ends the task, and has the timeouts for what does not answer.
    pub control: Arc<Control>,
}

/// The result of one worker, or of all.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Indices of the items that were done, in any order.
    pub done: Vec<u32>,
    /// Number of operations that failed.
    pub failures: u64,
    /// The first error.
    pub error: Option<JobError>,
    /// Latency of whole operations.
    pub latency: Latency,
    /// Latency of the part that is timed separately.
    pub part: Latency,
    /// User CPU time of the workers, ns.
    pub user_ns: u64,
    /// System CPU time of the workers, ns.
    pub system_ns: u64,
    /// Time that the workers were runnable and waited for a CPU, ns; `None`: not visible for one of them.
    pub waited_ns: Option<u64>,
    /// Beginning of the first operation and end of the last one, ns of the clock.
    span_ns: Option<(u64, u64)>,
    /// Whether the time limit was reached before the work was done.
    pub cut: bool,
}

impl Outcome {
    /// Time from the beginning of the first operation to the end of the last one, ns.
    pub fn elapsed_ns(&self) -> u64 {
        self.span_ns.map_or(0, |(begin_ns, end_ns)| end_ns.saturating_sub(begin_ns))
    }

    /// The record of the phase; what was seen around it is the caller's. `item_bytes`: bytes of an operation, if it moves
    /// any.
    pub fn record(&self, name: &str, threads: u32, item_bytes: Option<u64>) -> PhaseRecord {
        let operations = self.done.len() as u64;
        PhaseRecord {
            name: name.to_owned(),
            operations,
            failures: self.failures,
            error: self.error.clone(),
            threads,
            bytes: item_bytes.map(|bytes| operations * bytes),
            elapsed_ns: self.elapsed_ns(),
            cpu_ns: self.user_ns + self.system_ns,
            latency: self.latency.clone(),
            cache: None,
            conditions: None,
        }
    }

    fn merge(&mut self, other: Outcome) {
        self.done.extend(other.done);
        self.failures += other.failures;
        self.error = self.error.take().or(other.error);
        merge_latency(&mut self.latency, &other.latency);
        merge_latency(&mut self.part, &other.part);
        self.user_ns += other.user_ns;
        self.system_ns += other.system_ns;
        self.waited_ns = self.waited_ns.zip(other.waited_ns).map(|(mine, other)| mine + other);
        self.span_ns = match (self.span_ns, other.span_ns) {
            (Some((begin, end)), Some((other_begin, other_end))) => Some((begin.min(other_begin), end.max(other_end))),
            (one, two) => one.or(two),
        };
        self.cut |= other.cut;
    }
}

fn merge_latency(into: &mut Latency, other: &Latency) {
    into.moments.merge(&other.moments);
    if let Some(histogram) = &other.histogram {
        into.histogram.get_or_insert_default().merge(histogram);
    }
}

/// The progress of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Time since the gate was opened, ns.
    pub elapsed_ns: u64,
    /// Number of operations that are done.
    pub operations: u64,
    /// 99th percentile so far; `None`: not known yet.
    pub latency_ns_p99: Option<u64>,
    /// Time until the end, at this pace or by the time limit, ns; `None`: not known.
    pub left_ns: Option<u64>,
}

/// Events of the workers.
enum Event {
    /// The worker is ready to begin.
    Ready(usize),
    /// The worker has ended, or has panicked.
    Ended(usize, Result<Box<Outcome>, Box<dyn Any + Send>>),
}

/// The state that the workers of a task share.
struct Shared {
    task: Task,
    cells: Vec<WorkerCell>,
    gate: StartGate,
    events: Mutex<Sender<Event>>,
}

impl Shared {
    /// The items of a worker, in this order.
    fn share(&self, number: usize) -> impl Iterator<Item = &Item> {
        self.task.items.iter().skip(number).step_by(self.cells.len())
    }

    /// The name that a worker is working on.
    fn name(&self, number: usize) -> String {
        let cell = &self.cells[number];
        let item = (cell.steps() > 0).then(|| self.share(number).nth(cell.file())).flatten();
        item.map_or_else(|| "its first file".to_string(), |item| item.name.to_string_lossy().into_owned())
    }

    fn send(&self, event: Event) {
        // A worker that returns late is not waited for: there is no receiver.
        let _ = self.events.lock().unwrap_or_else(PoisonError::into_inner).send(event);
    }
}

/// Does the task, and reports its progress to the observer. A worker that is abandoned is the outcome's error, and
/// stops the study. With several ranks, all begin at the same time.
///
/// # Errors
/// When no more threads can be started: nothing has been done then.
pub fn perform(task: Task, observer: &mut dyn Observer) -> std::io::Result<Outcome> {
    let threads = usize::try_from(task.threads).unwrap_or(1).clamp(1, task.items.len().max(1));
    let (sender, events) = channel();
    let cells = (0..threads).map(|_| WorkerCell::default()).collect();
    let shared = Arc::new(Shared { task, cells, gate: StartGate::default(), events: Mutex::new(sender) });
    let mut stage_workers = StageWorkers::new(threads);
    for number in 0..threads {
        let own = Arc::clone(&shared);
        let work = move || {
            let work = std::panic::AssertUnwindSafe(|| worker::run(&own, number));
            own.send(Event::Ended(number, std::panic::catch_unwind(work).map(Box::new)));
        };
        if let Err(error) = fsdyno_os::thread::begin("metadata", STACK_BYTES, work) {
            // Workers that wait at the gate already must not begin.
            shared.cells.iter().for_each(WorkerCell::abandon);
            shared.gate.open(STAGE);
            return Err(error);
        }
        stage_workers.begins(number);
    }
    let clock = RealClock::shared();
    let mut phase = WatchedTask { clock, began_ns: None, looked_ns: clock.now_ns(), shared, observer };
    let mut detectors = vec![StallDetector::default(); threads];
    let mut whole = Outcome { waited_ns: Some(0), ..Outcome::default() };
    while stage_workers.is_awaited() {
        phase.shared.task.control.follow();
        match events.recv_timeout(LOOK) {
            Ok(Event::Ready(number)) => stage_workers.is_ready(number),
            Ok(Event::Ended(number, outcome)) if stage_workers.ends(number) => match outcome {
                Ok(outcome) => whole.merge(*outcome),
                Err(panic) => std::panic::resume_unwind(panic),
            },
            Ok(Event::Ended(..)) => {}
            Err(RecvTimeoutError::Timeout) => phase.look(&mut detectors, &mut stage_workers, &mut whole),
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if !stage_workers.is_any_starting() {
            phase.begin();
        }
    }
    if let (Some(other_ranks), Some((began_ns, ended_ns))) = (phase.shared.task.control.other_ranks(), whole.span_ns) {
        other_ranks.ended(STAGE, began_ns, ended_ns);
    }
    Ok(whole)
}

/// A running task with the state of its watching.
struct WatchedTask<'run> {
    clock: RealClock,
    /// Time at which the gate was opened, ns; `None`: not yet.
    began_ns: Option<u64>,
    looked_ns: u64,
    shared: Arc<Shared>,
    observer: &'run mut dyn Observer,
}

impl WatchedTask<'_> {
    fn begin(&mut self) {
        if self.began_ns.is_some() {
            return;
        }
        if let Some(other_ranks) = self.shared.task.control.other_ranks() {
            self.clock.sleep_until_ns(other_ranks.ready(STAGE));
            self.looked_ns = self.clock.now_ns();
        }
        self.began_ns = Some(self.clock.now_ns());
        self.shared.gate.open(STAGE);
    }

    /// Reports the progress, and abandons workers that do not answer.
    fn look(&mut self, detectors: &mut [StallDetector<u64>], stage_workers: &mut StageWorkers, whole: &mut Outcome) {
        let now_ns = self.clock.now_ns();
        let step_ns = now_ns.saturating_sub(std::mem::replace(&mut self.looked_ns, now_ns));
        let Some(began_ns) = self.began_ns else { return };
        self.observer.metadata(&self.progress(now_ns.saturating_sub(began_ns)));
        let shared = Arc::clone(&self.shared);
        let task = &shared.task;
        let limits = task.control.bounds().operation(task.more_ns, task.control.stopped());
        for (number, (detector, cell)) in detectors.iter_mut().zip(&shared.cells).enumerate() {
            if !stage_workers.awaits(number) {
                continue;
            }
            let thread = cell.thread().unwrap_or(0);
            match detector.look(step_ns, cell.steps(), limits) {
                Liveness::Alive => {}
                Liveness::Silent(silent_ns) => {
                    let name = shared.name(number);
                    let sentence = match task.control.stopped() {
                        true => stuck::sentence_to_end(&task.title, &name, thread, limits.lost_ns),
                        false => stuck::sentence(&task.title, &name, thread, silent_ns),
                    };
                    self.observer.message(&sentence);
                }
                Liveness::Lost(silent_ns) => {
                    let _ = stage_workers.ends(number);
                    cell.abandon();
                    task.control.abandon();
                    let (error, sentence) = stuck::abandoned(&task.title, &shared.name(number), thread, silent_ns);
                    self.observer.message(&sentence);
                    whole.merge(so_far(&shared, number, error, (began_ns, now_ns)));
                }
            }
        }
    }

    fn progress(&self, elapsed_ns: u64) -> Progress {
        let Shared { task, cells, .. } = &*self.shared;
        let operations: u64 = cells.iter().map(|cell| cell.published().ios.read).sum();
        let left = (task.items.len() as u64).saturating_sub(operations);
        let by_count_ns = (operations > 0).then(|| (elapsed_ns as f64 * left as f64 / operations as f64) as u64);
        let by_time_ns = task.limit_ns.map(|limit_ns| limit_ns.saturating_sub(elapsed_ns));
        Progress {
            elapsed_ns,
            operations,
            latency_ns_p99: cells.iter().filter_map(WorkerCell::latency_ns_p99).max(),
            left_ns: by_count_ns.into_iter().chain(by_time_ns).min(),
        }
    }
}

/// The outcome of an abandoned worker, as far as it is known: its latencies are not.
fn so_far(shared: &Shared, number: usize, error: JobError, span_ns: (u64, u64)) -> Outcome {
    let operations = usize::try_from(shared.cells[number].published().ios.read).unwrap_or(usize::MAX);
    Outcome {
        // No phase follows that would need to know which of them they were.
        done: shared.share(number).take(operations).map(|item| item.index).collect(),
        failures: 1,
        error: Some(error),
        span_ns: Some(span_ns),
        ..Outcome::default()
    }
}
