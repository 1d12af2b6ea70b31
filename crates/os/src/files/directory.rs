//! An open directory. Files below it are reached from its descriptor and never by its path, so that renames,
//! replacements and links on the way change nothing. Names lead neither through links nor into other mounts.

use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};

use super::entry::{DirectoryEntry, EntryKind, Identity};
use super::{FileError, OpenFile, OpenMode};
use crate::errno;
use crate::system::beneath;
use crate::system::fd::{AsFd, BorrowedFd, OwnedFd};

/// Bytes and inodes of a filesystem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpaceLeft {
    /// Total bytes.
    pub total_bytes: u64,
    /// Bytes that this user may still use.
    pub available_bytes: u64,
    /// Total inodes; 0: the filesystem makes them when it needs them.
    pub total_inodes: u64,
    /// Inodes that this user may still use.
    pub available_inodes: u64,
}

/// An open directory.
#[derive(Debug)]
pub struct Directory {
    fd: OwnedFd,
    path: PathBuf,
}

impl Directory {
    /// Opens a directory that the user named; links on the way are followed.
    ///
    /// # Errors
    /// If it is not a directory or cannot be read.
    pub fn open(path: &Path) -> Result<Directory, FileError> {
        let fd = beneath::open_directory(path).map_err(|code| FileError::of("open", path, code))?;
        Ok(Directory { fd, path: path.to_owned() })
    }

    /// Opens the directory in which a file is made whole; `ELOOP`: root does not follow the link of another user.
    pub(super) fn open_of_file(path: &Path) -> Result<Directory, i32> {
        let fd = beneath::open_directory_of_file(path)?;
        Ok(Directory { fd, path: path.to_owned() })
    }

    /// Makes a directory that only this user can access, and opens it. The directory of this name must then be empty
    /// and on the same mount. Its owner shows only when a file is made in it, because a server or a mount option may
    /// map users.
    ///
    /// # Errors
    /// If it cannot be made, or if another directory has replaced it meanwhile.
    pub fn make(&self, name: &str) -> Result<Directory, FileError> {
        self.at("create the directory", name, beneath::make_directory(self.fd.as_fd(), Path::new(name), 0o700))?;
        let made = self.enter(Path::new(name))?;
        if made.names()?.is_empty() {
            return Ok(made);
        }
        // Another directory has replaced it.
        Err(FileError::of("keep hold of", &self.path.join(name), errno::ESTALE))
    }

