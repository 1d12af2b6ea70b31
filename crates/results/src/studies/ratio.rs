//! Intervals and ratios of a test's rounds.

use fsdyno_stats::Interval;
use fsdyno_stats::{Difference, Estimate, WINNER_CONFIDENCE, median, median_interval, median_ratio, paired_ratio};

/// The confidence that an interval should have; an interval of few rounds says which confidence it has.
const CONFIDENCE_ASKED: f64 = 0.95;

/// Confidence interval of the median of the rounds: the only interval of a test's figure. `None`: too few rounds.
pub fn interval_of_rounds(by_round: &[f64]) -> Option<Interval> {
    median_interval(by_round, CONFIDENCE_ASKED)
}

/// A figure divided by the baseline's figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// Ratio of the medians.
    pub value: f64,
    /// Confidence interval of the ratio; `None`: too few rounds.
    pub interval: Option<Interval>,
}

impl Ratio {
    /// The ratio from `(round, figure)` of both sides. Rounds are paired if both sides have the same rounds;
    /// otherwise the two groups are compared. With too few rounds there is no interval. `None` if a side has no
    /// figure, or one that is not above 0.
    pub(super) fn of(mine: &[(u32, f64)], base: &[(u32, f64)]) -> Option<Ratio> {
        let beside = |side: &[(u32, f64)], other: &[(u32, f64)]| -> Vec<(u32, f64)> {
            side.iter().filter(|(round, _)| other.iter().any(|(of, _)| of == round)).copied().collect()
        };
        // A round that only one side has is left out.
        let (mine, base) = match (beside(mine, base), beside(base, mine)) {
            (none, _) if none.is_empty() => (mine.to_vec(), base.to_vec()),
            both => both,
        };
        let rounds = |side: &[(u32, f64)]| side.iter().map(|(round, _)| *round).collect::<Vec<_>>();
        let values = |side: &[(u32, f64)]| side.iter().map(|(_, value)| *value).collect::<Vec<_>>();
        let (beside, mine, base) = (rounds(&mine) == rounds(&base), values(&mine), values(&base));
        let estimate = if beside {
            paired_ratio(&mine, &base, WINNER_CONFIDENCE)
        } else {
            median_ratio(&mine, &base, WINNER_CONFIDENCE)
        };
        if let Some(estimate) = estimate {
            return Some(Ratio { value: estimate.value, interval: Some(estimate.interval) });
        }
        let (mine, base) = (median(&mine)?, median(&base)?);
        (mine > 0.0 && base > 0.0).then(|| Ratio { value: mine / base, interval: None })
    }

    /// Whether the rounds show a difference.
    pub fn difference(&self) -> Difference {
        let estimate = self.interval.map(|interval| Estimate { value: self.value, interval });
        estimate.map_or(Difference::TooFew, |estimate| estimate.winner())
    }

    /// Why the interval shows no difference, in words; `None`: it shows one, or there is no interval.
    pub fn doubt(&self) -> Option<&'static str> {
        match self.difference() {
            Difference::NotShown => Some("no difference"),
            Difference::TooFew if self.interval.is_some() => Some("too few rounds"),
            Difference::TooFew | Difference::Shown => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds(values: &[f64]) -> Vec<(u32, f64)> {
        (0..).zip(values.iter().copied()).collect()
    }

    #[test]
    fn a_difference_takes_eight_rounds_on_one_side_of_one_and_two_percent() {
        let base = rounds(&[2.0, 4.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0]);
        let of =
            |values: &[f64]| Ratio::of(&rounds(values), &rounds(&[2.0, 4.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0])).unwrap();
        // Quotients 0.5, 0.25, 0.5, 0.6, 0.5 and so on: a slow round slows both sides.
        let slower = of(&[1.0, 1.0, 1.0, 1.2, 1.0, 1.0, 1.0, 1.1]);
        assert!((slower.value - 0.5).abs() < 1e-12 && slower.difference() == Difference::Shown);
        let once = of(&[1.0, 1.0, 3.2, 1.2, 1.0, 1.0, 1.0, 1.1]);
        assert_eq!((once.difference(), once.doubt()), (Difference::NotShown, Some("no difference")));
        let small = of(&[1.98, 3.96, 1.98, 1.98, 1.98, 1.98, 1.98, 1.98]);
        assert_eq!(small.difference(), Difference::NotShown, "certain, but too small to matter");
        let seven = Ratio::of(&rounds(&[1.0; 7]), &rounds(&[2.0; 7])).unwrap();
        assert_eq!((seven.difference(), seven.doubt()), (Difference::TooFew, Some("too few rounds")), "98.4 %");
        let apart = Ratio::of(&rounds(&[1.0, 1.0, 1.0]), &base).unwrap();
        assert!(apart.interval.is_some() && (apart.value - 0.5).abs() < 1e-12);
        let few = Ratio::of(&rounds(&[1.0]), &rounds(&[4.0])).unwrap();
        assert_eq!(few, Ratio { value: 0.25, interval: None });
        assert_eq!((few.difference(), few.doubt()), (Difference::TooFew, None));
        assert_eq!(Ratio::of(&rounds(&[1.0]), &[]), None);
        assert_eq!(Ratio::of(&rounds(&[1.0]), &rounds(&[0.0])), None);
    }
}
