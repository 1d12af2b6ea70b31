//! Makes the sections with charts: throughput over time, distribution of latency, latency over time; a small chart for
//! each test.

use fsdyno_results::{Lane, TestRounds, Trust, latency_series};
use maud::{Markup, html};

use super::chart::distribution::{self, Curve};
use super::chart::heatmap::{self, Map, SHADE_LABELS};
use super::chart::ranges::{self, Group, Range};
use super::chart::time;
use super::outline::{Outline, badge, named, test};
use super::rate_changes;
use super::series::{MarkKind, Series, throttle_visible};
use crate::quantity::{duration, listed, round, shortened};
use crate::summary::{Grid, PatternLine};

/// With more tests than this, their charts are collapsed.
const OPEN_TESTS_MAX: usize = 10;

pub(super) fn section(grid: &Grid<'_>, place: &Outline) -> Markup {
    let is_test = |line: &PatternLine<'_>| grid.tests().any(|(test, _, _)| test.pattern == line.pattern);
    let lines = grid.lines.iter().enumerate().filter(|(_, line)| !line.is_phase() && is_test(line));
    let lines: Vec<(usize, &PatternLine<'_>)> = lines.collect();
    if lines.is_empty() {
        return operations(grid, place);
    }
    let charts = html! {
        (over_time(&lines, grid, place))
        (distributions(&lines, grid, place))
    };
    place.section(
        "charts",
        "Charts",
        html! {
            @if grid.targets.len() > 1 { p.key { @for target in 0..grid.targets.len() { span { (named(grid, target)) } } } }
            @if lines.len() > OPEN_TESTS_MAX {
                details { summary { "Throughput and latency of all " (lines.len()) " tests" } (charts) }
            } @else { (charts) }
            (latency_over_time(&lines, grid, place))
        },
    )
}

/// The latencies of operations on names and small files.
fn operations(grid: &Grid<'_>, place: &Outline) -> Markup {
    let range = |(target, cell): (usize, &TestRounds<'_>)| {
        let latency = cell.latency(Lane::Operation)?;
        let at = |percent| latency.shown(percent).map(|ns| ns as f64);
        let name = if grid.targets.len() > 1 { grid.targets[target].clone() } else { String::new() };
        Some(Range { target, name, p50: at(50.0)?, p99: at(99.0), p999: at(99.9) })
    };
    let group = |line: &PatternLine<'_>| Group {
        title: if line.title.chars().count() > ranges::NAME { &line.pattern } else { &line.title }.clone(),
        ranges: line.cells.iter().enumerate().filter_map(range).collect(),
    };
    let groups: Vec<Group> = grid.lines.iter().map(group).filter(|group| !group.ranges.is_empty()).collect();
    let has_p99 = groups.iter().flat_map(|group| &group.ranges).any(|range| range.p99.is_some());
    let Some(chart) = ranges::chart(&place.id("operations-chart"), "Latency of one operation", &groups) else {
        return html! {};
    };
    place.section(
        "charts",
        "Latency of one operation",
        html! { figure.load { (chart)
        figcaption { "Dot: p50, in the table. "
            @if has_p99 { "Bar: to p99, with its value; too few operations have none. Tick: p99.9. " }
            "The axis is logarithmic." } } },
    )
}

/// A chart with its test and remarks.
fn panel(line: &PatternLine<'_>, grid: &Grid<'_>, chart: Markup, words: &str) -> Markup {
    let of_cells = line.cells.iter().zip(&grid.targets);
    let invalid = of_cells.filter(|(cell, _)| cell.was_tried() && cell.trust() == Trust::Invalid);
    let invalid: Vec<String> = invalid.map(|(_, name)| shortened(name, 40)).collect();
    html! {
        div.panel {
            p.panel-name { (test(&line.pattern)) @if line.title != line.pattern { " " small { (shortened(&line.title, 60)) } }
                @if !invalid.is_empty() { " " (badge(Trust::Invalid)) @if grid.targets.len() > 1 { " " small { (listed(&invalid)) } } } }
            (chart)
            @if !words.is_empty() { p.panel-words { (words) } }
        }
    }
}

