//! The standard streams: answers on stdout, everything else on stderr.

use std::io::{self, ErrorKind, Write};

use guide::Problem;
use results::escape;

use super::colour;

/// A text on stdout; false if it could not be written.
pub(crate) fn print(text: &str) -> bool {
    match write_stdout(text) {
        Ok(()) => true,
        // Whoever reads a part of the output and goes away has what they wanted.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => true,
        Err(error) => {
            print_stderr(&format!("fsdyno: cannot write to standard output: {error}"));
            false
        }
    }
}

/// A page for people on stdout: what is hostile made visible, verdicts in colour on a terminal.
pub(crate) fn print_page(page: &str) -> bool {
    let page = escape::terminal(page);
    if colour::is_wanted(&io::stdout()) { print(&colour::painted(&page)) } else { print(&page) }
}

/// A text on stdout, now.
pub(crate) fn write_stdout(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

/// A line on stderr. Control sequences in quoted text are escaped.
pub(crate) fn print_stderr(text: &str) {
    print_stderr_in_colour(&escape::terminal(text));
}

/// A line on stderr that may contain colours. It must not quote text of others unescaped.
pub(crate) fn print_stderr_in_colour(text: &str) {
    // There is no other place to report that stderr is closed.
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// The problem and its next step, on stderr.
pub(crate) fn report_problem(problem: &Problem) {
    print_stderr(&format!("fsdyno: {problem}"));
    if let Some(next) = &problem.next {
        print_stderr(&format!("  next: {next}"));
    }
}

/// Columns to print for.
pub(crate) fn columns() -> usize {
    engine::terminal::columns(io::stdout()).filter(|columns| *columns >= 40).unwrap_or(80)
}
