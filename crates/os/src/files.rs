//! Files as engines use them: opened for I/O, sized, synced, dropped from the cache, closed with a checked result.
//!
//! Everything here happens outside the measured loop. Every failure says what was tried, on which file, why it
//! failed, and what to do next.

mod contents;
mod directory;
mod entry;
mod error;
mod locks;
mod reach;
mod read;
mod recorded;
pub mod tree;
mod whole;

use std::cell::{Cell, Ref, RefCell};
use std::fs::File;
use std::path::{Path, PathBuf};

pub use contents::{CachedPages, Extents, extents_of, page_cache_of};
pub use directory::{Directory, SpaceLeft, identity_of};
pub use entry::{Entry, EntryKind, Identity};
pub use error::{FileCause, FileError};
use fsdyno_job::{Fallocate, SyncOpen};
pub use locks::{Lock, fcntl_lock, flock, try_lock};

pub use reach::Reach;
pub use read::{SMALL_FILE_BYTES_MAX, Stamp, read_at_most, read_stream, read_text, read_whole, stamp_of, text};
pub use recorded::{RecordedInput, RecordedLog, nameless};
pub use whole::{Readers, WholeFile, create_growing, remove_old_drafts, unguessable, write_whole};

use crate::system::fd::{AsFd, BorrowedFd, OwnedFd};
use crate::system::files as system;

/// What the file is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileAccess {
    /// Reads only.
    Read,
    /// Writes only.
    Write,
    /// Both (a mapping that is written needs it).
    ReadWrite,
}

/// How a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenMode {
    /// What for.
    pub access: FileAccess,
    /// Make it when it is missing (readable by all, writable by the owner).
    pub create: bool,
    /// Bypass the page cache (O_DIRECT).
    pub direct: bool,
    /// Every write is durable when it returns (O_SYNC, O_DSYNC).
    pub sync: SyncOpen,
}

impl OpenMode {
    /// Buffered, without creation.
    pub fn buffered(access: FileAccess) -> OpenMode {
        OpenMode { access, create: false, direct: false, sync: SyncOpen::None }
    }
}

/// What stands behind a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file.
    Regular,
    /// A block device.
    BlockDevice,
    /// A character device (`/dev/null`).
    CharacterDevice,
    /// A pipe, a socket.
    Other,
}

/// What stands behind a path, and how much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileFacts {
    /// Its kind; `None`: a directory.
    pub kind: Option<FileKind>,
    /// Its length, bytes.
    pub size_bytes: u64,
    /// What it takes on the storage, bytes.
    pub allocated_bytes: u64,
}

/// What direct I/O demands, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirectAlignment {
    /// Of the memory address.
    pub memory: u32,
    /// Of offset and length.
    pub offset: u32,
}

/// Advice about the access to come (`posix_fadvise`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advice {
    /// No special treatment.
    Normal,
    /// Random: no read-ahead.
    Random,
    /// Sequential: more read-ahead.
    Sequential,
    /// Read once.
    NoReuse,
    /// The cached pages may go.
    DontNeed,
}

/// An open file. Dropping it closes it unchecked; [`OpenFile::close`] checks.
#[derive(Debug)]
pub struct OpenFile {
    fd: OwnedFd,
    mode: OpenMode,
    // Both are another file's after [`OpenFile::replace`].
    path: RefCell<PathBuf>,
    kind: Cell<FileKind>,
}

impl OpenFile {
    /// Opens a file for I/O.
    pub fn open(path: &Path, mode: OpenMode) -> Result<OpenFile, FileError> {
        let fail = |code| FileError::of_open(path, mode, code);
        let fd = system::open(path, mode).map_err(fail)?;
        let kind = system::kind(fd.as_fd()).map_err(fail)?;
        Ok(OpenFile { fd, mode, path: path.to_owned().into(), kind: kind.into() })
    }

    /// Opens a file below a directory that is held; `path` is its whole path.
    fn beneath(root: &OwnedFd, name: &Path, path: &Path, mode: OpenMode) -> Result<OpenFile, FileError> {
        let fail = |code| FileError::of_open(path, mode, code);
        let fd = system::open_beneath(root.as_fd(), name, mode).map_err(fail)?;
        let kind = system::kind(fd.as_fd()).map_err(fail)?;
        Ok(OpenFile { fd, mode, path: path.to_owned().into(), kind: kind.into() })
    }

