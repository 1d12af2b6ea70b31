//! Saved studies: one JSON file each, written whole or not at all, in one directory.

use std::fs;
use std::path::{Path, PathBuf};

use engine::files::{
    Directory, Readers, WholeFile, make_private_directories, remove_old_drafts, unguessable, write_whole,
};
use results::{Question, Study, sort};

use crate::Problem;
use crate::work_directory::reason;

/// A directory of studies.
#[derive(Clone, Debug)]
pub struct Store {
    directory: PathBuf,
}

/// A unique name for a study that begins now, sortable by time.
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
        let folder = probe::data_folder();
        let directory = directory.map(Path::to_path_buf).or_else(|| Some(folder.path?.join("fsdyno")));
        let directory = directory.ok_or_else(|| {
            Problem::new(format!("no directory for saved runs: neither {} is set", folder.variables))
                .with_next("choose one with --store DIR, or save nothing with --no-store")
        })?;
        Ok(Store { directory })
    }

    /// Where it is.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Checks that studies can be saved, before anything runs.
    ///
    /// # Errors
    /// When the directory cannot be made or written.
    pub fn check_writable(&self) -> Result<(), Problem> {
        // For the user alone: command lines and paths tell things about a machine.
        make_private_directories(&self.directory)
            .and_then(|()| WholeFile::claim(&self.baselines_file(), Readers::Owner))
            .map(|_| self.tidy())
            .map_err(|error| {
                Problem::new(format!("cannot save runs in {}: {}", self.directory.display(), reason(&error)))
                    .with_next("choose another directory with --store DIR, or save nothing with --no-store")
            })
    }

    /// Drafts of runs that were killed while they saved.
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

    /// All studies, the oldest first, with the files that are none.
    ///
    /// # Errors
    /// When the directory is there but cannot be read.
    pub fn studies(&self) -> Result<(Vec<Study>, Vec<Problem>), Problem> {
        let entries = match fs::read_dir(&self.directory) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok((Vec::new(), Vec::new())),
            Err(error) => {
                return Err(Problem::new(format!("cannot read {}: {}", self.directory.display(), reason(&error))));
            }
        };
        let (mut studies, mut problems) = (Vec::new(), Vec::new());
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.extension().is_none_or(|extension| extension != "json") {
                continue;
            }
            match read(&path) {
                Ok(study) => studies.push(study),
                Err(problem) => problems.push(problem),
            }
        }
        sort::by(&mut studies, |one, other| (one.started_ms, &one.id).cmp(&(other.started_ms, &other.id)));
        Ok((studies, problems))
    }

    /// The latest whole study of a question for which this holds. Files that cannot be read are passed over.
    pub fn latest(&self, question: Question, holds: impl Fn(&Study) -> bool) -> Option<Study> {
        let word = format!("-{}-", question.word());
        let entries = fs::read_dir(&self.directory).ok()?.flatten().map(|entry| entry.path());
        let named = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            name.ends_with(".json") && name.contains(&word)
        };
        let mut paths: Vec<PathBuf> = entries.filter(named).collect();
        // Names begin with the time.
        sort::by(&mut paths, Ord::cmp);
        let whole = |study: &Study| study.complete && study.question == question;
        paths.iter().rev().filter_map(|path| read(path).ok()).find(|study| whole(study) && holds(study))
    }

    /// The study of a name: a file, an id, the beginning of one, a baseline's name, or `last`.
    ///
    /// # Errors
    /// When nothing or several things match.
    pub fn find(&self, word: &str) -> Result<Study, Problem> {
        let path = Path::new(word);
        if path.is_file() {
            return read(path);
        }
        let exact = self.path_of(word);
        if !word.contains('/') && exact.is_file() {
            return read(&exact);
        }
        if let Some(id) = self.baselines()?.get(word) {
            return read(&self.path_of(id));
        }
        let (mut studies, _) = self.studies()?;
        if word == "last" {
            return studies.pop().ok_or_else(|| self.nothing(word));
        }
        studies.retain(|study| study.id.starts_with(word));
        match studies.len() {
            1 => Ok(studies.remove(0)),
            0 => Err(self.nothing(word)),
            _ => {
                let ids: Vec<&str> = studies.iter().map(|study| study.id.as_str()).collect();
                Err(Problem::new(format!("{word} matches several runs: {}", ids.join(", ")))
                    .with_next("write more of the name"))
            }
        }
    }

    fn nothing(&self, word: &str) -> Problem {
        let directory = self.directory.display();
        // A list of none helps nobody on.
        if word == "last" {
            return Problem::new(format!("no runs are saved in {directory}, or none that can be read"))
                .with_next("fsdyno measure .");
        }
        Problem::new(format!("no saved run {word} in {directory}, and no file of that name"))
            .with_next("list saved runs with `fsdyno runs`")
    }

    fn baselines_file(&self) -> PathBuf {
        self.directory.join("baselines")
    }

    /// Names that were given to studies.
    ///
    /// # Errors
    /// When the list is there but cannot be read.
    pub fn baselines(&self) -> Result<std::collections::BTreeMap<String, String>, Problem> {
        let path = self.baselines_file();
        match fs::read_to_string(&path) {
            Ok(text) => serde_json::from_str(&text)
                .map_err(|error| Problem::new(format!("{} is damaged: {error}", path.display()))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Default::default()),
            Err(error) => Err(Problem::new(format!("cannot read {}: {}", path.display(), reason(&error)))),
        }
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

/// Reads a study, or a single run's record, from a file.
///
/// # Errors
/// When it cannot be read or is neither.
pub fn read(path: &Path) -> Result<Study, Problem> {
    let text = fs::read_to_string(path)
        .map_err(|error| Problem::new(format!("cannot read {}: {}", path.display(), reason(&error))))?;
    Study::from_json(&text).map_err(|error| Problem::new(format!("{}: {error}", path.display())))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn study(id: &str, started_ms: u64) -> Study {
        let mut study = Study::of_run(results::RunRecord::new("fio-3.42-test", started_ms));
        study.id = id.to_string();
        study
    }

    #[test]
    fn what_is_kept_is_found_by_id_beginning_file_name_and_age() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(Some(&folder.path().join("new/store"))).unwrap();
        store.check_writable().unwrap();
        assert_eq!(store.find("last").unwrap_err().next.as_deref(), Some("fsdyno measure ."));
        let path = store.save(&study("20261101-a", 1)).unwrap();
        store.save(&study("20261102-b", 2)).unwrap();
        store.set_baseline("good", "20261101-a").unwrap();
        for word in ["20261101-a", "20261101", path.to_str().unwrap(), "good"] {
            assert_eq!(store.find(word).unwrap().id, "20261101-a", "{word}");
        }
        assert_eq!(store.find("last").unwrap().id, "20261102-b");
        assert!(store.find("202611").unwrap_err().what.contains("matches several runs: 20261101-a, 20261102-b"));
        assert!(store.find("x").unwrap_err().what.contains("no saved run x"));
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!([mode(store.directory()), mode(&folder.path().join("new")), mode(&path)], [0o700, 0o700, 0o600]);
        assert_eq!(mode(&store.baselines_file()), 0o600);
        let left: Vec<_> = fs::read_dir(store.directory()).unwrap().collect();
        assert_eq!(left.len(), 3, "no draft and no probe is left");
    }

    #[test]
    fn the_latest_of_a_question_is_the_latest_that_was_finished() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(Some(folder.path())).unwrap();
        assert!(store.latest(Question::Compare, |_| true).is_none());
        for (id, complete) in [("2026-compare-1", true), ("2027-compare-2", true), ("2028-compare-3", false)] {
            let mut study = study(id, 1);
            (study.question, study.complete) = (Question::Compare, complete);
            store.save(&study).unwrap();
        }
        fs::write(folder.path().join("2029-compare-4.json"), "{").unwrap();
        assert_eq!(store.latest(Question::Compare, |_| true).unwrap().id, "2027-compare-2");
        assert_eq!(store.latest(Question::Compare, |study| study.id.starts_with("2026")).unwrap().id, "2026-compare-1");
        assert!(store.latest(Question::Measure, |_| true).is_none());
    }

    #[test]
    fn a_damaged_file_hides_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(Some(folder.path())).unwrap();
        store.save(&study("good", 1)).unwrap();
        fs::write(folder.path().join("bad.json"), "{").unwrap();
        let (studies, problems) = store.studies().unwrap();
        assert_eq!((studies.len(), problems.len()), (1, 1));
    }

    #[test]
    fn ids_sort_by_time() {
        let id = new_id(Question::Measure, 1_763_726_400_000);
        assert!(id.starts_with("20251121-120000-measure-"), "{id}");
        assert_eq!(id.len(), "20251121-120000-measure-ffff".len());
    }
}
