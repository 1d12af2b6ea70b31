//! Values that stand apart. They are named, never dropped.

use serde::{Deserialize, Serialize};

use super::descriptive::{median, median_absolute_deviation};

/// A value that stands apart.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outlier {
    /// Its index.
    pub index: usize,
    /// Itself.
    pub value: f64,
    /// Distance from the median in median absolute deviations, below 0 under the median; `None` when more than half of
    /// the values are equal, so that there is no deviation to measure with.
    pub deviations: Option<f64>,
}

/// How many median absolute deviations from the median an outlier lies: ten standard deviations of normal noise. As high
/// as this, ordinary noise never alarms anybody, and it is the bar that users of hyperfine know.
pub const OUTLIER_DISTANCE: f64 = 14.826;

/// The values more than [`OUTLIER_DISTANCE`] median absolute deviations, and more than `change_min` of the median (0.1
/// is 10 %), away from the median: modified z-scores (B. Iglewicz and D. C. Hoaglin, "How to Detect and Handle
/// Outliers", 1993). The second condition keeps quiet about differences that matter to nobody, which very even values
/// make look large. Empty below three values or when one is not finite.
pub fn outliers(samples: &[f64], change_min: f64) -> Vec<Outlier> {
    let centre_and_deviation = median(samples).zip(median_absolute_deviation(samples));
    let Some((centre, deviation)) = centre_and_deviation.filter(|_| samples.len() >= 3) else {
        return Vec::new();
    };
    let judge = |(index, value): (usize, &f64)| {
        let distance = value - centre;
        let stands_apart = distance.abs() > OUTLIER_DISTANCE * deviation && distance.abs() > change_min * centre.abs();
        let deviations = (deviation > 0.0).then(|| distance / deviation);
        stands_apart.then_some(Outlier { index, value: *value, deviations })
    };
    samples.iter().enumerate().filter_map(judge).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::random::noise::{Shape, share};

    #[test]
    fn a_value_apart_is_named_with_its_distance() {
        // Median 100, deviations 1 2 0 1 60 1: median 1.
        let found = outliers(&[99.0, 102.0, 100.0, 101.0, 40.0, 100.0, 99.0], 0.1);
        assert_eq!(found, [Outlier { index: 4, value: 40.0, deviations: Some(-60.0) }]);
    }

    #[test]
    fn very_even_values_do_not_make_small_differences_large() {
        let even = [100.0, 100.0, 100.0, 100.0, 103.0];
        assert_eq!(outliers(&even, 0.1), []);
        assert_eq!(outliers(&even, 0.01), [Outlier { index: 4, value: 103.0, deviations: None }]);
        assert_eq!(outliers(&[5.0; 8], 0.0), []);
    }

    #[test]
    fn ordinary_noise_alarms_nobody() {
        let alarms = share(2000, |random| !outliers(&random.samples(Shape::Normal, 8), 0.1).is_empty());
        assert!(alarms < 0.01, "{alarms}");
    }

    #[test]
    fn what_cannot_be_said_is_empty() {
        assert_eq!(outliers(&[1.0, 1000.0], 0.1), []);
        assert_eq!(outliers(&[1.0, 1.0, f64::NAN, 1e9], 0.1), []);
    }
}
