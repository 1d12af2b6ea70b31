//! Writes OpenMetrics text, in the subset that node_exporter's textfile collector also reads: gauges and summaries
//! only, no timestamps on samples. Each series names its question and its place, so that the files of several services
//! on one machine do not collide.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use fsdyno_results::{Lane, Metric, Question, Repeat, Study, TestRounds, Trust};
use fsdyno_stats::median;
use fsdyno_text::escape;

use crate::summary::{Grid, PatternLine};

/// The quantiles of a latency: percent and label.
const QUANTILES: [(f64, &str); 4] = [(50.0, "0.5"), (90.0, "0.9"), (99.0, "0.99"), (99.9, "0.999")];

/// A family of metrics; the format wants its samples together.
struct Family {
    name: &'static str,
    kind: &'static str,
    /// The unit at the end of the name; empty: none.
    unit: &'static str,
    help: &'static str,
    samples: String,
}

/// The study as OpenMetrics text, ending with `# EOF`. Rates are medians of the rounds; latencies are of all rounds'
/// requests together. Unknown values have no sample.
pub fn openmetrics(study: &Study) -> String {
    let grid = Grid::of(study);
    text_of(&families(study, &grid))
}

/// What is exported of a question that could not be answered: that it is not complete, and when it ended (ms since the
/// epoch). Figures of an earlier run do not stay in the file.
pub fn openmetrics_of_failure(question: Question, places: &[String], ended_ms: u64) -> String {
    text_of(&ends(question, places, false, ended_ms))
}

fn text_of(families: &[Family]) -> String {
    let mut text = String::new();
    for family in families.iter().filter(|family| !family.samples.is_empty()) {
        let Family { name, kind, unit, help, samples } = family;
        let _ = writeln!(text, "# TYPE {name} {kind}");
        if !unit.is_empty() {
            let _ = writeln!(text, "# UNIT {name} {unit}");
        }
        let _ = writeln!(text, "# HELP {name} {help}");
        text.push_str(samples);
    }
    text.push_str("# EOF\n");
    text
}

fn gauge(name: &'static str, unit: &'static str, help: &'static str, samples: String) -> Family {
    Family { name, kind: "gauge", unit, help, samples }
}

fn families(study: &Study, grid: &Grid<'_>) -> Vec<Family> {
    let (throughput, operations) = ("fsdyno_throughput_bytes_per_second", "fsdyno_operations_per_second");
    let bytes = |rates: Rates| rates.0;
    let count = |rates: Rates| rates.1;
    let mut families = vec![
        gauge(
            throughput,
            "bytes_per_second",
            "Bytes moved per second, of writes until they are durable.",
            by_direction(grid, throughput, bytes),
        ),
        gauge(
            operations,
            "",
            "I/Os or operations per second, of writes until they are durable.",
            by_direction(grid, operations, count),
        ),
        Family {
            name: "fsdyno_latency_seconds",
            kind: "summary",
            unit: "seconds",
            help: "Latency of one request.",
            samples: by_cell(grid, latencies),
        },
        gauge(
            "fsdyno_cpu_ratio",
            "ratio",
            "CPU time as a share of one CPU.",
            by_cell(grid, |text, labels, cell| {
                if let Some(percent) = cell.value(Metric::Cpu) {
                    let _ = writeln!(text, "fsdyno_cpu_ratio{{{labels}}} {}", percent / 100.0);
                }
            }),
        ),
        gauge("fsdyno_rounds", "", "Rounds that make the figures.", by_cell(grid, rounds)),
        gauge("fsdyno_trust", "", "0: ok, 1: needs care, 2: invalid, do not use the numbers.", by_cell(grid, trust)),
        gauge("fsdyno_verdict", "", "1: this row answers the requirement.", verdicts(study)),
    ];
    let paths: Vec<String> = study.targets.iter().map(|target| target.path.clone()).collect();
    families.extend(ends(study.question, &paths, study.complete, study.ended_ms));
    families
}

/// How a question ended on each of its places.
fn ends(question: Question, places: &[String], complete: bool, ended_ms: u64) -> [Family; 2] {
    let sample = |name: &str, value: &str| {
        let labels: BTreeSet<String> = places.iter().map(|place| place_labels(question, place)).collect();
        labels.iter().map(|labels| format!("{name}{{{labels}}} {value}\n")).collect()
    };
    let (is_complete, ended) = ("fsdyno_complete", "fsdyno_end_timestamp_seconds");
    [
        gauge(is_complete, "", "1: the run was complete.", sample(is_complete, if complete { "1" } else { "0" })),
        gauge(ended, "seconds", "When the run ended.", sample(ended, &format!("{}", ended_ms as f64 / 1e3))),
    ]
}

/// The labels of each series: two services on one machine have different ones.
fn place_labels(question: Question, place: &str) -> String {
    format!("question=\"{}\",place=\"{}\"", question.word(), escape::openmetrics(place))
}

