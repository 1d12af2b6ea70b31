//! Subcommands: questions asked by people, not option lists.

mod answer;
mod attribute;
mod check;
mod compare;
mod curve;
mod diff;
mod live;
mod measure;
mod smallfiles;
mod stored;
mod stream;
mod study_saver;
mod sweep;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::ContextKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::explain::wrapped;
use crate::process::VERSION;
use crate::process::status::UNUSABLE;
use crate::process::streams::{columns, print, print_stderr};

/// How fast a filesystem is, whether that is good enough, and whether the numbers can be trusted.
#[derive(Debug, Parser)]
#[command(name = "fsdyno", version = VERSION)]
struct Guided {
    #[command(subcommand)]
    question: Question,
}

#[derive(Debug, Subcommand)]
enum Question {
    Measure(measure::Measure),
    Check(check::Check),
    Compare(compare::Compare),
    Sweep(sweep::Sweep),
    Curve(curve::Curve),
    Diff(diff::Diff),
    Attribute(attribute::Attribute),
    History(diff::History),
    Baseline(diff::Baseline),
    #[command(name = "smallfiles")]
    SmallFiles(smallfiles::SmallFiles),
    Runs(stored::Runs),
    Show(stored::Show),
    Clean(stored::Clean),
    Explain(crate::explain::Explain),
    Report(crate::report_command::Report),
    /// What this machine allows: fsdyno's own CPU cost, clock, engines, limits.
    Doctor {
        /// One JSON document instead of text.
        #[arg(long)]
        json: bool,
    },
    Inspect(crate::inspect::Inspect),
    Completions(crate::installed::Completions),
    Man(crate::installed::Manual),
}

/// The commands as a person meets them: heading, and those below it. Each stands in one of them.
const GROUPS: [(&str, &[&str]); 5] = [
    (
        "Measure a storage, by a directory on it (begin with `fsdyno inspect .`)",
        &["inspect", "measure", "smallfiles", "check"],
    ),
    ("Compare storages and loads", &["compare", "sweep", "curve", "attribute"]),
    ("Show saved runs", &["runs", "show", "report", "diff", "history", "baseline"]),
    ("Explain and clean up", &["explain", "doctor", "clean"]),
    ("Install beside the program", &["completions", "man"]),
];

/// Wider lines are hard to read.
const COLUMNS_MAX: usize = 100;

/// The names of all commands.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    GROUPS.iter().flat_map(|(_, names)| names.iter().copied())
}

/// All questions, as their scripts and pages are made from.
pub(crate) fn command() -> clap::Command {
    Guided::command()
}

/// All questions, with help of the terminal's width.
fn tree() -> clap::Command {
    let columns = columns().min(COLUMNS_MAX);
    let command = Guided::command().term_width(columns);
    let overview = overview(&command, columns);
    command.override_help(overview)
}

/// Columns before a command's summary.
const NAME_COLUMNS: usize = 14;

/// What there is, on one page.
fn overview(command: &clap::Command, columns: usize) -> String {
    let about = |command: &clap::Command| command.get_about().map(ToString::to_string).unwrap_or_default();
    let mut page = wrapped(&format!("{}.", about(command)), columns).join("\n");
    page.push_str(
        "\n\nUsage: fsdyno COMMAND ...     a guided test; `fsdyno COMMAND --help` shows its options\n       fsdyno \
         OPTIONS | FILE  a fio command line; `fsdyno fio --help` shows its options\n",
    );
    for (heading, names) in GROUPS {
        page.push_str(&format!("\n{heading}\n"));
        for name in names {
            let about = command.find_subcommand(name).map(about).unwrap_or_default();
            let summary = about.split(". ").next().unwrap_or_default();
            for (index, line) in wrapped(summary, columns - NAME_COLUMNS).iter().enumerate() {
                let name = if index == 0 { *name } else { "" };
                page.push_str(&format!("  {name:<width$}{line}\n", width = NAME_COLUMNS - 2));
            }
        }
    }
    page
}

/// Whether the first word asks one of the questions. A job file of that name needs `./` before it.
pub(crate) fn knows(word: &str) -> bool {
    // Options are never subcommands: a fio line need not pay for the tree of all questions.
    let may_be = !word.starts_with('-');
    may_be && (word == "help" || Guided::command().get_subcommands().any(|question| question.get_name() == word))
}

/// Whether the word looks like the name of a question that was mistyped, and is no job file.
pub(crate) fn resembles(word: &str) -> bool {
    let plain = word.len() > 2 && word.bytes().all(|letter| letter.is_ascii_lowercase());
    let suggested = || {
        let error = Guided::try_parse_from(["fsdyno", word]).err();
        error.is_some_and(|error| error.get(ContextKind::SuggestedSubcommand).is_some())
    };
    plain && !std::path::Path::new(word).exists() && suggested()
}

/// The page of all commands.
pub(crate) fn help() -> ExitCode {
    if print(&tree().render_help().to_string()) { ExitCode::SUCCESS } else { ExitCode::from(UNUSABLE) }
}

/// Answers the question.
pub(crate) fn run(words: &[OsString]) -> ExitCode {
    let all_words = std::iter::once(OsString::from("fsdyno")).chain(words.iter().cloned());
    let parsed = tree().try_get_matches_from(all_words).and_then(|matches| Guided::from_arg_matches(&matches));
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
        Ok(Question::Completions(completions)) => completions.run(),
        Ok(Question::Man(manual)) => manual.run(),
        Err(error) => {
            // clap's texts for --help and --version belong on stdout, its complaints on stderr.
            if error.use_stderr() {
                print_stderr(error.to_string().trim_end());
                ExitCode::from(UNUSABLE)
            } else {
                print(&error.to_string());
                ExitCode::SUCCESS
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_stands_once_on_the_page() {
        let mut listed: Vec<&str> = names().collect();
        listed.sort_unstable();
        let command = Guided::command();
        let mut known: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
        known.sort_unstable();
        assert_eq!(listed, known);
    }

    #[test]
    fn the_page_of_all_commands() {
        insta::assert_snapshot!(overview(&Guided::command(), 80));
    }

    #[test]
    fn the_help_of_each_command() {
        let mut command = Guided::command().term_width(80);
        command.build();
        for command in command.get_subcommands_mut().filter(|command| command.get_name() != "help") {
            let page = command.render_long_help().to_string();
            assert!(page.lines().all(|line| line.chars().count() <= 80), "{page}");
            insta::assert_snapshot!(format!("help_of_{}", command.get_name()), page);
        }
    }

    #[test]
    fn a_mistyped_question_is_recognised() {
        assert!(resembles("mesure") && resembles("smalfiles") && resembles("inspekt"));
        assert!(!resembles("randread") && !resembles("jobs.fio") && !resembles("x") && !resembles("--measure"));
    }
}
