//! Draws throughput over time: the rounds as thin lines behind their median, and the table's figure as a horizontal
//! line.

use maud::{Markup, html};

use super::scale::Scale;
use super::{Frame, LineEndFigures, colour, label, line_path, px, rule, svg};
use crate::quantity::{number, round, shortened};
use crate::sheet::series::{Mark, MarkKind, RoundLine, Series};

const SIZE: (f64, f64) = (360.0, 158.0);
const LEFT: f64 = 44.0;
const RIGHT: f64 = 88.0;
const TOP: f64 = 22.0;
const BOTTOM: f64 = 32.0;

/// Below this share of the fastest target, the slowest would be unreadable on a linear axis.
const LINEAR_SHARE_MIN: f64 = 0.02;

/// The chart. `names` are the targets' names; empty when there is one.
pub(in crate::sheet) fn chart(id: &str, title: &str, series: &Series, names: &[String]) -> Markup {
    let main: Vec<&RoundLine> = series.main_lines().collect();
    let (x, y) = scales(series, &main);
    let (unit, size) = series.unit.shown();
    let figure = |line: &RoundLine| number(series.figure(line) / size);
    let name = |line: &RoundLine| names.get(line.target).map(|name| format!("{name} ")).unwrap_or_default();
    let description: Vec<String> =
        main.iter().map(|line| format!("{}{} {unit} in the table.", name(line), figure(line))).collect();
    let ends =
        main.iter().map(|line| (line.target, y.at(series.figure(line)), format!("{}{}", name(line), figure(line))));
    let ends = LineEndFigures { from: SIZE.0 - RIGHT, labels: ends.collect(), range: (TOP, SIZE.1 - BOTTOM) };
    // For the page's script, which reads the chart: positions of the axis' ends, and their values.
    let (right, bottom, end_s) = (SIZE.0 - RIGHT, SIZE.1 - BOTTOM, x.high());
    let (low, high, log) = (y.low() / size, y.high() / size, u8::from(y.is_logarithmic()));
    let reading = format!("{LEFT} {right} {end_s} {TOP} {bottom} {low} {high} {log}");
    let frame = Frame { id, title, description: &description.join(" "), size: (ends.width(SIZE.0), SIZE.1) };
    html! {
        div.read data-axes=(reading) data-unit=(unit) data-names=(names.join("\n")) {
            (svg(&frame, html! {
                (axes(&x, &y, (unit, size)))
                @for line in &series.rounds { @if !series.medians.is_empty() { (line_of(line, series.step_s, (&x, &y), "round")) } }
                @for line in &main {
                    (rule((LEFT, y.at(series.figure(line))), (SIZE.0 - RIGHT, y.at(series.figure(line))),
                        &format!("figure {}", colour(line.target))))
                    (line_of(line, series.step_s, (&x, &y), "line"))
                }
                (throttle_marks(&series.marks, &x))
                (ends.shown())
            }))
        }
    }
}

fn scales(series: &Series, main: &[&RoundLine]) -> (Scale, Scale) {
    let figures: Vec<f64> = main.iter().map(|line| series.figure(line)).collect();
    let high = figures.iter().copied().fold(series.highest(), f64::max).max(1.0);
    let least = figures.iter().copied().fold(high, f64::min);
    let (bottom, top) = (SIZE.1 - BOTTOM, TOP);
    let y = if least < high * LINEAR_SHARE_MIN {
        let lowest = series.rounds.iter().flat_map(|line| &line.values).flatten().copied();
        let low = lowest.filter(|value| *value > 0.0).fold(least, f64::min);
        Scale::logarithmic(low.max(high / 1e6) * 0.8, high * 1.05, bottom, top)
    } else {
        Scale::linear(0.0, high * 1.05, bottom, top)
    };
    (Scale::linear(0.0, series.end_s(), LEFT, SIZE.0 - RIGHT), y)
}

fn axes(x: &Scale, y: &Scale, (unit, size): (&str, f64)) -> Markup {
    let (bottom, end) = (SIZE.1 - BOTTOM, SIZE.0 - RIGHT);
    html! {
        (label(0.0, 10.0, "axis", &if y.is_logarithmic() { format!("{unit}, logarithmic") } else { unit.to_owned() }))
        (label(end + 6.0, 10.0, "axis", "in the table"))
        @for value in y.marks(4) {
            (rule((LEFT, y.at(value)), (end, y.at(value)), "grid"))
            (label(LEFT - 5.0, y.at(value) + 4.0, "tick end", &round(value / size)))
        }
        @for second in x.marks(6) { (label(x.at(second), bottom + 14.0, "tick middle", &round(second))) }
        (rule((LEFT, bottom), (end, bottom), "baseline"))
        (label((LEFT + end) / 2.0, SIZE.1 - 3.0, "axis middle", "seconds"))
    }
}

fn line_of(line: &RoundLine, step_s: f64, (x, y): (&Scale, &Scale), class: &str) -> Markup {
    let points = line.values.iter().enumerate();
    let path = line_path(points.map(|(index, value)| {
        // A window is drawn at its end, where it was recorded; the first begins at the axis.
        value.map(|value| (x.at((index as f64 + 1.0) * step_s), y.at(value)))
    }));
    html! { path class=(format!("{class} {}", colour(line.target))) d=(path) {} }
}

/// The series of a target, small and without axes.
pub(in crate::sheet) fn spark(line: &RoundLine) -> Option<Markup> {
    let values: Vec<f64> = line.values.iter().flatten().copied().collect();
    let high = values.iter().copied().fold(0.0, f64::max);
    if values.len() < 3 || high <= 0.0 {
        return None;
    }
    let x = Scale::linear(0.0, (values.len() - 1) as f64, 0.0, 120.0);
    let y = Scale::linear(0.0, high, 27.0, 1.0);
    let path = line_path(values.iter().enumerate().map(|(index, value)| Some((x.at(index as f64), y.at(*value)))));
    Some(html! {
        svg.spark aria-hidden="true" viewBox="0 0 120 28" preserveAspectRatio="none" {
            path class=(format!("line {}", colour(line.target))) d=(path) {}
            (rule((0.0, 27.5), (120.0, 27.5), "baseline"))
        }
    })
}

fn throttle_marks(marks: &[Mark], x: &Scale) -> Markup {
    html! {
        @for mark in marks.iter().filter(|mark| mark.kind == MarkKind::Throttled) {
            path class=(format!("throttle {}", colour(mark.target)))
                d=(format!("M{} {}h8l-4 7z", px(x.at(mark.at_s) - 4.0), px(TOP - 6.0))) {}
        }
    }
}

/// A name shortened for the text beside a line.
pub(in crate::sheet) fn short_name(name: &str) -> String {
    shortened(name, 8)
}
