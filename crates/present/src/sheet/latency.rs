//! The latency of one pattern: the whole distribution, and how it went through the run.

use maud::{Markup, html};

use super::chart::distribution::{self, Curve};
use super::chart::heatmap::{self, Map, SHADE_LABELS};
use super::place::scrolling;
use crate::quantity::{duration, number, shortened};
use crate::summary::{Grid, Lane, Line};

pub(super) fn figures(line: &Line<'_>, grid: &Grid<'_>, id: &str) -> Markup {
    html! {
        (whole_distribution(line, grid, id))
        (through_the_run(line, grid, id))
    }
}

/// The curves of all targets; reads and writes apart.
pub(super) fn curves(line: &Line<'_>, grid: &Grid<'_>) -> Vec<Curve> {
    let lanes: Vec<Lane> =
        Lane::ALL.into_iter().filter(|lane| line.cells.iter().any(|cell| cell.latency(*lane).is_some())).collect();
    let mut curves = Vec::new();
    for (target, cell) in line.cells.iter().enumerate() {
        for (index, lane) in lanes.iter().enumerate() {
            let Some(latency) = cell.latency(*lane) else { continue };
            let name = shortened(&grid.targets[target], 12);
            let name = match (grid.targets.len(), lanes.len()) {
                (1, _) => lane.word().to_owned(),
                (_, 1) => name,
                _ => format!("{name} {}", lane.word()),
            };
            curves.extend(Curve::of(&latency, name, target, index > 0));
        }
    }
    curves
}

fn whole_distribution(line: &Line<'_>, grid: &Grid<'_>, id: &str) -> Markup {
    let curves = curves(line, grid);
    let dashed = curves.iter().any(|curve| curve.dashed);
    let chart = distribution::chart(&format!("{id}-all"), "Distribution of latency", &curves);
    html! {
        @match chart {
            None => { p.missing { "Distribution of latency: no latencies were recorded." } }
            Some(chart) => {
                figure.distribution {
                    div.beside.stacked[curves.len() > 3] {
                        (scrolling("Chart: distribution of latency", chart))
                        (scrolling("Percentiles of latency", percentiles(&curves)))
                    }
                    figcaption { strong { "Every request." } " Share of the requests of all rounds that completed \
                                                              within a time; dots are p50 "
                        "and p99. A curve ends where fewer than three requests are slower."
                        @if dashed { " Dashed: the second kind of request." } }
                }
            }
        }
    }
}

/// The percentiles that people quote, of each curve.
fn percentiles(curves: &[Curve]) -> Markup {
    html! {
        table.percentiles {
            thead { tr {
                th scope="col" { "Percentile" }
                @for curve in curves {
                    th.num scope="col" { span class=(format!("swatch {}", super::chart::colour(curve.target))) aria-hidden="true" {} (curve.name) }
                }
            } }
            tbody {
                @for percent in [50.0, 90.0, 99.0, 99.9, 99.99, 99.999] {
                    tr {
                        th scope="row" { "p" (percent) }
                        @for curve in curves { td.num { @match curve.ns_at(percent) {
                            Some(ns) => (duration(ns)),
                            None => span.muted { "too few" },
                        } } }
                    }
                }
                tr { th scope="row" { "slowest" } @for curve in curves { td.num { (duration(curve.slowest as f64)) } } }
                tr { th scope="row" { "requests" } @for curve in curves { td.num { (number(curve.count as f64)) } } }
            }
        }
    }
}

fn through_the_run(line: &Line<'_>, grid: &Grid<'_>, id: &str) -> Markup {
    let maps: Vec<(usize, Map)> = line
        .cells
        .iter()
        .enumerate()
        .filter_map(|(target, cell)| {
            let rounds = cell.repeats.iter().filter_map(|repeat| repeat.merged.as_ref());
            Some((target, Map::of(rounds.map(|merged| &merged.latency_series[..]))?))
        })
        .collect();
    let classes = maps.iter().filter_map(|(_, map)| map.classes());
    let range = classes.reduce(|mine, other| (mine.0.min(other.0), mine.1.max(other.1)));
    let Some(range) = range else {
        return html! { p.missing { "Latency during the run: not recorded." } };
    };
    html! {
        figure.panels {
            figcaption { strong { "Latency during the run." } " Each column is a period of time, the shade is the \
                                                                share of its requests; all "
                "targets on the same logarithmic scale." (key()) }
            div.panel-grid {
                @for (target, map) in &maps {
                    @let name = shortened(&grid.targets[*target], 40);
                    div.panel {
                        p.panel-name { span class=(format!("swatch {}", super::chart::colour(*target))) aria-hidden="true" {} (name) }
                        (scrolling("Chart: latency during the run", heatmap::chart(&format!("{id}-map{target}"),
                            &format!("Latency during the run on {name}"), map, range)))
                    }
                }
            }
        }
    }
}

fn key() -> Markup {
    html! {
        span.shades { @for (shade, label) in SHADE_LABELS.iter().enumerate() {
            span { i class=(format!("h{shade}")) aria-hidden="true" {} (label) }
        } }
    }
}
