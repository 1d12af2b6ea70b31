//! Finds one lasting step in a series: burst credit that is used up, a cache that is full, a throttle that begins.

use serde::{Deserialize, Serialize};

use super::autocorrelation::independent_share;
use super::descriptive::{all_finite, median, median_absolute_deviation};
use super::null_distribution::doubled_ranks;
use super::probability_of_superiority;
use super::random::Random;

/// Where a series steps from one level to another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChangePoint {
    /// Index of the first value at the later level.
    pub index: usize,
    /// Median of the values before it.
    pub before_median: f64,
    /// Median of the values from it on.
    pub after_median: f64,
    /// Share of random orders of the same values that have a split at least as clear: 0.001 to 1.
    pub p_value: f64,
}

impl ChangePoint {
    /// Later level divided by earlier level, minus 1: -0.6 is a drop by 60 %. `None` if the earlier level is 0.
    pub fn relative_change(&self) -> Option<f64> {
        (self.before_median != 0.0).then(|| self.after_median / self.before_median - 1.0)
    }
}

/// The conditions for a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sensitivity {
    /// Smallest number of values on each side, at least 2. Fewer outliers in a row are no step.
    pub segment_min: usize,
    /// Smallest step, as a share of the higher level: 0.2 is from 100 to 80, or from 80 to 100.
    pub change_min: f64,
    /// Largest p-value; 0.001 is the smallest that 999 random orders can show.
    pub p_value_max: f64,
}

impl Default for Sensitivity {
    /// Five values on either side, a step of 20 %, p at most 0.01.
    fn default() -> Sensitivity {
        Sensitivity { segment_min: 5, change_min: 0.2, p_value_max: 0.01 }
    }
}

/// Number of random orders that a series is compared with.
const ORDERS: usize = 999;

/// The random orders are always the same, so that a saved record is judged the same each time.
const SEED: u64 = 0x0c4a_96e0;

/// Smallest share of pairs in which the value of the higher side must be larger. The two sides of a step hardly
/// overlap; the two halves of an oscillation do.
const SUPERIORITY_MIN: f64 = 0.9;

/// A step of more than this number of standard deviations of the noisier side is more than slow wandering causes.
const CLEAR_DEVIATIONS: f64 = 4.0;

/// The clearest lasting step of a series, if there is one.
///
/// At each split the standardised rank-sum statistic of the two sides is taken; the split with the largest is the
/// candidate (the retrospective form of D. M. Hawkins and Q. Deng, "A nonparametric change-point control chart", Journal
/// of Quality Technology 42, 2010, 165–173). Its p-value is that of the maximum over random orders of the series. A. N.
/// Pettitt's statistic (Applied Statistics 28, 1979, 126–135) weighs splits near the ends down so far that a burst in
/// six of sixty seconds is not seen: hence the standardised one. Ranks make single outliers harmless.
///
/// Random orders treat neighbours as independent. If neighbours resemble each other around their level, the statistic
/// counts fewer values, unless the step is more than four standard deviations of the noisier side. Simulated with
/// sixty values, 30 % noise and no step: a step is reported in 0.2 % of series of independent values, in 1 % if
/// neighbours correlate with 0.5, in 6 % with 0.8.
///
/// `None` if no split passes `sensitivity`, below twice its segment length, or if a value is not finite. A slow drift
/// is reported as a step in its middle: see [`drift`](super::drift()). For a second step, examine both sides again.
pub fn change_point(series: &[f64], sensitivity: &Sensitivity) -> Option<ChangePoint> {
    let segment = sensitivity.segment_min.max(2);
    if series.len() < 2 * segment || !all_finite(series) {
        return None;
    }
    let mut ranks = doubled_ranks(series);
    let (index, observed) = clearest_split(&ranks, segment);
    let (before, after) = series.split_at(index);
    let (before_median, after_median) = (median(before)?, median(after)?);
    let step = (after_median - before_median).abs();
    let higher = before_median.abs().max(after_median.abs());
    let superiority = probability_of_superiority(after, before)?;
    if step == 0.0 || step < sensitivity.change_min * higher || superiority.max(1.0 - superiority) < SUPERIORITY_MIN {
        return None;
    }
    // 1.4826 median absolute deviations are a standard deviation of normal noise.
    let noise = 1.4826 * median_absolute_deviation(before)?.max(median_absolute_deviation(after)?);
    let around_level = before.iter().map(|value| value - before_median);
    let around_level: Vec<f64> = around_level.chain(after.iter().map(|value| value - after_median)).collect();
    let counted = if step > CLEAR_DEVIATIONS * noise { 1.0 } else { independent_share(&around_level) };
    let p_value = permutation_p_value(&mut ranks, segment, observed * counted, sensitivity.p_value_max)?;
    Some(ChangePoint { index, before_median, after_median, p_value })
}

/// The split with the largest squared, standardised rank sum, then that number. Factors that are the same for all
/// splits and all orders are left out.
fn clearest_split(doubled_ranks: &[usize], segment: usize) -> (usize, f64) {
    let n = doubled_ranks.len();
    let mut sum = 0;
    let mut clearest = (segment, -1.0);
    for (index, rank) in doubled_ranks[..n - segment].iter().enumerate() {
        sum += rank;
        let before = index + 1;
        // The mean of a doubled rank is n + 1.
        let excess = sum as f64 - (before * (n + 1)) as f64;
        let squared = excess * excess / (before * (n - before)) as f64;
        if before >= segment && squared > clearest.1 {
            clearest = (before, squared);
        }
    }
    clearest
}

