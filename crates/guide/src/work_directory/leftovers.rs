//! Finds work directories of killed runs, and removes those that are certainly fsdyno's and not in use.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fsdyno_os::files::{Directory, EntryKind, FileCause, Lock, remove_old_drafts, tree, try_lock};
use fsdyno_run::Bounds;
use fsdyno_stats::sort;

use super::marker::{self, Marker};
use super::removal::Waits;
use super::{PREFIX, removal};
use crate::watch::SilentWatcher;
use crate::{Problem, Watcher};

/// What `clean` may remove.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CleanOptions {
    /// Only lists, removes nothing.
    pub only_look: bool,
    /// Also removes what other machines made, which they might still be using.
    pub others: bool,
    /// Also removes what belongs to other users.
    pub any_owner: bool,
    /// How long a removal waits for storage that does not answer.
    pub bounds: Bounds,
}

/// What `clean` found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cleaned {
    /// The directories.
    pub left: Vec<LeftoverDirectory>,
    /// Number of drafts of files that were never finished.
    pub drafts: u64,
}

/// A directory that a run left behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftoverDirectory {
    /// The directory's path.
    pub directory: PathBuf,
    /// Number of files and directories in it, and their bytes; `None`: it is not ours to look into.
    pub weight: Option<(u64, u64)>,
    /// What was done with it.
    pub outcome: Outcome,
}

/// What was done with a directory that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Removed.
    Removed,
    /// Only listed.
    Found,
    /// Its run goes on, or that is not known; left alone. The process number.
    InUse(u32),
    /// Another machine made it, and might still be using it; left alone.
    OtherHost(String),
    /// It belongs to this user; left alone.
    OtherOwner(u32),
    /// It has our name but not our marker; left alone.
    NotOurs,
    /// It could not be removed: the reason.
    Failed(String),
}

/// Finds what killed runs left directly below `path`, and removes it unless only listing was asked for. The watcher is
/// called with each path before a call that may block.
///
/// # Errors
/// When `path` cannot be read.
pub fn clean(path: &Path, options: CleanOptions, watcher: &mut dyn Watcher) -> Result<Cleaned, Problem> {
    watcher.looks(path);
    let found = clean_below(path, options, watcher);
    watcher.looked();
    found.map_err(|problem| problem.about(path))
}

/// Removes this work directory of a killed run; `None`: it does not exist.
pub fn remove_left(directory: &Path, bounds: Bounds) -> Option<Outcome> {
    let name = directory.file_name()?.to_str().filter(|name| name.starts_with(PREFIX))?;
    let parent = Arc::new(Directory::open(directory.parent()?).ok()?);
    parent.look(name.as_ref()).ok().filter(|entry| entry.kind == EntryKind::Directory)?;
    Some(clean_one(&parent, name, CleanOptions { bounds, ..CleanOptions::default() }, &mut SilentWatcher).1)
}

fn clean_below(path: &Path, options: CleanOptions, watcher: &mut dyn Watcher) -> Result<Cleaned, Problem> {
    let unreadable = |error: fsdyno_os::files::FileError| match error.cause {
        FileCause::Missing => Problem::new(format!("{} is no directory", path.display()))
            .with_next("name the directory that was measured"),
        _ => Problem::new(error.to_string()),
    };
    let parent = Arc::new(Directory::open(path).map_err(unreadable)?);
    let mut names = parent.names().map_err(unreadable)?;
    sort::by(&mut names, Ord::cmp);
    let mut left = Vec::new();
    for name in names.iter().filter_map(|name| name.to_str()).filter(|name| name.starts_with(PREFIX)) {
        if parent.look(name.as_ref()).is_ok_and(|entry| entry.kind == EntryKind::Directory) {
            watcher.looks(&path.join(name));
            let (weight, outcome) = clean_one(&parent, name, options, watcher);
            watcher.looks(path);
            left.push(LeftoverDirectory { directory: path.join(name), weight, outcome });
        }
    }
    // A draft never had its final name: nobody misses it.
    let drafts = remove_old_drafts(&parent, options.only_look);
    Ok(Cleaned { left, drafts })
}

