//! Controls a run: the orders that its workers see, their reasons, and whom they concern as well: the study that the
//! run belongs to, and the other ranks.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use fsdyno_drive::{Bounds, Orders};

use crate::other_ranks::OtherRanks;

/// Ends runs. Its [`Orders`] are what the workers see.
#[derive(Debug, Default)]
pub struct Control {
    orders: Arc<Orders>,
    signal: AtomicI32,
    /// Whether a worker or layout that is stuck in the kernel was abandoned.
    abandoned: AtomicBool,
    /// The control of the study that this run belongs to.
    study: Option<Arc<Control>>,
    /// The other ranks of the same run.
    other_ranks: Option<Arc<dyn OtherRanks>>,
}

impl Deref for Control {
    type Target = Orders;

    fn deref(&self) -> &Orders {
        &self.orders
    }
}

impl Control {
    /// A control with these timeouts.
    pub fn with_bounds(bounds: Bounds) -> Control {
        Control { orders: Arc::new(Orders::with_bounds(bounds)), ..Control::default() }
    }

    /// The same for one of several ranks.
    pub fn with_other_ranks(self, other_ranks: Option<Arc<dyn OtherRanks>>) -> Control {
        Control { other_ranks, ..self }
    }

    /// A control for one run of a study: it follows the study's, and can end alone.
    pub fn within(study: &Arc<Control>) -> Control {
        let other_ranks = study.other_ranks.clone();
        Control { study: Some(Arc::clone(study)), ..Control::with_bounds(study.bounds()).with_other_ranks(other_ranks) }
    }

    /// The orders that the workers see.
    pub(crate) fn orders(&self) -> Arc<Orders> {
        Arc::clone(&self.orders)
    }

    /// The other ranks of the same run; `None`: there are none.
    pub fn other_ranks(&self) -> Option<&dyn OtherRanks> {
        self.other_ranks.as_deref()
    }

    /// The number of ranks of the run.
    pub fn ranks(&self) -> u32 {
        self.other_ranks().map_or(1, OtherRanks::ranks)
    }

    /// Takes over a stop or signal of the study; the conductor calls it several times per second.
    pub fn follow(&self) {
        self.other_ranks().inspect(|other_ranks| other_ranks.alive());
        let Some(study) = &self.study else { return };
        match study.signal() {
            Some(signal) => self.stop_by_signal(signal),
            None if study.stopped() => self.stop(),
            None => {}
        }
    }

    /// Stops because of a signal; the first one is remembered, and passed on to the other ranks.
    pub fn stop_by_signal(&self, signal: i32) {
        // A second signal must not replace the first: then the exchange fails, as it should.
        let _ = self.signal.compare_exchange(0, signal, Ordering::Relaxed, Ordering::Relaxed);
        self.stop();
        self.other_ranks().inspect(|other_ranks| other_ranks.signalled(signal));
    }

    /// The signal that ended the run.
    pub fn signal(&self) -> Option<i32> {
        match self.signal.load(Ordering::Relaxed) {
            0 => None,
            signal => Some(signal),
        }
    }

    /// Notes that a stuck worker or layout was abandoned. Others on the same storage may get stuck as well, so the run
    /// ends.
    pub fn abandon(&self) {
        self.abandoned.store(true, Ordering::Relaxed);
        self.stop();
        self.study.iter().for_each(|study| study.abandon());
    }

    /// Whether a worker or a layout was abandoned.
    pub fn abandoned(&self) -> bool {
        self.abandoned.load(Ordering::Relaxed)
    }
}
