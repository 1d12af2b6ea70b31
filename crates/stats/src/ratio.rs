//! Ratios of one side to the baseline.
//!
//! The ratios of medians are based on [`median_interval`](super::median_interval()) and assume nothing about the
//! noise: they are for different storages. Simulated at 95 % with a heavy-tailed target against a quiet one, such as
//! local against remote storage, they contain the true ratio in 0.94 to 0.97 of cases; an interval of ranks
//! (Mann–Whitney) does in 0.89. [`shifted_ratio`] uses ranks: it is for one storage at two times, where the noise is
//! the same and it finds more changes.

use super::descriptive::{all_finite, median};
use super::{Estimate, Interval, hodges_lehmann_shift, median_interval};

/// Median of `new` divided by the median of `base`, for groups that were measured at different times.
///
/// On a logarithmic scale each median's interval gives a distance on each side, and the squares of the distances of
/// both medians add up (G. Y. Zou and A. Donner, "Construction of confidence limits about effect measures",
/// Statistics in Medicine 27, 2008, 1693–1702). The confidence is the lower of the two. Simulated coverage at 95 %
/// for five to ten rounds: 0.94 to 0.98.
///
/// `None` if a group has fewer than three values, if one is not finite and above 0, or if `confidence` is not between
/// 0 and 1.
pub fn median_ratio(new: &[f64], base: &[f64], confidence: f64) -> Option<Estimate> {
    if !all_positive(new) || !all_positive(base) {
        return None;
    }
    let (new, base) = (Logarithms::of(new, confidence)?, Logarithms::of(base, confidence)?);
    let centre = new.median - base.median;
    Some(Estimate {
        value: centre.exp(),
        interval: Interval {
            low: (centre - new.below.hypot(base.above)).exp(),
            high: (centre + new.above.hypot(base.below)).exp(),
            confidence: new.confidence.min(base.confidence),
        },
    })
}

/// Median of the quotients `new / base` of interleaved rounds, with its interval: effects on a whole round cancel
/// out. It is computed on logarithms, so that swapping both sides inverts the result.
///
/// `None` if the lengths differ, and as for [`median_ratio`]. Three rounds reach a confidence of 0.75, four 0.875,
/// five 0.9375, six and more the one asked for.
pub fn paired_ratio(new: &[f64], base: &[f64], confidence: f64) -> Option<Estimate> {
    if new.len() != base.len() || !all_positive(new) || !all_positive(base) {
        return None;
    }
    let quotients: Vec<f64> = new.iter().zip(base).map(|(new, base)| (new / base).ln()).collect();
    let interval = median_interval(&quotients, confidence)?;
    Some(Estimate {
        value: median(&quotients)?.exp(),
        interval: Interval { low: interval.low.exp(), high: interval.high.exp(), ..interval },
    })
}

/// `new` divided by `base`, for two groups with similar noise: the median of all quotients of a value of one and a
/// value of the other, with the interval of [`hodges_lehmann_shift`] on logarithms. Swapping both sides inverts the
/// result.
///
/// `None` as for [`median_ratio`]. Three against three values reach a confidence of 0.90, four against four 0.97.
pub fn shifted_ratio(new: &[f64], base: &[f64], confidence: f64) -> Option<Estimate> {
    if !all_positive(new) || !all_positive(base) {
        return None;
    }
    let logarithms = |side: &[f64]| side.iter().map(|value| value.ln()).collect::<Vec<_>>();
    let Estimate { value, interval } = hodges_lehmann_shift(&logarithms(new), &logarithms(base), confidence)?;
    let interval = Interval { low: interval.low.exp(), high: interval.high.exp(), ..interval };
    Some(Estimate { value: value.exp(), interval })
}

/// The logarithms of a group's median, and its distances to the ends of its interval.
struct Logarithms {
    median: f64,
    below: f64,
    above: f64,
    confidence: f64,
}

impl Logarithms {
    fn of(samples: &[f64], confidence: f64) -> Option<Logarithms> {
        let Interval { low, high, confidence } = median_interval(samples, confidence)?;
        let median = median(samples)?.ln();
        Some(Logarithms { median, below: median - low.ln(), above: high.ln() - median, confidence })
    }
}

