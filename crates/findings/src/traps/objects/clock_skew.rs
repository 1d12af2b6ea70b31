//! T58: the server's clock is not this machine's.

use fsdyno_results::{Finding, Severity};

use super::answers::records;
use crate::evidence::{Evidence, JobInStage};
use crate::explanation::Explanation;
use crate::report::Report;
use crate::units::count;

pub(crate) const ID: &str = "clock-skew";

pub(crate) const EXPLANATION: Explanation = Explanation {
    id: ID,
    trap: "T58",
    title: "The server's clock differs from this machine's",
    happens: "A signature has the time in it. S3 refuses requests whose time is 15 minutes away from its own (403, \
              RequestTimeTooSkewed), and other servers do so earlier: a run fails, or begins to fail when one clock \
              drifts. Times of this run cannot be compared with the server's log.",
    seen: "The field Date of the first answers of ioengine=http, against this machine's clock. Information from one minute \
           on, a caution from 15 minutes on. Not visible where answers have no date.",
    advice: "Let both machines follow the same time service (chrony, systemd-timesyncd).",
    documented: "Amazon S3 API reference, error responses; RFC 9110, 6.6.1",
};

/// An answer that waits on its way is seconds old, s.
const AWAY_S: u64 = 60;
/// S3 refuses signatures from here on, s.
const REFUSED_S: u64 = 900;

pub(crate) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    evidence.rows().filter_map(|(_, row)| judge(row)).collect()
}

fn judge(row: &JobInStage<'_>) -> Option<Finding> {
    let all = records(row).filter_map(|record| record.ahead_s);
    let ahead_s = all.max_by_key(|ahead_s| ahead_s.unsigned_abs())?;
    let away_s = ahead_s.unsigned_abs();
    if away_s < AWAY_S {
        return None;
    }
    let severity = if away_s < REFUSED_S { Severity::Info } else { Severity::Caution };
    let side = if ahead_s > 0 { "ahead of" } else { "behind" };
    let cause = format!("the server's clock is {} s {side} this machine's: signatures may be refused", count(away_s));
    let report = Report::new(ID, severity, row.name).number("server's clock is ahead", ahead_s as f64, "s");
    Some(report.says(cause, "let both machines follow the same time service"))
}
