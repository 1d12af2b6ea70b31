//! What is asked of `time`.

use std::path::PathBuf;
use std::time::Duration;

/// What was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The commands, in their order; `{}` in a word stands for the directory.
    pub phases: Vec<TimedCommand>,
    /// How many rounds; an odd number above 1 is raised by one. `None`: a comparison's number, or its least with one
    /// place.
    pub rounds: Option<u32>,
    /// What each run begins with.
    pub start: Start,
    /// A line of the shell after each run.
    pub conclude: Option<String>,
    /// What the commands are, in words, where they are a recipe's.
    pub about: Option<String>,
    /// How long a command may take.
    pub timeout: Duration,
    /// Only a few variables of the environment are kept.
    pub clean_environment: bool,
    /// Where the command runs in memory.
    pub memory: Memory,
    /// The filesystem type that each target must be: `(name, type)`.
    pub expected: Vec<(String, String)>,
}

/// A command that is measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimedCommand {
    /// Its name in tables: `command`, `clone`.
    pub name: String,
    /// For people.
    pub title: String,
    /// Program and arguments, as texts of the job language.
    pub words: Vec<String>,
}

/// Where the command runs in memory, to see what storage has to do with its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Memory {
    /// In /dev/shm, where that is possible.
    Usual,
    /// In this directory.
    At(PathBuf),
    /// Nowhere.
    Nowhere,
}

/// What a run begins with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Start {
    /// A directory whose content is copied, or an archive that is unpacked.
    pub from: Option<PathBuf>,
    /// A line of the shell after that.
    pub prepare: Option<String>,
    /// The caches.
    pub cache: Cache,
}

/// The state of the caches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cache {
    /// As the preparation left them.
    #[default]
    AsPrepared,
    /// Without the data of the prepared files, as far as a user can arrange that.
    Cold,
    /// With the data of the prepared files.
    Warm,
    /// Without anything: those of the whole machine are dropped.
    Dropped,
}
