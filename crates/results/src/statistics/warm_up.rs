//! How much of a series' beginning is not yet what follows.

use super::descriptive::{mean, median, sorted};

/// The fewest values whose beginning can be told from the rest.
const VALUES_MIN: usize = 10;

/// From this length on, five values at a time are looked at as one.
const BATCHED_FROM: usize = 50;

/// Where neighbours differ by this many standard deviations, it is more than noise.
const NOISE_DEVIATIONS: f64 = 3.0;

/// The index of the first value after the warm-up: 0 when it was warm from the start, `None` when it had not settled by
/// the middle of the series, below ten values, or when one is not finite.
///
/// First MSER: cut where the standard error of the mean of what remains is smallest, within the first half (K. P. White,
/// "An effective truncation heuristic for bias reduction in simulation output", Simulation 69, 1997, 323–334). Series
/// of fifty and more are cut at multiples of five (MSER-5), here of the medians of five. Then back from the cut, as far
/// as values, in medians of three, are within `tolerance` (0.05 is 5 %) or three standard deviations of the rest's
/// median: a lucky cut in the noise is no warm-up, and neither is a single stall.
///
/// It answers for the beginning only: whether the rest stays level is for [`change_point`](super::change_point()) and
/// [`drift`](super::drift()).
pub fn warm_up_end(series: &[f64], tolerance: f64) -> Option<usize> {
    sorted(series).filter(|sorted| sorted.len() >= VALUES_MIN)?;
    let batch = if series.len() >= BATCHED_FROM { 5 } else { 1 };
    let values: Vec<f64> = series.chunks_exact(batch).filter_map(median).collect();
    let half = values.len() / 2;
    let (cut, _) = (0..=half).map(|cut| (cut, squared_error(&values[cut..]))).min_by(|a, b| a.1.total_cmp(&b.1))?;
    let rest = &values[cut..];
    let usual = median(rest)?;
    let near = (tolerance * usual.abs()).max(NOISE_DEVIATIONS * noise(rest)?);
    let is_far = |index: &usize| {
        let around = &values[index.saturating_sub(1)..=index + 1];
        median(around).is_some_and(|level| (level - usual).abs() > near)
    };
    let end = (0..cut).rev().find(is_far).map_or(0, |last| last + 1);
    (end == 0 || end < half).then_some(end * batch)
}

/// The standard deviation of the noise, from the distances between neighbours, which a slow change hardly adds to.
/// 1.4826 makes a median distance a deviation, that of a difference is sqrt(2) times that of a value.
fn noise(values: &[f64]) -> Option<f64> {
    let steps: Vec<f64> = values.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
    Some(median(&steps)? * 1.4826 / std::f64::consts::SQRT_2)
}

/// The squared standard error of the mean, without the factor that all cuts share.
fn squared_error(values: &[f64]) -> f64 {
    let centre = mean(values).unwrap_or_default();
    let squares: f64 = values.iter().map(|value| (value - centre).powi(2)).sum();
    squares / (values.len() as f64).powi(2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::random::Random;
    use crate::statistics::random::noise::share;

    /// 5 % noise around a level that rises from half with a time constant.
    fn warming(random: &mut Random, time_constant: f64, count: usize) -> Vec<f64> {
        let level = |second: usize| 100.0 * (1.0 - 0.5 * (-(second as f64) / time_constant).exp());
        (0..count).map(|second| level(second) * (1.0 + 0.05 * random.normal())).collect()
    }

    #[test]
    fn a_ramp_is_cut_off() {
        assert_eq!(warm_up_end(&[50.0, 80.0, 100.0, 101.0, 99.0, 100.0, 99.5, 100.5, 101.0, 100.0], 0.05), Some(2));
        let hits = share(200, |random| {
            // At 10 s the level is 93 %, at 25 s 99.7 %.
            warm_up_end(&warming(random, 5.0, 60), 0.05).is_some_and(|end| (5..=25).contains(&end))
        });
        assert!(hits > 0.95, "{hits}");
    }

    #[test]
    fn noise_and_single_stalls_are_no_warm_up() {
        for count in [10, 30, 60, 300] {
            let kept = share(200, |random| warm_up_end(&warming(random, 1e-6, count + 1)[1..], 0.05) == Some(0));
            assert!(kept > 0.95, "{count} values: {kept}");
        }
        let mut series = vec![100.0; 60];
        series[7] = 1.0;
        assert_eq!(warm_up_end(&series, 0.05), Some(0));
        let mut series = vec![100.0; 20];
        series[7] = 1.0;
        assert_eq!(warm_up_end(&series, 0.05), Some(0));
    }

    #[test]
    fn what_never_settles_has_no_end() {
        let rising: Vec<f64> = (1..=60).map(f64::from).collect();
        assert_eq!(warm_up_end(&rising, 0.05), None);
        let late_step = [vec![50.0; 40], vec![100.0; 20]].concat();
        assert_ne!(warm_up_end(&late_step, 0.05), Some(40));
    }

    #[test]
    fn what_cannot_be_said_is_none() {
        assert_eq!(warm_up_end(&[1.0; 9], 0.05), None);
        assert_eq!(warm_up_end(&[f64::NAN; 20], 0.05), None);
        assert_eq!(warm_up_end(&[0.0; 20], 0.05), Some(0));
    }
}
