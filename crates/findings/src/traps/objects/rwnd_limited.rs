//! T62: the receive window of the server limited what was sent.

use fsdyno_results::{Finding, Severity};

use super::answers::{records, total, wall_ns};
use crate::evidence::{Evidence, JobInStage};
use crate::explanation::Explanation;
use crate::report::Report;
use crate::units::percent;

pub(crate) const ID: &str = "rwnd-limited";

pub(crate) const EXPLANATION: Explanation = Explanation {
    id: ID,
    trap: "T62",
    title: "The server's receive window limited what was sent",
    happens: "A sender may have as many bytes on their way as the receiver has room for. With a small receive buffer, or a \
              server that does not read in time, the sender waits. The number is then the window divided by the round trip, \
              or the pace of the server: neither the network nor the client was the limit.",
    seen: "The kernel's time in which the window of the server kept the connections of ioengine=http from sending, against \
           the time with data that were to be sent, or not acknowledged. It is reported from a fifth of that on, if it is a \
           tenth of the workers' time. Of what is read the kernel of the server has the same counter, not this one.",
    advice: "Raise net.ipv4.tcp_rmem of the server, or SO_RCVBUF of its program, to the bandwidth multiplied by the round \
             trip, or use more connections. If the number does not change, the server reads no faster.",
    documented: "RFC 9293, 3.8.6; tcp(7), tcp_rmem; ss(8), rwnd_limited",
};

/// The share of the time of sending from which on it is reported.
const SHARE: f64 = 0.2;
/// The share of the workers' time that it must be.
const SHARE_OF_ALL: f64 = 0.1;

pub(crate) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    evidence.rows().filter(|(_, row)| row.judgeable()).filter_map(|(_, row)| judge(row)).collect()
}

fn judge(row: &JobInStage<'_>) -> Option<Finding> {
    let limited_ns = total(records(row).filter_map(|record| record.window_limited_ns));
    let sending_ns = total(records(row).filter_map(|record| record.sending_ns));
    let (share, of_all) = (limited_ns as f64 / sending_ns.max(1) as f64, limited_ns as f64 / wall_ns(row));
    if share < SHARE || !of_all.is_finite() || of_all < SHARE_OF_ALL {
        return None;
    }
    let cause = format!(
        "the server's receive window kept the connections from sending for {} of the time with data to send ({} of all)",
        percent(share.min(1.0)),
        percent(of_all.min(1.0))
    );
    let report = Report::new(ID, Severity::Info, row.name).number("share of the time of sending", share, "ratio");
    Some(report.says(cause, "raise the server's receive buffers, or use more connections"))
}
