//! Subcommands: questions asked by people, not option lists.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use report::terse::Version;

use crate::fio::{complain, print};
use crate::question;

/// Storage benchmark: fio's command line, and questions of its own.
///
/// Anything that is not one of these commands is read as a fio command line: try `fsdyno --help`.
#[derive(Debug, Parser)]
#[command(name = "fsdyno", version = crate::VERSION)]
struct Guided {
    #[command(subcommand)]
    question: Question,
}

#[derive(Debug, Subcommand)]
enum Question {
    Measure(question::Measure),
    Check(question::Check),
    Compare(question::Compare),
    Sweep(question::Sweep),
    Curve(question::Curve),
    Diff(question::Diff),
    Attribute(question::Attribute),
    History(question::History),
    Baseline(question::Baseline),
    #[command(name = "smallfiles")]
    SmallFiles(question::SmallFiles),
    Runs(question::Runs),
    Show(question::Show),
    Clean(question::Clean),
    Explain(crate::explain::Explain),
    Report(crate::report_command::Report),
    /// What this machine lets a run do: the generator's own cost, clock, engines, limits.
    Doctor {
        /// One JSON document instead of text.
        #[arg(long)]
        json: bool,
    },
    Inspect(crate::inspect::Inspect),
}

/// Whether the first word asks one of the questions. A job file of that name needs `./` before it.
pub(crate) fn knows(word: &str) -> bool {
    // Options are never subcommands: a fio line need not pay for the tree of all questions.
    let may_be = !word.starts_with('-');
    may_be && (word == "help" || Guided::command().get_subcommands().any(|question| question.get_name() == word))
}

/// Answers the question.
pub(crate) fn run(words: &[OsString]) -> ExitCode {
    let parsed = Guided::try_parse_from(std::iter::once(OsString::from("fsdyno")).chain(words.iter().cloned()));
    let command = || words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    match parsed.map(|guided| guided.question) {
        Ok(Question::Measure(measure)) => measure.run(command()),
        Ok(Question::SmallFiles(smallfiles)) => smallfiles.run(command()),
        Ok(Question::Check(check)) => check.run(command()),
        Ok(Question::Compare(compare)) => compare.run(command()),
        Ok(Question::Sweep(sweep)) => sweep.run(command()),
        Ok(Question::Curve(curve)) => curve.run(command()),
        Ok(Question::Diff(diff)) => diff.run(),
        Ok(Question::Attribute(attribute)) => attribute.run(),
        Ok(Question::History(history)) => history.run(),
        Ok(Question::Baseline(baseline)) => baseline.run(),
        Ok(Question::Runs(runs)) => runs.run(),
        Ok(Question::Show(show)) => show.run(),
        Ok(Question::Clean(clean)) => clean.run(),
        Ok(Question::Explain(explain)) => explain.run(),
        Ok(Question::Report(report)) => report.run(),
        Ok(Question::Doctor { json }) => crate::doctor::answer(json),
        Ok(Question::Inspect(inspect)) => inspect.run(),
        Err(error) => {
            // clap's texts for --help and --version belong on stdout, its complaints on stderr.
            if error.use_stderr() {
                complain(error.to_string().trim_end());
                ExitCode::from(question::UNUSABLE)
            } else {
                print(&error.to_string());
                ExitCode::SUCCESS
            }
        }
    }
}

/// The terse version of this number, which has been checked to be 2 to 5.
pub(crate) fn terse(version: u8) -> Version {
    match version {
        2 => Version::V2,
        4 => Version::V4,
        5 => Version::V5,
        _ => Version::V3,
    }
}
