//! The figures of one test on one target.

use fsdyno_findings::Aspect;
use fsdyno_results::{Interval, Lane, Latency, Metric, Row, TestRounds, Trust};
use fsdyno_text::quantity::number;
use schemars::JsonSchema;
use serde::Serialize;

use crate::summary::{Grid, Line};

/// What one test found on one target: of several runs the medians, percentiles over the requests of all runs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TestFigures {
    /// The test's name, the same everywhere.
    pub name: String,
    /// For people.
    pub title: String,
    /// The storage's name.
    pub target: String,
    /// How many runs make the figures.
    pub runs: usize,
    /// How many more there were: those failed, or are invalid.
    pub left_out: usize,
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
    /// Of a timed command how long it took, s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall_s: Option<f64>,
    /// CPU time of the I/O threads, percent of one CPU.
    pub cpu_percent: Option<f64>,
    /// How far it can be trusted.
    pub trust: Trust,
    /// The kinds of what was found against it.
    pub findings: Vec<String>,
    /// What findings could look at before it is called ok: clock, CPU contention, cache, device, length, variation, foreign
    /// load, slow node. What does not apply to it is in neither list.
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

/// More digits than any face shows: thousandths, and of what is small six digits; all where these would be read as another
/// figure than the value itself (1.835008 is 1.84).
pub(crate) fn rounded(value: f64) -> f64 {
    let digits = if value == 0.0 || value.abs() >= 1.0 { 3 } else { 5 - value.abs().log10().floor() as i32 };
    let scale = 10f64.powi(digits.min(300));
    let short = (value * scale).round() / scale;
    if number(short) == number(value) { short } else { value }
}

impl TestFigures {
    pub(super) fn of(grid: &Grid<'_>, line: &Line<'_>, target: usize, cell: &TestRounds<'_>) -> TestFigures {
        let (moved, requests) = metrics(line);
        let workers = cell.counted().first().copied().or(cell.repeats.first());
        let asked = cell.asked_lane(grid.study);
        let rows: Vec<&Row> = cell.repeats.iter().map(|repeat| repeat.row).collect();
        let looked = fsdyno_findings::examined(grid.study, &rows).unwrap_or_default();
        let words = |aspects: Vec<Aspect>| aspects.into_iter().map(Aspect::word).collect();
        let value = |metric, unit: f64| cell.value(metric).map(|value| rounded(value / unit));
        TestFigures {
            name: line.pattern.clone(),
            title: line.title.clone(),
            target: grid.targets[target].clone(),
            runs: cell.counted().len(),
            left_out: cell.left_out(),
            jobs: workers.map_or(0, |repeat| repeat.workers.len()),
            depth: workers.and_then(|repeat| Some(repeat.workers.first()?.setup.depth)),
            mb_per_s: value(moved, 1e6),
            iops: value(requests, 1.0),
            latency_us: cell.latency(asked).map(in_microseconds),
            intervals: Ranges {
                mb_per_s: scaled(cell.interval(moved), 1e6),
                iops: scaled(cell.interval(requests), 1.0),
                p50_us: scaled(cell.interval(Metric::P50(asked)), 1e3),
            },
            wall_s: cell.value(Metric::Wall).map(|ns| rounded(ns / 1e6) / 1e3),
            cpu_percent: value(Metric::Cpu, 1.0),
            trust: cell.trust(),
            findings: cell.reasons().into_iter().map(str::to_owned).collect(),
            examined: words(looked.examined),
            not_visible: words(looked.not_visible),
            error: cell.error(),
            lanes: lanes(asked, cell),
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

/// The lanes of which a latency is made, those that did something.
fn lanes(asked: Lane, cell: &TestRounds<'_>) -> Vec<Lane> {
    let all = if asked == Lane::Sync { &[Lane::Sync][..] } else { &[Lane::Read, Lane::Write, Lane::Operation] };
    all.iter().copied().filter(|lane| cell.latency(*lane).is_some()).collect()
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