    /// Makes a directory directly below that others may read, unless the name exists; says whether it did.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn make_unless_there(&self, name: &Path) -> Result<bool, FileError> {
        match beneath::make_directory(self.fd.as_fd(), name, 0o755) {
            Err(errno::EEXIST) => Ok(false),
            outcome => self.at("create the directory", name, outcome.map(|()| true)),
        }
    }

    /// Makes a directory below this one, with its parents, unless they exist.
    ///
    /// # Errors
    /// If one cannot be made.
    pub fn make_all(&self, name: &Path) -> Result<(), FileError> {
        let mut so_far = PathBuf::new();
        let mut at: Option<Directory> = None;
        for part in name.components() {
            so_far.push(part);
            let from = at.as_ref().unwrap_or(self);
            let part = Path::new(part.as_os_str());
            match beneath::make_directory(from.fd.as_fd(), part, 0o700) {
                Ok(()) | Err(errno::EEXIST) => {}
                Err(code) => return Err(FileError::of("create the directory", &self.path.join(so_far), code)),
            }
            at = Some(from.enter(part)?);
        }
        Ok(())
    }

    /// Opens a directory below this one.
    ///
    /// # Errors
    /// If it is not a directory, or a link or another mount is on the way.
    pub fn enter(&self, name: &Path) -> Result<Directory, FileError> {
        let fd = self.at("open", name, beneath::enter(self.fd.as_fd(), name))?;
        Ok(Directory { fd, path: self.path.join(name) })
    }

    /// The path by which it was opened. It is for messages and must never be opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its present path; `None`: it was removed, or the path is not visible.
    pub fn current_path(&self) -> Option<PathBuf> {
        beneath::current_path(self.fd.as_fd())
    }

    /// The part of a path that lies below this directory.
    pub fn below<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        path.strip_prefix(&self.path).ok().filter(|rest| rest.components().next().is_some())
    }

    /// Opens a file for I/O; `path` is its whole path.
    ///
    /// # Errors
    /// As [`OpenFile::open`]; also if the path is not below this directory.
    pub fn open_file(&self, path: &Path, mode: OpenMode) -> Result<OpenFile, FileError> {
        let name = self.below(path).ok_or_else(|| FileError::of("open", path, errno::EXDEV))?;
        OpenFile::beneath(&self.fd, name, path, mode)
    }

    /// Makes a new file for reading and writing that only this user can access.
    ///
    /// # Errors
    /// If it cannot be made, also because the name exists.
    pub fn create_new(&self, name: &str) -> Result<File, FileError> {
        self.create_with_mode(name, 0o600)
    }

    pub(super) fn create_with_mode(&self, name: &str, mode: u32) -> Result<File, FileError> {
        Ok(File::from(self.at("create", name, beneath::create_new(self.fd.as_fd(), Path::new(name), mode))?))
    }

    /// Opens an existing regular file, for reading and for a lock. No other kind of file is opened: links are not
    /// followed, and it does not wait for a pipe.
    ///
    /// # Errors
    /// If it does not exist or is not a regular file.
    pub fn open_regular(&self, name: &str) -> Result<(File, DirectoryEntry), FileError> {
        let entry = self.look(Path::new(name))?;
        if entry.kind != EntryKind::Regular {
            return Err(FileError::of("open", &self.path.join(name), errno::EINVAL));
        }
        let fd = self.at("open", name, beneath::open_old(self.fd.as_fd(), Path::new(name)))?;
        // The file may have been replaced since the first look.
        let entry = self.at("look at", name, beneath::look_at(fd.as_fd()))?;
        if entry.kind != EntryKind::Regular {
            return Err(FileError::of("open", &self.path.join(name), errno::EINVAL));
        }
        Ok((File::from(fd), entry))
    }

    /// The entry of a name below this directory; for a link, the link itself.
    ///
    /// # Errors
    /// If the name does not exist.
    pub fn look(&self, name: &Path) -> Result<DirectoryEntry, FileError> {
        self.at("look at", name, beneath::look(self.fd.as_fd(), name))
    }

    /// The entry of the directory itself.
    ///
    /// # Errors
    /// If the filesystem does not report it.
    pub fn state(&self) -> Result<DirectoryEntry, FileError> {
        self.at("look at", "", beneath::look_at(self.fd.as_fd()))
    }

    /// The names in the directory.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn names(&self) -> Result<Vec<OsString>, FileError> {
        self.at("read", "", beneath::names(self.fd.as_fd()))
    }

    /// Removes a name that is not a directory; for a link, the link and not its target.
    ///
    /// # Errors
    /// If the removal fails.
    pub fn remove(&self, name: &Path) -> Result<(), FileError> {
        match (name.parent(), name.file_name()) {
            (Some(parent), Some(last)) if parent.components().next().is_some() => {
                self.enter(parent)?.remove(Path::new(last))
            }
            _ => self.at("remove", name, beneath::unlink(self.fd.as_fd(), name)),
        }
    }

    /// Removes an empty directory directly below.
    ///
    /// # Errors
    /// If it is not empty, or if the removal fails.
    pub fn remove_directory(&self, name: &Path) -> Result<(), FileError> {
        self.at("remove", name, beneath::remove_directory(self.fd.as_fd(), name))
    }

    /// Renames a file directly below; an existing file of the new name is replaced.
    ///
    /// # Errors
    /// If the rename fails.
    pub fn rename(&self, from: &str, to: &Path) -> Result<(), FileError> {
        self.at("rename to", to, beneath::rename(self.fd.as_fd(), Path::new(from), to))
    }

    /// Bytes and inodes of its filesystem; `None`: not known.
    pub fn space(&self) -> Option<SpaceLeft> {
        let [(total_bytes, available_bytes), (total_inodes, available_inodes)] =
            beneath::space(self.fd.as_fd()).ok()?;
        // A network filesystem that does not know its size reports no blocks; this does not mean a full disk.
        (total_bytes > 0).then_some(SpaceLeft { total_bytes, available_bytes, total_inodes, available_inodes })
    }

    fn at<T>(&self, operation: &'static str, name: impl AsRef<Path>, outcome: Result<T, i32>) -> Result<T, FileError> {
        outcome.map_err(|code| FileError::of(operation, &self.path.join(name), code))
    }
}

