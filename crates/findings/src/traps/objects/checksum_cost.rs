//! T60: hashes of bodies took a part of the time.

use fsdyno_results::{Finding, Severity};

use super::answers::{records, total, wall_ns};
use crate::evidence::{Evidence, JobInStage};
use crate::explanation::Explanation;
use crate::report::Report;
use crate::units::percent;

pub(crate) const ID: &str = "checksum-cost";

pub(crate) const EXPLANATION: Explanation = Explanation {
    id: ID,
    trap: "T60",
    title: "Hashing the bodies took a part of the time",
    happens: "Over plain http a signature covers the body, so that each PUT waits until the client has hashed it. This \
              time is in the latency and in the rate, and the server has no part in it.",
    seen: "The time that the workers of ioengine=http spent on hashes and signatures, against their time. A caution from a \
           tenth on. Jobs with a rate limit or think time are not checked.",
    advice: "Use https: TLS protects the body, and the signature leaves it out. Or add workers: each hashes on a CPU of \
             its own.",
    documented: "Amazon S3 API reference, Authenticating requests: UNSIGNED-PAYLOAD",
};

/// The share of the time from which on it is reported.
const SHARE: f64 = 0.1;

pub(crate) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let rows = evidence.rows().filter(|(_, row)| row.judgeable() && !row.paced());
    rows.filter_map(|(_, row)| judge(row)).collect()
}

fn judge(row: &JobInStage<'_>) -> Option<Finding> {
    let sign_ns = total(records(row).filter_map(|record| record.sign_ns));
    let share = sign_ns as f64 / wall_ns(row);
    if !share.is_finite() || share < SHARE {
        return None;
    }
    let cause = format!("hashes and signatures of this client took {} of the time", percent(share.min(1.0)));
    let report = Report::new(ID, Severity::Caution, row.name).number("share of the time", share, "ratio");
    Some(report.says(cause, "use https, where signatures leave the body out, or more workers"))
}
