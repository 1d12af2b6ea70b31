//! Saved studies: one JSON file each, written whole or not at all, in one directory.

mod index;
mod list;

use std::cell::OnceCell;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use fsdyno_job::lookup::nearest;
use fsdyno_os::errno::reason;
use fsdyno_os::files::{
    Directory, Readers, SMALL_FILE_BYTES_MAX, WholeFile, make_private_directories, read_text, remove_old_drafts,
    unguessable, write_whole,
};
use fsdyno_results::{Digest, Question, Study};
use fsdyno_stats::sort;
use fsdyno_text::shell::{as_typed, word_as_typed};

use crate::Problem;

/// Largest saved run that is read, bytes: a run of fifty thousand jobs is smaller.
const RUN_BYTES_MAX: u64 = 512 << 20;

/// Most ids that a message names.
const NAMED_MAX: usize = 8;

/// Number of the latest fitting runs that are read to find one that satisfies a condition.
const LATEST_MAX: usize = 32;

/// A directory of saved studies.
#[derive(Clone, Debug)]
pub struct Store {
    directory: PathBuf,
    /// Whether the user named the directory, which further commands must name, too.
    is_chosen: bool,
    /// Is called for each file in it that is no study.
    warn: fn(&Problem),
    /// The directory's content once it was read: the file names, and the runs in brief, the oldest first.
    list: OnceCell<(Vec<String>, Vec<Digest>)>,
}

/// A unique name for a study that begins now; names sort by time.
pub fn new_id(question: Question, started_ms: u64) -> String {
    let salt = unguessable() & 0xffff;
    let when = jiff::Timestamp::from_millisecond(started_ms as i64).unwrap_or_default();
    let when = when.to_zoned(jiff::tz::TimeZone::UTC).strftime("%Y%m%d-%H%M%S").to_string();
    format!("{when}-{}-{salt:04x}", question.word())
}

impl Store {
    /// The store at this directory, or the user's: `$XDG_DATA_HOME/fsdyno` or `~/.local/share/fsdyno`, on Windows
    /// `%LOCALAPPDATA%\fsdyno`.
    ///
    /// # Errors
    /// When neither a directory nor a home is known.
    pub fn at(directory: Option<&Path>) -> Result<Store, Problem> {
        let (folder, is_chosen) = (fsdyno_probe::data_folder(), directory.is_some());
        let directory = directory.map(Path::to_path_buf).or_else(|| Some(folder.path?.join("fsdyno")));
        let directory = directory.ok_or_else(|| {
            Problem::new(format!("no directory for saved runs: neither {} is set", folder.variables))
                .with_next("choose one with --store DIR, or save nothing with --no-store")
        })?;
        Ok(Store { directory, is_chosen, warn: |_| (), list: OnceCell::new() })
    }

    /// The store with a function that is called for each file that is no saved run; without one such files are skipped
    /// silently.
    pub fn warning(self, warn: fn(&Problem)) -> Store {
        Store { warn, ..self }
    }

    /// The directory's path.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Checks that studies can be saved, before anything runs.
    ///
    /// # Errors
    /// When the directory cannot be made or written.
    pub fn check_writable(&self) -> Result<(), Problem> {
        // For the user alone: command lines and paths can be private.
        make_private_directories(&self.directory)
            .and_then(|()| WholeFile::claim(&self.baselines_file(), Readers::Owner))
            .map(|_| self.tidy())
            .map_err(|error| {
                Problem::new(format!("cannot save runs in {}: {}", self.directory.display(), reason(&error)))
                    .with_next("choose another directory with --store DIR, or save nothing with --no-store")
            })
    }

    /// Removes the drafts of runs that were killed while they saved.
    fn tidy(&self) {
        if let Ok(directory) = Directory::open(&self.directory) {
            remove_old_drafts(&directory, false);
        }
    }

    /// Saves a study; returns its file.
    ///
    /// # Errors
    /// When it cannot be written; the files stay as they were.
    pub fn save(&self, study: &Study) -> Result<PathBuf, Problem> {
        let path = self.path_of(&study.id);
        write_whole(&path, Readers::Owner, format!("{}\n", study.to_json()).as_bytes())
            .map_err(|error| Problem::new(format!("cannot save {}: {}", path.display(), reason(&error))))?;
        Ok(path)
    }

    fn path_of(&self, id: &str) -> PathBuf {
        self.directory.join(format!("{id}.json"))
    }

    fn list(&self) -> Result<&(Vec<String>, Vec<Digest>), Problem> {
        if self.list.get().is_none() {
            let listed = list::read(&self.directory, self.warn)?;
            let _ = self.list.set(listed.into_iter().map(|entry| (entry.name, entry.digest)).unzip());
        }
        Ok(self.list.get_or_init(Default::default))
    }

