//! T38: one node reads much faster than the others.

use fsdyno_results::{Finding, RunRecord, Severity};

use crate::explanation::Explanation;
use crate::node_comparison::{JobOnNodes, jobs_on_nodes};
use crate::report::Report;
use crate::units::number;

pub(crate) const ID: &str = "client-cache";

pub(crate) const EXPLANATION: Explanation = Explanation {
    id: ID,
    trap: "T38",
    title: "A node probably read from its own cache",
    happens: "Data that a node has written or read before are in its cache. The node then reads them at the speed of \
              memory, and the total contains bytes that the server never sent.",
    seen: "The read IOPS of each node are compared with those of the others, with three nodes or more. A caution if a \
           node is more than three median absolute deviations above the median and does at least twice the median. \
           Where the counters of the mount are visible, page-cache and nfs-data-cache judge each node.",
    advice: "Let each node read files that another one wrote, use direct I/O, or more data than a node has memory.",
    documented: "IOR, option -C; mdtest, option -N; Leys et al., Detecting outliers (2013): three deviations",
};

/// Multiple of the median rate that needs a cache; below it none is assumed.
const FASTER: f64 = 2.0;

pub(crate) fn find(record: &RunRecord) -> Vec<Finding> {
    let only_reads = |job: &JobOnNodes<'_>| {
        let moved = &job.first.directions;
        moved.read.ios > 0 && moved.write.ios == 0
    };
    let jobs = jobs_on_nodes(record).into_iter().filter_map(JobOnNodes::at_full_speed);
    jobs.filter(only_reads).flat_map(|job| fast_nodes(record, &job)).collect()
}

fn fast_nodes(record: &RunRecord, job: &JobOnNodes<'_>) -> Vec<Finding> {
    let Some(distance) = job.usual_distance() else { return Vec::new() };
    let median = job.median();
    let most = (median + distance).max(median * FASTER);
    let fast = job.nodes.iter().filter(|done| done.iops > most);
    fast.map(|done| {
        let name = &record.nodes[done.node].name;
        let cause = format!(
            "{name} reads {} times as fast as the median of all nodes ({} and {} IOPS): its own cache may have answered",
            number(done.iops / median),
            number(done.iops),
            number(median)
        );
        let report = Report::new(ID, Severity::Caution, &job.first.name)
            .number("IOPS of the node", done.iops, "1/s")
            .number("IOPS of the others", median, "1/s");
        let next = "let each node read files that another one wrote, use direct I/O, or more data than a node has memory";
        Finding { node: Some(name.clone()), ..report.says(cause, next) }
    })
    .collect()
}
