//! The interface through which a face follows a run.

use fsdyno_drive::WorkerCell;
use fsdyno_results::{JobRecord, Note, RunRecord};

use crate::metadata;
use crate::plan::Plan;

/// The watcher of a run: what happens reaches it as it happens, on the conductor's thread.
pub trait Observer {
    /// A file is about to be made.
    fn layout(&mut self, _line: &str) {}
    /// How far a long layout is: bytes done, bytes in all, seconds left if known.
    fn layout_progress(&mut self, _done: u64, _total: u64, _seconds_left: Option<u64>) {}
    /// Called several times a second during layout and while workers start, so that the caller can pass on a stop.
    fn idle(&mut self) {}
    /// Something that the user must read at once, in fio's words where fio has any.
    fn message(&mut self, _text: &str) {}
    /// Something that the record or its findings will tell too.
    fn note(&mut self, text: &str) {
        self.message(text);
    }
    /// A signal has ended the run, and this is what it still waits for: a reason to show what there is.
    fn still_waits(&mut self, text: &str) {
        self.note(text);
    }
    /// A job ended with an error.
    fn job_failed(&mut self, _record: &JobRecord) {}
    /// Called several times a second while workers run.
    fn watch(&mut self, _view: &View<'_>) {}
    /// Whether an interim record is wanted now.
    fn wants_interim(&mut self, _view: &View<'_>) -> bool {
        false
    }
    /// The interim record.
    fn interim(&mut self, _record: &RunRecord) {}
    /// Progress of metadata work, several times a second.
    fn metadata(&mut self, _progress: &metadata::Progress) {}
    /// The last job has ended: notes for the record that only the watcher can make.
    fn ended(&mut self) -> Vec<Note> {
        Vec::new()
    }
}

/// What can be seen of a run in progress.
pub struct View<'run> {
    /// The plan.
    pub plan: &'run Plan,
    /// One cell per worker.
    pub cells: &'run [WorkerCell],
    /// ns since the conductor began the first stage.
    pub elapsed_ns: u64,
    /// ns since that began when each worker left its gate; `None`: it has not.
    pub started_ns: &'run [Option<u64>],
}
