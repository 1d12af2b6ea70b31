//! Finds a part of a series that is too even for storage, so that a limit must cause it.

use serde::{Deserialize, Serialize};

/// A stretch of nearly equal values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plateau {
    /// Index of its first value.
    pub start: usize,
    /// Number of values.
    pub length: usize,
    /// Their mean: the limit, if there is one.
    pub mean: f64,
    /// Their standard deviation divided by their mean.
    pub coefficient_of_variation: f64,
}

/// Smallest number of values in a plateau.
pub const PLATEAU_SAMPLES: usize = 20;

/// The coefficient of variation of a plateau is below this.
pub const PLATEAU_VARIATION: f64 = 0.01;

/// The longest stretch of at least [`PLATEAU_SAMPLES`] values whose coefficient of variation is below
/// [`PLATEAU_VARIATION`]. A limit (of a cloud disk, a control group, a link) looks like this; storage without a limit
/// seldom does. A paced job looks like this, too, but then the user has asked for the rate.
///
/// Stretches grow from left to right and do not overlap. `None` if there is none. A stretch of zeros is a stall and
/// not a limit, and a value that is not finite ends a stretch.
pub fn flat_plateau(series: &[f64]) -> Option<Plateau> {
    let mut longest: Option<Plateau> = None;
    let mut start = 0;
    while start + PLATEAU_SAMPLES <= series.len() {
        let Some(found) = plateau_from(series, start) else {
            start += 1;
            continue;
        };
        start += found.length;
        longest = longest.filter(|longest| longest.length >= found.length).or(Some(found));
    }
    longest
}

/// The stretch that begins at `start` and continues as long as the values are even.
fn plateau_from(series: &[f64], start: usize) -> Option<Plateau> {
    // Welford's running mean and squares are used, because sums of squares of large rates would cancel.
    let (mut mean, mut squares) = (0.0, 0.0);
    let mut found = None;
    for (value, length) in series[start..].iter().zip(1..) {
        let from_old_mean = value - mean;
        mean += from_old_mean / length as f64;
        squares += from_old_mean * (value - mean);
        if length < PLATEAU_SAMPLES {
            continue;
        }
        let coefficient_of_variation = (squares / (length - 1) as f64).sqrt() / mean.abs();
        // With a mean of 0 it is NaN, which is no plateau either.
        if coefficient_of_variation.is_nan() || coefficient_of_variation >= PLATEAU_VARIATION {
            break;
        }
        found = Some(Plateau { start, length, mean, coefficient_of_variation });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coefficient_of_variation;
    use crate::random::Random;
    use crate::random::noise::share;

    fn noisy(random: &mut Random, level: f64, variation: f64, count: usize) -> Vec<f64> {
        (0..count).map(|_| level * (1.0 + variation * random.normal())).collect()
    }

    #[test]
    fn a_cap_after_a_burst_is_found() {
        let mut random = Random::new(1);
        let series = [noisy(&mut random, 9e9, 0.2, 15), noisy(&mut random, 3e9, 0.003, 40)].concat();
        let plateau = flat_plateau(&series).unwrap();
        assert!((14..=16).contains(&plateau.start) && plateau.start + plateau.length == 55, "{plateau:?}");
        assert!((plateau.mean / 3e9 - 1.0).abs() < 0.01, "{plateau:?}");
        let variation = coefficient_of_variation(&series[plateau.start..]).unwrap();
        assert!((plateau.coefficient_of_variation / variation - 1.0).abs() < 1e-9, "{plateau:?}");
    }

    #[test]
    fn the_longest_of_several_wins() {
        let series = [vec![100.0; 25], vec![50.0; 31], vec![70.0; 22]].concat();
        let plateau = flat_plateau(&series).unwrap();
        assert!(plateau.mean < 51.0 && plateau.length >= 30, "{plateau:?}");
    }

    #[test]
    fn nineteen_equal_values_are_not_enough() {
        let series = [vec![100.0; 19], vec![50.0; 19]].concat();
        assert_eq!(flat_plateau(&series), None);
        assert_eq!(flat_plateau(&series[..19]), None);
    }

    #[test]
    fn ordinary_noise_is_no_plateau() {
        let found = share(200, |random| flat_plateau(&noisy(random, 100.0, 0.03, 120)).is_some());
        assert_eq!(found, 0.0);
    }

    #[test]
    fn a_stall_is_not_a_cap() {
        assert_eq!(flat_plateau(&[0.0; 60]), None);
        assert_eq!(flat_plateau(&[f64::NAN; 60]), None);
    }
}
