//! The state that the workers of a run share, and the events that they send to the conductor.

use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};

use crate::control::Control;
use fsdyno_drive::{Flows, Interval, LockedFiles, LogSender, WorkerCell, WorkerEnd};

use crate::control_groups::ControlGroups;
use crate::guard::Guard;
use crate::plan::Plan;
use crate::stage_workers::StartGate;

/// Events of the workers; the index is the worker's.
pub(crate) enum Event {
    /// The worker is ready to begin.
    Ready(usize),
    /// The worker has ended.
    Ended(usize, WorkerEnd),
    /// A line to show where layouts are announced.
    Line(String),
    /// The worker has measured an interval.
    Interval(usize, Interval),
}

/// What all workers of a run share.
pub(crate) struct Shared {
    pub(crate) plan: Plan,
    pub(crate) cells: Vec<WorkerCell>,
    pub(crate) control: Arc<Control>,
    pub(crate) gate: StartGate,
    /// Protects devices in use from changes.
    pub(crate) guard: Guard,
    /// The control groups that workers join.
    pub(crate) groups: ControlGroups,
    /// The flows that jobs share.
    pub(crate) flows: Flows,
    /// Each worker's share of `lockfile`.
    pub(crate) locks: Mutex<Vec<Option<LockedFiles>>>,
    /// Receives the rows of log files; `None`: there are no logs.
    pub(crate) logs: Option<LogSender>,
    /// Whether the only worker goes on after its runtime, up to what the other ranks have done.
    pub(crate) wears_out: bool,
    pub(super) events: Mutex<Sender<Event>>,
}

impl Shared {
    /// Takes the worker's share of the file locks; `None` at a second call.
    pub(crate) fn take_locks(&self, worker: usize) -> Option<LockedFiles> {
        let mut locks = self.locks.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        locks.get_mut(worker)?.take()
    }

    pub(crate) fn send(&self, event: Event) {
        // The conductor outlives the workers; without it there would be no receiver to inform.
        let _ = self.events.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).send(event);
    }
}
