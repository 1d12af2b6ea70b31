//! Draws the distribution of a latency: the time below which a share of the requests stayed. Each nine of the
//! percentile axis takes the same width, and the latency axis is logarithmic; the table's median and 99th percentile
//! are horizontal lines.

use maud::{Markup, html};

use super::scale::Scale;
use super::{Frame, LineEndFigures, colour, label, line_path, px, rule, svg};
use crate::quantity::{duration, round_duration};

/// The percentiles with a mark on the axis.
const MARKS: [f64; 6] = [50.0, 90.0, 99.0, 99.9, 99.99, 99.999];

/// The percentiles through which a curve is drawn.
const DRAWN: [f64; 31] = [
    1.0, 5.0, 10.0, 15.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 85.0, 90.0, 93.0, 95.0, 97.0, 98.0, 99.0, 99.3,
    99.5, 99.7, 99.8, 99.9, 99.93, 99.95, 99.97, 99.99, 99.993, 99.995, 99.997, 99.999,
];

const SIZE: (f64, f64) = (360.0, 158.0);
const LEFT: f64 = 50.0;
const RIGHT: f64 = 98.0;
const TOP: f64 = 22.0;
const BOTTOM: f64 = 32.0;

/// A curve.
pub(in crate::sheet) struct Curve {
    pub(in crate::sheet) name: String,
    pub(in crate::sheet) target: usize,
    /// Number of requests.
    pub(in crate::sheet) count: u64,
    /// Latency of the slowest request, ns.
    pub(in crate::sheet) slowest: u64,
    /// Whether it is dashed: the second direction of a target.
    pub(in crate::sheet) dashed: bool,
    /// `(percentile, ns)`, ascending.
    points: Vec<(f64, f64)>,
}

impl Curve {
    /// The curve of a latency; `None` without a histogram.
    pub(in crate::sheet) fn of(
        latency: &fsdyno_results::Latency,
        name: String,
        target: usize,
        dashed: bool,
    ) -> Option<Curve> {
        latency.histogram.as_ref()?;
        let points = DRAWN.into_iter().filter(|percent| latency.shows(*percent)).filter_map(|percent| {
            let ns = latency.percentile(percent)? as f64;
            Some((percent, ns.max(1.0)))
        });
        let points: Vec<(f64, f64)> = points.collect();
        let (count, slowest) = (latency.moments.count, latency.moments.max);
        (!points.is_empty()).then_some(Curve { name, target, count, slowest, dashed, points })
    }

    /// The latency at one of the drawn percentiles, ns; `None`: too few requests lie beyond.
    pub(in crate::sheet) fn ns_at(&self, percent: f64) -> Option<f64> {
        self.points.iter().find(|(at, _)| *at == percent).map(|(_, ns)| *ns)
    }

    fn description(&self) -> String {
        let at = |percent| self.ns_at(percent).map(|ns| format!("p{percent} {}", duration(ns)));
        let shown: Vec<String> = [50.0, 99.0, 99.9, 99.99].into_iter().filter_map(at).collect();
        format!("{}: {}.", self.name, shown.join(", "))
    }
}

