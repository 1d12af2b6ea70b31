//! The options of `time`.

use std::path::PathBuf;
use std::time::Duration;

/// The options of `time`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeOptions {
    /// The commands, in their order; `{}` in a word stands for the directory.
    pub phases: Vec<TimedCommand>,
    /// Number of rounds; an odd number above 1 is raised by one. `None`: as in a comparison, or its least number with
    /// one place.
    pub rounds: Option<u32>,
    /// The state that each run begins with.
    pub start: Start,
    /// A shell line that runs after each run.
    pub conclude: Option<String>,
    /// What the commands do, in words, if they come from a recipe.
    pub about: Option<String>,
    /// Time limit of a command.
    pub timeout: Duration,
    /// Whether the command gets only a few environment variables.
    pub clean_environment: bool,
    /// The directory in memory for the reference run.
    pub memory: Memory,
    /// The filesystem type that each target must have: `(name, type)`.
    pub expected: Vec<(String, String)>,
}

/// A command that is measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimedCommand {
    /// Its name in tables: `command`, `clone`.
    pub name: String,
    /// The title for people.
    pub title: String,
    /// Program and arguments, in the job language's text type.
    pub words: Vec<String>,
}

/// Where the command runs in memory, to show how much of its time is due to the storage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Memory {
    /// In /dev/shm, where that is possible.
    Usual,
    /// In this directory.
    At(PathBuf),
    /// Nowhere: no reference run.
    Nowhere,
}

/// The state that a run begins with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Start {
    /// A directory whose content is copied, or an archive that is unpacked.
    pub from: Option<PathBuf>,
    /// A shell line that runs after that.
    pub prepare: Option<String>,
    /// The state of the caches.
    pub cache: Cache,
}

/// The state of the caches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cache {
    /// As the preparation left them.
    #[default]
    AsPrepared,
    /// Without the data of the prepared files, as far as an ordinary user can arrange that.
    Cold,
    /// With the data of the prepared files.
    Warm,
    /// Empty: the caches of the whole machine are dropped.
    Dropped,
}
