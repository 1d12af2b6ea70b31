//! Shows the figures of another tool's tests side by side, as that tool does.

use fsdyno_text::quantity::{number, rate_number, rate_unit};

use super::measure::reach;
use super::table::{Form, Table};
use crate::headline::{Pair, TestFigures};

/// A line for each test: throughput in both directions; for small requests also IOPS and latency.
pub(super) fn table(pairs: &[Pair<'_>], form: Form) -> String {
    let (read, write) = (format!("read {}", rate_unit()), format!("write {}", rate_unit()));
    let headers = ["", &read, &write, "read IOPS", "write IOPS", "read µs", "write µs"];
    let mut lines: Vec<Vec<String>> = Vec::new();
    for pair in pairs {
        let mut cells = vec![pair.name.to_string()];
        let both = |figure: fn(&TestFigures) -> String| {
            [pair.read, pair.write].map(|test| test.map(figure).unwrap_or_default())
        };
        cells.extend(both(throughput));
        for figure in [rate, microseconds] {
            // Large requests are judged by bytes alone.
            cells.extend(if pair.is_random { both(figure) } else { Default::default() });
        }
        lines.push(cells);
    }
    let used: Vec<usize> =
        (0..headers.len()).filter(|column| lines.iter().any(|line| !line[*column].is_empty())).collect();
    let mut table = Table::new(&used.iter().map(|column| headers[*column]).collect::<Vec<_>>());
    for line in &lines {
        table.row(used.iter().map(|column| line[*column].clone()).collect());
    }
    table.explained(form)
}

/// The rate with its interval over the loops, or why there is none.
fn throughput(test: &TestFigures) -> String {
    if test.error.is_some() {
        return "failed".to_string();
    }
    if !test.counts() {
        return test.trust.word().to_string();
    }
    let Some(rate) = test.mb_per_s else { return String::new() };
    format!("{}{}", rate_number(rate * 1e6), reach(rate, test.intervals.mb_per_s))
}

fn rate(test: &TestFigures) -> String {
    counted(test, test.iops)
}

fn microseconds(test: &TestFigures) -> String {
    counted(test, test.latency_us.and_then(|found| found.p50.or(found.mean)))
}

fn counted(test: &TestFigures, figure: Option<f64>) -> String {
    figure.filter(|_| test.counts()).map(number).unwrap_or_default()
}
