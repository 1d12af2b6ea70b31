//! Runs the binary, to its end or until it is stopped, and examines what is left.

use std::fs::File;
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// The short time limit of runs, in place of the half minute, s.
pub(crate) const HURRIED: u64 = 3;

/// A run of the binary.
pub(crate) struct Running {
    running: testkit::Running,
    /// The directory of its record and its study.
    kept: TempDir,
    /// Replaced in its messages.
    place: PathBuf,
}

impl Deref for Running {
    type Target = testkit::Running;

    fn deref(&self) -> &testkit::Running {
        &self.running
    }
}

impl DerefMut for Running {
    fn deref_mut(&mut self) -> &mut testkit::Running {
        &mut self.running
    }
}

/// The result of a run.
#[derive(Debug)]
pub(crate) struct RunResult {
    /// `128 + N`: killed by signal N.
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// The fio face's record, or the guided face's study.
    pub(crate) record: Option<Value>,
    place: PathBuf,
}

/// Starts the fio face in `place`; the record is saved elsewhere.
pub(crate) fn fio(place: &Path, words: &str) -> Running {
    start(place, words, "--record=record", |_| {})
}

/// The same with time limits of [`HURRIED`] seconds instead of thirty.
pub(crate) fn hurried(place: &Path, words: &str) -> Running {
    start(place, words, "--record=record", hurry)
}

/// Starts a short and small `measure`; the study is saved elsewhere.
pub(crate) fn measure(place: &Path) -> Running {
    ask(place, MEASURE)
}

/// The words of [`measure`].
pub(crate) const MEASURE: &str = "measure . --quick --size=16m";

/// Starts a question; the study is saved elsewhere.
pub(crate) fn ask(place: &Path, words: &str) -> Running {
    start(place, words, "--store=store", |_| {})
}

/// The same with time limits of [`HURRIED`] seconds.
pub(crate) fn ask_hurried(place: &Path, words: &str) -> Running {
    start(place, words, "--store=store", hurry)
}

fn hurry(command: &mut Command) {
    command.env("FSDYNO_PATIENCE", HURRIED.to_string());
}

/// Runs `clean`.
pub(crate) fn clean(place: &Path) -> RunResult {
    let mut command = Command::new(testkit::program());
    command.args(["clean", "."]);
    start_command(place, testkit::directory(), command).finish()
}

/// Starts the program with an option whose value is a path in the directory of records.
fn start(place: &Path, words: &str, option: &str, more: impl FnOnce(&mut Command)) -> Running {
    let kept = testkit::directory();
    let (name, file) = option.split_once('=').expect("an option with its value");
    let mut command = Command::new(testkit::program());
    command.args(words.split_whitespace()).arg(format!("{name}={}", kept.path().join(file).display()));
    more(&mut command);
    start_command(place, kept, command)
}

/// Starts any command that runs the binary in the end.
pub(crate) fn start_command(place: &Path, kept: TempDir, mut command: Command) -> Running {
    // Its messages are shown as on a terminal.
    command.env("FSDYNO_FINDINGS", "all");
    let running = testkit::Running::start(command.current_dir(place).stdin(Stdio::null()));
    Running { running, kept, place: place.to_owned() }
}

impl Running {
    /// Waits until the fio face's record was saved.
    pub(crate) fn wait_for_record(&mut self) {
        let record = self.kept.path().join("record");
        self.running.wait_until("a record", |_| record.exists());
    }

    /// Waits until the study was saved with a row that still runs.
    pub(crate) fn wait_for_running_row(&mut self) {
        let store = self.kept.path().join("store");
        self.running.wait_until("a study", |_| kept_in(&store).is_some_and(|study| has_running_row(&study)));
    }

    /// Waits for the end.
    #[track_caller]
    pub(crate) fn finish(self) -> RunResult {
        let (status, ran) = self.running.finish_with_signal();
        let record = std::fs::read_to_string(self.kept.path().join("record"));
        let record = record.ok().and_then(|record| serde_json::from_str(&record).ok());
        let record = kept_in(&self.kept.path().join("store")).or(record);
        RunResult { status, stdout: ran.stdout, stderr: ran.stderr, record, place: self.place }
    }
}

/// The study in a store, once it exists.
fn kept_in(store: &Path) -> Option<Value> {
    let mut entries = std::fs::read_dir(store).ok()?;
    let path = entries.find_map(|entry| Some(entry.ok()?.path()).filter(|path| path.extension().is_some()))?;
    serde_json::from_str(&std::fs::read_to_string(path).ok()?).ok()
}

/// Whether the last row of a study had not ended.
pub(crate) fn has_running_row(study: &Value) -> bool {
    study["rows"].as_array().and_then(|rows| rows.last()).is_some_and(|row| row["run"]["complete"] == false)
}

