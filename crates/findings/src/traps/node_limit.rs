//! T39: a node's own CPU or link is the limit, not the storage.

use fsdyno_results::{Finding, RunRecord, Severity};

use crate::evidence::Evidence;
use crate::explanation::Explanation;
use crate::limits::{Limit, Limiter, of_node};
use crate::report::Report;

pub(crate) const ID: &str = "node-limit";

pub(crate) const EXPLANATION: Explanation = Explanation {
    id: ID,
    trap: "T39",
    title: "A node's own CPU or link is the limit",
    happens: "A node whose processors or network interface are fully used cannot get more from any server. Its part of \
              the total says what the node can do, not what the storage can.",
    seen: "The counters of each node show what limits it: processors that are busy 90 % of the time, a link that is \
           used to 85 % of its speed, requests that wait in the client, or a limit of its control group. A caution if \
           at most half of the nodes have such a limit; if more of them have one, the line `limited by` names it.",
    advice: "Leave the node out, give it less to do, or use more nodes.",
    documented: "proc(5), /proc/stat; linux Documentation/ABI/testing/sysfs-class-net, speed; nfsstat(8), mountstats",
};

pub(crate) fn find(record: &RunRecord) -> Vec<Finding> {
    if record.nodes.len() < 2 {
        return Vec::new();
    }
    use Limiter::{ClientProcessor, ClientQueue, CpuQuota, IoThrottle, Link, MemoryLimit};
    let of_its_own = |limit: &Limit| {
        matches!(limit.limiter, CpuQuota | IoThrottle | MemoryLimit | ClientProcessor | Link | ClientQueue)
    };
    let limited = Evidence::of(record).filter_map(|evidence| {
        let limit = of_node(record, &evidence).ok().filter(of_its_own)?;
        Some((evidence.node, limit))
    });
    let limited: Vec<_> = limited.collect();
    if limited.len() * 2 > record.nodes.len() {
        return Vec::new();
    }
    let found = limited.into_iter().map(|(node, limit)| {
        let what = match limit.limiter {
            CpuQuota => "the CPU limit of its control group",
            IoThrottle => "the I/O limit of its control group",
            MemoryLimit => "the memory limit of its control group",
            ClientProcessor => "its CPUs",
            ClientQueue => "its own queue of requests",
            _ => "its own link",
        };
        let cause = format!("{} is limited by {what}: {}", node.name, limit.evidence);
        let next = format!("leave {} out or give it less to do; the other nodes are not limited by this", node.name);
        Finding { node: Some(node.name.clone()), ..Report::of_run(ID, Severity::Caution).says(cause, next) }
    });
    found.collect()
}
