//! Removes a work directory on a thread, which is abandoned if the storage does not respond and nothing more is
//! removed; where no thread can be started, on the calling one.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use fsdyno_os::files::tree::TreeError;
use fsdyno_os::files::{Directory, FileCause, FileError, tree};
use fsdyno_run::{Bounds, Liveness, Silence, StallDetector};

use super::space::SpaceNeeds;
use super::{marker, reason};
use crate::Problem;

/// Stack of the thread, bytes: each level of a tree takes a frame.
const STACK_BYTES: usize = 512 * 1024;

/// Interval at which the count of removed files is read.
const LOOK: Duration = Duration::from_millis(100);

/// Removes a work directory. The marker goes last, so that an interrupted removal is still recognised. `lock` holds the
/// marker open; it is closed before the marker is removed, because NFS renames open files instead of removing them.
pub(super) fn remove<L: Send + 'static>(
    parent: &Arc<Directory>,
    name: &str,
    directory: &Arc<Directory>,
    lock: L,
    waits: Waits<'_>,
) -> Result<(), Problem> {
    let (held, from, name) = (Arc::clone(directory), Arc::clone(parent), name.to_owned());
    in_time(directory, waits, move |gone| remove_all(&from, &name, &held, lock, gone))
}

/// How long a removal waits for storage that does not answer, and the function that is called then.
pub(super) struct Waits<'a> {
    pub(super) silence: Silence,
    pub(super) told: &'a mut dyn FnMut(&str),
}

/// Removes the content of a directory but the marker.
pub(super) fn empty(directory: &Arc<Directory>, bounds: Bounds) -> Result<(), Problem> {
    let held = Arc::clone(directory);
    in_time(directory, Waits { silence: bounds.answer(), told: &mut |_| {} }, move |gone| {
        tree::empty(&held, &[marker::NAME], gone)
    })
}

/// Runs `work`, which counts removed files, and abandons it when the count stops growing.
fn in_time(
    directory: &Directory,
    waits: Waits<'_>,
    work: impl FnOnce(&AtomicU64) -> Result<(), TreeError> + Send + 'static,
) -> Result<(), Problem> {
    let gone = Arc::new(AtomicU64::new(0));
    let (sender, receiver) = channel();
    let (counter, work) = (Arc::clone(&gone), Arc::new(Mutex::new(Some(work))));
    let waiting = Arc::clone(&work);
    let by_hand = || by_hand(directory.path());
    let told =
        |outcome: Result<(), TreeError>| outcome.map_err(|error| Problem::new(sentence(&error)).with_next(by_hand()));
    let begun = fsdyno_os::thread::begin("removal", STACK_BYTES, move || {
        if let Some(work) = take_work(&waiting) {
            // The send fails if nobody waits any more.
            let _ = sender.send(work(&counter));
        }
    });
    if begun.is_err() {
        return take_work(&work).map_or(Ok(()), |work| told(work(&gone)));
    }
    let mut watched = StallDetector::default();
    let (shown, lost_s) = (directory.path().display(), waits.silence.lost_ns / 1_000_000_000);
    loop {
        let found = match receiver.recv_timeout(LOOK) {
            Ok(outcome) => return told(outcome),
            Err(RecvTimeoutError::Timeout) => {
                watched.look(LOOK.as_nanos() as u64, gone.load(Ordering::Relaxed), waits.silence)
            }
            Err(RecvTimeoutError::Disconnected) => Liveness::Lost(0),
        };
        match found {
            Liveness::Alive => {}
            Liveness::Silent(_) => {
                (waits.told)(&format!(
                    "{shown} is being removed, and its storage does not answer: it is left behind after {lost_s} s"
                ));
            }
            Liveness::Lost(_) => {
                let text = format!("cannot remove {shown}: no answer for {lost_s} s");
                return Err(Problem::new(text).with_next(by_hand()));
            }
        }
    }
}

/// Takes the work out of the cell, for the thread that does it.
fn take_work<W>(work: &Mutex<Option<W>>) -> Option<W> {
    work.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// The error as a sentence, without the advice that is for jobs.
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
    format!("remove it by hand, or run `fsdyno clean {}`", fsdyno_text::shell::path_as_typed(parent))
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
        // A file has appeared in it (NFS and FUSE keep open files under other names). The directory is still ours: mark
        // it again.
        let _ = marker::LockedMarker::make(directory, &marker::Marker::of_this_process(SpaceNeeds::default()));
    }
    removed
}

/// Removes the directory itself: by name, and only if the name still stands for the open directory. It is empty:
/// nothing can be lost if that changes in between.
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
    // Somebody moved our directory: what is at its path now is not ours.
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
        let mut said = String::new();
        let silence = Bounds::of_seconds(2).removal(true);
        let waits = Waits { silence, told: &mut |text| said.push_str(text) };
        let problem = in_time(&directory, waits, move |_| {
            // Blocks until the test releases it.
            let _ = hangs.recv();
            Ok(())
        });
        drop(release);
        assert!(problem.unwrap_err().what.ends_with("no answer for 2 s"));
        assert!(said.ends_with("it is left behind after 2 s"), "{said}");
    }
}