impl AsFd for Directory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// The identity of an open file.
///
/// # Errors
/// errno.
pub fn identity_of(file: &File) -> Result<Identity, i32> {
    beneath::identity(file.as_fd())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::{FileAccess, Lock, try_lock};

    #[test]
    fn a_directory_that_was_exchanged_is_still_the_one_that_is_held() {
        let place = tempfile::tempdir().unwrap();
        let parent = Directory::open(place.path()).unwrap();
        let ours = parent.make("work").unwrap();
        std::fs::create_dir(place.path().join("theirs")).unwrap();
        std::fs::write(place.path().join("theirs/file"), "precious").unwrap();
        std::fs::rename(place.path().join("work"), place.path().join("stolen")).unwrap();
        std::os::unix::fs::symlink(place.path().join("theirs"), place.path().join("work")).unwrap();

        let mode = OpenMode { create: true, ..OpenMode::buffered(FileAccess::Write) };
        let file = ours.open_file(&place.path().join("work/file"), mode).unwrap();
        file.write_all_at(b"data", 0).unwrap();
        assert_eq!(std::fs::read(place.path().join("theirs/file")).unwrap(), b"precious");
        assert_eq!(std::fs::read(place.path().join("stolen/file")).unwrap(), b"data");
        ours.remove(Path::new("file")).unwrap();
        assert!(place.path().join("theirs/file").exists() && !place.path().join("stolen/file").exists());
        assert!(parent.enter(Path::new("work")).is_err(), "a link is not entered");
    }

    #[test]
    fn only_regular_files_are_opened_for_their_content() {
        let place = tempfile::tempdir().unwrap();
        let directory = Directory::open(place.path()).unwrap();
        rustix::fs::mknodat(&directory, "fifo", rustix::fs::FileType::Fifo, rustix::fs::Mode::from_raw_mode(0o600), 0)
            .unwrap();
        std::os::unix::fs::symlink("/dev/zero", place.path().join("link")).unwrap();
        std::fs::create_dir(place.path().join("sub")).unwrap();
        for name in ["fifo", "link", "sub", "missing"] {
            assert!(directory.open_regular(name).is_err(), "{name}");
        }
        let first = directory.create_new("file").unwrap();
        assert!(directory.create_new("file").is_err(), "the file must be new");
        let (second, entry) = directory.open_regular("file").unwrap();
        assert_eq!(entry.kind, EntryKind::Regular);
        assert_eq!((try_lock(&first), try_lock(&second)), (Lock::Taken, Lock::Held));
        drop(first);
        assert_eq!(try_lock(&second), Lock::Taken, "a lock ends with its file");
    }

    #[test]
    fn directories_on_the_way_are_made() {
        let place = tempfile::tempdir().unwrap();
        let directory = Directory::open(place.path()).unwrap();
        directory.make_all(Path::new("a/b/c")).unwrap();
        directory.make_all(Path::new("a/b/d")).unwrap();
        assert!(place.path().join("a/b/c").is_dir() && place.path().join("a/b/d").is_dir());
        assert!(directory.make_all(Path::new("../out")).is_err());
        assert!(directory.make("a").is_err(), "the name is taken");
    }
}
