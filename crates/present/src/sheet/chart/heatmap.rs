//! Draws latency over time: each column is a time slice, each row a class of latency; the shade is the share of the
//! column's requests in that class. Rounds stand side by side.

use std::fmt::Write as _;

use fsdyno_results::LatencySlice;
use maud::{Markup, html};

use super::scale::Scale;
use super::{Frame, label, px, rule, svg};
use crate::quantity::round_duration;

const SIZE: (f64, f64) = (350.0, 200.0);
const LEFT: f64 = 52.0;
const RIGHT: f64 = 8.0;
const TOP: f64 = 10.0;
const BOTTOM: f64 = 40.0;

/// Most columns of a map: more cannot be distinguished, and each takes bytes.
const COLUMNS_MAX: usize = 120;

/// With more rounds than this their names would overlap.
const ROUNDS_NAMED: usize = 4;

/// The least share of a column's requests for each shade.
const SHADES: [f64; 6] = [0.0, 0.001, 0.01, 0.05, 0.2, 0.5];

/// The labels of the shades, from the lightest.
pub(in crate::sheet) const SHADE_LABELS: [&str; 6] = ["<0.1 %", "0.1 %", "1 %", "5 %", "20 %", "50 %"];

/// The slices of each round, in their order.
pub(in crate::sheet) struct Map {
    rounds: Vec<Vec<LatencySlice>>,
}

impl Map {
    /// `None`: no slices were recorded.
    pub(in crate::sheet) fn of(rounds: impl Iterator<Item = Vec<LatencySlice>>) -> Option<Map> {
        let rounds: Vec<Vec<LatencySlice>> = rounds.collect();
        rounds.iter().any(|round| !round.is_empty()).then_some(Map { rounds })
    }

    /// Lowest and highest class with a request.
    pub(in crate::sheet) fn classes(&self) -> Option<(u16, u16)> {
        let all = || self.rounds.iter().flatten().flat_map(|slice| &slice.classes).map(|(class, _)| *class);
        Some((all().min()?, all().max()?))
    }
}

/// Lower bound of a class, ns.
fn class_ns(class: f64) -> f64 {
    let (octave, quarter) = ((class / 4.0).floor(), class % 4.0);
    octave.exp2() * (1.0 + quarter / 4.0)
}

/// The position of a latency on the axis of classes; the inverse of [`class_ns`].
fn class_at(ns: f64) -> f64 {
    let octave = ns.log2().floor();
    octave * 4.0 + (ns / octave.exp2() - 1.0) * 4.0
}

/// The map; `classes` is the range of the latency axis, so that neighbouring maps can be compared.
pub(in crate::sheet) fn chart(id: &str, title: &str, map: &Map, classes: (u16, u16)) -> Markup {
    let (low, high) = (f64::from(classes.0), f64::from(classes.1) + 1.0);
    let y = Scale::linear(low, high, SIZE.1 - BOTTOM, TOP);
    let columns = columns(map);
    let total: usize = columns.iter().map(Vec::len).sum();
    // The gap between rounds, px.
    let gap = 3.0;
    let gaps = columns.len().saturating_sub(1) as f64 * gap;
    let width = (SIZE.0 - LEFT - RIGHT - gaps) / total.max(1) as f64;
    let mut paths: [String; SHADES.len()] = Default::default();
    let mut starts = Vec::new();
    let mut x = LEFT;
    for round in &columns {
        starts.push((x, x + width * round.len() as f64));
        draw(&mut paths, round, x, width, &y);
        x += width * round.len() as f64 + gap;
    }
    let row_height = (y.at(0.0) - y.at(1.0)).abs().max((SIZE.1 - BOTTOM - TOP) / (high - low));
    let marks = Scale::logarithmic(class_ns(low), class_ns(high), 1.0, 0.0).marks(6);
    let seconds = map.rounds.iter().flatten().map(|slice| slice.at_ms).max().unwrap_or(0) as f64 / 1e3;
    let description = format!(
        "Latencies from {} to {} over {} of {} each; the table and the distribution have the figures.",
        round_duration(class_ns(low)),
        round_duration(class_ns(high)),
        if columns.len() == 1 { "one round".to_owned() } else { format!("{} rounds", columns.len()) },
        crate::quantity::duration(seconds * 1e9),
    );
    let frame = Frame { id, title, description: &description, size: SIZE };
    svg(
        &frame,
        html! {
            @for ns in &marks {
                @let at = y.at(class_at(*ns));
                (rule((LEFT, at), (SIZE.0 - RIGHT, at), "grid"))
                (label(LEFT - 6.0, at + 4.0, "tick end", &round_duration(*ns)))
            }
            g stroke-width=(px(row_height + 0.2)) {
                @for (shade, path) in paths.iter().enumerate().filter(|(_, path)| !path.is_empty()) {
                    path class=(format!("heat h{shade}")) d=(path) {}
                }
            }
            @for (index, (from, to)) in starts.iter().enumerate() {
                (rule((*from, SIZE.1 - BOTTOM + 3.0), (*to, SIZE.1 - BOTTOM + 3.0), "baseline"))
                @let name = if columns.len() > ROUNDS_NAMED { (index + 1).to_string() } else { format!("round {}", index + 1) };
                @if columns.len() > 1 { (label((from + to) / 2.0, SIZE.1 - BOTTOM + 17.0, "tick middle", &name)) }
            }
            (label((LEFT + SIZE.0 - RIGHT) / 2.0, SIZE.1 - 6.0, "axis middle", &time_axis(seconds, columns.len())))
        },
    )
}

