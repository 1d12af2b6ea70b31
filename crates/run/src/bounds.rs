//! How long a run waits for what does not answer. One number for all of it, so that nothing waits longer than the rest;
//! docs/reliability.md tells what follows from it.

use std::time::Duration;

/// The bounds of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    patience_ns: u64,
}

const SECOND_NS: u64 = 1_000_000_000;

/// So much longer for each MiB that can be in flight, or that a sync may have to move, ns.
const PER_MIB_NS: u64 = SECOND_NS;

/// Before its start and after its I/O a worker is waited for so many times as long: an open may wait for a server that
/// comes back, and a slow sync looks like one that never ends.
const AT_REST_TIMES: u64 = 10;

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

    /// What is to end and does not answer for so long is left behind, ns. Who completes nothing for so long is told of.
    pub fn patience_ns(&self) -> u64 {
        self.patience_ns
    }

    /// The same where so many bytes can be in flight, ns.
    pub(crate) fn patience_with_ns(&self, bytes: u64) -> u64 {
        self.patience_ns.saturating_add((bytes >> 20).saturating_mul(PER_MIB_NS))
    }

    /// A worker that is to begin, or that has done its I/O, and whose call does not return for so long is left behind,
    /// ns. `bytes`: what it has written, which a sync may have to move.
    pub(crate) fn at_rest_ns(&self, bytes: u64) -> u64 {
        self.patience_ns * AT_REST_TIMES + (bytes >> 20).saturating_mul(PER_MIB_NS)
    }

    /// Requests that do not come back are given up after so long: less than the conductor waits for their worker, so
    /// that it is the worker who tells which ones they are.
    pub(crate) fn drain(&self) -> Duration {
        Duration::from_nanos(self.patience_ns / 6 * 5)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_bounds_follow_from_one_number() {
        let bounds = Bounds::default();
        assert_eq!((bounds.patience_ns(), bounds.drain()), (30 * SECOND_NS, Duration::from_secs(25)));
        assert_eq!(bounds.patience_with_ns(16 << 20), 46 * SECOND_NS);
        assert_eq!(bounds.at_rest_ns(60 << 20), 360 * SECOND_NS);
        let short = Bounds::of_seconds(0);
        assert_eq!((short.patience_ns(), short.at_rest_ns(0)), (SECOND_NS, 10 * SECOND_NS));
        assert!(short.drain() < Duration::from_secs(1));
    }
}
