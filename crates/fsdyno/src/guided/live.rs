//! What a person sees while a question is being answered: two lines that renew themselves on a terminal, a line per
//! finished step elsewhere. Everything goes to stderr: stdout is the answer's.

use std::io::{IsTerminal, Write};

use guide::watch::{LiveFigures, Step};
use results::Row;
use results::escape;
use results::quantity::{bytes_per_s, count_per_s, latency, number};

use crate::process::streams::print_stderr;

/// The live view.
pub(crate) struct Live {
    quiet: bool,
    terminal: bool,
    /// Lines stand on the terminal.
    shown: bool,
    last_ms: Option<u64>,
}

/// New lines at most so often, ms.
const RENEW_MS: u64 = 100;

impl Live {
    pub(crate) fn new(quiet: bool) -> Live {
        // Without a cursor that moves, lines are left as on paper.
        let moves = std::env::var_os("TERM").is_none_or(|name| name != "dumb");
        Live { quiet, terminal: moves && std::io::stderr().is_terminal(), shown: false, last_ms: None }
    }

    /// Takes the lines off the terminal.
    pub(crate) fn clear(&mut self) {
        if self.shown {
            self.shown = false;
            write_out("\r\x1b[J");
        }
    }

    /// What is done, and below it how it is doing.
    fn show(&mut self, heading: &str, figures: &str) {
        if self.quiet || !self.terminal {
            return;
        }
        let columns = engine::terminal::columns(std::io::stderr()).unwrap_or(80);
        self.shown = true;
        write_out(&frame(heading, figures, columns.max(20) - 1));
    }
}

/// Two lines, and the cursor back where the first begins: the next frame covers this one.
fn frame(heading: &str, figures: &str, columns: usize) -> String {
    format!("\r\x1b[K{}\r\n\x1b[K{}\x1b[1A\r", cut(heading, columns), cut(figures, columns))
}

/// The text, or as much of it as there is room for.
fn cut(text: &str, columns: usize) -> String {
    let text = &*escape::line(text);
    if text.chars().count() <= columns {
        return text.to_string();
    }
    text.chars().take(columns.saturating_sub(1)).chain(['…']).collect()
}

fn write_out(text: &str) {
    let mut stderr = std::io::stderr().lock();
    // Nobody is left to see it if the terminal is gone.
    let _ = stderr.write_all(text.as_bytes());
    let _ = stderr.flush();
}

impl guide::Watcher for Live {
    fn outline(&mut self, text: &str) {
        if !self.quiet {
            print_stderr(text);
        }
    }

    fn begin(&mut self, step: &Step) {
        self.last_ms = None;
        self.show(&heading(step), "");
    }

    fn progress(&mut self, step: &Step, figures: &LiveFigures) {
        let due = self.last_ms.is_none_or(|last| figures.elapsed_ms < last || figures.elapsed_ms - last >= RENEW_MS);
        if due {
            self.last_ms = Some(figures.elapsed_ms);
            self.show(&heading(step), &line(figures));
        }
    }

    fn message(&mut self, text: &str) {
        self.clear();
        print_stderr(text);
    }

    fn end(&mut self, step: &Step, row: &Row) {
        self.clear();
        if !self.quiet && !self.terminal {
            print_stderr(&format!("{}: {}", heading(step), present::tables::summary(row)));
        }
    }
}

fn heading(step: &Step) -> String {
    format!("[{}/{}] {}: {}", step.number, step.of, step.target, step.title)
}

fn line(figures: &LiveFigures) -> String {
    let mut parts = vec![format!("{} {} s", figures.phase.word(), figures.elapsed_ms / 1000)];
    parts.extend(figures.bytes_per_s.map(bytes_per_s));
    // What moves no bytes is no I/O: stat, rename and their like.
    let rate = |rate| if figures.bytes_per_s.is_some() { count_per_s(rate) } else { format!("{} ops/s", number(rate)) };
    parts.extend(figures.operations_per_s.map(rate));
    parts.extend(figures.latency_ns_p99.map(|p99_ns| format!("p99 {}", latency(p99_ns as f64))));
    parts.extend(figures.seconds_left.map(|seconds| format!("{seconds} s left")));
    format!("      {}", parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use guide::watch::LivePhase;

    #[test]
    fn the_lines_say_where_it_is_and_how_fast() {
        let step = Step { target: "/mnt/nfs".into(), title: "4k random read, depth 1".into(), number: 2, of: 8 };
        assert_eq!(heading(&step), "[2/8] /mnt/nfs: 4k random read, depth 1");
        let figures = LiveFigures {
            phase: LivePhase::Running,
            elapsed_ms: 2_300,
            seconds_left: Some(6),
            operations_per_s: Some(2031.4),
            bytes_per_s: Some(8_320_000.0),
            latency_ns_p99: Some(612_345),
            ..LiveFigures::default()
        };
        assert_eq!(line(&figures), "      running 2 s, 8.32 MB/s, 2,031 IOPS, p99 612 µs, 6 s left");
        let names = LiveFigures { bytes_per_s: None, ..figures };
        assert_eq!(line(&names), "      running 2 s, 2,031 ops/s, p99 612 µs, 6 s left");
        let unknown = LiveFigures { phase: LivePhase::Layout, elapsed_ms: 900, ..LiveFigures::default() };
        assert_eq!(line(&unknown), "      layout 0 s");
    }

    #[test]
    fn a_frame_fits_the_terminal_and_covers_the_one_before() {
        let frame = frame("[2/8] /a/very/long/path: 4k random read", "      running 2 s", 20);
        assert_eq!(frame, "\r\x1b[K[2/8] /a/very/long/…\r\n\x1b[K      running 2 s\x1b[1A\r");
    }
}
