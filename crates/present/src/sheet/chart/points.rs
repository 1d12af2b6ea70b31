//! Draws latency against throughput, one point per depth, or response time against the offered load. Where the line
//! turns upwards, more load only adds waiting.

use fsdyno_text::quantity::{Units, rate_unit};
use maud::{Markup, html};

use super::scale::Scale;
use super::{Frame, LineEndFigures, colour, label, line_path, px, rule, svg};
use crate::quantity::{duration, megabytes_per_s, number, round, round_duration, shortened};

const SIZE: (f64, f64) = (520.0, 270.0);
const LEFT: f64 = 52.0;
const RIGHT: f64 = 124.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 42.0;

/// Numbers with more characters need the width of two marks.
const WIDE_NUMBER: usize = 6;

/// What varies from point to point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sheet) enum Asked {
    /// The iodepth.
    Depth,
    /// The load, percent of the capacity.
    Load,
}

impl Asked {
    pub(in crate::sheet) fn word(self) -> &'static str {
        if self == Asked::Depth { "depth" } else { "load" }
    }

    fn label(self, number: u32) -> String {
        if self == Asked::Depth { number.to_string() } else { format!("{number}\u{a0}%") }
    }
}

/// The unit of the horizontal axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sheet) enum Axis {
    Iops,
    Megabytes,
    /// The offered load, percent of the capacity: the achieved load would end at the capacity, where the curve matters
    /// most.
    Offered,
}

impl Axis {
    /// The rate in the axis' unit.
    fn scaled(self, rate: f64) -> f64 {
        if self == Axis::Megabytes { rate / Units::shown().megabyte_bytes() } else { rate }
    }

    fn title(self) -> String {
        match self {
            Axis::Iops => "I/Os per second".to_owned(),
            Axis::Megabytes => format!("throughput, {}", rate_unit()),
            Axis::Offered => "offered load, percent of the capacity".to_owned(),
        }
    }

    /// A rate with its unit.
    fn words(self, rate: f64) -> String {
        match self {
            Axis::Iops => format!("{}\u{a0}IOPS", number(rate)),
            Axis::Megabytes => megabytes_per_s(rate),
            Axis::Offered => format!("{}\u{a0}%", number(rate)),
        }
    }

    /// A point's rate as a part of a sentence.
    fn describe(self, rate: f64) -> String {
        if self == Axis::Offered { String::new() } else { format!("{}, ", self.words(rate)) }
    }
}

/// A line of the chart: a target, and the kind of request of all its points.
pub(in crate::sheet) struct Path {
    pub(in crate::sheet) name: String,
    pub(in crate::sheet) colour: usize,
    pub(in crate::sheet) points: Vec<Point>,
}

/// A point: one depth or load.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::sheet) struct Point {
    /// The depth, or the load in percent of the capacity.
    pub(in crate::sheet) number: u32,
    /// I/Os or bytes per second, or percent, depending on the axis.
    pub(in crate::sheet) rate: f64,
    /// Median and 99th percentile, ns.
    pub(in crate::sheet) p50_ns: f64,
    pub(in crate::sheet) p99_ns: f64,
}

/// The chart; `None` without a point.
pub(in crate::sheet) fn chart(id: &str, title: &str, asked: Asked, axis: Axis, paths: &[Path]) -> Option<Markup> {
    let points = || paths.iter().flat_map(|path| &path.points);
    let low = points().map(|point| point.p50_ns).reduce(f64::min)?.max(1.0) / 1.3;
    let high = points().map(|point| point.p99_ns).reduce(f64::max)? * 1.3;
    let most = points().map(|point| point.rate).reduce(f64::max)? * 1.05;
    let x = Scale::linear(0.0, most, LEFT, SIZE.0 - RIGHT);
    let y = Scale::logarithmic(low, high, SIZE.1 - BOTTOM, TOP);
    let describe = |path: &Path| {
        let points: Vec<String> = path
            .points
            .iter()
            .map(|point| {
                let rate = axis.describe(point.rate);
                format!("{} {}: {rate}p99 {}", asked.word(), asked.label(point.number), duration(point.p99_ns))
            })
            .collect();
        format!("{}: {}.", path.name, points.join("; "))
    };
    let description: Vec<String> = paths.iter().map(describe).collect();
    let ends = paths.iter().map(|path| {
        let last = path.points.last();
        let name = shortened(&path.name, 18);
        (path.colour, last.map_or(TOP, |point| y.at(point.p99_ns)), name)
    });
    let ends = LineEndFigures { from: SIZE.0 - RIGHT, labels: ends.collect(), range: (TOP, SIZE.1 - BOTTOM) };
    let frame = Frame { id, title, description: &description.join(" "), size: (ends.width(SIZE.0), SIZE.1) };
    Some(svg(
        &frame,
        html! {
            (axes(&x, &y, axis))
            @if axis != Axis::Offered { (most_of_all(paths, axis, &x)) }
            @if axis == Axis::Offered && most > 100.0 {
                (rule((x.at(100.0), TOP), (x.at(100.0), SIZE.1 - BOTTOM), "baseline"))
                (label(x.at(100.0), TOP - 20.0, "axis middle", "capacity"))
            }
            @for path in paths { (path_of(path, (asked, axis), &x, &y)) }
            (ends.shown())
        },
    ))
}

