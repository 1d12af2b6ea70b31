//! The standard streams: answers on stdout, everything else on stderr.

use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use guide::Problem;
use results::escape;

use super::colour;
use super::status::UNUSABLE;

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

/// A text on stdout; the exit status.
pub(crate) fn shown(text: &str) -> ExitCode {
    if print(text) { ExitCode::SUCCESS } else { ExitCode::from(UNUSABLE) }
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

/// Whether what is refused is told in a document too.
static IN_JSON: AtomicBool = AtomicBool::new(false);

/// A program reads the answer: it gets a document on stdout even if nothing can be answered.
pub(crate) fn answer_in_json() {
    IN_JSON.store(true, Ordering::Relaxed);
}

/// Nothing can be answered, and nothing was printed: the problem and its next step; the exit status.
pub(crate) fn refused(problem: &Problem) -> u8 {
    report_problem(problem);
    refused_in_json(&problem.what, problem.next.as_deref());
    UNUSABLE
}

/// The document of what is refused, where one is wanted.
pub(crate) fn refused_in_json(what: &str, next: Option<&str>) {
    if IN_JSON.load(Ordering::Relaxed) {
        print(&present::refusal(what, next));
    }
}

/// Columns to print for.
pub(crate) fn columns() -> usize {
    engine::terminal::columns(io::stdout()).filter(|columns| *columns >= 40).unwrap_or(80)
}
