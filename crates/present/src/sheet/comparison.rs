//! The comparison table: patterns down, targets across, each figure as it is and as a multiple of the baseline's.

use maud::{Markup, html};
use results::Trust;

use super::findings;
use super::place::{Place, badge, scrolling};
use crate::quantity::{duration, number, ratio, shortened, times_between};
use crate::summary::{Cell, Grid, Line, Metric, Repeat};

pub(super) fn section(grid: &Grid<'_>, place: &Place) -> Markup {
    let lines: Vec<&Line<'_>> = grid.lines.iter().filter(|line| !line.is_phase()).collect();
    if lines.is_empty() {
        return html! {};
    }
    let several = grid.targets.len() > 1;
    place.section(
        "comparison",
        if several { "Comparison" } else { "Figures" },
        html! {
            (scrolling("Figures of all patterns and targets", html! {
                @if several {
                    table.comparison {
                        caption { span { (caption(grid)) } }
                        (header(grid))
                        @for line in &lines { (group(line, grid, place)) }
                    }
                } @else { (of_one_target(&lines, grid, place)) }
            }))
        },
    )
}

/// With one target, a line for each pattern and a column for each figure.
fn of_one_target(lines: &[&Line<'_>], grid: &Grid<'_>, place: &Place) -> Markup {
    let metrics: Vec<Metric> =
        Metric::ALL.into_iter().filter(|metric| lines.iter().any(|line| line.metrics().contains(metric))).collect();
    html! {
        table.figures {
            caption { span { (caption(grid)) } }
            thead { tr {
                th scope="col" { "Pattern" }
                th scope="col" { "Trust" }
                @for metric in &metrics {
                    th.num scope="col" { (metric.head()) }
                }
            } }
            tbody {
                @for line in lines { @for cell in &line.cells { tr {
                    th scope="row" { (shortened(&line.title, 80)) }
                    td { (status(cell, 0, grid, place)) }
                    @for metric in &metrics { (figure_with_interval(cell, *metric, line.headline())) }
                } } }
            }
        }
    }
}

fn figure_with_interval(cell: &Cell<'_>, metric: Metric, headline: Metric) -> Markup {
    html! {
        td class=(if cell.trust() == Trust::Invalid { "num void" } else { "num" }) {
            @match cell.value(metric) {
                Some(_) if cell.is_scarce(metric) => { span.muted { "too few" } }
                Some(value) => { (shown(metric, value)) }
                None => { span.muted { (missing(cell)) } }
            }
            @if let Some(interval) = cell.interval(metric).filter(|_| metric == headline) {
                small.interval { (between(&shown(metric, interval.low), &shown(metric, interval.high))) }
            }
        }
    }
}

fn caption(grid: &Grid<'_>) -> String {
    let mut text = match grid.rounds() {
        0 | 1 => "One round: the noise between rounds is unknown.".to_owned(),
        rounds => {
            let confidence = grid.cells().filter_map(|(line, _, cell)| cell.interval(line.headline()));
            let interval = match confidence.map(|interval| interval.confidence).reduce(f64::min) {
                Some(confidence) => format!("{:.0}\u{a0}% interval", confidence * 100.0),
                None => "interval".to_owned(),
            };
            format!(
                "Medians of {rounds} rounds, with their {interval} in small print, or that of × baseline. Latencies \
                 are percentiles over the requests of all rounds, with the lowest and the highest round in small \
                 print."
            )
        }
    };
    if grid.cells().any(|(_, _, cell)| cell.repeats.iter().any(Repeat::is_sampled)) {
        text.push_str(" For some jobs only one request in so many was timed, because the job reduces clock readings.");
    }
    text
}

/// Columns of a target: its figure and interval, or its figure, the multiple of the baseline's and that one's interval.
fn columns(target: usize) -> &'static str {
    if target == 0 { "2" } else { "3" }
}

fn header(grid: &Grid<'_>) -> Markup {
    let long = |name: &str| name.chars().count() > 40;
    html! {
        thead {
            tr {
                th scope="col" { "Pattern" }
                @for (index, name) in grid.targets.iter().enumerate() {
                    th.target scope="colgroup" colspan=(columns(index)) title=[long(name).then_some(name)] {
                        span class=(format!("swatch {}", super::chart::colour(index))) aria-hidden="true" {}
                        (shortened(name, 40))
                        @if index == 0 && grid.targets.len() > 1 { " " small { "baseline" } }
                        @if index > 0 { " " small { "and × baseline" } }
                    }
                }
            }
        }
    }
}

