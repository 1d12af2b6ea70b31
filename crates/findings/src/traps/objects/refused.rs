//! T25 for object stores: a server that refuses requests because there are too many.

use fsdyno_results::{Finding, Severity};

use super::answers::{answers, sum, total};
use crate::evidence::{Evidence, JobInStage};
use crate::report::Report;
use crate::traps::throttled::ID;
use crate::units::{count, percent};

/// The share of refused requests from which on the limit determines the rate.
const SHARE: f64 = 0.001;

pub(crate) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    evidence.rows().filter_map(|(_, row)| judge(row)).collect()
}

fn judge(row: &JobInStage<'_>) -> Option<Finding> {
    let of_record = |record: &fsdyno_results::ObjectRecord| {
        total([429, 503].iter().filter_map(|status| record.statuses.get(status).copied()))
    };
    let (refused, all) = (sum(row, of_record), answers(row));
    let share = refused as f64 / all.max(1) as f64;
    if share < SHARE {
        return None;
    }
    let cause = format!(
        "the server refused {} of {} requests for now ({}; status 503 or 429): it limits their rate",
        count(refused),
        count(all),
        percent(share)
    );
    let report = Report::new(ID, Severity::Caution, row.name).number("refused requests", refused as f64, "requests");
    Some(report.says(cause, "send fewer requests at once, or give the number with the share that was refused"))
}
