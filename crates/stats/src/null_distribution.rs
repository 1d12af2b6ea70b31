//! The null distribution of rank statistics.
//!
//! Ranks are doubled, so that the mean rank of tied values is a whole number. A null distribution is then the number
//! of subsets of these whole numbers with a given sum, counted by dynamic programming (B. Streitberg and J. Röhmel,
//! "Exact distributions for permutation and rank tests", Statistical Software Newsletter 12, 1986, 10–17); it is
//! exact with ties, too. With more than [`EXACT_UP_TO`] values it is a normal distribution with the mean and the
//! variance of these ranks, which is the usual correction for ties.

use serde::{Deserialize, Serialize};

use super::descriptive::ascending;

/// The result of a test of ranks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RankTest {
    /// The statistic, as the test defines it.
    pub statistic: f64,
    /// Probability of a statistic at least this far from the middle, in either direction, if there is no difference:
    /// 0 to 1.
    pub p_value: f64,
    /// Whether all arrangements were counted; false: a normal distribution was assumed.
    pub exact: bool,
}

/// Up to this number of values all arrangements are counted; every count is below 2^53, so that a float represents it
/// exactly.
const EXACT_UP_TO: usize = 50;

/// The distribution of a sum of doubled ranks.
pub(super) enum NullDistribution {
    /// P(sum ≤ s), by s.
    Exact(Vec<f64>),
    /// For many values.
    Normal { mean: f64, deviation: f64 },
}

impl NullDistribution {
    /// The distribution of the sum over a group of `chosen` of these ranks; all groups are equally likely.
    pub(super) fn of_group_sum(doubled_ranks: &[usize], chosen: usize) -> NullDistribution {
        let count = doubled_ranks.len();
        if count <= EXACT_UP_TO {
            return NullDistribution::cumulated(&ways_of_groups(doubled_ranks, chosen));
        }
        let centre = doubled_ranks.iter().sum::<usize>() as f64 / count as f64;
        let squares: f64 = doubled_ranks.iter().map(|rank| (*rank as f64 - centre).powi(2)).sum();
        let (all, group) = (count as f64, chosen as f64);
        let variance = group * (all - group) / (all * (all - 1.0)) * squares;
        NullDistribution::Normal { mean: group * centre, deviation: variance.sqrt() }
    }

    fn cumulated(ways: &[f64]) -> NullDistribution {
        let all: f64 = ways.iter().sum();
        let mut below = 0.0;
        let cumulate = |ways: &f64| {
            below += ways;
            below / all
        };
        NullDistribution::Exact(ways.iter().map(cumulate).collect())
    }

    /// P(sum ≤ `sum`). The normal distribution has the correction for continuity: half a rank, which is one doubled
    /// rank.
    pub(super) fn at_most(&self, sum: usize) -> f64 {
        match self {
            NullDistribution::Exact(cumulative) => cumulative.get(sum).copied().unwrap_or(1.0),
            NullDistribution::Normal { mean, deviation } => normal_below((sum as f64 + 1.0 - mean) / deviation),
        }
    }

    /// P(sum ≥ `sum`).
    fn at_least(&self, sum: usize) -> f64 {
        match self {
            NullDistribution::Exact(_) => sum.checked_sub(1).map_or(1.0, |less| 1.0 - self.at_most(less)),
            NullDistribution::Normal { mean, deviation } => normal_below((mean - (sum as f64 - 1.0)) / deviation),
        }
    }

    /// The test of an observed sum: twice the smaller tail.
    pub(super) fn test(&self, sum: usize, statistic: f64) -> RankTest {
        // If all values are tied, there is no spread: 0/0 is NaN, which `min` ignores.
        let p_value = (2.0 * self.at_most(sum).min(self.at_least(sum))).min(1.0);
        RankTest { statistic, p_value, exact: matches!(self, NullDistribution::Exact(_)) }
    }
}

/// The number of ways to choose `chosen` of the ranks with a given sum, by sum.
fn ways_of_groups(doubled_ranks: &[usize], chosen: usize) -> Vec<f64> {
    let highest: usize = doubled_ranks.iter().sum();
    let mut ways = vec![vec![0.0; highest + 1]; chosen + 1];
    ways[0][0] = 1.0;
    for rank in doubled_ranks {
        for size in (1..=chosen).rev() {
            let (smaller, same) = ways.split_at_mut(size);
            for (with, without) in same[0][*rank..].iter_mut().zip(&smaller[size - 1]) {
                *with += without;
            }
        }
    }
    ways.swap_remove(chosen)
}

/// P(Z ≤ z) for a standard normal Z.
pub(super) fn normal_below(z: f64) -> f64 {
    libm::erfc(-z / std::f64::consts::SQRT_2) / 2.0
}

/// Twice the rank of each value. The smallest value has rank 1, and equal values have their mean rank.
pub(super) fn doubled_ranks(values: &[f64]) -> Vec<usize> {
    let sorted = ascending(values.to_vec());
    let rank = |value: &f64| {
        let below = sorted.partition_point(|other| other < value);
        let up_to = sorted.partition_point(|other| other <= value);
        below + up_to + 1
    };
    values.iter().map(rank).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tied_values_share_their_mean_rank() {
        assert_eq!(doubled_ranks(&[3.0, 1.0, 3.0, 2.0, 3.0]), [8, 2, 8, 4, 8]);
        assert_eq!(doubled_ranks(&[5.0, 5.0]), [3, 3]);
    }

    #[test]
    fn ways_are_those_of_counting_all() {
        let ranks = [2, 5, 5, 8];
        let mut groups = vec![0.0; 21];
        for mask in 0u32..16 {
            let sum: usize = (0..4).filter(|bit| mask >> bit & 1 == 1).map(|bit| ranks[bit]).sum();
            if mask.count_ones() == 2 {
                groups[sum] += 1.0;
            }
        }
        assert_eq!(ways_of_groups(&ranks, 2), groups);
    }

    #[test]
    fn normal_and_exact_agree_where_they_meet() {
        let ranks: Vec<usize> = (1..=EXACT_UP_TO).map(|rank| 2 * rank).collect();
        let exact = NullDistribution::of_group_sum(&ranks, 20);
        let more: Vec<usize> = (1..=EXACT_UP_TO + 1).map(|rank| 2 * rank).collect();
        assert!(matches!(NullDistribution::of_group_sum(&more, 20), NullDistribution::Normal { .. }));
        // Mean 20 * 51, variance 4 * 20 * 30 * 51 / 12.
        let normal = NullDistribution::Normal { mean: 1020.0, deviation: 10_200.0f64.sqrt() };
        for sum in (700..1340).step_by(2) {
            assert!((exact.at_most(sum) - normal.at_most(sum)).abs() < 0.002, "{sum}");
            assert!((exact.at_least(sum) - normal.at_least(sum)).abs() < 0.002, "{sum}");
        }
    }
}
