//! The binary, run to its end or stopped on the way, and what is left of it.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use engine::clock::{Clock, RealClock};
use serde_json::Value;

/// Longer than anything may take: the stated bound is a minute and a half.
const HANG_NS: u64 = 120_000_000_000;

/// Bounds of runs that have no half minutes, s.
pub(crate) const HURRIED: u64 = 3;

/// A run of the binary. Its words are on disk, so that nobody has to read pipes.
pub(crate) struct Running {
    child: Child,
    folder: tempfile::TempDir,
    /// Replaced in what it says.
    place: PathBuf,
}

/// What a run gave.
#[derive(Debug)]
pub(crate) struct Ran {
    /// `128 + N`: killed by signal N.
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// The fio face's record, or the guided face's study.
    pub(crate) record: Option<Value>,
    place: PathBuf,
}

/// fio's face, in `place`; the record is kept elsewhere.
pub(crate) fn fio(place: &Path, words: &str) -> Running {
    start(place, |folder| fio_words(folder, words))
}

fn fio_words(folder: &Path, words: &str) -> Vec<String> {
    let record = format!("--record={}", folder.join("record").display());
    words.split_whitespace().map(str::to_owned).chain([record]).collect()
}

/// The same with bounds of [`HURRIED`] seconds instead of thirty.
pub(crate) fn hurried(place: &Path, words: &str) -> Running {
    start_with(place, Some(HURRIED), |folder| fio_words(folder, words))
}

/// `measure`, quickly and on little; the study is kept elsewhere.
pub(crate) fn measure(place: &Path) -> Running {
    ask(place, MEASURE)
}

/// The words of [`measure`].
pub(crate) const MEASURE: &str = "measure . --quick --size=16m";

/// A question; the study is kept elsewhere.
pub(crate) fn ask(place: &Path, words: &str) -> Running {
    start(place, |folder| question_words(folder, words))
}

/// The same with bounds of [`HURRIED`] seconds.
pub(crate) fn ask_hurried(place: &Path, words: &str) -> Running {
    start_with(place, Some(HURRIED), |folder| question_words(folder, words))
}

fn question_words(folder: &Path, words: &str) -> Vec<String> {
    let store = folder.join("store").to_str().expect("plain names").to_owned();
    words.split_whitespace().map(str::to_owned).chain(["--store".to_owned(), store]).collect()
}

/// `clean`, and what it says.
pub(crate) fn clean(place: &Path) -> Ran {
    start(place, |_| ["clean", "."].map(str::to_owned).to_vec()).finish()
}

fn start(place: &Path, words: impl FnOnce(&Path) -> Vec<String>) -> Running {
    start_with(place, None, words)
}

/// `patience`: what stands for the half minute, s.
fn start_with(place: &Path, patience: Option<u64>, words: impl FnOnce(&Path) -> Vec<String>) -> Running {
    let folder = folder();
    let mut command = Command::new(env!("CARGO_BIN_EXE_fsdyno"));
    command.args(words(folder.path()));
    command.envs(patience.map(|seconds| ("FSDYNO_PATIENCE", seconds.to_string())));
    start_command(place, folder, command)
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("the build directory is writable")
}

/// Any command that runs the binary in the end.
pub(crate) fn start_command(place: &Path, folder: tempfile::TempDir, mut command: Command) -> Running {
    let file = |name| File::create(folder.path().join(name)).expect("a file is made");
    command.current_dir(place).stdin(Stdio::null()).stdout(file("stdout")).stderr(file("stderr"));
    let child = command.spawn().expect("the program starts");
    Running { child, folder, place: place.to_owned() }
}

impl Running {
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    fn text(&self, name: &str) -> String {
        let mut bytes = Vec::new();
        // Not there yet is nothing yet.
        let _ = File::open(self.folder.path().join(name)).and_then(|mut file| file.read_to_end(&mut bytes));
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// What it has said so far.
    pub(crate) fn said(&self) -> String {
        format!("{}{}", self.text("stdout"), self.text("stderr"))
    }

    /// Whether the fio face's record has been saved.
    pub(crate) fn has_record(&self) -> bool {
        self.folder.path().join("record").exists()
    }

    /// Whether the study has been saved with a row that still runs.
    pub(crate) fn has_running_row(&self) -> bool {
        kept_in(&self.folder.path().join("store")).is_some_and(|study| has_running_row(&study))
    }

    /// Waits until `reached`.
    #[track_caller]
    pub(crate) fn wait_until(&mut self, what: &str, mut reached: impl FnMut(&Running) -> bool) {
        wait(what, || {
            let over = self.child.try_wait().expect("the child can be waited for").is_some();
            let reached = reached(self);
            assert!(reached || !over, "it ended before {what}:\n{}", self.said());
            reached
        });
    }

    /// Sends a signal, such as `INT`.
    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([format!("-{name}"), self.pid().to_string()]).status();
        assert!(sent.expect("kill runs").success());
    }

