//! Keeps filesystems below 90 % of their bytes and inodes, over all runs that share one.
//!
//! A run reserves space before it writes: the reservation is in the marker of its work directory, which every other run
//! on this machine finds as an open, locked file. Free space is checked again between tests, and several times a second
//! while a test writes, as other programs use it too.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fsdyno_os::clock::{Clock, RealClock};
use fsdyno_os::files::{Directory, SpaceLeft, tree};
use fsdyno_run::Control;
use serde::{Deserialize, Serialize};

use super::marker::{self, Marker};
use crate::Problem;

/// No filesystem is filled beyond this share.
const FULLEST: f64 = 0.9;

/// A running question is ended beyond this share: a filesystem's own tables grow with the files, and removed blocks are
/// freed late.
const ENDS_AT: f64 = 0.92;

/// Interval at which free space is checked during a run.
const LOOK_NS: u64 = 100_000_000;

/// Stack of the checking thread, bytes.
const STACK_BYTES: usize = 512 * 1024;

/// How long to wait until removed blocks are freed: number of steps and length of each.
const PATIENCE: (u32, Duration) = (20, Duration::from_millis(250));

/// The most space that a run takes on a filesystem.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpaceNeeds {
    /// Bytes of data.
    pub bytes: u64,
    /// Files and directories.
    pub inodes: u64,
}

impl SpaceNeeds {
    /// The needs of a few files with this number of bytes together.
    pub fn bytes(bytes: u64) -> SpaceNeeds {
        SpaceNeeds { bytes, inodes: 0 }
    }

    /// The needs of `ranks` ranks, each with these.
    pub(super) fn times(self, ranks: u32) -> SpaceNeeds {
        let times = |amount: u64| amount.saturating_mul(ranks.into());
        SpaceNeeds { bytes: times(self.bytes), inodes: times(self.inodes) }
    }

    fn plus(self, other: SpaceNeeds) -> SpaceNeeds {
        SpaceNeeds { bytes: self.bytes.saturating_add(other.bytes), inodes: self.inodes.saturating_add(other.inodes) }
    }
}

/// The part of a total that may still be used without filling it beyond a share.
fn usable(total: u64, available: u64, share: f64) -> u64 {
    let used = total.saturating_sub(available);
    ((total as f64 * share) as u64).saturating_sub(used)
}

/// Bytes that may be written in a directory while its filesystem stays below 90 %, less what other runs have reserved;
/// `None`: not known.
pub fn usable_bytes(path: &Path) -> Option<u64> {
    let directory = Directory::open(path).ok()?;
    let space = directory.space()?;
    let claimed = claims_of_others(&directory, None);
    Some(usable(space.total_bytes, space.available_bytes, FULLEST).saturating_sub(claimed.bytes))
}

/// Whether a run there would be ended at once.
pub fn is_nearly_full(path: &Path) -> bool {
    Directory::open(path).is_ok_and(|directory| look(&directory, path).is_err())
}

/// Checks that there is space for this besides the reservations of other runs: of all, or of those that began before
/// `own`.
///
/// # Errors
/// When there is not.
pub(super) fn check(
    directory: &Directory,
    shown: &Path,
    need: SpaceNeeds,
    own: Option<&Marker>,
) -> Result<(), Problem> {
    // A filesystem that does not report its space (some FUSE daemons) fails with ENOSPC later.
    let Some(space) = directory.space() else { return Ok(()) };
    let claimed = claims_of_others(directory, own);
    judge(space, need, claimed, shown)
}

/// The same for data that is written again after a removal: it waits for a filesystem that frees blocks late.
pub(super) fn check_patiently(
    directory: &Directory,
    shown: &Path,
    need: SpaceNeeds,
    own: &Marker,
) -> Result<(), Problem> {
    let mut outcome = check(directory, shown, need, Some(own));
    let clock = RealClock::shared();
    for _ in 0..PATIENCE.0 {
        if outcome.is_ok() {
            break;
        }
        clock.sleep_until_ns(clock.now_ns() + PATIENCE.1.as_nanos() as u64);
        outcome = check(directory, shown, need, Some(own));
    }
    outcome
}

