//! T9: file attributes from the client's cache.

use fsdyno_results::evidence::{StorageClass, WireCounters};
use fsdyno_results::{Finding, PhaseRecord, Severity};

use crate::evidence::Evidence;
use crate::explanation::Explanation;
use crate::report::Report;
use crate::units::count;

pub(crate) const ID: &str = "attribute-cache";

pub(crate) const EXPLANATION: Explanation = Explanation {
    id: ID,
    trap: "T9",
    title: "stat calls that never left the client",
    happens: "An NFS client caches the attributes of a file for 3 to 60 s (acregmin, acregmax), those of a directory \
              for 30 to 60 s. A loop of stat calls then measures this machine, not the server.",
    seen: "Applies to phases of stat calls and to the engines filestat and dirstat, from 64 operations on. The \
           requests that can answer a stat are counted: GETATTR, LOOKUP, ACCESS, READDIR, READDIRPLUS, OPEN. Fewer \
           than one request for two operations is a caution. In a phase that is meant to run from the cache it is \
           information only.",
    advice: "For a cold number wait longer than acregmax, drop the caches, or mount with noac. Report hot and cold \
             numbers side by side.",
    documented: "nfs(5), attribute caching; linux mountstats",
};

/// NFS requests that return attributes.
const REVALIDATIONS: &[&str] = &["GETATTR", "LOOKUP", "ACCESS", "READDIR", "READDIRPLUS", "OPEN", "OPEN_NOATTR"];
/// With fewer requests per operation than this, most operations were answered by the client's cache.
const REQUESTS_SHARE: f64 = 0.5;
/// Least number of operations to judge.
const OPERATIONS_MIN: u64 = 64;
/// Engines whose I/Os are stat calls.
const ENGINES: &[&str] = &["filestat", "dirstat"];

pub(crate) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    // Requests are counted, so that no minimal time is needed.
    for (stage, row) in evidence.all_rows().filter(|(_, row)| row.ended_well()) {
        let wire = stage.flow.as_ref().and_then(|flow| flow.wire.as_ref());
        let Some(wire) = wire.filter(|_| stage.class() == Some(StorageClass::Network)) else { continue };
        // A mount without requests lists no operation.
        let is_counted = wire.asked.is_some() || !wire.operations.is_empty();
        if is_counted && ENGINES.contains(&row.first().setup.engine.as_str()) {
            found.extend(judge(row.name, row.ios(), wire.requests(REVALIDATIONS), Severity::Caution));
        }
    }
    found
}

/// For a phase of stat calls between two readings of the mount's counters.
pub(crate) fn of_phase(phase: &PhaseRecord, begin: &WireCounters, end: &WireCounters) -> Option<Finding> {
    if !phase.name.starts_with("stat") || end.nfs_operations.is_empty() {
        return None;
    }
    let sum = |wire: &WireCounters| {
        let decisive = wire.nfs_operations.iter().filter(|operation| REVALIDATIONS.contains(&operation.name.as_str()));
        decisive.fold(0u64, |sum, operation| sum.saturating_add(operation.operations))
    };
    let severity = if phase.cache.as_deref() == Some("hot") { Severity::Info } else { Severity::Caution };
    judge(&phase.name, phase.operations, sum(end).saturating_sub(sum(begin)), severity)
}

fn judge(job: &str, operations: u64, requests: u64, severity: Severity) -> Option<Finding> {
    if operations < OPERATIONS_MIN || requests as f64 >= operations as f64 * REQUESTS_SHARE {
        return None;
    }
    let cause = format!(
        "{} operations sent {} requests to the server: the client's attribute cache answered the rest",
        count(operations),
        count(requests)
    );
    Some(
        Report::new(ID, severity, job)
            .number("operations", operations as f64, "operations")
            .number("requests on the wire", requests as f64, "requests")
            .says(cause, "run it cold: wait longer than acregmax after the files were touched, or mount with noac"),
    )
}