fn axes(x: &Scale, y: &Scale, axis: Axis) -> Markup {
    let (bottom, end) = (SIZE.1 - BOTTOM, SIZE.0 - RIGHT);
    html! {
        (label(0.0, TOP - 20.0, "axis", if axis == Axis::Offered { "response" } else { "latency" }))
        @for ns in y.marks(7) {
            (rule((LEFT, y.at(ns)), (end, y.at(ns)), "grid"))
            (label(LEFT - 8.0, y.at(ns) + 4.0, "tick end", &round_duration(ns)))
        }
        @let wide = number(axis.scaled(x.high())).len() > WIDE_NUMBER;
        @for rate in x.marks(if wide { 4 } else { 7 }) {
            (rule((x.at(rate), bottom), (x.at(rate), bottom + 4.0), "grid"))
            (label(x.at(rate), bottom + 17.0, "tick middle", &round(axis.scaled(rate))))
        }
        (rule((LEFT, bottom), (end, bottom), "baseline"))
        (label((LEFT + end) / 2.0, SIZE.1 - 8.0, "axis middle", &axis.title()))
    }
}

/// The table's highest rate, as a line with its value.
fn most_of_all(paths: &[Path], axis: Axis, x: &Scale) -> Markup {
    let points = || paths.iter().flat_map(|path| path.points.iter().map(|point| (path.colour, point.rate)));
    let Some((of, most)) = points().max_by(|one, other| one.1.total_cmp(&other.1)) else { return html! {} };
    html! {
        (rule((x.at(most), TOP), (x.at(most), SIZE.1 - BOTTOM), &format!("figure {}", colour(of))))
        (label(x.at(most), TOP - 20.0, &format!("name middle {}", colour(of)), &format!("most {}", axis.words(most))))
    }
}

fn path_of(path: &Path, (asked, axis): (Asked, Axis), x: &Scale, y: &Scale) -> Markup {
    let line =
        |ns: fn(&Point) -> f64| line_path(path.points.iter().map(|point| Some((x.at(point.rate), y.at(ns(point))))));
    let colour = colour(path.colour);
    html! {
        path class=(format!("line dashed {colour}")) d=(line(|point| point.p50_ns)) {}
        path class=(format!("line {colour}")) d=(line(|point| point.p99_ns)) {}
        @for point in &path.points {
            @let (at, up) = (x.at(point.rate), y.at(point.p99_ns));
            circle class=(format!("dot {colour}")) cx=(px(at)) cy=(px(up)) r="3.5" {}
        }
        // The load's axis has its own label.
        @if axis != Axis::Offered {
            @for (number, (at, up), side) in marks(path, x, y) {
                (label(at, up, &format!("mark{side} {colour}"), &asked.label(number)))
            }
        }
    }
}

/// Distance that two numbers beside points need, px.
const MARK: (f64, f64) = (20.0, 12.0);

/// The numbers of the points, above or below them, where they do not overlap another number.
fn marks(path: &Path, x: &Scale, y: &Scale) -> Vec<(u32, (f64, f64), &'static str)> {
    let mut taken: Vec<(f64, f64)> = Vec::new();
    let of = |point: &Point| {
        let (at, up) = (x.at(point.rate), y.at(point.p99_ns));
        let sides = [((at - 6.0, up - 7.0), " end", -MARK.0 / 2.0), ((at + 6.0, up + 16.0), "", MARK.0 / 2.0)];
        let (place, side, to_middle) = sides.into_iter().find(|((at, up), _, to_middle)| {
            taken.iter().all(|other| (at + to_middle - other.0).abs() > MARK.0 || (up - other.1).abs() > MARK.1)
        })?;
        taken.push((place.0 + to_middle, place.1));
        Some((point.number, place, side))
    };
    path.points.iter().filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_points_that_touch_stand_apart() {
        let point = |number, rate, p99_ns| Point { number, rate, p50_ns: 1e5, p99_ns };
        let points = vec![point(16, 14_448.0, 8.36e6), point(32, 13_870.0, 9.11e6), point(64, 14_100.0, 8.7e6)];
        let path = Path { name: String::new(), colour: 0, points };
        let x = Scale::linear(0.0, 20_000.0, LEFT, SIZE.0 - RIGHT);
        let y = Scale::logarithmic(1e5, 3e7, SIZE.1 - BOTTOM, TOP);
        let found: Vec<(u32, &str)> =
            marks(&path, &x, &y).into_iter().map(|(number, _, side)| (number, side)).collect();
        assert_eq!(found, [(16, " end"), (32, "")], "the third has no room");
        let alone = Path { points: path.points[2..].to_vec(), ..path };
        assert_eq!(marks(&alone, &x, &y).len(), 1);
    }
}
