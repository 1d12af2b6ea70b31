//! Examines conditions that must hold before the measurement: the type of the filesystem, locks, free space.

use fsdyno_guide::object_check::{Examined, ObjectFunction};
use fsdyno_guide::work_directory::{WorkDirectory, reason, type_matches};
use fsdyno_os::files::{Directory, fcntl_lock, flock};
use fsdyno_probe::PathFacts;
use serde::Deserialize;

/// The condition of a gate.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Condition {
    /// The filesystem is none of these types or groups.
    NotOn(Vec<String>),
    /// A lock of this kind can be taken, and excludes others.
    Lock(Lock),
    /// At least this number of bytes is free.
    FreeBytes(u64),
    /// This line of the fio language ends without an error.
    Runs(Vec<String>),
    /// An object store has this function.
    Function(ObjectFunction),
}

/// Kinds of locks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Lock {
    /// Advisory record locks of POSIX.
    Fcntl,
    /// Whole-file locks of BSD.
    Flock,
}

/// Whether a condition holds; the sentence says what was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Holds(String),
    Broken(String),
    /// Not known.
    Unknown(String),
}

impl From<Examined> for Outcome {
    fn from(examined: Examined) -> Outcome {
        match examined {
            Examined::Works(seen) => Outcome::Holds(seen),
            Examined::Fails(seen) => Outcome::Broken(seen),
            Examined::NotExamined(why) => Outcome::Unknown(why),
        }
    }
}

/// The group that is not a list of types: any filesystem may be in memory.
const MEMORY: &str = "memory";

/// Groups of filesystem types.
const GROUPS: &[(&str, &[&str])] = &[
    (
        "network",
        &[
            "nfs",
            "nfs4",
            "cifs",
            "smb3",
            "smb2",
            "smbfs",
            "ceph",
            "glusterfs",
            "lustre",
            "gpfs",
            "beegfs",
            "afs",
            "9p",
            "virtiofs",
            "orangefs",
            "pvfs2",
            "moosefs",
            "davfs",
        ],
    ),
    (MEMORY, &["tmpfs", "ramfs"]),
];

/// Whether a type is one of a list of types and groups: `network`, `fuse`, `memory`, `nfs`, `ext4`.
pub(crate) fn is_one_of(fstype: &str, listed: &[String]) -> bool {
    listed.iter().any(|word| match GROUPS.iter().find(|(group, _)| group == word) {
        Some((_, types)) => types.iter().any(|member| type_matches(fstype, member)),
        None => type_matches(fstype, word),
    })
}

/// Examines a condition that needs no file. `None`: it needs one. `in_memory`: whether memory is below the filesystem.
pub(crate) fn look(condition: &Condition, facts: &PathFacts, in_memory: bool) -> Option<Outcome> {
    match condition {
        Condition::NotOn(types) => Some(match &facts.mount {
            Err(unseen) => Outcome::Unknown(format!("the type of the filesystem is {unseen}")),
            Ok(mount) if is_one_of(&mount.fstype, types) => Outcome::Broken(format!("this is {}", mount.fstype)),
            Ok(mount) if in_memory && types.iter().any(|word| word == MEMORY) => {
                Outcome::Broken(format!("this is {} in memory", mount.fstype))
            }
            Ok(mount) => Outcome::Holds(format!("this is {}", mount.fstype)),
        }),
        Condition::FreeBytes(least) => Some(match &facts.space {
            Err(unseen) => Outcome::Unknown(format!("free space is {unseen}")),
            Ok(space) => {
                let sentence = format!("{:.1} GB are free", space.available_bytes as f64 / 1e9);
                if space.available_bytes >= *least { Outcome::Holds(sentence) } else { Outcome::Broken(sentence) }
            }
        }),
        Condition::Lock(_) | Condition::Runs(_) | Condition::Function(_) => None,
    }
}

/// Takes a lock on a file in the work directory, and checks that it excludes another one.
pub(crate) fn try_lock(lock: Lock, work: &WorkDirectory) -> Outcome {
    match locked(lock, work.open_directory()) {
        Ok(outcome) => outcome,
        Err(error) => Outcome::Broken(format!("the lock was refused: {}", reason(&error))),
    }
}

