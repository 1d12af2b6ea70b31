//! Where reports go: stdout, or the file of `--output`. Errors go to stderr, and to that file too, as with fio.

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

/// The report's destination.
pub(super) struct Output {
    file: Option<File>,
}

impl Output {
    pub(super) fn stdout() -> Output {
        Output { file: None }
    }

    /// Creates or empties the file.
    pub(super) fn file(path: &Path) -> io::Result<Output> {
        File::create(path).map(|file| Output { file: Some(file) })
    }

    pub(super) fn is_stdout(&self) -> bool {
        self.file.is_none()
    }

    /// Writes a report or a part of it.
    pub(super) fn write(&mut self, text: &str) -> io::Result<()> {
        match &mut self.file {
            Some(file) => file.write_all(text.as_bytes()),
            None => {
                let mut stdout = io::stdout().lock();
                stdout.write_all(text.as_bytes())?;
                stdout.flush()
            }
        }
    }

    /// A message for people: stderr, and the output file.
    pub(super) fn error(&mut self, text: &str) {
        complain(text);
        if let Some(file) = &mut self.file {
            // The message is on stderr already; a full disk must not hide it.
            let _ = writeln!(file, "{text}");
        }
    }
}

/// A line on stderr.
pub(crate) fn complain(text: &str) {
    // Nobody is left to tell if stderr is gone.
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// A line that overwrites itself.
#[derive(Default)]
pub(super) struct LiveLine {
    width: usize,
}

impl LiveLine {
    pub(super) fn on_terminal() -> bool {
        io::stdout().is_terminal()
    }

    /// Shows `line` in place of the last one; `newline` keeps it.
    pub(super) fn show(&mut self, line: &str, newline: bool) {
        let padding = self.width.saturating_sub(line.chars().count());
        self.width = line.chars().count();
        let end = if newline { '\n' } else { '\r' };
        let mut stdout = io::stdout().lock();
        // A terminal that has gone away is noticed when the report is written.
        let _ = write!(stdout, "{line}{blank:padding$}{end}", blank = "");
        let _ = stdout.flush();
    }
}
