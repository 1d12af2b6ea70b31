//! How the last part of a wait is spent.

/// Last part of a wait for a recorded time that is spun, ns, because a sleep may end too late.
pub(super) const SPIN_NS: u64 = 25_000;

/// Longest part of any other wait that is spun, ns.
const SPIN_NS_MAX: u64 = 50_000;

/// Time between two reaps while a worker spins, ns.
pub(super) const POLL_NS: u64 = 1_000;

/// A sleep ends later than asked for, so that the last part of a wait is spun.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EndOfWaits {
    /// Whether the worker may spin; otherwise the whole wait is slept.
    pub(super) spins: bool,
    /// Whether it also spins while requests are in flight, and reaps between the parts of the wait.
    pub(super) polls: bool,
    /// By how much sleeps end too late, ns: a mean of the last ones.
    pub(super) late_ns: u64,
    /// Time that was spun, ns.
    pub(super) spun_ns: u64,
}

impl EndOfWaits {
    /// The part of a wait that is spun, ns.
    pub(super) fn spin_ns(&self) -> u64 {
        match (self.spins, self.polls) {
            (false, _) => 0,
            (true, true) => SPIN_NS,
            (true, false) => (2 * self.late_ns + POLL_NS).min(SPIN_NS_MAX),
        }
    }

    /// A sleep ended this much too late.
    pub(super) fn learn(&mut self, late_ns: u64) {
        self.late_ns = (7 * self.late_ns + late_ns.min(SPIN_NS_MAX)) / 8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spin_is_as_long_as_sleeps_are_late_and_never_longer_than_its_bound() {
        let mut ends = EndOfWaits { spins: true, ..EndOfWaits::default() };
        assert_eq!(ends.spin_ns(), POLL_NS);
        (0..100).for_each(|_| ends.learn(8_000));
        assert!((10_000..=17_000).contains(&ends.spin_ns()), "{ends:?}");
        (0..100).for_each(|_| ends.learn(5_000_000));
        assert_eq!(ends.spin_ns(), SPIN_NS_MAX);
        (0..100).for_each(|_| ends.learn(0));
        assert!(ends.spin_ns() < 2 * POLL_NS, "{ends:?}");
        ends.spins = false;
        assert_eq!(ends.spin_ns(), 0);
    }
}
