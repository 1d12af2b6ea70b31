//! T41: the clocks of nodes moved apart during the run.

use fsdyno_results::{ActiveWindow, Finding, Node, RunRecord, Severity};

use crate::explanation::Explanation;
use crate::report::Report;
use crate::units::{number, time};

pub(crate) const ID: &str = "clocks-drift";

pub(crate) const EXPLANATION: Explanation = Explanation {
    id: ID,
    trap: "T41",
    title: "A node's clock ran at another speed",
    happens: "Rates and latencies of a node are counted by its own clock. A clock that was set or ran at another speed \
              during the run falsifies them, and also the time in which all nodes were active.",
    seen: "Each clock is compared with that of rank 0 before and after the run. A caution if both differ by more than \
           1 ms and 500 ppm of the time, beyond the error of the comparison: the kernel never adjusts a clock faster \
           than that.",
    advice: "Look at the time service of that node (chronyc tracking, timedatectl), and at its clock source.",
    documented: "adjtimex(2); ntpd documentation, maximum slew rate of 500 PPM",
};

/// The largest rate at which the kernel adjusts a clock.
const SHARE: f64 = 500e-6;

/// A smaller difference does not matter to any run, ns.
const LEAST_NS: f64 = 1e6;

pub(crate) fn find(record: &RunRecord) -> Vec<Finding> {
    let windows = record.ranks_record.iter().flat_map(|together| &together.windows);
    // Stages run one after the other.
    let whole_ns = windows.map(ActiveWindow::whole_ns).fold(0u64, u64::saturating_add);
    record.nodes.iter().filter_map(|node| judge(node, whole_ns as f64)).collect()
}

fn judge(node: &Node, whole_ns: f64) -> Option<Finding> {
    let clock = node.part.as_ref()?.clock?;
    let moved_ns = clock.moved_ns()?.saturating_sub(clock.error_ns) as f64;
    if whole_ns <= 0.0 || moved_ns < LEAST_NS || moved_ns < SHARE * whole_ns {
        return None;
    }
    let ppm = moved_ns / whole_ns * 1e6;
    let cause = format!(
        "the clock of {} moved {} against that of rank 0 in {} ({} ppm)",
        node.name,
        time(moved_ns),
        time(whole_ns),
        number(ppm)
    );
    let report = Report::of_run(ID, Severity::Caution).number("clock moved", moved_ns, "ns").number("rate", ppm, "ppm");
    let next = format!("check the time service of {} (chronyc tracking), and run again", node.name);
    Some(Finding { node: Some(node.name.clone()), ..report.says(cause, next) })
}
