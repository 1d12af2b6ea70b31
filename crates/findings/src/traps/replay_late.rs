//! T50: a replay that is later than its log.

use fsdyno_results::{Finding, Latency, Severity};

use crate::evidence::{Evidence, JobInStage};
use crate::explanation::Explanation;
use crate::report::Report;
use crate::units::time;

pub(crate) const ID: &str = "replay-late";

pub(crate) const EXPLANATION: Explanation = Explanation {
    id: ID,
    trap: "T50",
    title: "A replay began its requests later than recorded",
    happens: "A log says when each request began. A storage that is slower than the recorded one, a depth that is too \
              small, or a processor that others use delays requests. The measured load then differs from the recorded \
              one, with fewer requests at a time or with bursts.",
    seen: "The time at which each request was issued is compared with the recorded time. A caution when one request in \
           a hundred was a millisecond late or more; with fewer than 1,000 requests one in ten, with fewer than 100 \
           half of them. Later requests keep their times, so that delays do not add up.",
    advice: "Raise iodepth, with an engine that keeps requests in flight (io_uring, libaio). Where the storage itself \
             is too slow, the lateness is the answer: it cannot serve the recorded load. replay_no_stall=1 measures \
             how fast it serves the requests.",
    documented: "docs/replay.md; fio documentation, replay_no_stall; fio issues 681, 772, 1537",
};

/// A request that is later than this runs beside other requests than the recorded ones, ns.
const LATE_NS: u64 = 1_000_000;

pub(crate) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    evidence.all_rows().filter_map(|(_, row)| judge(row)).collect()
}

fn judge(row: &JobInStage<'_>) -> Option<Finding> {
    let mut workers = row.workers.iter().filter_map(|worker| worker.lateness.as_deref());
    let mut lateness: Latency = workers.next()?.clone();
    workers.for_each(|other| lateness.merge(other));
    // The percentage of requests beyond the percentile, and their delay.
    let (share, late_ns) =
        [1.0, 10.0, 50.0].into_iter().find_map(|share| Some((share, lateness.shown(100.0 - share)?)))?;
    if late_ns < LATE_NS {
        return None;
    }
    let count = lateness.moments.count;
    let cause = format!(
        "{share} % of the {count} requests with a recorded time began {} or more after it: this is not the recorded load",
        time(late_ns as f64)
    );
    let report = Report::new(ID, Severity::Caution, row.name)
        .number("requests with a recorded time", count as f64, "requests")
        .number("lateness beyond which that share is", late_ns as f64, "ns")
        .number("largest lateness", lateness.moments.max as f64, "ns");
    Some(
        report.says(
            cause,
            "raise --iodepth with --ioengine=io_uring; --replay_no_stall=1 measures without recorded times",
        ),
    )
}
