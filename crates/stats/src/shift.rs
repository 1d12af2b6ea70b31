//! The shift between two groups (Hodges–Lehmann).

use super::descriptive::{all_finite, ascending, median_of_sorted};
use super::mann_whitney::smallest_sum;
use super::null_distribution::NullDistribution;
use super::{Estimate, Interval};

/// `new` minus `base` of two independent groups: the median of all differences between a value of one and a value of
/// the other, with the interval that belongs to [`mann_whitney`](super::mann_whitney()) (J. L. Hodges and E. L.
/// Lehmann, Annals of Mathematical Statistics 34, 1963, 598–611; M. Hollander, D. A. Wolfe and E. Chicken,
/// "Nonparametric Statistical Methods", 3rd edition, sections 4.2 and 4.3).
///
/// An interval at 95 % excludes 0 exactly if that test has p ≤ 0.05 (without ties). Both groups are assumed to have
/// the same distribution, shifted: use it for two versions of one thing, not for two kinds of storage (see
/// [`median_ratio`]). Three against three values reach a confidence of 0.90, four against four 0.97.
///
/// `None` if a group has fewer than three values, if one is not finite, or if `confidence` is not between 0 and 1.
///
/// [`median_ratio`]: super::median_ratio
pub fn hodges_lehmann_shift(new: &[f64], base: &[f64], confidence: f64) -> Option<Estimate> {
    let asked = Some(confidence).filter(|confidence| *confidence > 0.0 && *confidence < 1.0)?;
    if new.len().min(base.len()) < 3 || !all_finite(new) || !all_finite(base) {
        return None;
    }
    let differences = ascending(new.iter().flat_map(|new| base.iter().map(move |base| new - base)).collect());
    let untied: Vec<usize> = (1..=new.len() + base.len()).map(|rank| 2 * rank).collect();
    let distribution = NullDistribution::of_group_sum(&untied, new.len());
    // From the k-th smallest difference to the k-th largest: wrong if fewer than k lie on one side of the true shift.
    let wrong_to_one_side = |k: usize| distribution.at_most(smallest_sum(new.len()) + 2 * (k - 1));
    let confidence_at = |k: usize| 1.0 - 2.0 * wrong_to_one_side(k);
    let k = (2..=differences.len() / 2).take_while(|k| confidence_at(*k) >= asked).last().unwrap_or(1);
    let (low, high) = (differences[k - 1], differences[differences.len() - k]);
    Some(Estimate {
        value: median_of_sorted(&differences),
        interval: Interval { low, high, confidence: confidence_at(k) },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mann_whitney;
    use crate::random::noise::{SHAPES, Shape, share};

    #[test]
    fn hand_computed() {
        // Differences 9 8 7, 10 9 8, 11 10 9.
        let found = hodges_lehmann_shift(&[10.0, 11.0, 12.0], &[1.0, 2.0, 3.0], 0.95).unwrap();
        assert_eq!((found.value, found.interval.low, found.interval.high), (9.0, 7.0, 11.0));
        assert!((found.interval.confidence - 0.9).abs() < 1e-12);
    }

    #[test]
    fn what_cannot_be_said_is_none() {
        let three = [1.0, 2.0, 3.0];
        assert_eq!(hodges_lehmann_shift(&three[..2], &three, 0.95), None);
        assert_eq!(hodges_lehmann_shift(&three, &[1.0, 2.0, f64::NAN], 0.95), None);
        assert_eq!(hodges_lehmann_shift(&three, &three, 1.0), None);
    }

    #[test]
    fn an_interval_without_0_is_a_test_that_rejects() {
        let mut decided = [0; 2];
        share(400, |random| {
            let base = random.samples(Shape::Normal, 7);
            let new: Vec<f64> = random.samples(Shape::Normal, 7).iter().map(|value| value + 11.0).collect();
            let test = mann_whitney(&new, &base).unwrap();
            let apart = !hodges_lehmann_shift(&new, &base, 0.95).unwrap().interval.contains(0.0);
            assert_eq!(apart, test.p_value <= 0.05, "{new:?} {base:?}");
            decided[usize::from(apart)] += 1;
            true
        });
        assert!(decided.iter().all(|count| *count > 50), "both must happen: {decided:?}");
    }

    #[test]
    fn it_covers_a_shift_as_often_as_it_says() {
        for shape in SHAPES {
            for count in [5, 7, 30] {
                let covered = share(2000, |random| {
                    let new: Vec<f64> = random.samples(shape, count).iter().map(|value| value + 30.0).collect();
                    let base = random.samples(shape, count);
                    hodges_lehmann_shift(&new, &base, 0.95).unwrap().interval.contains(30.0)
                });
                assert!((0.935..0.985).contains(&covered), "{shape:?}, {count} values: {covered}");
            }
        }
    }
}
