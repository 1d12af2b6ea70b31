//! Files that a program writes as they grow, a pipe, a console, a file to be appended to; and files that it reads.

use std::fs::{File, FileType, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::path::Path;

use windows_sys::Win32::Storage::FileSystem::FILE_FLAG_OPEN_REPARSE_POINT;

/// Opens a file that is there, to append to it; a link is not followed.
pub(crate) fn open_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).custom_flags(FILE_FLAG_OPEN_REPARSE_POINT).open(path)
}

/// Opens whatever is there, to append to it.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).open(path)
}

/// Opens a file to read it.
pub(crate) fn open_to_read(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Opening a pipe without a reader fails here; nothing has to be changed.
pub(crate) fn wait_from_now_on(_: &File) -> io::Result<()> {
    Ok(())
}

/// Devices have names of their own here, which no file has.
pub(crate) fn is_block_device(_: FileType) -> bool {
    false
}

/// There are no names for what a process has open.
pub(crate) fn is_own_descriptor(_: &Path) -> bool {
    false
}

/// There are no sockets that are files.
pub(crate) fn connect(_: &Path) -> io::Result<Option<Box<dyn io::Read>>> {
    Ok(None)
}
