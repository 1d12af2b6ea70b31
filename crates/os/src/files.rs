//! Files for engines: opens, sizes and syncs them, drops their cached pages, and closes them with a checked result.
//!
//! Nothing here runs in the measured loop. Every failure says what was tried, on which file, why it failed, and what
//! to do next.

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
pub use entry::{DirectoryEntry, EntryKind, Identity};
pub use error::{FileCause, FileError};
use fsdyno_job::{Fallocate, SyncOpen};
pub use locks::{Lock, fcntl_lock, flock, try_lock};

pub use reach::Reach;
pub use read::{SMALL_FILE_BYTES_MAX, Stamp, read_at_most, read_stream, read_text, read_whole, stamp_of, text};
pub use recorded::{RecordedInput, RecordedLog, nameless};
pub use whole::{Readers, WholeFile, create_growing, draft_name, remove_old_drafts, unguessable, write_whole};

use crate::system::fd::{AsFd, BorrowedFd, OwnedFd};
use crate::system::files as system;
use crate::zones::Zone;

/// The access that the file is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileAccess {
    /// Reads only.
    Read,
    /// Writes only.
    Write,
    /// Reads and writes (also needed for a mapping that is written).
    ReadWrite,
}

/// How a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenMode {
    /// The access.
    pub access: FileAccess,
    /// Create the file if it is missing (readable by all users, writable by the owner).
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

/// The kind of a file.
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

/// Kind and size of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileFacts {
    /// Kind of the file; `None`: a directory.
    pub kind: Option<FileKind>,
    /// Its length, bytes.
    pub size_bytes: u64,
    /// Bytes that it uses on the storage.
    pub allocated_bytes: u64,
}

/// The alignment that direct I/O needs, bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirectAlignment {
    /// Alignment of the memory address.
    pub memory: u32,
    /// Alignment of offset and length.
    pub offset: u32,
}

/// Advice about later accesses (`posix_fadvise`).
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
    /// The cached pages are no longer needed.
    DontNeed,
}

/// An open file. Dropping it closes it unchecked; [`OpenFile::close`] checks.
#[derive(Debug)]
pub struct OpenFile {
    fd: OwnedFd,
    mode: OpenMode,
    // After [`OpenFile::replace`] both belong to another file.
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

    /// Opens a file below an open directory; `path` is its whole path.
    fn beneath(root: &OwnedFd, name: &Path, path: &Path, mode: OpenMode) -> Result<OpenFile, FileError> {
        let fail = |code| FileError::of_open(path, mode, code);
        let fd = system::open_beneath(root.as_fd(), name, mode).map_err(fail)?;
        let kind = system::kind(fd.as_fd()).map_err(fail)?;
        Ok(OpenFile { fd, mode, path: path.to_owned().into(), kind: kind.into() })
    }

