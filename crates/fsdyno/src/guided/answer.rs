//! The common part of all questions of the guided face: where the answer is saved, what is shown meanwhile, how it is
//! printed.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use fsdyno_guide::store::Store;
use fsdyno_guide::study::{Caller, Place, check_places};
use fsdyno_guide::watch::SilentWatcher;
use fsdyno_guide::{Problem, Watcher};
use fsdyno_job::EngineName;
use fsdyno_present::export::{junit, openmetrics, openmetrics_of_failure};
use fsdyno_results::{NOT_SAVED, Note, Question, Severity, Study, Verdict};
use fsdyno_run::SignalWatch;

use super::answer_file::AnswerFile;
use super::live::Live;
use super::step_summary::StepSummary;
use super::stream::{self, Stream, TwoWatchers};
use super::study_saver::StudySaver;
use crate::process::VERSION;
use crate::process::first_look::FirstAccessGuard;
use crate::process::status::{BY_SIGNAL, FAILED, GOOD, INCONCLUSIVE, UNUSABLE};
use crate::process::streams::{
    columns, is_terminal, print, print_page, print_stderr, print_stderr_fitted, refused, report_problem,
};
use crate::process::{patience, supervisor};

/// Options of every question.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Output and record")]
pub(crate) struct Shared {
    /// Print one JSON document: the summary, then the whole record.
    #[arg(long, conflicts_with = "markdown")]
    pub(crate) json: bool,
    /// Print Markdown, for a ticket.
    #[arg(long)]
    pub(crate) markdown: bool,
    /// Print all figures, findings and reasons on a terminal too, and not only what fits 24 lines; files and pipes
    /// always
    /// have all.
    #[arg(long, conflicts_with_all = ["json", "markdown"])]
    pub(crate) wide: bool,
    /// Show no progress.
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// Write events for programs: one JSON object per line, to this file (`-`: standard output, with the results on
    /// standard error).
    #[arg(long, value_name = "FILE")]
    pub(crate) live: Option<PathBuf>,
    /// Save the record in this directory [default: $XDG_DATA_HOME/fsdyno, on Windows %LOCALAPPDATA%\fsdyno].
    #[arg(long, value_name = "DIR", conflicts_with = "no_store")]
    pub(crate) store: Option<PathBuf>,
    /// Save no record.
    #[arg(long)]
    pub(crate) no_store: bool,
    /// Append the answer in Markdown to the file that $GITHUB_STEP_SUMMARY names, for the page of a CI run.
    #[arg(long)]
    pub(crate) github: bool,
    /// Write the figures to this file as OpenMetrics, for node_exporter's textfile collector; a question that cannot be
    /// answered leaves `fsdyno_complete 0` there, and no earlier figures.
    #[arg(long, value_name = "FILE")]
    pub(crate) metrics: Option<PathBuf>,
    /// The JUnit file of the verdicts, for a question that has verdicts.
    #[arg(skip)]
    pub(crate) junit: Option<PathBuf>,
    /// Save the record at this interval while a test runs; 0: only at its end.
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    pub(crate) record_interval: u32,
}

/// A question with its places, and the words that repeat it from any directory.
pub(crate) struct AskedQuestion {
    question: Question,
    places: Vec<String>,
    command: Vec<String>,
}

impl AskedQuestion {
    /// A question about one place, which was typed as this path.
    pub(crate) fn about(question: Question, place: &Place, typed: &Path, command: Vec<String>) -> AskedQuestion {
        let places = vec![fsdyno_job::bytes::shown(&place.path)];
        AskedQuestion { question, places, command: place.in_command(typed, command) }
    }

    /// A question about several places, which were typed as these words: `NAME=PATH` or `PATH`.
    pub(crate) fn among(question: Question, places: &[Place], typed: &[String], command: Vec<String>) -> AskedQuestion {
        let in_command = |command, (place, word): (&Place, &String)| {
            let path = word.strip_prefix(&format!("{}=", place.name)).unwrap_or(word);
            place.in_command(Path::new(path), command)
        };
        let command = places.iter().zip(typed).fold(command, in_command);
        AskedQuestion {
            question,
            places: places.iter().map(|place| fsdyno_job::bytes::shown(&place.path)).collect(),
            command,
        }
    }
}

/// What asks the storage: the question itself.
type Ask<'a> = Box<dyn FnOnce(Caller<'_>) -> Result<Study, Problem> + 'a>;

