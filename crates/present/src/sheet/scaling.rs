//! Draws `scale`: throughput, I/Os per second and the 99th percentile against the number of nodes.

use fsdyno_results::{Question, SweepPoint};
use fsdyno_text::quantity::{Units, rate_unit};
use maud::{Markup, html};

use super::chart::scale::Scale;
use super::chart::{Frame, label, line_path, px, rule, svg};
use super::outline::Outline;
use crate::quantity::{duration, number, shortened};
use crate::summary::Grid;

const SIZE: (f64, f64) = (300.0, 190.0);
const LEFT: f64 = 20.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 38.0;

/// Least number of points of a curve.
const POINTS_MIN: usize = 2;

type Figure = fn(&SweepPoint) -> Option<f64>;

/// Formats a figure.
type FigureFormat = fn(f64) -> String;

pub(super) fn figure(grid: &Grid<'_>, place: &Outline) -> Markup {
    if grid.study.question != Question::Scale {
        return html! {};
    }
    let figures: [(&str, Figure, FigureFormat); 3] = [
        (rate_unit(), |point| Some(point.bytes_per_s / Units::shown().megabyte_bytes()), number),
        ("IOPS", |point| Some(point.iops), number),
        ("p99", |point| Some(point.latency?.p99_ns? as f64), duration),
    ];
    let mut groups: Vec<&str> = Vec::new();
    for (group, _) in grid.study.rows.iter().filter_map(|row| row.numbered("n")) {
        if !groups.contains(&group) {
            groups.push(group);
        }
    }
    let charts = groups.iter().enumerate().map(|(index, group)| {
        let points: Vec<(u32, SweepPoint)> = grid
            .study
            .numbered_points(group, "n")
            .into_iter()
            .filter_map(|(nodes, rows)| Some((nodes, SweepPoint::of(&rows)?)))
            .collect();
        let of_figure = |(name, of, words): (&str, Figure, FigureFormat)| {
            let values: Vec<(u32, f64)> = points.iter().filter_map(|(nodes, point)| Some((*nodes, of(point)?))).collect();
            chart(&place.id(&format!("scale-{index}-{}", name.replace('/', ""))), name, &values, words)
        };
        let charts: Vec<Markup> = figures.into_iter().filter_map(of_figure).collect();
        if charts.is_empty() {
            return html! {};
        }
        html! {
            figure.load {
                div.beside { @for chart in charts { div { (chart) } } }
                figcaption { strong { (shortened(group, 60)) " against nodes." } " All nodes together; the axes begin at 0." }
            }
        }
    });
    html! { @for chart in charts { (chart) } }
}

fn chart(id: &str, name: &str, values: &[(u32, f64)], words: FigureFormat) -> Option<Markup> {
    let most = values.iter().map(|(_, value)| *value).fold(0.0, f64::max);
    let last = values.iter().map(|(nodes, _)| *nodes).max()?;
    if values.len() < POINTS_MIN || most <= 0.0 {
        return None;
    }
    let x = Scale::linear(0.0, f64::from(last), LEFT, SIZE.0 - RIGHT);
    let y = Scale::linear(0.0, most, SIZE.1 - BOTTOM, TOP);
    let described: Vec<String> = values.iter().map(|(nodes, value)| format!("{nodes}: {}", words(*value))).collect();
    let description = format!("{name} by nodes: {}.", described.join("; "));
    let frame = Frame { id, title: &format!("{name} against nodes"), description: &description, size: SIZE };
    let bottom = SIZE.1 - BOTTOM;
    let at = |(nodes, value): &(u32, f64)| (x.at(f64::from(*nodes)), y.at(*value));
    Some(svg(
        &frame,
        html! {
            (label(0.0, 12.0, "axis", name))
            (rule((LEFT, bottom), (SIZE.0 - RIGHT, bottom), "baseline"))
            (label((LEFT + SIZE.0 - RIGHT) / 2.0, SIZE.1 - 6.0, "axis middle", "nodes"))
            path class="line c0" d=(line_path(values.iter().map(|value| Some(at(value))))) {}
            @for value in values {
                @let (right, up) = at(value);
                circle class="dot c0" cx=(px(right)) cy=(px(up)) r="3.5" {}
                (label(right, up - 8.0, "mark middle c0", &words(value.1)))
                (label(right, bottom + 16.0, "tick middle", &value.0.to_string()))
            }
        },
    ))
}
