//! Removing a work directory, on a thread that is abandoned if storage does not respond and nothing is removed any
//! more.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use engine::files::tree::TreeError;
use engine::files::{Directory, FileCause, FileError, tree};
use run::{Bounds, Found, StallDetector};

use super::space::SpaceNeeds;
use super::{marker, reason};
use crate::Problem;

/// Interval at which the count of removed files is read.
const LOOK: Duration = Duration::from_millis(100);

/// Removes a work directory: the marker last, so that an interrupted removal is still recognised. `lock` holds the
/// marker open and is closed before the marker is removed, as NFS renames a removed file that is open.
pub(super) fn remove<L: Send + 'static>(
    parent: &Arc<Directory>,
    name: &str,
    directory: &Arc<Directory>,
    lock: L,
    bounds: Bounds,
) -> Result<(), Problem> {
    let (held, from, name) = (Arc::clone(directory), Arc::clone(parent), name.to_owned());
    in_time(directory, bounds, move |gone| remove_all(&from, &name, &held, lock, gone))
}

/// Removes what is in a directory but the marker.
pub(super) fn empty(directory: &Arc<Directory>, bounds: Bounds) -> Result<(), Problem> {
    let held = Arc::clone(directory);
    in_time(directory, bounds, move |gone| tree::empty(&held, &[marker::NAME], gone))
}

/// Runs `work`, which counts what it has removed, and abandons it when the count does not grow.
fn in_time(
    directory: &Directory,
    bounds: Bounds,
    work: impl FnOnce(&AtomicU64) -> Result<(), TreeError> + Send + 'static,
) -> Result<(), Problem> {
    let gone = Arc::new(AtomicU64::new(0));
    let (sender, receiver) = channel();
    let counter = Arc::clone(&gone);
    let thread = std::thread::Builder::new().name("removal".to_owned()).spawn(move || {
        // Nobody waits any more if this fails.
        let _ = sender.send(work(&counter));
    });
    let by_hand = || by_hand(directory.path());
    if let Err(error) = thread {
        return Err(Problem::new(format!("cannot start a thread: {}", reason(&error))).with_next(by_hand()));
    }
    let mut watched = StallDetector::default();
    let is_lost = |found| matches!(found, Found::Lost(_));
    loop {
        match receiver.recv_timeout(LOOK) {
            Ok(outcome) => {
                return outcome.map_err(|error| Problem::new(sentence(&error)).with_next(by_hand()));
            }
            Err(RecvTimeoutError::Timeout)
                if !is_lost(watched.look(LOOK.as_nanos() as u64, gone.load(Ordering::Relaxed), bounds.answer())) => {}
            Err(_) => {
                let seconds = bounds.seconds();
                let text = format!("cannot remove {}: no answer for {seconds} s", directory.path().display());
                return Err(Problem::new(text).with_next(by_hand()));
            }
        }
    }
}

/// Without advice for jobs.
fn sentence(error: &TreeError) -> String {
    match error {
        TreeError::File(FileError { operation, path, code, .. }) => {
            format!("cannot {operation} {}: {}", path.display(), reason(&std::io::Error::from_raw_os_error(*code)))
        }
        error => error.to_string(),
    }
}

fn by_hand(directory: &Path) -> String {
    let parent = directory.parent().unwrap_or(directory);
    format!("remove it by hand, or run `fsdyno clean {}`", parent.display())
}

fn remove_all<L>(
    parent: &Directory,
    name: &str,
    directory: &Directory,
    lock: L,
    gone: &AtomicU64,
) -> Result<(), TreeError> {
    tree::empty(directory, &[marker::NAME], gone)?;
    drop(lock);
    match directory.remove(marker::NAME.as_ref()) {
        Err(error) if error.cause != FileCause::Missing => return Err(error.into()),
        _ => {}
    }
    let removed = remove_empty(parent, name, directory);
    if removed.is_err() {
        // Something has appeared in it: NFS and FUSE keep open files under other names. It is still ours.
        let _ = marker::LockedMarker::make(directory, &marker::Marker::of_this_process(SpaceNeeds::default()));
    }
    removed
}

/// Removes the directory itself: by name, and so only if the name stands for what is held. It is empty: nothing can be
/// lost if that changes in between.
fn remove_empty(parent: &Directory, name: &str, directory: &Directory) -> Result<(), TreeError> {
    let ours = directory.state()?;
    if ours.names == 0 {
        return Ok(());
    }
    let is_ours =
        |parent: &Directory, name: &Path| parent.look(name).is_ok_and(|entry| entry.identity == ours.identity);
    if is_ours(parent, name.as_ref()) {
        return Ok(parent.remove_directory(name.as_ref())?);
    }
    // Somebody moved it: what is at its path now is not ours.
    let moved = || TreeError::Moved(directory.path().display().to_string());
    let place = directory.current_path().ok_or_else(moved)?;
    let (Some(folder), Some(last)) = (place.parent(), place.file_name()) else { return Err(moved()) };
    let folder = Directory::open(folder).map_err(|_| moved())?;
    if is_ours(&folder, last.as_ref()) { Ok(folder.remove_directory(last.as_ref())?) } else { Err(moved()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_removal_that_stands_still_is_given_up_within_its_bounds() {
        let place = tempfile::tempdir().unwrap();
        let directory = Directory::open(place.path()).unwrap();
        let (release, hangs) = channel::<()>();
        let problem = in_time(&directory, Bounds::of_seconds(1), move |_| {
            // Until the test lets go.
            let _ = hangs.recv();
            Ok(())
        });
        drop(release);
        assert!(problem.unwrap_err().what.ends_with("no answer for 1 s"));
    }
}
