//! T36: the ranks did not run at the same time.

use fsdyno_results::{ActiveWindow, Finding, RunRecord, Severity};

use crate::explanation::Explanation;
use crate::report::Report;
use crate::units::{percent, time};

pub(crate) const ID: &str = "ranks-apart";

pub(crate) const EXPLANATION: Explanation = Explanation {
    id: ID,
    trap: "T36",
    title: "The nodes did not run at the same time",
    happens: "While some nodes have not begun or have ended, the others have the storage for themselves. The total counts \
              their work as if all had been active.",
    seen: "The start and the end of all ranks are compared, by one clock. A caution if 5 % or more of the ranks' time \
           lies outside the time in which all were active: the total can be wrong by this share. Invalid if there is \
           no such time.",
    advice: "Run by time and not by size (--time_based --runtime), and long enough that differences at both ends do not \
             matter.",
    documented: "IOR, options -D and -O stoneWallingWearOut; elbencho, columns first done and last done",
};

/// Share of the ranks' time outside the common one from which on the total is doubtful.
const OUTSIDE: f64 = 0.05;

pub(crate) fn find(record: &RunRecord) -> Vec<Finding> {
    let windows = record.ranks_record.iter().flat_map(|together| &together.windows);
    windows.filter(|window| window.ranks > 1).filter_map(judge).collect()
}

fn judge(window: &ActiveWindow) -> Option<Finding> {
    let outside = window.outside().filter(|outside| *outside >= OUTSIDE)?;
    let common_ns = window.all_active_ns() as f64;
    let (start_ns, end_ns) = (window.start_skew_ns() as f64, window.end_skew_ns() as f64);
    let (severity, cause) = if common_ns == 0.0 {
        let whole = time(window.whole_ns() as f64);
        (Severity::Invalid, format!("at no time were all {} ranks active in these {whole}", window.ranks))
    } else {
        let cause = format!(
            "all {} ranks were active for {}; {} of their time lies outside: starts are {} apart, ends {}",
            window.ranks,
            time(common_ns),
            percent(outside),
            time(start_ns),
            time(end_ns)
        );
        (Severity::Caution, cause)
    };
    let next = "run for a time and not for a size: add --time_based --runtime=60";
    Some(
        Report::of_run(ID, severity)
            .number("time in which all ranks were active", common_ns, "ns")
            .number("share of the ranks' time outside", outside, "ratio")
            .number("between first and last start", start_ns, "ns")
            .number("between first and last end", end_ns, "ns")
            .says(cause, next),
    )
}
