//! `sweep`: for each kind of request a table, one line per depth, and latency against throughput.

use results::quantity::{latency, number};
use results::{Figures, LatencyFigures, Row, Study};

use super::plot::{Mark, Tick, plot};
use super::sentence::first_error;
use super::table::{Form, Table};

pub(super) fn tables(study: &Study, form: Form) -> String {
    let mut parts: Vec<String> = failed_filling(study, form).into_iter().collect();
    for group in groups(study) {
        let rows = of_group(study, group);
        parts.push(format!("{}{}", form.paragraph(title(&rows)), points(&rows, form)));
        parts.extend(chart(&rows, form));
    }
    parts.join("\n")
}

/// The kinds of requests, in the order in which they ran.
fn groups(study: &Study) -> Vec<&str> {
    let mut groups = Vec::new();
    for (group, _) in study.rows.iter().filter_map(|row| row.numbered("qd")) {
        if !groups.contains(&group) {
            groups.push(group);
        }
    }
    groups
}

/// The points of a group, by depth.
fn of_group<'a>(study: &'a Study, group: &str) -> Vec<(u32, &'a Row)> {
    let numbered = |row: &'a Row| row.numbered("qd").filter(|(of, _)| *of == group).map(|(_, depth)| (depth, row));
    let mut rows: Vec<(u32, &Row)> = study.rows.iter().filter_map(numbered).collect();
    rows.sort_by_key(|(depth, _)| *depth);
    rows
}

/// `4k random read` of `4k random read, depth 16`.
fn title<'a>(rows: &[(u32, &'a Row)]) -> &'a str {
    rows.first().map_or("", |(_, row)| row.title.split(", ").next().unwrap_or(&row.title))
}

/// A file that could not be filled is why nothing follows.
pub(super) fn failed_filling(study: &Study, form: Form) -> Option<String> {
    let row = study.rows.iter().find(|row| row.pattern == "fill")?;
    Some(form.paragraph(&format!("{}: failed: {}", row.title, first_error(row)?)))
}

/// One line per depth.
pub(super) fn points(rows: &[(u32, &Row)], form: Form) -> String {
    let mut table = Table::new(&["depth", "IOPS", "MB/s", "mean", "p50", "p99", "in flight", "<trust"]);
    for (depth, row) in rows {
        let cells = match (first_error(row), row.figures()) {
            (Some(error), _) => failed(&error),
            (None, Some(figures)) => measured(row, &figures),
            (None, None) => failed("did not run"),
        };
        table.row(std::iter::once(format!("{depth:>5}")).chain(cells).collect());
    }
    if table.is_empty() { String::new() } else { table.shown(form) }
}

fn failed(reason: &str) -> Vec<String> {
    let mut cells = vec!["-".to_string(); 6];
    cells.push(format!("failed: {reason}"));
    cells
}

fn measured(row: &Row, figures: &Figures) -> Vec<String> {
    let total = figures.total;
    let time = |pick: fn(&LatencyFigures) -> Option<f64>| {
        total.latency.as_ref().and_then(pick).map_or("-".to_string(), latency)
    };
    // By Little's law: what really was under way at once.
    let in_flight = total.latency.map_or("-".to_string(), |found| number(total.iops * found.mean_ns / 1e9));
    let rate = total.durable_bytes_per_s.unwrap_or(total.bytes_per_s);
    vec![
        number(total.iops),
        number(rate / 1e6),
        time(|found| Some(found.mean_ns)),
        time(|found| Some(found.p50_ns as f64)),
        time(|found| found.p99_ns.map(|ns| ns as f64)),
        in_flight,
        row.trust().word().to_string(),
    ]
}

/// Mean latency against throughput.
fn chart(rows: &[(u32, &Row)], form: Form) -> Option<String> {
    let mark = |(depth, row): &(u32, &Row)| {
        let total = row.figures().filter(|_| first_error(row).is_none())?.total;
        Some(Mark { x: total.iops, y: total.latency?.mean_ns, label: depth.to_string() })
    };
    let marks: Vec<Mark> = rows.iter().filter_map(mark).collect();
    let most = marks.iter().map(|mark| mark.x).fold(0.0, f64::max);
    let ticks = [0.0, 0.5, 1.0].map(|share| Tick { x: most * share, label: number(most * share) });
    let chart = plot(&marks, &ticks, latency, form.columns())?;
    let about = form.paragraph("Mean latency (log scale) against IOPS; each number is a depth:");
    Some(format!("{about}{}", form.verbatim(&chart)))
}

#[cfg(test)]
pub(super) mod tests;
