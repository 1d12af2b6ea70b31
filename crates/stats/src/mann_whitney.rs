//! Tests whether two independent groups have the same distribution.

use super::RankTest;
use super::descriptive::all_finite;
use super::null_distribution::{NullDistribution, doubled_ranks};

/// The two-sided Mann–Whitney U test of two independent groups. It is exact up to 50 values in total, also with ties
/// (by their permutation distribution); beyond that it is normal with corrections for ties and continuity (H. B. Mann
/// and D. R. Whitney, Annals of Mathematical Statistics 18, 1947, 50–60). The statistic is U of `first`: the number
/// of pairs in which its value is larger; ties count half. `None` if a group is empty or a value is not finite.
///
/// Three against three values cannot reach a p-value below 0.1, four against four 0.029, five against five 0.008.
pub fn mann_whitney(first: &[f64], second: &[f64]) -> Option<RankTest> {
    if !all_finite(first) || !all_finite(second) {
        return None;
    }
    let ranks = doubled_ranks(&[first, second].concat());
    let sum: usize = ranks[..first.len()].iter().sum();
    let statistic = (sum - smallest_sum(first.len())) as f64 / 2.0;
    Some(NullDistribution::of_group_sum(&ranks, first.len()).test(sum, statistic))
}

/// The probability that a value of `new` is larger than one of `base`; ties count half: U divided by the number of
/// pairs. 0.5 means no difference; 0 and 1 mean groups that do not overlap. `None` as for [`mann_whitney`].
pub fn probability_of_superiority(new: &[f64], base: &[f64]) -> Option<f64> {
    let pairs = (new.len() * base.len()) as f64;
    if !all_finite(new) || !all_finite(base) {
        return None;
    }
    let ranks = doubled_ranks(&[new, base].concat());
    let sum: usize = ranks[..new.len()].iter().sum();
    Some((sum - smallest_sum(new.len())) as f64 / 2.0 / pairs)
}

/// The sum of the doubled ranks of the lowest `count` values.
pub(super) fn smallest_sum(count: usize) -> usize {
    count * (count + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn p_value(first: &[f64], second: &[f64]) -> f64 {
        mann_whitney(first, second).unwrap().p_value
    }

    #[test]
    fn groups_that_do_not_overlap_have_the_smallest_p_value_of_their_size() {
        let lower = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let upper = [7.0, 8.0, 9.0, 10.0, 11.0, 12.0];
        let test = mann_whitney(&lower, &upper).unwrap();
        assert_eq!((test.statistic, test.exact), (0.0, true));
        // 2 of the 924 groups of 6 of 12, 2 of the 495 of 4 of 12.
        assert!((test.p_value - 2.0 / 924.0).abs() < 1e-12);
        assert!((p_value(&upper, &lower) - 2.0 / 924.0).abs() < 1e-12);
        let all = [&lower[..], &upper].concat();
        assert!((p_value(&all[..4], &all[4..]) - 2.0 / 495.0).abs() < 1e-12);
        assert!((p_value(&all[..8], &all[8..]) - 2.0 / 495.0).abs() < 1e-12);
        assert_eq!(probability_of_superiority(&lower, &upper), Some(0.0));
        assert_eq!(probability_of_superiority(&upper, &lower), Some(1.0));
    }

    #[test]
    fn equal_values_are_no_difference() {
        for count in [1, 5, 40] {
            let same = vec![2.5; count];
            let test = mann_whitney(&same, &same).unwrap();
            assert_eq!((test.p_value, test.exact), (1.0, count < 40));
            assert_eq!(probability_of_superiority(&same, &same), Some(0.5));
        }
    }

    #[test]
    fn what_cannot_be_said_is_none() {
        assert_eq!(mann_whitney(&[], &[1.0]), None);
        assert_eq!(mann_whitney(&[1.0], &[f64::NAN]), None);
        assert_eq!(probability_of_superiority(&[1.0], &[]), None);
    }
}
