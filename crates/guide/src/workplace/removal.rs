//! Removing what is ours, and only that: a directory of our name with our marker, without following links and
//! without leaving its filesystem. Storage that does not answer holds up nobody: a thread does it, and is left behind
//! when nothing goes any more.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use super::{MARKER, Marker, NAME, boot, reason};
use crate::{Problem, Watcher};

/// When nothing has gone for so long, the rest is left.
const PATIENCE: Duration = Duration::from_secs(30);

/// A directory that a run left behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// Where.
    pub directory: PathBuf,
    /// Files and directories in it.
    pub entries: u64,
    /// Bytes that they take.
    pub bytes: u64,
    /// What became of it.
    pub outcome: Outcome,
}

/// What became of a directory that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Removed.
    Removed,
    /// It was only looked for.
    Found,
    /// Its run goes on: left alone.
    InUse(u32),
    /// Another machine made it, and might still be using it: left alone.
    OtherHost(String),
    /// Has our name but not our marker: left alone.
    NotOurs,
    /// Could not be removed.
    Failed(String),
}

/// Finds what killed runs left directly under `path`, and removes it unless `only_look`. `others` also removes what
/// other machines made. The watcher is told what is looked at.
///
/// # Errors
/// When `path` cannot be read.
pub fn clean(path: &Path, only_look: bool, others: bool, watcher: &mut dyn Watcher) -> Result<Vec<Left>, Problem> {
    watcher.looks(path);
    let found = clean_below(path, only_look, others, watcher);
    watcher.looked();
    found
}

fn clean_below(path: &Path, only_look: bool, others: bool, watcher: &mut dyn Watcher) -> Result<Vec<Left>, Problem> {
    let unreadable =
        |error: std::io::Error| Problem::new(format!("cannot read {}: {}", path.display(), reason(&error)));
    let mut found = Vec::new();
    for entry in fs::read_dir(path).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let named = entry.file_name().to_str().is_some_and(|name| name.starts_with(NAME));
        if !named || !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        let directory = entry.path();
        let (entries, bytes) = weigh(&directory, watcher);
        let outcome = match owner(&directory, others) {
            Err(outcome) => outcome,
            Ok(()) if only_look => Outcome::Found,
            Ok(()) => {
                // It has a patience of its own.
                watcher.looked();
                match remove(&directory) {
                    Ok(()) => Outcome::Removed,
                    Err(problem) => Outcome::Failed(problem.what),
                }
            }
        };
        watcher.looks(path);
        found.push(Left { directory, entries, bytes, outcome });
    }
    found.sort_by(|one, other| one.directory.cmp(&other.directory));
    Ok(found)
}

/// Whether the directory may be removed: ours, and its maker gone.
fn owner(directory: &Path, others: bool) -> Result<(), Outcome> {
    let text = fs::read_to_string(directory.join(MARKER)).map_err(|_| Outcome::NotOurs)?;
    let marker: Marker = serde_json::from_str(&text).map_err(|_| Outcome::NotOurs)?;
    let here = probe::host_name().unwrap_or_default();
    if marker.host != here {
        return if others { Ok(()) } else { Err(Outcome::OtherHost(marker.host)) };
    }
    let alive = marker.boot == boot() && runs(marker.pid);
    if alive && marker.pid != std::process::id() { Err(Outcome::InUse(marker.pid)) } else { Ok(()) }
}

/// Whether the process exists and can still do anything: one that has ended may wait long for its parent to notice.
fn runs(pid: u32) -> bool {
    let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    // The name is in parentheses and may hold any character; the state follows it.
    let state = stat.rsplit_once(") ").map(|(_, rest)| rest.chars().next().unwrap_or(' '));
    !matches!(state, Some('Z' | 'X'))
}

/// Entries and bytes below a directory.
fn weigh(directory: &Path, watcher: &mut dyn Watcher) -> (u64, u64) {
    let (mut entries, mut bytes) = (0, 0);
    watcher.looks(directory);
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        watcher.looks(&entry.path());
        let Ok(metadata) = entry.path().symlink_metadata() else { continue };
        entries += 1;
        bytes += metadata.blocks() * 512;
        if metadata.is_dir() {
            let (more_entries, more_bytes) = weigh(&entry.path(), watcher);
            entries += more_entries;
            bytes += more_bytes;
        }
    }
    (entries, bytes)
}

