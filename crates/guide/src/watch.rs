//! The interface through which a study reports its progress.

use std::path::Path;

use fsdyno_results::{DirectionRecord, JobRecord, Row, RunRecord, Study};

/// The watcher of a study. It is called at each step's begin and end, and several times a second in between.
pub trait Watcher {
    /// What will be done, and how long it will take; called before the first step.
    fn outline(&mut self, _text: &str) {}
    /// The first look at this path begins; it blocks if the storage does not respond. Called for each path.
    fn looks(&mut self, _path: &Path) {}
    /// All first looks have returned.
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
    /// What it has measured so far, about once a second.
    fn partial(&mut self, _record: &RunRecord) {}
    /// The study has a new row: what is saved now is kept if the program is killed.
    fn grown(&mut self, _study: &Study) {}
}

/// A watcher that shows nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Watcher for Unwatched {}

/// One step of a study.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Step {
    /// Name of the target.
    pub target: String,
    /// What is done, for people: `4k random read, depth 32`.
    pub title: String,
    /// Counted from 1.
    pub number: usize,
    /// How many steps there are, as far as is known.
    pub of: usize,
    /// How many may come on top of these, until the results are decided; `None`: nobody can tell.
    pub more: Option<usize>,
    /// What the steps after it are planned to take, s; `None`: nothing is planned.
    pub following_s: Option<u64>,
    /// The question has other targets, too.
    pub is_one_of_several: bool,
}

/// The state of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LiveFigures {
    /// What is going on.
    pub phase: LivePhase,
    /// Since the step began, ms.
    pub elapsed_ms: u64,
    /// Until it ends; `None`: nobody can tell.
    pub seconds_left: Option<u64>,
    /// Operations per second in the last moments.
    pub operations_per_s: Option<f64>,
    /// Bytes per second in the last moments.
    pub bytes_per_s: Option<f64>,
    /// 99th percentile of latency so far, ns.
    pub latency_ns_p99: Option<u64>,
    /// Bytes that the layout has written so far; `None`: it is no layout.
    pub layout_bytes: Option<u64>,
    /// Totals without the warm-up, updated about once a second. `None`: the warm-up goes on.
    pub totals: Option<StepTotals>,
}

/// Totals of a step so far, without the warm-up; the last ones equal the figures of its row.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepTotals {
    /// Time that counted until then, ms.
    pub at_ms: u64,
    /// All operations.
    pub all: Amount,
    /// The reads among them; `None`: operations of other kinds.
    pub read: Option<Amount>,
    /// The writes among them, likewise.
    pub write: Option<Amount>,
    /// Latency of the operations that ended since the totals before these; `None`: none did, or it is not kept.
    pub latency: Option<IntervalLatency>,
}

/// Operations, and the bytes that they moved.
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

impl Amount {
    /// The difference to an earlier amount.
    pub fn since(self, earlier: Amount) -> Amount {
        Amount {
            operations: self.operations.saturating_sub(earlier.operations),
            bytes: self.bytes.saturating_sub(earlier.bytes),
        }
    }
}

impl StepTotals {
    /// What a finished row did; `None`: it never ran.
    pub fn of_row(row: &Row) -> Option<StepTotals> {
        if let Some(phase) = &row.phase {
            let all = Amount { operations: phase.operations, bytes: phase.bytes.unwrap_or(0) };
            return Some(StepTotals { at_ms: phase.elapsed_ns / 1_000_000, all, ..StepTotals::default() });
        }
        Some(StepTotals::of_jobs(&row.run.as_ref()?.jobs))
    }

    /// What jobs did, or have done so far.
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
    /// Warm-up: nothing counts yet.
    Ramp,
    /// Measuring.
    Running,
    /// Syncs and closes.
    Syncing,
}

impl LivePhase {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            LivePhase::Layout => "layout",
            LivePhase::Ramp => "warm-up",
            LivePhase::Running => "running",
            LivePhase::Syncing => "syncing",
        }
    }
}
