//! Merging loses nothing and needs no order; figures agree with exact arithmetic.

use fsdyno_results::{Histogram, Latency, Moments};
use proptest::prelude::*;

/// Latencies over the whole range, most of them in the usual range of files (1 ns to 17 s).
fn latency_ns() -> impl Strategy<Value = u64> {
    prop_oneof![
        4 => (0u32..34, any::<u64>()).prop_map(|(bits, noise)| (1 << bits) | (noise & ((1 << bits) - 1))),
        1 => Just(0),
        1 => any::<u32>().prop_map(u64::from),
    ]
}

fn latencies() -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(latency_ns(), 0..200)
}

fn latency_of(values: &[u64]) -> Latency {
    let mut latency = Latency::with_histogram();
    values.iter().for_each(|value| latency.record(*value));
    latency
}

fn sum(parts: &[&Latency]) -> Latency {
    let mut total = Latency::with_histogram();
    parts.iter().for_each(|part| total.merge(part));
    total
}

proptest! {
    #[test]
    fn merging_is_associative_commutative_and_complete(a in latencies(), b in latencies(), c in latencies()) {
        let all: Vec<u64> = [&a[..], &b, &c].concat();
        let (a, b, c) = (latency_of(&a), latency_of(&b), latency_of(&c));
        let together = latency_of(&all);
        prop_assert_eq!(&sum(&[&sum(&[&a, &b]), &c]), &together);
        prop_assert_eq!(&sum(&[&a, &sum(&[&b, &c])]), &together);
        prop_assert_eq!(&sum(&[&c, &b, &a]), &together);
        prop_assert_eq!(together.moments.count, all.len() as u64);
        prop_assert_eq!(together.histogram.unwrap().count(), all.len() as u64);
    }

    #[test]
    fn a_percentile_is_within_one_128th_of_the_exact_one(mut values in latencies(), percent in 1u32..=100) {
        prop_assume!(!values.is_empty());
        // Above the last bucket (17.1 s) there is no bound of the error.
        values.retain(|value| *value < 17_000_000_000);
        prop_assume!(!values.is_empty());
        let latency = latency_of(&values);
        values.sort_unstable();
        // 100 * rank >= percent * count. Rounding decides ties, so that one rank more is also right.
        let rank = (values.len() * percent as usize).div_ceil(100);
        let shown = latency.percentile(f64::from(percent)).unwrap();
        let near = |exact: u64| shown.abs_diff(exact) as f64 <= exact as f64 / 128.0;
        let next = *values.get(rank).unwrap_or(&values[rank - 1]);
        prop_assert!(near(values[rank - 1]) || near(next), "{} at {} %", shown, percent);
    }

    #[test]
    fn moments_agree_with_exact_arithmetic(values in prop::collection::vec(0u64..1 << 40, 2..100)) {
        let mut moments = Moments::default();
        values.iter().for_each(|value| moments.record(*value));
        let count = values.len() as i128;
        let total: i128 = values.iter().map(|value| i128::from(*value)).sum();
        // Sum of (n * x - total)^2, over n^2 * (n - 1).
        let scaled: i128 = values.iter().map(|value| (count * i128::from(*value) - total).pow(2)).sum();
        let exact = (scaled as f64 / (count * count * (count - 1)) as f64).sqrt();
        let deviation = moments.deviation().unwrap();
        prop_assert!((deviation - exact).abs() <= exact * 1e-12, "{} instead of {}", deviation, exact);
        let mean = moments.mean().unwrap();
        prop_assert!((mean - total as f64 / count as f64).abs() <= mean * 1e-12);
        prop_assert_eq!(moments.min(), values.iter().min().copied());
        prop_assert_eq!(moments.max(), values.iter().max().copied());
    }

    #[test]
    fn a_saved_latency_comes_back_the_same(values in latencies(), huge in any::<[u128; 2]>()) {
        let mut latency = latency_of(&values);
        let text = serde_json::to_string(&latency).unwrap();
        prop_assert_eq!(&serde_json::from_str::<Latency>(&text).unwrap(), &latency);
        // The record is also read through a value, where a number beyond 64 bits would be rounded.
        latency.moments.sum = huge[0];
        latency.moments.sum_of_squares = huge[1];
        let value = serde_json::to_value(&latency).unwrap();
        prop_assert_eq!(serde_json::from_value::<Latency>(value).unwrap(), latency);
    }
}

#[test]
fn a_histogram_is_saved_sparsely_and_refuses_unknown_buckets() {
    let mut histogram = Histogram::new();
    [5, 5, 1000].into_iter().for_each(|value| histogram.record(value));
    let text = serde_json::to_string(&histogram).unwrap();
    assert_eq!(text, "[[5,2],[317,1]]");
    assert_eq!(serde_json::from_str::<Histogram>(&text).unwrap(), histogram);
    let error = serde_json::from_str::<Histogram>("[[1856,1]]").unwrap_err().to_string();
    assert!(error.contains("bucket 1856 of a histogram of 1856"), "{error}");
}
