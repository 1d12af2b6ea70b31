//! Figures derived from the counters of one direction, rounded as fio rounds them.

use crate::record::{DirectionRecord, Latency, PriorityRecord};
use fsdyno_stats::Histogram;

impl DirectionRecord {
    /// Bytes per second, rounded down; 0 without runtime.
    pub fn bandwidth(&self) -> u64 {
        per_second(self.bytes, self.runtime_ms)
    }

    /// I/Os per second; 0 without runtime.
    pub fn iops(&self) -> f64 {
        if self.runtime_ms == 0 { 0.0 } else { self.ios as f64 * 1000.0 / self.runtime_ms as f64 }
    }

    /// The latency of this direction: from start to reap if that distribution was kept, otherwise from issue to reap.
    /// `None`: no distribution was kept.
    pub fn latency(&self) -> Option<&Latency> {
        let kept = |latency: &&Latency| latency.histogram.is_some() && latency.moments.count > 0;
        [&self.lat, &self.clat].into_iter().find(kept)
    }

    /// The latency that answers show. For a paced job it counts from the intended start, so that a slow request is
    /// not hidden by the requests that waited for it.
    pub fn response_or_latency(&self) -> Option<&Latency> {
        let kept = |latency: &&Latency| latency.histogram.is_some() && latency.moments.count > 0;
        self.response.as_ref().filter(kept).or_else(|| self.latency())
    }

    /// I/Os per second, rounded down, as the normal and terse reports show them.
    pub fn iops_whole(&self) -> u64 {
        per_second(self.ios, self.runtime_ms)
    }

    /// Adds the transfers of another worker in this direction. Counts add up; the longest runtime is kept.
    pub fn merge(&mut self, other: &DirectionRecord) {
        let DirectionRecord {
            bytes,
            ios,
            short_ios,
            dropped_ios,
            runtime_ms,
            slat,
            clat,
            lat,
            response,
            bandwidth_samples,
            iops_samples,
            priorities,
        } = self;
        for more in &other.priorities {
            match priorities.iter_mut().find(|one| one.is_that_of(more)) {
                Some(one) => one.latency.merge(&more.latency),
                None => priorities.push(more.clone()),
            }
        }
        *response = merge_all_or_none(response.take(), other.response.as_ref(), *ios, other.ios, Latency::merge);
        *bytes += other.bytes;
        *ios += other.ios;
        *short_ios += other.short_ios;
        *dropped_ios += other.dropped_ios;
        *runtime_ms = (*runtime_ms).max(other.runtime_ms);
        slat.merge(&other.slat);
        clat.merge(&other.clat);
        lat.merge(&other.lat);
        bandwidth_samples.add(&other.bandwidth_samples);
        iops_samples.add(&other.iops_samples);
    }
}

impl PriorityRecord {
    fn is_that_of(&self, other: &PriorityRecord) -> bool {
        (self.class, self.level, self.hint) == (other.class, other.level, other.hint)
    }
}

/// `count` in `runtime_ms`, per second, rounded down; 0 without runtime.
pub fn per_second(count: u64, runtime_ms: u64) -> u64 {
    if runtime_ms == 0 {
        return 0;
    }
    u64::try_from(u128::from(count) * 1000 / u128::from(runtime_ms)).unwrap_or(u64::MAX)
}

/// Adds values that only some workers have. The sum is known if each worker that did I/O has one.
pub(crate) fn merge_all_or_none<T: Clone>(
    mine: Option<T>,
    other: Option<&T>,
    my_ios: u64,
    other_ios: u64,
    merge: impl FnOnce(&mut T, &T),
) -> Option<T> {
    match (mine, other) {
        (Some(mut mine), Some(other)) => {
            merge(&mut mine, other);
            Some(mine)
        }
        (mine, None) if other_ios == 0 => mine,
        (None, other) if my_ios == 0 => other.cloned(),
        _ => None,
    }
}