fn group(line: &Line<'_>, grid: &Grid<'_>, place: &Place) -> Markup {
    html! {
        tbody {
            tr.pattern {
                th scope="rowgroup" { (shortened(&line.title, 80)) }
                @for (target, cell) in line.cells.iter().enumerate() {
                    td colspan=(columns(target)) { (status(cell, target, grid, place)) }
                }
            }
            @for metric in line.metrics() {
                tr.key[metric == line.headline()] {
                    th scope="row" { (metric.title()) @if let Some(unit) = unit(metric) { small { ", " (unit) } } }
                    @for (target, cell) in line.cells.iter().enumerate() {
                        (figure(cell, metric, target))
                        @if target > 0 { (multiple(cell, &line.cells[0], metric)) }
                    }
                }
            }
        }
    }
}

fn status(cell: &Cell<'_>, target: usize, grid: &Grid<'_>, place: &Place) -> Markup {
    if cell.repeats.is_empty() {
        return html! { span.muted { "not run" } };
    }
    let trust = cell.trust();
    let rounds = cell.repeats.len();
    html! {
        (badge(trust))
        @for reason in cell.reasons().iter().filter(|_| trust > Trust::Ok) {
            " " a.reason href=(format!("#{}", findings::anchor(place, target, reason))) { (shortened(reason, 32)) }
        }
        @if let Some(error) = cell.error() { " " span.error { (shortened(&error, 80)) } }
        @if rounds != grid.rounds() { " " small { (rounds) " of " (grid.rounds()) " rounds" } }
    }
}

/// A figure, and of the baseline its interval.
fn figure(cell: &Cell<'_>, metric: Metric, target: usize) -> Markup {
    let class = if cell.trust() == Trust::Invalid { "num figure void" } else { "num figure" };
    html! {
        td class=(class) {
            @match cell.value(metric) {
                Some(_) if cell.is_scarce(metric) => { span.muted { "too few" } }
                Some(value) => { (shown(metric, value)) }
                None => { span.muted { (missing(cell)) } }
            }
        }
        @if target == 0 {
            td.interval { @if let Some((low, high)) = spread(cell, metric) {
                (between(&shown(metric, low), &shown(metric, high)))
            } }
        }
    }
}

/// Where the rounds put a figure: the interval of a median. A percentile of all requests is no median of the rounds, and
/// would lie outside of theirs now and then: of it, the lowest and the highest round.
fn spread(cell: &Cell<'_>, metric: Metric) -> Option<(f64, f64)> {
    match metric.percentile() {
        Some(_) if cell.is_scarce(metric) => None,
        Some(_) => cell.range(metric),
        None => cell.interval(metric).map(|interval| (interval.low, interval.high)),
    }
}

/// The multiple of the baseline's figure, and its interval.
fn multiple(cell: &Cell<'_>, baseline: &Cell<'_>, metric: Metric) -> Markup {
    let scarce = cell.is_scarce(metric) || baseline.is_scarce(metric);
    let Some(found) = cell.ratio(baseline, metric).filter(|_| !scarce) else {
        return html! { td.num { span.muted { "–" } } td.interval {} };
    };
    let compared = cell.trust() != Trust::Invalid && baseline.trust() != Trust::Invalid;
    html! {
        td class=(if compared { "num" } else { "num void" }) { (ratio(found.value)) }
        td.interval {
            @if !compared { "not compared" } @else if let Some(interval) = found.interval {
                (times_between(&interval)) @if let Some(doubt) = found.doubt() { ", " (doubt) }
            }
        }
    }
}

fn missing(cell: &Cell<'_>) -> &'static str {
    if cell.repeats.is_empty() { "–" } else { "not measured" }
}

/// Both ends, the unit once where it is the same: `905–930 µs`.
fn between(low: &str, high: &str) -> String {
    match (low.split_once('\u{a0}'), high.split_once('\u{a0}')) {
        (Some((bare, unit)), Some((_, other))) if unit == other => format!("{bare}–{high}"),
        _ => format!("{low}–{high}"),
    }
}

/// The unit of a row, where all its cells have the same.
fn unit(metric: Metric) -> Option<&'static str> {
    match metric {
        Metric::Throughput | Metric::Durable | Metric::BytesPerCpuSecond => Some(match metric {
            Metric::BytesPerCpuSecond => "MB",
            _ => "MB/s",
        }),
        Metric::Cpu => Some("%"),
        Metric::Operations => Some("per second"),
        Metric::Iops | Metric::P50(_) | Metric::P99(_) => None,
    }
}

/// A figure as it stands in the table.
pub(super) fn shown(metric: Metric, value: f64) -> String {
    match metric {
        Metric::Throughput | Metric::Durable | Metric::BytesPerCpuSecond => number(value / 1e6),
        Metric::P50(_) | Metric::P99(_) => duration(value),
        Metric::Iops | Metric::Operations | Metric::Cpu => number(value),
    }
}
