//! Decides whether a ratio of two sides is a difference: its interval must exclude 1 at the given confidence, and it
//! must be large enough to matter. A winner needs more.

use super::{Estimate, Interval};

/// A difference smaller than this does not matter, however certain it is: 2 %.
pub const LEAST_CHANGE: f64 = 0.02;

/// The confidence needed for one figure of two studies.
pub const CHANGE_CONFIDENCE: f64 = 0.95;

/// The confidence needed for one pattern of a comparison. A comparison has five patterns, and between equal places
/// all of them together may name a winner in at most 5 % of comparisons.
pub const WINNER_CONFIDENCE: f64 = 0.99;

/// What the rounds show about a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference {
    /// There are too few rounds for an interval with this confidence.
    TooFew,
    /// Smaller than the rounds can show, or too small to matter.
    NotShown,
    /// The interval excludes 1; for a winner it excludes all ratios that are too close to 1 to matter.
    Shown,
}

impl Estimate {
    /// Judges this estimate as a ratio, with this confidence.
    pub fn difference(&self, confidence: f64) -> Difference {
        // The confidence of an interval is a rounded sum of probabilities.
        if self.interval.confidence < confidence - 1e-9 {
            Difference::TooFew
        } else if self.interval.contains(1.0) || (self.value - 1.0).abs() < LEAST_CHANGE {
            Difference::NotShown
        } else {
            Difference::Shown
        }
    }

    /// Whether one side of a comparison has won: the whole interval must lie beyond the least change. Between equal
    /// places, chance always favours one of them in some rounds, and an interval that only excludes 1 would take that
    /// for a win.
    pub fn winner(&self) -> Difference {
        let Interval { low, high, .. } = self.interval;
        match self.difference(WINNER_CONFIDENCE) {
            Difference::Shown if low <= 1.0 + LEAST_CHANGE && high >= 1.0 / (1.0 + LEAST_CHANGE) => {
                Difference::NotShown
            }
            found => found,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_needs_rounds_an_interval_without_one_and_a_size() {
        let of = |value, low, high, confidence| {
            Estimate { value, interval: Interval { low, high, confidence } }.difference(0.95)
        };
        assert_eq!(of(0.8, 0.7, 0.9, 0.95), Difference::Shown);
        assert_eq!(of(0.8, 0.7, 0.9, 0.9375), Difference::TooFew);
        assert_eq!(of(0.8, 0.7, 1.1, 0.99), Difference::NotShown);
        assert_eq!(of(0.985, 0.98, 0.99, 0.99), Difference::NotShown, "sure, and too small to matter");
    }

    #[test]
    fn a_winner_is_known_to_be_ahead_by_the_least_change() {
        let of = |value, low, high| Estimate { value, interval: Interval { low, high, confidence: 0.99 } };
        for (sure, why) in [(of(0.95, 0.9, 0.985), "slower, not that it matters"), (of(1.05, 1.01, 1.09), "faster")] {
            assert_eq!((sure.difference(0.99), sure.winner()), (Difference::Shown, Difference::NotShown), "{why}");
        }
        assert_eq!(of(1.05, 1.03, 1.07).winner(), Difference::Shown);
        assert_eq!(of(0.9, 0.85, 0.95).winner(), Difference::Shown);
        let few = Estimate { value: 0.5, interval: Interval { low: 0.4, high: 0.6, confidence: 0.98 } };
        assert_eq!(few.winner(), Difference::TooFew);
    }
}
