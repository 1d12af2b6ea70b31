//! Runs a command once, and records what it used and printed.

use std::ffi::OsString;
use std::time::Duration;

use fsdyno_os::clock::{Clock, RealClock};
use fsdyno_os::files::Directory;
use fsdyno_os::process::Ended;
use fsdyno_os::process_tree::{self, CommandOutput, EndReason, Limits, TreeUsage};
use fsdyno_results::evidence::StorageClass;
use fsdyno_results::{JobError, Latency, PhaseRecord, PrintedRecord, ReadWrite, TreeRecord};

use super::layers::Layers;
use super::options::{TimeOptions, TimedCommand};
use crate::Problem;
use crate::study::StudyRun;
use crate::watch::{LiveFigures, LivePhase, Step};
use crate::work_directory::reason;

/// The place where a command runs.
pub(super) struct TimedPlace {
    /// Its working directory, for which `{}` stands.
    pub(super) directory: Directory,
    pub(super) home: Directory,
    pub(super) temporary: Directory,
    /// The class of the storage.
    pub(super) class: StorageClass,
}

/// The result of one run.
pub(super) struct TimedRun {
    pub(super) phase: PhaseRecord,
    pub(super) tree: TreeRecord,
}

/// Time that processes which a command leaves behind may go on.
const LEFT_RUNNING: Duration = Duration::from_secs(10);

/// Interval at which is checked whether the command has ended, or must be ended.
const LOOK: Duration = Duration::from_millis(100);

/// Time that the meter has to end the processes that it started.
const FAREWELL: Duration = Duration::from_secs(5);

/// Environment variables that are kept in a clean environment.
const PLAIN: [&str; 5] = ["PATH", "LANG", "LC_ALL", "TZ", "TERM"];

/// Variables that name the user's directories; without them programs use HOME, which is ours. All of git's variables
/// are left out too: with GIT_DIR, which git sets for hooks, a recipe would write into the user's repository.
const OF_USER: [&str; 9] = [
    "HOME",
    "TMPDIR",
    "OLDPWD",
    "PWD",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "FSDYNO_DIR",
];

/// The command line by which the shell runs a line.
pub(super) fn words_of_shell(line: &str) -> Vec<String> {
    ["sh", "-c", line].map(str::to_owned).to_vec()
}

/// The user's variables that the command also gets.
pub(super) fn inherited_environment(options: &TimeOptions) -> impl Iterator<Item = (OsString, OsString)> {
    let clean = options.clean_environment;
    std::env::vars_os().filter(move |(name, _)| {
        let is = |known: &&str| name == *known;
        let of_git = name.as_encoded_bytes().starts_with(b"GIT_");
        if clean { PLAIN.iter().any(is) } else { !of_git && !OF_USER.iter().any(is) }
    })
}

fn environment(place: &TimedPlace, options: &TimeOptions) -> Vec<(OsString, OsString)> {
    let own = [("HOME", &place.home), ("TMPDIR", &place.temporary), ("FSDYNO_DIR", &place.directory)];
    let own = own.into_iter().chain([("PWD", &place.directory)]);
    let own = own.map(|(name, directory)| (name.into(), directory.path().as_os_str().to_owned()));
    inherited_environment(options).chain(own).collect()
}

/// Runs a command to its end; `None`: a signal ended the study meanwhile.
///
/// # Errors
/// When it cannot be started.
pub(super) fn run(
    study_run: &mut StudyRun<'_>,
    place: &TimedPlace,
    words: &[String],
    options: &TimeOptions,
    step: &Step,
) -> Result<Option<(TreeUsage, CommandOutput)>, Problem> {
    let directory = fsdyno_job::bytes::shown(place.directory.path());
    let words: Vec<OsString> =
        words.iter().map(|word| fsdyno_os::written::os_string(&word.replace("{}", &directory))).collect();
    let limits = Limits { whole: options.timeout, left_running: LEFT_RUNNING };
    let not_run = |error: std::io::Error| {
        let program = words.first().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
        let next = match error.kind() {
            std::io::ErrorKind::Other => "have the command end no processes but its own",
            _ => "name a program that is installed, or a line of the shell with --shell",
        };
        Problem::new(format!("cannot run {program}: {}", reason(&error))).with_next(next)
    };
    let metered = process_tree::begin(&words, &place.directory, &environment(place, options), limits);
    let metered = metered.map_err(not_run)?;
    let began_ns = RealClock::shared().now_ns();
    while !metered.is_over_within(LOOK) {
        if study_run.stopped() {
            metered.end();
            // A command that is stuck in the kernel is not waited for.
            if metered.is_over_within(FAREWELL) {
                let _ = metered.result();
            }
            return Ok(None);
        }
        let elapsed_ms = (RealClock::shared().now_ns() - began_ns) / 1_000_000;
        let figures = LiveFigures { phase: LivePhase::Running, elapsed_ms, ..LiveFigures::default() };
        study_run.watcher.progress(step, &figures);
    }
    let result = metered.result();
    // Ctrl-C may have come after the last check.
    if study_run.stopped() { Ok(None) } else { result.map(Some).map_err(not_run) }
}