    /// All studies in brief, the oldest first. The directory is read once.
    ///
    /// # Errors
    /// When it exists but cannot be read.
    pub fn digests(&self) -> Result<&[Digest], Problem> {
        Ok(&self.list()?.1)
    }

    /// The same by value.
    ///
    /// # Errors
    /// See [`Store::digests`].
    pub fn into_digests(mut self) -> Result<Vec<Digest>, Problem> {
        self.list()?;
        Ok(self.list.take().unwrap_or_default().1)
    }

    /// The latest complete study of a question on these paths that satisfies `holds`. Files that cannot be read are
    /// skipped.
    pub fn latest(&self, question: Question, paths: &[String], holds: impl Fn(&Study) -> bool) -> Option<Study> {
        let (names, digests) = self.list().ok()?;
        let fits = |study: &Digest| {
            let about = study.targets.iter().map(|target| &target.path).eq(paths);
            study.complete && study.question == question && about
        };
        let fitting = names.iter().zip(digests).rev().filter(|(_, study)| fits(study)).take(LATEST_MAX);
        fitting.filter_map(|(name, _)| read(&self.directory.join(name)).ok()).find(holds)
    }

    /// Finds a study by a file, an id, the beginning of one, a baseline's name, `last`, `previous` or `last-2`.
    ///
    /// # Errors
    /// When nothing or several studies match.
    pub fn find(&self, word: &str) -> Result<Study, Problem> {
        let path = Path::new(word);
        if path.metadata().is_ok_and(|metadata| !metadata.is_dir()) {
            return read(path);
        }
        if !word.contains('/') && self.path_of(word).exists() {
            return read(&self.path_of(word));
        }
        let name = match self.known_baselines().get(word) {
            Some(id) => self.named(id)?,
            None => match before_last(word) {
                Some(before) => self.list()?.0.iter().nth_back(before).cloned(),
                None => self.named(word)?,
            },
        };
        read(&self.directory.join(name.ok_or_else(|| self.nothing(word))?))
    }

    /// The file whose name, or whose run's id, equals or begins with `word`; `None`: there is none.
    fn named(&self, word: &str) -> Result<Option<String>, Problem> {
        if self.path_of(word).exists() {
            return Ok(Some(format!("{word}.json")));
        }
        let names = list::names(&self.directory)?.into_iter().filter_map(|name| name.into_string().ok());
        let mut named: Vec<String> = names.filter(|name| name.starts_with(word)).collect();
        if named.is_empty() {
            // A file that was copied here may have any name.
            let (names, digests) = self.list()?;
            let begins = names.iter().zip(digests).filter(|(_, study)| study.id.starts_with(word));
            named.extend(begins.map(|(name, _)| name.clone()));
        }
        if named.len() <= 1 {
            return Ok(named.pop());
        }
        sort::by(&mut named, Ord::cmp);
        let ids: Vec<&str> = named.iter().take(NAMED_MAX).map(|name| name.trim_end_matches(".json")).collect();
        let more = named.len() - ids.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        Err(Problem::new(format!("{word} matches several runs: {}{more}", ids.join(", ")))
            .with_next("write more of the name"))
    }

    fn nothing(&self, word: &str) -> Problem {
        let directory = self.directory.display();
        // An empty list would not help.
        if word == "last" {
            return Problem::new(format!("no runs are saved in {directory}, or none that can be read"))
                .with_next("fsdyno measure .");
        }
        if before_last(word).is_some() {
            return Problem::new(format!("there is no run {word} in {directory}: fewer are saved"))
                .with_next(self.shows_all());
        }
        let problem = Problem::new(format!("no saved run {word} in {directory}, and no file of that name"));
        problem.with_meant(nearest(word, ["last", "previous"]), &self.shows_all())
    }

    fn shows_all(&self) -> String {
        let own = self.is_chosen.then(|| format!("--store={}", self.directory.display()));
        let words: Vec<String> = ["fsdyno".to_owned(), "runs".to_owned()].into_iter().chain(own).collect();
        format!("`{}` shows all", as_typed(&words))
    }

