//! How the files of a run are reached: by the paths that a person gave, or below a directory that is held.

use std::path::Path;
use std::sync::Arc;

use super::{Directory, EntryKind, FileAccess, FileError, FileFacts, FileKind, OpenFile, OpenMode};
use crate::errno;

/// How files are reached.
#[derive(Clone, Debug, Default)]
pub enum Reach {
    /// By their paths, through whatever links lie on the way: the files are those of the person who named them.
    #[default]
    ByPath,
    /// Below a directory of ours: their paths say only which.
    Beneath(Arc<Directory>),
}

impl Reach {
    /// Whether this path can be reached at all.
    pub fn covers(&self, path: &Path) -> bool {
        match self {
            Reach::ByPath => true,
            Reach::Beneath(directory) => directory.below(path).is_some(),
        }
    }

    /// Opens a file for I/O.
    ///
    /// # Errors
    /// As [`OpenFile::open`].
    pub fn open(&self, path: &Path, mode: OpenMode) -> Result<OpenFile, FileError> {
        match self {
            Reach::ByPath => OpenFile::open(path, mode),
            Reach::Beneath(directory) => directory.open_file(path, mode),
        }
    }

    /// Opens what must be a file with bytes of its own, and nothing that came to stand in its place.
    ///
    /// # Errors
    /// As [`OpenFile::open`], and for anything else.
    pub fn open_regular(&self, path: &Path, mode: OpenMode) -> Result<OpenFile, FileError> {
        let file = self.open(path, mode)?;
        match file.kind() {
            FileKind::Regular => Ok(file),
            _ => Err(FileError::of("fill", path, errno::EEXIST)),
        }
    }

    /// Removes a file; below a directory of ours a link and not what it leads to.
    ///
    /// # Errors
    /// When that fails.
    pub fn remove(&self, path: &Path) -> Result<(), FileError> {
        match self {
            Reach::ByPath => super::remove(path),
            Reach::Beneath(directory) => directory.remove(name(directory, path)?),
        }
    }

    /// What stands behind a path. By path, links are followed; below a directory of ours there are none to follow.
    ///
    /// # Errors
    /// When nothing is there, or it cannot be looked at.
    pub fn look(&self, path: &Path) -> Result<FileFacts, FileError> {
        match self {
            Reach::ByPath => crate::system::files::look(path)
                .map_err(|error| FileError::of("look at", path, error.raw_os_error().unwrap_or(0))),
            Reach::Beneath(directory) => {
                let entry = directory.look(name(directory, path)?)?;
                let kind = match entry.kind {
                    EntryKind::Regular => Some(FileKind::Regular),
                    EntryKind::Directory => None,
                    EntryKind::Link | EntryKind::Other => Some(FileKind::Other),
                };
                Ok(FileFacts { kind, size_bytes: entry.size_bytes, allocated_bytes: entry.allocated_bytes })
            }
        }
    }

    /// Whether the name itself is a link that is to be followed.
    pub fn follows_link(&self, path: &Path) -> bool {
        matches!(self, Reach::ByPath) && path.is_symlink()
    }

    /// Makes the directories that a file lies in, for the owner alone.
    ///
    /// # Errors
    /// When one cannot be made.
    pub fn make_parents(&self, path: &Path) -> Result<(), FileError> {
        let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) else { return Ok(()) };
        match self {
            Reach::ByPath if parent.is_dir() => Ok(()),
            Reach::ByPath => {
                let made = super::make_private_directories(parent);
                made.map_err(|error| FileError::of("create the directory", parent, error.raw_os_error().unwrap_or(0)))
            }
            Reach::Beneath(directory) => match directory.below(parent) {
                Some(below) => directory.make_all(below),
                None => Ok(()),
            },
        }
    }

    /// Opens a file to look at it: only files and block devices, for a pipe waits for a writer and a character device may
    /// do anything.
    ///
    /// # Errors
    /// When it is neither, or cannot be opened.
    pub fn open_to_look(&self, path: &Path) -> Result<OpenFile, FileError> {
        match self.look(path)?.kind {
            Some(FileKind::Regular | FileKind::BlockDevice) => self.open(path, OpenMode::buffered(FileAccess::Read)),
            _ => Err(FileError::of("look at", path, errno::ENODEV)),
        }
    }
}

fn name<'p>(directory: &Directory, path: &'p Path) -> Result<&'p Path, FileError> {
    directory.below(path).ok_or_else(|| FileError::of("reach", path, errno::EXDEV))
}
