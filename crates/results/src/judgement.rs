//! Judges whether an interval meets a requirement.

use fsdyno_stats::{Interval, NoPercentileInterval};

use crate::studies::{Bound, Verdict};

/// What can be held against a requirement.
pub trait Judge {
    /// Whether the figure meets the threshold, which has the figure's unit.
    fn judge(&self, bound: Bound, threshold: f64) -> Verdict;
}

impl Judge for Interval {
    /// An interval on the good side passes (the threshold itself is good), an interval on the bad side fails. With
    /// the threshold inside the interval the verdict is inconclusive, and more samples may decide. A gate has no
    /// figure, and a number that is not finite is on no side: inconclusive.
    fn judge(&self, bound: Bound, threshold: f64) -> Verdict {
        let (passes, fails) = match bound {
            Bound::AtMost => (self.high <= threshold, self.low > threshold),
            Bound::AtLeast => (self.low >= threshold, self.high < threshold),
            Bound::Gate => (false, false),
        };
        match (passes, fails) {
            (true, _) => Verdict::Pass,
            (false, true) => Verdict::Fail,
            (false, false) => Verdict::Inconclusive,
        }
    }
}

impl Judge for NoPercentileInterval {
    /// Judges a percentile without an interval, ns: one that is certainly too long fails.
    fn judge(&self, bound: Bound, threshold_ns: f64) -> Verdict {
        let open = |low| Interval { low, high: f64::INFINITY, confidence: 1.0 };
        self.at_least_ns().map_or(Verdict::Inconclusive, |low| open(low).judge(bound, threshold_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_inside_the_interval_decides_nothing() {
        let judge = |bound, threshold| Interval { low: 4.0, high: 6.0, confidence: 0.95 }.judge(bound, threshold);
        assert_eq!(judge(Bound::AtMost, 6.0), Verdict::Pass);
        assert_eq!(judge(Bound::AtMost, 5.9), Verdict::Inconclusive);
        assert_eq!(judge(Bound::AtMost, 4.0), Verdict::Inconclusive);
        assert_eq!(judge(Bound::AtMost, 3.9), Verdict::Fail);
        assert_eq!(judge(Bound::AtLeast, 4.0), Verdict::Pass);
        assert_eq!(judge(Bound::AtLeast, 4.1), Verdict::Inconclusive);
        assert_eq!(judge(Bound::AtLeast, 6.0), Verdict::Inconclusive);
        assert_eq!(judge(Bound::AtLeast, 6.1), Verdict::Fail);
        assert_eq!(judge(Bound::Gate, 5.0), Verdict::Inconclusive);
        assert_eq!(judge(Bound::AtMost, f64::NAN), Verdict::Inconclusive);
    }

    #[test]
    fn too_few_samples_can_still_fail_a_requirement() {
        let mut histogram = fsdyno_stats::Histogram::new();
        (0..100).for_each(|_| histogram.record(50_000_000));
        let none = fsdyno_stats::percentile_interval(&histogram, 99.0, 0.95).unwrap_err();
        assert_eq!(none.judge(Bound::AtMost, 10e6), Verdict::Fail);
        assert_eq!(none.judge(Bound::AtMost, 60e6), Verdict::Inconclusive);

        let mut beyond = histogram.clone();
        (0..1000).for_each(|_| beyond.record(u64::MAX));
        let none = fsdyno_stats::percentile_interval(&beyond, 99.0, 0.95).unwrap_err();
        assert!(matches!(none, NoPercentileInterval::BeyondLastBucket { .. }), "{none:?}");
        assert_eq!(none.judge(Bound::AtMost, 10e9), Verdict::Fail);
    }
}