/// Removes a work directory: the marker last, so that a removal cut short is still recognised.
pub(super) fn remove(directory: &Path) -> Result<(), Problem> {
    in_time(directory, remove_all)
}

/// Removes what is in a directory but the names to keep. Links are removed, not followed; a filesystem mounted
/// within is not entered.
pub(super) fn empty(directory: &Path, keep: &'static [&'static str]) -> Result<(), Problem> {
    in_time(directory, |directory, gone| empty_all(directory, keep, gone))
}

/// Does `work`, which counts what has gone, and gives up on it when that stands still.
fn in_time(
    directory: &Path,
    work: impl FnOnce(&Path, &AtomicU64) -> Result<(), Problem> + Send + 'static,
) -> Result<(), Problem> {
    let gone = Arc::new(AtomicU64::new(0));
    let (sender, receiver) = channel();
    let (place, counter) = (directory.to_owned(), Arc::clone(&gone));
    let thread = std::thread::Builder::new().name("removal".to_owned()).spawn(move || {
        // Nobody waits any more if this fails.
        let _ = sender.send(work(&place, &counter));
    });
    if let Err(error) = thread {
        return Err(Problem::new(format!("cannot start a thread: {}", reason(&error))).with_next(by_hand(directory)));
    }
    let mut before = 0;
    loop {
        match receiver.recv_timeout(PATIENCE) {
            Ok(outcome) => return outcome,
            Err(RecvTimeoutError::Timeout) if gone.load(Ordering::Relaxed) > before => {
                before = gone.load(Ordering::Relaxed);
            }
            Err(_) => {
                let seconds = PATIENCE.as_secs();
                let text = format!("cannot remove {}: no answer for {seconds} s", directory.display());
                return Err(Problem::new(text).with_next(by_hand(directory)));
            }
        }
    }
}

fn by_hand(directory: &Path) -> String {
    format!("remove it by hand, or run `fsdyno clean {}`", parent(directory).display())
}

fn remove_all(directory: &Path, gone: &AtomicU64) -> Result<(), Problem> {
    empty_all(directory, &[MARKER], gone)?;
    let failed = |error: std::io::Error| {
        Problem::new(format!("cannot remove {}: {}", directory.display(), reason(&error))).with_next(by_hand(directory))
    };
    let marker = fs::read(directory.join(MARKER)).ok();
    match fs::remove_file(directory.join(MARKER)) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(failed(error)),
        _ => {}
    }
    fs::remove_dir(directory).map_err(|error| {
        if let Some(marker) = marker {
            // Something has appeared in it: NFS and FUSE keep open files under other names. It is still ours.
            let _ = fs::write(directory.join(MARKER), marker);
        }
        failed(error)
    })
}

fn parent(directory: &Path) -> &Path {
    directory.parent().unwrap_or(directory)
}

fn empty_all(directory: &Path, keep: &[&str], gone: &AtomicU64) -> Result<(), Problem> {
    let failed = |place: &Path, error: &std::io::Error| {
        Problem::new(format!("cannot remove {}: {}", place.display(), reason(error)))
    };
    let device = directory.symlink_metadata().map_err(|error| failed(directory, &error))?.dev();
    for entry in fs::read_dir(directory).map_err(|error| failed(directory, &error))? {
        let entry = entry.map_err(|error| failed(directory, &error))?;
        if keep.iter().any(|name| entry.file_name() == *name) {
            continue;
        }
        let place = entry.path();
        let metadata = match place.symlink_metadata() {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(failed(&place, &error)),
        };
        if !metadata.is_dir() {
            fs::remove_file(&place).map_err(|error| failed(&place, &error))?;
        } else if metadata.dev() == device {
            empty_all(&place, &[], gone)?;
            fs::remove_dir(&place).map_err(|error| failed(&place, &error))?;
        } else {
            return Err(Problem::new(format!("{} is another filesystem, which is left alone", place.display())));
        }
        gone.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}