fn clean_one(
    parent: &Arc<Directory>,
    name: &str,
    options: CleanOptions,
    watcher: &mut dyn Watcher,
) -> (Option<(u64, u64)>, Outcome) {
    let directory = match parent.enter(name.as_ref()) {
        Ok(directory) => Arc::new(directory),
        Err(error) => return (None, Outcome::Failed(error.to_string())),
    };
    let abandoned = match judge(&directory, options) {
        Ok(abandoned) => abandoned,
        Err(outcome) => return (None, outcome),
    };
    let weight = tree::tree_size(&directory).ok();
    if options.only_look {
        return (weight, Outcome::Found);
    }
    // The removal has its own time limit.
    watcher.looked();
    let waits = Waits { silence: options.bounds.answer(), told: &mut |_| {} };
    match removal::remove(parent, name, &directory, abandoned, waits) {
        Ok(()) => (weight, Outcome::Removed),
        Err(problem) => (weight, Outcome::Failed(problem.what)),
    }
}

/// A directory that may be removed; its marker, if it has one, stays locked until this is dropped.
#[derive(Debug)]
struct AbandonedDirectory(#[expect(dead_code, reason = "it holds the lock")] Option<File>);

/// Decides whether a directory is ours and its run has ended.
fn judge(directory: &Directory, options: CleanOptions) -> Result<AbandonedDirectory, Outcome> {
    let state = directory.state().map_err(|error| Outcome::Failed(error.to_string()))?;
    if state.owner != fsdyno_probe::user() && !options.any_owner {
        return Err(Outcome::OtherOwner(state.owner));
    }
    let (file, entry) = match directory.open_regular(marker::NAME) {
        Ok(found) => found,
        // The run was killed before it had marked its directory: an empty one holds nothing to lose.
        Err(error) if error.cause == FileCause::Missing && is_empty(directory, &[]) => {
            return Ok(AbandonedDirectory(None));
        }
        Err(_) => return Err(Outcome::NotOurs),
    };
    if entry.owner != state.owner || entry.names != 1 || entry.size_bytes > marker::BYTES_MAX {
        return Err(Outcome::NotOurs);
    }
    let lock = try_lock(&file);
    if lock != Lock::Held && entry.size_bytes == 0 && is_empty(directory, &[marker::NAME]) {
        return Ok(AbandonedDirectory(Some(file)));
    }
    let marker = Marker::read(&file).ok_or(Outcome::NotOurs)?;
    let here = fsdyno_probe::kernel();
    match lock {
        Lock::Held => Err(Outcome::InUse(marker.pid)),
        _ if same(&marker.boot, &here.boot) => match lock {
            Lock::Taken => Ok(AbandonedDirectory(Some(file))),
            _ if same(&marker.pid_namespace, &here.pid_namespace) && fsdyno_probe::runs(marker.pid) == Some(false) => {
                Ok(AbandonedDirectory(Some(file)))
            }
            _ => Err(Outcome::InUse(marker.pid)),
        },
        _ if options.others => Ok(AbandonedDirectory(Some(file))),
        // The same machine before its last reboot.
        Lock::Taken if same(&marker.machine, &here.machine) && marker.boot.is_some() && here.boot.is_some() => {
            Ok(AbandonedDirectory(Some(file)))
        }
        _ => Err(Outcome::OtherHost(marker.host)),
    }
}

/// Whether both are known and equal.
fn same<T: PartialEq>(one: &Option<T>, other: &Option<T>) -> bool {
    one.is_some() && one == other
}

fn is_empty(directory: &Directory, but: &[&str]) -> bool {
    directory.names().is_ok_and(|names| names.iter().all(|name| but.iter().any(|but| name == *but)))
}
