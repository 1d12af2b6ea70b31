//! Throughput through the run, the rounds thin behind their median. The page's script puts a chart that can be zoomed
//! in its place, from the same numbers.

use maud::{Markup, html};

use super::scale::Scale;
use super::{Frame, colour, label, line_path, px, rectangle, rule, spread, svg};
use crate::quantity::{number, round, shortened};
use crate::sheet::series::{Mark, MarkKind, RoundLine, Series};

const SIZE: (f64, f64) = (880.0, 260.0);
const LEFT: f64 = 58.0;
const RIGHT: f64 = 150.0;
const TOP: f64 = 24.0;
const BOTTOM: f64 = 40.0;

/// Below this share of the highest target, the slowest could not be read on a linear axis.
const LINEAR_SHARE_MIN: f64 = 0.02;

/// How the chart is drawn, for the script too.
#[derive(Clone, Copy)]
pub(in crate::sheet) struct Axes {
    pub(in crate::sheet) logarithmic: bool,
    low: f64,
    high: f64,
    end_s: f64,
}

impl Axes {
    pub(in crate::sheet) fn of(series: &Series) -> Axes {
        let high = series.highest().max(1.0);
        let means: Vec<f64> = series.main_lines().map(RoundLine::mean).collect();
        let least = means.iter().copied().fold(high, f64::min);
        let logarithmic = least < high * LINEAR_SHARE_MIN;
        let lowest = series.rounds.iter().flat_map(|line| &line.values).flatten().copied();
        let low = lowest.filter(|value| *value > 0.0).fold(high, f64::min);
        let syncs = series.marks.iter().filter(|mark| mark.kind == MarkKind::FinalSync);
        let end_s = syncs.map(|mark| mark.at_s + mark.lasted_s).fold(series.end_s(), f64::max);
        Axes { logarithmic, low: low.max(high / 1e6) * 0.8, high: high * 1.05, end_s }
    }
}

/// The chart. `names` are those of the targets, with the trust of the cell where it is not ok.
pub(in crate::sheet) fn chart(id: &str, title: &str, series: &Series, names: &[String]) -> Markup {
    let axes = Axes::of(series);
    let x = Scale::linear(0.0, axes.end_s, LEFT, SIZE.0 - RIGHT);
    let (bottom, top) = (SIZE.1 - BOTTOM, TOP);
    let y = if axes.logarithmic {
        Scale::logarithmic(axes.low, axes.high, bottom, top)
    } else {
        Scale::linear(0.0, axes.high, bottom, top)
    };
    let main: Vec<&RoundLine> = series.main_lines().collect();
    let last = |line: &RoundLine| line.values.iter().rev().flatten().next().copied().unwrap_or(0.0);
    let mut ends: Vec<f64> = main.iter().map(|line| y.at(last(line)) + 4.0).collect();
    spread(&mut ends, 15.0, (top + 4.0, bottom));
    let describe =
        |line: &&RoundLine| format!("{} {} MB/s in the table.", names[line.target], number(series.figure(line) / 1e6));
    let description: Vec<String> = main.iter().map(describe).collect();
    let frame = Frame { id, title, description: &description.join(" "), size: SIZE };
    svg(
        &frame,
        html! {
            (grid(&x, &y, axes.logarithmic))
            @for line in &series.rounds { (line_of(line, series.step_s, &x, &y, "round")) }
            @for line in &main { (line_of(line, series.step_s, &x, &y, "line")) }
            (sync_bands(series, &x, bottom))
            (throttle_marks(&series.marks, &x))
            @for (line, end) in main.iter().zip(&ends) {
                @let text = format!("{} {}", shortened(&names[line.target], 20), number(series.figure(line) / 1e6));
                (label(SIZE.0 - RIGHT + 8.0, *end, &format!("name {}", colour(line.target)), &text))
            }
        },
    )
}

fn grid(x: &Scale, y: &Scale, logarithmic: bool) -> Markup {
    let (bottom, end) = (SIZE.1 - BOTTOM, SIZE.0 - RIGHT);
    html! {
        (label(LEFT - 8.0, TOP - 10.0, "axis end", "MB/s"))
        @if logarithmic { (label(LEFT, TOP - 10.0, "axis", "logarithmic")) }
        @for value in y.marks(5) {
            (rule((LEFT, y.at(value)), (end, y.at(value)), "grid"))
            (label(LEFT - 8.0, y.at(value) + 4.0, "tick end", &round(value / 1e6)))
        }
        @for second in x.marks(8) {
            (rule((x.at(second), bottom), (x.at(second), bottom + 4.0), "grid"))
            (label(x.at(second), bottom + 17.0, "tick middle", &round(second)))
        }
        (rule((LEFT, bottom), (end, bottom), "baseline"))
        (label((LEFT + end) / 2.0, SIZE.1 - 6.0, "axis middle", "seconds since the first counted request"))
        (label(end + 8.0, TOP - 10.0, "axis", "table, MB/s"))
    }
}

fn line_of(line: &RoundLine, step_s: f64, x: &Scale, y: &Scale, class: &str) -> Markup {
    let points = line.values.iter().enumerate();
    let path = line_path(points.map(|(index, value)| {
        // A window stands at its end, as it was taken; the first begins at the axis.
        value.map(|value| (x.at((index as f64 + 1.0) * step_s), y.at(value)))
    }));
    html! { path class=(format!("{class} {}", colour(line.target))) d=(path) {} }
}

/// The longest sync at the end of each target, under the axis' end.
fn sync_bands(series: &Series, x: &Scale, bottom: f64) -> Markup {
    let mut longest: Vec<&Mark> = Vec::new();
    for mark in series.marks.iter().filter(|mark| mark.kind == MarkKind::FinalSync) {
        match longest.iter_mut().find(|found| found.target == mark.target) {
            Some(found) if found.lasted_s < mark.lasted_s => *found = mark,
            Some(_) => {}
            None => longest.push(mark),
        }
    }
    // What is shorter than a pixel or two is in the table, not here.
    let wide = |mark: &&Mark| x.at(mark.at_s + mark.lasted_s) - x.at(mark.at_s) >= 3.0;
    html! {
        @for (index, mark) in longest.into_iter().filter(wide).enumerate() {
            @let (from, to) = (x.at(mark.at_s), x.at(mark.at_s + mark.lasted_s));
            @let at = bottom - 12.0 - 18.0 * index as f64;
            (rectangle(from, at, to - from, 10.0, &format!("sync {}", colour(mark.target))))
            @let text = format!("last sync {} s", number(mark.lasted_s));
            (label(from - 5.0, at + 9.0, &format!("mark end {}", colour(mark.target)), &text))
        }
    }
}

fn throttle_marks(marks: &[Mark], x: &Scale) -> Markup {
    let throttled: Vec<&Mark> = marks.iter().filter(|mark| mark.kind == MarkKind::Throttled).collect();
    html! {
        @for mark in &throttled {
            @let at = x.at(mark.at_s);
            path class=(format!("throttle {}", colour(mark.target)))
                d=(format!("M{} {}h8l-4 7z", px(at - 4.0), px(TOP - 6.0))) {}
        }
        @if let Some(first) = throttled.first() {
            (label(x.at(first.at_s) + 8.0, TOP - 1.0, "mark", "throttled by the CPU limit"))
        }
    }
}
