//! The fio face: fio's command line, reports and exit statuses.

mod bandwidth_log;
mod debug;
mod formats;
mod output;
mod progress_line;
mod record_file;
mod remarks;
mod screen;

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use fsdyno_fio_report::Details;
use fsdyno_fio_report::terse::Version;
use fsdyno_job::{Action, Eta, Findings, Outcome, Rejection, Request, Settings, Stream};
use fsdyno_os::written;
use fsdyno_results::{JobRecord, RANKS_APART, RunRecord};
use fsdyno_run::plan::Plan;
use fsdyno_run::{CommandLine, Conditions, InflateError, MachineSources, SignalWatch, StopRule};
use fsdyno_text::escape;
use jiff::tz::TimeZone;

use crate::process::first_look::{Face, FirstLook};
use crate::process::status::{BY_SIGNAL, REJECTED};
use crate::process::streams::{print, print_stderr, print_stderr_in_colour};
use crate::process::{VERSION, colour, patience, supervisor};
use bandwidth_log::BandwidthLog;
use formats::Formats;
use output::{LiveLine, Output};
use record_file::RecordFile;
use remarks::Remarks;
use screen::{GrowingRecord, IntervalGrid, ProgressRules, Screen, ScreenState};

/// The last line of `--help`.
const OWN_COMMANDS: &str = "Other commands than fio's, such as doctor and report, are listed by `fsdyno help`.\n";

/// Runs a fio command line; `words` are those after the program's name.
pub(crate) fn run(words: &[OsString]) -> ExitCode {
    let words: Vec<String> = words.iter().map(|word| fsdyno_job::bytes::text(word.as_encoded_bytes())).collect();
    let status =
        match fsdyno_job::parse_command_line(&words, &mut MachineSources) {
            Outcome::Immediate(action) => immediate(action),
            Outcome::Rejected(rejection) => rejected(&rejection),
            Outcome::Run(request) => {
                let for_people = formats_of(&request.settings).for_people();
                remarks_of(&request.settings, for_people).options(&request.warnings, for_people);
                let line = CommandLine { words, request: named_by_rank(*request) };
                let work = || run_line(&line).unwrap_or_else(|status| status);
                match () {
                    () if line.request.settings.parse_only => {
                        if print(&debug::Lines::new(&line.request).all_of_parse()) { 0 } else { REJECTED }
                    }
                    () if touches_files(&line.request) => supervisor::supervised(work),
                    () => work(),
                }
            }
        };
    ExitCode::from(status)
}

/// Adds the node to the file names of a run on many nodes.
fn named_by_rank(request: Request) -> Request {
    crate::nodes::with_names(request)
}

fn immediate(action: Action) -> u8 {
    let (text, status) = match action {
        Action::Version => (format!("{}\n", VERSION), 0),
        Action::Help => (format!("{}\n{}{OWN_COMMANDS}", VERSION, fsdyno_job::help::usage()), 0),
        Action::CalibrateIdle => {
            let unit = fsdyno_run::calibrate_unit_work();
            (format!("CPU idleness:\n{}", fsdyno_fio_report::normal::unit_work(unit.us_mean, unit.us_deviation)), 0)
        }
        Action::InflateLog(path) => return inflate_log(&written::path(&path)),
        // fio's lists contain tabs.
        Action::Print { text, status } => {
            (text.split('\t').map(escape::terminal).collect::<Vec<_>>().join("\t"), status)
        }
    };
    if print(&text) { status } else { REJECTED }
}

