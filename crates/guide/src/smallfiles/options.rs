//! The options of `smallfiles`, with their bounds.

use serde::{Deserialize, Serialize};

use super::shell;
use crate::work_directory::SpaceNeeds;

/// The deepest tree: 1,024 directories on its last level.
pub const DEPTH_MAX: u32 = 10;
/// The most directories in each directory of the tree.
pub const BRANCH_MAX: u32 = 100;
/// The most files: the names of more need more memory than a small machine has.
pub const FILES_MAX: u32 = 1_000_000;
/// The most workers at once.
pub const THREADS_MAX: u32 = 256;
/// The largest size of a small file, bytes.
pub const SIZE_BYTES_MAX: u64 = 1 << 30;

/// The options of `smallfiles`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SmallFilesOptions {
    /// Files of each node, 1 to [`FILES_MAX`].
    pub files: u32,
    /// Bytes of each, 0 to [`SIZE_BYTES_MAX`].
    pub size_bytes: u64,
    /// Levels of the directory tree that the files are spread over, 0 to [`DEPTH_MAX`].
    pub depth: u32,
    /// Directories in each directory of the tree that is no leaf, 1 to [`BRANCH_MAX`].
    pub branch: u32,
    /// Workers at once, 1 to [`THREADS_MAX`].
    pub threads: u32,
    /// Time limit of each phase except the write and read of the rule, s.
    pub limit_s: u32,
    /// Whether all nodes go on after the time limit until each has done as much as the one that has done most; with one
    /// worker each.
    pub wear_out: bool,
    /// Also runs the published shell loops.
    pub literal: bool,
    /// All nodes make their files in the same directories.
    pub shared: bool,
    /// Drops the caches of the whole machine before phases that need them cold.
    pub drop_caches: bool,
    /// The filesystem type that the place must have.
    pub expected: Option<String>,
}

impl Default for SmallFilesOptions {
    /// The options of the published rule.
    fn default() -> Self {
        SmallFilesOptions {
            files: shell::FILES,
            size_bytes: shell::SIZE_BYTES,
            depth: 0,
            branch: 2,
            threads: 1,
            limit_s: 3,
            wear_out: false,
            literal: false,
            shared: false,
            drop_caches: false,
            expected: None,
        }
    }
}

impl SmallFilesOptions {
    /// Whether the write and read are those of the published rule.
    pub(super) fn is_published(&self) -> bool {
        let published = SmallFilesOptions::default();
        (self.files, self.size_bytes, self.depth, self.threads)
            == (published.files, published.size_bytes, published.depth, published.threads)
    }

    /// Number of directories that hold files, if there are enough files.
    pub fn leaves(&self) -> u64 {
        u64::from(self.branch).saturating_pow(self.depth)
    }

    /// The space that the files may take: those of the rule and those that are synced, in whole blocks, each with its
    /// directory and its link.
    pub fn space_needs(&self) -> SpaceNeeds {
        let block = 4096;
        let file = self.size_bytes.div_ceil(block).max(1).saturating_mul(block);
        let loops = if self.literal { u64::from(shell::FILES) } else { 0 };
        // Five families of names exist at a time: files of the rule, moved, synced and entered ones, and directories or
        // links.
        // A tree has at most twice as many directories as leaves, and no more leaves than files.
        let (names, directories) = (5 * u64::from(self.files), 2 * self.leaves().min(self.files.into()));
        SpaceNeeds {
            bytes: file.saturating_add(block).saturating_mul(2 * u64::from(self.files)).saturating_add(loops * block),
            inodes: names + directories + loops,
        }
    }
}
