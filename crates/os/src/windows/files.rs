//! System calls on files. Every failure is returned as an error number; `crate::files` adds the text.

use std::mem::size_of;
use std::os::windows::fs::MetadataExt;
use std::os::windows::io::{AsHandle, AsRawHandle, FromRawHandle};
use std::path::Path;

use fsdyno_job::{Fallocate, SyncOpen};
use windows_sys::Wdk::Storage::FileSystem::{
    FILE_NO_INTERMEDIATE_BUFFERING, FILE_OPEN, FILE_OPEN_IF, FILE_WRITE_THROUGH,
};
use windows_sys::Win32::Foundation::{ERROR_HANDLE_EOF, INVALID_HANDLE_VALUE};
use windows_sys::Win32::Storage::FileSystem::{
    CreateFileW, FILE_ALIGNMENT_INFO, FILE_ALLOCATION_INFO, FILE_ATTRIBUTE_DIRECTORY, FILE_ATTRIBUTE_NORMAL,
    FILE_END_OF_FILE_INFO, FILE_FLAG_BACKUP_SEMANTICS, FILE_FLAG_NO_BUFFERING, FILE_FLAG_WRITE_THROUGH,
    FILE_GENERIC_READ, FILE_GENERIC_WRITE, FILE_INFO_BY_HANDLE_CLASS, FILE_STORAGE_INFO, FILE_TYPE_CHAR,
    FILE_TYPE_DISK, FileAlignmentInfo, FileAllocationInfo, FileEndOfFileInfo, FileStorageInfo, FlushFileBuffers,
    GetFileInformationByHandleEx, GetFileType, OPEN_ALWAYS, OPEN_EXISTING, ReadFile, WriteFile,
};
use windows_sys::Win32::System::IO::{OVERLAPPED, OVERLAPPED_0, OVERLAPPED_0_0};
use windows_sys::Win32::System::Ioctl::{GET_LENGTH_INFORMATION, IOCTL_DISK_GET_LENGTH_INFO};

use super::fd::{BorrowedFd, OwnedFd};
use super::native::{self, Kind, Opening, SHARED};
use super::{beneath, errno};
use crate::files::{Advice, DirectAlignment, FileAccess, FileFacts, FileKind, OpenMode, Stamp};

pub(crate) fn open(path: &Path, mode: OpenMode) -> Result<OwnedFd, i32> {
    let disposition = if mode.create { OPEN_ALWAYS } else { OPEN_EXISTING };
    create_file(path, access(mode), disposition, FILE_ATTRIBUTE_NORMAL | flags(mode))
}

/// Opens a directory that the user named, or any other file of this name.
pub(super) fn open_directory(path: &Path, access: u32) -> Result<OwnedFd, i32> {
    create_file(path, access, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS)
}

fn create_file(path: &Path, access: u32, disposition: u32, flags: u32) -> Result<OwnedFd, i32> {
    let path = native::terminated(path);
    // SAFETY: the path ends with a zero; there are no security attributes and no template.
    let handle = unsafe {
        CreateFileW(path.as_ptr(), access, SHARED, std::ptr::null(), disposition, flags, std::ptr::null_mut())
    };
    if handle == INVALID_HANDLE_VALUE {
        return Err(errno::last());
    }
    // SAFETY: the call succeeded, so this is a new handle, which nobody else has.
    Ok(unsafe { OwnedFd::from_raw_handle(handle) })
}

/// Opens a file below an open directory.
pub(crate) fn open_beneath(root: BorrowedFd<'_>, name: &Path, mode: OpenMode) -> Result<OwnedFd, i32> {
    let mut options = 0;
    if mode.direct {
        options |= FILE_NO_INTERMEDIATE_BUFFERING;
    }
    if mode.sync != SyncOpen::None {
        options |= FILE_WRITE_THROUGH;
    }
    let disposition = if mode.create { FILE_OPEN_IF } else { FILE_OPEN };
    beneath::open(root, name, Opening { access: access(mode), disposition, kind: Kind::File, options })
}

/// The access rights for a mode.
pub fn access(mode: OpenMode) -> u32 {
    match mode.access {
        FileAccess::Read => FILE_GENERIC_READ,
        FileAccess::Write => FILE_GENERIC_WRITE,
        FileAccess::ReadWrite => FILE_GENERIC_READ | FILE_GENERIC_WRITE,
    }
}

/// Unbuffered for direct I/O; written through for both kinds of synchronous files, because Windows has only one.
pub fn flags(mode: OpenMode) -> u32 {
    let direct = if mode.direct { FILE_FLAG_NO_BUFFERING } else { 0 };
    direct | if mode.sync == SyncOpen::None { 0 } else { FILE_FLAG_WRITE_THROUGH }
}

