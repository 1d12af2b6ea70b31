//! What the workers of a run share, and the events that they send to the conductor.

use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};

use crate::control::Control;
use fsdyno_drive::{Flows, Interval, LockedFiles, LogSender, WorkerCell, WorkerEnd};

use crate::guard::Guard;
use crate::plan::Plan;
use crate::stage_workers::StartGate;

/// Events from the workers.
pub(crate) enum Event {
    /// This worker can begin.
    Ready(usize),
    /// This one is over.
    Ended(usize, WorkerEnd),
    /// Something to be said where layouts are announced.
    Line(String),
    /// This one has measured an interval.
    Interval(usize, Interval),
}

/// What all workers of a run share.
pub(crate) struct Shared {
    pub(crate) plan: Plan,
    pub(crate) cells: Vec<WorkerCell>,
    pub(crate) control: Arc<Control>,
    pub(crate) gate: StartGate,
    /// Keeps devices in use from being changed.
    pub(crate) guard: Guard,
    /// The flows that its jobs share.
    pub(crate) flows: Flows,
    /// What each worker takes of `lockfile`.
    pub(crate) locks: Mutex<Vec<Option<LockedFiles>>>,
    /// Where rows of log files go; `None`: there are no logs.
    pub(crate) logs: Option<LogSender>,
    pub(super) events: Mutex<Sender<Event>>,
}

impl Shared {
    /// The worker's share of the locks on files; it has them once.
    pub(crate) fn take_locks(&self, worker: usize) -> Option<LockedFiles> {
        let mut locks = self.locks.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        locks.get_mut(worker)?.take()
    }

    pub(crate) fn send(&self, event: Event) {
        // The conductor outlives the workers; were it gone, nobody would be there to tell.
        let _ = self.events.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).send(event);
    }
}
