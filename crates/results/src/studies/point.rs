//! A point of a sweep: its runs merged, with confidence intervals.

use super::{Lane, LatencyFigures, Row, TestRounds, Trust};
use crate::record::Latency;
use crate::samples::added_up;
use fsdyno_stats::Interval;
use fsdyno_stats::sort;
use fsdyno_stats::{STUDENT_95, percentile_interval};

const CONFIDENCE: f64 = 0.95;

/// The runs of one point. Rates are the medians of the runs; percentiles are over all requests together.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepPoint {
    /// Trust of the point.
    pub trust: Trust,
    /// Requests in flight by Little's law: the median of the runs.
    pub in_flight: Option<f64>,
    /// Round and IOPS of each run that counts.
    pub runs: Vec<(u32, f64)>,
    /// Operations per second; for writes, until they are durable.
    pub iops: f64,
    /// Confidence interval of the median of the runs. `None`: too few runs.
    pub interval: Option<Interval>,
    /// Bytes per second; for writes, until they are durable.
    pub bytes_per_s: f64,
    /// Latency of all requests.
    pub latency: Option<LatencyFigures>,
    /// Confidence interval of the 99th percentile, ns.
    pub p99_interval: Option<Interval>,
}

impl SweepPoint {
    /// The point of the runs that count. `None`: none counts.
    pub fn of(rows: &[&Row]) -> Option<SweepPoint> {
        let rounds = TestRounds::of_rows(rows.iter().copied());
        let (bytes, requests) = rounds.rates();
        let runs = rounds.rounds(requests);
        if !rounds.counts(requests) || runs.iter().any(|(_, iops)| *iops <= 0.0) {
            return None;
        }
        let all = rounds.latency(Lane::Request);
        let each = || rounds.counted().into_iter().filter_map(|round| Some(round.latency(Lane::Request)?.into_owned()));
        Some(SweepPoint {
            trust: rounds.trust(),
            in_flight: rounds.in_flight(),
            iops: rounds.value(requests)?,
            interval: rounds.interval(requests),
            bytes_per_s: rounds.value(bytes)?,
            latency: all.as_ref().and_then(LatencyFigures::of),
            p99_interval: all.as_ref().and_then(|all| p99_interval(&each().collect::<Vec<_>>(), all)),
            runs,
        })
    }
}

fn wider(one: Option<Interval>, other: Option<Interval>) -> Option<Interval> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.joined(other)),
        (one, other) => one.or(other),
    }
}

/// Every run must have a percentile of its own, to say how far runs differ.
fn p99_interval(latencies: &[Latency], all: &Latency) -> Option<Interval> {
    let within = percentile_interval(all.histogram.as_ref()?, 99.0, CONFIDENCE).ok()?;
    let own: Option<Vec<f64>> = latencies.iter().map(|run| Some(run.shown(99.0)? as f64)).collect();
    wider(Some(within), own.and_then(|own| STUDENT_95.of_runs(&own)))
}

impl Row {
    /// IOPS in equal windows, all workers and directions together; empty: none were kept.
    pub fn iops_windows(&self) -> Vec<f64> {
        let jobs = self.run.iter().flat_map(|run| &run.jobs);
        let series: Vec<&[(u64, u64)]> = jobs
            .flat_map(|job| job.directions.iter().map(|(_, direction)| &direction.iops_samples.series[..]))
            .collect();
        added_up(&series)
    }
}

impl super::Study {
    /// The points of a group of patterns, ascending by depth, each with its runs.
    pub fn depths(&self, group: &str) -> Vec<(u32, Vec<&Row>)> {
        self.numbered_points(group, "qd")
    }

    /// The points of a group of patterns, ascending by the number after `word` in the pattern.
    pub fn numbered_points(&self, group: &str, word: &str) -> Vec<(u32, Vec<&Row>)> {
        let mut points: Vec<(u32, Vec<&Row>)> = Vec::new();
        for row in &self.rows {
            let Some((_, depth)) = row.numbered(word).filter(|(of, _)| *of == group) else { continue };
            match points.iter_mut().find(|(known, _)| *known == depth) {
                Some((_, rows)) => rows.push(row),
                None => points.push((depth, vec![row])),
            }
        }
        sort::by_key(&mut points, |(depth, _)| *depth);
        points
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{DirectionRecord, JobRecord, JobSetup, RunRecord};
    use crate::{Finding, PerDirection, Severity, Study};

    /// A run of one second with `iops` requests of 4 KiB, evenly distributed, each with this latency.
    fn row(round: u32, iops: u64, latency_ns: u64) -> Row {
        let mut lat = Latency::with_histogram();
        (0..2000).for_each(|_| lat.record(latency_ns));
        let mut read =
            DirectionRecord { ios: iops, bytes: iops * 4096, runtime_ms: 1000, lat, ..DirectionRecord::default() };
        (1..=10).for_each(|window| read.iops_samples.record(iops, window * 100));
        let mut run = RunRecord::new("fsdyno", 0);
        run.jobs.push(JobRecord {
            directions: PerDirection { read, ..PerDirection::default() },
            ..JobRecord::new("randread-4k-qd4", 1, JobSetup::default())
        });
        Row { round, ..Study::of_run(run).rows.remove(0) }
    }

    fn of(rows: &[Row]) -> Option<SweepPoint> {
        SweepPoint::of(&rows.iter().collect::<Vec<_>>())
    }

    #[test]
    fn runs_that_differ_make_the_interval_wider() {
        let steady = of(&[0, 1, 2, 3].map(|round| row(round, 1000, 100_000))).unwrap();
        assert_eq!((steady.iops, steady.runs.len(), steady.bytes_per_s), (1000.0, 4, 4_096_000.0));
        assert_eq!(steady.latency.unwrap().count, 8000);
        let width = |found: &Option<Interval>| found.map(|found| found.high / found.low - 1.0).unwrap();
        assert!(width(&steady.interval) < 1e-9 && width(&steady.p99_interval) < 0.02, "{steady:?}");
        let rounds = [(0, 900), (1, 1100), (2, 950), (3, 1050)];
        let shifted = of(&rounds.map(|(round, iops)| row(round, iops, 100_000_000 / iops))).unwrap();
        assert_eq!(shifted.iops, 1000.0);
        let range = Interval { low: 900.0, high: 1100.0, confidence: 0.875 };
        assert_eq!(shifted.interval, Some(range), "four runs reach 87.5 %");
        assert!(width(&shifted.p99_interval) > 0.25, "{shifted:?}");
    }

    #[test]
    fn a_run_that_does_not_count_is_left_out() {
        let mut rows = [0, 1].map(|round| row(round, 1000, 100_000)).to_vec();
        let (id, severity) = ("page-cache", Severity::Invalid);
        rows[0].findings = vec![Finding { numbers: vec![], ..Finding::new(id, severity, "", "") }];
        let alone = of(&rows).unwrap();
        assert_eq!((alone.runs, alone.interval), (vec![(1, 1000.0)], None), "one run shows nothing of others");
        assert_eq!(of(&rows[..1]), None);
        assert_eq!(of(&[]), None);
    }
}
