//! T37: one node is slower than the others.

use fsdyno_results::{Finding, RunRecord, Severity};

use crate::explanation::Explanation;
use crate::node_comparison::{JobOnNodes, jobs_on_nodes};
use crate::report::Report;
use crate::units::{number, percent};

pub(crate) const ID: &str = "slow-node";

pub(crate) const EXPLANATION: Explanation = Explanation {
    id: ID,
    trap: "T37",
    title: "One node is slower than the others",
    happens: "A node with a slow link, a busy CPU or another mount lags behind. The total is then not what equal nodes \
              would get, and a job over all of them waits for the slowest.",
    seen: "The IOPS of each node are compared with those of the others, job by job. A caution if a node is more than \
           three median absolute deviations below the median and at least 20 % below it. With two nodes, a caution for \
           the one with less than half the rate of the other. The number of I/Os does not matter, unless the distance \
           may be chance. Jobs with a rate limit or think time are judged, too. For a phase of operations on names the \
           operations of all passes count, from 0.2 s on.",
    advice: "Compare that node's table of mount, link and CPU with the others', and measure it alone.",
    documented: "Leys et al., Detecting outliers, Journal of Experimental Social Psychology 49 (2013): three deviations; \
                 IOR, stragglers",
};

/// A node above this share of the median is not slow.
const NEAR: f64 = 0.8;

/// With two nodes, the slower one is slow below this share of the other.
const OF_TWO: f64 = 0.5;

pub(crate) fn find(record: &RunRecord) -> Vec<Finding> {
    let names: Vec<&str> = record.nodes.iter().map(|node| node.name.as_str()).collect();
    jobs_on_nodes(record).iter().flat_map(|job| of(&names, job)).collect()
}

/// The findings on slow nodes among these.
pub(crate) fn of(names: &[&str], job: &JobOnNodes<'_>) -> Vec<Finding> {
    if job.nodes.len() < 2 {
        return Vec::new();
    }
    let unit = if job.first.conditions.is_some() { "operations per second" } else { "IOPS" };
    let most = job.nodes.iter().map(|done| done.iops).fold(0.0, f64::max);
    let (usual, least, others) = match job.usual_distance() {
        Some(distance) => (job.median(), (job.median() - distance).min(job.median() * NEAR), "the median of all nodes"),
        None => (most, most * OF_TWO, "the other node"),
    };
    let slow = job.nodes.iter().filter(|done| done.is_below(least));
    slow.map(|done| {
        let name = names[done.node];
        let share = percent(done.iops / usual);
        let behind = if job.first.plan.paced { ": it falls behind the pace of the job" } else { "" };
        let (iops, usual_iops) = (number(done.iops), number(usual));
        let cause = format!("{name} does {iops} {unit}, {share} of what {others} does ({usual_iops}){behind}");
        let next = format!("measure {name} alone, and compare its mount, link and CPU with the others'");
        let report = Report::new(ID, Severity::Caution, &job.first.name)
            .number("IOPS of the node", done.iops, "1/s")
            .number("IOPS of the others", usual, "1/s");
        Finding { node: Some(name.to_owned()), ..report.says(cause, next) }
    })
    .collect()
}
