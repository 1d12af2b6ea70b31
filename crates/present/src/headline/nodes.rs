//! Compares the nodes of a test that ran on several.

use fsdyno_results::{ActiveWindow, DirectionFigures, Figures, JobRecord, Node, Repeat, TestRounds};
use fsdyno_stats::median;
use fsdyno_stats::sort;
use schemars::JsonSchema;
use serde::Serialize;

use super::test::rounded;
use crate::summary::Grid;

/// The nodes of a test; with several runs, the medians.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct NodesOfTest {
    /// The test's name.
    pub test: String,
    /// The storage's name.
    pub target: String,
    /// Time during which all nodes were active, s; with several runs, the shortest. `None`: their starts are not known.
    pub all_active_s: Option<f64>,
    /// Share of the nodes' time outside of it, percent; with several runs, the largest.
    pub outside_percent: Option<f64>,
    /// Megabytes (10^6) per second.
    pub mb_per_s: Spread,
    /// I/Os per second.
    pub iops: Spread,
    /// 99th percentile of the latency, µs; `None`: too few requests.
    pub p99_us: Option<Spread>,
    /// The figures of each node.
    pub nodes: Vec<NodeFigures>,
    /// Whether it is a phase of operations on names.
    #[serde(skip)]
    pub(crate) is_phase: bool,
}

/// The distribution of a figure over the nodes.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Spread {
    /// The smallest figure.
    pub least: f64,
    /// The node with the smallest figure.
    pub least_node: String,
    /// The median.
    pub median: f64,
    /// The largest figure.
    pub most: f64,
    /// The node with the largest figure.
    pub most_node: String,
    /// The largest divided by the smallest: 1 is even. `None`: the smallest is 0.
    pub imbalance: Option<f64>,
}

/// Figures of one node.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct NodeFigures {
    /// The node's name.
    pub node: String,
    /// Megabytes (10^6) per second.
    pub mb_per_s: f64,
    /// I/Os per second.
    pub iops: f64,
    /// 99th percentile of the latency, µs.
    pub p99_us: Option<f64>,
}

/// The tests that ran on several nodes.
pub(super) fn all(grid: &Grid<'_>) -> Vec<NodesOfTest> {
    let tests = grid.tests().filter_map(|(line, target, cell)| {
        let nodes = nodes(cell);
        let figures = |figure: fn(&NodeFigures) -> Option<f64>| Spread::of(&nodes, figure);
        let windows: Vec<ActiveWindow> = cell.repeats.iter().filter_map(window).collect();
        let outside = windows.iter().filter_map(ActiveWindow::outside).reduce(f64::max);
        Some(NodesOfTest {
            test: line.pattern.clone(),
            target: grid.targets[target].clone(),
            all_active_s: windows.iter().map(ActiveWindow::all_active_ns).min().map(|ns| rounded(ns as f64 / 1e9)),
            outside_percent: outside.map(|share| rounded(share * 100.0)),
            mb_per_s: figures(|node| Some(node.mb_per_s))?,
            iops: figures(|node| Some(node.iops))?,
            p99_us: figures(|node| node.p99_us),
            nodes,
            is_phase: line.is_phase(),
        })
    });
    tests.collect()
}

/// The time in which the ranks of the run's stage were active.
fn window(repeat: &Repeat<'_>) -> Option<ActiveWindow> {
    let windows = &repeat.run()?.ranks_record.as_ref()?.windows;
    windows.iter().find(|window| window.stage == repeat.stage()).copied()
}

/// The figures of each node; empty on a single one.
fn nodes(cell: &TestRounds<'_>) -> Vec<NodeFigures> {
    let mut found: Vec<(&str, Figures)> = cell.repeats.iter().flat_map(of_repeat).collect();
    sort::by(&mut found, |one, other| one.0.cmp(other.0));
    let of_node = found.chunk_by(|one, other| one.0 == other.0).map(|runs| {
        let middle = |of: fn(&Figures) -> Option<f64>| {
            median(&runs.iter().filter_map(|(_, figures)| of(figures)).collect::<Vec<_>>()).map(rounded)
        };
        NodeFigures {
            node: runs[0].0.to_owned(),
            mb_per_s: middle(|figures| Some(figures.bytes_per_s() / 1e6)).unwrap_or(0.0),
            iops: middle(|figures| Some(figures.iops())).unwrap_or(0.0),
            p99_us: middle(|figures| Some(figures.total.latency?.p99_ns? as f64 / 1e3)),
        }
    });
    let nodes: Vec<NodeFigures> = of_node.collect();
    if nodes.len() > 1 { nodes } else { Vec::new() }
}

