//! T47: a timed command left processes running.

use fsdyno_results::{Finding, Row, Severity};

use crate::explanation::Explanation;
use crate::report::Report;
use crate::units::{count, time};

pub(crate) const ID: &str = "left-running";

pub(crate) const EXPLANATION: Explanation = Explanation {
    id: ID,
    trap: "T47",
    title: "The command left processes running",
    happens: "A command that starts a process and does not wait for it (a daemon, `git gc --auto`, a shell's `&`) ends \
              before its work is done. `time` of the shell counts until the command itself has ended, and the rest of \
              the work slows down what is measured next.",
    seen: "`fsdyno time` becomes the parent of all processes that lose their parent, whatever group or session they \
           make. It waits until the last one has ended, and counts until then. A caution if a process was left when \
           the command itself had ended. Processes that still run 10 s later are ended; the time is then that of the \
           command itself.",
    advice: "Make the command wait for its processes (`wait` in a shell, `git -c gc.autoDetach=false`), or stop the \
             daemon with --conclude.",
    documented: "prctl(2), PR_SET_CHILD_SUBREAPER",
};

pub(crate) fn find(row: &Row) -> Option<Finding> {
    let (phase, tree) = (row.phase.as_ref()?, row.tree.as_ref()?);
    if tree.left_running == 0 {
        return None;
    }
    let own = time(tree.own_ns as f64);
    let left = match tree.left_running {
        1 => "1 process".to_owned(),
        several => format!("{} processes", count(several)),
    };
    let names = tree.left_names.join(", ");
    let (cause, next) = match (tree.stuck, tree.left_ended) {
        (0, false) => (
            format!(
                "the command itself ended after {own} and left {left} running ({names}); the last one ended after {}, \
                 which is the time that counts",
                time(phase.elapsed_ns as f64)
            ),
            "make the command wait for its processes",
        ),
        (0, true) => (
            format!(
                "the command itself ended after {own}, which is the time that counts, and left {left} running ({names}), \
                 which did not end by themselves and were ended"
            ),
            "stop the daemon in the command itself, or with --conclude",
        ),
        (stuck, _) => (
            format!(
                "the command ended after {own}, and {stuck} of its processes could not be ended (another user's, or \
                 stuck in the kernel): they may slow down all later runs"
            ),
            "end these processes, and run the command again",
        ),
    };
    let report = Report::new(ID, Severity::Caution, &phase.name);
    Some(report.number("processes left running", tree.left_running as f64, "processes").says(cause, next))
}