/// Reads and writes of a job.
fn ios_of(job: &Value) -> u64 {
    ["read", "write"].into_iter().filter_map(|direction| job["directions"][direction]["ios"].as_u64()).sum()
}

impl RunResult {
    /// The first line that contains `words`, without what differs from run to run.
    #[track_caller]
    pub(crate) fn message(&self, words: &str) -> String {
        let all = format!("{}\n{}", self.stderr, self.stdout);
        let line = all.lines().find(|line| line.contains(words)).unwrap_or_else(|| panic!("no `{words}` in\n{all}"));
        let place = self.place.display().to_string();
        let line = line.replace(&format!("{place}/"), "").replace(&place, ".");
        let line = replace_after(&line, "fsdyno-work-", "N", |letter| letter.is_ascii_alphanumeric() || letter == '-');
        let line = replace_after(&line, "process ", "N", |letter| letter.is_ascii_digit());
        line.trim().to_owned()
    }

    /// The first job or phase of the record that failed, or else the first: its error number, and its I/Os.
    pub(crate) fn job(&self) -> Option<(Option<i64>, u64)> {
        let record = self.record.as_ref()?;
        let phases: Vec<&Value> = record["rows"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|row| &row["phase"])
            .filter(|p| p.is_object())
            .collect();
        if let Some(phase) = phases.iter().find(|phase| !phase["error"].is_null()).or(phases.first()) {
            return Some((phase["error"]["code"].as_i64(), phase["operations"].as_u64().unwrap_or_default()));
        }
        let runs: Vec<&Value> = match record["rows"].as_array() {
            Some(rows) => rows.iter().map(|row| &row["run"]).collect(),
            None => vec![record],
        };
        let jobs: Vec<&Value> = runs.iter().filter_map(|run| run["jobs"].as_array()).flatten().collect();
        let job = jobs.iter().find(|job| !job["error"].is_null()).or(jobs.first())?;
        Some((job["error"]["code"].as_i64(), ios_of(job)))
    }

    /// The record in words for the table.
    pub(crate) fn partial_result(&self) -> String {
        let what =
            if self.record.as_ref().is_some_and(|record| record["rows"].is_array()) { "study" } else { "record" };
        match self.job() {
            None => "nothing".to_owned(),
            Some((None, _)) => format!("the {what}"),
            Some((Some(code), 0)) => format!("the {what}, with error {code}"),
            Some((Some(code), _)) => format!("the {what}, with the I/Os before it and error {code}"),
        }
    }
}

/// The text with the characters after each `mark` that belong to a changing word (`part`) replaced.
pub(crate) fn replace_after(text: &str, mark: &str, by: &str, part: impl Fn(char) -> bool) -> String {
    let mut pieces = text.split(mark);
    let mut result = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let rest = piece.trim_start_matches(&part);
        result.push_str(mark);
        result.push_str(if rest.len() < piece.len() { by } else { "" });
        result.push_str(rest);
    }
    result
}

/// A user's own files in the place, which must stay unchanged.
pub(crate) struct UserFiles {
    files: Vec<(PathBuf, Vec<u8>)>,
    place: PathBuf,
}

impl UserFiles {
    /// Makes the files.
    pub(crate) fn put(place: &Path) -> UserFiles {
        let folder = place.join("precious");
        std::fs::create_dir_all(&folder).expect("the place is writable");
        let files = [folder.join("letters"), place.join("fsdyno-work-notes")];
        let files = files.map(|path| (path, vec![0x5a; 100_000])).to_vec();
        for (path, content) in &files {
            std::fs::write(path, content).expect("the place is writable");
            File::open(path).and_then(|file| file.sync_all()).expect("it is on the disk");
        }
        UserFiles { files, place: place.to_owned() }
    }

    /// The other files in the place, in words for the table.
    #[track_caller]
    pub(crate) fn and_else(&self) -> String {
        for (path, content) in &self.files {
            assert!(&std::fs::read(path).expect("it is still there") == content, "{} was touched", path.display());
        }
        let entries = std::fs::read_dir(&self.place).expect("the place is readable");
        let mut names: Vec<String> =
            entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        names.retain(|name| !["precious", "fsdyno-work-notes", "lost+found"].contains(&name.as_str()));
        names.sort();
        let names: Vec<String> = names
            .iter()
            .map(|name| {
                replace_after(name, "fsdyno-work-", "N", |letter| letter.is_ascii_alphanumeric() || letter == '-')
            })
            .collect();
        if names.is_empty() { "nothing".to_owned() } else { format!("`{}`", names.join("`, `")) }
    }
}
