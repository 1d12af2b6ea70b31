//! T8: NFS data from the client's page cache.

use fsdyno_results::evidence::StorageClass;
use fsdyno_results::{Finding, Severity};

use crate::evidence::{BYTES_MIN, Evidence};
use crate::explanation::Explanation;
use crate::report::Report;
use crate::units::{percent, size};

pub(crate) const ID: &str = "nfs-data-cache";

pub(crate) const EXPLANATION: Explanation = Explanation {
    id: ID,
    trap: "T8",
    title: "The NFS client's cache answered",
    happens: "The NFS client keeps file data in its page cache. Data that this client wrote or read before are not \
              requested again: opening the file only checks its attributes.",
    seen: "From 256 KiB on, without direct I/O, the bytes that the server sent are compared with those that the job \
           read. They come from the mount's own counters (mountstats), or else from the network interface. Reported \
           when 10 % or more came from memory, invalid from 50 % on. Where others used the mount too, and not all \
           requested bytes crossed the network, it is `not-visible`.",
    advice: "Add --direct=1, or read files that another client wrote, or remount between writing and reading.",
    documented: "nfs(5), data and metadata coherence; linux mountstats",
};

/// The share from memory from which on it is reported.
const CAUTION: f64 = 0.1;
/// The share from which on the number is mostly memory's.
const INVALID: f64 = 0.5;

pub(crate) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (stage, row, flow) in evidence.byte_flows() {
        // An interface's counter also includes others' bytes, so it can hide a cache but not invent one.
        let Some(wire) = flow.wire.as_ref().filter(|_| stage.class() == Some(StorageClass::Network)) else { continue };
        let (asked, crossed) = (flow.application.bytes.read, wire.bytes.read);
        let share = asked.saturating_sub(crossed) as f64 / asked.max(1) as f64;
        let workload = row.reads() && stage.reads_are_the_workload() && row.direct() != Some(true);
        if !workload || asked < BYTES_MIN || share < CAUTION {
            continue;
        }
        let severity = if share >= INVALID { Severity::Invalid } else { Severity::Caution };
        let cause = format!(
            "{} read by the job, {} sent by the server ({}): {} came from this client's memory{}",
            size(asked),
            size(crossed),
            wire.witness,
            percent(share),
            stage.shared_figures_note()
        );
        found.push(
            Report::new(ID, severity, row.name)
                .bytes("bytes read by the job", asked)
                .bytes("bytes sent by the server", crossed)
                .number("share from memory", share, "ratio")
                .says(cause, "add --direct=1"),
        );
    }
    found
}
