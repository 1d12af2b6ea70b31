//! The figures of one test on one target.

use results::{Interval, Latency, Trust, test_name};
use serde::Serialize;

use crate::summary::{Cell, Grid, Lane, Line, Metric};

/// What one test found on one target: of several runs the medians, percentiles over the requests of all runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TestFigures {
    /// The test's name, the same everywhere.
    pub name: String,
    /// For people.
    pub title: String,
    /// The storage's name.
    pub target: String,
    /// How many runs.
    pub runs: usize,
    /// I/O threads.
    pub jobs: usize,
    /// Requests in flight of each; `None`: no I/O thread keeps any.
    pub depth: Option<u32>,
    /// Megabytes (10^6) per second; of writes until they are durable.
    pub mb_per_s: Option<f64>,
    /// I/Os, or operations of a phase, per second.
    pub iops: Option<f64>,
    /// Latency; of the test of durable writes that of the fdatasync.
    pub latency_us: Option<LatencyMicroseconds>,
    /// Where the medians lie; without two runs at least there is none.
    pub intervals: Ranges,
    /// CPU time of the I/O threads, percent of one CPU.
    pub cpu_percent: Option<f64>,
    /// How far it can be trusted.
    pub trust: Trust,
    /// The kinds of what was found against it.
    pub findings: Vec<String>,
    /// The error that ended it.
    pub error: Option<String>,
    /// It is compared by requests per second: small ones, of which no end has to be durable, or operations.
    #[serde(skip)]
    pub(crate) by_requests: bool,
}

/// A latency, µs. A percentile without ten values beyond it is missing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LatencyMicroseconds {
    /// How many were measured.
    pub count: u64,
    /// Mean.
    pub mean: Option<f64>,
    /// Median.
    pub p50: Option<f64>,
    /// 99th percentile.
    pub p99: Option<f64>,
}

/// Intervals of the medians over runs, in the units of the figures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Ranges {
    /// Of `mb_per_s`.
    pub mb_per_s: Option<Interval>,
    /// Of `iops`.
    pub iops: Option<Interval>,
    /// Of the median latency, µs.
    pub p50_us: Option<Interval>,
}

/// Thousandths are the last digits that any face has.
pub(crate) fn rounded(value: f64) -> f64 {
    (value * 1e3).round() / 1e3
}

/// Requests of fewer bytes are counted, those of more are weighed.
const SMALL_BYTES: f64 = 65_536.0;

impl TestFigures {
    pub(super) fn of(grid: &Grid<'_>, line: &Line<'_>, target: usize, cell: &Cell<'_>) -> TestFigures {
        let (moved, requests) = metrics(line);
        let workers = cell.repeats.first();
        let value = |metric, unit: f64| cell.value(metric).map(|value| rounded(value / unit));
        let is_small = cell
            .value(Metric::Throughput)
            .zip(cell.value(Metric::Iops))
            .is_some_and(|(bytes, ios)| bytes < ios * SMALL_BYTES);
        TestFigures {
            name: line.pattern.clone(),
            title: line.title.clone(),
            target: grid.targets[target].clone(),
            runs: cell.repeats.len(),
            jobs: workers.map_or(0, |repeat| repeat.workers.len()),
            depth: workers.and_then(|repeat| Some(repeat.workers.first()?.setup.depth)),
            mb_per_s: value(moved, 1e6),
            iops: value(requests, 1.0),
            latency_us: latency(&line.pattern, cell).map(|latency| in_microseconds(&latency)),
            intervals: Ranges {
                mb_per_s: scaled(cell.interval(moved), 1e6),
                iops: scaled(cell.interval(requests), 1.0),
                p50_us: lane(&line.pattern, cell).and_then(|lane| scaled(cell.interval(Metric::P50(lane)), 1e3)),
            },
            cpu_percent: value(Metric::Cpu, 1.0),
            trust: cell.trust(),
            findings: cell.reasons().into_iter().map(str::to_owned).collect(),
            error: cell.error(),
            by_requests: match line.headline() {
                Metric::Operations => true,
                Metric::Throughput => is_small,
                _ => false,
            },
        }
    }

    /// The figure counts: it answers the question.
    pub(crate) fn counts(&self) -> bool {
        self.trust < Trust::Invalid && self.error.is_none()
    }
}

/// Which bytes and which requests per second stand for a line.
pub(crate) fn metrics(line: &Line<'_>) -> (Metric, Metric) {
    let moved = if line.headline() == Metric::Durable { Metric::Durable } else { Metric::Throughput };
    (moved, if line.is_phase() { Metric::Operations } else { Metric::Iops })
}

/// The only lane of a cell, or that of the syncs where they are what is asked for.
fn lane(name: &str, cell: &Cell<'_>) -> Option<Lane> {
    if name == test_name::SYNC_LATENCY {
        return Some(Lane::Sync);
    }
    let mut used = [Lane::Read, Lane::Write, Lane::Operation].into_iter().filter(|lane| cell.latency(*lane).is_some());
    used.next().filter(|_| used.next().is_none())
}

/// The latency of a cell, of reads and writes together.
fn latency(name: &str, cell: &Cell<'_>) -> Option<Latency> {
    if name == test_name::SYNC_LATENCY {
        return cell.latency(Lane::Sync);
    }
    let lanes = [Lane::Read, Lane::Write, Lane::Operation].into_iter().filter_map(|lane| cell.latency(lane));
    lanes.reduce(|mut all, latency| {
        all.merge(&latency);
        all
    })
}

fn in_microseconds(latency: &Latency) -> LatencyMicroseconds {
    let at = |percent| latency.shown(percent).map(|ns| rounded(ns as f64 / 1e3));
    LatencyMicroseconds {
        count: latency.moments.count,
        mean: latency.moments.mean().map(|ns| rounded(ns / 1e3)),
        p50: at(50.0),
        p99: at(99.0),
    }
}

fn scaled(interval: Option<Interval>, unit: f64) -> Option<Interval> {
    interval.map(|Interval { low, high, confidence }| Interval {
        low: rounded(low / unit),
        high: rounded(high / unit),
        confidence,
    })
}