/// Asks, saves and prints; returns the exit status.
pub(crate) fn answer(
    shared: &Shared,
    asked: AskedQuestion,
    ask: impl FnOnce(Caller<'_>) -> Result<Study, Problem>,
) -> ExitCode {
    // Boxed, so that what all questions share is compiled once.
    answer_boxed(shared, asked, Box::new(ask))
}

fn answer_boxed(shared: &Shared, asked: AskedQuestion, ask: Ask<'_>) -> ExitCode {
    let AskedQuestion { question, places, command } = asked;
    ExitCode::from(supervisor::supervised(|| {
        let mut metrics = None;
        let nodes = crate::nodes::other_ranks().map_or(1, |other_ranks| other_ranks.ranks());
        if let Err(problem) = check_places(question.word(), nodes, places.iter().map(String::as_str)) {
            return refused(&problem);
        }
        try_answer(shared, command, &mut metrics, ask).unwrap_or_else(|problem| {
            let failure = openmetrics_of_failure(question, &places, fsdyno_run::now_ms());
            if let Some(Err(problem)) = metrics.map(|file| file.write(&failure)) {
                report_problem(&problem);
            }
            refused(&problem)
        })
    }))
}

/// `metrics`: filled as soon as the file is claimed.
fn try_answer(
    shared: &Shared,
    command: Vec<String>,
    metrics: &mut Option<AnswerFile>,
    ask: Ask<'_>,
) -> Result<u8, Problem> {
    let store = if shared.no_store { None } else { store_or_warning(shared) };
    let control = Arc::new(patience::control());
    let signals = SignalWatch::begin(Arc::clone(&control))
        .map_err(|error| Problem::new(format!("cannot handle signals: {error}")))?;
    let mut looks = FirstAccessGuard::new(Arc::clone(&control));
    let mut claim = |option, path: &Option<PathBuf>| {
        let claimed = path.as_deref().map(|path| {
            looks.looks(path);
            AnswerFile::claim(option, path)
        });
        claimed.transpose()
    };
    *metrics = claim("--metrics", &shared.metrics)?;
    let verdicts = claim("--junit", &shared.junit)?;
    if let Some(store) = &store {
        looks.looks(store.directory());
        store.check_writable()?;
    }
    let step_summary = if shared.github { Some(StepSummary::open()?) } else { None };
    looks.looked();
    let mut stream = open_stream(shared)?;
    let mut live = Live::new(shared.quiet);
    let mut study_saver = store.clone().map(|store| StudySaver::begin(store, shared.record_interval));
    let mut nobody = SilentWatcher;
    let keeping: &mut dyn Watcher = study_saver.as_mut().map_or(&mut nobody, |study_saver| study_saver);
    let mut seen = TwoWatchers { one: &mut live, other: keeping };
    let mut seen = TwoWatchers { one: &mut seen, other: &mut looks };
    let study = match &mut stream {
        None => ask(Caller { version: VERSION, command, control: Arc::clone(&control), watcher: &mut seen }),
        Some(stream) => {
            stream.open(&command);
            let mut both = TwoWatchers { one: &mut seen, other: stream };
            let study = ask(Caller { version: VERSION, command, control: Arc::clone(&control), watcher: &mut both });
            stream.close(&study);
            study
        }
    };
    live.clear();
    drop((signals, study_saver));
    let mut study = study?;
    // The record is saved first: it has everything, in case the answer cannot be printed.
    let kept = store.map(|store| store.save(&study));
    if !shared.no_store && !matches!(kept, Some(Ok(_))) {
        study.notes.push(Note::new(NOT_SAVED, Severity::Info, "this run could not be saved"));
    }
    let shown = shown_as(shared.json, shared.markdown, shared.wide, &study);
    let printed = if shared.streams_to_stdout() {
        print_stderr(shown.trim_end());
        true
    } else if shared.json || shared.markdown {
        print(&shown)
    } else {
        print_page(&shown)
    };
    if matches!(kept, Some(Ok(_))) && !shared.quiet && !shared.json {
        let store = shared.store.iter().map(|store| format!("--store={}", store.display()));
        let runs: Vec<String> = ["fsdyno", "runs"].map(str::to_owned).into_iter().chain(store).collect();
        print_stderr_fitted(&format!("saved as {} (see `{}`)", study.id, fsdyno_text::shell::as_typed(&runs)), 2);
    }
    let written = [
        kept.map(|kept| kept.map(drop)),
        verdicts.map(|file| file.write(&junit::junit("fsdyno check", &junit::cases(&study)))),
        metrics.take().map(|file| file.write(&openmetrics(&study))),
        step_summary.map(|file| file.append(&fsdyno_present::tables::markdown(&study))),
    ];
    let problems: Vec<Problem> = written.into_iter().flatten().filter_map(Result::err).collect();
    problems.iter().for_each(report_problem);
    Ok(if printed && problems.is_empty() { status(&study, control.signal()) } else { UNUSABLE })
}

/// The store; without one the answer is still printed.
fn store_or_warning(shared: &Shared) -> Option<Store> {
    Store::at(shared.store.as_deref())
        .map_err(|problem| {
            report_problem(&Problem { what: format!("note: {problem}; this run is not saved"), ..problem })
        })
        .ok()
}

impl Shared {
    fn streams_to_stdout(&self) -> bool {
        self.live.as_deref().is_some_and(stream::is_stdout)
    }
}

/// The live stream, if one was asked for.
fn open_stream(shared: &Shared) -> Result<Option<Stream>, Problem> {
    if shared.json && shared.streams_to_stdout() {
        return Err(Problem::new("--json and --live - both need standard output")
            .with_next("stream to a file, or print the record afterwards with `fsdyno show last --json`"));
    }
    shared.live.as_deref().map(Stream::to).transpose()
}

/// The study in the form that was asked for.
pub(crate) fn shown_as(json: bool, markdown: bool, wide: bool, study: &Study) -> String {
    if json {
        format!("{}\n", fsdyno_present::Headline::json(study))
    } else if markdown {
        fsdyno_present::tables::markdown(study)
    } else if !wide && is_terminal(&io::stdout()) {
        fsdyno_present::tables::screen(study, columns())
    } else {
        fsdyno_present::tables::text(study, columns())
    }
}

/// Options of the questions that fill a file and measure on it.
#[derive(Clone, Debug, Args)]
pub(crate) struct FileOptions {
    /// Bytes of the file, such as 4g [default: fitted to space, memory and speed].
    #[arg(long, value_parser = size)]
    pub(crate) size: Option<u64>,
    /// Seconds of each test, depth or load [default: 5; of `measure` until the rate settles, 3 to 6].
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..=86_400))]
    pub(crate) runtime: Option<u32>,
    /// Refuse any other type of filesystem, such as nfs.
    #[arg(long, value_name = "FSTYPE", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) expect: Option<String>,
}

