//! Workers that do one phase together: they start at one moment, stop between two operations, and share nothing
//! but the counts they publish. One that is stuck in the kernel is left behind, so that each owns what it uses.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Barrier};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use engine::clock::{Clock, RealClock};
use engine::thread::{thread_id, usage};
use results::{BUCKETS, Histogram, JobError, Latency, Moments, bucket_of};
use run::{Control, Found, StallDetector};

use super::operations::{Ground, Item, Perform, Scratch};
use super::silence;
use crate::Problem;
use crate::watch::{Amount, Counted, LiveFigures, LivePhase, Step, Watcher};

/// Between two looks at the workers.
const LOOK: Duration = Duration::from_millis(100);

/// Between two tellings of a percentile, ns: it costs some microseconds.
const P99_NS: u64 = 500_000_000;

/// What is to be done.
pub(super) struct Task {
    /// The phase, for people.
    pub(super) title: String,
    pub(super) ground: Arc<Ground>,
    pub(super) perform: Perform,
    /// Whether a part of each operation is timed by itself.
    pub(super) has_part: bool,
    pub(super) items: Vec<Item>,
    pub(super) threads: u32,
    /// Longest time, ns; `None`: to the end, however long that takes.
    pub(super) limit_ns: Option<u64>,
    /// What one operation may take beyond the usual until it counts as stuck, ns: it moves or lists much.
    pub(super) more_ns: u64,
    pub(super) control: Arc<Control>,
}

/// What was done, by one worker or by all.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// Indices of the items that were done, in no order.
    pub(super) done: Vec<u32>,
    pub(super) failures: u64,
    pub(super) error: Option<JobError>,
    pub(super) latency: Latency,
    pub(super) part: Latency,
    pub(super) cpu_ns: u64,
    /// First operation's beginning and last one's end on the clock.
    pub(super) span_ns: Option<(u64, u64)>,
    /// The time was over before the work was.
    pub(super) cut: bool,
}

impl Outcome {
    pub(super) fn elapsed_ns(&self) -> u64 {
        self.span_ns.map_or(0, |(begin_ns, end_ns)| end_ns.saturating_sub(begin_ns))
    }

    fn merge(&mut self, other: Outcome) {
        self.done.extend(other.done);
        self.failures += other.failures;
        self.error = self.error.take().or(other.error);
        merge_latency(&mut self.latency, &other.latency);
        merge_latency(&mut self.part, &other.part);
        self.cpu_ns += other.cpu_ns;
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

/// Latencies while they are counted: nothing grows while the clock runs.
struct Counter {
    moments: Moments,
    counts: Vec<u64>,
}

impl Counter {
    fn new() -> Counter {
        Counter { moments: Moments::default(), counts: vec![0; BUCKETS] }
    }

    fn record(&mut self, latency_ns: u64) {
        self.moments.record(latency_ns);
        self.counts[bucket_of(latency_ns)] += 1;
    }

    /// 99th percentile so far, ns; 0: nothing was counted.
    fn p99_ns(&self) -> u64 {
        Histogram::from_counts(self.counts.clone()).percentile(99.0).unwrap_or(0)
    }

    fn latency(self) -> Latency {
        let any = self.moments.count > 0;
        Latency { moments: self.moments, histogram: any.then(|| Histogram::from_counts(self.counts)) }
    }
}

/// What a worker has done so far, on cache lines of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Published {
    /// The operation that it is at, counted from 1; 0: it has not begun.
    at: AtomicU64,
    operations: AtomicU64,
    /// 99th percentile, ns; 0: not known yet.
    latency_ns_p99: AtomicU64,
    /// The kernel's number of its thread.
    thread: AtomicU32,
}

/// Does the task, and tells the watcher how far it is. A worker that is left behind is the outcome's error, and stops
/// the study.
///
/// # Errors
/// When the system gives no more threads: nothing has been done then.
pub(super) fn perform(task: Task, step: &Step, watcher: &mut dyn Watcher) -> Result<Outcome, Problem> {
    let threads = usize::try_from(task.threads).unwrap_or(1).clamp(1, task.items.len().max(1));
    let team = Arc::new(Team {
        published: (0..threads).map(|_| Published::default()).collect(),
        barrier: Barrier::new(threads),
        task,
    });
    let (outcomes, results) = channel();
    // Nobody passes the barrier before all threads are there, which only we know.
    let begun: Vec<(Sender<()>, JoinHandle<()>)> = (0..threads)
        .map(|number| begin(Worker { team: Arc::clone(&team), number }, outcomes.clone()))
        .collect::<Result<_, Problem>>()?;
    drop(outcomes);
    let (starts, handles): (Vec<_>, Vec<_>) = begun.into_iter().unzip();
    for start in starts {
        // A worker that is gone has panicked, which is passed on below.
        let _ = start.send(());
    }
    Ok(collect(&team, &results, handles, step, watcher))
}

/// What the workers of a phase have in common.
struct Team {
    task: Task,
    /// One for each.
    published: Vec<Published>,
    barrier: Barrier,
}

impl Team {
    /// What a worker does, in this order.
    fn share(&self, number: usize) -> impl Iterator<Item = &Item> {
        self.task.items.iter().skip(number).step_by(self.published.len())
    }

