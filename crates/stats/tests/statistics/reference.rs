//! Compares the statistics with reference values; `vectors/statistics.json` says how each was made.

use fsdyno_stats::{
    Histogram, RankTest, coefficient_of_variation, drift, hodges_lehmann_shift, mann_whitney, mean, median,
    median_absolute_deviation, median_interval, percentile_interval, probability_of_superiority,
};
use serde::Deserialize;

#[derive(Deserialize)]
struct Vectors {
    mann_whitney: Vec<TestVector>,
    descriptive: Vec<DescriptiveVector>,
    drift: Vec<DriftVector>,
    percentile: Vec<PercentileVector>,
    median_interval: Vec<MedianVector>,
    shift: Vec<ShiftVector>,
}

#[derive(Deserialize)]
struct TestVector {
    first: Vec<f64>,
    second: Vec<f64>,
    #[serde(flatten)]
    expected: RankTest,
}

#[derive(Deserialize)]
struct DescriptiveVector {
    samples: Vec<f64>,
    mean: f64,
    median: f64,
    coefficient_of_variation: f64,
    median_absolute_deviation: f64,
}

#[derive(Deserialize)]
struct DriftVector {
    series: Vec<f64>,
    slope: f64,
    p_value: f64,
}

#[derive(Deserialize)]
struct PercentileVector {
    count: u64,
    percent: f64,
    confidence: f64,
    low_rank: usize,
    high_rank: usize,
    coverage: f64,
}

#[derive(Deserialize)]
struct MedianVector {
    samples: Vec<f64>,
    asked: f64,
    low: f64,
    high: f64,
    confidence: f64,
}

#[derive(Deserialize)]
struct ShiftVector {
    new: Vec<f64>,
    base: Vec<f64>,
    value: f64,
    low: f64,
    high: f64,
    confidence: f64,
}

fn vectors() -> Vectors {
    serde_json::from_str(include_str!("../vectors/statistics.json")).unwrap()
}

#[track_caller]
fn assert_close(found: f64, expected: f64, what: &str) {
    let tolerance = 1e-9 * expected.abs().max(1e-6);
    assert!((found - expected).abs() <= tolerance, "{what}: {found}, the reference has {expected}");
}

#[track_caller]
fn assert_same_test(found: RankTest, expected: RankTest, what: &str) {
    assert_eq!((found.statistic, found.exact), (expected.statistic, expected.exact), "{what}");
    assert_close(found.p_value, expected.p_value, what);
}

#[test]
fn rank_tests() {
    for TestVector { first, second, expected } in vectors().mann_whitney {
        let what = format!("Mann–Whitney of {first:?} and {second:?}");
        assert_same_test(mann_whitney(&first, &second).unwrap(), expected, &what);
        let pairs = (first.len() * second.len()) as f64;
        assert_close(probability_of_superiority(&first, &second).unwrap(), expected.statistic / pairs, &what);
    }
}

#[test]
fn centres_and_spreads() {
    for vector in vectors().descriptive {
        let DescriptiveVector { samples, mean: centre, median: middle, .. } = &vector;
        assert_close(mean(samples).unwrap(), *centre, "mean");
        assert_close(median(samples).unwrap(), *middle, "median");
        let variation = coefficient_of_variation(samples).unwrap();
        assert_close(variation, vector.coefficient_of_variation, "coefficient of variation");
        let deviation = median_absolute_deviation(samples).unwrap();
        assert_close(deviation, vector.median_absolute_deviation, "median absolute deviation");
    }
}

#[test]
fn drifts() {
    for DriftVector { series, slope, p_value } in vectors().drift {
        let found = drift(&series).unwrap();
        let middle = median(&series).unwrap();
        assert_close(found.relative_slope_per_second * middle, slope, "slope");
        assert_close(found.p_value, p_value, "p-value of Mann-Kendall");
    }
}

#[test]
fn percentile_intervals() {
    for vector in vectors().percentile {
        let PercentileVector { count, percent, confidence, low_rank, high_rank, coverage } = vector;
        // With at most as many values as buckets, each value has its own bucket, which is its rank. More values are
        // all in one bucket.
        let mut histogram = Histogram::new();
        let one_each = count <= 1800;
        if one_each {
            (0..count as usize).for_each(|bucket| histogram.add(bucket, 1));
        } else {
            histogram.add(7, count);
        }
        let found = percentile_interval(&histogram, percent, confidence).unwrap();
        let outside = |coverage: f64| 1.0 - coverage;
        let relative = outside(found.confidence) / outside(coverage) - 1.0;
        assert!(relative.abs() < 1e-4, "p{percent} of {count}: {found:?}, the reference covers {coverage}");
        if one_each {
            let bucket = |value: f64| fsdyno_stats::bucket_of(value as u64) + 1;
            assert_eq!((bucket(found.low), bucket(found.high)), (low_rank, high_rank), "p{percent} of {count}");
        }
    }
}

#[test]
fn median_intervals() {
    for MedianVector { samples, asked, low, high, confidence } in vectors().median_interval {
        let found = median_interval(&samples, asked).unwrap();
        assert_close(found.low, low, "low");
        assert_close(found.high, high, "high");
        assert_close(found.confidence, confidence, "confidence");
    }
}

#[test]
fn shifts() {
    for ShiftVector { new, base, value, low, high, confidence } in vectors().shift {
        let found = hodges_lehmann_shift(&new, &base, 0.95).unwrap();
        assert_close(found.value, value, "value");
        assert_close(found.interval.low, low, "low");
        assert_close(found.interval.high, high, "high");
        assert_close(found.interval.confidence, confidence, "confidence");
    }
}
