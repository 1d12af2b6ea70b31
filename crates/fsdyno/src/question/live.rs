//! What a person sees while a question is being answered: one line that renews itself on a terminal, a line per
//! finished step elsewhere. Everything goes to stderr: stdout is the answer's.

use std::io::{IsTerminal, Write};

use guide::watch::{LiveFigures, Step};
use results::Row;
use results::quantity::{bytes_per_s, count_per_s, latency};

use crate::fio::complain;

/// The live view.
pub(crate) struct Live {
    quiet: bool,
    terminal: bool,
    /// Characters of the line that stands there.
    width: usize,
    last_ms: Option<u64>,
}

/// A new line at most so often, ms.
const RENEW_MS: u64 = 100;

impl Live {
    pub(crate) fn new(quiet: bool) -> Live {
        Live { quiet, terminal: std::io::stderr().is_terminal(), width: 0, last_ms: None }
    }

    /// Takes the line off the terminal.
    pub(crate) fn clear(&mut self) {
        self.show("");
    }

    fn show(&mut self, line: &str) {
        if self.quiet || !self.terminal || (line.is_empty() && self.width == 0) {
            return;
        }
        let columns = rustix::termios::tcgetwinsize(std::io::stderr()).map_or(80, |size| usize::from(size.ws_col));
        let line: String = line.chars().take(columns.max(20) - 1).collect();
        let padding = self.width.saturating_sub(line.chars().count());
        self.width = line.chars().count();
        let mut stderr = std::io::stderr().lock();
        // Nobody is left to see it if the terminal is gone.
        let _ = write!(stderr, "\r{line}{blank:padding$}\r", blank = "");
        let _ = stderr.flush();
    }
}

impl guide::Watcher for Live {
    fn outline(&mut self, text: &str) {
        if !self.quiet {
            complain(text);
        }
    }

    fn begin(&mut self, step: &Step) {
        self.last_ms = None;
        self.show(&heading(step));
    }

    fn progress(&mut self, step: &Step, figures: &LiveFigures) {
        let due = self.last_ms.is_none_or(|last| figures.elapsed_ms < last || figures.elapsed_ms - last >= RENEW_MS);
        if due {
            self.last_ms = Some(figures.elapsed_ms);
            self.show(&line(step, figures));
        }
    }

    fn message(&mut self, text: &str) {
        self.clear();
        complain(text);
    }

    fn end(&mut self, step: &Step, row: &Row) {
        self.clear();
        if !self.quiet && !self.terminal {
            complain(&format!("{}: {}", heading(step), report::guided::summary(row)));
        }
    }
}

fn heading(step: &Step) -> String {
    format!("[{}/{}] {} {}", step.number, step.of, step.target, step.title)
}

fn line(step: &Step, figures: &LiveFigures) -> String {
    let mut parts = vec![format!("{} {} s", figures.phase.word(), figures.elapsed_ms / 1000)];
    parts.extend(figures.bytes_per_s.map(bytes_per_s));
    parts.extend(figures.operations_per_s.map(count_per_s));
    parts.extend(figures.latency_ns_p99.map(|p99_ns| format!("p99 {}", latency(p99_ns as f64))));
    parts.extend(figures.seconds_left.map(|seconds| format!("{seconds} s left")));
    format!("{}: {}", heading(step), parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use guide::watch::LivePhase;

    #[test]
    fn the_line_says_where_it_is_and_how_fast() {
        let step = Step { target: "nfs".into(), title: "4k random read, depth 1".into(), number: 2, of: 8 };
        let figures = LiveFigures {
            phase: LivePhase::Running,
            elapsed_ms: 2_300,
            seconds_left: Some(6),
            operations_per_s: Some(2031.4),
            bytes_per_s: Some(8_320_000.0),
            latency_ns_p99: Some(612_345),
            ..LiveFigures::default()
        };
        assert_eq!(
            line(&step, &figures),
            "[2/8] nfs 4k random read, depth 1: running 2 s, 8.32 MB/s, 2,031 IOPS, p99 612 µs, 6 s left"
        );
        let unknown = LiveFigures { phase: LivePhase::Layout, elapsed_ms: 900, ..LiveFigures::default() };
        assert_eq!(line(&step, &unknown), "[2/8] nfs 4k random read, depth 1: layout 0 s");
    }
}
