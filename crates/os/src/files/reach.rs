//! How the files of a run are reached: by the paths that the user gave, or below an open directory.

use std::path::Path;
use std::sync::Arc;

use super::{Directory, EntryKind, FileAccess, FileError, FileFacts, FileKind, OpenFile, OpenMode};
use crate::errno;

/// How files are reached.
#[derive(Clone, Debug, Default)]
pub enum Reach {
    /// By their paths, through all links on the way, because the user named them.
    #[default]
    ByPath,
    /// Below an open directory of this program: a path only says which file.
    Beneath(Arc<Directory>),
}

impl Reach {
    /// Whether this path can be reached.
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

    /// Opens a file that must be a regular file, and nothing that replaced it.
    ///
    /// # Errors
    /// As [`OpenFile::open`], and for any other kind of file.
    pub fn open_regular(&self, path: &Path, mode: OpenMode) -> Result<OpenFile, FileError> {
        let file = self.open(path, mode)?;
        match file.kind() {
            FileKind::Regular => Ok(file),
            _ => Err(FileError::of("fill", path, errno::EEXIST)),
        }
    }

    /// Removes a file; below an open directory, a link and not its target.
    ///
    /// # Errors
    /// If the removal fails.
    pub fn remove(&self, path: &Path) -> Result<(), FileError> {
        match self {
            Reach::ByPath => super::remove(path),
            Reach::Beneath(directory) => directory.remove(name(directory, path)?),
        }
    }

    /// Kind and size of the file at a path. Links are followed for paths of the user; below an open directory there
    /// are none.
    ///
    /// # Errors
    /// If it does not exist, or cannot be looked at.
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

    /// Whether the name itself is a link that must be followed.
    pub fn follows_link(&self, path: &Path) -> bool {
        matches!(self, Reach::ByPath) && path.is_symlink()
    }

    /// Makes the parent directories of a file, accessible only to the owner.
    ///
    /// # Errors
    /// If one cannot be made.
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

    /// Opens a file to look at it. Only regular files and block devices are opened, because a pipe waits for a writer
    /// and a character device may have any effect.
    ///
    /// # Errors
    /// If it is neither, or cannot be opened.
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