pub(crate) fn kind(handle: BorrowedFd<'_>) -> Result<FileKind, i32> {
    // SAFETY: the handle is open for as long as it is borrowed.
    match unsafe { GetFileType(handle.as_raw_handle()) } {
        FILE_TYPE_DISK => match beneath::by_handle(handle) {
            Ok(found) if found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY != 0 => Err(errno::EISDIR),
            Ok(_) => Ok(FileKind::Regular),
            // Disks and volumes are not files of a filesystem.
            Err(errno::EOPNOTSUPP | errno::EINVAL) => Ok(FileKind::BlockDevice),
            Err(code) => Err(code),
        },
        FILE_TYPE_CHAR => Ok(FileKind::CharacterDevice),
        _ => Ok(FileKind::Other),
    }
}

pub(crate) fn size(handle: BorrowedFd<'_>, kind: FileKind) -> Result<u64, i32> {
    match kind {
        FileKind::BlockDevice => device_size(handle),
        FileKind::Regular => Ok(beneath::standard(handle)?.EndOfFile as u64),
        FileKind::CharacterDevice | FileKind::Other => Ok(0),
    }
}

fn device_size(handle: BorrowedFd<'_>) -> Result<u64, i32> {
    let mut length = GET_LENGTH_INFORMATION::default();
    native::ask(handle, IOCTL_DISK_GET_LENGTH_INFO, &(), &mut length)?;
    Ok(length.Length as u64)
}

pub(crate) fn allocated(handle: BorrowedFd<'_>) -> Result<u64, i32> {
    Ok(beneath::standard(handle)?.AllocationSize as u64)
}

/// Offsets and lengths in logical sectors, memory as the device needs it; `None`: the filesystem does not report it.
pub(crate) fn direct_alignment(handle: BorrowedFd<'_>) -> Option<DirectAlignment> {
    let storage: FILE_STORAGE_INFO = about(handle, FileStorageInfo)?;
    let memory: FILE_ALIGNMENT_INFO = about(handle, FileAlignmentInfo)?;
    // The requirement is a mask: the alignment minus one.
    let memory = memory.AlignmentRequirement.checked_add(1)?.max(storage.LogicalBytesPerSector);
    (storage.LogicalBytesPerSector > 0).then_some(DirectAlignment { memory, offset: storage.LogicalBytesPerSector })
}

/// The information of a class about a file; for structures of plain numbers.
fn about<T: Copy + Default>(handle: BorrowedFd<'_>, class: FILE_INFO_BY_HANDLE_CLASS) -> Option<T> {
    let mut found = T::default();
    let bytes = size_of::<T>() as u32;
    // SAFETY: the call fills the structure of the class, whose size is passed.
    let answer = unsafe { GetFileInformationByHandleEx(handle.as_raw_handle(), class, (&raw mut found).cast(), bytes) };
    (answer != 0).then_some(found)
}

/// Windows has no such hints.
pub(crate) fn hint_lifetime(_: BorrowedFd<'_>, _number: u8) -> Result<(), i32> {
    Err(errno::EOPNOTSUPP)
}

/// Windows accepts advice only when a file is opened, and drops no cached pages.
pub(crate) fn advise(_: BorrowedFd<'_>, _: Advice, _offset: u64, _length: u64) -> Result<(), i32> {
    Err(errno::EOPNOTSUPP)
}

pub(crate) fn allocate(handle: BorrowedFd<'_>, how: Fallocate, length: u64) -> Result<(), i32> {
    let bytes = i64::try_from(length).map_err(|_| errno::EFBIG)?;
    let reserve = || beneath::set(handle, FileAllocationInfo, &FILE_ALLOCATION_INFO { AllocationSize: bytes });
    match how {
        Fallocate::None => Ok(()),
        Fallocate::Keep => reserve(),
        Fallocate::Native | Fallocate::Posix => reserve().and_then(|()| truncate(handle, length)),
        Fallocate::Truncate => truncate(handle, length),
    }
}

/// A handle cannot get another file: `unlink_each_loop` is refused with this error.
pub(crate) fn replace(_old: BorrowedFd<'_>, _new: OwnedFd) -> Result<(), i32> {
    Err(errno::EOPNOTSUPP)
}

/// Files do not take turns here, so that no second handle is needed.
pub(crate) fn duplicate(_fd: BorrowedFd<'_>) -> Result<OwnedFd, i32> {
    Err(errno::EOPNOTSUPP)
}

pub(crate) fn truncate(handle: BorrowedFd<'_>, length: u64) -> Result<(), i32> {
    let end = i64::try_from(length).map_err(|_| errno::EFBIG)?;
    beneath::set(handle, FileEndOfFileInfo, &FILE_END_OF_FILE_INFO { EndOfFile: end })
}

/// Makes data and metadata durable.
pub fn sync(handle: BorrowedFd<'_>) -> Result<(), i32> {
    // SAFETY: the handle is open for as long as it is borrowed; no memory is passed.
    if unsafe { FlushFileBuffers(handle.as_raw_handle()) } == 0 { Err(errno::last()) } else { Ok(()) }
}

/// Windows has only one way to make data durable.
pub fn sync_data(handle: BorrowedFd<'_>) -> Result<(), i32> {
    sync(handle)
}

