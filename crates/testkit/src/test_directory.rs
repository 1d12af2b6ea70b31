//! A directory, in which the program is run.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use fsdyno_results::Study;
use tempfile::TempDir;

use crate::{RunResult, Running, directory, program};

/// Words of a command line: one line split at blanks, or a list.
pub trait Words {
    /// The list of words.
    fn list(&self) -> Vec<OsString>;
}

impl Words for str {
    fn list(&self) -> Vec<OsString> {
        self.split_whitespace().map(OsString::from).collect()
    }
}

impl<W: Words + ?Sized> Words for &W {
    fn list(&self) -> Vec<OsString> {
        (*self).list()
    }
}

impl Words for String {
    fn list(&self) -> Vec<OsString> {
        self.as_str().list()
    }
}

impl<W: AsRef<std::ffi::OsStr>> Words for [W] {
    fn list(&self) -> Vec<OsString> {
        self.iter().map(|word| word.as_ref().to_owned()).collect()
    }
}

impl<W: AsRef<std::ffi::OsStr>> Words for Vec<W> {
    fn list(&self) -> Vec<OsString> {
        self.as_slice().list()
    }
}

impl<W: AsRef<std::ffi::OsStr>, const N: usize> Words for [W; N] {
    fn list(&self) -> Vec<OsString> {
        self.as_slice().list()
    }
}

/// A program in a directory, with its home and its store there.
fn command<W: Words + ?Sized>(directory: &Path, program: &str, words: &W) -> Command {
    let mut command = Command::new(program);
    command.args(words.list()).current_dir(directory).stdin(Stdio::null()).env("HOME", directory);
    command.env("XDG_DATA_HOME", directory.join("home")).env_remove("XDG_CONFIG_HOME");
    // Without the developer's own settings.
    for name in
        ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "FSDYNO_STORE", "FSDYNO_UNITS", "FSDYNO_PATTERNS", "FSDYNO_FINDINGS"]
    {
        command.env_remove(name);
    }
    // The tests themselves may be a step of a CI run.
    command.env_remove("GITHUB_STEP_SUMMARY");
    command
}

/// Starts the program under test in a directory that is not the test's own.
pub fn start<W: Words + ?Sized>(directory: &Path, words: &W) -> Running {
    Running::start(&mut command(directory, &program(), words))
}

/// Names of what is in a directory, sorted.
#[track_caller]
pub fn names(directory: &Path) -> Vec<String> {
    let entries = directory.read_dir().unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    let name = |entry: std::io::Result<std::fs::DirEntry>| entry.expect("an entry").file_name();
    let mut names: Vec<String> = entries.map(|entry| name(entry).to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// A directory of the test, on the disk that holds the build.
pub struct TestDirectory(TempDir);

impl Default for TestDirectory {
    fn default() -> TestDirectory {
        TestDirectory::new()
    }
}

impl TestDirectory {
    /// An empty one.
    pub fn new() -> TestDirectory {
        TestDirectory(directory())
    }

    /// One with these directories in it.
    pub fn with(directories: &[&str]) -> TestDirectory {
        let place = TestDirectory::new();
        for name in directories {
            std::fs::create_dir_all(place.path(name)).expect("a directory is made");
        }
        place
    }

    /// The path of a file in it; `""`: the directory itself.
    pub fn path(&self, name: &str) -> PathBuf {
        if name.is_empty() { self.0.path().to_owned() } else { self.0.path().join(name) }
    }

    /// The same as a word of a command line.
    pub fn word(&self, name: &str) -> String {
        crate::word(&self.path(name)).to_owned()
    }

    /// Makes a file.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), content).expect("a file is written");
    }

    /// The text of a file.
    #[track_caller]
    pub fn read(&self, name: &str) -> String {
        crate::text(&std::fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}")))
    }

    /// Names of what is in a directory of it, sorted.
    #[track_caller]
    pub fn names(&self, name: &str) -> Vec<String> {
        names(&self.path(name))
    }

    /// The studies in a store, oldest first.
    #[track_caller]
    pub fn studies(&self, store: &str) -> Vec<Study> {
        // A kill may leave a draft.
        let whole = self.names(store).into_iter().filter(|name| name.ends_with(".json"));
        whole.map(|name| Study::from_json(&self.read(&format!("{store}/{name}"))).expect("a study")).collect()
    }

    /// The command that runs the program here.
    pub fn command<W: Words + ?Sized>(&self, words: &W) -> Command {
        command(self.0.path(), &program(), words)
    }

    /// The command that runs any program here.
    pub fn program<W: Words + ?Sized>(&self, program: &str, words: &W) -> Command {
        command(self.0.path(), program, words)
    }

    /// Runs the program to its end.
    #[track_caller]
    pub fn run<W: Words + ?Sized>(&self, words: &W) -> RunResult {
        self.start(words).finish()
    }

    /// Starts the program.
    pub fn start<W: Words + ?Sized>(&self, words: &W) -> Running {
        Running::start(&mut self.command(words))
    }
}
