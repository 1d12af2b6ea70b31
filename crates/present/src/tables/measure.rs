//! Shows `measure`: the answer with its few figures, and the table of all tests.

use fsdyno_results::Interval;
use fsdyno_text::quantity::{latency, number, rate_number, rate_unit};

use super::other_tools;
use super::table::{Form, Table};
use crate::headline::{Headline, StorageTests, TestFigures, figures, pairs};

/// From this width on the description stands beside a test's name, columns.
const WIDE: usize = 100;

/// The figures that the headline rests on; empty: it has none.
pub(super) fn answer(headline: &Headline, form: Form) -> String {
    let pairs = pairs(&headline.tests);
    if !pairs.is_empty() {
        return other_tools::table(&pairs, form);
    }
    let six = StorageTests::of(&headline.tests);
    if !six.any() {
        return String::new();
    }
    let headers = ["", "sequential 1m", "random 4k, deep", "4k, one: median", "p99"];
    let mut lines: Vec<[String; 5]> = Vec::new();
    let rows = [
        ("read", six.seq_read, six.rand_read, six.read_latency),
        ("write", six.seq_write, six.rand_write, six.write_latency),
        ("write + fdatasync", None, None, six.sync_latency),
    ];
    for (name, sequential, random, single) in rows {
        if [sequential, random, single].iter().all(Option::is_none) {
            continue;
        }
        let shown = |test: Option<&TestFigures>, figure: Figure| test.map(figure).unwrap_or_default();
        lines.push([
            name.to_string(),
            shown(sequential, |test| certain(test, figures::throughput(test), test.mb_per_s, test.intervals.mb_per_s)),
            shown(random, |test| certain(test, figures::rate(test), test.iops, test.intervals.iops)),
            shown(single, |test| certain(test, figures::typical(test), median(test), test.intervals.p50_us)),
            shown(single, |test| if test.counts() { figures::p99(test).unwrap_or_default() } else { String::new() }),
        ]);
    }
    // Columns without any value are left out.
    let used: Vec<usize> = (0..headers.len())
        .filter(|column| *column == 0 || lines.iter().any(|line| !line[*column].is_empty()))
        .collect();
    let mut table = Table::new(&used.iter().map(|column| headers[*column]).collect::<Vec<_>>());
    for line in &lines {
        table.row(used.iter().map(|column| line[*column].clone()).collect());
    }
    table.explained(form)
}

type Figure = fn(&TestFigures) -> String;

fn median(test: &TestFigures) -> Option<f64> {
    test.latency_us?.p50
}

/// The figure with its interval, or why there is none.
fn certain(test: &TestFigures, words: Option<String>, value: Option<f64>, interval: Option<Interval>) -> String {
    if test.error.is_some() {
        return "failed".to_string();
    }
    if !test.counts() {
        return test.trust.word().to_string();
    }
    let Some(words) = words else { return String::new() };
    format!("{words}{}", value.map(|value| reach(value, interval)).unwrap_or_default())
}

/// How far the interval reaches from the figure: ` ±3 %`; empty where there is no interval.
pub(super) fn reach(value: f64, interval: Option<Interval>) -> String {
    let interval = interval.filter(|_| value > 0.0);
    interval.map(|interval| format!(" {}", crate::quantity::reach(value, &interval, 0))).unwrap_or_default()
}

/// One line for each test.
pub(super) fn table(headline: &Headline, form: Form) -> String {
    let wide = form.columns() >= WIDE || matches!(form, Form::Markdown);
    let mut headers =
        vec!["test", "<what it does", "depth", rate_unit(), "IOPS", "mean", "p50", "p99", "CPU %", "<trust"];
    if !wide {
        headers.remove(1);
    }
    // On a narrow terminal the mean is left out: the median remains.
    let mut table = Table::new(&headers).sparing(&["mean", "CPU %"]);
    for test in &headline.tests {
        let mut cells = vec![test.name.clone(), what(test), depth(test)];
        if !wide {
            cells.remove(1);
        }
        cells.extend(match &test.error {
            Some(error) => {
                let mut cells = vec!["-".to_string(); 6];
                cells.push(format!("failed: {error}"));
                cells
            }
            None => measured(test),
        });
        table.row(cells);
    }
    if table.is_empty() { String::new() } else { table.shown(form) }
}

/// The description without the depth, which has its own column.
fn what(test: &TestFigures) -> String {
    test.title.split(", depth ").next().unwrap_or_default().to_string()
}

/// The depth: `32`, or for several jobs `16 x 32`.
fn depth(test: &TestFigures) -> String {
    match (test.jobs, test.depth) {
        (_, None) => "-".to_string(),
        (1, Some(depth)) => depth.to_string(),
        (jobs, Some(depth)) => format!("{jobs} x {depth}"),
    }
}

fn measured(test: &TestFigures) -> Vec<String> {
    let figure = |value: Option<f64>| value.map_or("-".to_string(), number);
    let found = test.latency_us;
    let time = |us: Option<f64>| us.map_or("-".to_string(), |us| latency(us * 1e3));
    vec![
        test.mb_per_s.map_or("-".to_string(), |rate| rate_number(rate * 1e6)),
        figure(test.iops),
        time(found.and_then(|found| found.mean)),
        time(found.and_then(|found| found.p50)),
        time(found.and_then(|found| found.p99)),
        figure(test.cpu_percent),
        test.trust.word().to_string(),
    ]
}
