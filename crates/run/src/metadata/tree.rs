//! Makes the directory tree and the names of the small files.

use std::ffi::CString;
use std::path::Path;

use fsdyno_os::files::{Directory, FileError};

/// Families of names: each phase that makes something uses its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// The files of the published rule: `test7.txt`.
    Test,
    /// Empty files.
    Empty,
    /// Empty files with a new name.
    Moved,
    /// Files that were each synced.
    Synced,
    /// Empty files, with a sync of the directory after each.
    Entered,
    /// Directories.
    Directory,
    /// Symbolic links.
    Link,
}

impl Family {
    /// Number of families.
    pub const COUNT: usize = 7;

    /// The parts of the name before and after the number.
    fn affixes(self) -> (&'static str, &'static str) {
        match self {
            // As the published page writes it.
            Family::Test => ("test", ".txt"),
            Family::Empty => ("empty", ""),
            Family::Moved => ("moved", ""),
            Family::Synced => ("synced", ""),
            Family::Entered => ("entered", ""),
            Family::Directory => ("directory", ""),
            Family::Link => ("link", ""),
        }
    }
}

/// A tree of directories; the files are spread evenly over its leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tree {
    depth: u32,
    /// Directories in each directory that is no leaf.
    branch: u32,
    leaves: u32,
    /// The rank in the files' names; `None`: no other rank has files in the same tree.
    rank: Option<u32>,
}

impl Tree {
    /// A tree of this depth with `branch` directories in each, or fewer if there would be more leaves than files.
    pub fn new(depth: u32, branch: u32, files: u32) -> Tree {
        let ends = branch.saturating_pow(depth);
        Tree { depth, branch, leaves: ends.min(files).max(1), rank: None }
    }

    /// The same directories, with file names of this rank.
    pub fn of_rank(self, rank: u32) -> Tree {
        Tree { rank: Some(rank), ..self }
    }

    /// The same names without directories: relative to the directory of a file.
    pub fn without_directories(self) -> Tree {
        Tree { depth: 0, leaves: 1, ..self }
    }

    /// Number of directories that hold files.
    pub fn leaves(&self) -> u32 {
        self.leaves
    }

    /// The directory of a file, relative to the root: empty, or ending with a slash.
    fn prefix(&self, index: u32) -> String {
        let leaf = index % self.leaves;
        let number = |level| leaf / self.branch.saturating_pow(level) % self.branch;
        (0..self.depth).rev().map(|level| format!("d{}/", number(level))).collect()
    }

    /// The directory of a file as a name for a system call: `.` is the root.
    pub fn directory(&self, index: u32) -> CString {
        let prefix = self.prefix(index);
        text(if prefix.is_empty() { ".".to_string() } else { prefix.trim_end_matches('/').to_string() })
    }

    /// A name, relative to the root.
    pub fn name(&self, family: Family, index: u32) -> CString {
        let (before, after) = family.affixes();
        let rank = self.rank.map(|rank| format!("rank{rank}-")).unwrap_or_default();
        text(format!("{}{rank}{before}{index}{after}", self.prefix(index)))
    }

    /// Makes the directories under `root`; `next` is called with each path that is about to be accessed.
    ///
    /// # Errors
    /// When one cannot be made.
    pub fn make(&self, root: &Directory, next: &mut dyn FnMut(&Path)) -> Result<(), FileError> {
        for leaf in 0..self.leaves {
            let prefix = self.prefix(leaf);
            next(&root.path().join(&prefix));
            root.make_all(prefix.as_ref())?;
        }
        Ok(())
    }
}

fn text(text: String) -> CString {
    CString::new(text).expect("letters, digits, dots and slashes hold no zero byte")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_depth_everything_lies_in_one_directory_under_the_published_names() {
        let tree = Tree::new(0, 2, 1001);
        assert_eq!((tree.leaves(), tree.directory(5).as_c_str()), (1, c"."));
        assert_eq!(tree.name(Family::Test, 0).as_c_str(), c"test0.txt");
        assert_eq!(tree.name(Family::Test, 1000).as_c_str(), c"test1000.txt");
    }

    #[test]
    fn ranks_in_the_same_directories_have_names_of_their_own() {
        let tree = Tree::new(1, 2, 10).of_rank(3);
        assert_eq!(tree.name(Family::Test, 1).as_c_str(), c"d1/rank3-test1.txt");
        assert_eq!(tree.directory(1), Tree::new(1, 2, 10).directory(1));
    }

    #[test]
    fn files_are_spread_evenly_over_the_ends_of_the_tree() {
        let tree = Tree::new(2, 2, 10);
        let directories: Vec<_> = (0..5).map(|index| tree.directory(index).into_string().unwrap()).collect();
        assert_eq!(directories, ["d0/d0", "d0/d1", "d1/d0", "d1/d1", "d0/d0"]);
        assert_eq!(tree.name(Family::Empty, 6).as_c_str(), c"d1/d0/empty6");
    }

    #[test]
    fn a_tree_has_as_many_directories_as_its_branch_says() {
        let tree = Tree::new(2, 3, 100);
        assert_eq!(tree.leaves(), 9);
        let directories: Vec<_> = [0, 1, 3, 8, 9].map(|index| tree.directory(index).into_string().unwrap()).into();
        assert_eq!(directories, ["d0/d0", "d0/d1", "d1/d0", "d2/d2", "d0/d0"]);
    }

    #[test]
    fn no_directory_is_made_for_files_that_are_not_there() {
        let tree = Tree::new(5, 2, 3);
        let place = tempfile::tempdir().unwrap();
        tree.make(&Directory::open(place.path()).unwrap(), &mut |_| ()).unwrap();
        assert_eq!(tree.leaves(), 3);
        for index in 0..3 {
            assert!(place.path().join(tree.directory(index).to_str().unwrap()).is_dir());
        }
        assert_eq!(tree.directory(2), tree.directory(5));
    }
}
