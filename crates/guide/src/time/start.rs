//! Prepares each run: a fresh directory with the same files, and the caches in the same state.

use fsdyno_os::files::tree::{each_file, tree_size};
use fsdyno_os::files::{Directory, FileError, OpenFile};
use fsdyno_results::evidence::StorageClass;

use super::Site;
use super::options::{Cache, Start, TimeOptions};
use super::run::{TimedPlace, words_of_shell};
use crate::Problem;
use crate::study::StudyRun;
use crate::watch::Step;

/// Bytes of each read that warms a file.
const CHUNK_BYTES: usize = 1 << 20;

/// Assumed ratio of the unpacked files to their archive.
const UNPACKED: u64 = 4;

impl Start {
    /// The space that the files take, bytes.
    ///
    /// # Errors
    /// When they do not exist.
    pub(super) fn need_bytes(&self) -> Result<u64, Problem> {
        let Some(from) = &self.from else { return Ok(0) };
        let unreadable = |reason: &dyn std::fmt::Display| {
            Problem::new(format!("cannot read {}: {reason}", from.display()))
                .with_next("name a directory or a tar archive with --from")
        };
        if from.is_dir() {
            let directory = Directory::open(from).map_err(|error| unreadable(&error))?;
            return tree_size(&directory).map(|(_, bytes)| bytes).map_err(|error| unreadable(&error));
        }
        let file = std::fs::metadata(from).map_err(|error| unreadable(&error))?;
        Ok(file.len().saturating_mul(UNPACKED))
    }

    /// The command that copies or unpacks the files into the directory in which it runs. It never shares blocks
    /// (reflinks): there would be nothing to read. The files belong to the user: git distrusts the files of others, and
    /// servers that squash root refuse chown.
    fn words(&self) -> Option<Vec<String>> {
        let from = self.from.as_ref()?;
        let path = fsdyno_job::bytes::shown(&std::path::absolute(from).unwrap_or_else(|_| from.clone()));
        let words: &[&str] = if from.is_dir() {
            &["cp", "-dR", "--preserve=mode,timestamps,links", "--reflink=never", "--", &format!("{path}/."), "."]
        } else {
            &["tar", "--no-same-owner", "-xf", &path]
        };
        Some(words.iter().map(|word| (*word).to_owned()).collect())
    }
}

/// Makes an empty directory with the files that a run begins with.
pub(super) fn begin(
    study_run: &mut StudyRun<'_>,
    site: &Site,
    options: &TimeOptions,
    step: &Step,
) -> Result<TimedPlace, Problem> {
    let work = &site.work;
    study_run.empty(work)?;
    let make = |name: &str| work.open_directory().make(name).map_err(|error| Problem::new(error.to_string()));
    let place = TimedPlace { directory: make("run")?, home: make("home")?, temporary: make("tmp")?, class: site.class };
    if let Some(words) = options.start.words() {
        unmeasured(study_run, &place, &words, options, step, "bringing the files of --from there")?;
    }
    if let Some(line) = &options.start.prepare {
        unmeasured(study_run, &place, &words_of_shell(line), options, step, "--prepare")?;
    }
    Ok(place)
}

/// Runs the line that follows each run.
pub(super) fn conclude(
    study_run: &mut StudyRun<'_>,
    place: &TimedPlace,
    options: &TimeOptions,
    step: &Step,
) -> Result<(), Problem> {
    match &options.conclude {
        Some(line) => unmeasured(study_run, place, &words_of_shell(line), options, step, "--conclude"),
        None => Ok(()),
    }
}

fn unmeasured(
    study_run: &mut StudyRun<'_>,
    place: &TimedPlace,
    words: &[String],
    options: &TimeOptions,
    step: &Step,
    what: &str,
) -> Result<(), Problem> {
    let Some(ran) = super::run::run(study_run, place, words, options, step)? else { return Ok(()) };
    match super::run::failure(&ran.0, &ran.1, options.timeout) {
        Some(why) => Err(Problem::new(format!("{what} failed on {}: {why}", step.target))),
        None => Ok(()),
    }
}

/// Makes all data durable and sets the state of the caches; returns the state in words. `None`: a signal stopped it.
pub(super) fn arrange(
    study_run: &mut StudyRun<'_>,
    place: &TimedPlace,
    options: &TimeOptions,
    step: &Step,
) -> Result<Option<String>, Problem> {
    if study_run.stopped() {
        return Ok(None);
    }
    // Dirty pages cannot be dropped, and would be written while the command runs.
    if super::run::synced(study_run, place, options, step).is_none() {
        return Ok(None);
    }
    let mut chunk = vec![0; CHUNK_BYTES];
    let watcher = &mut study_run.watcher;
    // The time limit for an answer applies to each file.
    let state = match options.start.cache {
        Cache::AsPrepared => Ok("as prepared"),
        Cache::Cold => each_file(&place.directory, &mut |file| {
            watcher.looks(&file.path());
            file.drop_cache(0, 0)
        })
        .map(|()| match place.class {
            // The server or host has these data in its own cache, which was just filled.
            StorageClass::Network | StorageClass::HostShare => "client data cold, names warm",
            StorageClass::Fuse => "kernel data cold, names warm",
            _ => "data cold, names warm",
        }),
        Cache::Warm => each_file(&place.directory, &mut |file| {
            watcher.looks(&file.path());
            read(file, &mut chunk)
        })
        .map(|()| "warm"),
        Cache::Dropped => return dropped(place, study_run),
    };
    study_run.watcher.looked();
    state.map(|state| Some(state.to_owned())).map_err(|error| {
        Problem::new(format!("the caches cannot be arranged on {}: {error}", step.target))
            .with_next("leave out --cold and --warm")
    })
}

fn read(file: &OpenFile, chunk: &mut [u8]) -> Result<(), FileError> {
    let mut offset = 0;
    loop {
        match file.read_full_at(chunk, offset)? {
            count if count == chunk.len() => offset += count as u64,
            _ => return Ok(()),
        }
    }
}

fn dropped(place: &TimedPlace, study_run: &mut StudyRun<'_>) -> Result<Option<String>, Problem> {
    let done = fsdyno_os::caches::drop_all(&place.directory);
    study_run.watcher.looked();
    let state = match place.class {
        StorageClass::Network | StorageClass::HostShare => "client caches dropped",
        StorageClass::Fuse => "kernel caches dropped",
        _ => "all caches dropped",
    };
    done.map(|()| Some(state.to_owned())).map_err(|error| {
        Problem::new(format!("--drop-caches cannot write {}: {error}", fsdyno_os::caches::SWITCH))
            .with_next("run as root of the machine (not of a container), or use --cold")
    })
}
