//! Latency against throughput, one point per depth; or response time against the offered load. Where the line turns
//! upward, more load only means more waiting.

use maud::{Markup, html};

use super::scale::Scale;
use super::{Ends, Frame, colour, label, line_path, px, rule, svg};
use crate::quantity::{duration, number, round, round_duration, shortened};

const SIZE: (f64, f64) = (520.0, 270.0);
const LEFT: f64 = 52.0;
const RIGHT: f64 = 124.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 42.0;

/// What differs from point to point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sheet) enum Asked {
    /// Requests in flight.
    Depth,
    /// Percent of the capacity.
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

/// What lies along the chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sheet) enum Axis {
    Iops,
    Megabytes,
    /// What was offered, percent of the capacity: what was achieved ends at the capacity, where it matters most.
    Offered,
}

impl Axis {
    /// The rate in the axis' unit.
    fn scaled(self, rate: f64) -> f64 {
        if self == Axis::Megabytes { rate / 1e6 } else { rate }
    }

    fn title(self) -> &'static str {
        match self {
            Axis::Iops => "I/Os per second",
            Axis::Megabytes => "throughput, MB/s",
            Axis::Offered => "offered load, percent of the capacity",
        }
    }

    /// A rate with its unit.
    fn words(self, rate: f64) -> String {
        match self {
            Axis::Iops => format!("{}\u{a0}IOPS", number(rate)),
            Axis::Megabytes => format!("{}\u{a0}MB/s", number(rate / 1e6)),
            Axis::Offered => format!("{}\u{a0}%", number(rate)),
        }
    }

    /// What stands beside a point, as a sentence part.
    fn describe(self, rate: f64) -> String {
        if self == Axis::Offered { String::new() } else { format!("{}, ", self.words(rate)) }
    }
}

/// One line: a target and what was the same in all its points.
pub(in crate::sheet) struct Path {
    pub(in crate::sheet) name: String,
    pub(in crate::sheet) colour: usize,
    pub(in crate::sheet) points: Vec<Point>,
}

/// One depth or load.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::sheet) struct Point {
    /// What was asked for: the depth, or the load in percent of the capacity.
    pub(in crate::sheet) number: u32,
    /// I/Os or bytes per second, or percent, as the axis says.
    pub(in crate::sheet) rate: f64,
    /// Median and 99th percentile, ns.
    pub(in crate::sheet) p50_ns: f64,
    pub(in crate::sheet) p99_ns: f64,
}

/// The chart. `None` without a point.
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
    let ends = Ends { from: SIZE.0 - RIGHT, labels: ends.collect(), range: (TOP, SIZE.1 - BOTTOM) };
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
        @for rate in x.marks(7) {
            (rule((x.at(rate), bottom), (x.at(rate), bottom + 4.0), "grid"))
            (label(x.at(rate), bottom + 17.0, "tick middle", &round(axis.scaled(rate))))
        }
        (rule((LEFT, bottom), (end, bottom), "baseline"))
        (label((LEFT + end) / 2.0, SIZE.1 - 8.0, "axis middle", axis.title()))
    }
}

/// The most that the table has, as a line with its value.
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
            // Along the load, the axis says it.
            @if axis != Axis::Offered {
                (label(at - 6.0, up - 7.0, &format!("mark end {colour}"), &asked.label(point.number)))
            }
        }
    }
}
