//! Opens names relative to an open directory with a call of the kernel's native interface; Win32 has no such call.

use std::ffi::OsStr;
use std::mem::size_of;
use std::os::windows::ffi::OsStrExt;
use std::os::windows::io::{AsRawHandle, BorrowedHandle, FromRawHandle, OwnedHandle};
use std::path::{Path, PathBuf};

use windows_sys::Wdk::Foundation::OBJECT_ATTRIBUTES;
use windows_sys::Wdk::Storage::FileSystem::{
    FILE_DIRECTORY_FILE, FILE_NON_DIRECTORY_FILE, FILE_OPEN_FOR_BACKUP_INTENT, FILE_OPEN_REPARSE_POINT,
    FILE_SYNCHRONOUS_IO_NONALERT, NtCreateFile,
};
use windows_sys::Win32::Foundation::{HANDLE, INVALID_HANDLE_VALUE, OBJ_CASE_INSENSITIVE, UNICODE_STRING};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_ATTRIBUTE_NORMAL, FILE_SHARE_DELETE, FILE_SHARE_READ, FILE_SHARE_WRITE, SYNCHRONIZE,
};
use windows_sys::Win32::System::IO::{DeviceIoControl, IO_STATUS_BLOCK};

use super::{errno, spelling};

/// Other processes may read, write and remove the file meanwhile, as on other systems.
pub const SHARED: u32 = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;

/// How a name is opened.
#[derive(Clone, Copy, Debug)]
pub(super) struct Opening {
    /// Access rights.
    pub(super) access: u32,
    /// `FILE_OPEN`, `FILE_CREATE`, …
    pub(super) disposition: u32,
    /// The kind that the file must have.
    pub(super) kind: Kind,
    /// `FILE_WRITE_THROUGH`, `FILE_NO_INTERMEDIATE_BUFFERING`.
    pub(super) options: u32,
}

/// The kind of file that a name must stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Any,
    File,
    Directory,
}

/// A name in the form of Windows: its parts are separated by backslashes.
pub(super) fn wide(name: &Path) -> Vec<u16> {
    let mut text = Vec::new();
    for part in name.components() {
        if !text.is_empty() {
            text.push(u16::from(b'\\'));
        }
        text.extend(part.as_os_str().encode_wide());
    }
    text
}

/// Length from which on the calls of Win32 refuse a path without the prefix for long paths: 260 characters, and
/// twelve fewer for directories.
const LONG: usize = 248;

/// A path in the form of the calls of Win32.
pub(super) fn terminated(path: &Path) -> Vec<u16> {
    characters(long(path).as_deref().unwrap_or(path).as_os_str())
}

/// A name in the form of the calls of Win32.
pub(super) fn characters(name: &OsStr) -> Vec<u16> {
    name.encode_wide().chain([0]).collect()
}

/// The form with the prefix, if the path is found only with it.
fn long(path: &Path) -> Option<PathBuf> {
    let whole = std::path::absolute(path).ok().filter(|whole| whole.as_os_str().len() >= LONG)?;
    spelling::verbatim(whole.to_str()?).map(PathBuf::from)
}

/// The form that all programs know; a path that is not valid text is returned unchanged.
pub(super) fn plain(path: &Path) -> PathBuf {
    path.to_str().map_or_else(|| path.to_owned(), |text| PathBuf::from(spelling::plain(text)))
}

/// Opens a name below a directory; for a link, the link itself.
pub(super) fn open(root: BorrowedHandle<'_>, name: &[u16], how: Opening) -> Result<OwnedHandle, i32> {
    let bytes = u16::try_from(name.len() * 2).map_err(|_| errno::EINVAL)?;
    let name = UNICODE_STRING { Length: bytes, MaximumLength: bytes, Buffer: name.as_ptr().cast_mut() };
    let attributes = OBJECT_ATTRIBUTES {
        Length: size_of::<OBJECT_ATTRIBUTES>() as u32,
        RootDirectory: root.as_raw_handle(),
        ObjectName: &raw const name,
        Attributes: OBJ_CASE_INSENSITIVE,
        ..OBJECT_ATTRIBUTES::default()
    };
    let options = match how.kind {
        Kind::Any => 0,
        Kind::File => FILE_NON_DIRECTORY_FILE,
        Kind::Directory => FILE_DIRECTORY_FILE,
    };
    let mut handle: HANDLE = INVALID_HANDLE_VALUE;
    let mut block = IO_STATUS_BLOCK::default();
    // SAFETY: the attributes, the name that they lead to, and the two results are complete structures and outlive the
    // call; there are neither extended attributes nor a size to allocate.
    let status = unsafe {
        NtCreateFile(
            &raw mut handle,
            how.access | SYNCHRONIZE,
            &raw const attributes,
            &raw mut block,
            std::ptr::null(),
            FILE_ATTRIBUTE_NORMAL,
            SHARED,
            how.disposition,
            options
                | how.options
                | FILE_OPEN_REPARSE_POINT
                | FILE_SYNCHRONOUS_IO_NONALERT
                | FILE_OPEN_FOR_BACKUP_INTENT,
            std::ptr::null(),
            0,
        )
    };
    if status < 0 {
        return Err(errno::of_status(status));
    }
    // SAFETY: the call succeeded, so this is a new handle, which nobody else has.
    Ok(unsafe { OwnedHandle::from_raw_handle(handle) })
}

/// Sends a numbered request to a device or a filesystem; question and answer are structures of plain numbers. Returns
/// the number of bytes in the answer.
pub(super) fn ask<Q: Copy, A: Copy>(
    handle: BorrowedHandle<'_>,
    question: u32,
    with: &Q,
    answer: &mut A,
) -> Result<usize, i32> {
    let mut returned = 0;
    // SAFETY: the call reads the first structure and fills the second, whose sizes are passed; the handle is
    // synchronous, so that nothing is used after this call.
    let answered = unsafe {
        DeviceIoControl(
            handle.as_raw_handle(),
            question,
            std::ptr::from_ref(with).cast(),
            size_of::<Q>() as u32,
            std::ptr::from_mut(answer).cast(),
            size_of::<A>() as u32,
            &raw mut returned,
            std::ptr::null_mut(),
        )
    };
    if answered == 0 { Err(errno::last()) } else { Ok(returned as usize) }
}