    /// Where it was found.
    pub fn path(&self) -> Ref<'_, Path> {
        Ref::map(self.path.borrow(), PathBuf::as_path)
    }

    /// How it was opened.
    pub fn mode(&self) -> OpenMode {
        self.mode
    }

    /// What it is.
    pub fn kind(&self) -> FileKind {
        self.kind.get()
    }

    /// Bytes of the file or of the device.
    pub fn size(&self) -> Result<u64, FileError> {
        self.checked("find the size of", system::size(self.as_fd(), self.kind()))
    }

    /// Bytes that the file system has allocated for it; a device has all of its bytes.
    pub fn allocated(&self) -> Result<u64, FileError> {
        match self.kind() {
            FileKind::BlockDevice => self.size(),
            _ => self.checked("find the allocated size of", system::allocated(self.as_fd())),
        }
    }

    /// What direct I/O demands of this file; `None` when the kernel (before 6.1) or the file system does not say.
    pub fn direct_alignment(&self) -> Option<DirectAlignment> {
        system::direct_alignment(self.as_fd())
    }

    /// Why a direct transfer with these values may have been answered with EINVAL, and what to do.
    pub fn explain_refused_transfer(&self, offset: u64, length: u64, memory_align: usize) -> String {
        error::refused_transfer(self.direct_alignment(), offset, length, memory_align)
    }

    /// Tells the kernel how the range will be used; length 0 reaches to the end.
    pub fn advise(&self, advice: Advice, offset: u64, length: u64) -> Result<(), FileError> {
        self.checked("advise about", system::advise(self.as_fd(), advice, offset, length))
    }

    /// Tells the kernel how long what is written will live, by its number (1 nothing, 2 short to 5 extreme).
    pub fn hint_lifetime(&self, number: u8) -> Result<(), FileError> {
        self.checked("give a write hint for", system::hint_lifetime(self.as_fd(), number))
    }

    /// Reserves `length` bytes from the start in the way asked for.
    pub fn allocate(&self, how: Fallocate, length: u64) -> Result<(), FileError> {
        self.checked("allocate space for", system::allocate(self.as_fd(), how, length))
    }

    /// Sets the size.
    pub fn truncate(&self, length: u64) -> Result<(), FileError> {
        self.checked("set the size of", system::truncate(self.as_fd(), length))
    }

    /// fsync(2).
    pub fn sync(&self) -> Result<(), FileError> {
        self.checked("fsync", system::sync(self.as_fd()))
    }

    /// fdatasync(2).
    pub fn sync_data(&self) -> Result<(), FileError> {
        self.checked("fdatasync", system::sync_data(self.as_fd()))
    }

    /// sync_file_range(2); `flags`: bit 0 wait before, bit 1 write, bit 2 wait after.
    pub fn sync_range(&self, offset: u64, length: u64, flags: u32) -> Result<(), FileError> {
        self.checked("sync_file_range", system::sync_range(self.as_fd(), offset, length, flags))
    }

    /// syncfs(2): the whole file system that holds this file.
    pub fn sync_filesystem(&self) -> Result<(), FileError> {
        self.checked("syncfs", system::sync_filesystem(self.as_fd()))
    }

    /// Drops the cached pages of a range; length 0 reaches to the end. Pages that are dirty or in use stay: sync
    /// first when the file was just written. A block device drops all of its pages.
    pub fn drop_cache(&self, offset: u64, length: u64) -> Result<(), FileError> {
        let outcome = match self.kind() {
            FileKind::BlockDevice => system::flush_device_cache(self.as_fd()),
            _ => system::advise(self.as_fd(), Advice::DontNeed, offset, length),
        };
        self.checked("drop the cached pages of", outcome)
    }

    /// Writes all of `data` at `offset` (layout; the measured writes are the engines').
    pub fn write_all_at(&self, data: &[u8], offset: u64) -> Result<(), FileError> {
        self.checked("write to", system::write_all_at(self.as_fd(), data, offset))
    }

    /// Fills `data` from `offset` and says how many bytes there were before the end of the file.
    pub fn read_full_at(&self, data: &mut [u8], offset: u64) -> Result<usize, FileError> {
        self.checked("read from", system::read_full_at(self.as_fd(), data, offset))
    }

    /// Puts another file in the place of this one, for whoever knows this one by its descriptor. Nothing may be in flight.
    pub fn replace(&self, other: OpenFile) -> Result<(), FileError> {
        let OpenFile { fd, path, kind, .. } = other;
        self.checked("replace", system::replace(self.as_fd(), fd))?;
        self.path.swap(&path);
        self.kind.swap(&kind);
        Ok(())
    }

    /// What a close would tell, while it stays open: a descriptor of the same file is closed.
    pub fn try_close(&self) -> Result<(), FileError> {
        self.checked("close", system::duplicate(self.as_fd()).and_then(system::close))
    }

    /// Closes it. A deferred write error (NFS, FUSE, quotas) shows up here and nowhere else.
    pub fn close(self) -> Result<(), FileError> {
        let OpenFile { fd, path, .. } = self;
        system::close(fd).map_err(|code| FileError::of("close", &path.borrow(), code))
    }

    /// As `checked`, for looks that may fail without harm: there is no advice to give.
    fn looked<T>(&self, operation: &'static str, outcome: Result<T, i32>) -> Result<T, FileError> {
        self.checked(operation, outcome).map_err(|error| FileError { advice: String::new(), ..error })
    }

    fn checked<T>(&self, operation: &'static str, outcome: Result<T, i32>) -> Result<T, FileError> {
        outcome.map_err(|code| FileError::of(operation, &self.path(), code))
    }
}

impl AsFd for OpenFile {
    #[inline]
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Writes all of `data` at `offset` of a file that is no [`OpenFile`].
///
/// # Errors
/// As the filesystem says.
pub fn write_all_at(file: &File, data: &[u8], offset: u64) -> std::io::Result<()> {
    system::write_all_at(file.as_fd(), data, offset).map_err(std::io::Error::from_raw_os_error)
}

/// Makes a directory, and those on the way that are missing, for this user alone.
///
/// # Errors
/// When one cannot be made.
pub fn make_private_directories(path: &Path) -> std::io::Result<()> {
    system::private_directories().recursive(true).create(path)
}

/// Removes a file.
pub fn remove(path: &Path) -> Result<(), FileError> {
    system::remove(path).map_err(|code| FileError::of("remove", path, code))
}

#[cfg(test)]
mod tests;
