//! Shows the progress of a question: one line that is renewed on a terminal, a line per finished step elsewhere.
//! Everything goes to stderr: stdout is for the answer.

use std::io::Write;

use fsdyno_guide::watch::{LiveFigures, LivePhase, Step};
use fsdyno_os::clock::{Clock, RealClock};
use fsdyno_results::{Row, Trust};
use fsdyno_text::quantity::counted;

use super::progress::{self, Estimate};
use crate::process::streams::{columns_of_progress, is_terminal, print_stderr, print_stderr_fitted};

/// The live view.
pub(crate) struct Live {
    quiet: bool,
    terminal: bool,
    /// Whether a line is visible on the terminal.
    shown: bool,
    last_ms: Option<u64>,
    /// When the step began, ns.
    began_ns: u64,
    estimate: Estimate,
    last_message: String,
    told_of_more: bool,
}

/// Least interval between two updates of the line, ms.
const RENEW_MS: u64 = 100;

impl Live {
    pub(crate) fn new(quiet: bool) -> Live {
        // Without cursor movement, lines are kept.
        let moves = std::env::var_os("TERM").is_none_or(|name| name != "dumb");
        let terminal = moves && is_terminal(&std::io::stderr());
        let (estimate, last_message) = (Estimate::default(), String::new());
        Live { quiet, terminal, shown: false, last_ms: None, began_ns: 0, estimate, last_message, told_of_more: false }
    }

    /// Removes the line from the terminal.
    pub(crate) fn clear(&mut self) {
        if self.shown {
            self.shown = false;
            write_out("\r\x1b[J");
        }
    }

    /// Replaces the visible line.
    fn show(&mut self, step: &Step, figures: &LiveFigures) {
        if self.quiet || !self.terminal {
            return;
        }
        let columns = columns_of_progress() - 1;
        self.shown = true;
        write_out(&format!("\r\x1b[K{}", self.estimate.line(step, figures, columns)));
    }
}

fn write_out(text: &str) {
    let mut stderr = std::io::stderr().lock();
    // If the terminal is gone, nobody reads it.
    let _ = stderr.write_all(text.as_bytes());
    let _ = stderr.flush();
}

impl fsdyno_guide::Watcher for Live {
    fn outline(&mut self, text: &str) {
        if !self.quiet {
            print_stderr_fitted(text, 2);
        }
    }

    fn begin(&mut self, step: &Step) {
        self.last_ms = None;
        self.began_ns = RealClock::shared().now_ns();
        let added = self.estimate.begin(step);
        // Said once: steps that are added later are counted in the following lines.
        if added > 0 && !self.quiet && !std::mem::replace(&mut self.told_of_more, true) {
            let more = counted(added as u64, "step");
            self.message(&format!("{more} more, and others after it, until the results are decided"));
        }
        // The phase of a new step is not known yet.
        self.show(step, &LiveFigures { phase: LivePhase::Running, ..LiveFigures::default() });
    }

    fn progress(&mut self, step: &Step, figures: &LiveFigures) {
        let due = self.last_ms.is_none_or(|last| figures.elapsed_ms < last || figures.elapsed_ms - last >= RENEW_MS);
        if due {
            self.last_ms = Some(figures.elapsed_ms);
            self.show(step, figures);
        }
    }

    fn message(&mut self, text: &str) {
        // Similar steps have the same message.
        if self.last_message == text {
            return;
        }
        self.last_message = text.to_owned();
        self.clear();
        print_stderr_fitted(text, 2);
    }

    fn end(&mut self, step: &Step, row: &Row) {
        self.estimate.end((RealClock::shared().now_ns() - self.began_ns) / 1_000_000);
        self.clear();
        // The first round of a test gets a line; later rounds only if something went wrong.
        let is_kept = row.round == 0 || row.trust() == Trust::Invalid || row.first_error().is_some();
        if !self.quiet && self.terminal && is_kept {
            let found = fsdyno_present::tables::summary(row);
            print_stderr(&progress::finished_line(step, &found, columns_of_progress() - 1));
        } else if !self.quiet && !self.terminal {
            let (number, of) = (step.number, step.of);
            let what = format!("[{number}/{of}] {}: {}", step.target, step.title);
            print_stderr(&format!("{what}: {}", fsdyno_present::tables::summary(row)));
        }
    }
}
