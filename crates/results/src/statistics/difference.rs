//! When a ratio of two sides is a difference: the rounds exclude 1 with the confidence asked for, and it is large enough
//! to matter.

use super::Estimate;

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
    /// The interval excludes 1.
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::Interval;

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
}