fn all_positive(samples: &[f64]) -> bool {
    all_finite(samples) && samples.iter().all(|sample| *sample > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::noise::{SHAPES, Shape, share};

    fn about(found: f64, expected: f64) -> bool {
        (found / expected - 1.0).abs() < 1e-12
    }

    #[test]
    fn hand_computed() {
        let (new, base) = ([20.0, 10.0, 40.0, 20.0, 20.0], [1.0, 4.0, 2.0, 2.0, 2.0]);
        // Medians 20 and 2, each with half and twice its value as ends: a factor of 2^sqrt(2) on each side.
        let found = median_ratio(&new, &base, 0.95).unwrap();
        let factor = 2.0f64.powf(2.0f64.sqrt());
        assert!(about(found.value, 10.0) && about(found.interval.low, 10.0 / factor), "{found:?}");
        assert!(about(found.interval.high, 10.0 * factor) && about(found.interval.confidence, 0.9375), "{found:?}");
        // Of all 25 quotients, 10 is in the middle, and three at each end are outside of the interval.
        let found = shifted_ratio(&new, &base, 0.95).unwrap();
        assert!(about(found.value, 10.0) && found.interval.confidence >= 0.95, "{found:?}");
        assert!(about(found.interval.low, 5.0) && about(found.interval.high, 20.0), "{found:?}");
        // The quotients are 20, 2.5, 20, 10, 10.
        let found = paired_ratio(&new, &base, 0.95).unwrap();
        assert!(about(found.value, 10.0) && about(found.interval.low, 2.5), "{found:?}");
        assert!(about(found.interval.high, 20.0) && about(found.interval.confidence, 0.9375), "{found:?}");
    }

    #[test]
    fn what_cannot_be_said_is_none() {
        let three = [1.0, 2.0, 3.0];
        for other in [&[0.0, 1.0, 2.0][..], &[-1.0, 1.0, 2.0], &[1.0, 2.0, f64::NAN], &[1.0, 2.0], &[]] {
            assert_eq!(median_ratio(&three, other, 0.95), None);
            assert_eq!(median_ratio(other, &three, 0.95), None);
            assert_eq!(shifted_ratio(&three, other, 0.95), None);
            assert_eq!(shifted_ratio(other, &three, 0.95), None);
            assert_eq!(paired_ratio(&three, other, 0.95), None);
            assert_eq!(paired_ratio(other, &three, 0.95), None);
        }
        assert_eq!(paired_ratio(&three, &[1.0; 4], 0.95), None);
        assert_eq!(median_ratio(&three, &three, 1.0), None);
    }

    #[test]
    fn a_ratio_covers_the_true_one_as_often_as_it_says() {
        for shape in SHAPES {
            for rounds in 5..=8 {
                let same = share(2000, |random| {
                    let new: Vec<f64> = random.samples(shape, rounds).iter().map(|value| value * 3.0).collect();
                    median_ratio(&new, &random.samples(shape, rounds), 0.95).unwrap().interval.contains(3.0)
                });
                assert!((0.93..0.99).contains(&same), "{shape:?}, {rounds} rounds: {same}");
                let one_is_quiet = share(2000, |random| {
                    let quiet: Vec<f64> = (0..rounds).map(|_| 50.0 * (0.06 * random.normal()).exp()).collect();
                    median_ratio(&random.samples(shape, rounds), &quiet, 0.95).unwrap().interval.contains(2.0)
                });
                assert!((0.92..0.99).contains(&one_is_quiet), "{shape:?}, {rounds} rounds: {one_is_quiet}");
            }
        }
    }

    #[test]
    fn a_paired_ratio_covers_and_is_narrower_when_rounds_share_their_noise() {
        for rounds in 5..=8 {
            let mut narrower = 0;
            let covered = share(2000, |random| {
                let weather: Vec<f64> = random.samples(Shape::Skewed, rounds);
                let mut side = |factor: f64| -> Vec<f64> {
                    weather.iter().map(|round| round * factor * (0.1 * random.normal()).exp()).collect()
                };
                let (new, base) = (side(1.5), side(1.0));
                let paired = paired_ratio(&new, &base, 0.95).unwrap();
                let unpaired = median_ratio(&new, &base, 0.95).unwrap();
                narrower += usize::from(paired.relative_half_width() < unpaired.relative_half_width());
                paired.interval.contains(1.5)
            });
            assert!((0.92..0.98).contains(&covered), "{rounds} rounds: {covered}");
            assert!(narrower > 1900, "{rounds} rounds: {narrower} of 2000");
        }
    }
}