fn of_repeat<'a>(repeat: &Repeat<'a>) -> Vec<(&'a str, Figures)> {
    let did_not_run = repeat.phase.is_some_and(|phase| phase.operations == 0);
    let Some(run) = repeat.run().filter(|run| run.nodes.len() > 1 && !did_not_run) else { return Vec::new() };
    let mut workers: Vec<&JobRecord> =
        if repeat.phase.is_some() { run.jobs.iter().collect() } else { repeat.workers.clone() };
    sort::by_key(&mut workers, |worker| worker.node);
    let of_node = workers.chunk_by(|one, other| one.node == other.node).filter_map(|workers| {
        let mut merged = workers[0].clone();
        workers[1..].iter().for_each(|worker| merged.merge(worker));
        merged.count_what_completed();
        let node = run.nodes.get(merged.node)?;
        let mut figures = Figures::of_job(&merged);
        if repeat.phase.is_some() {
            by_span(&mut figures.total, node);
        }
        Some((node.name.as_str(), figures))
    });
    of_node.collect()
}

/// Computes the rates of a phase from its own span: it may be shorter than the ms in which runtimes are counted.
fn by_span(total: &mut DirectionFigures, node: &Node) {
    let span = node.part.as_ref().and_then(|part| part.spans.first());
    let seconds = span.map_or(0.0, |span| span.end_ns.saturating_sub(span.start_ns) as f64 / 1e9);
    if seconds > 0.0 {
        total.iops = total.operations as f64 / seconds;
        total.bytes_per_s = total.bytes as f64 / seconds;
    }
}

impl Spread {
    fn of(nodes: &[NodeFigures], figure: fn(&NodeFigures) -> Option<f64>) -> Option<Spread> {
        let mut known: Vec<(f64, &str)> =
            nodes.iter().filter_map(|node| Some((figure(node)?, node.node.as_str()))).collect();
        sort::by(&mut known, |one, other| one.0.total_cmp(&other.0));
        let (&(least, least_node), &(most, most_node)) = (known.first()?, known.last()?);
        (known.len() == nodes.len()).then(|| Spread {
            least,
            least_node: least_node.to_owned(),
            median: rounded(median(&known.iter().map(|(value, _)| *value).collect::<Vec<_>>()).unwrap_or(least)),
            most,
            most_node: most_node.to_owned(),
            imbalance: (least > 0.0).then(|| rounded(most / least)),
        })
    }
}

/// A sentence on how far the nodes of short phases ran together; `None`: there are none.
pub(crate) fn overlap_of_phases(all: &[NodesOfTest]) -> Option<String> {
    let phases = all.iter().filter(|of_test| of_test.is_phase);
    let worst = phases.filter_map(|of_test| Some((of_test.outside_percent?, of_test)));
    let (outside, of_test) = worst.max_by(|one, other| one.0.total_cmp(&other.0))?;
    let (outside, count) = (fsdyno_text::quantity::number(outside), of_test.nodes.len());
    Some(format!(
        "At most {outside} % of the {count} nodes' time lies outside the time in which all were active ({}).",
        of_test.test
    ))
}

impl NodesOfTest {
    /// A sentence on how far the nodes ran together: `All 4 nodes were active together for 10.0 s; 2 % of their time
    /// lies outside.`
    pub(crate) fn overlap(&self) -> Option<String> {
        let (active_s, outside) = (self.all_active_s?, self.outside_percent?);
        if self.is_phase {
            return None;
        }
        let time = fsdyno_text::quantity::latency(active_s * 1e9);
        let outside = fsdyno_text::quantity::number(outside);
        let count = self.nodes.len();
        Some(format!(
            "{}: all {count} nodes were active together for {time}; {outside} % of their time lies outside.",
            self.test
        ))
    }
}