fn judge(space: SpaceLeft, need: SpaceNeeds, claimed: SpaceNeeds, shown: &Path) -> Result<(), Problem> {
    let mib = |bytes: u64| bytes >> 20;
    let beside = |others: String| if claimed == SpaceNeeds::default() { String::new() } else { others };
    let bytes = usable(space.total_bytes, space.available_bytes, FULLEST).saturating_sub(claimed.bytes);
    if need.bytes > bytes {
        return Err(Problem::new(format!(
            "{} needs {} MiB, but only {} MiB are usable below the limit of 90 % full{}",
            shown.display(),
            mib(need.bytes),
            mib(bytes),
            beside(format!("; other runs there have reserved {} MiB", mib(claimed.bytes)))
        ))
        .too_large()
        .with_next(match (mib(bytes), need.inodes) {
            (0, _) => "free some space",
            (_, 0) => "free some space, or use a smaller --size",
            // Many small files are asked for by their number.
            _ => "free some space, or use fewer --files",
        }));
    }
    let inodes = usable(space.total_inodes, space.available_inodes, FULLEST).saturating_sub(claimed.inodes);
    if space.total_inodes > 0 && need.inodes > inodes {
        return Err(Problem::new(format!(
            "{} needs {} inodes, but only {inodes} are usable below the limit of 90 %{}",
            shown.display(),
            need.inodes,
            beside(format!("; other runs there have reserved {}", claimed.inodes))
        ))
        .with_next("remove files there (df -i shows the inodes), or use fewer --files"));
    }
    Ok(())
}

/// What other runs on this filesystem have reserved and not used yet; only runs of this machine that this user can see.
fn claims_of_others(directory: &Directory, own: Option<&Marker>) -> SpaceNeeds {
    let markers = fsdyno_probe::open_and_locked(marker::NAME).into_iter().map(|(_, path)| path);
    claims_of(markers, directory, own)
}

/// What the runs of these markers have reserved. Several processes may hold the marker of one run open; it counts once.
fn claims_of(markers: impl Iterator<Item = PathBuf>, directory: &Directory, own: Option<&Marker>) -> SpaceNeeds {
    let Ok(home) = directory.state() else { return SpaceNeeds::default() };
    let (mut sum, mut seen) = (SpaceNeeds::default(), BTreeSet::new());
    for path in markers {
        let Some(place) = path.parent().and_then(|place| Directory::open(place).ok()) else { continue };
        let Ok(identity) = place.state().map(|state| state.identity) else { continue };
        let new = identity.device == home.identity.device && seen.insert(identity.inode);
        let Some((file, _)) = place.open_regular(marker::NAME).ok().filter(|_| new) else { continue };
        let Some(marker) = Marker::read(&file) else { continue };
        if own.is_some_and(|own| !marker.is_before(own)) {
            continue;
        }
        let (entries, bytes) = tree::tree_size(&place).unwrap_or_default();
        sum = sum.plus(SpaceNeeds {
            bytes: marker.need.bytes.saturating_sub(bytes),
            inodes: marker.need.inodes.saturating_sub(entries),
        });
    }
    sum
}

/// Checks free space during a run, and ends the run when the filesystem fills up.
#[derive(Debug)]
pub(super) struct Guard {
    end: Arc<AtomicBool>,
    overfull: Arc<Mutex<Option<Problem>>>,
}

impl Guard {
    /// Begins the checks on a thread of their own, as a server may block them.
    pub(super) fn begin(directory: &Arc<Directory>, shown: &Path, control: &Arc<Control>) -> Guard {
        let guard = Guard { end: Arc::default(), overfull: Arc::default() };
        let (directory, control, shown) = (Arc::clone(directory), Arc::clone(control), shown.to_owned());
        let (end, overfull) = (Arc::clone(&guard.end), Arc::clone(&guard.overfull));
        let looking = move || {
            let clock = RealClock::shared();
            while !end.load(Ordering::Relaxed) {
                if let Err(problem) = look(&directory, &shown) {
                    *overfull.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(problem);
                    control.stop();
                    break;
                }
                clock.sleep_until_ns(clock.now_ns() + LOOK_NS);
            }
        };
        // Without a thread there are still the checks between the tests.
        let _ = fsdyno_os::thread::begin("space", STACK_BYTES, looking);
        guard
    }

