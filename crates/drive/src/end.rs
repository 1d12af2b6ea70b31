//! The value that a worker returns at its end.

use fsdyno_results::{JobRecord, Note};
use fsdyno_workload::{Op, SavedState};

/// What a worker returns at its end.
#[derive(Clone, Debug)]
pub struct WorkerEnd {
    /// The worker's part of the run's record. It is boxed, because a worker's stack is small.
    pub record: Box<JobRecord>,
    /// Sentences for stderr, fio's words first.
    pub messages: Vec<String>,
    /// Notes for the record.
    pub notes: Vec<Note>,
    /// The request that ended the job, with its errno.
    pub failed: Option<(Op, i32)>,
    /// How far the writes came, to be saved for a later verification.
    pub state: Option<SavedState>,
    /// Whether requests of the worker, or the worker itself, are stuck in the kernel.
    pub lost: bool,
}
