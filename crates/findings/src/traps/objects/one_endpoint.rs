//! T59: one of several addresses answered all requests.

use std::collections::BTreeSet;

use fsdyno_results::{Finding, Severity};

use super::answers::{ANSWERS_MIN, answers, records};
use crate::evidence::{Evidence, JobInStage};
use crate::explanation::Explanation;
use crate::report::Report;

pub(crate) const ID: &str = "one-endpoint";

pub(crate) const EXPLANATION: Explanation = Explanation {
    id: ID,
    trap: "T59",
    title: "One of several addresses answered all requests",
    happens: "The name of a store often has several addresses, each of another machine. The number of one of them is not \
              that of the store.",
    seen: "The addresses that the name had, and those that several workers of ioengine=http were connected to, from 16 \
           answers on. Workers take the addresses in turn; one that does not answer is left out. A caution if one was used \
           and the name had more.",
    advice: "Find out why the other addresses do not answer (getent ahosts NAME), or remove them from the name.",
    documented: "AWS, Performance guidelines for Amazon S3: horizontal scaling",
};

pub(crate) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    evidence.rows().filter_map(|(_, row)| judge(row)).collect()
}

fn judge(row: &JobInStage<'_>) -> Option<Finding> {
    let known = records(row).filter_map(|record| record.resolved).max()?;
    let used: BTreeSet<&String> = records(row).flat_map(|record| &record.addresses).collect();
    if known < 2 || row.workers.len() < 2 || used.len() != 1 || answers(row) < ANSWERS_MIN {
        return None;
    }
    let address = used.first()?;
    let cause =
        format!("the server's name has {known} addresses, and {address} answered all {} workers", row.workers.len());
    let report =
        Report::new(ID, Severity::Caution, row.name).number("addresses of the name", known as f64, "addresses");
    Some(report.says(cause, "find out why its other addresses do not answer: getent ahosts NAME"))
}
