//! The table of `measure`: one line per test.

use results::{Figures, LatencyFigures, Row, Study};

use super::sentence::first_error;
use super::table::{Form, Table};
use results::quantity::{latency, number};

pub(super) fn table(study: &Study, form: Form) -> String {
    let mut table = Table::new(&["test", "MB/s", "IOPS", "mean", "p50", "p99", "CPU %", "<trust"]);
    for row in &study.rows {
        table.row(match (first_error(row), row.figures()) {
            (Some(error), _) => failed(row, &error),
            (None, Some(figures)) => measured(row, &figures),
            (None, None) => failed(row, "did not run"),
        });
    }
    if table.is_empty() { String::new() } else { table.shown(form) }
}

fn failed(row: &Row, reason: &str) -> Vec<String> {
    let mut cells = vec![row.title.clone()];
    cells.extend(vec!["-".to_string(); 6]);
    cells.push(format!("failed: {reason}"));
    cells
}

fn measured(row: &Row, figures: &Figures) -> Vec<String> {
    let total = figures.total;
    let time =
        |pick: fn(&LatencyFigures) -> f64| total.latency.as_ref().map_or("-".to_string(), |found| latency(pick(found)));
    // What reached the storage counts: the syncs at the end belong to a write.
    let rate = total.durable_bytes_per_s.unwrap_or(total.bytes_per_s);
    vec![
        row.title.clone(),
        number(rate / 1e6),
        number(total.iops),
        time(|found| found.mean_ns),
        time(|found| found.p50_ns as f64),
        time(|found| found.p99_ns as f64),
        number(figures.cpu_percent),
        row.trust().word().to_string(),
    ]
}
