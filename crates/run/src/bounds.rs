//! How long a run waits for what does not answer. One number for all of it, so that nothing waits longer than the rest;
//! docs/reliability.md tells what follows from it.

use std::time::Duration;

/// The bounds of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    patience_ns: u64,
}

/// How much silence is told of, and after how much whoever is silent is given up, ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Silence {
    pub(crate) reported_ns: u64,
    pub(crate) lost_ns: u64,
}

impl Silence {
    /// Nobody minds.
    pub(crate) const ALLOWED: Silence = Silence { reported_ns: u64::MAX, lost_ns: u64::MAX };
}

const SECOND_NS: u64 = 1_000_000_000;

/// So much longer for each MiB that can be in flight, or that a sync may have to move, ns.
const PER_MIB_NS: u64 = SECOND_NS;

/// Before its start and after its I/O a worker is waited for so many times as long: an open may wait for a server that
/// comes back, and a slow sync looks like one that never ends.
const AT_REST_TIMES: u64 = 10;

/// An operation on a name is waited for so many times as long after it was told of.
const OPERATION_TIMES: u64 = 2;

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds::of_seconds(30)
    }
}

impl Bounds {
    /// Bounds of this length; 0 counts as 1.
    pub fn of_seconds(seconds: u64) -> Bounds {
        Bounds { patience_ns: seconds.clamp(1, 86_400) * SECOND_NS }
    }

    /// The one number that all of them follow from.
    pub(crate) fn patience(&self) -> Duration {
        Duration::from_nanos(self.patience_ns)
    }

    /// The same, s.
    pub fn seconds(&self) -> u64 {
        self.patience_ns / SECOND_NS
    }

    /// A worker that is to end is left behind when it has not. `bytes`: what it can have in flight.
    pub(crate) fn ending(&self, bytes: u64) -> Silence {
        Silence { lost_ns: self.patience_ns.saturating_add(time_to_move_ns(bytes)), ..Silence::ALLOWED }
    }

    /// A worker at its I/O that completes nothing is told of, and stays.
    pub(crate) fn at_work(&self) -> Silence {
        Silence { reported_ns: self.patience_ns, ..Silence::ALLOWED }
    }

    /// A worker that is to begin, or that has done its I/O, and whose call does not return is told of, and left behind
    /// much later. `bytes`: what it has written, which a sync may have to move.
    pub(crate) fn at_rest(&self, bytes: u64) -> Silence {
        Silence { lost_ns: self.patience_ns * AT_REST_TIMES + time_to_move_ns(bytes), ..self.at_work() }
    }

    /// A layout that makes nothing is told of, and left behind when the run is to end.
    pub(crate) fn layout(&self, stopped: bool) -> Silence {
        Silence { lost_ns: if stopped { self.patience_ns } else { u64::MAX }, ..self.at_work() }
    }

    /// An operation on a name that does not come back is told of; its worker is left behind later, or at once when the
    /// run is to end. `more_ns`: what it may take beyond the usual because it moves or lists much.
    pub fn operation(&self, more_ns: u64, stopped: bool) -> Silence {
        let reported_ns = self.patience_ns.saturating_add(more_ns);
        let later_ns = if stopped { 0 } else { self.patience_ns * OPERATION_TIMES };
        Silence { reported_ns, lost_ns: reported_ns.saturating_add(later_ns) }
    }

    /// What is asked of a storage outside of a run (its first look, a removal) is given up when there is no answer.
    pub fn answer(&self) -> Silence {
        Silence { lost_ns: self.patience_ns, ..Silence::ALLOWED }
    }

    /// A first look that goes on after a signal is given up soon: what has begun to make something gets the time to remove it.
    pub fn after_signal(&self) -> Silence {
        Silence { lost_ns: self.patience_ns.min(SECOND_NS), ..Silence::ALLOWED }
    }

    /// Requests that do not come back are given up after so long: less than the conductor waits for their worker, so
    /// that it is the worker who tells which ones they are.
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
        assert_eq!(bounds.ending(16 << 20).lost_ns, 46 * SECOND_NS);
        assert_eq!(bounds.at_rest(60 << 20), Silence { reported_ns: 30 * SECOND_NS, lost_ns: 360 * SECOND_NS });
        let short = Bounds::of_seconds(0);
        assert_eq!(short.at_rest(0), Silence { reported_ns: SECOND_NS, lost_ns: 10 * SECOND_NS });
        assert_eq!(short.operation(0, false), Silence { reported_ns: SECOND_NS, lost_ns: 3 * SECOND_NS });
        assert!(short.drain() < Duration::from_secs(1));
    }
}
