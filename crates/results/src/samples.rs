//! Samples of bandwidth and IOPS, one value per window.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Values taken once per window, with their running mean and deviation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Samples {
    /// Number of values.
    pub count: u64,
    /// Smallest value; 0 without values.
    pub min: u64,
    /// Largest value; 0 without values.
    pub max: u64,
    /// Mean.
    pub mean: f64,
    /// Sum of the squared deviations.
    pub squared_deviations: f64,
    /// Each value with its end in ms since the start of the phase, for charts and statistics: `(at_ms, value)`.
    pub series: Vec<(u64, u64)>,
}

impl Samples {
    /// Adds the value of the window that ended `at_ms` after the start of the phase.
    pub fn record(&mut self, value: u64, at_ms: u64) {
        self.min = if self.count == 0 { value } else { self.min.min(value) };
        self.max = self.max.max(value);
        self.count += 1;
        let from_old_mean = value as f64 - self.mean;
        self.mean += from_old_mean / self.count as f64;
        self.squared_deviations += from_old_mean * (value as f64 - self.mean);
        self.series.push((at_ms, value));
    }

    /// Standard deviation of a sample (divided by n - 1); 0 with fewer than two values.
    pub fn deviation(&self) -> f64 {
        if self.count < 2 { 0.0 } else { (self.squared_deviations / (self.count - 1) as f64).sqrt() }
    }

    /// Adds another worker's samples as fio does for a group: windows coincide, so rates add up. Minimum, maximum,
    /// mean, squared deviations and count are sums over the members, so that `min` and `max` are bounds of the
    /// group's rate and the deviation is an estimate. The result has no series; those stay with the workers.
    pub fn add(&mut self, other: &Samples) {
        let Samples { count, min, max, mean, squared_deviations, series } = self;
        *count += other.count;
        *min += other.min;
        *max += other.max;
        *mean += other.mean;
        *squared_deviations += other.squared_deviations;
        series.clear();
    }
}

/// Adds up series of `(end in ms, rate)`. A window without an entry had no I/O and counts as rate 0.
pub fn added_up(series: &[&[(u64, u64)]]) -> Vec<f64> {
    let busy: Vec<&[(u64, u64)]> = series.iter().copied().filter(|series| !series.is_empty()).collect();
    let gaps = busy.iter().flat_map(|series| series.windows(2).map(|pair| pair[1].0.saturating_sub(pair[0].0)));
    let firsts = busy.iter().map(|series| series[0].0);
    let Some(window_ms) = gaps.chain(firsts).filter(|gap| *gap > 0).min() else { return Vec::new() };
    let place = |at_ms: u64| ((at_ms + window_ms / 2) / window_ms).saturating_sub(1) as usize;
    // Only as long as all series lasted, because a sum without one of them is another rate.
    let lasting = busy.iter().filter_map(|series| series.last()).map(|(at_ms, _)| place(*at_ms) + 1).min();
    let mut rates = vec![0.0; lasting.unwrap_or(0)];
    for (at_ms, rate) in busy.iter().flat_map(|series| series.iter()) {
        if let Some(sum) = rates.get_mut(place(*at_ms)) {
            *sum += *rate as f64;
        }
    }
    rates
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn running_figures_of_a_hand_computed_sample() {
        let mut samples = Samples::default();
        for (index, value) in [400, 408, 400].into_iter().enumerate() {
            samples.record(value, 500 * (index as u64 + 1));
        }
        assert_eq!((samples.count, samples.min, samples.max), (3, 400, 408));
        assert!((samples.mean - 1208.0 / 3.0).abs() < 1e-9);
        // Deviations -8/3, 16/3, -8/3: squares 384/9, over 2.
        assert!((samples.deviation() - (384.0f64 / 9.0 / 2.0).sqrt()).abs() < 1e-9);
        assert_eq!(samples.series, [(500, 400), (1000, 408), (1500, 400)]);
    }

    #[test]
    fn members_of_a_group_are_added() {
        let mut group = Samples::default();
        for values in [[10, 20], [1, 5]] {
            let mut member = Samples::default();
            values.iter().for_each(|value| member.record(*value, 500));
            group.add(&member);
        }
        assert_eq!((group.count, group.min, group.max, group.mean), (4, 11, 25, 18.0));
        assert!(group.series.is_empty());
    }

    #[test]
    fn workers_are_added_up_window_by_window() {
        let one = [(500, 10), (1001, 20), (1502, 30), (2003, 7)];
        let other = [(501, 1), (1000, 2), (1503, 3)];
        assert_eq!(added_up(&[&one, &other]), [11.0, 22.0, 33.0]);
        assert_eq!(added_up(&[&one, &[]]), [10.0, 20.0, 30.0, 7.0]);
        assert_eq!(added_up(&[]), [0.0; 0]);
    }

    #[test]
    fn a_window_without_io_is_zero() {
        assert_eq!(added_up(&[&[(100, 5), (200, 5), (500, 5)]]), [5.0, 5.0, 0.0, 0.0, 5.0]);
    }
}