pub(crate) fn sync_range(_: BorrowedFd<'_>, _offset: u64, _length: u64, _flags: u32) -> Result<(), i32> {
    Err(errno::EOPNOTSUPP)
}

pub(crate) fn sync_filesystem(_: BorrowedFd<'_>) -> Result<(), i32> {
    Err(errno::EOPNOTSUPP)
}

pub(crate) fn flush_device_cache(_: BorrowedFd<'_>) -> Result<(), i32> {
    Err(errno::EOPNOTSUPP)
}

/// The structure for a transfer at this offset.
#[inline]
pub fn at(offset: u64) -> OVERLAPPED {
    let place = OVERLAPPED_0_0 { Offset: offset as u32, OffsetHigh: (offset >> 32) as u32 };
    OVERLAPPED { Anonymous: OVERLAPPED_0 { Anonymous: place }, ..OVERLAPPED::default() }
}

/// Reads once; 0: the end of the file. The handle must be synchronous, as all handles of this module are.
#[inline]
pub fn read_at(handle: BorrowedFd<'_>, place: &mut [u8], offset: u64) -> Result<usize, i32> {
    let (mut overlapped, mut bytes) = (at(offset), 0);
    let length = u32::try_from(place.len()).unwrap_or(u32::MAX);
    // SAFETY: the buffer has `length` bytes; the handle is synchronous, so that nothing is used after this call.
    let answer =
        unsafe { ReadFile(handle.as_raw_handle(), place.as_mut_ptr(), length, &raw mut bytes, &raw mut overlapped) };
    match answer {
        0 => end_or_failure(errno::last()),
        _ => Ok(bytes as usize),
    }
}

#[cold]
fn end_or_failure(code: i32) -> Result<usize, i32> {
    if code as u32 == ERROR_HANDLE_EOF { Ok(0) } else { Err(code) }
}

/// Writes once. The handle must be synchronous, as all handles of this module are.
#[inline]
pub fn write_at(handle: BorrowedFd<'_>, data: &[u8], offset: u64) -> Result<usize, i32> {
    let (mut overlapped, mut bytes) = (at(offset), 0);
    let length = u32::try_from(data.len()).unwrap_or(u32::MAX);
    // SAFETY: the data has `length` bytes; the handle is synchronous, so that nothing is used after this call.
    let answer =
        unsafe { WriteFile(handle.as_raw_handle(), data.as_ptr(), length, &raw mut bytes, &raw mut overlapped) };
    if answer == 0 { Err(errno::last()) } else { Ok(bytes as usize) }
}

pub(crate) fn write_all_at(handle: BorrowedFd<'_>, mut data: &[u8], mut offset: u64) -> Result<(), i32> {
    while !data.is_empty() {
        let written = write_at(handle, data, offset)?;
        if written == 0 {
            return Err(errno::EIO);
        }
        data = &data[written..];
        offset += written as u64;
    }
    Ok(())
}

pub(crate) fn read_full_at(handle: BorrowedFd<'_>, data: &mut [u8], offset: u64) -> Result<usize, i32> {
    let mut done = 0;
    while done < data.len() {
        match read_at(handle, &mut data[done..], offset + done as u64)? {
            0 => break,
            count => done += count,
        }
    }
    Ok(done)
}

/// Closing reports no errors here: a failed write is reported by the sync.
pub(crate) fn close(handle: OwnedFd) -> Result<(), i32> {
    drop(handle);
    Ok(())
}

/// The standard library would also remove a read-only file.
pub(crate) fn remove(path: &Path) -> Result<(), i32> {
    if super::errors::why_not_written(path).is_some() {
        return Err(errno::EACCES);
    }
    std::fs::remove_file(path).map_err(|error| error.raw_os_error().unwrap_or(errno::EIO))
}

/// Directories inherit the permissions of their parent; below the user's own profile only this user has access.
pub(crate) fn private_directories() -> std::fs::DirBuilder {
    std::fs::DirBuilder::new()
}

/// Values that change with the content of a file. A file that replaces another one takes over its creation time.
pub(crate) fn stamp(metadata: &std::fs::Metadata) -> Stamp {
    [metadata.file_size(), metadata.last_write_time(), metadata.creation_time(), 0]
}

/// Kind and size of the file at a path, links followed.
pub(crate) fn look(path: &Path) -> std::io::Result<FileFacts> {
    let metadata = std::fs::metadata(path)?;
    let is_file = metadata.file_type().is_file();
    let allocated = || {
        let handle = open_directory(path, 0).ok()?;
        allocated(handle.as_handle()).ok()
    };
    Ok(FileFacts {
        kind: match () {
            () if metadata.is_dir() => None,
            () if is_file => Some(FileKind::Regular),
            () => Some(FileKind::Other),
        },
        size_bytes: metadata.file_size(),
        allocated_bytes: allocated().unwrap_or_else(|| metadata.file_size()),
    })
}