/// Prints the lines of a compressed log; returns the exit status.
fn inflate_log(path: &Path) -> u8 {
    let inflated = std::fs::File::open(path).map_err(|error| format!("fopen: {error}")).and_then(|mut log| {
        let mut stdout = std::io::stdout().lock();
        match fsdyno_run::inflate_log(&mut log, &mut stdout).and_then(|()| stdout.flush().map_err(InflateError::Write))
        {
            // A closed pipe is no error: the reader has what it wanted.
            Err(InflateError::Write(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
            ended => ended.map_err(|error| format!("fio: failed inflating log: {error}")),
        }
    });
    let Err(sentence) = inflated else { return 0 };
    print_stderr(&format!("{sentence}\n  --inflate-log={}", fsdyno_job::bytes::shown(path)));
    REJECTED
}

fn rejected(rejection: &Rejection) -> u8 {
    for warning in &rejection.warnings {
        print_stderr(&warning.text);
    }
    let colour = colour::is_wanted(&std::io::stderr());
    for error in &rejection.errors {
        let plain = error.render(false);
        if colour && matches!(escape::terminal(&plain), Cow::Borrowed(_)) {
            print_stderr_in_colour(error.render(true).trim_end());
        } else {
            print_stderr(plain.trim_end());
        }
    }
    if rejection.usage {
        print_stderr(&fsdyno_job::help::usage());
    }
    rejection.status
}

fn remarks_of(settings: &Settings, for_people: bool) -> Remarks {
    Remarks::new(settings.findings, for_people && settings.output.is_none())
}

/// Whether an unresponsive storage can keep the run from ending.
fn touches_files(request: &Request) -> bool {
    request.jobs.iter().any(|job| job.submission.engine.has_paths())
}

/// Plans, runs and reports. An error is the exit status, and was reported.
fn run_line(line: &CommandLine) -> Result<u8, u8> {
    let settings = &line.request.settings;
    if settings.merge_only {
        return fsdyno_run::merge_traces(&line.request.jobs).map(|()| 0).map_err(|sentence| {
            print_stderr(&sentence);
            REJECTED
        });
    }
    let formats = formats_of(settings);
    let control = Arc::new(patience::control());
    let signals = SignalWatch::begin(Arc::clone(&control)).map_err(|error| {
        print_stderr(&format!("fio: cannot listen to signals: {error}"));
        REJECTED
    })?;
    let first_look = touches_files(&line.request).then(|| FirstLook::begin(Face::Fio, &control, Path::new(".")));
    let look_at = |path: &Path| first_look.iter().for_each(|look| look.at(path));
    settings.output.iter().for_each(|path| look_at(&written::path(path)));
    let mut output = open_output(settings, &formats)?;
    settings.record.iter().for_each(|path| look_at(&written::path(path)));
    let record_file = claim_record(settings)?.map(Arc::new);
    let planned = line.look(look_at).plan(system_seed()).map_err(|sentences| {
        sentences.iter().for_each(|sentence| output.error(sentence));
        REJECTED
    })?;
    let bandwidth_log = claim_logs(&planned.plan, settings).map_err(|sentence| {
        output.error(&sentence);
        REJECTED
    })?;
    let announced = announce(&planned.plan, &line.request, &formats, &mut output);
    if let (Err(error), None) = (&announced, &record_file) {
        return Err(output_lost(error));
    }
    let ready = planned.identify_storages();
    let mut remarks = remarks_of(settings, formats.for_people());
    remarks.before_run(&ready.preflight(), &line.request.warnings);
    let progress = progress_rules(settings, &formats, &output);
    let mut screen = Screen {
        output: &mut output,
        formats: &formats,
        progress,
        notes_shown: remarks.shown,
        status: IntervalGrid::ms(settings.status_interval_ms.unwrap_or(0)),
        control: Arc::clone(&control),
        signals,
        record: record_file.clone().map(|file| GrowingRecord::begin(file, settings.record_interval_ms)),
        bandwidth_log,
        state: ScreenState::default(),
    };
    screen.state.output_failure = announced.err();
    drop(first_look);
    let conditions = Conditions { version: VERSION, control, stop_rule: StopRule::AsWritten };
    let record = ready.run(conditions, &mut screen);
    // A signal may have come before there was anything to watch.
    screen.report_signal();
    let lost = screen.state.output_failure.take();
    let log_failed = screen.bandwidth_log.take().and_then(BandwidthLog::finish);
    drop(screen);
    errors_of_other_ranks(&record).iter().for_each(|line| output.error(line));
    let status = conclude(&record, &formats, &mut output, record_file.as_deref(), lost)?;
    remarks.after_run(&record);
    if let Some(sentence) = log_failed {
        print_stderr(&sentence);
        return Ok(status.max(REJECTED));
    }
    Ok(status)
}

/// The errors of other ranks than the first one, whose errors were printed when they occurred.
fn errors_of_other_ranks(record: &RunRecord) -> Vec<String> {
    let is_other = |job: &&JobRecord| {
        let part = record.nodes.get(job.node).and_then(|node| node.part.as_ref());
        part.is_some_and(|part| part.rank > 0)
    };
    let failed = record.jobs.iter().filter(is_other).filter_map(|job| {
        let error = job.error.as_ref().filter(|error| error.function != RANKS_APART)?;
        let rank = record.rank_before_error(job);
        Some(format!("fio: {rank}{}: err={}, func={}, error={}", job.name, error.code, error.function, error.text))
    });
    let lost = record.missing_ranks().iter().map(|missing| {
        let node = missing.node.as_ref().map(|name| format!(" on {name}")).unwrap_or_default();
        format!("fio: rank {}{node} sent no results: {}", missing.rank, missing.reason)
    });
    failed.chain(lost).collect()
}

/// Prints the report, saves the record, and returns the exit status.
fn conclude(
    record: &RunRecord,
    formats: &Formats,
    output: &mut Output,
    record_file: Option<&RecordFile>,
    lost: Option<std::io::Error>,
) -> Result<u8, u8> {
    // The record is saved first: it has everything, in case the report cannot be written.
    let saved = record_file.is_none_or(|file| file.save_or_report(record));
    if let Some(error) = lost {
        return Err(output_lost(&error));
    }
    formats.write(record, &mut |piece| output.write(piece)).map_err(|error| output_lost(&error))?;
    let failed = record.jobs.iter().filter(|job| job.error.is_some()).count() + record.missing_ranks().len();
    let saved = saved && record.notes.iter().all(|note| note.id != fsdyno_run::LOGS_INCOMPLETE);
    // fio's exit status is the number of failed jobs, in eight bits.
    let status = (failed + usize::from(record.signal.is_some()) * usize::from(BY_SIGNAL)) as u8;
    Ok(match status {
        0 if failed > 0 => u8::MAX,
        0 if !saved => REJECTED,
        status => status,
    })
}

fn output_lost(error: &std::io::Error) -> u8 {
    if error.kind() != std::io::ErrorKind::BrokenPipe {
        print_stderr(&format!("fio: cannot write the report: {error}"));
    }
    REJECTED
}

fn formats_of(settings: &Settings) -> Formats {
    let details = Details {
        terse: Version::numbered(settings.terse_version),
        evidence: settings.fsdyno_json,
        remarks: settings.findings == Findings::Auto,
        announced: true,
        zone: TimeZone::system(),
    };
    Formats::of(&settings.formats, details)
}

fn open_output(settings: &Settings, formats: &Formats) -> Result<Output, u8> {
    let Some(path) = &settings.output else { return Ok(Output::stdout()) };
    Output::file(&written::path(path), formats.for_people()).map_err(|error| {
        print_stderr(&format!("fio: output file open error: {error}\n  --output={path}"));
        REJECTED
    })
}

fn claim_record(settings: &Settings) -> Result<Option<RecordFile>, u8> {
    let Some(path) = &settings.record else { return Ok(None) };
    RecordFile::claim(&written::path(path)).map(Some).map_err(|error| {
        print_stderr(&format!("fio: cannot write the record: {error}\n  --record={path}"));
        REJECTED
    })
}

/// Makes the log files; returns the one for all jobs together.
fn claim_logs(plan: &Plan, settings: &Settings) -> Result<Option<BandwidthLog>, String> {
    fsdyno_run::claim_logs(plan)?;
    settings.bandwidth_log.as_deref().map(BandwidthLog::create).transpose()
}

/// Prints fio's lines before the run: one per job, the version, the number of jobs, its notes.
fn announce(plan: &Plan, request: &Request, formats: &Formats, output: &mut Output) -> std::io::Result<()> {
    let mut debug = debug::Lines::new(request);
    if !formats.for_people() {
        let text: String = plan.workers.iter().map(|worker| debug.before(worker)).collect();
        if !text.is_empty() {
            print_stderr(text.trim_end());
        }
        return Ok(());
    }
    let mut text = String::new();
    for worker in &plan.workers {
        text.push_str(&debug.before(worker));
        if worker.clone == 0 && !worker.job.submission.engine.computes() {
            text.push_str(&fsdyno_fio_report::normal::banner(
                worker.job.label(worker.clone),
                worker.group,
                &worker.setup,
            ));
        }
    }
    let threads = plan.workers.iter().filter(|worker| worker.job.process.thread).count() as u32;
    text.push_str(&format!("{}\n", VERSION));
    text.push_str(&fsdyno_fio_report::normal::starting(threads, plan.workers.len() as u32 - threads));
    for warning in request.warnings.iter().filter(|warning| warning.fio_stream() == Some(Stream::Stdout)) {
        text.push_str(&format!("{}\n", warning.text));
    }
    output.write(&escape::terminal(&text))
}

/// Whether and how the progress line is shown: never within a machine format on stdout.
fn progress_rules(settings: &Settings, formats: &Formats, output: &Output) -> Option<ProgressRules> {
    let shown = match settings.eta {
        Eta::Never => false,
        _ if !formats.for_people() && output.is_stdout() => false,
        Eta::Always => true,
        Eta::Auto => LiveLine::on_terminal(),
    };
    shown.then(|| ProgressRules {
        interval_ns: settings.eta_interval_ms * 1_000_000,
        newline_ns: settings.eta_newline_ms.map(|ms| ms * 1_000_000),
    })
}

/// A seed that differs from run to run, for `randrepeat=0`.
fn system_seed() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    // The standard library seeds its hashers from the system's random numbers.
    std::collections::hash_map::RandomState::new().build_hasher().finish()
}