/// The chart; `None` without a curve.
pub(in crate::sheet) fn chart(id: &str, title: &str, curves: &[Curve]) -> Option<Markup> {
    let all = || curves.iter().flat_map(|curve| &curve.points);
    let (low, high) = (all().map(|(_, ns)| *ns).reduce(f64::min)?, all().map(|(_, ns)| *ns).reduce(f64::max)?);
    let last = all().map(|(percent, _)| *percent).reduce(f64::max)?.max(90.0);
    let x = Scale::linear(nines(0.0), nines(last), LEFT, SIZE.0 - RIGHT);
    let y = Scale::logarithmic(low / 1.15, (high * 1.15).max(low * 4.0), SIZE.1 - BOTTOM, TOP);
    let place = |(percent, ns): (f64, f64)| (x.at(nines(percent)), y.at(ns));
    // With one curve both figures are drawn; with several, the 99th percentile, which distinguishes them, or the median
    // where none has one.
    let has_p99 = curves.iter().any(|curve| curve.ns_at(99.0).is_some());
    let percents: &[f64] = match curves.len() {
        1 => &[50.0, 99.0],
        _ if has_p99 => &[99.0],
        _ => &[50.0],
    };
    let figures = || {
        let of = move |curve: &'_ Curve| {
            percents.iter().filter_map(|percent| Some((*percent, curve.ns_at(*percent)?))).collect::<Vec<_>>()
        };
        curves.iter().flat_map(move |curve| of(curve).into_iter().map(move |point| (curve, point)))
    };
    let name = |curve: &Curve, percent: f64| if curves.len() == 1 { format!("p{percent}") } else { curve.name.clone() };
    let ends = figures()
        .map(|(curve, (percent, ns))| (curve.target, y.at(ns), format!("{} {}", name(curve, percent), duration(ns))));
    let ends = LineEndFigures { from: SIZE.0 - RIGHT, labels: ends.collect(), range: (TOP, SIZE.1 - BOTTOM) };
    let description: Vec<String> = curves.iter().map(Curve::description).collect();
    let frame = Frame { id, title, description: &description.join(" "), size: (ends.width(SIZE.0), SIZE.1) };
    Some(svg(
        &frame,
        html! {
            (axes(&x, &y, last))
            @if figures().next().is_some() {
                (label(SIZE.0 - RIGHT + 6.0, 10.0, "axis", &match percents { [only] => format!("p{only} in the table"), _ => "in the table".to_owned() }))
            }
            @for curve in curves {
                path class=(format!("line {}{}", colour(curve.target), if curve.dashed { " dashed" } else { "" }))
                    d=(line_path(curve.points.iter().map(|point| Some(place(*point))))) {}
            }
            @for (curve, point) in figures() {
                @let (at, up) = place(point);
                (rule((at, up), (SIZE.0 - RIGHT, up), &format!("figure {}", colour(curve.target))))
                circle cx=(px(at)) cy=(px(up)) r="3" class=(format!("dot {}", colour(curve.target))) {}
            }
            (ends.shown())
        },
    ))
}

fn axes(x: &Scale, y: &Scale, last: f64) -> Markup {
    let (bottom, end) = (SIZE.1 - BOTTOM, SIZE.0 - RIGHT);
    html! {
        (label(0.0, 10.0, "axis", "latency, logarithmic"))
        @for ns in y.marks(5) {
            (rule((LEFT, y.at(ns)), (end, y.at(ns)), "grid"))
            (label(LEFT - 5.0, y.at(ns) + 4.0, "tick end", &round_duration(ns)))
        }
        @for percent in MARKS.into_iter().filter(|percent| *percent <= last && has_room(*percent, x)) {
            @let at = x.at(nines(percent));
            (rule((at, TOP), (at, bottom), "grid"))
            (label(at, bottom + 14.0, "tick middle", &percent.to_string()))
        }
        (rule((LEFT, bottom), (end, bottom), "baseline"))
        (label((LEFT + end) / 2.0, SIZE.1 - 3.0, "axis middle", "percentile"))
    }
}

/// Whether a mark's name is clear of the previous one.
fn has_room(percent: f64, x: &Scale) -> bool {
    let nine = x.at(1.0) - x.at(0.0);
    nine > 46.0 || percent <= 90.0 || (nines(percent).round() as u32).is_multiple_of(2)
}

/// The number of nines of a percentile: 90 has one, 99 two.
fn nines(percent: f64) -> f64 {
    -(1.0 - percent / 100.0).log10()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsdyno_results::Latency;

    #[test]
    fn a_curve_ends_where_too_few_requests_lie_beyond() {
        let mut latency = Latency::with_histogram();
        (1..=1000).for_each(|value| latency.record(value * 1000));
        let curve = Curve::of(&latency, "a".into(), 0, false).unwrap();
        assert_eq!(curve.points.first().unwrap().0, 1.0);
        // Of 1000 requests, ten lie beyond 99 %.
        assert_eq!(curve.points.last().unwrap().0, 99.0);
        assert!(curve.description().contains("p99 "), "{}", curve.description());
        assert!(Curve::of(&Latency::default(), "a".into(), 0, false).is_none());
        assert!(chart("a", "b", &[]).is_none());
    }

    #[test]
    fn several_curves_have_names_with_few_requests_too() {
        let mut latency = Latency::with_histogram();
        (1..=100).for_each(|value| latency.record(value * 1000));
        let curves = ["write", "sync"].map(|name| Curve::of(&latency, name.into(), 0, name == "sync").unwrap());
        let drawn = chart("a", "b", &curves).unwrap().into_string();
        for words in ["p50 in the table", ">write 49.9", ">sync 49.9"] {
            assert!(drawn.contains(words), "{words}: {drawn}");
        }
    }

    #[test]
    fn each_nine_has_the_same_room() {
        assert!([(0.0, 0.0), (90.0, 1.0), (99.9, 3.0)].iter().all(|(percent, at)| (nines(*percent) - at).abs() < 1e-9));
    }
}
