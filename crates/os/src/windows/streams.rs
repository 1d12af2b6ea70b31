//! Opens files that grow while they are written (a pipe, a console, a file to append to), and files for reading.

use std::fs::{File, FileType, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::path::Path;

use windows_sys::Win32::Storage::FileSystem::FILE_FLAG_OPEN_REPARSE_POINT;

/// Opens an existing file for appending; links are not followed.
pub(crate) fn open_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).custom_flags(FILE_FLAG_OPEN_REPARSE_POINT).open(path)
}

/// Opens any existing file for appending.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).open(path)
}

/// Opens a file for reading.
pub(crate) fn open_to_read(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Nothing to do: opening a pipe without a reader fails here.
pub(crate) fn wait_from_now_on(_: &File) -> io::Result<()> {
    Ok(())
}

/// Devices have names of their own here, which files cannot have.
pub(crate) fn is_block_device(_: FileType) -> bool {
    false
}

/// Open files of a process have no names here.
pub(crate) fn is_own_descriptor(_: &Path) -> bool {
    false
}

/// There are no socket files here.
pub(crate) fn connect(_: &Path) -> io::Result<Option<Box<dyn io::Read>>> {
    Ok(None)
}
