//! Workers that do one phase together: they start at one moment, stop between two operations, and share nothing
//! but the counts they publish.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Barrier};
use std::thread::{Builder, Scope};
use std::time::Duration;

use engine::clock::{Clock, RealClock};
use engine::thread::usage;
use results::{BUCKETS, Histogram, JobError, Latency, Moments, bucket_of};
use run::Control;

use super::operations::{Ground, Item, Perform, Scratch};
use crate::Problem;
use crate::watch::{Amount, Counted, LiveFigures, LivePhase, Step, Watcher};

/// Between two looks at the workers.
const LOOK: Duration = Duration::from_millis(100);

/// Between two tellings of a percentile, ns: it costs some microseconds.
const P99_NS: u64 = 500_000_000;

/// What is to be done.
pub(super) struct Task<'a> {
    pub(super) ground: &'a Ground,
    pub(super) perform: Perform,
    /// Whether a part of each operation is timed by itself.
    pub(super) has_part: bool,
    pub(super) items: Vec<Item>,
    pub(super) threads: u32,
    /// Longest time, ns; `None`: to the end, however long that takes.
    pub(super) limit_ns: Option<u64>,
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
    operations: AtomicU64,
    /// 99th percentile, ns; 0: not known yet.
    latency_ns_p99: AtomicU64,
}

/// Does the task, and tells the watcher how far it is.
///
/// # Errors
/// When the system gives no more threads: nothing has been done then.
pub(super) fn perform(task: &Task<'_>, step: &Step, watcher: &mut dyn Watcher) -> Result<Outcome, Problem> {
    let threads = usize::try_from(task.threads).unwrap_or(1).clamp(1, task.items.len().max(1));
    let shares: Vec<Vec<&Item>> =
        (0..threads).map(|worker| task.items.iter().skip(worker).step_by(threads).collect()).collect();
    let published: Vec<Published> = (0..threads).map(|_| Published::default()).collect();
    let barrier = Barrier::new(threads);
    std::thread::scope(|scope| {
        let (outcomes, results) = channel();
        // Nobody passes the barrier before all threads are there, which only we know.
        let mut starts = Vec::new();
        for (share, cell) in shares.into_iter().zip(&published) {
            let worker = Worker { task, share, cell, barrier: &barrier };
            starts.push(begin(scope, worker, outcomes.clone())?);
        }
        drop(outcomes);
        for start in starts {
            // A worker that is gone has panicked; the scope passes that on.
            let _ = start.send(());
        }
        Ok(collect(task, &results, &published, step, watcher))
    })
}

/// Starts a thread that waits for the word to begin, or for the sender to be dropped.
fn begin<'scope>(
    scope: &'scope Scope<'scope, '_>,
    worker: Worker<'scope>,
    outcomes: Sender<Outcome>,
) -> Result<Sender<()>, Problem> {
    let (start, started) = channel();
    let body = move || {
        if started.recv().is_ok() {
            let _ = outcomes.send(worker.run());
        }
    };
    Builder::new().name("smallfiles".to_string()).spawn_scoped(scope, body).map_err(|error| {
        Problem::new(format!("cannot start a thread: {}", crate::workplace::reason(&error)))
            .with_next("ask for fewer with --threads, or raise the limit of processes (ulimit -u)")
    })?;
    Ok(start)
}

fn collect(
    task: &Task<'_>,
    results: &Receiver<Outcome>,
    published: &[Published],
    step: &Step,
    watcher: &mut dyn Watcher,
) -> Outcome {
    let clock = RealClock::shared();
    let began_ns = clock.now_ns();
    let mut whole = Outcome::default();
    let mut left = published.len();
    while left > 0 {
        match results.recv_timeout(LOOK) {
            Ok(outcome) => {
                whole.merge(outcome);
                left -= 1;
            }
            Err(RecvTimeoutError::Timeout) => {
                let elapsed_ns = clock.now_ns().saturating_sub(began_ns);
                watcher.progress(step, &figures(task, published, elapsed_ns));
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    whole
}

fn figures(task: &Task<'_>, published: &[Published], elapsed_ns: u64) -> LiveFigures {
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

struct Worker<'a> {
    task: &'a Task<'a>,
    share: Vec<&'a Item>,
    cell: &'a Published,
    barrier: &'a Barrier,
}

impl Worker<'_> {
    fn run(self) -> Outcome {
        let Worker { task, share, cell, barrier } = self;
        let clock = RealClock::shared();
        let mut scratch = Scratch::new(task.ground);
        let (mut latency, mut part) = (Counter::new(), Counter::new());
        let mut outcome = Outcome { done: Vec::with_capacity(share.len()), ..Outcome::default() };
        barrier.wait();
        let used = usage();
        let began_ns = clock.now_ns();
        let mut ended_ns = began_ns;
        let mut next_p99_ns = began_ns + P99_NS;
        for item in share {
            if task.control.stopped() {
                break;
            }
            if task.limit_ns.is_some_and(|limit_ns| ended_ns.saturating_sub(began_ns) >= limit_ns) {
                outcome.cut = true;
                break;
            }
            let begin_ns = clock.now_ns();
            let answer = (task.perform)(task.ground, item, &mut scratch);
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
