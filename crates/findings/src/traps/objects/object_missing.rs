//! T52: requests found no object.

use fsdyno_results::{Finding, Severity};

use super::answers::by_direction;
use crate::evidence::{Evidence, JobInStage};
use crate::explanation::Explanation;
use crate::report::Report;
use crate::units::percent;

pub(crate) const ID: &str = "object-missing";

pub(crate) const EXPLANATION: Explanation = Explanation {
    id: ID,
    trap: "T52",
    title: "Requests found no object",
    happens: "A server answers 404 for an object that does not exist. This is quick, because nothing is read. As in \
              fio such an answer counts as a read of a whole block, or as a trim. The name of an object has its offset \
              and its length in it: a read with another bs than that of the write names objects that nobody has \
              written.",
    seen: "The answers of ioengine=http by status. Information below one per cent of the reads or of the trims, \
           invalid from one per cent on.",
    advice: "Write the objects first, with the same filename, bs, size and offset; or read one object by ranges \
             (http_object_mode=range).",
    documented: "RFC 9110, 15.5.5; fio documentation, http_object_mode",
};

/// The share of the answers from which on the figures are those of no object.
const SHARE: f64 = 0.01;

pub(crate) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    evidence.rows().filter_map(|(_, row)| missing(row)).collect()
}

fn missing(row: &JobInStage<'_>) -> Option<Finding> {
    let (answers, missing) = (by_direction(row, |record| &record.answers), by_direction(row, |record| &record.missing));
    let shares = [("reads", missing.read, answers.read), ("trims", missing.trim, answers.trim)];
    let share = |(_, missing, all): &(&str, u64, u64)| *missing as f64 / (*all).max(1) as f64;
    let worst = shares.into_iter().max_by(|a, b| share(a).total_cmp(&share(b)))?;
    let (what, missing, all) = worst;
    if missing == 0 {
        return None;
    }
    let severity = if share(&worst) < SHARE { Severity::Info } else { Severity::Invalid };
    let cause = format!("{missing} of {all} {what} found no object ({})", percent(share(&worst)));
    let report = Report::new(ID, severity, row.name).number("answers without an object", missing as f64, what);
    Some(report.says(cause, "write the objects first, with the same --filename, --bs, --size and --offset"))
}
