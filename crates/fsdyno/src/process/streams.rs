//! Writes to the standard streams: answers to stdout, everything else to stderr.

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use fsdyno_guide::Problem;
use fsdyno_present::QuestionError;
use fsdyno_text::escape;
use fsdyno_text::shell::as_typed;

use super::colour;
use super::status::UNUSABLE;
use crate::explain::wrapped;

/// Prints a text on stdout; false if it could not be written.
pub(crate) fn print(text: &str) -> bool {
    match write_stdout(text) {
        Ok(()) => true,
        // A closed pipe is no error: the reader has what it wanted.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => true,
        Err(error) => {
            print_stderr(&format!("fsdyno: cannot write to standard output: {error}"));
            false
        }
    }
}

/// Prints a text on stdout; returns the exit status.
pub(crate) fn shown(text: &str) -> ExitCode {
    if print(text) { ExitCode::SUCCESS } else { ExitCode::from(UNUSABLE) }
}

/// Prints a page for people on stdout: with control characters made visible, and coloured verdicts on a terminal.
pub(crate) fn print_page(page: &str) -> bool {
    let page = escape::terminal(page);
    if colour::is_wanted(&io::stdout()) { print(&colour::painted(&page)) } else { print(&page) }
}

/// Prints a long page for people on stdout. A terminal gets the sections that fit 24 lines, and how to see the others;
/// a pipe gets all of them.
pub(crate) fn print_first_page(page: &str, command: &[&str]) -> bool {
    if !is_terminal(&io::stdout()) {
        return print_page(page);
    }
    let words: Vec<String> = command.iter().map(|word| (*word).to_owned()).collect();
    print_page(&first_page(page, &as_typed(&words)))
}

/// Lines of a page that a terminal of 24 lines shows above its prompt.
const SCREEN_LINES: usize = 23;

/// The sections that fit one screen; if even the first is too long, its first lines.
fn first_page(page: &str, command: &str) -> String {
    let lines: Vec<&str> = page.lines().collect();
    if lines.len() <= SCREEN_LINES {
        return page.to_owned();
    }
    // Without a blank line, and the two lines about the rest.
    let most = SCREEN_LINES - 3;
    let end = (1..=most).rev().find(|end| lines[*end].is_empty()).unwrap_or(most);
    format!("{}\n\n{} more lines:\n    {command} | less\n", lines[..end].join("\n"), lines.len() - end)
}

/// Writes a text to stdout, and flushes it.
pub(crate) fn write_stdout(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

/// Prints a line on stderr, with control sequences escaped.
pub(crate) fn print_stderr(text: &str) {
    print_stderr_in_colour(&escape::terminal(text));
}

/// Prints a line on stderr that may contain colours. It must not contain unescaped text of others.
pub(crate) fn print_stderr_in_colour(text: &str) {
    // In one call, so that lines of two processes do not mix. If stderr is closed, there is no place to report it.
    let _ = io::stderr().lock().write_all(format!("{text}\n").as_bytes());
}

/// Prints the problem and its next step on stderr.
pub(crate) fn report_problem(problem: &Problem) {
    print_stderr_fitted(&format!("fsdyno: {problem}"), 2);
    if let Some(next) = &problem.next {
        print_stderr_fitted(&format!("  next: {next}"), 8);
    }
}

/// Prints lines on stderr, wrapped between words on a terminal.
pub(crate) fn print_stderr_fitted(text: &str, indent: usize) {
    let columns = fsdyno_os::terminal::columns(io::stderr()).map(|known| columns_of(Some(known), 40));
    print_stderr_in_colour(&fitted(&escape::terminal(text), columns, indent));
}

/// Removes the progress line that a process left which ended without removing it.
pub(crate) fn clear_line_of_other() {
    let moves = std::env::var_os("TERM").is_none_or(|name| name != "dumb");
    if moves && is_terminal(&io::stderr()) {
        let _ = io::stderr().lock().write_all(b"\r\x1b[J");
    }
}

/// Wraps each line between words, with an indentation after the first; `None`: no wrapping. A line that fits keeps its
/// blanks.
fn fitted(text: &str, columns: Option<usize>, indent: usize) -> String {
    let Some(columns) = columns else { return text.to_owned() };
    let line = |line: &str| {
        if line.chars().count() <= columns {
            return line.to_owned();
        }
        let lead = &line[..line.len() - line.trim_start().len()];
        let continued = format!("\n{:indent$}", "");
        format!("{lead}{}", wrapped(line, columns - indent).join(&continued))
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Whether a refusal is also written as a JSON document.
static IN_JSON: AtomicBool = AtomicBool::new(false);

/// Sets that a program reads the answer: stdout gets a document even if the question is refused.
pub(crate) fn answer_in_json() {
    IN_JSON.store(true, Ordering::Relaxed);
}

/// Reports a problem because of which nothing was answered or printed; returns the exit status.
pub(crate) fn refused(problem: &Problem) -> u8 {
    report_problem(problem);
    if IN_JSON.load(Ordering::Relaxed) {
        let path = problem.path.as_deref().map(fsdyno_job::bytes::shown);
        let (sentence, next) = (problem.what.clone(), problem.next.clone());
        print(&fsdyno_present::refusal(&QuestionError { code: UNUSABLE, sentence, next, path }));
    }
    UNUSABLE
}

/// Whether a person reads the stream. An MPI launcher gives each rank a terminal of its own, whatever reads it.
pub(crate) fn is_terminal(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() && !crate::nodes::gives_terminals()
}

/// Number of columns to print for.
pub(crate) fn columns() -> usize {
    columns_of(fsdyno_os::terminal::columns(io::stdout()), 40)
}

/// Number of columns for a line that renews itself.
pub(crate) fn columns_of_progress() -> usize {
    columns_of(fsdyno_os::terminal::columns(io::stderr()), 20)
}

/// The columns of a terminal. A terminal may report 0 if it does not know them; then the environment is asked.
fn columns_of(known: Option<usize>, least: usize) -> usize {
    let said = || std::env::var("COLUMNS").ok()?.parse().ok();
    let columns = if known == Some(0) { said() } else { known };
    columns.filter(|columns| *columns >= least).unwrap_or(80)
}

#[cfg(test)]
mod tests {
    use super::{first_page, fitted};

    #[test]
    fn a_long_page_ends_between_sections_and_says_how_to_see_the_rest() {
        let section = |count: usize| vec!["line"; count].join("\n");
        let short = section(23);
        assert_eq!(first_page(&short, "fsdyno doctor"), short);
        let page = format!("{}\n\n{}\n\n{}\n", section(9), section(8), section(12));
        let shown = first_page(&page, "fsdyno doctor");
        let end = format!("{}\n\n{}\n\n13 more lines:\n    fsdyno doctor | less\n", section(9), section(8));
        assert_eq!(shown, end);
        let list = first_page(&section(40), "fsdyno explain");
        assert!(list.lines().count() == 23 && list.contains("\n20 more lines:"), "{list}");
    }

    #[test]
    fn a_problem_keeps_to_the_terminal_with_whole_words() {
        let next = "  next: repeat the run with the same plan, or compare anyway with --force";
        assert_eq!(fitted(next, None, 8), next);
        assert_eq!(fitted(next, Some(80), 8), next);
        let narrow = "  next: repeat the run with the same\n        plan, or compare anyway with --force";
        assert_eq!(fitted(next, Some(44), 8), narrow);
        assert_eq!(fitted("a  b\nc", Some(40), 2), "a  b\nc");
    }
}
