//! Shows `curve`: the capacity, then one line per load, and response time against load.

use fsdyno_results::{LatencyFigures, Load, Metric, Row, Study, TestRounds, Trust};
use fsdyno_stats::sort;
use fsdyno_text::quantity::{latency, number};

use super::bars::{bar, most};
use super::plot::{Mark, Tick, plot};
use super::sentence::first_error;
use super::sweep;
use super::table::{Form, Table};

pub(super) fn tables(study: &Study, form: Form) -> String {
    let mut parts: Vec<String> = sweep::failed_filling(study, form).into_iter().collect();
    let looks: Vec<(u32, Vec<&Row>)> =
        study.rows.iter().filter_map(|row| row.numbered("qd").map(|(_, depth)| (depth, vec![row]))).collect();
    if !looks.is_empty() {
        let about = form.paragraph("Closed loop, to find the capacity: the next request starts when one completes.");
        parts.push(format!("{about}{}", sweep::points(&looks, form)));
    }
    let loads = numbered_loads(study);
    if !loads.is_empty() {
        let about = form.paragraph(
            "Open loop: requests arrive at random (Poisson) at a share of the capacity. Response time counts from a \
             request's intended start, including time in the queue; service time counts from its real start.",
        );
        parts.push(format!("{about}{}", of_loads(study, &loads, form)));
        parts.extend(chart(&loads, form));
    }
    parts.join("\n")
}

/// Width of a bar, columns.
const BAR: usize = 12;

/// One line per load, with a bar for the 99th percentile.
pub(super) fn in_short(study: &Study, form: Form) -> String {
    let judged = study.loads();
    let loads = numbered_loads(study);
    let p99 = |row: &Row| row.response_times()?.p99_ns.map(|ns| ns as f64);
    let most = most(loads.iter().filter_map(|(_, row)| p99(row)));
    let mut table =
        Table::new(&["load", "offered/s", "achieved/s", "p50", "p99", "<", "<kept up", "<trust"]).sparing(&[""]);
    for (percent, row) in &loads {
        let cells = match first_error(row) {
            Some(_) => None,
            None => measured(row, judged.iter().find(|load| load.percent == *percent)),
        };
        let cells = cells.unwrap_or_else(|| failed("did not run"));
        let [offered, achieved, p50, p99_words, _, _, kept_up, trust] = &cells[..] else { continue };
        let bar = p99(row).map_or(String::new(), |ns| bar(ns / most, BAR));
        let name = format!("{percent:>3} %");
        table.row([&name, offered, achieved, p50, p99_words, &bar, kept_up, trust].map(Clone::clone).to_vec());
    }
    if table.is_empty() { String::new() } else { table.shown(form) }
}

/// The loads with their rows, the lightest first.
fn numbered_loads(study: &Study) -> Vec<(u32, &Row)> {
    let loads = study.rows.iter().filter_map(|row| row.numbered("load").map(|(_, number)| (number, row)));
    let mut loads: Vec<(u32, &Row)> = loads.collect();
    sort::by_key(&mut loads, |(percent, _)| *percent);
    loads
}

fn of_loads(study: &Study, loads: &[(u32, &Row)], form: Form) -> String {
    let judged = study.loads();
    let headers = ["load", "offered/s", "achieved/s", "p50", "p99", "p99.9", "service p99", "<kept up", "<trust"];
    let mut table = Table::new(&headers).sparing(&["p99.9", "service p99"]);
    for (percent, row) in loads {
        let cells = match first_error(row) {
            Some(error) => failed(&error),
            None => measured(row, judged.iter().find(|load| load.percent == *percent))
                .unwrap_or_else(|| failed("did not run")),
        };
        table.row(std::iter::once(format!("{percent:>3} %")).chain(cells).collect());
    }
    table.shown(form)
}

fn failed(reason: &str) -> Vec<String> {
    let mut cells = vec!["-".to_string(); 7];
    cells.push(format!("failed: {reason}"));
    cells
}

fn measured(row: &Row, load: Option<&Load<'_>>) -> Option<Vec<String>> {
    let (total, round) = (row.figures()?.total, TestRounds::of_rows([row]));
    let response = row.response_times();
    let time = |pick: fn(&LatencyFigures) -> Option<u64>| {
        response.as_ref().and_then(pick).map_or("-".to_string(), |ns| latency(ns as f64))
    };
    let kept_up = load.map_or("-", |load| if load.kept_up() { "yes" } else { "no" });
    Some(vec![
        load.map_or("-".to_string(), |load| number(load.offered_per_s)),
        round.value(Metric::Iops).map_or("-".to_string(), number),
        time(|response| Some(response.p50_ns)),
        time(|response| response.p99_ns),
        time(|response| response.p999_ns),
        total.latency.and_then(|service| service.p99_ns).map_or("-".to_string(), |ns| latency(ns as f64)),
        kept_up.to_string(),
        row.trust().word().to_string(),
    ])
}

/// The points of a chart whose rows are invalid, as their tables mark them: ` (invalid: 90, 120)`.
pub(super) fn invalid(points: impl Iterator<Item = (u32, Trust)>) -> String {
    let numbers = points.filter(|(_, trust)| *trust == Trust::Invalid).map(|(number, _)| number.to_string());
    let numbers: Vec<String> = numbers.collect();
    if numbers.is_empty() { String::new() } else { format!(" (invalid: {})", numbers.join(", ")) }
}

/// The chart: median and 99th percentile of the response time against the load.
fn chart(loads: &[(u32, &Row)], form: Form) -> Option<String> {
    let mut marks = Vec::new();
    let mut ticks = Vec::new();
    for (percent, row) in loads {
        let Some(response) = row.response_times().filter(|_| first_error(row).is_none()) else { continue };
        let x = f64::from(*percent);
        marks.push(Mark { x, y: response.p50_ns as f64, label: "o".to_string() });
        marks.extend(response.p99_ns.map(|p99_ns| Mark { x, y: p99_ns as f64, label: "x".to_string() }));
        ticks.push(Tick { x, label: percent.to_string() });
    }
    let chart = plot(&marks, &ticks, latency, form.columns())?;
    let invalid = invalid(loads.iter().map(|(percent, row)| (*percent, row.trust())));
    let about = form.paragraph(&format!(
        "Response time (log scale) against load in percent of the capacity{invalid}; o is p50, x is p99:"
    ));
    Some(format!("{about}{}", form.verbatim(&chart)))
}

#[cfg(test)]
mod tests;
