//! Finds a slow change over a whole series: garbage collection, heat, a cache that fills.

use serde::{Deserialize, Serialize};

use super::autocorrelation::independent_share;
use super::descriptive::{ascending, median, median_of_sorted, sorted};
use super::null_distribution::normal_below;

/// The slow change of a series with one value per second.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Drift {
    /// Slope per second as a share of the median: -0.001 loses 0.1 % of the usual level each second.
    pub relative_slope_per_second: f64,
    /// The slope multiplied by the length of the series: -0.3 ends 30 % of the usual level below its start. Compare
    /// this number with a threshold for an alarm.
    pub relative_change: f64,
    /// p-value of the Mann–Kendall test: the probability of at least this much order in either direction, if there is
    /// no drift.
    pub p_value: f64,
}

/// Smallest number of values for which the test's normal distribution is valid.
const VALUES_MIN: usize = 10;

/// Largest number of values that are compared pair by pair; a longer series is first reduced to medians of equal
/// blocks.
const VALUES_MAX: usize = 1000;

/// The slope of a series with one value per second: the median of the slopes between all pairs (H. Theil, 1950; P. K.
/// Sen, Journal of the American Statistical Association 63, 1968, 1379–1389), which up to 29 % of outliers do not
/// change. Its p-value is that of the Mann–Kendall test, corrected for ties and continuity (R. O. Gilbert,
/// "Statistical Methods for Environmental Pollution Monitoring", 1987, section 16.4).
///
/// If neighbours resemble each other beyond the slope, the test counts fewer values (S. Yue and C. Wang, Water
/// Resources Management 18, 2004, 201–218). It still finds a slope in slow wandering: in 3 % of series, if neighbours
/// correlate with 0.5 and the p-value is 0.01. So also require a `relative_change` that matters. A step is also
/// reported as a drift: see [`change_point`](super::change_point()).
///
/// `None` below ten values, if one is not finite, or if the median is 0.
pub fn drift(series: &[f64]) -> Option<Drift> {
    let usual = median(series).filter(|median| *median != 0.0 && series.len() >= VALUES_MIN)?;
    let block = series.len().div_ceil(VALUES_MAX);
    let values: Vec<f64> = series.chunks_exact(block).filter_map(median).collect();
    let step = theil_sen(&values);
    let level: Vec<f64> = values.iter().zip(0..).map(|(value, index)| value - step * f64::from(index)).collect();
    let slope = step / block as f64 / usual.abs();
    Some(Drift {
        relative_slope_per_second: slope,
        relative_change: slope * (series.len() - 1) as f64,
        p_value: mann_kendall(&values, independent_share(&level)),
    })
}

/// The median slope between all pairs, per step.
fn theil_sen(values: &[f64]) -> f64 {
    let slope = |from: usize, to: usize| (values[to] - values[from]) / (to - from) as f64;
    let slopes = (1..values.len()).flat_map(|to| (0..to).map(move |from| slope(from, to)));
    median_of_sorted(&ascending(slopes.collect()))
}

/// The two-sided p-value of the number of ascending pairs minus the number of descending pairs. `independent` is the
/// share of independent values.
fn mann_kendall(values: &[f64], independent: f64) -> f64 {
    let order = |from: f64, to: f64| f64::from(i8::from(to > from) - i8::from(to < from));
    let pairs = (1..values.len()).flat_map(|to| values[..to].iter().map(move |from| order(*from, values[to])));
    let score: f64 = pairs.sum();
    let term = |count: f64| count * (count - 1.0) * (2.0 * count + 5.0);
    let ascending = sorted(values).unwrap_or_default();
    let ties: f64 = ascending.chunk_by(|one, other| one == other).map(|equal| term(equal.len() as f64)).sum();
    let variance = (term(values.len() as f64) - ties) / 18.0 / independent;
    if score == 0.0 {
        return 1.0;
    }
    (2.0 * normal_below(-(score.abs() - 1.0) / variance.sqrt())).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::random::noise::{Shape, share};

    #[test]
    fn a_line_is_its_slope() {
        let series: Vec<f64> = (0..61).map(|second| 2.0 * f64::from(130 - second)).collect();
        let drift = drift(&series).unwrap();
        assert!((drift.relative_slope_per_second - -0.01).abs() < 1e-12, "{drift:?}");
        assert!((drift.relative_change - -0.6).abs() < 1e-12, "{drift:?}");
        assert!(drift.p_value < 1e-12, "{drift:?}");
    }

    #[test]
    fn a_quarter_of_outliers_does_not_hide_it() {
        let mut series: Vec<f64> = (0..60).map(|second| 1000.0 - f64::from(second)).collect();
        series.iter_mut().step_by(5).for_each(|value| *value = 1e6);
        let drift = drift(&series).unwrap();
        assert!((-0.0014..-0.0008).contains(&drift.relative_slope_per_second), "{drift:?}");
    }

    #[test]
    fn a_long_series_keeps_its_scale() {
        let series: Vec<f64> = (0..7300).map(|second| 10_000.0 + f64::from(second)).collect();
        let drift = drift(&series).unwrap();
        assert!((drift.relative_slope_per_second * 13_649.5 - 1.0).abs() < 1e-9, "{drift:?}");
    }

    #[test]
    fn noise_alone_is_significant_as_rarely_as_asked() {
        let alarms = share(1000, |random| drift(&random.samples(Shape::Skewed, 60)).unwrap().p_value < 0.05);
        assert!((0.03..0.07).contains(&alarms), "{alarms}");
        let wandering = |random: &mut Random| -> Vec<f64> {
            random.series(0.5, 60).iter().map(|value| 100.0 + 10.0 * value).collect()
        };
        let alarms = share(1000, |random| drift(&wandering(random)).unwrap().p_value < 0.01);
        assert!(alarms < 0.05, "{alarms}");
    }

    #[test]
    fn what_cannot_be_said_is_none() {
        assert_eq!(drift(&[1.0; 9]), None);
        assert_eq!(drift(&[0.0; 20]), None);
        assert_eq!(drift(&[f64::NAN; 20]), None);
        let level = drift(&[5.0; 20]).unwrap();
        assert_eq!((level.relative_change, level.p_value), (0.0, 1.0));
    }
}
