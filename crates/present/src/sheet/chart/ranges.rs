//! Draws latencies of many operations: for each a bar from the median to the 99th percentile, and the 99.9th where
//! there are enough operations.

use maud::{Markup, html};

use super::scale::Scale;
use super::{Frame, colour, label, px, rows, rule, svg};
use crate::quantity::{duration, round_duration, shortened};

const WIDTH: f64 = 550.0;
const LEFT: f64 = 186.0;
const RIGHT: f64 = 120.0;
const TOP: f64 = 12.0;
const STEP: f64 = 15.0;
/// Most characters of a group's title.
pub(in crate::sheet) const NAME: usize = 24;
/// Width of a label of the axis, `100 µs`, with its blank: in the larger letters of a narrow page.
const LABEL: f64 = 62.0;

/// Operations of one kind.
pub(in crate::sheet) struct Group {
    pub(in crate::sheet) title: String,
    pub(in crate::sheet) ranges: Vec<Range>,
}

/// Latencies of one target, ns.
pub(in crate::sheet) struct Range {
    pub(in crate::sheet) target: usize,
    pub(in crate::sheet) name: String,
    pub(in crate::sheet) p50: f64,
    /// 99th percentile, ns; `None`: too few operations.
    pub(in crate::sheet) p99: Option<f64>,
    /// 99.9th percentile, ns; `None`: too few operations.
    pub(in crate::sheet) p999: Option<f64>,
}

/// The chart; `None` without a range.
pub(in crate::sheet) fn chart(id: &str, title: &str, groups: &[Group]) -> Option<Markup> {
    let ranges = || groups.iter().flat_map(|group| &group.ranges);
    let low = ranges().map(|range| range.p50).reduce(f64::min)?.max(1.0) / 1.4;
    let high = ranges().map(|range| range.p999.or(range.p99).unwrap_or(range.p50)).reduce(f64::max)? * 1.4;
    let x = Scale::logarithmic(low, high, LEFT, WIDTH - RIGHT);
    let (heights, bottom) = rows(groups.iter().map(|group| group.ranges.len()), TOP + 6.0, STEP, 6.0);
    let describe = |range: &Range| {
        let p99 = range.p99.map(|p99| format!(", p99 {}", duration(p99))).unwrap_or_default();
        format!("{} p50 {}{p99}", range.name, duration(range.p50))
    };
    let description: Vec<String> = groups
        .iter()
        .map(|group| format!("{}: {}.", group.title, group.ranges.iter().map(describe).collect::<Vec<_>>().join("; ")))
        .collect();
    let frame = Frame { id, title, description: &description.join(" "), size: (WIDTH, bottom + 22.0) };
    Some(svg(
        &frame,
        html! {
            @for ns in x.marks_apart(LABEL) {
                (rule((x.at(ns), TOP - 6.0), (x.at(ns), bottom), "grid"))
                (label(x.at(ns), bottom + 17.0, "tick middle", &round_duration(ns)))
            }
            @for (group, heights) in groups.iter().zip(&heights) {
                @let middle = heights.iter().sum::<f64>() / heights.len().max(1) as f64;
                (label(LEFT - 12.0, middle + 4.0, "row-name end", &shortened(&group.title, NAME)))
                @for (range, y) in group.ranges.iter().zip(heights) { (range_of(range, &x, *y)) }
            }
        },
    ))
}

fn range_of(range: &Range, x: &Scale, y: f64) -> Markup {
    let class = colour(range.target);
    let from = x.at(range.p50);
    let to = range.p99.map_or(from, |p99| x.at(p99));
    let end = range.p999.map_or(to, |p999| x.at(p999));
    html! {
        @if range.p99.is_some() { (rule((from, y), (to, y), &format!("range {class}"))) }
        @if range.p999.is_some() {
            (rule((to, y), (end, y), &format!("whisker {class}")))
            (rule((end, y - 5.0), (end, y + 5.0), &format!("whisker {class}")))
        }
        circle class=(format!("dot {class}")) cx=(px(from)) cy=(px(y)) r="4" {}
        @let (percentile, ns) = range.p99.map_or(("p50", range.p50), |p99| ("p99", p99));
        @let words = format!("{} {percentile} {}", shortened(&range.name, 8), duration(ns));
        (label(end + 9.0, y + 4.0, &format!("name {class}"), words.trim_start()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_the_axis_do_not_touch() {
        for (low, high) in [(1e3, 4e4), (3e3, 2e6), (5e5, 6e5), (1.0, 1e10), (900.0, 2200.0), (7e3, 3e5)] {
            let range = Range { target: 0, name: String::new(), p50: low, p99: Some(high), p999: None };
            let groups = [Group { title: "create".to_owned(), ranges: vec![range] }];
            let drawn = chart("chart", "Latency", &groups).unwrap().into_string();
            let labels = drawn.split("<text").filter(|text| text.contains("tick middle"));
            let at = |text: &str| text.split("x=\"").nth(1)?.split('"').next()?.parse::<f64>().ok();
            let places: Vec<f64> = labels.filter_map(at).collect();
            assert!(places.windows(2).all(|pair| pair[1] - pair[0] >= LABEL - 0.1), "{low} to {high}: {places:?}");
            assert!(places.len() > 1 || high < 5.0 * low, "{low} to {high}: {places:?}");
        }
    }

    #[test]
    fn too_few_operations_have_a_dot_with_their_median() {
        let range = |p50, p99| Range { target: 0, name: String::new(), p50, p99, p999: None };
        let group = |title: &str, range| Group { title: title.to_owned(), ranges: vec![range] };
        let groups = [group("create", range(6e3, Some(41e3))), group("write+fsync", range(2_280e3, None))];
        let drawn = chart("chart", "Latency", &groups).unwrap().into_string();
        assert!(drawn.contains("p99 41.0") && drawn.contains("p50 2.28"), "{drawn}");
        assert_eq!((drawn.matches("<circle").count(), drawn.matches("class=\"range ").count()), (2, 1), "{drawn}");
    }
}
