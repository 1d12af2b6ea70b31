//! The confidence interval of the mean of a series with autocorrelation.

use super::Interval;
use super::descriptive::{ascending, mean};
use super::random::Random;

/// Number of resampled series for each interval.
const RESAMPLES: usize = 2000;

/// Smallest number of values that are resampled.
const VALUES_MIN: usize = 10;

/// An interval for the mean of a series of equally long windows, such as a rate second by second. It is the circular
/// block bootstrap (D. N. Politis and J. P. Romano, "A circular block-resampling procedure for stationary data", in
/// "Exploring the Limits of Bootstrap", 1992, 263–270) with blocks of sqrt(n) values, so that a burst of some seconds
/// stays a burst. The quantiles' distances from the mean are widened by sqrt(b / (b - 1)) for b blocks, which
/// corrects the bias of a variance of b values.
///
/// `None` below ten values, if one is not finite, or if `confidence` is not between 0 and 1. The same `seed` gives
/// the same interval. For the repeats of a run, which are few and independent, use
/// [`median_interval`](super::median_interval()).
///
/// Simulated coverage at 95 % for 60 values: 0.93 if they are independent, 0.88 if neighbours correlate with 0.5,
/// 0.83 with 0.7. It is a lower bound of the uncertainty, because one run never shows how much runs differ.
pub fn bootstrap_mean_interval(series: &[f64], confidence: f64, seed: u64) -> Option<Interval> {
    let asked = Some(confidence).filter(|confidence| *confidence > 0.0 && *confidence < 1.0)?;
    let n = series.len();
    let centre = mean(series).filter(|_| n >= VALUES_MIN)?;
    let block = (n as f64).sqrt().ceil() as usize;
    let mut random = Random::new(seed);
    let means = ascending((0..RESAMPLES).map(|_| resampled_mean(series, block, &mut random)).collect());
    let blocks = n as f64 / block as f64;
    let widened = |value: f64| centre + (value - centre) * (blocks / (blocks - 1.0)).sqrt();
    let tail = ((1.0 - asked) / 2.0 * RESAMPLES as f64) as usize;
    Some(Interval { low: widened(means[tail]), high: widened(means[RESAMPLES - 1 - tail]), confidence: asked })
}

/// The mean of a series of the same length, drawn in blocks that continue from the end to the beginning.
fn resampled_mean(series: &[f64], block: usize, random: &mut Random) -> f64 {
    let n = series.len();
    let mut sum = 0.0;
    let mut missing = n;
    while missing > 0 {
        let start = random.below(n);
        let length = block.min(missing);
        let behind = (start + length).saturating_sub(n);
        sum += series[start..start + length - behind].iter().chain(&series[..behind]).sum::<f64>();
        missing -= length;
    }
    sum / n as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::noise::share;

    /// Mean 100, deviation 10; each value keeps the share `memory` of the one before.
    fn series(random: &mut Random, memory: f64, count: usize) -> Vec<f64> {
        random.series(memory, count).iter().map(|state| 100.0 + 10.0 * state).collect()
    }

    #[test]
    fn coverage_is_what_the_documentation_says() {
        for (memory, least, most) in [(0.0, 0.90, 0.96), (0.5, 0.84, 0.92)] {
            let covered = share(300, |random| {
                let series = series(random, memory, 60);
                bootstrap_mean_interval(&series, 0.95, 7).is_some_and(|found| found.contains(100.0))
            });
            assert!((least..most).contains(&covered), "memory {memory}: {covered}");
        }
    }

    #[test]
    fn a_seed_is_an_interval() {
        let series = series(&mut Random::new(1), 0.3, 60);
        let interval = |seed| bootstrap_mean_interval(&series, 0.95, seed).unwrap();
        assert_eq!(interval(1), interval(1));
        assert_ne!(interval(1), interval(2));
        assert!(interval(1).contains(mean(&series).unwrap()));
    }

    #[test]
    fn a_constant_series_has_no_width() {
        let interval = bootstrap_mean_interval(&[4.0; 20], 0.95, 1).unwrap();
        assert_eq!((interval.low, interval.high), (4.0, 4.0));
    }

    #[test]
    fn what_cannot_be_said_is_none() {
        assert_eq!(bootstrap_mean_interval(&[1.0; 9], 0.95, 1), None);
        assert_eq!(bootstrap_mean_interval(&[f64::NAN; 20], 0.95, 1), None);
        assert_eq!(bootstrap_mean_interval(&[1.0; 20], 95.0, 1), None);
    }
}
