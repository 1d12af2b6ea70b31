//! One section for each pattern: throughput through the run, the whole distribution of its latency, latency through
//! the run, depth and CPU, and the way of the bytes.

use maud::{Markup, PreEscaped, html};
use results::Trust;
use results::evidence::StorageClass;
use serde_json::json;

use super::chart::time::Axes;
use super::chart::{bars, flow, time};
use super::ledger::Flow;
use super::place::{Place, badge, scrolling};
use super::series::{MarkKind, Series, device_depth, throttle_visible};
use super::{course, latency};
use crate::quantity::{duration, megabytes_per_s, number, round, shortened};
use crate::summary::{Cell, Grid, Lane, Line, Metric, Repeat};

/// With more patterns than this, each is folded away.
const OPEN_PATTERNS_MAX: usize = 8;

pub(super) fn sections(grid: &Grid<'_>, place: &Place) -> Markup {
    let lines: Vec<(usize, &Line<'_>)> = grid.lines.iter().enumerate().filter(|(_, line)| !line.is_phase()).collect();
    if lines.is_empty() {
        return html! {};
    }
    let folded = lines.len() > OPEN_PATTERNS_MAX;
    let deeper = place.deeper();
    place.section(
        "patterns",
        "Pattern by pattern",
        html! {
            @for (index, line) in &lines {
                @let content = pattern(*index, line, grid, place);
                @let heading = deeper.heading(&format!("p{index}"), html! { (shortened(&line.title, 120)) });
                @if folded {
                    details.pattern { summary { (heading) } (content) }
                } @else {
                    article.pattern { (heading) (content) }
                }
            }
        },
    )
}

fn pattern(index: usize, line: &Line<'_>, grid: &Grid<'_>, place: &Place) -> Markup {
    let id = |name: &str| place.id(&format!("p{index}-{name}"));
    html! {
        ul.at-a-glance {
            @for (target, cell) in line.cells.iter().enumerate().filter(|(_, cell)| !cell.repeats.is_empty()) {
                li {
                    @if grid.targets.len() > 1 {
                        span class=(format!("swatch {}", super::chart::colour(target))) aria-hidden="true" {}
                        strong { (shortened(&grid.targets[target], 40)) } " "
                    }
                    (badge(cell.trust())) " " (in_figures(cell))
                }
            }
        }
        (through_the_run(line, grid, &id("time")))
        (latency::figures(line, grid, &id("latency")))
        (depth_and_cpu(line, grid, &id("cpu")))
        (way_of_the_bytes(line, grid, &id("flow")))
    }
}

pub(super) fn in_figures(cell: &Cell<'_>) -> String {
    let mut words: Vec<String> = Vec::new();
    words.extend(cell.value(Metric::Throughput).map(megabytes_per_s));
    words.extend(cell.value(Metric::Iops).map(|iops| format!("{} IOPS", number(iops))));
    let p99 = |lane: Lane| {
        let metric = Metric::P99(lane);
        let ns = cell.value(metric).filter(|_| !cell.is_scarce(metric))?;
        Some(format!("p99 {} {}", lane.word(), duration(ns)))
    };
    words.extend([Lane::Read, Lane::Write].into_iter().filter_map(p99));
    words.extend(cell.scatter_percent(Metric::Throughput).map(|percent| format!("rounds vary by {percent:.1}\u{a0}%")));
    if words.is_empty() { "no figures".to_owned() } else { words.join(" · ") }
}

/// Names for the charts, with the trust where it is not ok.
fn names(line: &Line<'_>, grid: &Grid<'_>) -> Vec<String> {
    if grid.targets.len() == 1 {
        return vec!["mean".to_owned()];
    }
    let name = |(target, cell): (usize, &Cell<'_>)| match cell.trust() {
        Trust::Invalid => format!("{} (invalid)", shortened(&grid.targets[target], 10)),
        _ => shortened(&grid.targets[target], 14),
    };
    line.cells.iter().enumerate().map(name).collect()
}

fn through_the_run(line: &Line<'_>, grid: &Grid<'_>, id: &str) -> Markup {
    let Some(series) = Series::of(line) else {
        return html! { p.missing { "Throughput during the run: no samples were recorded." } };
    };
    if !series.has_a_course() {
        return html! { p.missing { "Throughput during the run: no round was long enough for two samples." } };
    }
    let names = names(line, grid);
    let chart = time::chart(id, "Throughput during the run", &series, &names);
    html! {
        figure.time {
            (scrolling("Chart: throughput during the run", html! { div.static-chart { (chart) } }))
            script type="application/json" data-series=(id) { (PreEscaped(data(&series, &names))) }
            figcaption { strong { "Throughput during the run." } " " (about(&series, line, grid)) }
        }
    }
}

fn about(series: &Series, line: &Line<'_>, grid: &Grid<'_>) -> String {
    let mut words = Vec::new();
    if !series.medians.is_empty() {
        words.push("Thin lines are the rounds, the thick line is their median.".to_owned());
    }
    let step = round(series.step_s);
    words.push(match series.thinned {
        1 => format!("One point every {step} s."),
        windows => format!("One point every {step} s, the mean of {windows} samples, to keep the file small."),
    });
    let ramp_ms = line.cells.iter().flat_map(|cell| &cell.repeats).flat_map(|repeat| &repeat.workers);
    let ramp_ms = ramp_ms.map(|worker| worker.plan.ramp_ms).max().unwrap_or(0);
    if ramp_ms > 0 {
        words.push(format!("A warm-up of {} before it is not counted.", duration(ramp_ms as f64 * 1e6)));
    }
    words.extend(course::sentences(series, grid));
    words.extend(last_syncs(series, grid));
    let throttled = series.marks.iter().filter(|mark| mark.kind == MarkKind::Throttled).count();
    if throttled > 0 {
        words.push("Triangles mark seconds in which the control group's CPU limit throttled the run.".to_owned());
    } else if !line.cells.iter().any(throttle_visible) {
        words.push("Not visible whether a CPU limit throttled the run.".to_owned());
    }
    words.join(" ")
}

/// How long the sync after the last write took, the longest of each target.
fn last_syncs(series: &Series, grid: &Grid<'_>) -> Option<String> {
    let longest = |target: usize| {
        let mine = series.marks.iter().filter(|mark| mark.target == target && mark.kind == MarkKind::FinalSync);
        mine.map(|mark| mark.lasted_s).reduce(f64::max)
    };
    let syncs: Vec<String> = (0..grid.targets.len())
        .filter_map(|target| {
            Some(format!("{} {}", shortened(&grid.targets[target], 40), duration(longest(target)? * 1e9)))
        })
        .collect();
    (!syncs.is_empty()).then(|| format!("Longest sync after the last write: {}.", syncs.join(", ")))
}

/// The same numbers for the script, MB/s. Nothing in it can end the element: `<` is written as an escape.
fn data(series: &Series, names: &[String]) -> String {
    let values = |values: &[Option<f64>]| -> Vec<Option<f64>> {
        values.iter().map(|value| value.map(|value| short(value / 1e6))).collect()
    };
    let line = |line: &super::series::RoundLine, main: bool| json!({"target": line.target, "round": line.round + 1, "main": main, "values": values(&line.values)});
    let main: Vec<_> = series.main_lines().map(|found| line(found, true)).collect();
    let thin = series.rounds.iter().filter(|_| !series.medians.is_empty()).map(|found| line(found, false));
    let lines: Vec<_> = thin.chain(main).collect();
    let marks: Vec<_> = series
        .marks
        .iter()
        .filter(|mark| mark.kind == MarkKind::Throttled)
        .map(|mark| json!([mark.target, mark.at_s]))
        .collect();
    let step = series.step_s;
    let means: Vec<_> =
        series.main_lines().map(|line| json!([line.target, short(series.figure(line) / 1e6)])).collect();
    let data = json!({
        "step": step, "log": Axes::of(series).logarithmic, "names": names, "lines": lines, "means": means, "throttled": marks,
    });
    data.to_string().replace('<', "\\u003c")
}

/// Four digits are more than a screen shows.
fn short(value: f64) -> f64 {
    if value == 0.0 {
        return value;
    }
    let factor = 10f64.powi(3 - value.abs().log10().floor().clamp(-12.0, 12.0) as i32);
    (value * factor).round() / factor
}

fn depth_and_cpu(line: &Line<'_>, grid: &Grid<'_>, id: &str) -> Markup {
    let cells: Vec<(usize, &Repeat<'_>)> =
        line.cells.iter().enumerate().filter_map(|(target, cell)| Some((target, median_repeat(cell)?))).collect();
    let most = cells.iter().filter_map(|(_, repeat)| Metric::Cpu.of(repeat)).fold(0.0, f64::max);
    html! {
        @if !cells.is_empty() {
            (scrolling("Depth and CPU", html! {
                table.depth {
                    caption { span { strong { " Of the median round by throughput. Depth: the share of " } " Of the round in the middle by throughput. Depth: the share of the "
                        "requests that were submitted with so many in flight, including themselves." } }
                    thead { tr {
                        th scope="col" { "Target" }
                        th.num scope="col" { "Depth asked" }
                        th scope="col" { "Depth at submission" }
                        th.num scope="col" { "Device queue, mean" }
                        th scope="col" { "CPU, user and system, of one CPU" }
                        th.num scope="col" { "Context switches per I/O" }
                    } }
                    tbody { @for (target, repeat) in &cells { (depth_row(*target, repeat, grid, id, most)) } }
                }
            }))
        }
    }
}

/// The round whose throughput is in the middle.
fn median_repeat<'a, 'b>(cell: &'b Cell<'a>) -> Option<&'b Repeat<'a>> {
    let mut repeats: Vec<&Repeat<'_>> = cell.repeats.iter().filter(|repeat| repeat.merged.is_some()).collect();
    let throughput = |repeat: &&Repeat<'_>| Metric::Throughput.of(repeat).unwrap_or(0.0);
    repeats.sort_by(|first, second| throughput(first).total_cmp(&throughput(second)));
    repeats.get(repeats.len() / 2).copied()
}

fn depth_row(target: usize, repeat: &Repeat<'_>, grid: &Grid<'_>, id: &str, most: f64) -> Markup {
    let Some(merged) = &repeat.merged else { return html! {} };
    let (user, system) = merged.cpu_percent();
    let (user, system) = (user * f64::from(merged.members.max(1)), system * f64::from(merged.members.max(1)));
    let ios = merged.directions.read.ios + merged.directions.write.ios + merged.directions.trim.ios;
    let name = shortened(&grid.targets[target], 40);
    let asked = match merged.members {
        0 | 1 => merged.setup.depth.to_string(),
        members => format!("{members} × {}", merged.setup.depth),
    };
    html! {
        tr {
            th scope="row" { span class=(format!("swatch {}", super::chart::colour(target))) aria-hidden="true" {} (name) }
            td.num { (asked) }
            td.chart { div.depth-chart { (bars::depth(&format!("{id}-d{target}"), &format!("Depth at submission on {name}"),
                &merged.depth_levels, &super::chart::colour(target))) } }
            td.num { @match device_depth(repeat) { Some(depth) => (number(depth)), None => span.muted { "not visible" } } }
            td.chart {
                @if merged.job_runtime_ms == 0 { span.muted { "not measured" } } @else {
                    div.cpu-chart { (bars::cpu(&format!("{id}-c{target}"), &format!("CPU on {name}"), (user, system), most)) }
                    small { (format!("{user:.1}")) " % user, " (format!("{system:.1}")) " % system" }
                }
            }
            td.num { @if ios > 0 { (number(merged.context_switches as f64 / ios as f64)) } @else { span.muted { "–" } } }
        }
    }
}

/// The kind of place; of a fio command line, that of its first storage.
fn class(target: usize, cell: &Cell<'_>, grid: &Grid<'_>) -> StorageClass {
    let of_run = || Some(cell.repeats.first()?.run()?.storages().next()?.class);
    let of_target = grid.study.targets.get(target).map(|target| target.storage.class);
    of_target.filter(|class| *class != StorageClass::Unknown).or_else(of_run).unwrap_or_default()
}

fn way_of_the_bytes(line: &Line<'_>, grid: &Grid<'_>, id: &str) -> Markup {
    let flows: Vec<(usize, Flow)> = line
        .cells
        .iter()
        .enumerate()
        .filter_map(|(target, cell)| Some((target, Flow::of(cell, class(target, cell, grid))?)))
        .collect();
    if flows.is_empty() {
        return html! { p.missing { "The path of the bytes: no ledger was recorded." } };
    }
    html! {
        figure.panels {
            figcaption { strong { "The path of the bytes." } " From the application to the storage, all rounds \
                                                             together. Where a "
                "band gets narrower, the cache answered reads or still holds writes." }
            div.panel-grid {
                @for (target, flow) in &flows {
                    div.panel {
                        p.panel-name { span class=(format!("swatch {}", super::chart::colour(*target))) aria-hidden="true" {}
                            (shortened(&grid.targets[*target], 40)) }
                        (scrolling("Chart: the path of the bytes", flow::chart(&format!("{id}-{target}"),
                            &format!("The path of the bytes on {}", shortened(&grid.targets[*target], 40)), flow)))
                        p.panel-words { (flow.sentence()) @if let Some(wire) = flow.wire.value() {
                            " Wire: " (wire.witness) @if !wire.exclusive { ", which others use too" } "." } }
                        @if !flow.not_visible().is_empty() {
                            ul.not-visible { @for (layer, reason) in flow.not_visible() {
                                li { strong { (layer) } ": not visible, " (reason) }
                            } }
                        }
                    }
                }
            }
        }
    }
}
