//! `fsdyno time`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use fsdyno_guide::compare::expectation;
use fsdyno_guide::study::Place;
use fsdyno_guide::time::{Cache, Memory, Recipe, Start, TimeOptions, TimedCommand, time};

use fsdyno_results::Question;

use super::answer::{AskedQuestion, Shared, answer};
use crate::process::streams::refused;

/// How long a command takes on each of several storages, and how much of that time the storage decides.
#[derive(Debug, Args)]
pub(crate) struct Time {
    /// A directory on each storage, with a name if you like; the first is the baseline. A single place is possible,
    /// too.
    #[arg(required = true, value_name = "[NAME=]PLACE")]
    places: Vec<String>,
    /// The command, after `--`. It runs in a new directory on each place; `{}` and FSDYNO_DIR stand for that directory.
    #[arg(last = true, required_unless_present = "recipe", value_name = "COMMAND")]
    command: Vec<OsString>,
    /// Run typical work in phases: git, untar, copy, find, sqlite, build; or your own recipe, by its path.
    #[arg(long, value_name = "NAME|FILE", conflicts_with_all = ["command", "shell", "from", "prepare"])]
    recipe: Option<String>,
    /// The words after `--` are a line for the shell (sh).
    #[arg(long)]
    shell: bool,
    /// Begin each run with a copy of this directory, or with the files of this tar archive.
    #[arg(long, value_name = "DIR|TAR")]
    from: Option<PathBuf>,
    /// Before each run, drop the data of the prepared files from the cache; their names stay in it.
    #[arg(long, conflicts_with_all = ["warm", "drop_caches"])]
    cold: bool,
    /// Before each run, read the prepared files into the cache.
    #[arg(long, conflicts_with = "drop_caches")]
    warm: bool,
    /// Before each run, drop all caches of this machine, as root. This slows down other programs.
    #[arg(long)]
    drop_caches: bool,
    /// Number of rounds, even [default: 8; up to 12 with several places].
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: Option<u32>,
    /// End a run that takes longer than this, in seconds; the comparison ends with it.
    #[arg(long, value_name = "SECONDS", default_value_t = 3600.0, value_parser = seconds)]
    timeout: f64,
    /// A line for the shell before each run, not timed.
    #[arg(long, value_name = "LINE")]
    prepare: Option<String>,
    /// A line for the shell after each run, not timed.
    #[arg(long, value_name = "LINE")]
    conclude: Option<String>,
    /// Keep only PATH, LANG, LC_ALL, TZ and TERM of the environment.
    #[arg(long)]
    clean_env: bool,
    /// Also run the command in memory, in this directory; `none` leaves this out [default: /dev/shm].
    #[arg(long, value_name = "DIR")]
    memory: Option<PathBuf>,
    /// Refuse a path that is not on this type of filesystem: NAME=FSTYPE, such as nfs=nfs.
    #[arg(long, value_name = "NAME=FSTYPE", value_parser = expectation)]
    expect: Vec<(String, String)>,
    #[command(flatten)]
    shared: Shared,
}

/// Longest timeout, s: a month.
const SECONDS_MAX: f64 = 2_678_400.0;

fn seconds(text: &str) -> Result<f64, String> {
    let found = text.parse().ok().filter(|seconds: &f64| (0.1..=SECONDS_MAX).contains(seconds));
    found.ok_or_else(|| "write seconds, such as 60".to_owned())
}

impl Time {
    pub(crate) fn run(self, command: Vec<String>) -> ExitCode {
        let places: Vec<Place> = self.places.iter().map(|word| Place::parse(word)).collect();
        let asked = AskedQuestion::among(Question::Time, &places, &self.places, command);
        let cache = match (self.cold, self.warm, self.drop_caches) {
            (true, ..) => Cache::Cold,
            (_, true, _) => Cache::Warm,
            (.., true) => Cache::Dropped,
            _ => Cache::AsPrepared,
        };
        let recipe = match self.recipe.as_deref().map(Recipe::named).transpose() {
            Ok(recipe) => recipe,
            Err(problem) => return ExitCode::from(refused(&problem)),
        };
        let options = TimeOptions {
            phases: recipe.as_ref().map_or_else(|| vec![phase(&self.command, self.shell)], Recipe::phases),
            rounds: self.rounds,
            start: Start { from: self.from, prepare: recipe.as_ref().map_or(self.prepare, Recipe::prepare), cache },
            about: recipe.map(|recipe| recipe.about),
            conclude: self.conclude,
            timeout: Duration::from_secs_f64(self.timeout),
            clean_environment: self.clean_env,
            memory: match self.memory {
                None => Memory::Usual,
                Some(path) if path.as_os_str() == "none" => Memory::Nowhere,
                Some(path) => Memory::At(path),
            },
            expected: self.expect,
        };
        answer(&self.shared, asked, |caller| time(&places, &options, caller))
    }
}

/// The user's command as a phase.
fn phase(words: &[OsString], shell: bool) -> TimedCommand {
    let words: Vec<String> = words.iter().map(|word| fsdyno_job::bytes::shown(Path::new(word))).collect();
    let title = words.join(" ");
    let words = if shell { ["sh", "-c", &title].map(str::to_owned).to_vec() } else { words };
    TimedCommand { name: "command".to_owned(), title, words }
}
