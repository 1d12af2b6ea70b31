//! T56: the first byte of an answer comes long before its last one.

use fsdyno_results::{Finding, Severity};

use super::answers::{reads_small, times};
use crate::evidence::{Evidence, JobInStage};
use crate::explanation::Explanation;
use crate::report::Report;
use crate::units::{number, time};

pub(crate) const ID: &str = "first-byte-only";

pub(crate) const EXPLANATION: Explanation = Explanation {
    id: ID,
    trap: "T56",
    title: "The first byte came long before the last one",
    happens: "A server or a gateway can send the head of its answer before it has the object. A program that stops its \
              clock at the first byte then shows a latency that no reader of the object gets.",
    seen: "Both times of ioengine=http, for reads of 64 KiB or less, from 16 answers on: information if at the median the \
           rest of an answer takes four times as long as its first byte, and a millisecond or more. clat has both.",
    advice: "Compare the time to the last byte (clat) with that of other programs, and ask which of the two they show: \
             hsbench shows the first.",
    documented: "hsbench.go, runDownload",
};

/// The rest of an answer, in times to its first byte.
const TIMES: f64 = 4.0;
/// Least time for the rest of an answer, ns: on one machine both are some microseconds.
const REST_MIN_NS: u64 = 1_000_000;

pub(crate) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    evidence.rows().filter_map(|(_, row)| judge(row)).collect()
}

fn judge(row: &JobInStage<'_>) -> Option<Finding> {
    if !reads_small(row) {
        return None;
    }
    let median = |of| times(row, of).percentile(50.0);
    let (first_ns, rest_ns) = (median(|record| &record.first_byte)?, median(|record| &record.body)?);
    let more = rest_ns as f64 / first_ns.max(1) as f64;
    if rest_ns < REST_MIN_NS || more < TIMES {
        return None;
    }
    let cause = format!(
        "the first byte comes after {}, the rest of the answer takes {} more: a clock that stops at the first byte shows a \
         latency {} times shorter",
        time(first_ns as f64),
        time(rest_ns as f64),
        number(more + 1.0)
    );
    let report = Report::new(ID, Severity::Info, row.name).number("time to the first byte", first_ns as f64, "ns");
    let report = report.number("time of the rest", rest_ns as f64, "ns");
    Some(report.says(cause, "compare it with the time to the last byte (clat) of other programs"))
}
