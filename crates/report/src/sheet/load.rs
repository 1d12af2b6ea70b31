//! Sweeps and load curves: latency against throughput, one point per depth or offered load.

use maud::{Markup, html};
use results::Question;

use super::chart::points::{self, Path, Point};
use super::place::{Place, scrolling};
use crate::quantity::{binary_bytes, shortened};
use crate::summary::{Cell, Grid, Lane, Line, Metric};

/// Fewer points are no curve.
const POINTS_MIN: usize = 3;

pub(super) fn section(grid: &Grid<'_>, place: &Place) -> Markup {
    let (title, asked) = match grid.study.question {
        Question::Curve => ("Response time under load", "load"),
        Question::Sweep => ("Latency against throughput", "depth"),
        _ => return html! {},
    };
    let paths = paths(grid);
    let Some(chart) = points::chart(&place.id("load-chart"), title, asked, &paths) else { return html! {} };
    place.section(
        "load",
        title,
        html! {
            figure {
                (scrolling("Chart: latency against throughput", chart))
                figcaption { "Each point is one " (asked) ", written beside it: solid p99, dashed p50. Where a line turns upward, more "
                    (asked) " only means more waiting." }
            }
        },
    )
}

/// One path per target and per what is the same in its points.
fn paths(grid: &Grid<'_>) -> Vec<Path> {
    let mut paths: Vec<(usize, String, Path)> = Vec::new();
    for line in &grid.lines {
        for (target, cell) in line.cells.iter().enumerate() {
            let Some((same, point)) = point(grid.study.question, line, cell) else { continue };
            match paths.iter_mut().find(|(of, known, _)| *of == target && *known == same) {
                Some((_, _, path)) => path.points.push(point),
                None => {
                    let name = match grid.targets.len() {
                        1 => same.clone(),
                        _ => format!("{} {same}", shortened(&grid.targets[target], 12)),
                    };
                    let colour = paths.len();
                    paths.push((target, same, Path { name, colour, points: vec![point] }));
                }
            }
        }
    }
    paths.into_iter().map(|(_, _, path)| path).filter(|path| path.points.len() >= POINTS_MIN).collect()
}

/// What the point has in common with others, and the point.
fn point(question: Question, line: &Line<'_>, cell: &Cell<'_>) -> Option<(String, Point)> {
    let merged = cell.repeats.first()?.merged.as_ref()?;
    let lane = if merged.read.ios > 0 { Lane::Read } else { Lane::Write };
    let block = merged.setup.block_sizes[usize::from(lane == Lane::Write)].1;
    let same = format!("{} {}", merged.setup.access, binary_bytes(block.into()));
    let label = match question {
        Question::Sweep => (merged.setup.depth * merged.members.max(1)).to_string(),
        // The last word of the pattern is what differs: `randread-4k-load80`.
        _ => line.pattern.rsplit(['-', ' ']).next().unwrap_or(&line.pattern).trim_start_matches("load").to_owned(),
    };
    Some((
        same,
        Point {
            label,
            iops: cell.value(Metric::Iops)?,
            p50_ns: cell.value(Metric::P50(lane))?,
            p99_ns: cell.value(Metric::P99(lane))?,
        },
    ))
}
