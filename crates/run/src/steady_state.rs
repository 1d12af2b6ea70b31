//! Judges a steady state: the window over the intervals that workers measure.

use std::collections::VecDeque;

use fsdyno_drive::Interval;
use fsdyno_job::{SteadyState, SteadyStateMetric};
use fsdyno_results::SteadyStateRecord;

/// One interval of a worker or a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sample {
    pub(crate) iops: u64,
    pub(crate) bytes_per_s: u64,
    /// Mean clat, ns; `None`: nothing completed.
    pub(crate) lat_ns: Option<u64>,
}

/// The sample of a group: the sum of its members' rates in the same interval, and the mean latency of all their I/Os.
pub(crate) fn sample_of(members: &[Interval]) -> Sample {
    let (count, sum_ns) = members.iter().fold((0, 0), |sum, one| (sum.0 + one.clat.0, sum.1 + one.clat.1));
    Sample {
        iops: members.iter().map(|one| one.per_second(one.ios)).sum(),
        bytes_per_s: members.iter().map(|one| one.per_second(one.bytes)).sum(),
        lat_ns: sum_ns.checked_div(count),
    }
}

/// The last intervals of a worker or a group, with their judgement.
#[derive(Clone, Debug)]
pub(crate) struct SteadyStateWindow {
    rule: SteadyState,
    samples: VecDeque<Sample>,
    judged: Option<JudgedWindow>,
    attained: bool,
}

/// Slope or deviation, in the metric's unit and in the limit's.
#[derive(Clone, Copy, Debug, PartialEq)]
struct JudgedWindow {
    value: f64,
    criterion: f64,
}

impl SteadyStateWindow {
    pub(crate) fn new(rule: SteadyState) -> SteadyStateWindow {
        SteadyStateWindow { rule, samples: VecDeque::new(), judged: None, attained: false }
    }

    /// Adds the next interval; true when the state is steady.
    pub(crate) fn add(&mut self, sample: Sample) -> bool {
        if self.attained {
            return true;
        }
        if value_of(&sample, self.rule.metric).is_none() {
            // An interval without any latency is not steady: the window begins after it.
            self.samples.clear();
            return false;
        }
        self.samples.push_back(sample);
        if self.samples.len() > self.rule.samples() {
            self.samples.pop_front();
        }
        if self.samples.len() == self.rule.samples() {
            self.judged = self.judge();
            self.attained = self.judged.is_some_and(|judged| judged.criterion.abs() < self.rule.limit);
        }
        self.attained
    }

    /// `None`: the mean is 0, so that there is no percentage.
    fn judge(&self) -> Option<JudgedWindow> {
        let metric = self.rule.metric;
        let values: Vec<f64> = self.samples.iter().filter_map(|sample| value_of(sample, metric)).collect();
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let value = if self.rule.slope {
            slope(&values, mean)
        } else {
            values.iter().map(|value| (value - mean).abs()).fold(0.0, f64::max)
        };
        let criterion = if self.rule.percent { 100.0 * value / mean } else { value };
        criterion.is_finite().then_some(JudgedWindow { value, criterion })
    }

    pub(crate) fn record(&self) -> SteadyStateRecord {
        let SteadyState { metric, slope, limit, percent, duration_ns, .. } = self.rule;
        let list = |of: fn(&Sample) -> u64| self.samples.iter().map(of).collect();
        let latencies = self.samples.iter().filter(|_| metric == SteadyStateMetric::Latency);
        SteadyStateRecord {
            metric,
            by_slope: slope,
            limit,
            duration_s: duration_ns / 1_000_000_000,
            attained: self.attained,
            criterion: self.judged.map(|judged| judged.criterion),
            value: self.judged.map(|judged| judged.value),
            percent,
            intervals: self.rule.samples() as u64,
            bandwidth: list(|sample| sample.bytes_per_s),
            iops: list(|sample| sample.iops),
            lat_ns: latencies.filter_map(|sample| sample.lat_ns).collect(),
        }
    }
}

fn value_of(sample: &Sample, metric: SteadyStateMetric) -> Option<f64> {
    match metric {
        SteadyStateMetric::Iops => Some(sample.iops as f64),
        SteadyStateMetric::Bandwidth => Some(sample.bytes_per_s as f64),
        SteadyStateMetric::Latency => sample.lat_ns.map(|ns| ns as f64),
    }
}

