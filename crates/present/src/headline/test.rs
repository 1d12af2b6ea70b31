//! The figures of one test on one target.

use fsdyno_findings::Aspect;
use fsdyno_results::{Interval, Lane, Latency, Metric, Row, TestRounds, Trust};
use fsdyno_text::quantity::number;
use schemars::JsonSchema;
use serde::Serialize;

use crate::summary::{Grid, PatternLine};

/// The figures of one test on one target: medians of its runs, percentiles over the requests of all runs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TestFigures {
    /// The test's name, the same everywhere.
    pub name: String,
    /// For people.
    pub title: String,
    /// The storage's name.
    pub target: String,
    /// Number of runs that make the figures.
    pub runs: usize,
    /// Number of runs without influence on the figures, because they failed or are invalid.
    pub left_out: usize,
    /// Number of I/O threads.
    pub jobs: usize,
    /// iodepth of each; `None`: no I/O thread keeps requests in flight.
    pub depth: Option<u32>,
    /// Megabytes (10^6) per second; of writes, those that became durable.
    pub mb_per_s: Option<f64>,
    /// I/Os per second, of writes those that became durable; or operations per second of a phase.
    pub iops: Option<f64>,
    /// Latency; of the syncs where writes are synced or a requirement is on syncs.
    pub latency_us: Option<LatencyMicroseconds>,
    /// Intervals of the medians; empty with fewer than two runs.
    pub intervals: Ranges,
    /// Time of a timed command, s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall_s: Option<f64>,
    /// CPU time of the I/O threads, percent of one CPU.
    pub cpu_percent: Option<f64>,
    /// The trust.
    pub trust: Trust,
    /// The ids of the findings.
    pub findings: Vec<String>,
    /// The aspects that were examined: clock, CPU contention, cache, device, length, variation, foreign load, slow
    /// node. An aspect that does not apply is in neither list.
    pub examined: Vec<&'static str>,
    /// The aspects that could not be examined.
    pub not_visible: Vec<&'static str>,
    /// The error that ended it.
    pub error: Option<String>,
    /// What the latency is of.
    #[serde(skip)]
    pub(crate) lanes: Vec<Lane>,
    /// Whether it is compared by requests per second (small requests, or operations), not by bytes.
    #[serde(skip)]
    pub(crate) by_requests: bool,
    /// Whether it counts as a test of its own.
    #[serde(skip)]
    pub(super) is_whole: bool,
}

/// A latency, µs. A percentile with fewer than ten values beyond it is missing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LatencyMicroseconds {
    /// Number of values.
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

/// Rounds a figure for JSON, with more digits than any screen shows: to thousandths, below 1 to six digits; not at all
/// where rounding twice would change what a screen shows (1.835008 is 1.84).
pub(crate) fn rounded(value: f64) -> f64 {
    let digits = if value == 0.0 || value.abs() >= 1.0 { 3 } else { 5 - value.abs().log10().floor() as i32 };
    let scale = 10f64.powi(digits.min(300));
    let short = (value * scale).round() / scale;
    if number(short) == number(value) { short } else { value }
}

impl TestFigures {
    pub(super) fn of(grid: &Grid<'_>, line: &PatternLine<'_>, target: usize, cell: &TestRounds<'_>) -> TestFigures {
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
            is_whole: line.is_whole(cell),
        }
    }

    /// Whether it ran and none of its aspects was examined.
    pub(super) fn is_unexamined(&self) -> bool {
        self.examined.is_empty() && !self.not_visible.is_empty()
    }

    /// Whether the figure counts as an answer.
    pub(crate) fn counts(&self) -> bool {
        self.trust < Trust::Invalid && self.error.is_none()
    }
}

/// The metrics that give a line's bytes and requests per second.
pub(crate) fn metrics(line: &PatternLine<'_>) -> (Metric, Metric) {
    match line.headline() {
        Metric::Durable => (Metric::Durable, Metric::DurableIops),
        Metric::Operations => (Metric::Throughput, Metric::Operations),
        _ => (Metric::Throughput, Metric::Iops),
    }
}

/// The lanes that make up a latency, without those that did nothing.
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