    /// Waits for the end.
    #[track_caller]
    pub(crate) fn finish(mut self) -> Ran {
        let mut status = None;
        wait("end", || {
            status = self.child.try_wait().expect("the child can be waited for");
            status.is_some()
        });
        let status = status.expect("it has ended");
        let (stdout, stderr) = (self.text("stdout"), self.text("stderr"));
        assert!(!stderr.contains("panicked"), "{stderr}");
        let record = self.text("record");
        let study = kept_in(&self.folder.path().join("store"));
        let record = study.or_else(|| serde_json::from_str(&record).ok());
        let code = status.code().unwrap_or_else(|| {
            128 + std::os::unix::process::ExitStatusExt::signal(&status).expect("no status means a signal")
        });
        Ran { status: code, stdout, stderr, record, place: self.place.clone() }
    }
}

/// The study in a store, once it is there.
fn kept_in(store: &Path) -> Option<Value> {
    let mut entries = std::fs::read_dir(store).ok()?;
    let path = entries.find_map(|entry| Some(entry.ok()?.path()).filter(|path| path.extension().is_some()))?;
    serde_json::from_str(&std::fs::read_to_string(path).ok()?).ok()
}

/// Whether the last row of a study had not ended.
pub(crate) fn has_running_row(study: &Value) -> bool {
    study["rows"].as_array().and_then(|rows| rows.last()).is_some_and(|row| row["run"]["complete"] == false)
}

impl Drop for Running {
    fn drop(&mut self) {
        // After a failed assertion nothing goes on in the background; after a good end both calls do nothing.
        let _ = self.child.kill();
        let _ = self.child.try_wait();
    }
}

/// Waits in small steps, and not for ever.
#[track_caller]
pub(crate) fn wait(what: &str, mut reached: impl FnMut() -> bool) {
    let clock = RealClock::shared();
    let end_ns = clock.now_ns() + HANG_NS;
    while !reached() {
        assert!(clock.now_ns() < end_ns, "no {what}");
        clock.sleep_until_ns(clock.now_ns() + 5_000_000);
    }
}

impl Ran {
    /// The first line that holds `words`, without what differs from run to run.
    #[track_caller]
    pub(crate) fn told(&self, words: &str) -> String {
        let all = format!("{}\n{}", self.stderr, self.stdout);
        let line = all.lines().find(|line| line.contains(words)).unwrap_or_else(|| panic!("no `{words}` in\n{all}"));
        let place = self.place.display().to_string();
        let line = line.replace(&format!("{place}/"), "").replace(&place, ".");
        let line = replace_after(&line, "fsdyno-work-", "N", |letter| letter.is_ascii_alphanumeric() || letter == '-');
        let line = replace_after(&line, "process ", "N", |letter| letter.is_ascii_digit());
        line.trim().to_owned()
    }

    /// The first job or phase of the record that failed, or the first: its error's number, and the I/Os it did.
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
        let ios = ["read", "write"].map(|direction| job[direction]["ios"].as_u64().unwrap_or_default());
        Some((job["error"]["code"].as_i64(), ios[0] + ios[1]))
    }

    /// The record, in words for the table.
    pub(crate) fn kept(&self) -> String {
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

/// `text` with the letters after each `mark` that are `part` of a changing word replaced.
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

/// Somebody's own files in the place: they must be as they were.
pub(crate) struct Precious {
    files: Vec<(PathBuf, Vec<u8>)>,
    place: PathBuf,
}

impl Precious {
    /// Puts them there.
    pub(crate) fn put(place: &Path) -> Precious {
        let folder = place.join("precious");
        std::fs::create_dir_all(&folder).expect("the place is writable");
        let files = [folder.join("letters"), place.join("fsdyno-work-notes")];
        let files = files.map(|path| (path, vec![0x5a; 100_000])).to_vec();
        for (path, content) in &files {
            std::fs::write(path, content).expect("the place is writable");
            File::open(path).and_then(|file| file.sync_all()).expect("it is on the disk");
        }
        Precious { files, place: place.to_owned() }
    }

    /// What is there beside them, in words for the table.
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
