//! T14: blocks that are fetched when they are first read.

use fsdyno_results::{Finding, Severity};

use super::host_cache::{delivered_directly, second_pass};
use crate::evidence::Evidence;
use crate::explanation::Explanation;
use crate::report::Report;
use crate::units::rate;

pub(crate) const ID: &str = "lazy-blocks";

pub(crate) const EXPLANATION: Explanation = Explanation {
    id: ID,
    trap: "T14",
    title: "Likely blocks that were fetched at their first read",
    happens: "A volume made from a snapshot fetches each block from object storage when it is first read. Only the \
              first pass measures that. A cache below the device looks the same from here.",
    seen: "Files that this run did not make, read with direct I/O, nine tenths delivered by the device: the rate \
           rises by half or more when every byte was read once. Always a caution: likely, not certain.",
    advice: "Read the whole volume once before the test, or wait until the provider reports it as initialised.",
    documented: "Amazon EBS user guide, initialise volumes; AWS Storage Blog, I/O latency when restoring volumes",
};

pub(crate) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (stage, row, flow) in evidence.flows() {
        if row.first().plan.laid_out || !delivered_directly(stage, row, flow) {
            continue;
        }
        let Some(change) = second_pass(row) else { continue };
        let cause = format!(
            "{} until every byte was read once, {} after that: likely blocks fetched from a snapshot, or a cache \
             below the device",
            rate(change.before_median),
            rate(change.after_median)
        );
        found.push(
            Report::new(ID, Severity::Caution, row.name)
                .number("rate of the first pass", change.before_median, "B/s")
                .number("rate after it", change.after_median, "B/s")
                .says(cause, "read everything once before the run (--rw=read --bs=1M), and use the later figure"),
        );
    }
    found
}
