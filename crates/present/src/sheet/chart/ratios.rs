//! The answer at a glance: each pattern's figure as a multiple of the baseline's, on a logarithmic axis, with the
//! interval in which it lies.

use maud::{Markup, html};
use results::Trust;

use super::scale::Scale;
use super::{Frame, colour, label, px, rows, rule, svg};
use crate::quantity::{ratio, round, shortened};
use crate::summary::Ratio;

// Narrow enough for a telephone: each pattern's name stands over its dots, not beside them.
const WIDTH: f64 = 460.0;
const LEFT: f64 = 10.0;
const RIGHT: f64 = 165.0;
const TOP: f64 = 34.0;
const STEP: f64 = 19.0;

/// One pattern.
pub(in crate::sheet) struct Group {
    pub(in crate::sheet) title: String,
    pub(in crate::sheet) dots: Vec<Dot>,
}

/// One target's multiple.
pub(in crate::sheet) struct Dot {
    pub(in crate::sheet) target: usize,
    pub(in crate::sheet) name: String,
    pub(in crate::sheet) ratio: Ratio,
    pub(in crate::sheet) trust: Trust,
}

impl Dot {
    fn words(&self) -> String {
        let difference = match self.ratio.doubt() {
            _ if self.trust == Trust::Invalid => " invalid".to_owned(),
            Some(doubt) => format!(", {doubt}"),
            None => String::new(),
        };
        format!("{} {}{difference}", shortened(&self.name, 14), ratio(self.ratio.value))
    }
}

/// The chart; `None` when there is nothing to compare.
pub(in crate::sheet) fn chart(id: &str, what: &str, baseline: &str, groups: &[Group]) -> Option<Markup> {
    let values = || {
        let ends = |dot: &Dot| {
            let interval = dot.ratio.interval;
            [dot.ratio.value, interval.map_or(1.0, |found| found.low), interval.map_or(1.0, |found| found.high)]
        };
        let all = groups.iter().flat_map(|group| &group.dots).flat_map(ends);
        all.filter(|value| *value > 0.0 && value.is_finite())
    };
    let (low, high) = (values().reduce(f64::min)?.min(1.0), values().reduce(f64::max)?.max(1.0));
    let x = Scale::logarithmic((low / 1.25).min(0.5), (high * 1.25).max(2.0), LEFT, WIDTH - RIGHT);
    let (heights, bottom) = rows(groups.iter().map(|group| group.dots.len() + 1), TOP + 14.0, STEP, 13.0);
    let describe = |group: &Group| {
        let dots: Vec<String> = group.dots.iter().map(Dot::words).collect();
        format!("{}: {}.", group.title, dots.join("; "))
    };
    let description: Vec<String> = groups.iter().map(describe).collect();
    let title = format!("{what} as a multiple of {}", shortened(baseline, 40));
    let frame = Frame { id, title: &title, description: &description.join(" "), size: (WIDTH, bottom + 40.0) };
    Some(svg(
        &frame,
        html! {
            @for mark in x.marks(6) {
                @let class = if mark == 1.0 { "baseline" } else { "grid" };
                (rule((x.at(mark), TOP - 6.0), (x.at(mark), bottom), class))
                (label(x.at(mark), bottom + 17.0, "tick middle", &format!("×{}", round(mark))))
            }
            (label(x.at(1.0), TOP - 14.0, "axis middle", &format!("{} = 1", shortened(baseline, 24))))
            (label((LEFT + WIDTH - RIGHT) / 2.0, bottom + 35.0, "axis middle", "slower ← logarithmic → faster"))
            @for (group, heights) in groups.iter().zip(&heights) {
                (label(0.0, heights[0], "row-name", &shortened(&group.title, 60)))
                @for (dot, y) in group.dots.iter().zip(&heights[1..]) { (dot_of(dot, &x, *y)) }
            }
        },
    ))
}

fn dot_of(dot: &Dot, x: &Scale, y: f64) -> Markup {
    let at = x.at(dot.ratio.value);
    let invalid = dot.trust == Trust::Invalid;
    let class = if invalid { "invalid".to_owned() } else { colour(dot.target) };
    let high = dot.ratio.interval.map_or(at, |interval| x.at(interval.high));
    html! {
        @if let Some(interval) = dot.ratio.interval {
            (rule((x.at(interval.low), y), (x.at(interval.high), y), &format!("whisker {class}")))
        }
        @if invalid {
            path class="cross" d=(format!("M{} {}l8 8m0 -8l-8 8", px(at - 4.0), px(y - 4.0))) {}
        } @else {
            circle class=(format!("dot {class}")) cx=(px(at)) cy=(px(y)) r="5" {}
        }
        (label(high.max(at) + 11.0, y + 4.0, &format!("name {class}"), &dot.words()))
    }
}
