//! Whether an interval meets a requirement.

use crate::interval::Interval;
use crate::studies::{Bound, Verdict};

impl Interval {
    /// The whole interval on the good side passes (the threshold itself is good), the whole on the bad side fails, and
    /// a threshold inside decides nothing: more samples may. `threshold` is in the interval's unit. A gate has no
    /// figure, and what is not a number no side: inconclusive.
    pub fn judge(&self, bound: Bound, threshold: f64) -> Verdict {
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
}
