//! `curve`: what the closed loop found, then one line per load, and response time against load.

use results::quantity::{latency, number};
use results::statistics::Served;
use results::{LatencyFigures, Load, Metric, Row, Study, TestRounds, sort};

use super::plot::{Mark, Tick, plot};
use super::sentence::first_error;
use super::sweep;
use super::table::{Form, Table};

pub(super) fn tables(study: &Study, form: Form) -> String {
    let numbered = |word: &'static str| {
        study.rows.iter().filter_map(move |row| row.numbered(word).map(|(_, number)| (number, row)))
    };
    let mut parts: Vec<String> = sweep::failed_filling(study, form).into_iter().collect();
    let looks: Vec<(u32, Vec<&Row>)> = numbered("qd").map(|(depth, row)| (depth, vec![row])).collect();
    if !looks.is_empty() {
        let about = form.paragraph("Closed loop, to find the capacity: the next request starts when one completes.");
        parts.push(format!("{about}{}", sweep::points(&looks, form)));
    }
    let mut loads: Vec<(u32, &Row)> = numbered("load").collect();
    sort::by_key(&mut loads, |(percent, _)| *percent);
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
    let kept_up = match load.map(|load| load.served) {
        Some(Served::Yes) => "yes",
        Some(Served::No) => "no",
        Some(Served::CannotTell) => "not clear",
        None => "-",
    };
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

/// Median and 99th percentile of the response time against the load.
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
    let about =
        form.paragraph("Response time (log scale) against load in percent of the capacity; o is p50, x is p99:");
    Some(format!("{about}{}", form.verbatim(&chart)))
}

#[cfg(test)]
mod tests;
