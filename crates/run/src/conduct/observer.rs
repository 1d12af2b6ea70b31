//! The interface through which the program follows a run.

use fsdyno_drive::WorkerCell;
use fsdyno_results::{JobRecord, Note, RunRecord};

use crate::metadata;
use crate::plan::Plan;

/// Receives the events of a run as they happen, on the conductor's thread.
pub trait Observer {
    /// A file is about to be made.
    fn layout(&mut self, _line: &str) {}
    /// Progress of a long layout: bytes done, bytes in all, seconds left if known.
    fn layout_progress(&mut self, _done: u64, _total: u64, _seconds_left: Option<u64>) {}
    /// Called several times per second during layout and while workers start, so that the caller can pass on a stop.
    fn idle(&mut self) {}
    /// A message to show at once, in fio's words where fio has any.
    fn message(&mut self, _text: &str) {}
    /// A message that the record or its findings will contain, too.
    fn note(&mut self, text: &str) {
        self.message(text);
    }
    /// A signal has ended the run, and it still waits for this: the observer may show the results so far.
    fn still_waits(&mut self, text: &str) {
        self.note(text);
    }
    /// A job ended with an error.
    fn job_failed(&mut self, _record: &JobRecord) {}
    /// Called several times per second while workers run.
    fn watch(&mut self, _view: &View<'_>) {}
    /// Whether an interim record is wanted now.
    fn wants_interim(&mut self, _view: &View<'_>) -> bool {
        false
    }
    /// The interim record.
    fn interim(&mut self, _record: &RunRecord) {}
    /// Progress of metadata work, several times per second.
    fn metadata(&mut self, _progress: &metadata::Progress) {}
    /// The last job has ended; returns notes for the record that only the observer can make.
    fn ended(&mut self) -> Vec<Note> {
        Vec::new()
    }
}

/// The state of a running run.
pub struct View<'run> {
    /// The plan.
    pub plan: &'run Plan,
    /// One cell per worker.
    pub cells: &'run [WorkerCell],
    /// Time since the first stage began, ns.
    pub elapsed_ns: u64,
    /// When each worker left its gate, ns since the first stage began; `None`: it has not.
    pub started_ns: &'run [Option<u64>],
}
