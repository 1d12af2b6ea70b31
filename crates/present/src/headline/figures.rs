//! Formats the figures of a test.

use fsdyno_results::{Question, Row, Study, test_name};
use fsdyno_text::quantity::{are_apart, by_median, bytes_per_s, latency, number};

use super::test::TestFigures;
use crate::quantity::counted;

/// `1,090 MB/s`.
pub(crate) fn throughput(test: &TestFigures) -> Option<String> {
    Some(bytes_per_s(test.mb_per_s? * 1e6))
}

/// `67,100 IOPS`.
pub(crate) fn rate(test: &TestFigures) -> Option<String> {
    Some(format!("{} IOPS", number(test.iops?)))
}

/// The figure by which targets are compared, in words.
pub(crate) fn compared(test: &TestFigures) -> Option<String> {
    if let Some(wall) = test.wall_s {
        return Some(latency(wall * 1e9));
    }
    if !test.by_requests {
        return throughput(test);
    }
    // A phase of operations does no I/O: its unit is operations.
    if test.depth.is_some() { rate(test) } else { Some(format!("{} ops/s", number(test.iops?))) }
}

/// The median latency, or the mean where requests are too few; without its name, which the column or tile shows.
pub(crate) fn typical(test: &TestFigures) -> Option<String> {
    let found = test.latency_us?;
    Some(latency(found.p50.or(found.mean)? * 1e3))
}

/// The mean latency, where it is far from the median.
pub(crate) fn mean_apart(test: &TestFigures) -> Option<String> {
    let found = test.latency_us?;
    let (median, mean) = (found.p50?, found.mean?);
    are_apart(mean, median).then(|| latency(mean * 1e3))
}

/// The median latency with its name, for a sentence: `a median of 114 µs (mean 2.03 ms)`.
pub(crate) fn typical_named(test: &TestFigures) -> Option<String> {
    let found = test.latency_us?;
    Some(by_median(found.p50.map(|us| us * 1e3), found.mean? * 1e3))
}

/// Whether its requests go to an object store, where each connection carries one at a time.
pub(crate) fn is_of_objects(row: &Row) -> bool {
    row.option("ioengine") == Some("http")
}

/// What the text beside a table calls a test: as its row is called where rows are numbers (`depth 4`, `20 % load`,
/// `2 nodes`), with the kind of request where there are several; phases by their title; else by its name.
pub(crate) fn called(study: &Study, pattern: &str) -> String {
    let number = |row: &Row| {
        let (kind, words) = match (row.numbered("qd"), row.numbered("load"), row.numbered("n")) {
            (Some((kind, number)), ..) if is_of_objects(row) => (kind, counted(u64::from(number), "connection")),
            (Some((kind, depth)), ..) => (kind, format!("depth {depth}")),
            (_, Some((kind, percent)), _) => (kind, format!("{percent} % load")),
            (.., Some((kind, nodes))) => (kind, counted(u64::from(nodes), "node")),
            _ => return None,
        };
        let is_other =
            |other: &Row| ["qd", "load", "n"].iter().any(|word| other.numbered(word).is_some_and(|of| of.0 != kind));
        let title = row.title.split(", ").next().unwrap_or_default();
        Some(if study.rows.iter().any(is_other) { format!("{title} {words}") } else { words })
    };
    let is_numbered = matches!(study.question, Question::Sweep | Question::Curve | Question::Scale);
    let row = study.rows.iter().find(|row| is_numbered && row.pattern == pattern);
    let name = || if study.question == Question::SmallFiles { test_name::title_of_phase(pattern) } else { pattern };
    row.and_then(number).unwrap_or_else(|| name().to_owned())
}

/// Up to this number of tests are named; of more only the count is given.
const APART_NAMED: usize = 3;

/// The tests whose mean and median are far apart, with both figures or, in short, only how many they are; `None`: there are
/// none that the headline does not name already.
pub(super) fn apart(tests: &[TestFigures], study: &Study, in_short: bool) -> Option<String> {
    let several = tests.iter().any(|test| test.target != tests[0].target);
    let told = |test: &TestFigures| {
        let is_told = match study.question {
            Question::Measure => SINGLE.contains(&test.name.as_str()),
            // A command has a single time.
            question => question == Question::Time,
        };
        let [median, mean] = shown(test, study).filter(|_| test.counts() && !is_told)?;
        let name = called(study, &test.name);
        let of = if several { format!("{name} on {}", test.target) } else { name };
        are_apart(mean, median).then(|| format!("{of} (median {}, mean {})", latency(median), latency(mean)))
    };
    let all: Vec<String> = tests.iter().filter_map(told).collect();
    if in_short && !all.is_empty() {
        return Some(format!("median and mean are far apart in {}", counted(all.len() as u64, "test")));
    }
    let (named, more) = all.split_at(all.len().min(APART_NAMED));
    let more =
        if more.is_empty() { String::new() } else { format!(" and {} more", counted(more.len() as u64, "test")) };
    (!all.is_empty()).then(|| format!("median and mean are far apart: {}{more}", named.join(", ")))
}

/// Median and mean of a test as its tables show them, ns; for a paced load, of response times.
fn shown(test: &TestFigures, study: &Study) -> Option<[f64; 2]> {
    let load = study.rows.iter().find(|row| study.question == Question::Curve && row.pattern == test.name);
    if let Some(response) = load.and_then(Row::response_times) {
        return Some([response.p50_ns as f64, response.mean_ns]);
    }
    let found = test.latency_us?;
    Some([found.p50? * 1e3, found.mean? * 1e3])
}

/// The tests whose latencies the headline of `measure` names.
const SINGLE: [&str; 3] = [test_name::READ_LATENCY, test_name::WRITE_LATENCY, test_name::SYNC_LATENCY];

/// The 99th percentile of latency.
pub(crate) fn p99(test: &TestFigures) -> Option<String> {
    Some(latency(test.latency_us?.p99? * 1e3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_is_called_as_its_row_is() {
        let row = |pattern: &str, title: &str| Row { pattern: pattern.into(), title: title.into(), ..Row::default() };
        let mut study = Study { question: Question::Sweep, ..Study::of_run(fsdyno_results::RunRecord::new("test", 1)) };
        study.rows = vec![
            row("fill", "writes the file: 1m sequential write, depth 16"),
            row("randread-4k-qd4", "4k random read, depth 4"),
            row("randread-4k-load20", "4k random read, 20 % of the capacity"),
            row("randread-4k-n1", "4k random read, 1 node"),
        ];
        let told = |study: &Study| study.rows.iter().map(|row| called(study, &row.pattern)).collect::<Vec<_>>();
        assert_eq!(told(&study), ["fill", "depth 4", "20 % load", "1 node"]);
        study.rows.push(row("write-1m-qd4", "1m sequential write, depth 4"));
        assert_eq!(told(&study)[1], "4k random read depth 4", "two kinds of requests");
        assert_eq!(told(&study)[4], "1m sequential write depth 4");
        study.question = Question::Measure;
        assert_eq!(told(&study)[1], "randread-4k-qd4", "its table has names");
    }
}