fn over_time(lines: &[(usize, &PatternLine<'_>)], grid: &Grid<'_>, place: &Outline) -> Markup {
    let names: Vec<String> = match grid.targets.len() {
        1 => Vec::new(),
        _ => grid.targets.iter().map(|name| time::short_name(name)).collect(),
    };
    let all = || lines.iter().map(|(index, line)| (*index, *line, Series::of(line)));
    let (drawn, left_out): (Vec<_>, Vec<_>) =
        all().partition(|(_, _, series)| series.as_ref().is_some_and(Series::has_samples_over_time));
    let reason = |recorded: bool, reason: &str| {
        let mine = left_out.iter().filter(|(_, _, series)| series.is_some() == recorded);
        let names: Vec<String> = mine.map(|(_, line, _)| shortened(&line.pattern, 40)).collect();
        match names.len() {
            0 => None,
            all if all == lines.len() => Some(format!("No charts: {reason}.")),
            _ => Some(format!("No chart of {}: {reason}.", listed(&names))),
        }
    };
    let missing =
        [reason(false, "no samples were recorded"), reason(true, "the rounds were too short for a chart over time")];
    if drawn.is_empty() {
        return html! { p.missing { strong { "Throughput over time." } @for words in missing.iter().flatten() { " " (words) } } };
    }
    html! {
        figure.panels {
            figcaption { strong { "Throughput over time." } " " (about(drawn.iter().filter_map(|(_, line, series)| Some((*line, series.as_ref()?)))))
                @for words in missing.iter().flatten() { " " (words) } }
            div.panel-grid { @for (index, line, series) in &drawn { @if let Some(series) = series {
                @let title = format!("Throughput over time, {}", shortened(&line.pattern, 60));
                (panel(line, grid, time::chart(&place.id(&format!("p{index}-time")), &title, series, &names), &remarks(series, line, grid)))
            } } }
        }
    }
}

/// Remarks that hold for all charts of throughput.
fn about<'a>(drawn: impl Iterator<Item = (&'a PatternLine<'a>, &'a Series)> + Clone) -> String {
    let mut words = vec!["The dashed line is the table's figure.".to_owned()];
    let all = || drawn.clone().map(|(_, series)| series);
    if all().any(|series| !series.medians.is_empty()) {
        words.push("Thin lines are the rounds, the thick line is their median.".to_owned());
    }
    if let Some(series) = all().find(|series| series.thinned > 1) {
        let (step, windows) = (round(series.step_s), series.thinned);
        words.push(format!("One point stands for {step} s, the mean of {windows} samples, to keep the file small."));
    }
    let workers = drawn
        .clone()
        .flat_map(|(line, _)| &line.cells)
        .flat_map(|cell| &cell.repeats)
        .flat_map(|repeat| &repeat.workers);
    if let Some(ramp_ms) = workers.map(|worker| worker.plan.ramp_ms).max().filter(|ramp_ms| *ramp_ms > 0) {
        words.push(format!("A warm-up of {} before it is not counted.", duration(ramp_ms as f64 * 1e6)));
    }
    let is_throttled = |mark: &super::series::Mark| mark.kind == MarkKind::Throttled;
    if all().flat_map(|series| &series.marks).any(is_throttled) {
        words.push("Triangles mark seconds in which the control group's CPU limit throttled the run.".to_owned());
    } else if !drawn.clone().flat_map(|(line, _)| &line.cells).any(throttle_visible) {
        words.push("Whether a CPU limit throttled the run is not visible.".to_owned());
    }
    words.join(" ")
}

/// Remarks on one chart.
fn remarks(series: &Series, line: &PatternLine<'_>, grid: &Grid<'_>) -> String {
    let mut words = rate_changes::sentences(series, grid);
    let longest = |target: usize| {
        let mine = series.marks.iter().filter(|mark| mark.target == target && mark.kind == MarkKind::FinalSync);
        let lasted_s = mine.map(|mark| mark.lasted_s).reduce(f64::max)?;
        let name =
            if grid.targets.len() > 1 { format!("{} ", shortened(&grid.targets[target], 40)) } else { String::new() };
        Some(format!("{name}{}", duration(lasted_s * 1e9)))
    };
    let syncs: Vec<String> = (0..line.cells.len()).filter_map(longest).collect();
    if !syncs.is_empty() {
        words.push(format!("Sync after the last write: {}.", listed(&syncs)));
    }
    words.join(" ")
}

