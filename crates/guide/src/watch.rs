//! What a person sees while a question is being answered.

use results::Row;

/// The watcher of a study. It is told of each step, of its progress some times a second, and of its end.
pub trait Watcher {
    /// A step begins.
    fn begin(&mut self, _step: &Step) {}
    /// How the step is doing.
    fn progress(&mut self, _step: &Step, _figures: &LiveFigures) {}
    /// Something that the person must know at once.
    fn message(&mut self, _text: &str) {}
    /// A step has ended with this row.
    fn end(&mut self, _step: &Step, _row: &Row) {}
}

/// Shows nothing.
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
}

/// What a step is at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LivePhase {
    /// Files are being made.
    #[default]
    Layout,
    /// Warm-up: nothing counts yet.
    Ramp,
    /// It counts.
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