/// Seconds of each depth or load, unless others are asked for.
const RUNTIME_S: u32 = 5;

impl FileOptions {
    /// Seconds of each depth or load.
    pub(crate) fn runtime_s(&self) -> u32 {
        self.runtime.unwrap_or(RUNTIME_S)
    }
}

/// Parses the name of an engine that moves data.
pub(crate) fn engine() -> impl TypedValueParser<Value = EngineName> {
    let names = EngineName::all().filter(|name| name.moves_data()).map(EngineName::name);
    PossibleValuesParser::new(names).map(|name| EngineName::named(&name).expect("it is one of them"))
}

/// Parses a size such as `4g` or `100m`: powers of 1,024, as in fio.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let factor: u64 = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        "t" | "tib" => 1 << 40,
        unit => return Err(format!("unit `{unit}` is not one of k, m, g, t (powers of 1,024)")),
    };
    let count: u64 = digits.parse().map_err(|_| "write a size as a whole number and a unit, such as 4g".to_string())?;
    count.checked_mul(factor).filter(|bytes| *bytes > 0).ok_or_else(|| "the size is not possible".to_string())
}

/// The exit status: 0, or 1 when a job or a requirement failed, or 3 when a requirement is open, or 128 plus the number
/// of the signal that ended it.
fn status(study: &Study, signal: Option<i32>) -> u8 {
    if let Some(signal) = signal {
        return BY_SIGNAL + signal as u8;
    }
    let run_failed = |row: &fsdyno_results::Row| {
        let jobs = row.run.iter().flat_map(|run| &run.jobs);
        row.lacks_ranks()
            || jobs.into_iter().any(|job| job.error.is_some())
            || row.phase.as_ref().is_some_and(|phase| phase.error.is_some())
    };
    let given = |verdict| study.verdicts.iter().any(|row| row.verdict == verdict);
    match () {
        () if study.rows.iter().any(run_failed) || given(Verdict::Fail) => FAILED,
        () if given(Verdict::Inconclusive) => INCONCLUSIVE,
        () => GOOD,
    }
}
