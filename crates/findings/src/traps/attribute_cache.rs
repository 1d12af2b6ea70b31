//! T9: file attributes from the client's cache.

use results::evidence::{StorageClass, WireCounters};
use results::{Finding, PhaseRecord, Severity};

use crate::evidence::Evidence;
use crate::report::Report;
use crate::story::Story;
use crate::units::count;

pub(crate) const ID: &str = "attribute-cache";

pub(crate) const STORY: Story = Story {
    id: ID,
    trap: "T9",
    title: "stat calls that never left the client",
    happens: "An NFS client trusts what it knows of a file's attributes for 3 to 60 s (acregmin, acregmax), of a \
              folder's for 30 to 60 s. A loop of stat calls then measures this machine.",
    seen: "Requests on the wire that could answer (GETATTR, LOOKUP, ACCESS, READDIR, READDIRPLUS, OPEN) beside 64 or \
           more operations of a phase of stat calls or of the engines filestat and dirstat. Fewer than one for two \
           is a caution. For a phase that is meant to run from the cache it is information only.",
    advice: "Wait longer than acregmax, drop the caches, or mount with noac for a cold number; show hot and cold beside \
             each other.",
    documented: "nfs(5), attribute caching; linux mountstats",
};

/// Requests that tell attributes.
const TELLING: &[&str] = &["GETATTR", "LOOKUP", "ACCESS", "READDIR", "READDIRPLUS", "OPEN", "OPEN_NOATTR"];
/// Fewer requests per operation than this: most were answered here.
const REQUESTS_SHARE: f64 = 0.5;
/// Fewer operations say nothing.
const OPERATIONS_MIN: u64 = 64;
/// Engines whose I/Os are stat calls.
const ENGINES: &[&str] = &["filestat", "dirstat"];

pub(crate) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (stage, row, flow) in
        evidence.flows().filter(|(_, row, _)| ENGINES.contains(&row.first().setup.engine.as_str()))
    {
        let Some(wire) = flow.wire.as_ref().filter(|_| stage.class() == Some(StorageClass::Network)) else { continue };
        if !wire.operations.is_empty() {
            found.extend(judge(row.name, row.ios(), wire.requests(TELLING), Severity::Caution));
        }
    }
    found
}

/// A phase of stat calls between two looks at the wire.
pub(crate) fn of_phase(phase: &PhaseRecord, begin: &WireCounters, end: &WireCounters) -> Option<Finding> {
    if !phase.name.starts_with("stat") || end.nfs_operations.is_empty() {
        return None;
    }
    let sum = |wire: &WireCounters| {
        let telling = wire.nfs_operations.iter().filter(|operation| TELLING.contains(&operation.name.as_str()));
        telling.fold(0u64, |sum, operation| sum.saturating_add(operation.operations))
    };
    let severity = if phase.cache.as_deref() == Some("hot") { Severity::Info } else { Severity::Caution };
    judge(&phase.name, phase.operations, sum(end).saturating_sub(sum(begin)), severity)
}

fn judge(job: &str, operations: u64, requests: u64, severity: Severity) -> Option<Finding> {
    if operations < OPERATIONS_MIN || requests as f64 >= operations as f64 * REQUESTS_SHARE {
        return None;
    }
    let cause = format!(
        "{} operations and {} requests to the server: the rest was answered from this client's attribute cache",
        count(operations),
        count(requests)
    );
    Some(
        Report::new(ID, severity, job)
            .number("operations", operations as f64, "operations")
            .number("requests on the wire", requests as f64, "requests")
            .says(cause, "run it cold: longer than acregmax after the files were touched, or on a mount with noac"),
    )
}
