//! Finds the length of the warm-up at the beginning of a series.

use super::descriptive::{mean, median, sorted};

/// Smallest number of values in which a beginning can be separated from the rest.
const VALUES_MIN: usize = 10;

/// From this length on, the medians of five values each are used.
const BATCHED_FROM: usize = 50;

/// A distance of this number of standard deviations between neighbours is more than noise.
const NOISE_DEVIATIONS: f64 = 3.0;

/// The beginning is another level if its distance from the rest's median is this number of times the largest distance
/// of a value of the rest. A series that wanders slowly also begins at another value.
const RANGES: f64 = 2.5;

/// The same for a series below [`SHORT`] values, which shows little of its range.
const RANGES_OF_SHORT: f64 = 5.0;
const SHORT: usize = 20;

/// The kind of beginning of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarmUp {
    /// The beginning has the same level as the rest.
    Level,
    /// The beginning has another level, up to this index.
    Until(usize),
    /// The series had not settled at its middle.
    Unsettled,
    /// It may be a warm-up, but the series also wanders as far later.
    CannotTell,
}

/// Whether the beginning of a series is a warm-up. `None` below ten values, or if one is not finite.
///
/// First MSER: the series is cut where the standard error of the mean of the rest is smallest, within the first half
/// (K. P. White, "An effective truncation heuristic for bias reduction in simulation output", Simulation 69, 1997,
/// 323–334). Series of fifty and more values are cut at multiples of five (MSER-5), here of the medians of five. Then
/// the cut moves back as long as the values, as medians of three, are within `tolerance` (0.05 is 5 %) or three
/// standard deviations of the rest's median, because a cut by chance in the noise is no warm-up, and a single stall
/// is none either. The beginning must lie far beyond the range of the rest. docs/measurement.md shows how often a
/// level series is still said to warm up.
///
/// The result is about the beginning only: for the rest use [`change_point`](super::change_point()) and
/// [`drift`](super::drift()).
pub fn warm_up(series: &[f64], tolerance: f64) -> Option<WarmUp> {
    sorted(series).filter(|sorted| sorted.len() >= VALUES_MIN)?;
    let batch = if series.len() >= BATCHED_FROM { 5 } else { 1 };
    let values: Vec<f64> = series.chunks_exact(batch).filter_map(median).collect();
    let half = values.len() / 2;
    let (cut, _) = (0..=half).map(|cut| (cut, squared_error(&values[cut..]))).min_by(|a, b| a.1.total_cmp(&b.1))?;
    let rest = &values[cut..];
    let usual = median(rest)?;
    let end_of = |near: f64| {
        let is_far = |index: &usize| {
            let around = &values[index.saturating_sub(1)..=index + 1];
            median(around).is_some_and(|level| (level - usual).abs() > near)
        };
        (0..cut).rev().find(is_far).map_or(0, |last| last + 1)
    };
    let near = (tolerance * usual.abs()).max(NOISE_DEVIATIONS * noise(rest)?);
    let range = rest.iter().map(|value| (value - usual).abs()).fold(0.0, f64::max);
    let ranges = if series.len() < SHORT { RANGES_OF_SHORT } else { RANGES };
    Some(match end_of(near) {
        0 => WarmUp::Level,
        _ if end_of(near.max(ranges * range)) == 0 => WarmUp::CannotTell,
        end if end < half => WarmUp::Until(end * batch),
        _ => WarmUp::Unsettled,
    })
}

/// The standard deviation of the noise, from the distances between neighbours, to which a slow change adds little. A
/// median distance times 1.4826 is a deviation; the deviation of a difference is sqrt(2) times that of a value.
fn noise(values: &[f64]) -> Option<f64> {
    let steps: Vec<f64> = values.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
    Some(median(&steps)? * 1.4826 / std::f64::consts::SQRT_2)
}

/// The squared standard error of the mean, without the factor that all cuts have in common.
fn squared_error(values: &[f64]) -> f64 {
    let centre = mean(values).unwrap_or_default();
    let squares: f64 = values.iter().map(|value| (value - centre).powi(2)).sum();
    squares / (values.len() as f64).powi(2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::random::noise::share;

    /// A level that rises from half with this time constant, with 5 % noise.
    fn warming(random: &mut Random, time_constant: f64, count: usize) -> Vec<f64> {
        let level = |second: usize| 100.0 * (1.0 - 0.5 * (-(second as f64) / time_constant).exp());
        (0..count).map(|second| level(second) * (1.0 + 0.05 * random.normal())).collect()
    }

    #[test]
    fn a_ramp_is_cut_off() {
        assert_eq!(
            warm_up(&[50.0, 80.0, 100.0, 101.0, 99.0, 100.0, 99.5, 100.5, 101.0, 100.0], 0.05),
            Some(WarmUp::Until(2))
        );
        let hits = share(200, |random| {
            // At 10 s the level is 93 %, at 25 s 99.7 %.
            warm_up(&warming(random, 5.0, 60), 0.05).is_some_and(|found| matches!(found, WarmUp::Until(5..=25)))
        });
        assert!(hits > 0.95, "{hits}");
    }

    #[test]
    fn noise_and_single_stalls_are_no_warm_up() {
        for count in [10, 30, 60, 300] {
            let kept =
                share(200, |random| warm_up(&warming(random, 1e-6, count + 1)[1..], 0.05) == Some(WarmUp::Level));
            assert!(kept > 0.95, "{count} values: {kept}");
        }
        let mut series = vec![100.0; 60];
        series[7] = 1.0;
        assert_eq!(warm_up(&series, 0.05), Some(WarmUp::Level));
        let mut series = vec![100.0; 20];
        series[7] = 1.0;
        assert_eq!(warm_up(&series, 0.05), Some(WarmUp::Level));
    }

    #[test]
    fn what_never_settles_has_no_end() {
        let rising: Vec<f64> = (1..=60).map(f64::from).collect();
        assert_eq!(warm_up(&rising, 0.05), Some(WarmUp::Unsettled));
        let late_step = [vec![50.0; 40], vec![100.0; 20]].concat();
        assert_ne!(warm_up(&late_step, 0.05), Some(WarmUp::Until(40)));
    }

    #[test]
    fn what_cannot_be_said_is_none() {
        assert_eq!(warm_up(&[1.0; 9], 0.05), None);
        assert_eq!(warm_up(&[f64::NAN; 20], 0.05), None);
        assert_eq!(warm_up(&[0.0; 20], 0.05), Some(WarmUp::Level));
    }
}
