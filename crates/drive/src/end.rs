//! How a worker ends.

use fsdyno_results::{JobRecord, Note};
use fsdyno_workload::{Op, SavedState};

/// What a worker returns at its end.
#[derive(Clone, Debug)]
pub struct WorkerEnd {
    /// Its part of the run's record; on the heap, for a worker's stack is small.
    pub record: Box<JobRecord>,
    /// Sentences for stderr, fio's words first.
    pub messages: Vec<String>,
    /// For the record.
    pub notes: Vec<Note>,
    /// The request that ended the job, with its errno.
    pub failed: Option<(Op, i32)>,
    /// How far its writes came, to be saved.
    pub state: Option<SavedState>,
    /// Requests of it, or the worker itself, are stuck in the kernel.
    pub lost: bool,
}
