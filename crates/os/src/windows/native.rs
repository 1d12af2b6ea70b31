//! The kernel's own call that opens names relative to a directory that is held, which Win32 does not have.

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

/// Others may do with the file what they like, as on other systems.
pub const SHARED: u32 = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;

/// What is opened, and how.
#[derive(Clone, Copy, Debug)]
pub(super) struct Opening {
    /// Rights.
    pub(super) access: u32,
    /// `FILE_OPEN`, `FILE_CREATE`, …
    pub(super) disposition: u32,
    /// What it has to be.
    pub(super) kind: Kind,
    /// `FILE_WRITE_THROUGH`, `FILE_NO_INTERMEDIATE_BUFFERING`.
    pub(super) options: u32,
}

/// What a name has to stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Any,
    File,
    Directory,
}

/// A name as Windows writes it, its parts divided by backslashes.
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

/// From this length on the calls of Win32 refuse a path that does not say that it is long: 260 characters, and for
/// directories twelve fewer.
const LONG: usize = 248;

/// A path as the calls of Win32 read it.
pub(super) fn terminated(path: &Path) -> Vec<u16> {
    characters(long(path).as_deref().unwrap_or(path).as_os_str())
}

/// A name as the calls of Win32 read it.
pub(super) fn characters(name: &OsStr) -> Vec<u16> {
    name.encode_wide().chain([0]).collect()
}

/// The spelling of a path that needs it to be found at all.
fn long(path: &Path) -> Option<PathBuf> {
    let whole = std::path::absolute(path).ok().filter(|whole| whole.as_os_str().len() >= LONG)?;
    spelling::verbatim(whole.to_str()?).map(PathBuf::from)
}

/// The spelling that all programs know; a path that is no text has one.
pub(super) fn plain(path: &Path) -> PathBuf {
    path.to_str().map_or_else(|| path.to_owned(), |text| PathBuf::from(spelling::plain(text)))
}

/// Opens a name below a directory; a link for itself.
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
    // SAFETY: the attributes, the name that they lead to, and the two results are whole structures and live through the
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

/// Asks a device or a filesystem a question that has a number: structures of plain numbers, each whole. How many bytes
/// it has answered.
pub(super) fn ask<Q: Copy, A: Copy>(
    handle: BorrowedHandle<'_>,
    question: u32,
    with: &Q,
    answer: &mut A,
) -> Result<usize, i32> {
    let mut returned = 0;
    // SAFETY: the call reads the first structure and fills the second, whose sizes it is told; the handle waits for its
    // calls, so that nothing is used after this one.
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