    /// The path by which it was opened.
    pub fn path(&self) -> Ref<'_, Path> {
        Ref::map(self.path.borrow(), PathBuf::as_path)
    }

    /// How it was opened.
    pub fn mode(&self) -> OpenMode {
        self.mode
    }

    /// Its kind.
    pub fn kind(&self) -> FileKind {
        self.kind.get()
    }

    /// Size of the file or of the device, bytes.
    pub fn size(&self) -> Result<u64, FileError> {
        self.checked("find the size of", system::size(self.as_fd(), self.kind()))
    }

    /// Bytes that the filesystem has allocated for it; for a device, its whole size.
    pub fn allocated(&self) -> Result<u64, FileError> {
        match self.kind() {
            FileKind::BlockDevice => self.size(),
            _ => self.checked("find the allocated size of", system::allocated(self.as_fd())),
        }
    }

    /// The alignment that direct I/O on this file needs; `None`: the kernel (before 6.1) or the filesystem does not
    /// report it.
    pub fn direct_alignment(&self) -> Option<DirectAlignment> {
        system::direct_alignment(self.as_fd())
    }

    /// Why a direct transfer with these values may have failed with EINVAL, and what to do.
    pub fn explain_refused_transfer(&self, offset: u64, length: u64, memory_align: usize) -> String {
        error::refused_transfer(self.direct_alignment(), offset, length, memory_align)
    }

    /// Tells the kernel how the range will be used; length 0 means up to the end.
    pub fn advise(&self, advice: Advice, offset: u64, length: u64) -> Result<(), FileError> {
        self.checked("advise about", system::advise(self.as_fd(), advice, offset, length))
    }

    /// Tells the kernel the expected lifetime of written data, by its number (1 none, 2 short to 5 extreme).
    pub fn hint_lifetime(&self, number: u8) -> Result<(), FileError> {
        self.checked("give a write hint for", system::hint_lifetime(self.as_fd(), number))
    }

    /// The zones of a zoned block device, from the one that contains `from` to the one before `to`, bytes.
    pub fn zones(&self, from: u64, to: u64) -> Result<Vec<Zone>, FileError> {
        self.checked("find the zones of", crate::system::zones::report(self.as_fd(), from, to))
    }

    /// Reserves `length` bytes from the start in this way.
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

    /// syncfs(2): syncs the whole filesystem of this file.
    pub fn sync_filesystem(&self) -> Result<(), FileError> {
        self.checked("syncfs", system::sync_filesystem(self.as_fd()))
    }

    /// Drops the cached pages of a range; length 0 means up to the end. Pages that are dirty or in use stay: sync
    /// first after a write. On a block device, all of its pages are dropped.
    pub fn drop_cache(&self, offset: u64, length: u64) -> Result<(), FileError> {
        let outcome = match self.kind() {
            FileKind::BlockDevice => system::flush_device_cache(self.as_fd()),
            _ => system::advise(self.as_fd(), Advice::DontNeed, offset, length),
        };
        self.checked("drop the cached pages of", outcome)
    }

    /// Writes all of `data` at `offset`. It is for the layout; measured writes are made by the engines.
    pub fn write_all_at(&self, data: &[u8], offset: u64) -> Result<(), FileError> {
        self.checked("write to", system::write_all_at(self.as_fd(), data, offset))
    }

    /// Fills `data` from `offset`; returns the number of bytes before the end of the file.
    pub fn read_full_at(&self, data: &mut [u8], offset: u64) -> Result<usize, FileError> {
        self.checked("read from", system::read_full_at(self.as_fd(), data, offset))
    }

    /// Makes the descriptor of this file lead to another one, for code that knows the file by its descriptor. Nothing
    /// may be in flight.
    pub fn replace(&self, other: OpenFile) -> Result<(), FileError> {
        let OpenFile { fd, path, kind, .. } = other;
        self.checked("replace", system::replace(self.as_fd(), fd))?;
        self.path.swap(&path);
        self.kind.swap(&kind);
        Ok(())
    }

    /// Reports what a close would report, while the file stays open: closes a second descriptor of it.
    pub fn try_close(&self) -> Result<(), FileError> {
        self.checked("close", system::duplicate(self.as_fd()).and_then(system::close))
    }

    /// Closes the file. A deferred write error (NFS, FUSE, quotas) is reported only here.
    pub fn close(self) -> Result<(), FileError> {
        let OpenFile { fd, path, .. } = self;
        system::close(fd).map_err(|code| FileError::of("close", &path.borrow(), code))
    }

    /// Like `checked`, for calls that may fail without harm, so that no advice is given.
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

/// Writes all of `data` at `offset` of a file that is not an [`OpenFile`].
///
/// # Errors
/// The filesystem's error.
pub fn write_all_at(file: &File, data: &[u8], offset: u64) -> std::io::Result<()> {
    system::write_all_at(file.as_fd(), data, offset).map_err(std::io::Error::from_raw_os_error)
}

/// Makes a directory and its missing parents, accessible only to this user.
///
/// # Errors
/// If one cannot be made.
pub fn make_private_directories(path: &Path) -> std::io::Result<()> {
    system::private_directories().recursive(true).create(path)
}

/// Removes a file.
pub fn remove(path: &Path) -> Result<(), FileError> {
    system::remove(path).map_err(|code| FileError::of("remove", path, code))
}

#[cfg(test)]
mod tests;
