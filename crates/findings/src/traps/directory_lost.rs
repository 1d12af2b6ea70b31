//! T31: the directory of the run was removed during the run.

use fsdyno_results::{DIRECTORY_LOST, Finding, Severity};

use crate::evidence::Evidence;
use crate::explanation::Explanation;
use crate::report::Report;

pub(crate) const EXPLANATION: Explanation = Explanation {
    id: DIRECTORY_LOST,
    trap: "T31",
    title: "The work directory was removed during the run",
    happens: "A clean-up job, a person or another machine removed the directory in which the command works. Open \
              files stay usable without a name, but later steps start anew or fail. The figures then no longer belong \
              to one set of files.",
    seen: "fsdyno keeps the directory open. After each test it checks that the directory still has a name, and that \
           its marker is the one it made. Invalid if not.",
    advice: "Find what removes files there, and run the command again.",
    documented: "unlink(2): an open file stays usable without a name",
};

pub(crate) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let lost = |note: &&fsdyno_results::Note| note.id == DIRECTORY_LOST && evidence.concerns(note.node.as_deref());
    let notes = evidence.record.notes.iter().filter(lost);
    let report = |note: &fsdyno_results::Note| {
        let report = Report::of_run(DIRECTORY_LOST, Severity::Invalid);
        report.says(note.text.clone(), "find what removes files there, and run the command again")
    };
    notes.map(report).collect()
}
