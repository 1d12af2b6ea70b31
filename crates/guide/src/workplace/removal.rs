//! Removing what is ours, and only that: a directory of our name with our marker, without following links and
//! without leaving its filesystem.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::{MARKER, Marker, NAME, boot, reason};
use crate::Problem;

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
/// other machines made.
///
/// # Errors
/// When `path` cannot be read.
pub fn clean(path: &Path, only_look: bool, others: bool) -> Result<Vec<Left>, Problem> {
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
        let (entries, bytes) = weigh(&directory);
        let outcome = match owner(&directory, others) {
            Err(outcome) => outcome,
            Ok(()) if only_look => Outcome::Found,
            Ok(()) => match remove(&directory) {
                Ok(()) => Outcome::Removed,
                Err(problem) => Outcome::Failed(problem.what),
            },
        };
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
    let alive = marker.boot == boot() && Path::new(&format!("/proc/{}", marker.pid)).exists();
    if alive && marker.pid != std::process::id() { Err(Outcome::InUse(marker.pid)) } else { Ok(()) }
}

/// Entries and bytes below a directory.
fn weigh(directory: &Path) -> (u64, u64) {
    let (mut entries, mut bytes) = (0, 0);
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let Ok(metadata) = entry.path().symlink_metadata() else { continue };
        entries += 1;
        bytes += metadata.blocks() * 512;
        if metadata.is_dir() {
            let (more_entries, more_bytes) = weigh(&entry.path());
            entries += more_entries;
            bytes += more_bytes;
        }
    }
    (entries, bytes)
}

/// Removes a work directory: the marker last, so that a removal cut short is still recognised.
pub(super) fn remove(directory: &Path) -> Result<(), Problem> {
    empty(directory, &[MARKER])?;
    let failed = |error: std::io::Error| {
        Problem::new(format!("cannot remove {}: {}", directory.display(), reason(&error)))
            .with_next(format!("remove it by hand, or run `fsdyno clean {}`", parent(directory).display()))
    };
    match fs::remove_file(directory.join(MARKER)) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(failed(error)),
        _ => {}
    }
    fs::remove_dir(directory).map_err(failed)
}

fn parent(directory: &Path) -> &Path {
    directory.parent().unwrap_or(directory)
}

/// Removes what is in a directory but the names to keep. Links are removed, not followed; a filesystem mounted
/// within is not entered.
pub(super) fn empty(directory: &Path, keep: &[&str]) -> Result<(), Problem> {
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
            empty(&place, &[])?;
            fs::remove_dir(&place).map_err(|error| failed(&place, &error))?;
        } else {
            return Err(Problem::new(format!("{} is another filesystem, which is left alone", place.display())));
        }
    }
    Ok(())
}
