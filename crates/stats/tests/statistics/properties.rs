//! Properties that the statistics have for any numbers.

use fsdyno_stats::*;
use proptest::prelude::*;

fn samples(least: usize, most: usize) -> impl Strategy<Value = Vec<f64>> {
    // Whole numbers, so that there are ties and scaling is exact.
    prop::collection::vec((1u32..200).prop_map(f64::from), least..=most)
}

/// Series with every kind of float.
fn any_series() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(prop_oneof![prop::num::f64::ANY, Just(0.0), Just(1.0), Just(f64::MAX)], 0..80)
}

fn scaled(values: &[f64], factor: f64) -> Vec<f64> {
    values.iter().map(|value| value * factor).collect()
}

fn is_close(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-9 * expected.abs().max(1.0)
}

/// The two-sided p-value by counting all groups.
fn mann_whitney_by_counting(first: &[f64], second: &[f64]) -> f64 {
    let all = [first, second].concat();
    let superior = |group: u32| {
        let (of, others): (Vec<usize>, Vec<usize>) = (0..all.len()).partition(|index| group >> index & 1 == 1);
        let wins = |one: f64, other: f64| f64::from(u8::from(one > other)) + f64::from(u8::from(one == other)) / 2.0;
        of.iter().flat_map(|one| others.iter().map(|other| wins(all[*one], all[*other]))).sum::<f64>()
    };
    let groups: Vec<u32> =
        (0..1 << all.len()).filter(|group: &u32| group.count_ones() as usize == first.len()).collect();
    let observed = superior((1 << first.len()) - 1);
    let share = |holds: &dyn Fn(f64) -> bool| {
        groups.iter().filter(|group| holds(superior(**group))).count() as f64 / groups.len() as f64
    };
    (2.0 * share(&|u| u <= observed).min(share(&|u| u >= observed))).min(1.0)
}

