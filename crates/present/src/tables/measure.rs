//! The table of `measure`: one line per test.

use results::{Figures, LatencyFigures, Row, Study};

use super::sentence::first_error;
use super::table::{Form, Table};
use results::quantity::{latency, number, rate_number, rate_unit};

pub(super) fn table(study: &Study, form: Form) -> String {
    let mut table = Table::new(&["test", "depth", rate_unit(), "IOPS", "mean", "p50", "p99", "CPU %", "<trust"]);
    for row in &study.rows {
        table.row(match (first_error(row), row.figures()) {
            (Some(error), _) => failed(row, &error),
            (None, Some(figures)) => measured(row, &figures),
            (None, None) => failed(row, "did not run"),
        });
    }
    if table.is_empty() { String::new() } else { table.shown(form) }
}

/// What was done; how deep has a column of its own.
fn name(row: &Row) -> String {
    row.title.split(", depth ").next().unwrap_or_default().to_string()
}

/// Requests in flight: `32`, or of several jobs `16 x 32`.
fn depth(row: &Row) -> String {
    let depths: Vec<u32> = row.run.iter().flat_map(|run| &run.jobs).map(|job| job.setup.depth).collect();
    match &depths[..] {
        [only] => only.to_string(),
        [first, others @ ..] if others.iter().all(|depth| depth == first) => format!("{} x {first}", depths.len()),
        _ => "-".to_string(),
    }
}

fn failed(row: &Row, reason: &str) -> Vec<String> {
    let mut cells = vec![name(row), depth(row)];
    cells.extend(vec!["-".to_string(); 6]);
    cells.push(format!("failed: {reason}"));
    cells
}

fn measured(row: &Row, figures: &Figures) -> Vec<String> {
    let total = figures.total;
    let time = |pick: fn(&LatencyFigures) -> Option<f64>| {
        total.latency.as_ref().and_then(pick).map_or("-".to_string(), latency)
    };
    // What reached the storage counts: the syncs at the end belong to a write.
    let rate = total.durable_bytes_per_s.unwrap_or(total.bytes_per_s);
    vec![
        name(row),
        depth(row),
        rate_number(rate),
        number(total.iops),
        time(|found| Some(found.mean_ns)),
        time(|found| Some(found.p50_ns as f64)),
        time(|found| found.p99_ns.map(|ns| ns as f64)),
        number(figures.cpu_percent),
        row.trust().word().to_string(),
    ]
}
