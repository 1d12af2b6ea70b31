//! What the workers of a run share, and the events that they send to the conductor.

use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};

use crate::control::{Control, WorkerCell};
use crate::flow::Flows;
use crate::logs::LogSender;
use crate::plan::Plan;
use crate::stage_workers::StartGate;
use crate::steady_state::Interval;
use crate::worker::WorkerEnd;

/// Events from the workers.
pub(crate) enum Event {
    /// This worker can begin.
    Ready(usize),
    /// This one is over.
    Ended(usize, Box<WorkerEnd>),
    /// This one has measured an interval.
    Interval(usize, Interval),
}

/// What all workers of a run share.
pub(crate) struct Shared {
    pub(crate) plan: Plan,
    pub(crate) cells: Vec<WorkerCell>,
    pub(crate) control: Arc<Control>,
    pub(crate) gate: StartGate,
    /// The flows that its jobs share.
    pub(crate) flows: Flows,
    /// Where rows of log files go; `None`: there are no logs.
    pub(crate) logs: Option<LogSender>,
    pub(super) events: Mutex<Sender<Event>>,
}

impl Shared {
    pub(crate) fn send(&self, event: Event) {
        // The conductor outlives the workers; were it gone, nobody would be there to tell.
        let _ = self.events.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).send(event);
    }
}
