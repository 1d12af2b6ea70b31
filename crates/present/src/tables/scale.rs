//! Shows `scale`: for each kind of request a table with a line for each number of nodes, and throughput against nodes.

use fsdyno_results::{Row, Study, SweepPoint};
use fsdyno_text::quantity::{bytes_per_s, latency, number, rate_number, rate_unit};

use super::bars::{bar, most};
use super::plot::{Mark, Tick, plot};
use super::sentence::first_error;
use super::sweep::{BAR, failed_filling, groups, level, runs, title};
use super::table::{Form, Table};
use crate::quantity::reach;

/// The word before the number of nodes in a test's name.
const WORD: &str = "n";

pub(super) fn tables(study: &Study, form: Form) -> String {
    let mut parts: Vec<String> = failed_filling(study, form).into_iter().collect();
    for group in groups(study, WORD) {
        let steps = study.numbered_points(group, WORD);
        parts.push(format!("{}{}", form.paragraph(title(&steps)), table(&steps, form)));
        parts.extend(chart(&steps, form));
    }
    parts.join("\n")
}

/// One line with a bar for each number of nodes; for several kinds of requests a table each.
pub(super) fn in_short(study: &Study, form: Form) -> String {
    let groups = groups(study, WORD);
    let tables = groups.iter().map(|group| {
        let steps = study.numbered_points(group, WORD);
        let about = if groups.len() > 1 { form.paragraph(title(&steps)) } else { String::new() };
        format!("{about}{}", bars(&steps, form))
    });
    tables.collect()
}

fn bars(steps: &[(u32, Vec<&Row>)], form: Form) -> String {
    let most = most(steps.iter().filter_map(|(_, rows)| Some(SweepPoint::of(rows)?.bytes_per_s)));
    let mut table = Table::new(&["nodes", rate_unit(), "<", "per node", "IOPS", "<trust"]);
    for (nodes, rows) in steps {
        let mut cells = vec![format!("{nodes:>5}")];
        match SweepPoint::of(rows) {
            Some(point) => cells.extend([
                rate_number(point.bytes_per_s),
                bar(point.bytes_per_s / most, BAR),
                rate_number(point.bytes_per_s / f64::from(*nodes)),
                number(point.iops),
                point.trust.word().to_owned(),
            ]),
            None => cells.extend(["-", "", "-", "-", "invalid"].map(str::to_owned)),
        }
        table.row(cells);
    }
    table.shown(form)
}

fn table(steps: &[(u32, Vec<&Row>)], form: Form) -> String {
    let mut table =
        Table::new(&["nodes", "runs", rate_unit(), &level(steps), "per node", "IOPS", "mean", "p99", "<trust"])
            .sparing(&["mean"]);
    for (nodes, rows) in steps {
        let cells = SweepPoint::of(rows).map(|point| measured(*nodes, rows, &point)).unwrap_or_else(|| {
            let mut cells = vec!["-".to_owned(); 7];
            let error = rows.iter().find_map(|row| first_error(row));
            cells.push(error.map_or("invalid".to_owned(), |error| format!("failed: {error}")));
            cells
        });
        table.row(std::iter::once(format!("{nodes:>5}")).chain(cells).collect());
    }
    table.explained(form)
}

fn measured(nodes: u32, rows: &[&Row], point: &SweepPoint) -> Vec<String> {
    let interval = point.interval.map_or("-".to_owned(), |found| reach(point.iops, &found, 1));
    let time = |ns: Option<f64>| ns.map_or("-".to_owned(), latency);
    vec![
        runs(rows, point),
        rate_number(point.bytes_per_s),
        interval,
        rate_number(point.bytes_per_s / f64::from(nodes)),
        number(point.iops),
        time(point.latency.map(|found| found.mean_ns)),
        time(point.latency.and_then(|found| found.p99_ns).map(|ns| ns as f64)),
        point.trust.word().to_owned(),
    ]
}

fn chart(steps: &[(u32, Vec<&Row>)], form: Form) -> Option<String> {
    let mark = |(nodes, rows): &(u32, Vec<&Row>)| {
        Some(Mark { x: f64::from(*nodes), y: SweepPoint::of(rows)?.bytes_per_s, label: nodes.to_string() })
    };
    let marks: Vec<Mark> = steps.iter().filter_map(mark).collect();
    let most = marks.iter().map(|mark| mark.x).fold(0.0, f64::max);
    let ticks = [0.0, 0.5, 1.0].map(|share| Tick { x: most * share, label: number(most * share) });
    let chart = plot(&marks, &ticks, bytes_per_s, form.columns())?;
    let about = form.paragraph("Throughput (log scale) against nodes:");
    Some(format!("{about}{}", form.verbatim(&chart)))
}
