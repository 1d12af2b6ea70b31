//! Calls on names below an open directory, as `crate::names` lists them.

use std::ffi::{CStr, OsString};
use std::mem::MaybeUninit;
use std::os::windows::io::AsHandle;
use std::path::{Path, PathBuf};

use windows_sys::Wdk::Storage::FileSystem::{FILE_CREATE, FILE_OPEN, FILE_OVERWRITE_IF};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_ADD_FILE, FILE_GENERIC_READ, FILE_GENERIC_WRITE, FILE_LIST_DIRECTORY, FILE_READ_ATTRIBUTES,
};

use super::fd::{AsFd, OwnedFd};
use super::native::{self, Kind, Opening};
use super::{beneath, errno, files};
use crate::files::Directory;

/// The name of these bytes. Names are Unicode here; bytes that are not UTF-8 cannot be written.
pub(crate) fn os_string(bytes: Vec<u8>) -> OsString {
    String::from_utf8_lossy(&bytes).into_owned().into()
}

/// A file or a directory that was opened by its name.
#[derive(Debug)]
pub struct Opened {
    handle: OwnedFd,
    position: std::cell::Cell<u64>,
}

impl Opened {
    fn new(handle: OwnedFd) -> Opened {
        Opened { handle, position: std::cell::Cell::new(0) }
    }

    fn moved(&self, outcome: Result<usize, i32>) -> Result<usize, i32> {
        outcome.inspect(|bytes| self.position.set(self.position.get() + *bytes as u64))
    }

    /// Writes at its position; returns the number of bytes written.
    pub fn write(&self, bytes: &[u8]) -> Result<usize, i32> {
        self.moved(files::write_at(self.handle.as_handle(), bytes, self.position.get()))
    }

    /// Reads from its position; 0: the end.
    pub fn read(&self, buffer: &mut [u8]) -> Result<usize, i32> {
        self.moved(files::read_at(self.handle.as_handle(), buffer, self.position.get()))
    }

    /// FlushFileBuffers.
    pub fn sync(&self) -> Result<(), i32> {
        files::sync(self.handle.as_handle())
    }

    /// Reads the names of a directory to its end, one buffer at a time; returns their number without `.` and `..`.
    pub fn count_names(&self, buffer: &mut [MaybeUninit<u8>]) -> Result<u64, i32> {
        let mut listed = 0;
        let padding = buffer.as_ptr().align_offset(8);
        let room = buffer.get_mut(padding..).ok_or(errno::EINVAL)?;
        // SAFETY: the rest of the buffer has this number of bytes from an aligned address on.
        unsafe {
            beneath::for_each_name(self.handle.as_handle(), room.as_mut_ptr().cast(), room.len(), |_| listed += 1)?;
        }
        Ok(listed)
    }

    /// The same; calls `each` with each name, and returns its first error.
    pub fn each_name(
        &self,
        buffer: &mut [MaybeUninit<u8>],
        each: &mut dyn FnMut(&CStr) -> Result<(), i32>,
    ) -> Result<u64, i32> {
        let (mut listed, mut outcome) = (0, Ok(()));
        let padding = buffer.as_ptr().align_offset(8);
        let room = buffer.get_mut(padding..).ok_or(errno::EINVAL)?;
        let mut next = |name: &[u16]| {
            listed += 1;
            let name = std::ffi::CString::new(String::from_utf16_lossy(name)).unwrap_or_default();
            if outcome.is_ok() {
                outcome = each(&name);
            }
        };
        // SAFETY: the rest of the buffer has this number of bytes from an aligned address on.
        unsafe {
            beneath::for_each_name(self.handle.as_handle(), room.as_mut_ptr().cast(), room.len(), &mut next)?;
        }
        outcome.map(|()| listed)
    }

    /// Closes it.
    pub fn close(self) -> Result<(), i32> {
        files::close(self.handle)
    }
}

fn path(name: &CStr) -> Result<&Path, i32> {
    name.to_str().map(Path::new).map_err(|_| errno::EINVAL)
}

fn opened(root: &Directory, name: &CStr, how: Opening) -> Result<Opened, i32> {
    // The directory itself has an empty name here.
    let name = if name == c"." { Vec::new() } else { native::wide(path(name)?) };
    native::open(root.as_fd(), &name, how).map(Opened::new)
}

/// Opens a file for writing, empties it, and creates it if it is missing.
pub fn create(root: &Directory, name: &CStr) -> Result<Opened, i32> {
    let how = Opening { access: FILE_GENERIC_WRITE, disposition: FILE_OVERWRITE_IF, kind: Kind::File, options: 0 };
    opened(root, name, how)
}

/// Opens a file for reading.
pub fn open(root: &Directory, name: &CStr) -> Result<Opened, i32> {
    opened(root, name, Opening { access: FILE_GENERIC_READ, disposition: FILE_OPEN, kind: Kind::File, options: 0 })
}

/// Opens a directory, for listing or syncing.
pub fn open_directory(root: &Directory, name: &CStr) -> Result<Opened, i32> {
    // Windows flushes only what may be written, which here is a directory in which files may be made.
    let access = FILE_LIST_DIRECTORY | FILE_READ_ATTRIBUTES | FILE_ADD_FILE;
    opened(root, name, Opening { access, disposition: FILE_OPEN, kind: Kind::Directory, options: 0 })
}

/// Size of a file by its attributes, bytes.
pub fn size(root: &Directory, name: &CStr) -> Result<u64, i32> {
    let access = FILE_READ_ATTRIBUTES;
    let file = opened(root, name, Opening { access, disposition: FILE_OPEN, kind: Kind::Any, options: 0 })?;
    Ok(beneath::standard(file.handle.as_handle())?.EndOfFile as u64)
}

/// The same: Windows always uses its cached attributes.
pub fn size_asked_anew(root: &Directory, name: &CStr) -> Result<u64, i32> {
    size(root, name)
}

/// Renames it.
pub fn rename(root: &Directory, from: &CStr, to: &CStr) -> Result<(), i32> {
    beneath::rename_wide(root.as_fd(), &native::wide(path(from)?), &native::wide(path(to)?))
}

/// Makes a directory.
pub fn make_directory(root: &Directory, name: &CStr) -> Result<(), i32> {
    let how = Opening { access: FILE_READ_ATTRIBUTES, disposition: FILE_CREATE, kind: Kind::Directory, options: 0 };
    opened(root, name, how).map(drop)
}

/// Removes an empty directory.
pub fn remove_directory(root: &Directory, name: &CStr) -> Result<(), i32> {
    beneath::delete(root.as_fd(), &native::wide(path(name)?), Kind::Directory)
}

/// Why no symbolic links are made.
pub const LINKS_REFUSED: Option<&str> = Some("Windows makes symbolic links for administrators alone");

/// Symbolic links need a privilege here that few users have, so that none are made.
pub fn link(_: &Directory, _target: &CStr, _name: &CStr) -> Result<(), i32> {
    Err(errno::EOPNOTSUPP)
}

/// No links are made, so that none are read.
pub fn read_link(_: &Directory, _name: &CStr, _buffer: &mut [u8]) -> Result<usize, i32> {
    Err(errno::EOPNOTSUPP)
}

/// Removes a name that is not a directory.
pub fn remove(root: &Directory, name: &CStr) -> Result<(), i32> {
    beneath::delete(root.as_fd(), &native::wide(path(name)?), Kind::File)
}

/// The whole path of a name, for messages.
pub fn path_of(root: &Directory, name: &CStr) -> PathBuf {
    root.path().join(String::from_utf8_lossy(name.to_bytes()).as_ref())
}
