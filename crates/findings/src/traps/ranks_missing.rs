//! T35: ranks of the run have no results.

use fsdyno_results::{Finding, RunRecord, Severity};

use crate::explanation::Explanation;
use crate::report::Report;
use crate::units::counted;

pub(crate) const ID: &str = "ranks-missing";

pub(crate) const EXPLANATION: Explanation = Explanation {
    id: ID,
    trap: "T35",
    title: "Some nodes have no results",
    happens: "A process that died, hung or never started adds nothing to the total. Until then it did its part of the \
              load, and afterwards the others had the storage for themselves.",
    seen: "Ranks that were started are compared with those whose results arrived. Invalid from one missing rank on, because \
           the total is not that of all nodes.",
    advice: "Look at the named nodes (mount, memory, kernel log), and run again, if need be without them.",
    documented: "mpirun(1), exit status; docs/scale.md",
};

/// Most ranks that are named.
const NAMED_MAX: usize = 4;

pub(crate) fn find(record: &RunRecord) -> Vec<Finding> {
    let Some(together) = record.ranks_record.as_ref().filter(|together| !together.missing.is_empty()) else {
        return Vec::new();
    };
    let named: Vec<String> = together
        .missing
        .iter()
        .take(NAMED_MAX)
        .map(|missing| {
            let node = missing.node.as_ref().map_or(String::new(), |node| format!(" on {node}"));
            format!("rank {}{node}: {}", missing.rank, missing.reason)
        })
        .collect();
    let more = together.missing.len().saturating_sub(NAMED_MAX);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    let ranks = counted(u64::from(together.ranks), "rank");
    let cause = format!("{} of {ranks} sent no results ({}{more})", together.missing.len(), named.join("; "));
    let next = "look at the mount and the kernel log of these nodes, then run again";
    vec![
        Report::of_run(ID, Severity::Invalid)
            .number("ranks without results", together.missing.len() as f64, "ranks")
            .says(cause, next),
    ]
}
