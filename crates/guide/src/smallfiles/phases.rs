//! The table of phases, in the order in which they run: each makes the names that a later one uses.

use fsdyno_run::metadata::caches::Cache;
use fsdyno_run::metadata::operations::{self, Perform};
use fsdyno_run::metadata::tree::Family;

/// One phase.
pub struct SmallFilesPhase {
    pub(super) pattern: &'static str,
    /// The title for people.
    pub(super) title: &'static str,
    pub(super) acts: FileUse,
    pub(super) perform: Perform,
    /// The call of each operation that is also timed by itself and has its own row: pattern and title.
    pub(super) part: Option<(&'static str, &'static str)>,
    pub(super) cache: Cache,
    /// Whether the operations write or read data.
    pub(super) moves_data: bool,
    /// Whether the phase ends at its time limit.
    pub(super) limited: bool,
    /// The partner whose files it uses in any case, 0 or 1; `None`: the node's role decides.
    pub(super) partner: Option<usize>,
}

/// What the operations of a phase do to names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileUse {
    Makes(Family),
    Uses(Family),
    Turns(Family, Family),
    Removes(Family),
    /// Lists whole directories.
    Lists,
    /// Lists each directory once, and looks at some of the names.
    Searches,
}

const fn phase(
    pattern: &'static str,
    title: &'static str,
    acts: FileUse,
    perform: Perform,
    cache: Cache,
) -> SmallFilesPhase {
    SmallFilesPhase {
        pattern,
        title,
        acts,
        perform,
        part: None,
        cache,
        moves_data: false,
        limited: true,
        partner: None,
    }
}

/// Writes the files of the published rule. It is never cut short.
pub(super) static WRITE: SmallFilesPhase = SmallFilesPhase {
    part: Some(("write-close", "write: its close")),
    moves_data: true,
    limited: false,
    ..phase("write", "write", FileUse::Makes(Family::Test), operations::write, Cache::Unconcerned)
};

/// Reads them. It is never cut short.
pub(super) static READ: SmallFilesPhase = SmallFilesPhase {
    moves_data: true,
    limited: false,
    ..phase("read", "read", FileUse::Uses(Family::Test), operations::read, Cache::Hot)
};

/// The other operations of a git server, a mail store or a build.
pub(super) static METADATA: [SmallFilesPhase; 13] = [
    phase("stat-hot", "hot stat", FileUse::Uses(Family::Test), operations::stat, Cache::HotNames),
    phase("stat-cold", "cold stat", FileUse::Uses(Family::Test), operations::stat, Cache::ColdNames),
    SmallFilesPhase {
        moves_data: true,
        ..phase("open-read", "open+read", FileUse::Uses(Family::Test), operations::read, Cache::ColdData)
    },
    phase("create", "create", FileUse::Makes(Family::Empty), operations::create, Cache::Unconcerned),
    phase("readdir", "readdir", FileUse::Lists, operations::list, Cache::Hot),
    phase("rename", "rename", FileUse::Turns(Family::Empty, Family::Moved), operations::rename, Cache::Unconcerned),
    SmallFilesPhase {
        part: Some(("fsync-file-only", "write+fsync: its fsync")),
        moves_data: true,
        ..phase(
            "fsync-file",
            "write+fsync",
            FileUse::Makes(Family::Synced),
            operations::write_synced,
            Cache::Unconcerned,
        )
    },
    SmallFilesPhase {
        part: Some(("fsync-directory-only", "create+fsync: its fsync")),
        ..phase(
            "fsync-directory",
            "create+fsync of dir",
            FileUse::Makes(Family::Entered),
            operations::create_synced,
            Cache::Unconcerned,
        )
    },
    phase("mkdir", "mkdir", FileUse::Makes(Family::Directory), operations::make_directory, Cache::Unconcerned),
    phase("rmdir", "rmdir", FileUse::Removes(Family::Directory), operations::remove_directory, Cache::Unconcerned),
    phase("symlink", "symlink", FileUse::Makes(Family::Link), operations::link, Cache::Unconcerned),
    phase("readlink", "readlink", FileUse::Uses(Family::Link), operations::read_link, Cache::Hot),
    phase("unlink", "unlink", FileUse::Removes(Family::Test), operations::unlink, Cache::Unconcerned),
];

