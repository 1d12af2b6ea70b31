//! Calls on names below an open directory, as `crate::names` lists them.

use std::ffi::{CStr, OsStr, OsString};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use rustix::fs::{AtFlags, Mode, OFlags, RawDir, StatxFlags};

use super::files::errno;
use crate::files::Directory;

/// The name of these bytes.
pub(crate) fn os_string(bytes: Vec<u8>) -> OsString {
    OsString::from_vec(bytes)
}

/// A file or a directory that was opened by its name.
#[derive(Debug)]
pub struct Opened(OwnedFd);

impl Opened {
    /// Writes at its position; returns the number of bytes written.
    pub fn write(&self, bytes: &[u8]) -> Result<usize, i32> {
        rustix::io::write(&self.0, bytes).map_err(errno)
    }

    /// Reads from its position; 0: the end.
    pub fn read(&self, buffer: &mut [u8]) -> Result<usize, i32> {
        rustix::io::read(&self.0, buffer).map_err(errno)
    }

    /// fsync(2).
    pub fn sync(&self) -> Result<(), i32> {
        rustix::fs::fsync(&self.0).map_err(errno)
    }

    /// Reads the names of a directory to its end, one buffer at a time; returns their number without `.` and `..`.
    pub fn count_names(&self, buffer: &mut [MaybeUninit<u8>]) -> Result<u64, i32> {
        self.each_name(buffer, &mut |_| Ok(()))
    }

    /// The same; calls `each` with each name, and ends at its first error.
    pub fn each_name(
        &self,
        buffer: &mut [MaybeUninit<u8>],
        each: &mut dyn FnMut(&CStr) -> Result<(), i32>,
    ) -> Result<u64, i32> {
        let mut listing = RawDir::new(&self.0, buffer);
        let mut listed = 0;
        while let Some(entry) = listing.next() {
            let entry = entry.map_err(errno)?;
            if entry.file_name() != c"." && entry.file_name() != c".." {
                listed += 1;
                each(entry.file_name())?;
            }
        }
        Ok(listed)
    }

    /// Closes it. A deferred write error (NFS, FUSE, quotas) is reported only here.
    pub fn close(self) -> Result<(), i32> {
        super::files::close(self.0)
    }
}

/// Opens a file for writing, empties it, and creates it if it is missing: like a shell's redirection, but without
/// following links.
pub fn create(root: &Directory, name: &CStr) -> Result<Opened, i32> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(root, name, flags, Mode::from_raw_mode(0o644)).map(Opened).map_err(errno)
}

/// Opens a file for reading.
pub fn open(root: &Directory, name: &CStr) -> Result<Opened, i32> {
    open_old(root, name, OFlags::empty())
}

/// Opens a directory, for listing or syncing.
pub fn open_directory(root: &Directory, name: &CStr) -> Result<Opened, i32> {
    open_old(root, name, OFlags::DIRECTORY)
}

fn open_old(root: &Directory, name: &CStr, more: OFlags) -> Result<Opened, i32> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | more;
    rustix::fs::openat(root, name, flags, Mode::empty()).map(Opened).map_err(errno)
}

/// Size of a file by its attributes, bytes.
pub fn size(root: &Directory, name: &CStr) -> Result<u64, i32> {
    let found = rustix::fs::statat(root, name, AtFlags::empty()).map_err(errno)?;
    Ok(u64::try_from(found.st_size).unwrap_or(0))
}

/// The same without the kernel's cached attributes: the server or the daemon is asked.
pub fn size_asked_anew(root: &Directory, name: &CStr) -> Result<u64, i32> {
    let found = rustix::fs::statx(root, name, AtFlags::STATX_FORCE_SYNC, StatxFlags::SIZE).map_err(errno)?;
    Ok(found.stx_size)
}

/// Renames it.
pub fn rename(root: &Directory, from: &CStr, to: &CStr) -> Result<(), i32> {
    rustix::fs::renameat(root, from, root, to).map_err(errno)
}

/// Makes a directory.
pub fn make_directory(root: &Directory, name: &CStr) -> Result<(), i32> {
    rustix::fs::mkdirat(root, name, Mode::from_raw_mode(0o755)).map_err(errno)
}

/// Removes an empty directory.
pub fn remove_directory(root: &Directory, name: &CStr) -> Result<(), i32> {
    rustix::fs::unlinkat(root, name, AtFlags::REMOVEDIR).map_err(errno)
}

/// Why symbolic links are not supported; `None`: they are.
pub const LINKS_REFUSED: Option<&str> = None;

/// Makes a symbolic link that leads to `target`.
pub fn link(root: &Directory, target: &CStr, name: &CStr) -> Result<(), i32> {
    rustix::fs::symlinkat(target, root, name).map_err(errno)
}

/// Reads the target of a link; returns its length in the buffer.
pub fn read_link(root: &Directory, name: &CStr, buffer: &mut [u8]) -> Result<usize, i32> {
    rustix::fs::readlinkat_raw(root, name, buffer).map_err(errno)
}

/// Removes a name that is not a directory.
pub fn remove(root: &Directory, name: &CStr) -> Result<(), i32> {
    rustix::fs::unlinkat(root, name, AtFlags::empty()).map_err(errno)
}

/// The whole path of a name, for messages.
pub fn path_of(root: &Directory, name: &CStr) -> PathBuf {
    root.path().join(OsStr::from_bytes(name.to_bytes()))
}
