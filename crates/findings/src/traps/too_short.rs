//! T26: too short for a conclusion.

use fsdyno_results::{Finding, Severity};

use crate::evidence::Evidence;
use crate::explanation::Explanation;
use crate::passes::Passes;
use crate::report::Report;
use crate::units::{counted, time};

/// The finding's id.
pub const ID: &str = "too-short";

pub(crate) const EXPLANATION: Explanation = Explanation {
    id: ID,
    trap: "T26",
    title: "The run was too short",
    happens: "In a fraction of a second caches, start-up and chance matter as much as the storage. Eight identical \
              runs of 3 s differed by a factor of 1.5 to 4 on one machine.",
    seen: "Less than a second of I/O, or fewer than 64 I/Os. A caution: the number is valid but says little, and \
           cannot win a comparison. A phase of operations on names is repeated instead: it is too short with fewer than \
           64 operations in all its passes.",
    advice: "Use --time_based --runtime=60, and repeat five times; `fsdyno compare` repeats by itself.",
    documented: "fio issue 955; Benchmarking File System Benchmarking (HotOS 2011)",
};

/// Least I/O time, ms.
const RUNTIME_MS: u64 = 1_000;
/// Least number of I/Os, or of operations in all passes of a phase.
pub const IOS: u64 = 64;

/// Whether a run of this time and number of I/Os is too short to judge.
pub fn is_too_short(runtime_ms: u64, ios: u64) -> bool {
    runtime_ms < RUNTIME_MS || ios < IOS
}

pub(crate) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let short = |(_, row): (_, &crate::evidence::JobInStage<'_>)| {
        let (runtime_ms, ios) = (row.runtime_ms(), row.ios());
        let started = ios > 0 && row.workers.iter().all(|worker| worker.error.is_none());
        (started && is_too_short(runtime_ms, ios)).then(|| {
            let cause =
                format!("{} in {}: too little for a conclusion", counted(ios, "I/O"), time(runtime_ms as f64 * 1e6));
            // A search (latency_target) reports only its last window.
            let searched = row.workers.iter().any(|worker| worker.setup.latency_target_ns > 0);
            let next = if searched { "add --latency_window=10s" } else { "add --time_based --runtime=60" };
            Report::new(ID, Severity::Caution, row.name)
                .number("time of the I/O", runtime_ms as f64, "ms")
                .number("I/Os", ios as f64, "I/Os")
                .says(cause, next)
        })
    };
    evidence.all_rows().filter_map(short).collect()
}

/// For the passes of a phase.
pub(crate) fn of_phase(passes: &Passes<'_>) -> Option<Finding> {
    let (operations, elapsed_ns) = (passes.operations(), passes.sum(|record| record.elapsed_ns));
    (operations < IOS).then(|| {
        let cause =
            format!("{} in {}: too little for a conclusion", counted(operations, "operation"), time(elapsed_ns as f64));
        Report::new(ID, Severity::Caution, passes.name())
            .number("operations", operations as f64, "operations")
            .says(cause, "use more files, or a longer --limit")
    })
}
