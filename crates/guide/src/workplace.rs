//! A directory of our own under the path that was asked about. Everything that a question writes is in it; it is
//! removed when the question ends, also by an error or a signal, and [`clean`] finds what a killed run left.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use probe::{FileKind, PathFacts};
use serde::{Deserialize, Serialize};

use crate::Problem;

mod removal;

pub use removal::{Left, Outcome, clean};

/// What the directories' names begin with.
const NAME: &str = "fsdyno-work-";

/// The file that marks a directory as ours.
const MARKER: &str = ".fsdyno-work";

/// No filesystem is filled beyond this share of its space.
const FULLEST: f64 = 0.9;

/// Who made a directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Marker {
    /// Always `fsdyno work directory`: a sign for people, too.
    what: String,
    /// The maker's process and host.
    pid: u32,
    host: String,
    /// Identity of the host's boot: a process number means nothing after it.
    boot: String,
    /// When, ms since the epoch.
    made_ms: u64,
}

impl Marker {
    fn of_this_process() -> Marker {
        Marker {
            what: "fsdyno work directory".to_string(),
            pid: std::process::id(),
            host: probe::host_name().unwrap_or_default(),
            boot: boot(),
            made_ms: run::now_ms(),
        }
    }
}

fn boot() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").map(|text| text.trim().to_string()).unwrap_or_default()
}

/// Our directory.
#[derive(Debug)]
pub struct Workplace {
    directory: PathBuf,
}

impl Workplace {
    /// Makes the directory under `path`, which must be a directory that can be written, on the filesystem type that
    /// the person expects (if any), with room for `need_bytes` without filling it beyond 90 %.
    ///
    /// # Errors
    /// Each of these, before anything has been written.
    pub fn open(path: &Path, expected: Option<&str>, need_bytes: u64) -> Result<Workplace, Problem> {
        let facts = probe::path_facts(path);
        check_place(path, &facts)?;
        if let Some(expected) = expected {
            check_type(path, &facts, expected)?;
        }
        check_room(path, &facts, need_bytes)?;
        Workplace::make(path)
    }

    fn make(path: &Path) -> Result<Workplace, Problem> {
        let directory = path.join(format!("{NAME}{}-{:x}", std::process::id(), run::now_ms()));
        fs::create_dir(&directory).map_err(|error| cannot_write(path, &error))?;
        // From here on dropping it removes it.
        let workplace = Workplace { directory };
        let text = serde_json::to_string(&Marker::of_this_process()).unwrap_or_default();
        let marked = File::create(workplace.directory.join(MARKER)).and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.write_all(b"\n")?;
            // For `clean` after a crash; without it the marker still serves all but that.
            let _ = file.sync_all();
            Ok(())
        });
        marked.map_err(|error| cannot_write(path, &error))?;
        Ok(workplace)
    }

    /// The directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// A file in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// Removes everything in it but the marker: a fresh start for the next round.
    ///
    /// # Errors
    /// When something cannot be removed.
    pub fn empty(&self) -> Result<(), Problem> {
        removal::empty(&self.directory, &[MARKER])
    }

    /// Leaves it where it is, for [`clean`]: its storage does not answer.
    pub fn abandon(self) {
        std::mem::forget(self);
    }

    /// Removes it and says so if that fails; dropping it does the same silently.
    ///
    /// # Errors
    /// When something cannot be removed.
    pub fn close(self) -> Result<(), Problem> {
        removal::remove(&self.directory)
    }
}

impl Drop for Workplace {
    fn drop(&mut self) {
        if self.directory.exists() {
            // A failure was told by whoever noticed it first; `clean` finds what is left.
            let _ = removal::remove(&self.directory);
        }
    }
}

fn cannot_write(path: &Path, error: &std::io::Error) -> Problem {
    let problem = Problem::new(format!("cannot write in {}: {}", path.display(), reason(error)));
    match error.raw_os_error() {
        Some(libc_eacces) if libc_eacces == rustix::io::Errno::ACCESS.raw_os_error() => {
            problem.with_next("choose a directory that you may write, or run as its owner")
        }
        _ => problem,
    }
}

