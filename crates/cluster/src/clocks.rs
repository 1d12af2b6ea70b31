//! Compares the clocks of two ranks by questions and answers: the quickest of several round trips is the most exact.

use serde::{Deserialize, Serialize};

/// Number of round trips in a comparison.
pub(crate) const ROUND_TRIPS: usize = 20;

/// The offset of a clock from the first rank's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Offset {
    /// The difference, ns.
    pub(crate) ns: i64,
    /// Largest error of the difference, ns.
    pub(crate) error_ns: u64,
}

impl Offset {
    /// From one round trip: asked and answered by the own clock, with the other's reading between them.
    pub(crate) fn of_round_trip(asked_ns: u64, other_ns: u64, answered_ns: u64) -> Offset {
        let round_trip_ns = answered_ns.saturating_sub(asked_ns);
        let middle_ns = asked_ns + round_trip_ns / 2;
        Offset { ns: middle_ns.wrapping_sub(other_ns) as i64, error_ns: round_trip_ns.div_ceil(2) }
    }

    /// Adds the offset from one clock to a second and that from the second to a third.
    pub(crate) fn and(self, other: Offset) -> Offset {
        Offset { ns: self.ns.wrapping_add(other.ns), error_ns: self.error_ns.saturating_add(other.error_ns) }
    }

    /// Converts a time of the first rank's clock to this clock.
    pub(crate) fn here(self, first_ns: u64) -> u64 {
        first_ns.wrapping_add_signed(self.ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_follow_from_round_trips_and_add_up() {
        // The other clock is 1,000 ns behind; the way there takes 40 ns, the way back 60 ns.
        let offset = Offset::of_round_trip(5_000, 4_040, 5_100);
        assert_eq!(offset, Offset { ns: 1_010, error_ns: 50 });
        let other = Offset::of_round_trip(100, 7_150, 200);
        assert_eq!(other, Offset { ns: -7_000, error_ns: 50 });
        assert_eq!(offset.and(other), Offset { ns: -5_990, error_ns: 100 });
        assert_eq!(offset.here(4_000), 5_010);
    }
}
