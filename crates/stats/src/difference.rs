//! When a ratio of two sides counts as a difference: its interval excludes 1 at the given confidence, and it is large
//! enough to matter. A winner needs more.

use super::{Estimate, Interval};

/// A difference smaller than this says nothing, however sure it is: 2 %.
pub const LEAST_CHANGE: f64 = 0.02;

/// The confidence asked of one figure of two studies.
pub const CHANGE_CONFIDENCE: f64 = 0.95;

/// The confidence asked of one pattern of a comparison: it has five, and all of them together shall name a winner of
/// equal places in at most 5 % of comparisons.
pub const WINNER_CONFIDENCE: f64 = 0.99;

/// What the rounds say about a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference {
    /// Too few rounds: no interval of theirs has the confidence asked for.
    TooFew,
    /// Smaller than the rounds can show, or than matters.
    NotShown,
    /// The interval excludes 1; that of a winner every ratio that is too close to 1 to matter.
    Shown,
}

impl Estimate {
    /// What it says, as a ratio, with this confidence.
    pub fn difference(&self, confidence: f64) -> Difference {
        // The confidence of an interval is a sum of probabilities, rounded.
        if self.interval.confidence < confidence - 1e-9 {
            Difference::TooFew
        } else if self.interval.contains(1.0) || (self.value - 1.0).abs() < LEAST_CHANGE {
            Difference::NotShown
        } else {
            Difference::Shown
        }
    }

    /// Whether one side of a comparison has won: the whole interval lies beyond the least change. Between places that
    /// are equal some turns are always kinder to one of them, and an interval that only excludes 1 takes that for a
    /// winner.
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
