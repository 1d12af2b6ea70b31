//! The interface through which a study reports its progress.

use std::path::Path;

use fsdyno_results::{DirectionRecord, JobRecord, Row, RunRecord, Study};

/// Receives the progress of a study: a call at each step's begin and end, and several per second in between.
pub trait Watcher {
    /// The plan and its duration; called before the first step.
    fn outline(&mut self, _text: &str) {}
    /// The first access to this path begins; it blocks if the storage does not respond. Called for each path.
    fn looks(&mut self, _path: &Path) {}
    /// All first accesses have returned.
    fn looked(&mut self) {}
    /// A step begins.
    fn begin(&mut self, _step: &Step) {}
    /// Progress of the step.
    fn progress(&mut self, _step: &Step, _figures: &LiveFigures) {}
    /// A message to show at once.
    fn message(&mut self, _text: &str) {}
    /// A step has ended with this row.
    fn end(&mut self, _step: &Step, _row: &Row) {}
    /// This row of the study is about to run.
    fn planned(&mut self, _study: &Study, _row: &Row) {}
    /// The running row's record so far, about once a second.
    fn partial(&mut self, _record: &RunRecord) {}
    /// The study has a new row. Saving it now preserves the row if the program is killed.
    fn grown(&mut self, _study: &Study) {}
}

/// A watcher that shows nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct SilentWatcher;

impl Watcher for SilentWatcher {}

/// One step of a study.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Step {
    /// Name of the target.
    pub target: String,
    /// What is done, for people: `4k random read, depth 32`.
    pub title: String,
    /// The number of the step, counted from 1.
    pub number: usize,
    /// Number of steps, as far as it is known.
    pub of: usize,
    /// Number of steps that may follow until the results are decided; `None`: not known.
    pub more: Option<usize>,
    /// Planned time of the steps that follow, s; `None`: nothing is planned.
    pub following_s: Option<u64>,
    /// Whether the question has other targets, too.
    pub is_one_of_several: bool,
}

/// The figures of a running step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LiveFigures {
    /// The phase of the step.
    pub phase: LivePhase,
    /// Time since the step began, ms.
    pub elapsed_ms: u64,
    /// Time until it ends, s; `None`: not known.
    pub seconds_left: Option<u64>,
    /// Operations per second over the last moments.
    pub operations_per_s: Option<f64>,
    /// Bytes per second over the last moments.
    pub bytes_per_s: Option<f64>,
    /// 99th percentile of latency so far, ns.
    pub latency_ns_p99: Option<u64>,
    /// Bytes that the layout has written so far; `None`: no layout is running.
    pub layout_bytes: Option<u64>,
    /// Totals without the ramp, updated about once a second. `None`: the ramp goes on.
    pub totals: Option<StepTotals>,
}

/// Totals of a step so far, without the ramp; the last ones equal the figures of its row.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepTotals {
    /// Measured time so far, ms.
    pub at_ms: u64,
    /// All operations.
    pub all: Amount,
    /// The reads among them; `None`: the operations are of other kinds.
    pub read: Option<Amount>,
    /// The writes among them, likewise.
    pub write: Option<Amount>,
    /// Latency of the operations that ended since the previous totals; `None`: none did, or it is not recorded.
    pub latency: Option<IntervalLatency>,
}

/// A number of operations, and the bytes that they moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// Operations.
    pub operations: u64,
    /// Bytes.
    pub bytes: u64,
}

/// Latency of the operations of one interval, ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IntervalLatency {
    /// Median.
    pub p50_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
}

impl StepTotals {
    /// The totals of a finished row; `None`: it never ran.
    pub fn of_row(row: &Row) -> Option<StepTotals> {
        if let Some(phase) = &row.phase {
            let all = Amount { operations: phase.operations, bytes: phase.bytes.unwrap_or(0) };
            return Some(StepTotals { at_ms: phase.elapsed_ns / 1_000_000, all, ..StepTotals::default() });
        }
        Some(StepTotals::of_jobs(&row.run.as_ref()?.jobs))
    }

    /// The totals of jobs, finished or not.
    pub fn of_jobs(jobs: &[JobRecord]) -> StepTotals {
        let mut totals =
            StepTotals { read: Some(Amount::default()), write: Some(Amount::default()), ..StepTotals::default() };
        let add = |amount: &mut Amount, direction: &DirectionRecord| {
            amount.operations += direction.ios;
            amount.bytes += direction.bytes;
        };
        for job in jobs {
            for direction in [&job.directions.read, &job.directions.write, &job.directions.trim] {
                totals.at_ms = totals.at_ms.max(direction.runtime_ms);
                add(&mut totals.all, direction);
            }
            totals.read.iter_mut().for_each(|amount| add(amount, &job.directions.read));
            totals.write.iter_mut().for_each(|amount| add(amount, &job.directions.write));
        }
        totals
    }
}

/// The phase of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LivePhase {
    /// Files are being made.
    #[default]
    Layout,
    /// Ramp: nothing counts yet.
    Ramp,
    /// Measuring.
    Running,
    /// Syncs and closes.
    Syncing,
}

impl LivePhase {
    /// The word for the phase.
    pub fn word(self) -> &'static str {
        match self {
            LivePhase::Layout => "layout",
            LivePhase::Ramp => "warm-up",
            LivePhase::Running => "running",
            LivePhase::Syncing => "syncing",
        }
    }
}
