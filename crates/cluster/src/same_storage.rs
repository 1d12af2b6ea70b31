//! Shows that the ranks are on one storage: the first rank makes a file, and the others look whether they see it.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fsdyno_os::clock::{Clock, RealClock};
use fsdyno_os::files::{Stamp, draft_name, stamp_of, try_lock};
use fsdyno_os::written;
use fsdyno_run::JointRun;
use fsdyno_run::plan::StoragePlace;
use serde::{Deserialize, Serialize};

use crate::members::Member;

/// A client may learn of a new name a moment after the call that has made it: it looks this number of times.
const LOOKS: u32 = 10;

/// The time between two looks, ns.
const LOOK_NS: u64 = 100_000_000;

/// What the ranks of an order look for.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Proof {
    /// The first rank's machine: its name and boot id.
    machine: (String, String),
    /// Files that the first rank has made where the run writes.
    made: Vec<String>,
    /// These files, locked: what a kill leaves of them is not, and `clean` removes it.
    #[serde(skip)]
    locked: Vec<Arc<File>>,
    /// Files that the run only reads, as the first rank sees them.
    found: Vec<(String, Stamp)>,
}

impl Proof {
    /// The first rank's machine alone.
    pub(crate) fn here() -> Proof {
        Proof { machine: machine(), ..Proof::default() }
    }

    /// Makes a file beside the files of each storage that the run writes to.
    pub(crate) fn make(run: &JointRun<'_>) -> Proof {
        let mut proof = Proof::here();
        for place in run.places {
            match stamp_of(&place.path) {
                Ok(stamp) if !place.writes => proof.found.extend(shown(&place.path).map(|path| (path, stamp))),
                _ => proof.make_beside(place, run.seed),
            }
        }
        proof
    }

    /// Whether this rank sees all of it; `None`: nothing shows it. `again`: whether to look again after a moment.
    pub(crate) fn is_seen(&self, again: bool) -> Option<bool> {
        let sees = |path: &String| written::path(path).symlink_metadata().is_ok();
        for _ in 1..LOOKS {
            if !again || self.made.iter().all(sees) {
                break;
            }
            let clock = RealClock::shared();
            clock.sleep_until_ns(clock.now_ns() + LOOK_NS);
        }
        if !self.made.iter().all(sees) {
            return Some(false);
        }
        // A client may number its files itself: other numbers show nothing.
        let same = |(path, stamp): &(String, Stamp)| stamp_of(&written::path(path)).is_ok_and(|own| own == *stamp);
        let shows = self.found.iter().all(same) && !(self.made.is_empty() && self.found.is_empty());
        shows.then_some(true)
    }

    /// Whether this rank runs on the first rank's machine.
    pub(crate) fn is_beside(&self) -> bool {
        self.machine == machine()
    }

    /// Makes an empty file in the directory of a run's file, or in the nearest directory above that exists.
    fn make_beside(&mut self, place: &StoragePlace, seed: u64) {
        let Some((path, name)) = beside(place, seed).and_then(|path| Some((shown(&path)?, path))) else { return };
        if let Ok(file) = File::create_new(&name) {
            // Without locks nothing shows that its run has ended: `clean` leaves it then.
            let _ = try_lock(&file);
            self.made.push(path);
            self.locked.push(Arc::new(file));
        }
    }

    /// Removes what was made.
    pub(crate) fn remove(&mut self) {
        // An NFS client would keep an open file under another name.
        self.locked.clear();
        for path in &self.made {
            // It is empty, and its name says whose it is.
            let _ = fsdyno_os::files::remove(&written::path(path));
        }
    }
}

fn machine() -> (String, String) {
    let Member { host, boot, .. } = Member::here(0, "");
    (host, boot)
}

/// A path as it can be sent; `None`: it is not UTF-8.
fn shown(path: &Path) -> Option<String> {
    path.to_str().map(|_| written::shown(path))
}

/// The path of a file in the directory of a run's file, or in the nearest directory above that exists.
fn beside(place: &StoragePlace, seed: u64) -> Option<PathBuf> {
    if place.path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
        // A device, for example: the directory of its name is on another storage.
        return None;
    }
    let current = Path::new(".");
    let mut above =
        place.path.ancestors().skip(1).map(|above| if above.as_os_str().is_empty() { current } else { above });
    Some(above.find(|above| above.is_dir())?.join(draft_name(seed)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsdyno_results::RunRecord;

    fn proof(path: &Path, writes: bool) -> Proof {
        let places = [StoragePlace { path: path.to_owned(), writes }];
        let preflight = RunRecord::default();
        Proof::make(&JointRun { words: &[], seed: 7, directory: None, preflight: &preflight, places: &places })
    }

    #[test]
    fn a_made_file_is_seen_until_it_is_removed() {
        let place = tempfile::tempdir().unwrap();
        let mut proof = proof(&place.path().join("not/there/file"), true);
        assert_eq!(proof.made, [written::shown(&place.path().join(".fsdyno-draft-0000000000000007"))]);
        assert_eq!((proof.is_seen(false), proof.is_beside()), (Some(true), true));
        proof.remove();
        assert_eq!(proof.is_seen(true), Some(false));
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_a_kill_leaves_is_removed_by_clean() {
        let place = tempfile::tempdir().unwrap();
        let cleaned = || {
            let options = fsdyno_guide::work_directory::CleanOptions::default();
            fsdyno_guide::work_directory::clean(place.path(), options, &mut fsdyno_guide::watch::SilentWatcher)
                .unwrap()
                .drafts
        };
        let proof = proof(&place.path().join("file"), true);
        assert_eq!((cleaned(), proof.is_seen(false)), (0, Some(true)), "its run goes on");
        drop(proof);
        assert_eq!((cleaned(), std::fs::read_dir(place.path()).unwrap().count()), (1, 0));
    }

    #[test]
    fn a_file_that_is_only_read_is_compared_and_nothing_is_made() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("file");
        std::fs::write(&file, "data").unwrap();
        let proof = proof(&file, false);
        assert_eq!((proof.made.len(), proof.is_seen(false)), (0, Some(true)));
        std::fs::write(&file, "other data").unwrap();
        assert_eq!(proof.is_seen(false), None, "another file shows nothing");
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 1);
    }

    #[test]
    fn the_directory_of_devices_gets_no_file() {
        assert_eq!(proof(Path::new("/dev/null"), true).is_seen(false), None);
    }
}
