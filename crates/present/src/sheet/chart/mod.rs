//! Draws charts as SVG: pure functions from numbers to markup. Colours are classes of the style sheet, so that a chart
//! follows the page's theme; every chart has a title and a description in words.

pub(super) mod distribution;
pub(super) mod heatmap;
pub(super) mod points;
pub(super) mod ranges;
pub(super) mod scale;
pub(super) mod time;

use std::fmt::Write as _;

use fsdyno_stats::sort;
use maud::{Markup, html};

/// Number of target colours in the style sheet.
pub(super) const COLOURS: usize = 6;

/// Title, description and size of a chart; the description is for readers who do not see it.
pub(super) struct Frame<'a> {
    /// Id, unique in the page.
    pub(super) id: &'a str,
    pub(super) title: &'a str,
    /// What the chart shows, with its numbers.
    pub(super) description: &'a str,
    /// Width and height at scale 1, px.
    pub(super) size: (f64, f64),
}

/// The SVG element of a chart.
pub(super) fn svg(frame: &Frame<'_>, content: Markup) -> Markup {
    let Frame { id, title, description, size: (width, height) } = frame;
    let (title_id, description_id) = (format!("{id}-t"), format!("{id}-d"));
    html! {
        svg role="img" viewBox=(format!("0 0 {width} {height}"))
            aria-labelledby=(format!("{title_id} {description_id}")) {
            title id=(title_id) { (title) }
            desc id=(description_id) { (description) }
            (content)
        }
    }
}

/// The CSS class of a target's colour.
pub(super) fn colour(target: usize) -> String {
    format!("c{}", target % COLOURS)
}

/// A coordinate with at most one decimal.
pub(super) fn px(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// The `d` attribute of a line through the points, interrupted where a point is missing.
pub(super) fn line_path(points: impl Iterator<Item = Option<(f64, f64)>>) -> String {
    let mut path = String::new();
    let mut drawing = false;
    for point in points {
        match point {
            Some((x, y)) => {
                let _ = write!(path, "{}{} {}", if drawing { "L" } else { "M" }, px(x), px(y));
                drawing = true;
            }
            None => drawing = false,
        }
    }
    path
}

/// A text element.
pub(super) fn label(x: f64, y: f64, class: &str, text: &str) -> Markup {
    html! { text x=(px(x)) y=(px(y)) class=(class) { (text) } }
}

/// A straight line.
pub(super) fn rule(from: (f64, f64), to: (f64, f64), class: &str) -> Markup {
    html! { path class=(class) d=(format!("M{} {}L{} {}", px(from.0), px(from.1), px(to.0), px(to.1))) {} }
}

/// The table's figures at the right end of a chart, each in its target's colour.
pub(super) struct LineEndFigures {
    /// Their horizontal position, px.
    pub(super) from: f64,
    /// Target, height of its line, and text.
    pub(super) labels: Vec<(usize, f64, String)>,
    /// The heights between which they must stay.
    pub(super) range: (f64, f64),
}

/// Greatest width of a letter in them, px.
const LETTER: f64 = 8.6;

impl LineEndFigures {
    /// The least width of the chart in which the longest of them fits, px.
    pub(super) fn width(&self, least: f64) -> f64 {
        let longest = self.labels.iter().map(|(.., words)| words.chars().count()).max().unwrap_or(0);
        least.max(self.from + 6.0 + longest as f64 * LETTER)
    }

    pub(super) fn shown(&self) -> Markup {
        let mut heights: Vec<f64> = self.labels.iter().map(|(_, height, _)| height + 4.0).collect();
        spread(&mut heights, 14.0, (self.range.0 + 4.0, self.range.1 + 4.0));
        html! {
            @for ((target, _, words), height) in self.labels.iter().zip(heights) {
                (label(self.from + 6.0, height, &format!("name {}", colour(*target)), words))
            }
        }
    }
}

/// Moves labels apart until they are `gap` from each other, within `range`. They keep their order and stay as near to
/// their places as possible.
fn spread(places: &mut [f64], gap: f64, range: (f64, f64)) {
    let mut order: Vec<usize> = (0..places.len()).collect();
    sort::by(&mut order, |a, b| places[*a].total_cmp(&places[*b]));
    let mut least = range.0;
    for index in &order {
        places[*index] = places[*index].max(least);
        least = places[*index] + gap;
    }
    let mut most = range.1;
    for index in order.iter().rev() {
        places[*index] = places[*index].min(most);
        most = places[*index] - gap;
    }
}

/// Heights of rows in groups with a gap between groups, from `top` downwards, and the height after the last.
pub(super) fn rows(groups: impl Iterator<Item = usize>, top: f64, step: f64, gap: f64) -> (Vec<Vec<f64>>, f64) {
    let mut next = top;
    let mut heights = Vec::new();
    for count in groups {
        heights.push((0..count).map(|row| next + step * row as f64).collect());
        next += step * count as f64 + gap;
    }
    (heights, next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_short() {
        assert_eq!((px(3.0), px(3.09), px(-0.04)), ("3".into(), "3.1".into(), "-0".into()));
        assert_eq!(
            line_path([Some((0.0, 1.0)), Some((2.0, 3.5)), None, Some((4.0, 4.0))].into_iter()),
            "M0 1L2 3.5M4 4"
        );
    }

    #[test]
    fn a_chart_has_room_for_its_longest_figure() {
        let ends = |words: &str| LineEndFigures {
            from: 262.0,
            labels: vec![(0, 10.0, words.to_owned())],
            range: (0.0, 100.0),
        };
        assert_eq!(ends("p99 1 ms").width(360.0), 360.0);
        assert_eq!(ends("memory write 161 µs").width(360.0).round(), 431.0);
    }

    #[test]
    fn labels_keep_apart_and_in_order() {
        let mut places = [50.0, 51.0, 10.0, 98.0];
        spread(&mut places, 12.0, (0.0, 100.0));
        assert_eq!(places, [50.0, 62.0, 10.0, 98.0]);
        let mut crowded = [99.0, 99.0, 99.0];
        spread(&mut crowded, 12.0, (0.0, 100.0));
        assert_eq!(crowded, [76.0, 88.0, 100.0]);
    }
}