/// (orders at least as clear + 1) / (orders + 1); `None` as soon as it is certain to exceed `p_value_max`.
fn permutation_p_value(ranks: &mut [usize], segment: usize, observed: f64, p_value_max: f64) -> Option<f64> {
    let mut random = Random::new(SEED);
    let as_p_value = |clearer: usize| (clearer + 1) as f64 / (ORDERS + 1) as f64;
    let mut clearer = 0;
    for _ in 0..ORDERS {
        random.shuffle(ranks);
        clearer += usize::from(clearest_split(ranks, segment).1 >= observed);
        if as_p_value(clearer) > p_value_max {
            return None;
        }
    }
    Some(as_p_value(clearer)).filter(|p_value| *p_value <= p_value_max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::noise::{Shape, share};

    fn found(series: &[f64]) -> Option<ChangePoint> {
        change_point(series, &Sensitivity::default())
    }

    /// A series of levels with 5 % noise, each with its number of values.
    fn levels(random: &mut Random, parts: &[(f64, usize)]) -> Vec<f64> {
        let all = parts.iter().flat_map(|(level, count)| std::iter::repeat_n(*level, *count));
        all.map(|level| level * (1.0 + 0.05 * random.normal())).collect()
    }

    #[test]
    fn a_burst_of_six_seconds_is_found_at_its_end() {
        let series = levels(&mut Random::new(3), &[(114.0, 6), (42.0, 54)]);
        let change = found(&series).unwrap();
        assert_eq!((change.index, change.p_value), (6, 0.001));
        assert!((change.before_median - 114.0).abs() < 8.0 && (change.after_median - 42.0).abs() < 2.0);
        assert!((-0.68..-0.58).contains(&change.relative_change().unwrap()));
    }

    #[test]
    fn a_step_is_found_anywhere_and_in_both_directions() {
        for index in [5, 20, 30, 55] {
            for later in [60.0, 160.0] {
                let series = levels(&mut Random::new(index as u64), &[(100.0, index), (later, 60 - index)]);
                let change = found(&series).unwrap();
                // At the very end, one value more or less can by chance give a clearer split.
                assert!(change.index.abs_diff(index) <= 1, "{index}, to {later}: {change:?}");
            }
        }
    }

    #[test]
    fn single_outliers_neither_make_nor_hide_a_step() {
        let mut series = levels(&mut Random::new(5), &[(100.0, 60)]);
        (0..4).for_each(|index| series[index] = 2.0);
        series[40] = 1e6;
        assert_eq!(found(&series), None);
        let mut series = levels(&mut Random::new(5), &[(100.0, 30), (50.0, 30)]);
        series[10] = 1.0;
        series[50] = 900.0;
        assert_eq!(found(&series).unwrap().index, 30);
    }

    #[test]
    fn small_steps_and_oscillations_are_left_alone() {
        assert_eq!(found(&levels(&mut Random::new(6), &[(100.0, 30), (85.0, 30)])), None);
        for half_period in [5, 15] {
            let high = |second: usize| (second / half_period).is_multiple_of(2);
            let two_levels: Vec<f64> = (0..60).map(|second| if high(second) { 100.0 } else { 40.0 }).collect();
            assert_eq!(found(&two_levels), None, "{half_period}");
        }
        let more = Sensitivity { change_min: 0.1, ..Sensitivity::default() };
        assert_eq!(change_point(&levels(&mut Random::new(6), &[(100.0, 30), (85.0, 30)]), &more).unwrap().index, 30);
    }

    #[test]
    fn noise_alone_is_reported_as_rarely_as_asked() {
        // Without the condition on the size of the step, so that only the p-value decides.
        let by_p_value = Sensitivity { change_min: 0.0, p_value_max: 0.05, ..Sensitivity::default() };
        let alarms = share(400, |random| {
            let mut ranks = doubled_ranks(&random.samples(Shape::Skewed, 40));
            let observed = clearest_split(&ranks, 5).1;
            permutation_p_value(&mut ranks, 5, observed, by_p_value.p_value_max).is_some()
        });
        assert!((0.02..0.08).contains(&alarms), "{alarms}");
        let wrong = share(400, |random| found(&random.samples(Shape::Skewed, 60)).is_some());
        assert!(wrong <= 0.01, "{wrong}");
        for (memory, most) in [(0.5, 0.02), (0.8, 0.08)] {
            let wandering = share(400, |random| {
                found(&random.series(memory, 60).iter().map(|value| 100.0 * (0.3 * value).exp()).collect::<Vec<_>>())
                    .is_some()
            });
            assert!(wandering <= most, "memory {memory}: {wandering}");
        }
    }

    #[test]
    fn what_cannot_be_said_is_none() {
        assert_eq!(found(&[]), None);
        assert_eq!(found(&[1.0, 1.0, 1.0, 1.0, 9.0, 9.0, 9.0, 9.0, 9.0]), None);
        assert_eq!(found(&[7.0; 60]), None);
        assert_eq!(found(&[0.0; 60]), None);
        assert_eq!(found(&[f64::NAN; 60]), None);
    }
}
