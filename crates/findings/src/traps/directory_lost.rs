//! T31: the directory of the run was removed while it went on.

use results::{DIRECTORY_LOST, Finding, Severity};

use crate::evidence::Evidence;
use crate::report::Report;
use crate::story::Story;

pub(crate) const STORY: Story = Story {
    id: DIRECTORY_LOST,
    trap: "T31",
    title: "Somebody removed the work directory while the run went on",
    happens: "Jobs that tidy up, a person, or a clean-up from another machine removes the directory that a question works \
              in. Files that are open go on without a name, and what comes next begins anew or fails: the figures are no \
              longer of one set of files.",
    seen: "The directory is held open. After each test the kernel tells whether it still has a name, and whether the \
           marker in it is the one that was made. Invalid when not.",
    advice: "Find what removes files there, and ask the question again.",
    documented: "unlink(2): a file that is open lives on without a name",
};

pub(crate) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let lost = |note: &&results::Note| note.id == DIRECTORY_LOST && evidence.concerns(note.node.as_deref());
    let notes = evidence.record.notes.iter().filter(lost);
    let report = |note: &results::Note| {
        let report = Report::of_run(DIRECTORY_LOST, Severity::Invalid);
        report.says(note.text.clone(), "find what removes files there, and ask again")
    };
    notes.map(report).collect()
}
