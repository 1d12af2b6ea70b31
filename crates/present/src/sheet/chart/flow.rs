//! The ledger as a flow: how high a layer's bar is, so many bytes went through it. Where the band narrows, bytes stayed
//! behind: reads that a cache answered, writes that are still in memory.

use maud::{Markup, html};
use results::{Direction, ReadWrite, Transfer};

use super::{Frame, label, px, rectangle, svg};
use crate::quantity::bytes;
use crate::sheet::ledger::{Bytes, Flow, amount};

const SIZE: (f64, f64) = (360.0, 172.0);
const TOP: f64 = 26.0;
/// Height of the most bytes.
const FULL: f64 = 92.0;
const NODE: f64 = 14.0;
const LAYERS: [&str; 5] = ["application", "process", "page cache", "device", "wire"];
/// Index of the page cache.
const CACHE: usize = 2;

/// What stands in a column.
enum Column {
    Bytes(Bytes),
    /// Passed through: the words about its state.
    Cache(Vec<String>),
    /// In one or two words, why nothing stands there.
    Empty(&'static str),
}

/// The chart.
pub(in crate::sheet) fn chart(id: &str, title: &str, flow: &Flow) -> Markup {
    let columns = columns(flow);
    let most = columns.iter().filter_map(Column::bytes).map(Bytes::sum).max();
    let scale = FULL / most.unwrap_or(0).max(1) as f64;
    let centre = |index: usize| SIZE.0 / 5.0 * (index as f64 + 0.5);
    let description = format!("{} {}", flow.sentence(), layers_in_words(&columns));
    let frame = Frame { id, title, description: &description, size: SIZE };
    let visible: Vec<(usize, Bytes)> =
        columns.iter().enumerate().filter_map(|(index, column)| Some((index, column.bytes()?))).collect();
    svg(
        &frame,
        html! {
            @for pair in visible.windows(2) {
                (band((centre(pair[0].0) + NODE / 2.0, pair[0].1), (centre(pair[1].0) - NODE / 2.0, pair[1].1), scale))
            }
            // With nothing counted below it, the band ends in the cache.
            @if let Some((index, counted)) = visible.last().filter(|(index, _)| *index < CACHE) {
                (band((centre(*index) + NODE / 2.0, *counted), (centre(CACHE) - 30.0, *counted), scale))
            }
            @for (index, column) in columns.iter().enumerate() {
                (label(centre(index), 14.0, "layer middle", LAYERS[index]))
                (node(column, centre(index), scale))
            }
        },
    )
}

impl Column {
    fn bytes(&self) -> Option<Bytes> {
        match self {
            Column::Bytes(bytes) => Some(*bytes),
            Column::Cache(_) | Column::Empty(_) => None,
        }
    }
}

fn columns(flow: &Flow) -> [Column; 5] {
    let cache = match flow.cache.value() {
        None => Column::Empty("not visible"),
        Some(change) => {
            let mut words = vec![format!("{} →", bytes(change.before as f64)), bytes(change.after as f64)];
            if let Some(dirty) = change.dirty_after.filter(|dirty| *dirty > 0) {
                words.push(format!("{} dirty", bytes(dirty as f64)));
            }
            Column::Cache(words)
        }
    };
    let devices = match flow.devices.value() {
        None => Column::Empty("not visible"),
        Some(None) => Column::Empty("none"),
        Some(Some(bytes)) => Column::Bytes(*bytes),
    };
    [
        Column::Bytes(flow.application),
        flow.process.value().map_or(Column::Empty("not visible"), |bytes| Column::Bytes(*bytes)),
        cache,
        devices,
        match flow.wire.value() {
            Some(wire) => Column::Bytes(wire.bytes),
            None => Column::Empty(if flow.wired { "not visible" } else { "none" }),
        },
    ]
}

/// The bands of both directions between two bars.
fn band((x1, from): (f64, Bytes), (x2, to): (f64, Bytes), scale: f64) -> Markup {
    let heights = |counted: Bytes| counted.map(|bytes| bytes as f64 * scale);
    let (from, to) = (heights(from), heights(to));
    let middle = (x1 + x2) / 2.0;
    html! {
        @for way in Transfer::BOTH {
            @if from[way] > 0.0 || to[way] > 0.0 {
                @let (top1, top2) = (TOP + offset(from, way), TOP + offset(to, way));
                @let (end1, end2) = (top1 + from[way], top2 + to[way]);
                path class={ "flow " (word(way)) } d=(format!(
                    "M{a} {t1}C{m} {t1} {m} {t2} {b} {t2}V{e2}C{m} {e2} {m} {e1} {a} {e1}z",
                    a = px(x1), b = px(x2), m = px(middle), t1 = px(top1), t2 = px(top2), e1 = px(end1), e2 = px(end2),
                )) {}
            }
        }
    }
}

/// Writes stand below reads.
fn offset(heights: ReadWrite<f64>, way: Transfer) -> f64 {
    match way {
        Transfer::Read => 0.0,
        Transfer::Write => heights.read,
    }
}

fn word(way: Transfer) -> &'static str {
    Direction::from(way).name()
}

fn node(column: &Column, x: f64, scale: f64) -> Markup {
    let below = TOP + FULL + 16.0;
    html! {
        @match column {
            Column::Bytes(counted) => {
                @let heights = counted.map(|bytes| bytes as f64 * scale);
                @if heights.read + heights.write == 0.0 { (rectangle(x - NODE / 2.0, TOP, NODE, 1.5, "node")) }
                @for way in Transfer::BOTH {
                    @if heights[way] > 0.0 {
                        @let class = format!("node {}", word(way));
                        (rectangle(x - NODE / 2.0, TOP + offset(heights, way), NODE, heights[way].max(1.0), &class))
                    }
                }
                @for (line, text) in in_lines(*counted).iter().enumerate() {
                    (label(x, below + 15.0 * line as f64, "tick middle", text))
                }
            }
            Column::Cache(words) => {
                rect class="cache" x=(px(x - 30.0)) y=(px(TOP - 4.0)) width="60" height=(px(FULL + 8.0)) rx="6" {}
                @for (line, text) in words.iter().enumerate() {
                    (label(x, below + 15.0 * line as f64, "tick middle", text))
                }
            }
            Column::Empty(words) => {
                rect class="hidden-layer" x=(px(x - NODE / 2.0)) y=(px(TOP)) width=(px(NODE)) height=(px(FULL)) {}
                (label(x, below, "tick middle muted", words))
            }
        }
    }
}

fn in_lines(Bytes { read, write: written }: Bytes) -> Vec<String> {
    let mut lines = Vec::new();
    if read > 0 || written == 0 {
        lines.push(format!("r {}", bytes(read as f64)));
    }
    if written > 0 {
        lines.push(format!("w {}", bytes(written as f64)));
    }
    lines
}

fn layers_in_words(columns: &[Column]) -> String {
    let describe = |(name, column): (&&str, &Column)| match column {
        Column::Bytes(counted) => format!("{name}: {}", amount(*counted)),
        Column::Cache(words) => format!("{name}: {}", words.join(" ")),
        Column::Empty(words) => format!("{name}: {words}"),
    };
    let words: Vec<String> = LAYERS.iter().zip(columns).map(describe).collect();
    format!("{}.", words.join("; "))
}
