//! The figures of one test on one target.

use findings::Aspect;
use results::{Interval, Latency, Row, Study, Trust, test_name};
use schemars::JsonSchema;
use serde::Serialize;

use crate::summary::{Cell, Grid, Lane, Line, Metric};

/// What one test found on one target: of several runs the medians, percentiles over the requests of all runs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
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
    /// I/Os per second, of writes until they are durable; or operations of a phase.
    pub iops: Option<f64>,
    /// Latency; of durable writes, and where a requirement is on the syncs, that of the syncs.
    pub latency_us: Option<LatencyMicroseconds>,
    /// Where the medians lie; without two runs at least there is none.
    pub intervals: Ranges,
    /// CPU time of the I/O threads, percent of one CPU.
    pub cpu_percent: Option<f64>,
    /// How far it can be trusted.
    pub trust: Trust,
    /// The kinds of what was found against it.
    pub findings: Vec<String>,
    /// What findings could look at before it is called ok: clock, CPU contention, cache, device, length, variation, foreign
    /// load. What does not apply to it is in neither list.
    pub examined: Vec<&'static str>,
    /// What they could not look at.
    pub not_visible: Vec<&'static str>,
    /// The error that ended it.
    pub error: Option<String>,
    /// Whose latency it is.
    #[serde(skip)]
    pub(crate) lanes: Vec<Lane>,
    /// It is compared by requests per second: small ones, or operations.
    #[serde(skip)]
    pub(crate) by_requests: bool,
}

/// A latency, µs. A percentile without ten values beyond it is missing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
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

impl TestFigures {
    pub(super) fn of(grid: &Grid<'_>, line: &Line<'_>, target: usize, cell: &Cell<'_>) -> TestFigures {
        let (moved, requests) = metrics(line);
        let workers = cell.repeats.first();
        let lanes = lanes(grid.study, &line.pattern, cell);
        let rows: Vec<&Row> = cell.repeats.iter().map(|repeat| repeat.row).collect();
        let looked = findings::examined(grid.study, &rows).unwrap_or_default();
        let words = |aspects: Vec<Aspect>| aspects.into_iter().map(Aspect::word).collect();
        let value = |metric, unit: f64| cell.value(metric).map(|value| rounded(value / unit));
        TestFigures {
            name: line.pattern.clone(),
            title: line.title.clone(),
            target: grid.targets[target].clone(),
            runs: cell.repeats.len(),
            jobs: workers.map_or(0, |repeat| repeat.workers.len()),
            depth: workers.and_then(|repeat| Some(repeat.workers.first()?.setup.depth)),
            mb_per_s: value(moved, 1e6),
            iops: value(requests, 1.0),
            latency_us: lanes.iter().filter_map(|lane| cell.latency(*lane)).reduce(together).map(in_microseconds),
            intervals: Ranges {
                mb_per_s: scaled(cell.interval(moved), 1e6),
                iops: scaled(cell.interval(requests), 1.0),
                p50_us: match lanes[..] {
                    [only] => scaled(cell.interval(Metric::P50(only)), 1e3),
                    _ => None,
                },
            },
            cpu_percent: value(Metric::Cpu, 1.0),
            trust: cell.trust_of(&looked),
            findings: cell.reasons().into_iter().map(str::to_owned).collect(),
            examined: words(looked.examined),
            not_visible: words(looked.not_visible),
            error: cell.error(),
            lanes,
            by_requests: cell.is_small() || line.is_phase(),
        }
    }

    /// It ran, and nobody could look at anything of it.
    pub(super) fn is_unexamined(&self) -> bool {
        self.examined.is_empty() && !self.not_visible.is_empty()
    }

    /// The figure counts: it answers the question.
    pub(crate) fn counts(&self) -> bool {
        self.trust < Trust::Invalid && self.error.is_none()
    }
}

/// Which bytes and which requests per second stand for a line.
pub(crate) fn metrics(line: &Line<'_>) -> (Metric, Metric) {
    match line.headline() {
        Metric::Durable => (Metric::Durable, Metric::DurableIops),
        Metric::Operations => (Metric::Throughput, Metric::Operations),
        _ => (Metric::Throughput, Metric::Iops),
    }
}

/// Whose latency stands for a test: that of the syncs where they are what is asked for, else that of all requests.
fn lanes(study: &Study, name: &str, cell: &Cell<'_>) -> Vec<Lane> {
    let of_sync = study.verdicts.iter().filter(|verdict| verdict.requirement.metric.starts_with("sync."));
    let mut judged = of_sync.flat_map(|verdict| &verdict.rows).filter_map(|index| study.rows.get(*index));
    let is_in_cell = |row: &Row| cell.repeats.iter().any(|repeat| std::ptr::eq(repeat.row, row));
    let asked = if name == test_name::SYNC_LATENCY || judged.any(is_in_cell) {
        &[Lane::Sync][..]
    } else {
        &[Lane::Read, Lane::Write, Lane::Operation]
    };
    asked.iter().copied().filter(|lane| cell.latency(*lane).is_some()).collect()
}

fn together(mut all: Latency, latency: Latency) -> Latency {
    all.merge(&latency);
    all
}

fn in_microseconds(latency: Latency) -> LatencyMicroseconds {
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