impl Latency {
    /// Counts one latency, ns; also in the histogram, if there is one.
    pub fn record(&mut self, latency_ns: u64) {
        self.moments.record(latency_ns);
        if let Some(histogram) = &mut self.histogram {
            histogram.record(latency_ns);
        }
    }

    /// A latency with an empty histogram.
    pub fn with_histogram() -> Latency {
        Latency { histogram: Some(Histogram::new()), ..Latency::default() }
    }

    /// Adds the values of another latency. The sum has a histogram if both sides with values have one.
    pub fn merge(&mut self, other: &Latency) {
        let Latency { moments, histogram } = self;
        match (histogram.as_mut(), &other.histogram) {
            (Some(mine), Some(others)) => mine.merge(others),
            (None, others) if moments.count == 0 => *histogram = others.clone(),
            (Some(_), None) if other.moments.count > 0 => *histogram = None,
            _ => {}
        }
        moments.merge(&other.moments);
    }

    /// Whether a percentile may be shown: at least ten values must lie beyond it. With fewer it is chance; a median
    /// needs no values beyond it.
    pub fn shows(&self, percent: f64) -> bool {
        const BEYOND_MIN: f64 = 10.0;
        percent <= 50.0 || self.moments.count as f64 * (1.0 - percent / 100.0) >= BEYOND_MIN - 1e-6
    }

    /// The value at a percentile, ns; `None` if it may not be shown.
    pub fn shown(&self, percent: f64) -> Option<u64> {
        self.percentile(percent).filter(|_| self.shows(percent))
    }

    /// The value at a percentile, ns; `None` without values or without a histogram.
    pub fn percentile(&self, percent: f64) -> Option<u64> {
        self.histogram.as_ref()?.percentile(percent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_shown_with_ten_values_beyond_it() {
        let mut latency = Latency::default();
        latency.moments.count = 999;
        assert!(latency.shows(50.0) && latency.shows(95.0) && !latency.shows(99.0));
        latency.moments.count = 1000;
        assert!(latency.shows(99.0) && !latency.shows(99.9));
        latency.moments.count = 10_000;
        assert!(latency.shows(99.9));
    }

    #[test]
    fn rates_are_rounded_down_as_in_real_output() {
        // Figures of a real run: 5840896 bytes and 1426 reads in 192 ms.
        let direction = DirectionRecord { bytes: 5_840_896, ios: 1426, runtime_ms: 192, ..Default::default() };
        assert_eq!(direction.bandwidth(), 30_421_333);
        assert_eq!(format!("{:.6}", direction.iops()), "7427.083333");
        assert_eq!(direction.iops_whole(), 7427);
        assert_eq!(DirectionRecord::default().iops(), 0.0);
        assert_eq!(per_second(u64::MAX, 1000), u64::MAX);
    }

    #[test]
    fn a_histogram_survives_only_when_it_is_complete() {
        let mut kept = Latency::with_histogram();
        kept.record(10);
        let mut bare = Latency::default();
        bare.record(20);

        let mut sum = Latency::default();
        sum.merge(&kept);
        assert_eq!(sum.percentile(100.0), Some(10));
        sum.merge(&Latency::default());
        assert!(sum.histogram.is_some());
        sum.merge(&bare);
        assert_eq!((sum.moments.count, sum.histogram), (2, None));
    }

    #[test]
    fn response_needs_every_worker_with_io() {
        let with = DirectionRecord { ios: 1, response: Some(Latency::with_histogram()), ..Default::default() };
        let without = DirectionRecord { ios: 1, ..Default::default() };
        let idle = DirectionRecord::default();
        let merged = |first: &DirectionRecord, second: &DirectionRecord| {
            let mut sum = first.clone();
            sum.merge(second);
            sum.response.is_some()
        };
        assert!(merged(&with, &with) && merged(&with, &idle) && merged(&idle, &with));
        assert!(!merged(&with, &without) && !merged(&without, &with));
    }
}
