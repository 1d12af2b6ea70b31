//! Timeouts of a run for calls that do not return. All are derived from one number, so that they fit each other;
//! docs/reliability.md lists them.

use std::time::Duration;

/// The timeouts of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    patience_ns: u64,
}

/// How long a part of the run may make no progress before it is reported, and before it is abandoned, ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Silence {
    /// Time without progress after which it is reported.
    pub reported_ns: u64,
    /// Time without progress after which it is abandoned.
    pub lost_ns: u64,
}

impl Silence {
    /// Never reported, never abandoned.
    pub const ALLOWED: Silence = Silence { reported_ns: u64::MAX, lost_ns: u64::MAX };
}

const SECOND_NS: u64 = 1_000_000_000;

/// Time that is added for each MiB in flight, or for each MiB that a sync may have to write, ns.
const PER_MIB_NS: u64 = SECOND_NS;

/// Factor for a worker that opens, syncs or closes its files: an open may wait until a server is back, and a slow
/// sync looks like a sync that never ends.
const AT_REST_TIMES: u64 = 10;

/// Factor for a metadata operation, counted from the moment at which it was reported.
const OPERATION_TIMES: u64 = 2;

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds::of_seconds(30)
    }
}

impl Bounds {
    /// Timeouts that are derived from this number; 0 counts as 1.
    pub fn of_seconds(seconds: u64) -> Bounds {
        Bounds { patience_ns: seconds.clamp(1, 86_400) * SECOND_NS }
    }

    /// The number that all timeouts are derived from.
    pub fn patience(&self) -> Duration {
        Duration::from_nanos(self.patience_ns)
    }

    /// The same number, s.
    pub fn seconds(&self) -> u64 {
        self.patience_ns / SECOND_NS
    }

    /// For a worker that was asked to end: it is abandoned if it does not. `bytes`: what it can have in flight.
    /// `signalled`: a user waits for the end, so that it is reported at once.
    pub fn ending(&self, bytes: u64, signalled: bool) -> Silence {
        let reported_ns = if signalled { SECOND_NS } else { u64::MAX };
        Silence { reported_ns, lost_ns: self.patience_ns.saturating_add(time_to_move_ns(bytes)) }
    }

    /// For a worker whose I/O makes no progress: it is reported, but not abandoned.
    pub fn at_work(&self) -> Silence {
        Silence { reported_ns: self.patience_ns, ..Silence::ALLOWED }
    }

    /// For a worker that waits for a system call before or after its I/O: it is reported, and abandoned much later.
    /// `bytes`: what it has written, which a sync may have to write back.
    pub fn at_rest(&self, bytes: u64) -> Silence {
        Silence { lost_ns: self.patience_ns * AT_REST_TIMES + time_to_move_ns(bytes), ..self.at_work() }
    }

    /// For a layout without progress: it is reported. When the run is to end, it is reported at once and later
    /// abandoned.
    pub fn layout(&self, stopped: bool) -> Silence {
        if stopped { Silence { reported_ns: SECOND_NS, lost_ns: self.patience_ns } } else { self.at_work() }
    }

    /// For a metadata operation that does not return: it is reported, and its worker is abandoned later. When the run
    /// is to end, it is reported at once, and abandoned at the time of the usual report. `more_ns`: additional time
    /// for an operation that moves or lists many entries.
    pub fn operation(&self, more_ns: u64, stopped: bool) -> Silence {
        let reported_ns = self.patience_ns.saturating_add(more_ns);
        let lost_ns = reported_ns.saturating_add(self.patience_ns * OPERATION_TIMES);
        if stopped {
            Silence { reported_ns: SECOND_NS, lost_ns: reported_ns }
        } else {
            Silence { reported_ns, lost_ns }
        }
    }

    /// For a removal without progress: it is reported soon (at once if a user waits for it) and then abandoned.
    pub fn removal(&self, signalled: bool) -> Silence {
        let reported_ns = if signalled { SECOND_NS } else { self.patience_ns / 6 };
        Silence { reported_ns, lost_ns: self.patience_ns }
    }

    /// For the first look at a storage: it is abandoned if it does not return.
    pub fn answer(&self) -> Silence {
        Silence { lost_ns: self.patience_ns, ..Silence::ALLOWED }
    }

    /// For a first look that does not return after a signal: it is abandoned soon, after removing what it has
    /// created.
    pub fn after_signal(&self) -> Silence {
        Silence { lost_ns: self.patience_ns.min(SECOND_NS), ..Silence::ALLOWED }
    }

    /// Time after which requests that do not complete are given up. It is shorter than the conductor's timeout for
    /// the worker, so that the worker can report which requests they are.
    pub(crate) fn drain(&self) -> Duration {
        Duration::from_nanos(self.patience_ns / 6 * 5)
    }
}

fn time_to_move_ns(bytes: u64) -> u64 {
    (bytes >> 20).saturating_mul(PER_MIB_NS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_bounds_follow_from_one_number() {
        let bounds = Bounds::default();
        assert_eq!((bounds.seconds(), bounds.drain()), (30, Duration::from_secs(25)));
        assert_eq!(bounds.ending(16 << 20, false).lost_ns, 46 * SECOND_NS);
        assert_eq!(bounds.at_rest(60 << 20), Silence { reported_ns: 30 * SECOND_NS, lost_ns: 360 * SECOND_NS });
        let short = Bounds::of_seconds(0);
        assert_eq!(short.at_rest(0), Silence { reported_ns: SECOND_NS, lost_ns: 10 * SECOND_NS });
        assert_eq!(short.operation(0, false), Silence { reported_ns: SECOND_NS, lost_ns: 3 * SECOND_NS });
        assert!(short.drain() < Duration::from_secs(1));
    }
}
