//! Shows `sweep`: for each kind of request a table, one line per depth, and latency against throughput.

use fsdyno_results::{LatencyFigures, Row, Study, SweepPoint, TestRounds, Trust};
use fsdyno_text::quantity::{latency, number, rate_number, rate_unit};

use super::bars::{bar, most, sparkline};
use super::plot::{Mark, Tick, plot};
use super::sentence::first_error;
use super::table::{Form, Table};
use crate::headline::figures;
use crate::quantity::{listed, reach};

pub(super) fn tables(study: &Study, form: Form) -> String {
    let mut parts: Vec<String> = failed_filling(study, form).into_iter().collect();
    for group in groups(study, "qd") {
        let rows = study.depths(group);
        parts.push(format!("{}{}", form.paragraph(title(&rows)), points(&rows, form)));
        parts.extend(chart(&rows, form));
    }
    parts.join("\n")
}

/// Width of a bar, columns.
pub(super) const BAR: usize = 20;

/// A line per depth for one kind of request; for several kinds a line for each.
pub(super) fn in_short(study: &Study, form: Form) -> String {
    let groups = groups(study, "qd");
    if let [only] = groups[..] {
        return bars(&study.depths(only), form);
    }
    let of_objects = groups.iter().any(|group| is_of_objects(&study.depths(group)));
    let numbers = if of_objects { "connections" } else { "depths" };
    let mut table = Table::new(&["", numbers, "least", "most IOPS", "<", "<trust"]);
    for group in groups {
        let depths = study.depths(group);
        let measured: Vec<SweepPoint> = depths.iter().filter_map(|(_, rows)| SweepPoint::of(rows)).collect();
        let points: Vec<f64> = measured.iter().map(|point| point.iops).collect();
        let trust = measured.iter().map(|point| point.trust).max();
        let ends = depths.first().zip(depths.last());
        let least = points.iter().copied().reduce(f64::min).map_or("-".to_owned(), number);
        table.row(vec![
            title(&depths).to_owned(),
            ends.map_or(String::new(), |((first, _), (last, _))| format!("{first} to {last}")),
            least,
            number(most(points.iter().copied())),
            sparkline(&points),
            trust.map_or("-", Trust::word).to_owned(),
        ]);
    }
    table.shown(form)
}

/// One line per depth with a bar.
fn bars(depths: &[(u32, Vec<&Row>)], form: Form) -> String {
    let most = most(depths.iter().filter_map(|(_, rows)| Some(SweepPoint::of(rows)?.iops)));
    let mut table = Table::new(&[number_of(depths), "IOPS", "<", "mean", "p99", "<trust"]);
    for (depth, rows) in depths {
        let mut cells = vec![format!("{depth:>5}")];
        match SweepPoint::of(rows) {
            Some(point) => cells.extend([
                number(point.iops),
                bar(point.iops / most, BAR),
                point.latency.map_or("-".to_owned(), |found| latency(found.mean_ns)),
                point.latency.and_then(|found| found.p99_ns).map_or("-".to_owned(), |ns| latency(ns as f64)),
                point.trust.word().to_owned(),
            ]),
            None => cells.extend(["-", "", "-", "-", &without_figures(rows)].map(str::to_owned)),
        }
        table.row(cells);
    }
    table.shown(form)
}

/// What the number of a point is: each connection to an object store carries one request at a time.
fn number_of(points: &[(u32, Vec<&Row>)]) -> &'static str {
    if is_of_objects(points) { "connections" } else { "depth" }
}

fn is_of_objects(points: &[(u32, Vec<&Row>)]) -> bool {
    points.iter().flat_map(|(_, rows)| rows).any(|row| figures::is_of_objects(row))
}

/// The kinds of requests, in the order in which they ran.
pub(super) fn groups<'a>(study: &'a Study, word: &str) -> Vec<&'a str> {
    let mut groups = Vec::new();
    for (group, _) in study.rows.iter().filter_map(|row| row.numbered(word)) {
        if !groups.contains(&group) {
            groups.push(group);
        }
    }
    groups
}

/// The title without its depth: `4k random read` from `4k random read, depth 16`.
pub(super) fn title<'a>(points: &[(u32, Vec<&'a Row>)]) -> &'a str {
    points
        .first()
        .and_then(|(_, rows)| rows.first())
        .map_or("", |row| row.title.split(", ").next().unwrap_or(&row.title))
}

/// A sentence if the file could not be filled: no tests follow then.
pub(super) fn failed_filling(study: &Study, form: Form) -> Option<String> {
    let row = study.rows.iter().find(|row| row.pattern == "fill")?;
    Some(form.paragraph(&format!("{}: failed: {}", row.title, first_error(row)?)))
}