fn locked(lock: Lock, directory: &Directory) -> std::io::Result<Outcome> {
    const NAME: &str = "lock";
    let open = || {
        let file = directory.create_new(NAME).or_else(|_| Ok(directory.open_regular(NAME)?.0));
        file.map_err(|error: fsdyno_os::files::FileError| std::io::Error::from_raw_os_error(error.code))
    };
    let file = open()?;
    let kind = match lock {
        Lock::Fcntl => {
            fcntl_lock(&file)?;
            // Record locks belong to the process: only another process could check that they exclude others.
            return Ok(Outcome::Holds("fcntl locks are granted".to_string()));
        }
        Lock::Flock => "flock",
    };
    flock(&file)?;
    Ok(match flock(&open()?) {
        Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
            Outcome::Holds(format!("{kind} locks are granted and hold"))
        }
        Ok(()) => Outcome::Broken(format!("two {kind} locks on one file were granted at once")),
        Err(error) => Outcome::Unknown(format!("a second {kind} lock failed with {error}")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsdyno_guide::work_directory::SpaceNeeds;
    use fsdyno_probe::NotVisible;
    use fsdyno_results::evidence::{Mount, Space};

    fn facts(fstype: &str) -> PathFacts {
        let mount = Mount { fstype: fstype.into(), ..Mount::default() };
        let space = Space { total_bytes: 10_000_000_000, available_bytes: 4_900_000_000 };
        PathFacts { mount: Ok(mount), space: Ok(space), ..PathFacts::default() }
    }

    fn not_on(types: &[&str]) -> Condition {
        Condition::NotOn(types.iter().map(|word| word.to_string()).collect())
    }

    #[test]
    fn groups_and_types_are_matched() {
        let local = not_on(&["network", "fuse"]);
        for fstype in ["nfs4", "cifs", "9p", "fuse.s3fs", "ceph", "fuse.glusterfs", "virtiofs"] {
            assert_eq!(look(&local, &facts(fstype), false), Some(Outcome::Broken(format!("this is {fstype}"))));
        }
        for fstype in ["ext4", "xfs", "btrfs", "tmpfs", "fuseblk", "overlay", "zfs"] {
            assert_eq!(look(&local, &facts(fstype), false), Some(Outcome::Holds(format!("this is {fstype}"))));
        }
        assert!(matches!(look(&not_on(&["memory"]), &facts("tmpfs"), false), Some(Outcome::Broken(_))));
        let zram = look(&not_on(&["memory"]), &facts("ext4"), true);
        assert_eq!(zram, Some(Outcome::Broken("this is ext4 in memory".into())));
        assert!(matches!(look(&local, &facts("ext4"), true), Some(Outcome::Holds(_))));
    }

    #[test]
    fn a_type_that_cannot_be_seen_is_unknown() {
        let unseen = PathFacts { mount: Err(NotVisible::not_looked()), ..PathFacts::default() };
        assert!(matches!(look(&not_on(&["nfs"]), &unseen, false), Some(Outcome::Unknown(_))));
        assert!(matches!(look(&Condition::FreeBytes(1), &PathFacts::default(), false), Some(Outcome::Unknown(_))));
    }

    #[test]
    fn free_space_is_what_anyone_may_use() {
        assert!(matches!(look(&Condition::FreeBytes(4_900_000_000), &facts("ext4"), false), Some(Outcome::Holds(_))));
        assert_eq!(
            look(&Condition::FreeBytes(5_000_000_000), &facts("ext4"), false),
            Some(Outcome::Broken("4.9 GB are free".to_string()))
        );
    }

    #[test]
    fn locks_are_tried() {
        let folder = tempfile::tempdir().unwrap();
        let work = WorkDirectory::open(folder.path(), None, SpaceNeeds::default(), &Default::default()).unwrap();
        assert_eq!(look(&Condition::Lock(Lock::Flock), &facts("ext4"), false), None);
        assert!(matches!(try_lock(Lock::Flock, &work), Outcome::Holds(_)));
        assert!(matches!(try_lock(Lock::Fcntl, &work), Outcome::Holds(_)));
        let gone = std::sync::Arc::clone(work.open_directory());
        work.close(false, &mut |_| {}).unwrap();
        assert!(locked(Lock::Fcntl, &gone).is_err());
    }
}