proptest! {
    #[test]
    fn rank_tests_are_those_of_counting_all(first in samples(1, 6), second in samples(1, 6)) {
        let found = mann_whitney(&first, &second).unwrap();
        prop_assert!(is_close(found.p_value, mann_whitney_by_counting(&first, &second)), "{found:?}");
    }

    #[test]
    fn sides_can_be_swapped(first in samples(3, 40), second in samples(3, 40)) {
        let (one, other) = (mann_whitney(&first, &second).unwrap(), mann_whitney(&second, &first).unwrap());
        prop_assert!(is_close(one.p_value, other.p_value));
        prop_assert_eq!(one.statistic + other.statistic, (first.len() * second.len()) as f64);
        let (one, other) = (median_ratio(&first, &second, 0.95).unwrap(), median_ratio(&second, &first, 0.95).unwrap());
        prop_assert!(is_close(one.value * other.value, 1.0));
        prop_assert!(is_close(one.interval.low * other.interval.high, 1.0));
        let (one, other) =
            (shifted_ratio(&first, &second, 0.95).unwrap(), shifted_ratio(&second, &first, 0.95).unwrap());
        prop_assert!(is_close(one.value * other.value, 1.0));
        prop_assert!(is_close(one.interval.low * other.interval.high, 1.0));
        let pairs = first.len().min(second.len());
        let (first, second) = (&first[..pairs], &second[..pairs]);
        let (one, other) = (paired_ratio(first, second, 0.95).unwrap(), paired_ratio(second, first, 0.95).unwrap());
        prop_assert!(is_close(one.value * other.value, 1.0));
        prop_assert!(is_close(one.interval.low * other.interval.high, 1.0));
    }

    #[test]
    fn the_estimate_lies_in_its_interval(new in samples(3, 30), base in samples(3, 30), confidence in 0.01..0.999) {
        let inside = |estimate: Estimate| {
            let Interval { low, high, .. } = estimate.interval;
            let slack = 1e-9 * estimate.value.abs().max(1.0);
            low - slack <= estimate.value && estimate.value <= high + slack
        };
        prop_assert!(inside(median_ratio(&new, &base, confidence).unwrap()));
        prop_assert!(inside(hodges_lehmann_shift(&new, &base, confidence).unwrap()));
        let interval = median_interval(&new, confidence).unwrap();
        let of_median = Estimate { value: median(&new).unwrap(), interval };
        prop_assert!(inside(of_median));
        let pairs = new.len().min(base.len());
        prop_assert!(inside(paired_ratio(&new[..pairs], &base[..pairs], confidence).unwrap()));
    }

    #[test]
    fn more_confidence_is_a_wider_interval(values in samples(3, 30), less in 0.01..0.999, more in 0.01..0.999) {
        let (less, more) = if less <= more { (less, more) } else { (more, less) };
        let (inner, outer) = (median_interval(&values, less).unwrap(), median_interval(&values, more).unwrap());
        prop_assert!(outer.low <= inner.low + 1e-9 && inner.high <= outer.high + 1e-9, "{inner:?} {outer:?}");
        prop_assert!(inner.confidence <= outer.confidence + 1e-12, "{inner:?} {outer:?}");
    }

    #[test]
    fn another_unit_changes_no_judgement(series in samples(10, 80), power in -20i32..20) {
        let factor = 2.0f64.powi(power);
        let other = scaled(&series, factor);
        let interval = median_interval(&series, 0.95).unwrap();
        let scaled_interval = Interval { low: interval.low * factor, high: interval.high * factor, ..interval };
        prop_assert_eq!(median_interval(&other, 0.95), Some(scaled_interval));
        prop_assert_eq!(coefficient_of_variation(&other), coefficient_of_variation(&series));
        prop_assert_eq!(drift(&other), drift(&series));
        prop_assert_eq!(warm_up(&other, 0.05), warm_up(&series, 0.05));
        let sensitivity = Sensitivity { p_value_max: 0.2, ..Sensitivity::default() };
        let place = |series: &[f64]| change_point(series, &sensitivity).map(|change| (change.index, change.p_value));
        prop_assert_eq!(place(&other), place(&series));
    }

    #[test]
    fn a_percentile_lies_in_its_interval(
        latencies in prop::collection::vec(0u64..10_000_000, 10..500),
        percent in 1.0..99.0,
    ) {
        let mut histogram = Histogram::new();
        latencies.iter().for_each(|latency| histogram.record(*latency));
        let needed = samples_needed(percent, 0.95).unwrap();
        match percentile_interval(&histogram, percent, 0.95) {
            Ok(found) => {
                prop_assert!(latencies.len() as u64 >= needed && found.confidence >= 0.95);
                prop_assert!(found.contains(histogram.percentile(percent).unwrap() as f64), "{found:?}");
            }
            Err(reason) => prop_assert!((latencies.len() as u64) < needed, "{reason}"),
        }
    }

    #[test]
    fn no_number_is_too_strange(series in any_series(), other in any_series(), parameter in prop::num::f64::ANY) {
        let _ = (mean(&series), coefficient_of_variation(&series), median_absolute_deviation(&series));
        let _ = (median_interval(&series, parameter), bootstrap_mean_interval(&series, parameter, 1));
        let _ = (mann_whitney(&series, &other), shifted_ratio(&series, &other, parameter));
        let _ = (median_ratio(&series, &other, parameter), paired_ratio(&series, &series, parameter));
        let _ = hodges_lehmann_shift(&series, &other, parameter);
        let sensitivity = Sensitivity { segment_min: 0, change_min: parameter, p_value_max: parameter };
        let _ = (change_point(&series, &sensitivity), drift(&series), flat_plateau(&series));
        let _ = warm_up(&series, parameter);
        let points = series.iter().zip(&other).map(|(load, other)| LoadPoint {
            load: *load,
            throughputs: vec![*other; 3],
            latency: *load,
        });
        let _ = knee(&points.collect::<Vec<_>>(), parameter);
        let mut histogram = Histogram::new();
        series.iter().for_each(|value| histogram.record(value.to_bits()));
        let _ = percentile_interval(&histogram, parameter, 0.95);
    }
}