    /// Checks that there is still space.
    ///
    /// # Errors
    /// When the filesystem has been filled meanwhile.
    pub(super) fn check(&self, directory: &Directory, shown: &Path) -> Result<(), Problem> {
        let seen = self.overfull.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clone();
        seen.map_or_else(|| look(directory, shown), Err)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.end.store(true, Ordering::Relaxed);
    }
}

fn look(directory: &Directory, shown: &Path) -> Result<(), Problem> {
    let Some(space) = directory.space() else { return Ok(()) };
    let full = |total: u64, available: u64| total > 0 && usable(total, available, ENDS_AT) == 0;
    let what = match () {
        () if full(space.total_bytes, space.available_bytes) => "space",
        () if full(space.total_inodes, space.available_inodes) => "inodes",
        () => return Ok(()),
    };
    Err(Problem::new(format!(
        "run stopped: something fills the filesystem of {} beyond 90 % ({what})",
        shown.display()
    ))
    .with_next("find what fills it (`du -xh`, `lsof +L1`), free some space and run again"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space(total_bytes: u64, available_bytes: u64, total_inodes: u64, available_inodes: u64) -> SpaceLeft {
        SpaceLeft { total_bytes, available_bytes, total_inodes, available_inodes }
    }

    #[test]
    fn ninety_percent_of_bytes_and_of_inodes() {
        let disk = space(1000 << 20, 500 << 20, 1000, 300);
        let judge = |need, claimed| judge(disk, need, claimed, Path::new("/data")).map_err(|problem| problem.what);
        let space_needs = |mib: u64, inodes| SpaceNeeds { bytes: mib << 20, inodes };
        assert_eq!(judge(space_needs(400, 200), SpaceNeeds::default()), Ok(()));
        let bytes = judge(space_needs(401, 0), SpaceNeeds::default()).unwrap_err();
        assert!(bytes.contains("needs 401 MiB, but only 400 MiB"), "{bytes}");
        let inodes = judge(space_needs(0, 201), SpaceNeeds::default()).unwrap_err();
        assert!(inodes.contains("needs 201 inodes, but only 200"), "{inodes}");
        let beside = judge(space_needs(400, 0), space_needs(1, 0)).unwrap_err();
        assert!(beside.contains("only 399 MiB") && beside.contains("other runs there have reserved 1 MiB"), "{beside}");
        assert!(
            super::judge(space(1 << 40, 1 << 39, 0, 0), space_needs(1, 1 << 40), SpaceNeeds::default(), Path::new("/"))
                .is_ok()
        );
    }

    /// The ranks of a run on one machine hold its marker open together.
    #[test]
    fn a_run_of_several_processes_claims_its_space_once() {
        let parent = tempfile::tempdir().unwrap();
        let directory = Directory::open(parent.path()).unwrap();
        let need = SpaceNeeds { bytes: 8 << 20, inodes: 10 };
        let mut paths = Vec::new();
        let held = ["one", "two"].map(|name| {
            std::fs::create_dir(parent.path().join(name)).unwrap();
            let place = Directory::open(&parent.path().join(name)).unwrap();
            paths.push(parent.path().join(name).join(marker::NAME));
            marker::LockedMarker::make(&place, &Marker::of_this_process(need)).unwrap()
        });
        let marked = |paths: &[&PathBuf]| claims_of(paths.iter().copied().cloned(), &directory, None);
        let [one, two] = &paths[..] else { unreachable!("there are two") };
        let alone = marked(&[one]);
        assert!(alone.bytes > 4 << 20 && alone.inodes > 0, "{alone:?}");
        assert_eq!(marked(&[one, one, one]), alone);
        assert_eq!(marked(&[one, two, one, two]), alone.plus(marked(&[two])));
        drop(held);
    }

    #[test]
    fn a_full_filesystem_leaves_nothing() {
        assert_eq!(usable(100, 5, FULLEST), 0);
        assert_eq!(usable(100, 50, FULLEST), 40);
        assert_eq!(usable(0, 0, FULLEST), 0);
    }
}
