//! How a worker ends.

use results::{JobRecord, Note};
use workload::{Op, SavedState};

/// What a worker returns at its end.
#[derive(Clone, Debug)]
pub(crate) struct WorkerEnd {
    pub(crate) record: JobRecord,
    /// Sentences for stderr, fio's words first.
    pub(crate) messages: Vec<String>,
    /// For the record.
    pub(crate) notes: Vec<Note>,
    /// The request that ended the job, with its errno.
    pub(crate) failed: Option<(Op, i32)>,
    /// How far its writes came, to be saved.
    pub(crate) state: Option<SavedState>,
    /// Requests of it, or the worker itself, are stuck in the kernel.
    pub(crate) lost: bool,
}

/// Why a worker could not begin.
pub(crate) struct Refused {
    pub(crate) code: i32,
    pub(crate) function: &'static str,
    pub(crate) message: String,
}
