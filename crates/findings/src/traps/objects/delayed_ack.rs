//! T57: small answers wait for a delayed acknowledgement.

use fsdyno_results::{Finding, Severity};

use super::answers::{reads_small, times};
use crate::evidence::{Evidence, JobInStage};
use crate::explanation::Explanation;
use crate::report::Report;
use crate::units::time;

pub(crate) const ID: &str = "delayed-ack";

pub(crate) const EXPLANATION: Explanation = Explanation {
    id: ID,
    trap: "T57",
    title: "Small answers wait 40 ms for an acknowledgement",
    happens: "A server that sends head and body of an answer in two packets, and has not switched Nagle's algorithm off, \
              sends the second one when the first is acknowledged. The client's kernel acknowledges after 40 ms. A \
              connection then has 25 requests per second at most, however fast the store is.",
    seen: "The time from the first to the last byte of the answers, for reads of 64 KiB or less, from 16 answers on. A \
           caution if it is 38 to 48 ms for the middle half of them. What else takes that time looks the same.",
    advice: "Set TCP_NODELAY at the server or its proxy (nginx: tcp_nodelay on), or let it send head and body at once.",
    documented: "RFC 896; RFC 9293, 3.7.4 and 3.8.6.3; tcp(7), TCP_NODELAY",
};

/// Linux delays an acknowledgement by 40 ms, and its timer ends some ms later, ns.
const DELAY_NS: std::ops::RangeInclusive<u64> = 38_000_000..=48_000_000;

pub(crate) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    evidence.rows().filter_map(|(_, row)| judge(row)).collect()
}

fn judge(row: &JobInStage<'_>) -> Option<Finding> {
    if !reads_small(row) {
        return None;
    }
    let rest = times(row, |record| &record.body);
    let middle = [25.0, 50.0, 75.0].map(|percent| rest.percentile(percent).unwrap_or(0));
    if middle.iter().any(|ns| !DELAY_NS.contains(ns)) {
        return None;
    }
    let cause = format!(
        "the rest of a small answer comes {} after its first byte, which is the time of a delayed acknowledgement",
        time(middle[1] as f64)
    );
    let report = Report::new(ID, Severity::Caution, row.name).number("time of the rest", middle[1] as f64, "ns");
    Some(report.says(cause, "set TCP_NODELAY at the server or its proxy, or let it send head and body at once"))
}
