//! Operations on names and small files: one table and one chart for all phases.

use maud::{Markup, html};
use results::Trust;

use super::chart::ranges::{self, Group, Range};
use super::findings;
use super::place::{Place, badge, scrolling};
use crate::quantity::{duration, number, ratio, shortened};
use crate::summary::{Cell, Grid, Lane, Line, Metric};

pub(super) fn section(grid: &Grid<'_>, place: &Place) -> Markup {
    let lines: Vec<&Line<'_>> = grid.lines.iter().filter(|line| line.is_phase()).collect();
    if lines.is_empty() {
        return html! {};
    }
    let groups: Vec<Group> =
        lines.iter().map(|line| group(line, grid)).filter(|group| !group.ranges.is_empty()).collect();
    let chart = ranges::chart(&place.id("operations-chart"), "Latency of one operation", &groups);
    place.section(
        "operations",
        "Operations",
        html! {
            (scrolling("Operations of all phases and targets", table(&lines, grid, place)))
            @if let Some(chart) = chart {
                figure {
                    (scrolling("Chart: latency of one operation", chart))
                    figcaption { strong { "Latency of one operation." } " All rounds together." }
                }
            }
        },
    )
}

fn table(lines: &[&Line<'_>], grid: &Grid<'_>, place: &Place) -> Markup {
    html! {
        table.operations {
            caption { span { "Operations per second of wall time, median of the rounds, and the latency of one operation." } }
            thead {
                tr {
                    th scope="col" rowspan="2" { "Operation" }
                    @for (index, name) in grid.targets.iter().enumerate() {
                        th.target scope="colgroup" colspan=(if index > 0 { "5" } else { "4" }) {
                            span class=(format!("swatch {}", super::chart::colour(index))) aria-hidden="true" {} (shortened(name, 40))
                        }
                    }
                }
                tr {
                    @for index in 0..grid.targets.len() {
                        th scope="col" { "Trust" }
                        th.num scope="col" { "per second" }
                        @if index > 0 { th.num scope="col" { "× baseline" } }
                        th.num scope="col" { "p50" }
                        th.num scope="col" { "p99" }
                    }
                }
            }
            tbody {
                @for line in lines {
                    tr {
                        th scope="row" { (shortened(&line.title, 80)) @if let Some(cache) = cache(line) { " " small { (cache) } } }
                        @for (target, cell) in line.cells.iter().enumerate() { (cells(cell, target, line, place)) }
                    }
                }
            }
        }
    }
}

fn cells(cell: &Cell<'_>, target: usize, line: &Line<'_>, place: &Place) -> Markup {
    let trust = cell.trust();
    let class = if trust == Trust::Invalid { "num void" } else { "num" };
    let figure = |metric: Metric, words: fn(f64) -> String| {
        html! {
            td class=(class) { @match cell.value(metric) { Some(value) => (words(value)), None => span.muted { "–" } } }
        }
    };
    let failures: u64 = cell.repeats.iter().filter_map(|repeat| repeat.phase).map(|phase| phase.failures).sum();
    html! {
        td {
            @if nothing_done(cell) { span.muted { "not run" } } @else {
                (badge(trust))
                @for reason in cell.reasons().iter().filter(|_| trust > Trust::Ok) {
                    " " a.reason href=(format!("#{}", findings::anchor(place, target, reason))) { (shortened(reason, 32)) }
                }
                @if failures > 0 { " " span.error { (failures) " failed" } }
            }
        }
        (figure(Metric::Operations, number))
        @if target > 0 {
            td class=(format!("{class} multiple")) {
                @match cell.ratio(&line.cells[0], Metric::Operations) {
                    Some(found) => { (ratio(found.value)) @if let Some(doubt) = found.doubt() {
                        small.same { (doubt) } } }
                    None => { span.muted { "–" } }
                }
            }
        }
        (figure(Metric::P50(Lane::Operation), duration))
        (figure(Metric::P99(Lane::Operation), duration))
    }
}

/// No operation was tried: the words about its cache say why.
fn nothing_done(cell: &Cell<'_>) -> bool {
    let phases = cell.repeats.iter().filter_map(|repeat| repeat.phase);
    phases.into_iter().all(|phase| phase.operations == 0 && phase.failures == 0 && phase.error.is_none())
}

/// What the cache was, when all say the same.
fn cache<'a>(line: &Line<'a>) -> Option<&'a str> {
    let mut words =
        line.cells.iter().flat_map(|cell| &cell.repeats).filter_map(|repeat| repeat.phase?.cache.as_deref());
    let first = words.next()?;
    words.all(|word| word == first).then_some(first)
}

fn group(line: &Line<'_>, grid: &Grid<'_>) -> Group {
    let range = |(target, cell): (usize, &Cell<'_>)| {
        let latency = cell.latency(Lane::Operation)?;
        let at = |percent| latency.shown(percent).map(|ns| ns as f64);
        Some(Range {
            target,
            name: if grid.targets.len() > 1 { grid.targets[target].clone() } else { String::new() },
            p50: at(50.0)?,
            p99: at(99.0)?,
            p999: at(99.9),
        })
    };
    Group { title: line.title.clone(), ranges: line.cells.iter().enumerate().filter_map(range).collect() }
}
