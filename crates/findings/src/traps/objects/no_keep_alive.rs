//! T54: the server closes connections behind its answers.

use fsdyno_results::{Finding, Severity};

use super::answers::{ANSWERS_MIN, answers, sum};
use crate::evidence::{Evidence, JobInStage};
use crate::explanation::Explanation;
use crate::report::Report;
use crate::units::{percent, time};

pub(crate) const ID: &str = "no-keep-alive";

pub(crate) const EXPLANATION: Explanation = Explanation {
    id: ID,
    trap: "T54",
    title: "The server closes connections behind its answers",
    happens: "A server or a proxy that does not keep connections makes each request wait for a new one: one round trip \
              more, with TLS two or three, and the CPU time of both sides. The number is then that of connections, and \
              not of objects.",
    seen: "The connections that ioengine=http opened during the run, from 16 answers on. Each took the place of one \
           that the server had closed. A caution from one in ten requests on.",
    advice: "Switch keep-alive on at the server or its proxy (an option of versitygw; nginx: keepalive_requests). If \
             it must be off, compare with servers only that have it off, too.",
    documented: "RFC 9112, 9.3; versitygw --help",
};

/// The share of requests with a new connection from which on it is reported; servers end connections after a hundred
/// requests or more.
const SHARE: f64 = 0.1;

pub(crate) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    evidence.rows().filter_map(|(_, row)| judge(row)).collect()
}

fn judge(row: &JobInStage<'_>) -> Option<Finding> {
    let (opened, all) = (sum(row, |record| record.reconnects), answers(row));
    let share = opened as f64 / all.max(1) as f64;
    if all < ANSWERS_MIN || share < SHARE {
        return None;
    }
    let each_ns = sum(row, |record| record.reconnect_ns) as f64 / opened.max(1) as f64;
    let cause = format!(
        "{opened} new connections for {all} requests ({}), {} each: the server closes them behind its answers",
        percent(share),
        time(each_ns)
    );
    let report = Report::new(ID, Severity::Caution, row.name).number("connections", opened as f64, "connections");
    Some(
        report
            .number("time of a connection", each_ns, "ns")
            .says(cause, "switch keep-alive on at the server or its proxy"),
    )
}