    /// The name that a worker is at.
    fn name(&self, number: usize) -> String {
        let at = usize::try_from(self.published[number].at.load(Ordering::Relaxed)).unwrap_or(usize::MAX);
        let item = at.checked_sub(1).and_then(|index| self.share(number).nth(index));
        item.map_or_else(|| "its first file".to_string(), |item| item.name.to_string_lossy().into_owned())
    }
}

/// Starts a thread that waits for the word to begin, or for the sender to be dropped.
fn begin(worker: Worker, outcomes: Sender<(usize, Outcome)>) -> Result<(Sender<()>, JoinHandle<()>), Problem> {
    let (start, started) = channel();
    let body = move || {
        if started.recv().is_ok() {
            let number = worker.number;
            // One that comes back late is not waited for any more.
            let _ = outcomes.send((number, worker.run()));
        }
    };
    let handle = Builder::new().name("smallfiles".to_string()).spawn(body).map_err(|error| {
        Problem::new(format!("cannot start a thread: {}", crate::workplace::reason(&error)))
            .with_next("ask for fewer with --threads, or raise the limit of processes (ulimit -u)")
    })?;
    Ok((start, handle))
}

fn collect(
    team: &Team,
    results: &Receiver<(usize, Outcome)>,
    handles: Vec<JoinHandle<()>>,
    step: &Step,
    watcher: &mut dyn Watcher,
) -> Outcome {
    let clock = RealClock::shared();
    let began_ns = clock.now_ns();
    let mut looked_ns = began_ns;
    let mut whole = Outcome::default();
    // `None`: it has ended, or was left behind.
    let mut watched = vec![Some(StallDetector::default()); team.published.len()];
    while watched.iter().any(Option::is_some) {
        match results.recv_timeout(LOOK) {
            Ok((number, outcome)) => {
                whole.merge(outcome);
                watched[number] = None;
            }
            Err(RecvTimeoutError::Timeout) => {
                let now_ns = clock.now_ns();
                let step_ns = now_ns.saturating_sub(std::mem::replace(&mut looked_ns, now_ns));
                watcher.progress(step, &figures(team, now_ns.saturating_sub(began_ns)));
                for (number, watched) in watched.iter_mut().enumerate() {
                    if let Some(silent_ns) = look(team, number, watched, step_ns, watcher) {
                        *watched = None;
                        whole.merge(left_behind(team, number, silent_ns, (began_ns, now_ns), watcher));
                    }
                }
            }
            // All are gone, and one without a word.
            Err(RecvTimeoutError::Disconnected) => {
                handles.into_iter().for_each(pass_on_panic);
                break;
            }
        }
    }
    whole
}

fn pass_on_panic(handle: JoinHandle<()>) {
    if let Err(panic) = handle.join() {
        std::panic::resume_unwind(panic);
    }
}

/// Looks at a worker; how long it has been silent if it is to be left behind, ns.
fn look(
    team: &Team,
    number: usize,
    watched: &mut Option<StallDetector<u64>>,
    step_ns: u64,
    watcher: &mut dyn Watcher,
) -> Option<u64> {
    let (cell, task) = (&team.published[number], &team.task);
    let limits = task.control.bounds().operation(task.more_ns, task.control.stopped());
    match watched.as_mut()?.look(step_ns, cell.at.load(Ordering::Relaxed), limits) {
        Found::Alive => None,
        Found::Silent(silent_ns) => {
            let thread = cell.thread.load(Ordering::Relaxed);
            watcher.message(&silence::sentence(&task.title, &team.name(number), thread, silent_ns));
            None
        }
        Found::Lost(silent_ns) => Some(silent_ns),
    }
}

/// The outcome of a worker that is left behind: as far as it had come. Its latencies stay with it.
fn left_behind(team: &Team, number: usize, silent_ns: u64, span_ns: (u64, u64), watcher: &mut dyn Watcher) -> Outcome {
    let cell = &team.published[number];
    let thread = cell.thread.load(Ordering::Relaxed);
    let (error, sentence) = silence::left_behind(&team.task.title, &team.name(number), thread, silent_ns);
    watcher.message(&sentence);
    team.task.control.leave_behind();
    let operations = usize::try_from(cell.operations.load(Ordering::Relaxed)).unwrap_or(usize::MAX);
    Outcome {
        // No phase follows that would ask which of them it were.
        done: team.share(number).take(operations).map(|item| item.index).collect(),
        failures: 1,
        error: Some(error),
        span_ns: Some(span_ns),
        ..Outcome::default()
    }
}

fn figures(team: &Team, elapsed_ns: u64) -> LiveFigures {
    let Team { task, published, .. } = team;
    let elapsed_ms = elapsed_ns / 1_000_000;
    let done: u64 = published.iter().map(|cell| cell.operations.load(Ordering::Relaxed)).sum();
    let p99_ns = published.iter().map(|cell| cell.latency_ns_p99.load(Ordering::Relaxed)).max().unwrap_or(0);
    // At this pace, or when the time is over.
    let left = (task.items.len() as u64).saturating_sub(done);
    let by_count_ns = (done > 0).then(|| elapsed_ns as f64 * left as f64 / done as f64);
    let by_time_ns = task.limit_ns.map(|limit_ns| limit_ns.saturating_sub(elapsed_ns) as f64);
    let left_ns = by_count_ns.into_iter().chain(by_time_ns).reduce(f64::min);
    let all = Amount { operations: done, bytes: 0 };
    LiveFigures {
        phase: LivePhase::Running,
        elapsed_ms,
        counted: Some(Counted { at_ms: elapsed_ms, all, ..Counted::default() }),
        seconds_left: left_ns.map(|left_ns| (left_ns / 1e9).ceil() as u64),
        operations_per_s: (elapsed_ns > 0).then(|| done as f64 * 1e9 / elapsed_ns as f64),
        latency_ns_p99: (p99_ns > 0).then_some(p99_ns),
        ..LiveFigures::default()
    }
}

struct Worker {
    team: Arc<Team>,
    number: usize,
}

impl Worker {
    fn run(self) -> Outcome {
        let Team { task, published, barrier } = &*self.team;
        let (cell, ground) = (&published[self.number], &*task.ground);
        let share: Vec<&Item> = self.team.share(self.number).collect();
        cell.thread.store(thread_id(), Ordering::Relaxed);
        let clock = RealClock::shared();
        let mut scratch = Scratch::new(ground);
        let (mut latency, mut part) = (Counter::new(), Counter::new());
        let mut outcome = Outcome { done: Vec::with_capacity(share.len()), ..Outcome::default() };
        barrier.wait();
        let used = usage();
        let began_ns = clock.now_ns();
        let mut ended_ns = began_ns;
        let mut next_p99_ns = began_ns + P99_NS;
        for (at, item) in (1..).zip(share) {
            if task.control.stopped() {
                break;
            }
            if task.limit_ns.is_some_and(|limit_ns| ended_ns.saturating_sub(began_ns) >= limit_ns) {
                outcome.cut = true;
                break;
            }
            cell.at.store(at, Ordering::Relaxed);
            let begin_ns = clock.now_ns();
            let answer = (task.perform)(ground, item, &mut scratch);
            ended_ns = clock.now_ns();
            match answer {
                Ok(()) => {
                    outcome.done.push(item.index);
                    latency.record(ended_ns.saturating_sub(begin_ns));
                    if task.has_part {
                        part.record(scratch.part_ns);
                    }
                    cell.operations.store(outcome.done.len() as u64, Ordering::Relaxed);
                    if ended_ns >= next_p99_ns {
                        next_p99_ns = ended_ns + P99_NS;
                        cell.latency_ns_p99.store(latency.p99_ns(), Ordering::Relaxed);
                    }
                }
                Err(failure) if failure.interrupted() && task.control.stopped() => break,
                Err(failure) => {
                    outcome.failures += 1;
                    outcome.error.get_or_insert_with(|| failure.to_error());
                }
            }
        }
        outcome.span_ns = Some((began_ns, ended_ns));
        let used = usage().since(&used);
        outcome.cpu_ns = u64::try_from((used.user + used.system).as_nanos()).unwrap_or(u64::MAX);
        outcome.latency = latency.latency();
        outcome.part = part.latency();
        outcome
    }
}
