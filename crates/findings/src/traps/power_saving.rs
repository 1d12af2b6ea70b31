//! T24: processors that enter sleep states between requests.

use fsdyno_results::evidence::StorageClass;
use fsdyno_results::{Finding, Severity};

use crate::evidence::{Evidence, JobInStage};
use crate::explanation::Explanation;
use crate::report::Report;
use crate::units::{number, time};

pub(crate) const ID: &str = "power-saving";

pub(crate) const EXPLANATION: Explanation = Explanation {
    id: ID,
    trap: "T24",
    title: "CPUs saved power between requests",
    happens: "At a low rate CPUs clock down and sleep between requests, and waking up takes longer than a fast \
              device's answer. 300 requests per second can show a worse latency than 6,000.",
    seen: "A power-saving governor (powersave, ondemand, conservative, schedutil) or Windows power plan (Power saver, \
           Balanced), fewer than 2,000 I/Os per second per I/O thread, a mean below 0.5 ms: a caution. Most virtual \
           machines show no governor and are not checked.",
    advice: "Set the governor to performance for the test, or report that CPUs saved power.",
    documented: "linux Documentation/admin-guide/pm/cpufreq.rst; fio issue 1394",
};

/// CPU frequency governors that lower the frequency.
const SAVING: &[&str] = &[
    "powersave",
    "ondemand",
    "conservative",
    "schedutil",
    // Power plans of Windows.
    "Power saver (power plan)",
    "Balanced (power plan)",
];
/// A worker with fewer I/Os per second leaves its CPU idle long enough to sleep.
const LOW_RATE: f64 = 2_000.0;
/// Waking up takes up to about 100 µs: it is hidden in requests that are slower than this, ns.
const LATENCY_NS: f64 = 500_000.0;

pub(crate) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let governor = evidence.ledger().and_then(|ledger| ledger.machine.governor.as_deref());
    let Some(governor) = governor.filter(|governor| SAVING.contains(governor)) else { return Vec::new() };
    evidence.rows().filter(|(_, row)| row.judgeable()).filter_map(|(_, row)| judge(row, governor)).collect()
}

fn judge(row: &JobInStage<'_>, governor: &str) -> Option<Finding> {
    let latency = row.clat_ns()?;
    let rate = row.ios() as f64 * 1000.0 / row.runtime_ms() as f64 / row.workers.len() as f64;
    if latency >= LATENCY_NS || rate >= LOW_RATE || row.class() == StorageClass::Memory {
        return None;
    }
    let cause = format!(
        "CPU governor is {governor}, and an I/O thread did {} I/Os per second of {}: latency may include CPU wake-up",
        number(rate),
        time(latency)
    );
    let report = Report::new(ID, Severity::Caution, row.name).number("I/Os a second of a worker", rate, "1/s").number(
        "mean completion latency",
        latency,
        "ns",
    );
    Some(report.says(cause, "cpupower frequency-set -g performance"))
}
