//! The whole distribution of a latency: which share of the requests came back within which time. The latency axis is
//! logarithmic; the other gives the ends room, where the interesting requests are.

use maud::{Markup, html};

use super::scale::Scale;
use super::{Frame, colour, label, line_path, px, rule, spread, svg};
use crate::quantity::{duration, round_duration, shortened};

/// The percentiles that have a line across the chart.
const MARKS: [f64; 8] = [1.0, 10.0, 50.0, 90.0, 99.0, 99.9, 99.99, 99.999];

/// The percentiles through which a curve is drawn.
const DRAWN: [f64; 33] = [
    1.0, 1.5, 2.0, 3.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 85.0, 90.0, 93.0, 95.0, 97.0,
    98.0, 99.0, 99.3, 99.5, 99.7, 99.8, 99.9, 99.95, 99.97, 99.99, 99.995, 99.997, 99.999,
];

const SIZE: (f64, f64) = (580.0, 330.0);
const LEFT: f64 = 64.0;
const RIGHT: f64 = 104.0;
const TOP: f64 = 26.0;
const BOTTOM: f64 = 42.0;

/// One curve.
pub(in crate::sheet) struct Curve {
    pub(in crate::sheet) name: String,
    pub(in crate::sheet) target: usize,
    /// Requests that it is made of.
    pub(in crate::sheet) count: u64,
    /// The slowest, ns.
    pub(in crate::sheet) slowest: u64,
    /// Dashed: the second direction of a target.
    pub(in crate::sheet) dashed: bool,
    /// `(percentile, ns)`, ascending.
    points: Vec<(f64, f64)>,
}

impl Curve {
    /// The curve of a latency; `None` without a histogram.
    pub(in crate::sheet) fn of(latency: &results::Latency, name: String, target: usize, dashed: bool) -> Option<Curve> {
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
    let all = || curves.iter().flat_map(|curve| &curve.points).map(|(_, ns)| *ns);
    let (low, high) = (all().reduce(f64::min)?, all().reduce(f64::max)?);
    let (low, high) = (low / 1.15, high * 1.15);
    let x = Scale::logarithmic(low, high.max(low * 4.0), LEFT, SIZE.0 - RIGHT);
    let y = Scale::linear(logit(1.0), logit(99.999), SIZE.1 - BOTTOM, TOP);
    let place = |(percent, ns): &(f64, f64)| Some((x.at(*ns), y.at(logit(*percent))));
    let mut ends: Vec<f64> =
        curves.iter().filter_map(|curve| curve.points.last().and_then(place)).map(|(_, at)| at + 4.0).collect();
    spread(&mut ends, 14.0, (TOP, SIZE.1 - BOTTOM));
    let description: Vec<String> = curves.iter().map(Curve::description).collect();
    let frame = Frame { id, title, description: &description.join(" "), size: SIZE };
    Some(svg(
        &frame,
        html! {
            (axes(&x, &y))
            @for curve in curves {
                path class=(format!("line {}{}", colour(curve.target), if curve.dashed { " dashed" } else { "" }))
                    d=(line_path(curve.points.iter().map(place))) {}
                @for percent in [50.0, 99.0] {
                    @if let Some((at, up)) = curve.ns_at(percent).and_then(|ns| place(&(percent, ns))) {
                        circle cx=(px(at)) cy=(px(up)) r="3" class=(format!("dot {}", colour(curve.target))) {}
                    }
                }
            }
            @for (curve, end) in curves.iter().zip(&ends) {
                @let from = curve.points.last().and_then(place).map_or(0.0, |(at, _)| at + 6.0);
                (label(from.min(SIZE.0 - RIGHT + 8.0), *end, &format!("name {}", colour(curve.target)),
                    &shortened(&curve.name, 16)))
            }
        },
    ))
}

fn axes(x: &Scale, y: &Scale) -> Markup {
    let (bottom, end) = (SIZE.1 - BOTTOM, SIZE.0 - RIGHT);
    html! {
        (label(LEFT - 8.0, TOP - 12.0, "axis end", "requests"))
        @for percent in MARKS {
            @let at = y.at(logit(percent));
            (rule((LEFT, at), (end, at), "grid"))
            (label(LEFT - 8.0, at + 4.0, "tick end", &format!("{percent} %")))
        }
        @for ns in x.marks(7) {
            (rule((x.at(ns), TOP), (x.at(ns), bottom), "grid"))
            (label(x.at(ns), bottom + 16.0, "tick middle", &round_duration(ns)))
        }
        (label((LEFT + end) / 2.0, SIZE.1 - 8.0, "axis middle", "came back within (logarithmic)"))
    }
}

/// Room for both ends: 1 % is as far from 10 % as 90 % from 99 %.
fn logit(percent: f64) -> f64 {
    (percent / (100.0 - percent)).ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use results::Latency;

    #[test]
    fn a_curve_ends_where_too_few_requests_lie_beyond() {
        let mut latency = Latency::with_histogram();
        (1..=1000).for_each(|value| latency.record(value * 1000));
        let curve = Curve::of(&latency, "a".into(), 0, false).unwrap();
        assert_eq!(curve.points.first().unwrap().0, 1.0);
        // Beyond 99 % there are ten of 1000.
        assert_eq!(curve.points.last().unwrap().0, 99.0);
        assert!(curve.description().contains("p99 "), "{}", curve.description());
        assert!(Curve::of(&Latency::default(), "a".into(), 0, false).is_none());
        assert!(chart("a", "b", &[]).is_none());
    }
}