/// The curves of a cell: reads, writes and syncs separately.
pub(super) fn curves_of(cell: &TestRounds<'_>, target: usize) -> Vec<(Lane, Curve)> {
    let used = Lane::ALL.into_iter().filter_map(|lane| Some((lane, cell.latency(lane)?)));
    used.enumerate()
        .filter_map(|(index, (lane, latency))| {
            Some((lane, Curve::of(&latency, lane.word().to_owned(), target, index > 0)?))
        })
        .collect()
}

fn distributions(lines: &[(usize, &PatternLine<'_>)], grid: &Grid<'_>, place: &Outline) -> Markup {
    let charts: Vec<(&PatternLine<'_>, Markup)> = lines
        .iter()
        .filter_map(|(index, line)| {
            let title = format!("Distribution of latency, {}", shortened(&line.pattern, 60));
            Some((*line, distribution::chart(&place.id(&format!("p{index}-latency")), &title, &curves(line, grid))?))
        })
        .collect();
    html! {
        @if charts.is_empty() { p.missing { "Distribution of latency: no latencies were recorded." } } @else {
            figure.panels {
                figcaption { strong { "Distribution of latency." } " The share of requests that completed within a time, over \
                    all rounds. A curve ends where fewer than ten requests are slower." }
                div.panel-grid { @for (line, chart) in charts { (panel(line, grid, chart, "")) } }
            }
        }
    }
}

fn curves(line: &PatternLine<'_>, grid: &Grid<'_>) -> Vec<Curve> {
    let of_cell = |(target, cell): (usize, &TestRounds<'_>)| {
        let curves = curves_of(cell, target);
        let one = curves.len() == 1;
        let named = move |(lane, mut curve): (Lane, Curve)| {
            let place = time::short_name(&grid.targets[target]);
            curve.name = match (grid.targets.len(), one) {
                (1, _) => lane.word().to_owned(),
                (_, true) => place,
                _ => format!("{place} {}", lane.word()),
            };
            curve
        };
        curves.into_iter().map(named).collect::<Vec<_>>()
    };
    line.cells.iter().enumerate().flat_map(of_cell).collect()
}

/// One map for each test on each storage; collapsed, as the distribution has the essentials.
fn latency_over_time(lines: &[(usize, &PatternLine<'_>)], grid: &Grid<'_>, place: &Outline) -> Markup {
    let of_line = |line: &PatternLine<'_>| {
        let map = |(target, cell): (usize, &TestRounds<'_>)| {
            let counted = cell.counted();
            let rounds = counted.iter().map(|repeat| latency_series(repeat.workers.iter().copied()));
            Some((target, Map::of(rounds)?))
        };
        line.cells.iter().enumerate().filter_map(map).collect::<Vec<_>>()
    };
    let maps: Vec<_> = lines.iter().map(|(index, line)| (*index, *line, of_line(line))).collect();
    if maps.iter().all(|(_, _, maps)| maps.is_empty()) {
        return html! {};
    }
    html! {
        details {
            summary { "Latency over time" }
            figure.panels {
                figcaption { "Each column is a period of time, the shade is the share of its requests." (shades()) }
                div.panel-grid { @for (index, line, maps) in &maps {
                    @let classes = maps.iter().filter_map(|(_, map)| map.classes());
                    @if let Some(range) = classes.reduce(|mine, other| (mine.0.min(other.0), mine.1.max(other.1))) {
                        @for (target, map) in maps {
                            div.panel {
                                p.panel-name { (test(&line.pattern)) @if grid.targets.len() > 1 { " " (named(grid, *target)) } }
                                (heatmap::chart(&place.id(&format!("p{index}-map{target}")), &format!("Latency over time, {} on {}",
                                    shortened(&line.pattern, 60), shortened(&grid.targets[*target], 40)), map, range))
                            }
                        }
                    }
                } }
            }
        }
    }
}

fn shades() -> Markup {
    html! {
        span.shades { @for (shade, label) in SHADE_LABELS.iter().enumerate() {
            span { i class=(format!("h{shade}")) aria-hidden="true" {} (label) }
        } }
    }
}
