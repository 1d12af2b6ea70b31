//! T45: the control group's memory limit evicted what was read.

use fsdyno_results::{Finding, Severity};

use crate::evidence::{Evidence, Flow, JobInStage};
use crate::explanation::Explanation;
use crate::report::Report;
use crate::units::{count, percent, size};

pub(crate) const ID: &str = "memory-limit";

pub(crate) const RAISE: &str = "raise the memory limit of the control group, or use direct I/O";

pub(crate) const EXPLANATION: Explanation = Explanation {
    id: ID,
    trap: "T45",
    title: "The control group's memory limit evicted the files",
    happens: "The page cache of a container is part of its memory limit. Files that do not fit into it are evicted and \
              read from the storage again, whatever memory the machine has. The number then depends on this limit.",
    seen: "Without direct I/O: the group met its limit during the run (`max` and `high` of memory.events, or \
           memory.failcnt of version 1). The devices or the server delivered more bytes than reading each byte once \
           needs, by a tenth or more of the bytes read. A caution.",
    advice: "Raise the memory limit of the control group, add --direct=1, or report the limit with the number.",
    documented: "linux Documentation/admin-guide/cgroup-v2.rst, memory.events",
};

/// The files that set the limit, in both versions of control groups.
const FILES: &str = "memory.max, memory.high, or memory.limit_in_bytes of version 1";
/// The share that was read again from which on the limit determines the number.
const SHARE: f64 = 0.1;

pub(crate) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let evicted = evidence.flows().filter_map(|(stage, row, flow)| {
        let limit = Limit::that_held(evidence, row, flow)?;
        let cause = format!(
            "{} of the bytes read had been evicted; {}{}",
            percent(limit.share),
            limit.words,
            stage.shared_figures_note()
        );
        let report = Report::new(ID, Severity::Caution, row.name).number("share read again", limit.share, "ratio");
        Some(report.says(cause, "raise the memory limit of the control group, or add --direct=1"))
    });
    evicted.collect()
}

/// A memory limit and its effect on a row.
pub(crate) struct Limit {
    /// Bytes that were delivered again, as a share of those read.
    pub(crate) share: f64,
    /// The limit with the files that set it.
    pub(crate) words: String,
}

impl Limit {
    /// The limit, if it evicted enough to change the result.
    pub(crate) fn that_held(evidence: &Evidence<'_>, row: &JobInStage<'_>, flow: &Flow<'_>) -> Option<Limit> {
        let (begin, end) = (&flow.begin.system, &flow.end.system);
        let hits = end.memory_limit_hits?.saturating_sub(begin.memory_limit_hits?);
        let storage = flow.storage.read.as_ref().filter(|moved| !moved.shared).map(|moved| moved.bytes);
        let delivered = storage.or(flow.wire.as_ref().map(|wire| wire.bytes.read))?;
        let share = delivered.saturating_sub(row.span_bytes()?) as f64 / flow.application.bytes.read.max(1) as f64;
        if !row.reads() || !row.buffered() || hits == 0 || share < SHARE {
            return None;
        }
        let limit = match evidence.cgroup_memory_bytes() {
            Some(bytes) => format!("may use {} ({FILES})", size(bytes)),
            None => format!("has a limit ({FILES})"),
        };
        Some(Limit {
            share: share.min(1.0),
            words: format!("the control group {limit}, a limit that it met {} times", count(hits)),
        })
    }
}
