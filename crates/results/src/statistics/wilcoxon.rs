//! Pairs measured in the same round: is one side larger?

use super::RankTest;
use super::descriptive::all_finite;
use super::null_distribution::{NullDistribution, doubled_ranks};

/// The Wilcoxon signed-rank test of pairs, two-sided; exact up to 50 differing pairs, with ties too, and normal with
/// corrections for ties and continuity beyond (F. Wilcoxon, Biometrics Bulletin 1, 1945, 80–83). Pairs without a
/// difference are left out, as there. The statistic is W+, the sum of the ranks of the pairs in which `first` is the
/// larger. `None` when the lengths differ, when there is no pair or when a value is not finite.
///
/// Five pairs cannot reach p below 0.0625, six 0.031, eight 0.008.
pub fn wilcoxon_signed_rank(first: &[f64], second: &[f64]) -> Option<RankTest> {
    if first.len() != second.len() || !all_finite(first) || !all_finite(second) {
        return None;
    }
    let differences = first.iter().zip(second).map(|(first, second)| first - second);
    let differences: Vec<f64> = differences.filter(|difference| *difference != 0.0).collect();
    let ranks = doubled_ranks(&differences.iter().map(|difference| difference.abs()).collect::<Vec<_>>());
    let positive = ranks.iter().zip(&differences).filter(|(_, difference)| **difference > 0.0);
    let sum: usize = positive.map(|(rank, _)| *rank).sum();
    Some(NullDistribution::of_positive_sum(&ranks).test(sum, sum as f64 / 2.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_that_all_point_one_way_have_the_smallest_p_value() {
        let base = [1.0, 2.0, 3.0, 4.0, 5.0];
        let new = [1.5, 2.6, 3.7, 4.8, 5.9];
        let test = wilcoxon_signed_rank(&new, &base).unwrap();
        assert_eq!(test, RankTest { statistic: 15.0, p_value: 0.0625, exact: true });
        assert_eq!(wilcoxon_signed_rank(&base, &new).unwrap().p_value, 0.0625);
    }

    #[test]
    fn no_difference_is_p_one() {
        let same = [1.0, 2.0];
        let test = wilcoxon_signed_rank(&same, &same).unwrap();
        assert_eq!(test, RankTest { statistic: 0.0, p_value: 1.0, exact: true });
    }

    #[test]
    fn what_cannot_be_said_is_none() {
        assert_eq!(wilcoxon_signed_rank(&[], &[]), None);
        assert_eq!(wilcoxon_signed_rank(&[1.0], &[1.0, 2.0]), None);
        assert_eq!(wilcoxon_signed_rank(&[f64::INFINITY], &[1.0]), None);
    }
}