/// One line per depth, or why no depth has figures that count.
pub(super) fn points(points: &[(u32, Vec<&Row>)], form: Form) -> String {
    let mut table = Table::new(&[
        number_of(points),
        "runs",
        "IOPS",
        &level(points),
        rate_unit(),
        "mean",
        "p50",
        "p99",
        "in flight",
        "<trust",
    ])
    .sparing(&["runs", rate_unit(), "in flight"]);
    let mut missing: Vec<(String, Vec<String>)> = Vec::new();
    for (depth, rows) in points {
        let cells = SweepPoint::of(rows).map(|point| measured(rows, &point)).unwrap_or_else(|| {
            let reason = without_figures(rows);
            match missing.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, depths)) => depths.push(depth.to_string()),
                None => missing.push((reason.clone(), vec![depth.to_string()])),
            }
            let mut cells = vec!["-".to_string(); 8];
            cells.push(reason);
            cells
        });
        table.row(std::iter::once(format!("{depth:>5}")).chain(cells).collect());
    }
    if missing.iter().map(|(_, depths)| depths.len()).sum::<usize>() < points.len() {
        return table.explained(form);
    }
    let number_of = number_of(points);
    let line =
        |(reason, depths): &(String, Vec<String>)| form.paragraph(&format!("{number_of} {}: {reason}", listed(depths)));
    missing.iter().map(line).collect()
}

/// Why a depth has no figures that count.
fn without_figures(rows: &[&Row]) -> String {
    match rows.iter().find_map(|row| first_error(row)) {
        Some(error) => format!("failed: {error}"),
        None if rows.iter().any(|row| row.figures().is_some()) => "invalid".to_string(),
        None => "did not run".to_string(),
    }
}

fn measured(rows: &[&Row], point: &SweepPoint) -> Vec<String> {
    let time = |pick: fn(&LatencyFigures) -> Option<f64>| {
        point.latency.as_ref().and_then(pick).map_or("-".to_string(), latency)
    };
    let in_flight = point.in_flight.map_or("-".to_string(), number);
    let interval = point.interval.map_or("-".to_string(), |found| reach(point.iops, &found, 1));
    vec![
        runs(rows, point),
        number(point.iops),
        interval,
        rate_number(point.bytes_per_s),
        time(|found| Some(found.mean_ns)),
        time(|found| Some(found.p50_ns as f64)),
        time(|found| found.p99_ns.map(|ns| ns as f64)),
        in_flight,
        point.trust.word().to_string(),
    ]
}

/// The number of runs: `4`, or `3/4` where some do not count.
pub(super) fn runs(rows: &[&Row], point: &SweepPoint) -> String {
    match (point.runs.len(), rows.len()) {
        (counted, all) if counted == all => all.to_string(),
        (counted, all) => format!("{counted}/{all}"),
    }
}

/// The least confidence of these points' intervals: `88 %`.
pub(super) fn level(points: &[(u32, Vec<&Row>)]) -> String {
    let intervals = points.iter().filter_map(|(_, rows)| SweepPoint::of(rows)?.interval);
    let least = intervals.map(|interval| interval.confidence).reduce(f64::min);
    least.map_or("interval".to_string(), |least| format!("{:.0} %", least * 100.0))
}

/// The chart: mean latency against throughput.
fn chart(points: &[(u32, Vec<&Row>)], form: Form) -> Option<String> {
    let mark = |(depth, rows): &(u32, Vec<&Row>)| {
        let point = SweepPoint::of(rows)?;
        Some(Mark { x: point.iops, y: point.latency?.mean_ns, label: depth.to_string() })
    };
    let marks: Vec<Mark> = points.iter().filter_map(mark).collect();
    let most = marks.iter().map(|mark| mark.x).fold(0.0, f64::max);
    let ticks = [0.0, 0.5, 1.0].map(|share| Tick { x: most * share, label: number(most * share) });
    let chart = plot(&marks, &ticks, latency, form.columns())?;
    let trusts = points.iter().map(|(depth, rows)| (*depth, TestRounds::of_rows(rows.iter().copied()).trust()));
    let invalid = super::curve::invalid(trusts);
    let number = if is_of_objects(points) { "counts connections" } else { "is a depth" };
    let about = form.paragraph(&format!("Mean latency (log scale) against IOPS; each number {number}{invalid}:"));
    Some(format!("{about}{}", form.verbatim(&chart)))
}

#[cfg(test)]
pub(super) mod tests;