/// The system's text without the number that Rust adds.
pub(crate) fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split_once(" (os error").map_or(text.clone(), |(before, _)| before.to_owned())
}

fn check_place(path: &Path, facts: &PathFacts) -> Result<(), Problem> {
    let shown = path.display();
    match facts.kind {
        FileKind::Directory => {}
        FileKind::Missing => {
            return Err(Problem::new(format!("{shown} does not exist"))
                .with_next("name an existing directory on the storage in question"));
        }
        FileKind::BlockDevice => {
            return Err(Problem::new(format!("{shown} is a block device, and this would destroy what it holds"))
                .with_next("name a directory on a filesystem; for a raw device write a job for the fio face"));
        }
        FileKind::Unreachable(code) => {
            let error = std::io::Error::from_raw_os_error(code);
            return Err(Problem::new(format!("{shown} cannot be reached: {}", reason(&error))));
        }
        _ => return Err(Problem::new(format!("{shown} is not a directory")).with_next("name a directory")),
    }
    let made_up = ["proc", "sysfs", "cgroup", "cgroup2", "debugfs", "tracefs", "securityfs", "devpts"];
    if facts.mount.as_ref().is_ok_and(|mount| made_up.contains(&mount.fstype.as_str())) {
        return Err(Problem::new(format!("{shown} holds files that the kernel makes up, and no storage"))
            .with_next("name a directory on the storage in question"));
    }
    if facts.mount_writable() == Some(false) {
        return Err(Problem::new(format!("{shown} is mounted read-only"))
            .with_next(format!("remount it for writing, or look at it with `fsdyno inspect {shown}`")));
    }
    Ok(())
}

/// `nfs` stands for nfs and nfs4, `s3fs` and `fuse` for fuse.s3fs.
pub fn type_matches(fstype: &str, expected: &str) -> bool {
    let family = fstype.trim_end_matches(|letter: char| letter.is_ascii_digit());
    fstype == expected || family == expected || fstype.split('.').any(|part| part == expected)
}

/// Sees that a path is on the filesystem type that the person expects.
///
/// # Errors
/// When it is on another, such as an empty mount point on its parent's.
pub fn expect_type(path: &Path, expected: &str) -> Result<(), Problem> {
    check_type(path, &probe::path_facts(path), expected)
}

fn check_type(path: &Path, facts: &PathFacts, expected: &str) -> Result<(), Problem> {
    let shown = path.display();
    let mount = facts
        .mount
        .as_ref()
        .map_err(|unseen| Problem::new(format!("{shown} was expected to be {expected}, but its mount is {unseen}")))?;
    if type_matches(&mount.fstype, expected) {
        return Ok(());
    }
    let place = mount.mount_point.display();
    Err(Problem::new(format!("{shown} was expected to be {expected}, but it is {} mounted at {place}", mount.fstype))
        .with_next(format!("mount the {expected} filesystem first: what is measured now would be {place}")))
}

fn check_room(path: &Path, facts: &PathFacts, need_bytes: u64) -> Result<(), Problem> {
    // A filesystem that does not tell its space (some FUSE daemons) finds out by ENOSPC.
    let Ok(space) = &facts.space else { return Ok(()) };
    let used = space.total_bytes.saturating_sub(space.available_bytes);
    let allowed = ((space.total_bytes as f64 * FULLEST) as u64).saturating_sub(used);
    if space.total_bytes == 0 || need_bytes <= allowed {
        return Ok(());
    }
    let mib = |bytes: u64| bytes >> 20;
    Err(Problem::new(format!(
        "{} needs {} MiB, but only {} MiB can be used without filling the filesystem beyond 90 %",
        path.display(),
        mib(need_bytes),
        mib(allowed)
    ))
    .with_next("free some space, or ask for less with --size"))
}

/// Bytes that may be written under a path without filling its filesystem beyond 90 %; `None`: it does not tell.
pub fn room_bytes(path: &Path) -> Option<u64> {
    let space = probe::path_facts(path).space.ok()?;
    let used = space.total_bytes.saturating_sub(space.available_bytes);
    (space.total_bytes > 0).then(|| ((space.total_bytes as f64 * FULLEST) as u64).saturating_sub(used))
}

#[cfg(test)]
mod tests;
