//! Centre and spread of values.

/// The arithmetic mean. `None` without samples or if one is not finite.
pub fn mean(samples: &[f64]) -> Option<f64> {
    all_finite(samples).then(|| samples.iter().sum::<f64>() / samples.len() as f64)
}

/// The middle value, or the mean of the two middle ones. `None` without samples or if one is not finite.
pub fn median(samples: &[f64]) -> Option<f64> {
    sorted(samples).map(|sorted| median_of_sorted(&sorted))
}

/// Standard deviation (divided by n - 1) divided by the absolute mean: 0.05 is 5 %. `None` below two samples, if one
/// is not finite, or if the mean is 0.
pub fn coefficient_of_variation(samples: &[f64]) -> Option<f64> {
    let mean = mean(samples).filter(|mean| *mean != 0.0 && samples.len() > 1)?;
    let squares: f64 = samples.iter().map(|sample| (sample - mean).powi(2)).sum();
    Some((squares / (samples.len() - 1) as f64).sqrt() / mean.abs())
}

/// The median distance from the median, in the samples' unit and not scaled: for normal noise, 1.4826 times this is
/// the standard deviation. `None` without samples or if one is not finite.
pub fn median_absolute_deviation(samples: &[f64]) -> Option<f64> {
    let centre = median(samples)?;
    median(&samples.iter().map(|sample| (sample - centre).abs()).collect::<Vec<_>>())
}

/// Whether there are samples and all are finite.
pub(super) fn all_finite(samples: &[f64]) -> bool {
    !samples.is_empty() && samples.iter().all(|sample| sample.is_finite())
}

/// The samples in ascending order. `None` without samples or if one is not finite.
pub(super) fn sorted(samples: &[f64]) -> Option<Vec<f64>> {
    all_finite(samples).then(|| ascending(samples.to_vec()))
}

/// The values in ascending order.
pub(super) fn ascending(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_unstable_by(f64::total_cmp);
    values
}

/// The median of ascending values; there must be at least one.
pub(super) fn median_of_sorted(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[middle] } else { f64::midpoint(sorted[middle - 1], sorted[middle]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hand_computed() {
        let samples = [4.0, 1.0, 3.0, 100.0];
        assert_eq!(mean(&samples), Some(27.0));
        assert_eq!(median(&samples), Some(3.5));
        assert_eq!(median(&[5.0, 1.0, 2.0]), Some(2.0));
        // Distances 0.5, 2.5, 0.5, 96.5.
        assert_eq!(median_absolute_deviation(&samples), Some(1.5));
        // The deviation of 9 and 11 is the root of 2.
        assert_eq!(coefficient_of_variation(&[9.0, 11.0]), Some(2.0f64.sqrt() / 10.0));
        assert_eq!(coefficient_of_variation(&[-9.0, -11.0]), Some(2.0f64.sqrt() / 10.0));
    }

    #[test]
    fn what_cannot_be_said_is_none() {
        for samples in [&[][..], &[1.0, f64::NAN], &[1.0, f64::INFINITY]] {
            assert_eq!(mean(samples), None);
            assert_eq!(median(samples), None);
            assert_eq!(median_absolute_deviation(samples), None);
            assert_eq!(coefficient_of_variation(samples), None);
        }
        assert_eq!(coefficient_of_variation(&[3.0]), None);
        assert_eq!(coefficient_of_variation(&[-1.0, 1.0]), None);
    }
}
