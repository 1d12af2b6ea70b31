//! The work directory of a question, below the path that was given. The question writes only in it; it is removed when
//! the question ends, also by an error or a signal, and [`clean`] finds those of killed runs.
//!
//! It is accessed through its descriptor from the moment it is made: if its path is replaced later, the replacement is
//! not touched.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use fsdyno_os::errno;
use fsdyno_os::files::{Directory, Reach, unguessable};
use fsdyno_probe::{FileKind, PathFacts};
use fsdyno_run::{Bounds, Control};
use fsdyno_text::shell::path_as_typed;

use crate::Problem;

mod leftovers;
pub(crate) mod marker;
mod removal;
mod space;

pub use fsdyno_os::errno::reason;
pub use leftovers::{CleanOptions, Cleaned, LeftoverDirectory, Outcome, clean, remove_left};
pub use space::{SpaceNeeds, is_nearly_full, usable_bytes};

use marker::{LockedMarker, Marker};
use removal::Waits;
use space::Guard;

/// What happens to a work directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// It is about to be made.
    Made,
    /// It was removed, or is left on purpose.
    Gone,
}

/// Is called for each work directory.
static LISTENER: OnceLock<fn(Stage, &Path)> = OnceLock::new();

/// Sets the function that is called for each work directory; it lets a caller remove those that this process leaves.
pub fn announce_to(listener: fn(Stage, &Path)) {
    let _ = LISTENER.set(listener);
}

fn announce(stage: Stage, directory: &Path) {
    LISTENER.get().inspect(|listener| listener(stage, directory));
}

/// The first part of the directories' names.
pub(crate) const PREFIX: &str = "fsdyno-work-";

/// Whether a work directory can be below this path at all, by a look at it: it is a directory.
///
/// # Errors
/// When it is not.
pub fn check_path(path: &Path) -> Result<(), Problem> {
    check_place(path, &fsdyno_probe::path_facts(path)).map_err(|problem| problem.about(path))
}

/// A work directory.
#[derive(Debug)]
pub struct WorkDirectory {
    parent: Arc<Directory>,
    name: String,
    directory: Arc<Directory>,
    /// The locked marker; `None` once the directory is abandoned.
    held: Option<LockedMarker>,
    marker: Mutex<Marker>,
    guard: Guard,
    bounds: Bounds,
    /// The number of ranks that write in it, each the same amount.
    ranks: u32,
}

impl WorkDirectory {
    /// Makes the directory under `path`, which must be a writable directory, on the filesystem type that the user
    /// expects (if any), with enough space that the filesystem stays below 90 %. If the filesystem fills up during the
    /// run, `control` stops the study.
    ///
    /// # Errors
    /// When one of these conditions is not met; nothing has been written then.
    pub fn open(
        path: &Path,
        expected: Option<&str>,
        need: SpaceNeeds,
        control: &Arc<Control>,
    ) -> Result<WorkDirectory, Problem> {
        WorkDirectory::make_below(path, expected, need, control).map_err(|problem| problem.about(path))
    }

    fn make_below(
        path: &Path,
        expected: Option<&str>,
        need: SpaceNeeds,
        control: &Arc<Control>,
    ) -> Result<WorkDirectory, Problem> {
        let need = need.times(control.ranks());
        let facts = fsdyno_probe::path_facts(path);
        check_place(path, &facts)?;
        if let Some(expected) = expected {
            check_type(path, &facts, expected)?;
        }
        let parent = Directory::open(path).map_err(|error| cannot_write(path, error.code))?;
        space::check(&parent, path, need, None)?;
        WorkDirectory::make(Arc::new(parent), need, control)
    }

