//! Removes the content of an open directory. No other code of the program removes a tree.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Directory, EntryKind, FileAccess, FileCause, FileError, OpenFile, OpenMode};
use crate::errno;

/// Largest depth: trees of this program are far less deep. Each level needs a descriptor.
const DEPTH_MAX: u32 = 64;

/// How often the removal of an entry is repeated after somebody replaced it meanwhile.
const TRIES_MAX: u32 = 8;

/// Why a tree could not be removed completely.
#[derive(Debug, thiserror::Error)]
pub enum TreeError {
    /// An operation failed.
    #[error(transparent)]
    File(#[from] FileError),
    /// Another filesystem, or another part of this one, is mounted in it.
    #[error("{0} is another mount, and is not removed")]
    Mount(String),
    /// It was moved.
    #[error("another program moved {0}; its files are removed, but an empty directory remains at its new place")]
    Moved(String),
    /// It is deeper than any tree that this program makes.
    #[error("{0} is too deep, and is not removed")]
    Deep(String),
}

/// Removes all names of a directory except those in `keep`, and counts them in `gone`. Links are removed and not
/// followed. Mounts within the tree are left alone and reported at the end.
///
/// # Errors
/// The first name that could not be removed; all others were removed.
pub fn empty(directory: &Directory, keep: &[&str], gone: &AtomicU64) -> Result<(), TreeError> {
    empty_level(directory, keep, gone, 0)
}

/// Number of entries below a directory, then the bytes that they use. Mounts are not entered.
///
/// # Errors
/// If the directory cannot be read. Entries below that cannot be read do not count.
pub fn tree_size(directory: &Directory) -> Result<(u64, u64), FileError> {
    weigh_level(directory, 0)
}

fn weigh_level(directory: &Directory, depth: u32) -> Result<(u64, u64), FileError> {
    let (mut entries, mut bytes) = (0, 0);
    for name in directory.names()? {
        let name = Path::new(&name);
        let Ok(entry) = directory.look(name) else { continue };
        entries += 1;
        bytes += entry.allocated_bytes;
        if entry.kind == EntryKind::Directory && depth < DEPTH_MAX {
            let below = directory.enter(name).and_then(|below| weigh_level(&below, depth + 1)).unwrap_or_default();
            entries += below.0;
            bytes += below.1;
        }
    }
    Ok((entries, bytes))
}

/// Calls `visit` for every regular file below a directory. Links are not followed, mounts not entered.
///
/// # Errors
/// If a directory or file cannot be opened, or if `visit` fails.
pub fn each_file(directory: &Directory, visit: &mut Visit<'_>) -> Result<(), FileError> {
    visit_level(directory, visit, 0)
}

/// Called for each file.
pub type Visit<'a> = dyn FnMut(&OpenFile) -> Result<(), FileError> + 'a;

fn visit_level(directory: &Directory, visit: &mut Visit<'_>, depth: u32) -> Result<(), FileError> {
    for name in directory.names()? {
        let name = Path::new(&name);
        match directory.look(name)?.kind {
            EntryKind::Directory if depth < DEPTH_MAX => visit_level(&directory.enter(name)?, visit, depth + 1)?,
            EntryKind::Regular => {
                let mode = OpenMode::buffered(FileAccess::Read);
                visit(&directory.open_file(&directory.path().join(name), mode)?)?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn empty_level(directory: &Directory, keep: &[&str], gone: &AtomicU64, depth: u32) -> Result<(), TreeError> {
    if depth > DEPTH_MAX {
        return Err(TreeError::Deep(directory.path().display().to_string()));
    }
    let mut first_failure = None;
    for name in directory.names()? {
        if keep.iter().any(|kept| name == **kept) {
            continue;
        }
        match remove_entry(directory, Path::new(&name), gone, depth) {
            Ok(()) => drop(gone.fetch_add(1, Ordering::Relaxed)),
            Err(error) => drop(first_failure.get_or_insert(error)),
        }
    }
    first_failure.map_or(Ok(()), Err)
}

/// Removes the entry of this name, also if somebody replaces it meanwhile.
fn remove_entry(directory: &Directory, name: &Path, gone: &AtomicU64, depth: u32) -> Result<(), TreeError> {
    let mut outcome = Ok(());
    for _ in 0..TRIES_MAX {
        outcome = match directory.look(name) {
            Err(error) if error.cause == FileCause::Missing => return Ok(()),
            Err(error) => return Err(error.into()),
            Ok(entry) if entry.kind == EntryKind::Directory => remove_below(directory, name, gone, depth),
            Ok(_) => directory.remove(name).map_err(TreeError::from),
        };
        match &outcome {
            // It was a directory and is none any more, or the other way round; or something was added to it.
            Err(TreeError::File(error)) if exchanged(error.code) => {}
            _ => break,
        }
    }
    match outcome {
        Err(TreeError::File(error)) if error.cause == FileCause::Missing && error.code == errno::ENOENT => Ok(()),
        outcome => outcome,
    }
}

fn exchanged(code: i32) -> bool {
    matches!(code, errno::ENOTDIR | errno::EISDIR | errno::ELOOP | errno::ENOTEMPTY | errno::EEXIST)
}

fn remove_below(directory: &Directory, name: &Path, gone: &AtomicU64, depth: u32) -> Result<(), TreeError> {
    let below = match directory.enter(name) {
        Err(error) if error.code == errno::EXDEV => {
            return Err(TreeError::Mount(directory.path().join(name).display().to_string()));
        }
        below => below?,
    };
    empty_level(&below, &[], gone, depth + 1)?;
    drop(below);
    Ok(directory.remove_directory(name)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    /// A directory with a tree of this program and with foreign files.
    fn place() -> (tempfile::TempDir, Directory) {
        let place = tempfile::tempdir().unwrap();
        fs::create_dir_all(place.path().join("ours/a/b")).unwrap();
        fs::create_dir(place.path().join("theirs")).unwrap();
        fs::write(place.path().join("theirs/file"), "precious").unwrap();
        fs::write(place.path().join("ours/a/b/file"), "x").unwrap();
        fs::write(place.path().join("ours/kept"), "x").unwrap();
        let ours = Directory::open(&place.path().join("ours")).unwrap();
        (place, ours)
    }

    #[test]
    fn links_go_and_what_they_lead_to_stays() {
        let (place, ours) = place();
        symlink(place.path().join("theirs"), place.path().join("ours/way")).unwrap();
        symlink(place.path().join("theirs/file"), place.path().join("ours/a/link")).unwrap();
        assert_eq!(tree_size(&ours).unwrap().0, 6);
        let gone = AtomicU64::new(0);
        empty(&ours, &["kept"], &gone).unwrap();
        assert_eq!(ours.names().unwrap(), ["kept"]);
        assert_eq!(gone.into_inner(), 5);
        assert!(place.path().join("theirs/file").exists());
    }

    /// Ends the other thread even if an assertion fails, because the scope waits for it.
    struct EndsThread<'a>(&'a std::sync::atomic::AtomicBool);

    impl Drop for EndsThread<'_> {
        fn drop(&mut self) {
            self.0.store(true, std::sync::atomic::Ordering::Relaxed);
        }
    }

    /// Another process replaces a directory by a link to foreign files and back, as fast as it can.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test may panic where there is no thread")]
    fn an_exchange_during_the_removal_leads_nowhere() {
        let (place, ours) = place();
        let (target, way) = (place.path().join("theirs"), place.path().join("ours/swap"));
        let stop = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    let _ = fs::create_dir(&way);
                    let _ = fs::write(way.join("file"), "bait");
                    let _ = fs::remove_dir_all(&way);
                    let _ = symlink(&target, &way);
                    let _ = fs::remove_file(&way);
                }
            });
            let _ends = EndsThread(&stop);
            for _ in 0..300 {
                // Entries that appear after the names were read stay. The call may fail if an entry was replaced more
                // often than it was tried.
                let _ = empty(&ours, &[], &AtomicU64::new(0));
                assert_eq!(fs::read(target.join("file")).unwrap(), b"precious");
            }
        });
    }
}
