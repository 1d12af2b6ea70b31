//! T30: latency was switched off.

use fsdyno_results::{Finding, Severity};

use crate::evidence::Evidence;
use crate::explanation::Explanation;
use crate::report::Report;

pub(crate) const ID: &str = "latency-off";

pub(crate) const EXPLANATION: Explanation = Explanation {
    id: ID,
    trap: "T30",
    title: "gtod_reduce switched latencies off",
    happens: "gtod_reduce=1 saves clock readings, and with them slat, clat and lat: fio's report shows none, and its \
              JSON shows zeros. Many copied benchmark command lines contain it.",
    seen: "From the options; information. One I/O in 64 is still timed. The report keeps fio's form; p50 and p99 of \
           the sample are in the note after it and in the record. The rates are not affected.",
    advice: "Leave gtod_reduce out to see latencies in the report; reading the clock costs little here.",
    documented: "fio documentation, gtod_reduce; yet-another-bench-script issue 72",
};

pub(crate) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (_, row) in evidence.rows() {
        let every = row.first().timed_one_in;
        if every <= 1 {
            continue;
        }
        let cause =
            format!("gtod_reduce=1 removes latency from the report; one I/O in {every} is timed and shown below it");
        let report = Report::new(ID, Severity::Info, row.name).number("timed one in", f64::from(every), "I/Os");
        found.push(report.says(cause, "leave out gtod_reduce=1"));
    }
    found
}