const fn of_mdtest(pattern: &'static str, acts: FileUse, perform: Perform, partner: Option<usize>) -> SmallFilesPhase {
    let limited = matches!(acts, FileUse::Makes(_));
    SmallFilesPhase { limited, partner, ..phase(pattern, pattern, acts, perform, Cache::Unconcerned) }
}

/// The phases of mdtest as IO500 asks for them. Each rank works on the files of another one, but for those that write.
pub(super) static MDTEST: [SmallFilesPhase; 9] = [
    of_mdtest("mdtest-easy-write", FileUse::Makes(Family::Test), operations::write, None),
    of_mdtest("mdtest-easy-stat", FileUse::Uses(Family::Test), operations::stat, Some(0)),
    of_mdtest("mdtest-easy-delete", FileUse::Removes(Family::Test), operations::unlink, Some(1)),
    SmallFilesPhase {
        moves_data: true,
        ..of_mdtest("mdtest-hard-write", FileUse::Makes(Family::Test), operations::write, None)
    },
    of_mdtest("mdtest-hard-stat", FileUse::Uses(Family::Test), operations::stat, Some(0)),
    SmallFilesPhase {
        moves_data: true,
        ..of_mdtest("mdtest-hard-read", FileUse::Uses(Family::Test), operations::read, Some(1))
    },
    of_mdtest("mdtest-hard-delete", FileUse::Removes(Family::Test), operations::unlink, Some(0)),
    of_mdtest("find-easy", FileUse::Searches, operations::find, None),
    of_mdtest("find-hard", FileUse::Searches, operations::find, None),
];

/// What a comparison with an object store does with whole files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WholeFile {
    /// Makes it, writes it, syncs it, closes it.
    Write,
    /// Opens it, reads it, closes it. Its pages were dropped.
    Read,
    /// The same once more, without dropping its pages.
    ReadAgain,
    /// Reads its attributes; `asks_anew`: of the server or daemon, past the kernel's cache.
    Stat {
        /// Whether the kernel's cache can be bypassed.
        asks_anew: bool,
    },
    /// Lists the directory.
    List,
    /// Removes it.
    Remove,
}

/// The phase that does this with files that are synced, under the name of a test.
pub fn of_whole_files(pattern: &'static str, act: WholeFile) -> SmallFilesPhase {
    let family = Family::Synced;
    let phase = |acts, perform, cache| phase(pattern, pattern, acts, perform, cache);
    match act {
        WholeFile::Write => SmallFilesPhase {
            moves_data: true,
            ..phase(FileUse::Makes(family), operations::write_synced, Cache::Unconcerned)
        },
        WholeFile::Read => {
            SmallFilesPhase { moves_data: true, ..phase(FileUse::Uses(family), operations::read, Cache::ColdData) }
        }
        WholeFile::ReadAgain => {
            SmallFilesPhase { moves_data: true, ..phase(FileUse::Uses(family), operations::read, Cache::Hot) }
        }
        WholeFile::Stat { asks_anew } => {
            let cache = if asks_anew { Cache::ColdNames } else { Cache::HotNames };
            phase(FileUse::Uses(family), operations::stat, cache)
        }
        WholeFile::List => phase(FileUse::Lists, operations::list, Cache::Hot),
        WholeFile::Remove => phase(FileUse::Removes(family), operations::unlink, Cache::Unconcerned),
    }
}

/// The phase of this name.
pub(crate) fn named(pattern: &str) -> Option<&'static SmallFilesPhase> {
    [&WRITE, &READ].into_iter().chain(&METADATA).chain(&MDTEST).find(|phase| phase.pattern == pattern)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_has_one_name_for_people() {
        for phase in [&WRITE, &READ].into_iter().chain(&METADATA) {
            assert_eq!(fsdyno_results::test_name::title_of_phase(phase.pattern), phase.title);
            let whole = phase.part.map(|(part, _)| fsdyno_results::test_name::phase_of_part(part));
            assert_eq!(whole, phase.part.map(|_| Some(phase.pattern)), "the part of {}", phase.pattern);
        }
    }
}
