//! Writes reports to stdout, or to the file of `--output`. Errors go to stderr and, as in fio, also to that file,
//! unless it contains only machine formats.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use fsdyno_text::escape;

use crate::process::streams::{is_terminal, print_stderr, write_stdout};

/// The report's destination.
pub(super) struct Output {
    file: Option<File>,
    /// Whether errors are also written to the file; not if it contains only machine formats.
    errors_in_file: bool,
}

impl Output {
    pub(super) fn stdout() -> Output {
        Output { file: None, errors_in_file: false }
    }

    /// Creates or empties the file.
    pub(super) fn file(path: &Path, errors_in_file: bool) -> io::Result<Output> {
        File::create(path).map(|file| Output { file: Some(file), errors_in_file })
    }

    pub(super) fn is_stdout(&self) -> bool {
        self.file.is_none()
    }

    /// Writes a report or a part of it.
    pub(super) fn write(&mut self, text: &str) -> io::Result<()> {
        match &mut self.file {
            Some(file) => file.write_all(text.as_bytes()),
            None => write_stdout(text),
        }
    }

    /// Writes a message for people to stderr and to the output file.
    pub(super) fn error(&mut self, text: &str) {
        let text = &*escape::terminal(text);
        print_stderr(text);
        if let Some(file) = self.file.as_mut().filter(|_| self.errors_in_file) {
            // The message is on stderr already: a full disk must not hide it.
            let _ = writeln!(file, "{text}");
        }
    }
}

/// A line on the terminal that overwrites itself.
#[derive(Default)]
pub(super) struct LiveLine {
    /// Characters of the visible line; 0: there is none.
    width: usize,
}

impl LiveLine {
    pub(super) fn on_terminal() -> bool {
        is_terminal(&io::stdout())
    }

    /// Shows `line` in place of the last one; `newline` keeps the last one.
    pub(super) fn show(&mut self, line: &str, newline: bool) {
        put(&self.replacement(line, newline, terminal_columns()));
    }

    /// Removes the line from a terminal, to make room for a message.
    pub(super) fn clear(&mut self) {
        if let (Some(columns), 1..) = (terminal_columns(), self.width) {
            put(&self.replacement("", false, Some(columns)));
        }
    }

    /// The characters that replace the visible line by `line`. A line that is wider than the terminal takes several
    /// rows, which are erased from the first one on.
    fn replacement(&mut self, line: &str, newline: bool, columns: Option<usize>) -> String {
        let rows_above = columns.map_or(0, |columns| self.width.saturating_sub(1) / columns.max(1));
        let width = line.chars().count();
        let (erase, padding) = match rows_above {
            0 => (String::new(), self.width.saturating_sub(width)),
            rows => (format!("\x1b[{rows}A\x1b[J"), 0),
        };
        self.width = if newline { 0 } else { width };
        let end = if newline { '\n' } else { '\r' };
        format!("{erase}{line}{blank:padding$}{end}", blank = "")
    }
}

fn put(text: &str) {
    // A closed terminal is noticed when the report is written.
    let _ = write_stdout(text);
}

/// Columns of the terminal on stdout, if it is one and they are known.
fn terminal_columns() -> Option<usize> {
    fsdyno_os::terminal::columns(io::stdout()).filter(|columns| *columns > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shorter_line_covers_a_longer_one() {
        let mut live = LiveLine::default();
        assert_eq!(live.replacement("12345", false, None), "12345\r");
        assert_eq!(live.replacement("abc", false, None), "abc  \r");
        assert_eq!(live.replacement("a", true, None), "a  \n");
        assert_eq!(live.replacement("ab", false, None), "ab\r", "a new line has nothing to cover");
    }

    #[test]
    fn a_line_wider_than_the_terminal_is_replaced_from_its_first_row() {
        let mut live = LiveLine::default();
        assert_eq!(live.replacement("1234567890", false, Some(5)), "1234567890\r", "two rows of five");
        assert_eq!(live.replacement("12345", false, Some(5)), "\x1b[1A\x1b[J12345\r");
        assert_eq!(live.replacement("12345678901", false, Some(5)), "12345678901\r", "one row stood there");
        assert_eq!(live.replacement("", false, Some(5)), "\x1b[2A\x1b[J\r");
    }
}