/// The samples of each cell that was run, with its labels.
fn by_cell(grid: &Grid<'_>, sample: impl Fn(&mut String, &str, &TestRounds<'_>)) -> String {
    let mut text = String::new();
    for (line, target, cell) in grid.cells() {
        sample(&mut text, &labels(grid, line, target), cell);
    }
    text
}

fn rounds(text: &mut String, labels: &str, cell: &TestRounds<'_>) {
    let _ = writeln!(text, "fsdyno_rounds{{{labels}}} {}", cell.counted().len());
}

fn trust(text: &mut String, labels: &str, cell: &TestRounds<'_>) {
    let trust = match cell.trust() {
        Trust::Ok => 0,
        Trust::Caution => 1,
        Trust::Invalid => 2,
    };
    let _ = writeln!(text, "fsdyno_trust{{{labels}}} {trust}");
}

fn labels(grid: &Grid<'_>, line: &PatternLine<'_>, target: usize) -> String {
    format!(
        "{},target=\"{}\",pattern=\"{}\"",
        place_labels(grid.study.question, &grid.study.targets[target].path),
        escape::openmetrics(&grid.targets[target]),
        escape::openmetrics(&line.pattern)
    )
}

/// Bytes and operations per second; `None`: not known.
type Rates = (Option<f64>, Option<f64>);

/// One of the two rates of each cell and direction: the median of the rounds.
fn by_direction(grid: &Grid<'_>, name: &str, rate: impl Fn(Rates) -> Option<f64>) -> String {
    by_cell(grid, |text, labels, cell| {
        for direction in ["read", "write", "trim", "operation"] {
            let rounds: Vec<f64> =
                cell.counted().into_iter().filter_map(|repeat| rate(rates(repeat, cell, direction)?)).collect();
            if let Some(value) = median(&rounds) {
                let _ = writeln!(text, "{name}{{{labels},direction=\"{direction}\"}} {value}");
            }
        }
    })
}

/// Bytes and operations per second of one direction of a round; `None`: the round did nothing in it.
fn rates(repeat: &Repeat<'_>, cell: &TestRounds<'_>, direction: &str) -> Option<Rates> {
    if let Some(phase) = repeat.phase.filter(|_| direction == "operation") {
        let elapsed_s = Some(phase.elapsed_ns as f64 / 1e9).filter(|elapsed| *elapsed > 0.0)?;
        return Some((phase.bytes.map(|bytes| bytes as f64 / elapsed_s), phase.rate_per_s()));
    }
    let durable = cell.rates();
    if durable.0 == Metric::Durable && direction == "write" {
        return Some((durable.0.of(repeat), durable.1.of(repeat)));
    }
    let merged = repeat.merged.as_ref()?;
    let record = match direction {
        "read" => &merged.directions.read,
        "write" => &merged.directions.write,
        "trim" => &merged.directions.trim,
        _ => return None,
    };
    (record.runtime_ms > 0).then(|| (Some(record.bytes as f64 * 1e3 / record.runtime_ms as f64), Some(record.iops())))
}

fn latencies(text: &mut String, labels: &str, cell: &TestRounds<'_>) {
    for lane in Lane::ALL {
        let Some(latency) = cell.latency(lane) else { continue };
        let labels = format!("{labels},direction=\"{}\"", lane.word());
        for (percent, quantile) in QUANTILES {
            if let Some(ns) = latency.shown(percent) {
                let seconds = ns as f64 / 1e9;
                let _ = writeln!(text, "fsdyno_latency_seconds{{{labels},quantile=\"{quantile}\"}} {seconds}");
            }
        }
        let _ = writeln!(text, "fsdyno_latency_seconds_sum{{{labels}}} {}", latency.moments.sum as f64 / 1e9);
        let _ = writeln!(text, "fsdyno_latency_seconds_count{{{labels}}} {}", latency.moments.count);
    }
}

fn verdicts(study: &Study) -> String {
    let mut text = String::new();
    let place = study.targets.first().map_or("", |target| target.path.as_str());
    let labels = place_labels(study.question, place);
    let mut known: Vec<(&str, &str)> = Vec::new();
    for row in &study.verdicts {
        let key = (row.requirement.profile.as_str(), row.requirement.id.as_str());
        // A requirement that occurs twice would give the same series twice, which the format forbids.
        if known.contains(&key) {
            continue;
        }
        known.push(key);
        let verdict = row.verdict.word().to_lowercase().replace(' ', "_");
        let (profile, requirement) = (escape::openmetrics(key.0), escape::openmetrics(key.1));
        let _ = writeln!(
            text,
            "fsdyno_verdict{{{labels},profile=\"{profile}\",requirement=\"{requirement}\",verdict=\"{verdict}\"}} 1"
        );
    }
    text
}