/// Syncs the filesystem: returns how long it took, or that it cannot be done here. `None`: a signal ended the study
/// meanwhile.
pub(super) fn synced(
    study_run: &mut StudyRun<'_>,
    place: &TimedPlace,
    options: &TimeOptions,
    step: &Step,
) -> Option<Option<Duration>> {
    match run(study_run, place, &[], options, step) {
        Ok(ran) => Some(Some(ran?.0.own)),
        Err(_) => Some(None),
    }
}

/// Why a run does not count.
pub(super) fn failure(usage: &TreeUsage, printed: &CommandOutput, timeout: Duration) -> Option<String> {
    let said = last_line(printed).map(|line| format!(": {line}")).unwrap_or_default();
    match (usage.cut, usage.ended) {
        (Some(EndReason::Whole), _) => {
            Some(format!("it did not end within {} s (--timeout), and was ended{said}", timeout.as_secs_f64()))
        }
        (Some(EndReason::Asked), _) => Some("it was ended by a signal".to_owned()),
        (_, Some(Ended::Status(0))) => None,
        (_, Some(Ended::Status(status))) => Some(format!("exit status {status}{said}")),
        (_, Some(Ended::Signal(signal))) => Some(format!("ended by signal {signal}{said}")),
        (_, None) => Some("it is not known how it ended".to_owned()),
    }
}

/// The last line that the command printed, which mostly says why it failed.
fn last_line(printed: &CommandOutput) -> Option<String> {
    const COLUMNS: usize = 120;
    let end = if printed.tail.is_empty() { &printed.head } else { &printed.tail };
    let text = String::from_utf8_lossy(end);
    let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty())?;
    Some(line.chars().take(COLUMNS).collect())
}

/// Runs a command once and measures it; `None`: a signal ended the study meanwhile.
///
/// # Errors
/// When the command cannot be started.
pub(super) fn measured(
    study_run: &mut StudyRun<'_>,
    place: &TimedPlace,
    layers: &mut Layers,
    phase: &TimedCommand,
    options: &TimeOptions,
    step: &Step,
) -> Result<Option<TimedRun>, Problem> {
    let network_before = fsdyno_probe::network_bytes();
    let before = layers.look();
    let Some((usage, printed)) = run(study_run, place, &phase.words, options, step)? else { return Ok(None) };
    let ended = layers.look();
    let network = fsdyno_probe::network_bytes().zip(network_before);
    let Some(synced) = synced(study_run, place, options, step) else { return Ok(None) };
    let durable = layers.look();
    let failure = failure(&usage, &printed, options.timeout);
    let tree = TreeRecord {
        sync_ns: synced.map(ns),
        during: layers.traffic(&before, &ended),
        in_sync: layers.traffic(&ended, &durable),
        network_bytes: network
            .map(|(after, before)| after.zip(before).map(|(after, before)| after.saturating_sub(before))),
        printed: record_of(&printed, &fsdyno_job::bytes::shown(place.directory.path())),
        ..of_usage(&usage, layers.machine(&before, &ended))
    };
    let error = failure.map(|text| JobError { code: 0, function: phase.name.clone(), text });
    // Processes that the command left running belong to it, unless they had to be ended.
    let elapsed = if tree.left_ended { usage.own } else { usage.all };
    let phase = PhaseRecord {
        name: phase.name.clone(),
        operations: u64::from(error.is_none()),
        failures: u64::from(error.is_some()),
        error,
        threads: 1,
        bytes: None,
        elapsed_ns: ns(elapsed),
        cpu_ns: tree.user_ns + tree.system_ns,
        latency: Latency::default(),
        cache: None,
        conditions: None,
    };
    Ok(Some(TimedRun { phase, tree }))
}

fn ns(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

fn of_usage(usage: &TreeUsage, machine: TreeRecord) -> TreeRecord {
    let read_write = |[read, write]: [u64; 2]| ReadWrite { read, write };
    TreeRecord {
        own_ns: ns(usage.own),
        status: match usage.ended {
            Some(Ended::Status(status)) => Some(status),
            _ => None,
        },
        signal: match usage.ended {
            Some(Ended::Signal(signal)) => Some(signal),
            _ => None,
        },
        left_running: usage.left_running,
        left_names: usage.left_names.clone(),
        left_ended: usage.cut == Some(EndReason::LeftRunning),
        stuck: usage.stuck,
        user_ns: ns(usage.user),
        system_ns: ns(usage.system),
        memory_bytes: usage.memory_bytes,
        call_bytes: usage.io.map(|io| read_write(io.call_bytes)),
        storage_bytes: usage.io.map(|io| read_write(io.storage_bytes)),
        cancelled_bytes: usage.io.map(|io| io.cancelled_bytes),
        ..machine
    }
}

/// The record of the output, with `{}` in place of the directory: else the output would differ between places.
fn record_of(printed: &CommandOutput, directory: &str) -> PrintedRecord {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(directory, "{}");
    PrintedRecord { bytes: printed.bytes, head: text(&printed.head), tail: text(&printed.tail) }
}