fn time_axis(seconds: f64, rounds: usize) -> String {
    let lasted = crate::quantity::duration(seconds * 1e9);
    match rounds {
        0 | 1 => format!("time, {lasted}"),
        rounds if rounds > ROUNDS_NAMED => format!("rounds 1 to {rounds}, up to {lasted} each"),
        _ => format!("time, up to {lasted} each"),
    }
}

/// The columns: for each slice (or several, when there are too many) the share of requests per class.
fn columns(map: &Map) -> Vec<Vec<Vec<(u16, f64)>>> {
    let slices: usize = map.rounds.iter().map(Vec::len).sum();
    let together = slices.div_ceil(COLUMNS_MAX).max(1);
    map.rounds.iter().map(|round| round.chunks(together).map(shares).collect()).collect()
}

fn shares(slices: &[LatencySlice]) -> Vec<(u16, f64)> {
    let mut counts = std::collections::BTreeMap::new();
    for (class, count) in slices.iter().flat_map(|slice| &slice.classes) {
        *counts.entry(*class).or_insert(0u64) += count;
    }
    let total: u64 = counts.values().sum();
    counts.into_iter().map(|(class, count)| (class, count as f64 / total.max(1) as f64)).collect()
}

/// Draws a column: each class is a horizontal stroke, one path per shade; neighbours of the same shade are one stroke.
fn draw(paths: &mut [String; SHADES.len()], columns: &[Vec<(u16, f64)>], x: f64, width: f64, y: &Scale) {
    let mut strokes: std::collections::BTreeMap<u16, (usize, usize, usize)> = std::collections::BTreeMap::new();
    let mut put = |class: u16, (shade, from, to): (usize, usize, usize)| {
        let at = y.at(f64::from(class) + 0.5);
        let length = px((to - from) as f64 * width + 0.2);
        let _ = write!(paths[shade], "M{} {}h{length}", px(x + from as f64 * width), px(at));
    };
    for (index, column) in columns.iter().enumerate() {
        for (class, share) in column {
            let shade = SHADES.iter().rposition(|from| share > from).unwrap_or(0);
            match strokes.get_mut(class) {
                Some((same, _, to)) if *same == shade && *to == index => *to = index + 1,
                _ => {
                    if let Some(stroke) = strokes.insert(*class, (shade, index, index + 1)) {
                        put(*class, stroke);
                    }
                }
            }
        }
    }
    for (class, stroke) in strokes {
        put(class, stroke);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_quarter_octaves() {
        // Class 40 holds 1024 ns to 1280 ns.
        assert_eq!((class_ns(40.0), class_ns(41.0), class_ns(44.0)), (1024.0, 1280.0, 2048.0));
        assert!((class_at(1280.0) - 41.0).abs() < 1e-9 && (class_at(1152.0) - 40.5).abs() < 1e-9);
    }

    #[test]
    fn neighbours_of_one_shade_are_one_stroke() {
        let slice = |at_ms, classes: &[(u16, u64)]| LatencySlice { at_ms, classes: classes.to_vec() };
        let round = [slice(1000, &[(40, 9)]), slice(2000, &[(40, 9)]), slice(3000, &[(41, 9)])];
        let map = Map::of([round.to_vec()].into_iter()).unwrap();
        assert_eq!(map.classes(), Some((40, 41)));
        let columns = columns(&map);
        let mut paths: [String; SHADES.len()] = Default::default();
        draw(&mut paths, &columns[0], 0.0, 10.0, &Scale::linear(40.0, 42.0, 20.0, 0.0));
        assert_eq!(paths[5], "M0 15h20.2M20 5h10.2");
        assert!(Map::of([Vec::new()].into_iter()).is_none());
    }

    #[test]
    fn many_slices_share_columns() {
        let round: Vec<LatencySlice> =
            (0..1000).map(|second| LatencySlice { at_ms: second * 1000, classes: vec![(40, 1)] }).collect();
        let map = Map::of([round].into_iter()).unwrap();
        assert!(columns(&map)[0].len() <= COLUMNS_MAX);
    }
}