    /// Removes the runs of these names; returns their ids.
    ///
    /// # Errors
    /// When one is missing or has a baseline's name (nothing is removed then), or when one cannot be removed.
    pub fn remove(&self, words: &[String]) -> Result<Vec<String>, Problem> {
        let (mut files, baselines) = (Vec::new(), self.baselines()?);
        for word in words {
            let name = match before_last(word) {
                _ if word.contains('/') => None,
                Some(before) => self.list()?.0.iter().nth_back(before).cloned(),
                None => self.named(baselines.get(word).unwrap_or(word))?,
            };
            let name = name.ok_or_else(|| self.nothing(word))?;
            if !files.contains(&name) {
                files.push(name);
            }
        }
        let (names, digests) = self.list()?;
        let ids = files.iter().map(|file| {
            let known = names.iter().zip(digests).find(|(name, _)| *name == file);
            let id = known.map_or_else(|| file.trim_end_matches(".json").to_owned(), |(_, study)| study.id.clone());
            match baselines.iter().find(|(_, named)| **named == id) {
                None => Ok(id),
                Some((name, _)) => {
                    Err(Problem::new(format!("{id} is the baseline {name}, and nothing was removed")).with_next(
                        format!("give another run that name first: fsdyno baseline set {} RUN", word_as_typed(name)),
                    ))
                }
            }
        });
        let ids = ids.collect::<Result<Vec<String>, Problem>>()?;
        files.iter().try_for_each(|file| self.remove_file(file))?;
        Ok(ids)
    }

    /// Keeps the `latest` newest runs and all baselines, and removes the others. Returns the removed ids, then the names of
    /// the baselines that stay among the older runs.
    ///
    /// # Errors
    /// When the list of baselines cannot be read, or a run cannot be removed.
    pub fn keep(&self, latest: usize) -> Result<[Vec<String>; 2], Problem> {
        let ((names, digests), mut baselines) = (self.list()?, self.baselines()?);
        let older = &digests[..digests.len().saturating_sub(latest)];
        baselines.retain(|_, id| older.iter().any(|study| study.id == *id));
        let is_baseline = |study: &Digest| baselines.values().any(|id| *id == study.id);
        let runs = names.iter().zip(older).filter(|(_, study)| !is_baseline(study));
        let removed = runs.map(|(name, study)| self.remove_file(name).map(|()| study.id.clone()));
        Ok([removed.collect::<Result<_, Problem>>()?, baselines.into_keys().collect()])
    }

    fn remove_file(&self, name: &str) -> Result<(), Problem> {
        let directory = Directory::open(&self.directory);
        directory
            .and_then(|directory| directory.remove(Path::new(name)))
            .map_err(|error| Problem::new(format!("cannot remove {name} in {}: {error}", self.directory.display())))
    }

    fn baselines_file(&self) -> PathBuf {
        self.directory.join("baselines")
    }

    /// The baselines: names that were given to studies.
    ///
    /// # Errors
    /// When the list exists but cannot be read.
    pub fn baselines(&self) -> Result<std::collections::BTreeMap<String, String>, Problem> {
        let path = self.baselines_file();
        match read_text(&path, SMALL_FILE_BYTES_MAX) {
            Ok(text) => serde_json::from_str(&text)
                .map_err(|error| Problem::new(format!("{} is damaged: {error}", path.display()))),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Default::default()),
            Err(error) => Err(unreadable(&path, &error)),
        }
    }

    /// The same, with a warning where the list cannot be read.
    pub fn known_baselines(&self) -> std::collections::BTreeMap<String, String> {
        self.baselines().inspect_err(self.warn).unwrap_or_default()
    }

    /// Gives a study a name.
    ///
    /// # Errors
    /// When the list cannot be written.
    pub fn set_baseline(&self, name: &str, id: &str) -> Result<(), Problem> {
        let mut baselines = self.baselines()?;
        baselines.insert(name.to_string(), id.to_string());
        let text = serde_json::to_string_pretty(&baselines).unwrap_or_default();
        write_whole(&self.baselines_file(), Readers::Owner, text.as_bytes())
            .map_err(|error| Problem::new(format!("cannot save the baseline {name}: {}", reason(&error))))
    }
}

/// How many runs before the last one a word means: `last` (0), `previous` (1), `last-2` (2); `None`: it is no such
/// word.
pub fn before_last(word: &str) -> Option<usize> {
    match word {
        "last" => Some(0),
        "previous" => Some(1),
        word => word.strip_prefix("last-")?.parse().ok(),
    }
}

/// Reads a study, or a single run's record, from a file.
///
/// # Errors
/// When it cannot be read or is neither.
pub fn read(path: &Path) -> Result<Study, Problem> {
    let text = read_text(path, RUN_BYTES_MAX).map_err(|error| unreadable(path, &error))?;
    Study::from_json(&text).map_err(|error| Problem::new(format!("{}: {error}", path.display())).about(path))
}

fn unreadable(path: &Path, error: &std::io::Error) -> Problem {
    Problem::new(format!("cannot read {}: {}", path.display(), reason(error))).about(path)
}

#[cfg(test)]
mod tests;
