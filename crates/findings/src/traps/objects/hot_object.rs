//! T55: all reads are of one object.

use std::collections::BTreeSet;

use fsdyno_results::{Finding, Severity};

use super::answers::{ANSWERS_MIN, answers, by_direction};
use crate::evidence::{Evidence, JobInStage, Transfer};
use crate::explanation::Explanation;
use crate::report::Report;
use crate::units::{count, size};

pub(crate) const ID: &str = "hot-object";

pub(crate) const EXPLANATION: Explanation = Explanation {
    id: ID,
    trap: "T55",
    title: "All reads were of one object",
    happens: "A store keeps an object that is read again and again in the memory of the server that has it, and the \
              other servers have nothing to do. The number is that of one server's memory.",
    seen: "The names and ranges of the requests of ioengine=http, from 16 answers on. A caution if all are of one object \
           and read it four times or more.",
    advice: "Read many objects: more files (range mode: filename=/BUCKET/a:/BUCKET/b), or a larger size in block mode. \
             The set should be larger than the servers' memory.",
    documented: "AWS, Best practices design patterns: optimizing Amazon S3 performance",
};

/// From this number of passes on most bytes were read before.
const PASSES: f64 = 4.0;

pub(crate) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    evidence.rows().filter_map(|(_, row)| judge(row)).collect()
}

fn judge(row: &JobInStage<'_>) -> Option<Finding> {
    let object_bytes = of_one_object(row)?;
    let of = |count| by_direction(row, count).read;
    let found = of(|record| &record.answers).saturating_sub(of(|record| &record.missing));
    let read = row.done(Transfer::Read).bytes;
    if answers(row) < ANSWERS_MIN || found == 0 || (read as f64) < PASSES * object_bytes as f64 {
        return None;
    }
    let cause = format!(
        "all {} reads were of one object of {}: a server's memory can have answered",
        count(found),
        size(object_bytes)
    );
    let report = Report::new(ID, Severity::Caution, row.name).bytes("size of the object", object_bytes);
    Some(report.says(cause, "read many objects, of more bytes than the servers have memory"))
}

/// The bytes of the only object that its workers read, as far as they read it; `None`: there are several, or it is not
/// known.
fn of_one_object(row: &JobInStage<'_>) -> Option<u64> {
    let options = &row.first().options;
    let option = |name: &str| options.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
    // A colon separates names, and `\:` is one of a name. Without a name each worker has its own.
    option("filename").filter(|names| !names.replace("\\:", "").contains(':'))?;
    let mut spans = BTreeSet::new();
    for worker in &row.workers {
        spans.insert((worker.plan.offset_bytes, worker.plan.span_bytes?));
    }
    let (_, bytes) = *spans.iter().max_by_key(|(_, bytes)| *bytes)?;
    let is_one = match option("http_object_mode") {
        Some("range") => true,
        // The names of the objects have their offset and their length in them.
        _ => spans.len() == 1 && row.first().setup.block_sizes.read == (bytes, bytes),
    };
    is_one.then_some(bytes)
}
