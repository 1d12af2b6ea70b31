//! The confidence interval of the median of a few repeats.

use super::Interval;
use super::binomial;
use super::descriptive::sorted;

/// An interval for the median of the distribution that the samples come from, whatever its shape. `None` below three
/// samples, if one is not finite, or if `confidence` is not between 0 and 1.
///
/// From the k-th smallest to the k-th largest sample the confidence is exactly `1 - 2 P(B ≤ k - 1)`, B ~ Binomial(n,
/// 1/2). The ends are interpolated between the two k around the confidence asked for (T. P. Hettmansperger and S. J.
/// Sheather, "Confidence intervals based on interpolated order statistics", Statistics & Probability Letters 4, 1986,
/// 75–79). Fewer than six samples cannot reach 95 %: the interval is then the whole range, and reports its confidence
/// (0.9375 for five, 0.875 for four, 0.75 for three).
///
/// A bootstrap is not used: for seven samples, its 95 % interval of the median is in effect from the second smallest
/// to the second largest, which contains the median in 87.5 % of cases. Simulated coverage of this interval at 95 %,
/// for six to twelve samples of normal, uniform, lognormal and exponential noise: 0.94 to 0.955.
pub fn median_interval(samples: &[f64], confidence: f64) -> Option<Interval> {
    let asked = Some(confidence).filter(|confidence| *confidence > 0.0 && *confidence < 1.0)?;
    let sorted = sorted(samples).filter(|sorted| sorted.len() >= 3)?;
    let n = sorted.len();
    let confidence_at = |k: usize| 1.0 - 2.0 * binomial::at_most(k as u64 - 1, n as u64, 0.5);
    // The largest k that still has the confidence asked for.
    let k = (2..=n / 2).take_while(|k| confidence_at(*k) >= asked).last().unwrap_or(1);
    let outer = confidence_at(k);
    if outer < asked || k == n / 2 {
        return Some(Interval { low: sorted[k - 1], high: sorted[n - k], confidence: outer });
    }
    let share = (outer - asked) / (outer - confidence_at(k + 1));
    let inwards = (n - k) as f64 * share / (k as f64 + (n - 2 * k) as f64 * share);
    let between = |from: f64, to: f64| from + inwards * (to - from);
    Some(Interval {
        low: between(sorted[k - 1], sorted[k]),
        high: between(sorted[n - k], sorted[n - k - 1]),
        confidence: asked,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::noise::{SHAPES, share};

    #[test]
    fn few_samples_say_what_they_reach() {
        let interval = |n: usize| median_interval(&(1..=n).map(|value| value as f64).collect::<Vec<_>>(), 0.95);
        assert_eq!(interval(2), None);
        for (n, confidence) in [(3, 0.75), (4, 0.875), (5, 0.9375)] {
            let found = interval(n).unwrap();
            assert_eq!((found.low, found.high), (1.0, n as f64));
            assert!((found.confidence - confidence).abs() < 1e-12, "{found:?}");
        }
        // 8: from rank 1 (0.9921875) to rank 2 (0.9296875), I = 0.675, lambda = 7 I / (1 + 6 I).
        let eight = interval(8).unwrap();
        assert!((eight.low - (1.0 + 7.0 * 0.675 / (1.0 + 6.0 * 0.675))).abs() < 1e-12, "{eight:?}");
        assert!((eight.low + eight.high - 9.0).abs() < 1e-12);
        assert_eq!(eight.confidence, 0.95);
    }

    #[test]
    fn what_cannot_be_said_is_none() {
        assert_eq!(median_interval(&[1.0, 2.0, f64::NAN, 4.0], 0.95), None);
        for confidence in [0.0, 1.0, -1.0, 95.0, f64::NAN] {
            assert_eq!(median_interval(&[1.0, 2.0, 3.0], confidence), None);
        }
    }

    #[test]
    fn a_low_confidence_stays_inside_the_middle() {
        let interval = median_interval(&[1.0, 2.0, 3.0, 4.0], 0.05).unwrap();
        assert_eq!((interval.low, interval.high), (2.0, 3.0));
        let interval = median_interval(&[1.0, 2.0, 3.0, 4.0, 5.0], 0.01).unwrap();
        assert!(interval.contains(3.0) && interval.low >= 2.0, "{interval:?}");
    }

    #[test]
    fn it_covers_the_median_as_often_as_it_says() {
        for shape in SHAPES {
            for n in 5..=12 {
                let covered = share(4000, |random| {
                    median_interval(&random.samples(shape, n), 0.95).is_some_and(|found| found.contains(100.0))
                });
                assert!((0.92..0.97).contains(&covered), "{shape:?}, {n} samples: {covered}");
            }
        }
    }
}
