//! Control over a run: the orders that its workers see, why they were given, and whom they concern besides: the study that
//! the run is part of, and the other ranks.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use fsdyno_drive::{Bounds, Orders};

use crate::other_ranks::OtherRanks;

/// Who may end a run. It is used as the [`Orders`] that it gives.
#[derive(Debug, Default)]
pub struct Control {
    orders: Arc<Orders>,
    signal: AtomicI32,
    /// A worker or a layout that is stuck in the kernel was abandoned.
    abandoned: AtomicBool,
    /// Control over the study that this run is part of.
    study: Option<Arc<Control>>,
    /// The other ranks that run the same.
    other_ranks: Option<Arc<dyn OtherRanks>>,
}

impl Deref for Control {
    type Target = Orders;

    fn deref(&self) -> &Orders {
        &self.orders
    }
}

impl Control {
    /// Control over a run with these timeouts.
    pub fn with_bounds(bounds: Bounds) -> Control {
        Control { orders: Arc::new(Orders::with_bounds(bounds)), ..Control::default() }
    }

    /// The same for one of several ranks.
    pub fn with_other_ranks(self, other_ranks: Option<Arc<dyn OtherRanks>>) -> Control {
        Control { other_ranks, ..self }
    }

    /// Control over one run of a study: it follows that of the study, and can end alone.
    pub fn within(study: &Arc<Control>) -> Control {
        let other_ranks = study.other_ranks.clone();
        Control { study: Some(Arc::clone(study)), ..Control::with_bounds(study.bounds()).with_other_ranks(other_ranks) }
    }

    /// What the workers see of it.
    pub(crate) fn orders(&self) -> Arc<Orders> {
        Arc::clone(&self.orders)
    }

    /// The other ranks that run the same; `None`: it runs alone.
    pub fn other_ranks(&self) -> Option<&dyn OtherRanks> {
        self.other_ranks.as_deref()
    }

    /// How many ranks run the same.
    pub fn ranks(&self) -> u32 {
        self.other_ranks().map_or(1, OtherRanks::ranks)
    }

    /// Takes over a stop or signal of the study; the conductor calls it several times a second.
    pub fn follow(&self) {
        self.other_ranks().inspect(|other_ranks| other_ranks.alive());
        let Some(study) = &self.study else { return };
        match study.signal() {
            Some(signal) => self.stop_by_signal(signal),
            None if study.stopped() => self.stop(),
            None => {}
        }
    }

    /// Stops because of a signal; the first one is remembered, and the other ranks hear of it.
    pub fn stop_by_signal(&self, signal: i32) {
        // A second signal must not hide the first; failure of the exchange is exactly that case.
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

    /// A stuck worker or layout was abandoned: others on the same storage may get stuck as well, so the run ends.
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
