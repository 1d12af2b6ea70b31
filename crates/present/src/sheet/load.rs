//! Makes the load charts. Sweeps: latency against throughput, one point per depth. Load curves: response time against
//! the offered load, without the closed loops that found the capacity.

use fsdyno_results::{JobRecord, Lane, Metric, Question, TestRounds, Trust};
use fsdyno_stats::sort;
use maud::{Markup, html};

use super::chart::points::{self, Asked, Axis, Path, Point};
use super::outline::{Outline, badge};
use crate::quantity::{listed, shortened};
use crate::summary::Grid;

/// Least number of points of a curve.
const POINTS_MIN: usize = 3;

pub(super) fn figure(grid: &Grid<'_>, place: &Outline) -> Markup {
    let (title, asked, word) = match grid.study.question {
        Question::Curve => ("Response time under load", Asked::Load, "load"),
        Question::Sweep => ("Latency against throughput", Asked::Depth, "qd"),
        _ => return html! {},
    };
    let axis = if asked == Asked::Load { Axis::Offered } else { axis(grid) };
    let Some(chart) = points::chart(&place.id("load-chart"), title, asked, axis, &paths(grid, word, axis)) else {
        return html! {};
    };
    let is_invalid = |cell: &TestRounds<'_>| cell.was_tried() && cell.trust() == Trust::Invalid;
    let of_axis = |cell: &TestRounds<'_>| cell.repeats.first().is_some_and(|one| one.row.numbered(word).is_some());
    let invalid = grid.tests().filter(|(_, _, cell)| of_axis(cell) && is_invalid(cell));
    let invalid: Vec<String> = invalid.map(|(line, _, _)| shortened(&line.title, 60)).collect();
    html! {
        figure.load {
            (chart)
            figcaption { strong { (title) "." }
                @if asked == Asked::Load {
                    " From the intended start of a request, including its time in the queue: solid p99, dashed p50. "
                    "Beyond the capacity the queue grows as long as the load lasts."
                } @else {
                    " Each point is one depth, with its number: solid p99, dashed p50. Where a line turns upward, more "
                    "depth only adds waiting."
                }
                @if !invalid.is_empty() { " " (badge(Trust::Invalid)) " " (listed(&invalid)) "." }
            }
        }
    }
}

/// The unit of the axis: IOPS with one block size, bytes with several.
fn axis(grid: &Grid<'_>) -> Axis {
    let mut blocks = grid.tests().filter_map(|(_, _, cell)| block_bytes(cell.repeats.first()?.merged.as_ref()?));
    let first = blocks.next();
    if blocks.all(|block| Some(block) == first) { Axis::Iops } else { Axis::Megabytes }
}

/// The largest block size of a job, bytes.
fn block_bytes(job: &JobRecord) -> Option<u64> {
    let (direction, _) = job.directions.iter().find(|(_, moved)| moved.ios > 0)?;
    Some(job.setup.block_sizes[direction].1)
}

/// One path per target and kind of request, by depth or load; `word` precedes this number in a test's name.
fn paths(grid: &Grid<'_>, word: &str, axis: Axis) -> Vec<Path> {
    let mut found: Vec<(usize, &str, Path)> = Vec::new();
    for (line, target, cell) in grid.tests() {
        let Some((kind, number)) = cell.repeats.first().and_then(|repeat| repeat.row.numbered(word)) else { continue };
        let Some(point) = point(number, cell, axis) else { continue };
        match found.iter_mut().find(|(of, known, _)| *of == target && *known == kind) {
            Some((_, _, path)) => path.points.push(point),
            None => {
                let name = line.title.split(", ").next().unwrap_or(&line.title);
                let name = match grid.targets.len() {
                    1 => name.to_owned(),
                    _ => format!("{} {name}", shortened(&grid.targets[target], 12)),
                };
                let colour = found.len();
                found.push((target, kind, Path { name, colour, points: vec![point] }));
            }
        }
    }
    let mut paths: Vec<Path> = found.into_iter().map(|(_, _, path)| path).collect();
    paths.retain(|path| path.points.len() >= POINTS_MIN);
    paths.iter_mut().for_each(|path| sort::by_key(&mut path.points, |point| point.number));
    paths
}

fn point(number: u32, cell: &TestRounds<'_>, axis: Axis) -> Option<Point> {
    let repeat = cell.repeats.first()?;
    let rate = match axis {
        Axis::Iops => cell.value(Metric::Iops)?,
        Axis::Megabytes => cell.value(Metric::Throughput)?,
        Axis::Offered => {
            // Only rows with response times: service times would hide the waiting.
            repeat.row.response_times()?;
            let (p50_ns, p99_ns) = (cell.value(Metric::P50(Lane::Request))?, cell.value(Metric::P99(Lane::Request))?);
            return Some(Point { number, rate: f64::from(number), p50_ns, p99_ns });
        }
    };
    let lane = if repeat.merged.as_ref()?.directions.read.ios > 0 { Lane::Read } else { Lane::Write };
    Some(Point { number, rate, p50_ns: cell.value(Metric::P50(lane))?, p99_ns: cell.value(Metric::P99(lane))? })
}
