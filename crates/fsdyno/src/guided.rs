//! Subcommands: questions asked by people, not option lists.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand, ValueEnum};
use report::terse::Version;
use results::RunRecord;

use crate::fio::{Formats, complain, print};
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
    Runs(question::Runs),
    Show(question::Show),
    Clean(question::Clean),
    /// Print a saved run again, in any format.
    Report {
        /// The format.
        #[arg(long = "as", value_enum, default_value_t = Form::Normal)]
        form: Form,
        /// Version of the terse format (2 to 5).
        #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u8).range(2..=5))]
        terse_version: u8,
        /// A record that `--record` saved.
        record: PathBuf,
    },
    /// What this machine lets a run do: the generator's own cost, clock, engines, limits.
    Doctor {
        /// One JSON document instead of text.
        #[arg(long)]
        json: bool,
    },
    Inspect(crate::inspect::Inspect),
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Form {
    /// For people.
    Normal,
    /// One JSON document.
    Json,
    /// JSON with latency bins.
    #[value(name = "json+")]
    JsonPlus,
    /// Semicolons.
    Terse,
}

/// Whether the first word asks one of the questions. A job file of that name needs `./` before it.
pub(crate) fn knows(word: &str) -> bool {
    word == "help" || Guided::command().get_subcommands().any(|question| question.get_name() == word)
}

/// Answers the question.
pub(crate) fn run(words: &[OsString]) -> ExitCode {
    let parsed = Guided::try_parse_from(std::iter::once(OsString::from("fsdyno")).chain(words.iter().cloned()));
    let command = || words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    match parsed.map(|guided| guided.question) {
        Ok(Question::Measure(measure)) => measure.run(command()),
        Ok(Question::Runs(runs)) => runs.run(),
        Ok(Question::Show(show)) => show.run(),
        Ok(Question::Clean(clean)) => clean.run(),
        Ok(Question::Report { form, terse_version, record }) => report(form, terse_version, &record),
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

fn report(form: Form, terse_version: u8, path: &Path) -> ExitCode {
    let record = match read_record(path) {
        Ok(record) => record,
        Err(reason) => {
            complain(&format!("fsdyno: {}: {reason}", path.display()));
            return ExitCode::FAILURE;
        }
    };
    let text = match form {
        Form::Normal => report::normal::full(&record, &report::TimeZone::system()),
        Form::Json | Form::JsonPlus | Form::Terse => Formats {
            normal: false,
            json: matches!(form, Form::Json | Form::JsonPlus),
            json_plus: matches!(form, Form::JsonPlus),
            terse: matches!(form, Form::Terse).then(|| terse(terse_version)),
        }
        .report(&record),
    };
    if print(&text) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn read_record(path: &Path) -> Result<RunRecord, String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    RunRecord::from_json(&text).map_err(|error| error.to_string())
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
