//! T43: a job that ended with an error.

use fsdyno_results::{Finding, RANKS_APART, Severity};

use crate::evidence::Evidence;
use crate::explanation::Explanation;
use crate::report::Report;

pub(crate) const ID: &str = "run-failed";

pub(crate) const EXPLANATION: Explanation = Explanation {
    id: ID,
    trap: "T43",
    title: "The run failed",
    happens: "A job ended with an error: the disk is full, a request was refused, the storage failed, a block did not \
              verify. Its figures are those of the I/Os before the error, however few they were.",
    seen: "The error of the job. Always invalid: the other findings are not judged of a run that failed. Errors after \
           which the job should continue (continue_on_error) do not count.",
    advice: "Correct what the error names, and run again.",
    documented: "errno(3); fio documentation, continue_on_error",
};

pub(crate) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let failed = evidence.all_rows().filter_map(|(_, row)| {
        let failed = row.workers.iter().find(|worker| worker.error.is_some())?;
        let (rank, error) = (evidence.record.rank_before_error(failed), failed.error.as_ref()?);
        let reason = match error.function.as_str() {
            RANKS_APART => error.text.clone(),
            function => format!("{rank}{function}: {}", error.text),
        };
        let cause = format!("not judged: the run failed ({reason})");
        Some(Report::new(ID, Severity::Invalid, row.name).says(cause, "correct what the error names, and run again"))
    });
    failed.collect()
}
