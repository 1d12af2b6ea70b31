//! Reads real reports of fio into records: printing these must give the same text again.

pub(crate) mod json;
pub(crate) mod normal;

use fsdyno_results::{BUCKETS, Histogram, Moments, Samples, bucket_of, bucket_value};

/// Moments with these figures, as far as whole sums allow them.
pub(crate) fn moments(count: u64, min: u64, max: u64, mean: f64, deviation: f64) -> Moments {
    let sum = (mean * count as f64).round() as u128;
    let around_mean = deviation * deviation * (count as f64 - 1.0).max(0.0);
    let sum_of_squares = (around_mean + sum as f64 * (sum as f64 / count as f64)).round();
    // The sum of squares is computed in integers: from 2^53 on a float would lose the deviation.
    let whole = sum / u128::from(count);
    let rest = sum % u128::from(count);
    let around_whole = around_mean + (rest * rest) as f64 / count as f64;
    let exact = whole * (sum - rest) + 2 * whole * rest + around_whole.round() as u128;
    assert!((exact as f64 - sum_of_squares).abs() <= sum_of_squares * 1e-6 + 1.0);
    Moments { count, min, max, sum, sum_of_squares: exact }
}

/// Samples with the given figures.
pub(crate) fn samples(count: u64, min: u64, max: u64, mean: f64, deviation: f64) -> Samples {
    let squared_deviations = deviation * deviation * (count as f64 - 1.0).max(0.0);
    Samples { count, min, max, mean, squared_deviations, series: Vec::new() }
}

/// A histogram of `count` values with these values at these percentiles.
pub(crate) fn histogram(count: u64, percentiles: &[(f64, u64)]) -> Histogram {
    let mut histogram = Histogram::new();
    let mut placed = 0;
    for (index, (_, value)) in percentiles.iter().enumerate() {
        // As many values as the next percentile has below it.
        let below = match percentiles.get(index + 1) {
            Some((_, next)) if next == value => continue,
            Some((percent, _)) => (percent / 100.0 * count as f64).ceil() as u64 - 1,
            None => count,
        };
        histogram.add(bucket_of(*value), below - placed);
        placed = below;
    }
    histogram
}

/// A bucket's value that is shown as `shown` after `steps` divisions by 1000, each rounded up.
pub(crate) fn value_shown_as(shown: u64, steps: u32) -> u64 {
    (0..BUCKETS)
        .map(bucket_value)
        .find(|value| (0..steps).fold(*value, |value, _| value.div_ceil(1000)) == shown)
        .unwrap_or_else(|| panic!("no bucket is shown as {shown}"))
}

/// Counts that are shown as these percentages of `total`; a share at the floor was a single I/O.
pub(crate) fn counts<const N: usize>(shares: [f64; N], total: u64, floor: f64) -> [u64; N] {
    shares.map(|share| {
        if share == 0.0 {
            0
        } else if share <= floor {
            1
        } else {
            (share * total as f64 / 100.0).round() as u64
        }
    })
}

/// Numbers of calls that are shown as these percentages; their total is not printed. A share at the floor is the rest.
pub(crate) fn calls(shares: [f64; 7]) -> [u64; 7] {
    let left = 100.0 - shares.iter().filter(|share| **share > 0.1).sum::<f64>();
    shares.map(|share| {
        let share = if share > 0.0 && share <= 0.1 { left.clamp(0.0001, 0.1) } else { share };
        (share * 1e6).round() as u64
    })
}

/// The text of a sample.
pub(crate) fn sample(name: &str) -> String {
    let path = format!("{}/tests/fio/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}