    fn make(parent: Arc<Directory>, need: SpaceNeeds, control: &Arc<Control>) -> Result<WorkDirectory, Problem> {
        let path = parent.path().to_owned();
        let marker = Marker::of_this_process(need);
        let name = format!("{PREFIX}{}-{:x}-{:08x}", marker.pid, marker.made_ms, unguessable() as u32);
        announce(Stage::Made, &path.join(&name));
        let directory = Arc::new(parent.make(&name).map_err(|error| cannot_write(&path, error.code))?);
        let held = LockedMarker::make(&directory, &marker).map_err(|error| {
            // It is empty, or holds an empty marker: no data are lost.
            let _ = directory.remove(marker::NAME.as_ref());
            let _ = parent.remove_directory(name.as_ref());
            cannot_write(&path, error.raw_os_error().unwrap_or(0))
        })?;
        check_owner(&directory, &held)?;
        let guard = Guard::begin(&directory, &path, control);
        // From here on, dropping the value removes the directory.
        let work_directory = WorkDirectory {
            parent,
            name,
            directory,
            held: Some(held),
            marker: Mutex::new(marker),
            guard,
            bounds: control.bounds(),
            ranks: control.ranks(),
        };
        // Another run may have begun at the same time: the one that began first gets the space.
        space::check(&work_directory.parent, &path, need, Some(&work_directory.marker()))?;
        Ok(work_directory)
    }

    fn marker(&self) -> Marker {
        self.marker.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clone()
    }

    /// The directory, for the words of a command line; files in it are opened through [`reach`](WorkDirectory::reach).
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// The open directory.
    pub fn open_directory(&self) -> &Arc<Directory> {
        &self.directory
    }

    /// How files in it are opened.
    pub fn reach(&self) -> Reach {
        Reach::Beneath(Arc::clone(&self.directory))
    }

    /// The path of a file in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.directory().join(name)
    }

    /// Changes the reserved space: before a larger fill, and before removed data is written again. The directory's own
    /// content does not count as used.
    ///
    /// # Errors
    /// When there is too little space.
    pub fn reserve_space(&self, need: SpaceNeeds) -> Result<(), Problem> {
        let need = need.times(self.ranks);
        let marker = Marker { need, ..self.marker() };
        space::check_patiently(&self.parent, self.parent.path(), need, &marker)?;
        if let Some(held) = &self.held {
            // The reservation only informs other runs; our own space is checked.
            let _ = held.write(&marker);
        }
        *self.marker.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = marker;
        Ok(())
    }

    /// What happened to the directory since it was made, as a sentence.
    ///
    /// # Errors
    /// When it, or its marker, was removed.
    pub fn check_there(&self) -> Result<(), Problem> {
        let there = self.directory.state().is_ok_and(|state| state.names > 0);
        if there && self.held.as_ref().is_some_and(|held| held.is_in(&self.directory)) {
            return Ok(());
        }
        let text = format!("{} was removed during the run", self.directory().display());
        Err(Problem::new(text).with_next("find what removes files there (a clean-up job?), and run the command again"))
    }

    /// Checks between tests that the directory still exists, and that others have not filled the filesystem.
    ///
    /// # Errors
    /// When one of the two fails: the question ends then.
    pub fn check(&self) -> Result<(), Problem> {
        self.check_there()?;
        self.guard.check(&self.directory, self.parent.path())
    }

    /// Removes everything in the directory but the marker, for the next round.
    ///
    /// # Errors
    /// When something cannot be removed.
    pub fn empty(&self) -> Result<(), Problem> {
        removal::empty(&self.directory, self.bounds)
    }

    /// Leaves the directory for [`clean`], because its storage does not respond.
    pub fn abandon(self) {
        announce(Stage::Gone, self.directory());
        // The descriptors are not even closed: close may block on the storage, too.
        std::mem::forget(self);
    }

    /// Removes the directory and returns failures; dropping it does the same silently. `told` is called if the storage
    /// does not answer, at once if a signal has ended the run.
    ///
    /// # Errors
    /// When something cannot be removed.
    pub fn close(mut self, signalled: bool, told: &mut dyn FnMut(&str)) -> Result<(), Problem> {
        let held = self.held.take();
        let waits = Waits { silence: self.bounds.removal(signalled), told };
        removal::remove(&self.parent, &self.name, &self.directory, held, waits)
            .inspect(|()| announce(Stage::Gone, self.directory()))
    }
}

impl Drop for WorkDirectory {
    fn drop(&mut self) {
        if let Some(held) = self.held.take() {
            // A failure was already reported where it occurred; `clean` finds what is left.
            let waits = Waits { silence: self.bounds.answer(), told: &mut |_| {} };
            let _ = removal::remove(&self.parent, &self.name, &self.directory, held, waits)
                .inspect(|()| announce(Stage::Gone, self.directory()));
        }
    }
}

