//! T63: the program of a mount sent data again, and no write failed.

use fsdyno_results::{Finding, Severity};

use crate::explanation::Explanation;
use crate::passes::Passes;
use crate::report::Report;
use crate::units::size;

pub(crate) const ID: &str = "retries-hidden";

pub(crate) const EXPLANATION: Explanation = Explanation {
    id: ID,
    trap: "T63",
    title: "The mount sent its data again",
    happens: "The program of a mount repeats an upload that the store refuses (503 Slow Down) or that breaks. No write \
              fails: each only takes longer, by the refused uploads and the waits between them. The number is then \
              that of the retries, and not of the store.",
    seen: "The bytes that the TCP connections of the mount's program sent while whole files of 128 KiB or more were \
           written and synced, each once (compare and attribute). A caution from half as many bytes again as were \
           written, and two files. What TCP itself repeats does not count, nor do connections that were opened and closed \
           between two looks.",
    advice: "Look at the log of the mount's program (s3fs -o dbglevel=info) and at the refusals that the store counts. \
             Measure the store itself beside it (fsdyno attribute), and mount with fewer uploads at the same time.",
    documented: "s3fs(1), retries; RFC 6585, 4; AWS, Amazon S3 User Guide: Best practices design patterns",
};

/// Bytes of a file from which on its data outweigh the heads of requests.
const FILE_BYTES_MIN: u64 = 128 << 10;
/// Bytes sent for each byte written from which on it is reported. A mount that uploads later may send small files of an
/// earlier test beside these.
const SENT_PER_WRITTEN: f64 = 1.5;
/// Least number of files that were sent once more.
const FILES_MIN: u64 = 2;

/// For the passes of a phase that writes whole files and syncs each.
pub(crate) fn of_phase(passes: &Passes<'_>) -> Option<Finding> {
    let written = passes.sum(|record| record.bytes.unwrap_or(0));
    let file_bytes = written.checked_div(passes.operations())?;
    if !passes.syncs || file_bytes < FILE_BYTES_MIN {
        return None;
    }
    let sent = passes.bytes(|seen| seen.wire.as_ref()?.daemon_sockets)?.write;
    let share = sent as f64 / written as f64;
    if share < SENT_PER_WRITTEN || sent.saturating_sub(written) < FILES_MIN * file_bytes {
        return None;
    }
    let cause = format!(
        "the mount's program sent {} for {} written, {share:.2} bytes for each: it sends files again, as where the store \
         refuses them, and no write failed",
        size(sent),
        size(written)
    );
    let report =
        Report::new(ID, Severity::Caution, passes.name()).bytes("bytes sent", sent).bytes("bytes written", written);
    Some(report.says(cause, "look at the log of the mount's program, and at the refusals that the store counts"))
}