/// The slope of the least-squares line, per interval.
fn slope(values: &[f64], mean: f64) -> f64 {
    let middle = (values.len() as f64 - 1.0) / 2.0;
    let places = || (0..values.len()).map(|place| place as f64 - middle);
    let rise: f64 = places().zip(values).map(|(place, value)| place * (value - mean)).sum();
    rise / places().map(|place| place * place).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(metric: SteadyStateMetric, slope: bool, limit: f64, percent: bool) -> SteadyState {
        let (duration_ns, interval_ns) = (3_000_000_000, 1_000_000_000);
        SteadyState { metric, slope, limit, percent, duration_ns, ramp_ns: 0, interval_ns }
    }

    /// The window after these values of its metric.
    fn window(rule: SteadyState, values: &[u64]) -> SteadyStateWindow {
        let metric = rule.metric;
        let mut window = SteadyStateWindow::new(rule);
        for value in values {
            let lat_ns = (metric == SteadyStateMetric::Latency).then_some(*value);
            window.add(Sample { iops: *value, bytes_per_s: *value, lat_ns });
        }
        window
    }

    #[test]
    fn the_slope_is_that_of_the_line_of_least_squares() {
        let rule = || rule(SteadyStateMetric::Iops, true, 0.1, true);
        // The values of a run of fio 3.42, with fio's figures; the mean is not rounded here.
        let shown = |values: &[u64]| window(rule(), values).judged.expect("three intervals");
        let first = shown(&[118, 149, 150]);
        assert_eq!((first.value, format!("{:.6}", first.criterion)), (16.0, "11.510791".to_owned()));
        let second = shown(&[118, 149, 150, 150]);
        assert!((second.value - 0.5).abs() < 1e-12 && (second.criterion - 150.0 / 449.0).abs() < 1e-12, "{second:?}");
        assert!(!window(rule(), &[118, 149, 150, 150]).attained);
        assert!(window(rule(), &[150, 149, 150]).attained, "the slope is 0");
    }

    #[test]
    fn the_deviation_is_that_of_the_farthest() {
        let percent = window(rule(SteadyStateMetric::Bandwidth, false, 2.0, true), &[100, 101, 99]);
        assert_eq!(percent.judged, Some(JudgedWindow { value: 1.0, criterion: 1.0 }));
        assert!(percent.attained);
        let absolute = |limit| window(rule(SteadyStateMetric::Latency, false, limit, false), &[826, 1568, 669]);
        let value = 1568.0 - 3063.0 / 3.0;
        assert_eq!(absolute(1.0).judged, Some(JudgedWindow { value, criterion: value }));
        assert!(!absolute(547.0).attained, "the limit itself is too much");
        assert!(absolute(547.5).attained);
    }

    #[test]
    fn the_window_moves_on_and_stays_where_it_was_attained() {
        let moved = window(rule(SteadyStateMetric::Iops, false, 5.0, true), &[10, 50, 100, 101, 102, 500]);
        let record = moved.record();
        assert!(record.attained);
        assert_eq!(record.iops, [100, 101, 102]);
        let short = window(rule(SteadyStateMetric::Iops, false, 5.0, true), &[100, 100]).record();
        assert_eq!((short.attained, short.criterion, short.intervals, short.iops.len()), (false, None, 3, 2));
    }

    #[test]
    fn nothing_is_never_steady() {
        assert_eq!(window(rule(SteadyStateMetric::Iops, false, 5.0, true), &[0, 0, 0]).judged, None);
        let mut silent = SteadyStateWindow::new(rule(SteadyStateMetric::Latency, false, 5.0, false));
        let sample = Sample { iops: 0, bytes_per_s: 0, lat_ns: None };
        assert!(!(0..5).any(|_| silent.add(sample)));
    }

    #[test]
    fn members_of_a_group_add_up_each_with_its_own_length() {
        let first = Interval { elapsed_ns: 883_000_000, ios: 132, bytes: 540_672, clat: (132, 132_000) };
        let second = Interval { elapsed_ns: 1_000_000_000, ios: 50, bytes: 204_800, clat: (50, 232_000) };
        let sample = sample_of(&[first, second]);
        assert_eq!((sample.iops, sample.bytes_per_s), (149 + 50, 612_312 + 204_800));
        assert_eq!(sample.lat_ns, Some(364_000 / 182));
        assert_eq!(sample_of(&[]).lat_ns, None);
    }
}