/// Checks that the directory is the one that was made. A different directory in its place is not emptied; only our
/// marker is removed from it.
fn check_owner(directory: &Directory, held: &LockedMarker) -> Result<(), Problem> {
    let owner = directory.state().ok().map(|state| state.owner);
    let ours = held.owner(directory);
    if ours.is_some() && owner == ours {
        return Ok(());
    }
    // The directory is somebody else's, whether the marker can be removed or not.
    let _ = directory.remove(marker::NAME.as_ref());
    Err(Problem::new(format!("{} was replaced while it was made", directory.path().display()))
        .with_next("another program writes in this directory: choose another one"))
}

fn cannot_write(path: &Path, code: i32) -> Problem {
    let reason = reason(&std::io::Error::from_raw_os_error(code));
    let problem = Problem::new(format!("cannot write in {}: {reason}", path.display()));
    match code {
        errno::EACCES => problem.with_next("choose a directory that you may write to, or run as its owner"),
        errno::EMFILE => problem.with_next("raise the limit of open files: `ulimit -n 1024`"),
        _ => problem,
    }
}

fn check_place(path: &Path, facts: &PathFacts) -> Result<(), Problem> {
    let shown = path.display();
    match facts.kind {
        FileKind::Directory => {}
        FileKind::Missing => {
            return Err(Problem::new(format!("{shown} does not exist"))
                .with_next("use an existing directory on the storage to be measured"));
        }
        FileKind::BlockDevice => {
            return Err(Problem::new(format!("{shown} is a block device, and this would destroy its data"))
                .with_next("use a directory on a filesystem; for a raw device write a fio job"));
        }
        FileKind::Unreachable(code) => {
            let error = std::io::Error::from_raw_os_error(code);
            return Err(Problem::new(format!("{shown} cannot be reached: {}", reason(&error))));
        }
        _ => return Err(Problem::new(format!("{shown} is not a directory")).with_next("use a directory")),
    }
    let made_up = ["proc", "sysfs", "cgroup", "cgroup2", "debugfs", "tracefs", "securityfs", "devpts"];
    if facts.mount.as_ref().is_ok_and(|mount| made_up.contains(&mount.fstype.as_str())) {
        return Err(Problem::new(format!("{shown} is on a kernel filesystem without storage"))
            .with_next("use a directory on the storage to be measured"));
    }
    if facts.mount_writable() == Some(false) {
        return Err(Problem::new(format!("{shown} is mounted read-only")).with_next(format!(
            "remount it for writing, or inspect it with `fsdyno inspect {}`",
            path_as_typed(path)
        )));
    }
    Ok(())
}

/// Whether a filesystem type is the expected one: `nfs` stands for nfs and nfs4, `s3fs` and `fuse` for fuse.s3fs.
pub fn type_matches(fstype: &str, expected: &str) -> bool {
    let family = fstype.trim_end_matches(|letter: char| letter.is_ascii_digit());
    fstype == expected || family == expected || fstype.split('.').any(|part| part == expected)
}

/// Checks that a path is on the filesystem type that the user expects.
///
/// # Errors
/// When it is on another one, for example because nothing is mounted on the mount point.
pub fn expect_type(path: &Path, expected: &str) -> Result<(), Problem> {
    check_type(path, &fsdyno_probe::path_facts(path), expected).map_err(|problem| problem.about(path))
}

fn check_type(path: &Path, facts: &PathFacts, expected: &str) -> Result<(), Problem> {
    let shown = path.display();
    let mount = facts
        .mount
        .as_ref()
        .map_err(|unseen| Problem::new(format!("{shown} should be {expected}, but its mount is {unseen}")))?;
    if type_matches(&mount.fstype, expected) {
        return Ok(());
    }
    let place = mount.mount_point.display();
    Err(Problem::new(format!("{shown} should be {expected}, but it is {} mounted at {place}", mount.fstype))
        .with_next(format!("mount the {expected} filesystem first: otherwise {place} is measured")))
}

#[cfg(test)]
mod tests;
