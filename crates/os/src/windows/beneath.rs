//! System calls on names below an open directory: links and mounted volumes are never followed.

use std::ffi::OsString;
use std::mem::{offset_of, size_of};
use std::os::windows::ffi::OsStringExt;
use std::os::windows::io::{AsHandle, AsRawHandle, BorrowedHandle, OwnedHandle};
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use windows_sys::Wdk::Storage::FileSystem::{FILE_CREATE, FILE_OPEN, FileRenameInformation, NtSetInformationFile};
use windows_sys::Win32::Storage::FileSystem::{
    BY_HANDLE_FILE_INFORMATION, DELETE, FILE_ATTRIBUTE_DEVICE, FILE_ATTRIBUTE_DIRECTORY, FILE_ATTRIBUTE_REPARSE_POINT,
    FILE_DISPOSITION_FLAG_DELETE, FILE_DISPOSITION_FLAG_POSIX_SEMANTICS, FILE_DISPOSITION_INFO,
    FILE_DISPOSITION_INFO_EX, FILE_GENERIC_READ, FILE_GENERIC_WRITE, FILE_ID_BOTH_DIR_INFO, FILE_LIST_DIRECTORY,
    FILE_READ_ATTRIBUTES, FILE_RENAME_INFO, FILE_RENAME_INFO_0, FILE_STANDARD_INFO, FILE_TRAVERSE, FileDispositionInfo,
    FileDispositionInfoEx, FileIdBothDirectoryInfo, FileIdBothDirectoryRestartInfo, FileStandardInfo,
    GetFileInformationByHandle, GetFileInformationByHandleEx, GetFinalPathNameByHandleW, LOCKFILE_EXCLUSIVE_LOCK,
    LOCKFILE_FAIL_IMMEDIATELY, LockFileEx, SetFileInformationByHandle,
};
use windows_sys::Win32::System::IO::{IO_STATUS_BLOCK, OVERLAPPED, OVERLAPPED_0, OVERLAPPED_0_0};

use super::errno;
use super::native::{self, Kind, Opening};
use crate::files::{DirectoryEntry, EntryKind, Identity};

/// Access rights of an open directory.
const DIRECTORY_ACCESS: u32 = FILE_LIST_DIRECTORY | FILE_TRAVERSE | FILE_READ_ATTRIBUTES;

/// Upper half of the offset of the locked byte, far after any content: a lock of Windows prevents others from reading
/// the locked bytes.
const LOCK_OFFSET_HIGH: u32 = 0x7fff_ffff;

/// Opens a name below a directory, step by step.
pub(super) fn open(root: BorrowedHandle<'_>, name: &Path, how: Opening) -> Result<OwnedHandle, i32> {
    check_name(name)?;
    let step = Opening { access: DIRECTORY_ACCESS, disposition: FILE_OPEN, kind: Kind::Directory, options: 0 };
    let mut parts: Vec<Component<'_>> = name.components().collect();
    let Some(last) = parts.pop() else { return Err(errno::EINVAL) };
    let mut at: Option<OwnedHandle> = None;
    for part in parts {
        let from = at.as_ref().map_or(root, AsHandle::as_handle);
        at = Some(not_a_link(native::open(from, &native::wide(part.as_ref()), step)?)?);
    }
    let from = at.as_ref().map_or(root, AsHandle::as_handle);
    not_a_link(native::open(from, &native::wide(last.as_ref()), how)?)
}

/// Names of this program are plain: they do not lead to a parent or to the root.
fn check_name(name: &Path) -> Result<(), i32> {
    let plain = name.components().all(|part| matches!(part, Component::Normal(_)));
    if plain && name.components().next().is_some() { Ok(()) } else { Err(errno::EXDEV) }
}

/// Links and mounted volumes are opened themselves, and refused.
fn not_a_link(found: OwnedHandle) -> Result<OwnedHandle, i32> {
    let attributes = by_handle(found.as_handle())?.dwFileAttributes;
    if attributes & FILE_ATTRIBUTE_REPARSE_POINT == 0 { Ok(found) } else { Err(errno::ELOOP) }
}

/// Opens a directory below a directory.
pub(crate) fn enter(root: BorrowedHandle<'_>, name: &Path) -> Result<OwnedHandle, i32> {
    open(root, name, Opening { access: DIRECTORY_ACCESS, disposition: FILE_OPEN, kind: Kind::Directory, options: 0 })
}

/// Makes a new file for reading and writing. Its permissions are inherited from the directory.
pub(crate) fn create_new(root: BorrowedHandle<'_>, name: &Path, _mode: u32) -> Result<OwnedHandle, i32> {
    let access = FILE_GENERIC_READ | FILE_GENERIC_WRITE;
    open(root, name, Opening { access, disposition: FILE_CREATE, kind: Kind::File, options: 0 })
}

/// Opens an existing file for reading and writing.
pub(crate) fn open_old(root: BorrowedHandle<'_>, name: &Path) -> Result<OwnedHandle, i32> {
    let access = FILE_GENERIC_READ | FILE_GENERIC_WRITE;
    open(root, name, Opening { access, disposition: FILE_OPEN, kind: Kind::File, options: 0 })
}

/// Opens a directory that the user named; links on the way are followed.
pub(crate) fn open_directory(path: &Path) -> Result<OwnedHandle, i32> {
    let handle = super::files::open_directory(path, DIRECTORY_ACCESS)?;
    let found = by_handle(handle.as_handle())?;
    if found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY == 0 { Err(errno::ENOTDIR) } else { Ok(handle) }
}

/// Opens the directory in which a file is made whole: links of others are made by administrators alone.
pub(crate) fn open_directory_of_file(path: &Path) -> Result<OwnedHandle, i32> {
    open_directory(path)
}

/// The present path of an open directory; `None`: it was removed, or the path is not visible.
pub(crate) fn current_path(handle: BorrowedHandle<'_>) -> Option<PathBuf> {
    let mut text = vec![0u16; 32_768];
    // SAFETY: the call writes at most the number of characters that it is told there is room for.
    let length =
        unsafe { GetFinalPathNameByHandleW(handle.as_raw_handle(), text.as_mut_ptr(), text.len() as u32, 0) } as usize;
    (1..text.len()).contains(&length).then(|| PathBuf::from(OsString::from_wide(&text[..length])))
}

/// Whether this user owns the file. Here users are distinguished by permissions and not by numbers: a file that this
/// process could open for writing below its own directory counts as its own.
pub(crate) fn is_ours(_: &DirectoryEntry) -> bool {
    true
}

/// The identity of an open file.
pub(crate) fn identity(handle: BorrowedHandle<'_>) -> Result<Identity, i32> {
    Ok(identity_in(&by_handle(handle)?))
}

fn identity_in(found: &BY_HANDLE_FILE_INFORMATION) -> Identity {
    Identity {
        device: u64::from(found.dwVolumeSerialNumber),
        inode: u64::from(found.nFileIndexHigh) << 32 | u64::from(found.nFileIndexLow),
    }
}

pub(super) fn by_handle(handle: BorrowedHandle<'_>) -> Result<BY_HANDLE_FILE_INFORMATION, i32> {
    let mut found = BY_HANDLE_FILE_INFORMATION::default();
    // SAFETY: the handle is open for as long as it is borrowed, and the call fills the structure.
    let answer = unsafe { GetFileInformationByHandle(handle.as_raw_handle(), &raw mut found) };
    if answer == 0 { Err(errno::last()) } else { Ok(found) }
}

/// Length, allocated bytes and number of names.
pub(super) fn standard(handle: BorrowedHandle<'_>) -> Result<FILE_STANDARD_INFO, i32> {
    let mut found = FILE_STANDARD_INFO::default();
    let bytes = size_of::<FILE_STANDARD_INFO>() as u32;
    // SAFETY: the call fills the structure, whose size is passed.
    let answer = unsafe {
        GetFileInformationByHandleEx(handle.as_raw_handle(), FileStandardInfo, (&raw mut found).cast(), bytes)
    };
    if answer == 0 { Err(errno::last()) } else { Ok(found) }
}

/// The entry of an open file.
pub(crate) fn look_at(handle: BorrowedHandle<'_>) -> Result<DirectoryEntry, i32> {
    let (found, standard) = (by_handle(handle)?, standard(handle)?);
    let has = |attribute| found.dwFileAttributes & attribute != 0;
    Ok(DirectoryEntry {
        kind: match () {
            () if has(FILE_ATTRIBUTE_REPARSE_POINT) => EntryKind::Link,
            () if has(FILE_ATTRIBUTE_DIRECTORY) => EntryKind::Directory,
            () if has(FILE_ATTRIBUTE_DEVICE) => EntryKind::Other,
            () => EntryKind::Regular,
        },
        identity: identity_in(&found),
        owner: USER,
        names: u64::from(standard.NumberOfLinks),
        size_bytes: standard.EndOfFile as u64,
        allocated_bytes: standard.AllocationSize as u64,
    })
}

/// Users have no numbers here; see [`is_ours`].
pub(super) const USER: u32 = u32::MAX;

/// The entry of a name in a directory; for a link, the link itself.
pub(crate) fn look(root: BorrowedHandle<'_>, name: &Path) -> Result<DirectoryEntry, i32> {
    check_name(name)?;
    let how = Opening { access: FILE_READ_ATTRIBUTES, disposition: FILE_OPEN, kind: Kind::Any, options: 0 };
    look_at(native::open(root, &native::wide(name), how)?.as_handle())
}

/// The names in a directory, without `.` and `..`.
pub(crate) fn names(directory: BorrowedHandle<'_>) -> Result<Vec<OsString>, i32> {
    // A new handle: a handle that was listed before may return the same list again.
    let how = Opening { access: FILE_LIST_DIRECTORY, disposition: FILE_OPEN, kind: Kind::Directory, options: 0 };
    let own = native::open(directory, &[], how)?;
    // Has the alignment of the structures in it.
    let mut buffer = vec![0u64; 8192];
    let mut names = Vec::new();
    let bytes = buffer.len() * size_of::<u64>();
    // SAFETY: the buffer has this number of bytes, is aligned to eight, and is not used elsewhere meanwhile.
    unsafe {
        for_each_name(own.as_handle(), buffer.as_mut_ptr().cast(), bytes, |name| names.push(OsString::from_wide(name)))?
    };
    Ok(names)
}

/// Calls `each` with every name except `.` and `..`.
///
/// # Safety
/// The buffer has `bytes` bytes, is aligned to eight, and belongs to the caller.
pub(super) unsafe fn for_each_name(
    directory: BorrowedHandle<'_>,
    buffer: *mut u8,
    bytes: usize,
    mut each: impl FnMut(&[u16]),
) -> Result<(), i32> {
    let (dot, dots) = ([u16::from(b'.')], [u16::from(b'.'); 2]);
    let mut class = FileIdBothDirectoryRestartInfo;
    loop {
        // SAFETY: the caller's promise about the buffer.
        let answer =
            unsafe { GetFileInformationByHandleEx(directory.as_raw_handle(), class, buffer.cast(), bytes as u32) };
        if answer == 0 {
            return match errno::last() as u32 {
                windows_sys::Win32::Foundation::ERROR_NO_MORE_FILES => Ok(()),
                code => Err(code as i32),
            };
        }
        class = FileIdBothDirectoryInfo;
        let mut at = 0;
        loop {
            // SAFETY: the system has filled the buffer with entries of this layout, each at the offset that the
            // previous one gives.
            let entry = unsafe { buffer.add(at).cast::<FILE_ID_BOTH_DIR_INFO>() };
            // SAFETY: as above; the name follows the fields, with the length that they give.
            let (name, next) = unsafe {
                let first = buffer.add(at + offset_of!(FILE_ID_BOTH_DIR_INFO, FileName)).cast::<u16>();
                (std::slice::from_raw_parts(first, (*entry).FileNameLength as usize / 2), (*entry).NextEntryOffset)
            };
            if name != dot && name != dots {
                each(name);
            }
            if next == 0 {
                break;
            }
            at += next as usize;
        }
    }
}

pub(crate) fn make_directory(root: BorrowedHandle<'_>, name: &Path, _mode: u32) -> Result<(), i32> {
    check_name(name)?;
    let how = Opening { access: FILE_READ_ATTRIBUTES, disposition: FILE_CREATE, kind: Kind::Directory, options: 0 };
    native::open(root, &native::wide(name), how).map(drop)
}

/// Removes a name that is not a directory; for a link, the link itself.
pub(crate) fn unlink(root: BorrowedHandle<'_>, name: &Path) -> Result<(), i32> {
    check_name(name)?;
    let entry = look(root, name)?;
    if entry.kind == EntryKind::Directory {
        return Err(errno::EISDIR);
    }
    delete(root, &native::wide(name), Kind::Any)
}

/// Removes an empty directory. Some filesystems keep the name of a removed file until its last handle is closed.
/// Another thread may be about to close it, so that the call waits a little.
pub(crate) fn remove_directory(root: BorrowedHandle<'_>, name: &Path) -> Result<(), i32> {
    const TRIES: u32 = 20;
    check_name(name)?;
    let name = native::wide(name);
    for _ in 1..TRIES {
        match delete(root, &name, Kind::Directory) {
            Err(errno::ENOTEMPTY) => super::clock::sleep(Duration::from_millis(10)),
            outcome => return outcome,
        }
    }
    delete(root, &name, Kind::Directory)
}

/// Removes a name at once if the filesystem can, otherwise with its last handle. A read-only file stays, because
/// somebody has protected it.
pub(super) fn delete(root: BorrowedHandle<'_>, name: &[u16], kind: Kind) -> Result<(), i32> {
    let how = Opening { access: DELETE, disposition: FILE_OPEN, kind, options: 0 };
    let handle = native::open(root, name, how)?;
    let at_once =
        FILE_DISPOSITION_INFO_EX { Flags: FILE_DISPOSITION_FLAG_DELETE | FILE_DISPOSITION_FLAG_POSIX_SEMANTICS };
    match set(handle.as_handle(), FileDispositionInfoEx, &at_once) {
        Err(errno::EINVAL | errno::EOPNOTSUPP | errno::ENOSYS) => {
            set(handle.as_handle(), FileDispositionInfo, &FILE_DISPOSITION_INFO { DeleteFile: true })
        }
        outcome => outcome,
    }
}

/// Sets the information of a class.
pub(super) fn set<T>(handle: BorrowedHandle<'_>, class: i32, value: &T) -> Result<(), i32> {
    let bytes = size_of::<T>() as u32;
    // SAFETY: the call reads the structure of the class, which is complete and whose size is passed.
    let answer =
        unsafe { SetFileInformationByHandle(handle.as_raw_handle(), class, std::ptr::from_ref(value).cast(), bytes) };
    if answer == 0 { Err(errno::last()) } else { Ok(()) }
}

/// Files have the access rights that their directory gives them.
pub(crate) fn take_after(_file: BorrowedHandle<'_>, _root: BorrowedHandle<'_>, _name: &Path, _private: bool) {}

/// Renames a name within a directory; an existing file of the new name is replaced.
pub(crate) fn rename(root: BorrowedHandle<'_>, from: &Path, to: &Path) -> Result<(), i32> {
    check_name(from)?;
    check_name(to)?;
    rename_wide(root, &native::wide(from), &native::wide(to))
}

pub(super) fn rename_wide(root: BorrowedHandle<'_>, from: &[u16], to: &[u16]) -> Result<(), i32> {
    let how = Opening { access: DELETE, disposition: FILE_OPEN, kind: Kind::Any, options: 0 };
    let file = native::open(root, from, how)?;
    let name_at = offset_of!(FILE_RENAME_INFO, FileName);
    let bytes = name_at + to.len() * 2;
    let mut request = vec![0u64; bytes.max(size_of::<FILE_RENAME_INFO>()).div_ceil(8)];
    let head = FILE_RENAME_INFO {
        Anonymous: FILE_RENAME_INFO_0 { ReplaceIfExists: true },
        RootDirectory: root.as_raw_handle(),
        FileNameLength: (to.len() * 2) as u32,
        FileName: [0],
    };
    let start: *mut u8 = request.as_mut_ptr().cast();
    // SAFETY: there is room for the head and for the whole name after it, and both are aligned.
    unsafe {
        start.cast::<FILE_RENAME_INFO>().write(head);
        std::ptr::copy_nonoverlapping(to.as_ptr(), start.add(name_at).cast(), to.len());
    }
    let mut block = IO_STATUS_BLOCK::default();
    // SAFETY: the request is complete, as its head says, and outlives the call.
    let status = unsafe {
        NtSetInformationFile(file.as_raw_handle(), &raw mut block, start.cast(), bytes as u32, FileRenameInformation)
    };
    if status < 0 { Err(errno::of_status(status)) } else { Ok(()) }
}

/// Tries to lock a file. The lock belongs to the handle and ends with it, also after a kill.
pub(crate) fn flock(handle: BorrowedHandle<'_>) -> Result<(), i32> {
    let offset = OVERLAPPED_0_0 { Offset: 0, OffsetHigh: LOCK_OFFSET_HIGH };
    let mut place = OVERLAPPED { Anonymous: OVERLAPPED_0 { Anonymous: offset }, ..OVERLAPPED::default() };
    let how = LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY;
    // SAFETY: the handle is synchronous, so that the structure is not used after this call.
    let answer = unsafe { LockFileEx(handle.as_raw_handle(), how, 0, 1, 0, &raw mut place) };
    if answer == 0 { Err(errno::last()) } else { Ok(()) }
}

/// Windows has only one kind of lock, which [`flock`] uses.
pub(crate) fn fcntl_lock(_: BorrowedHandle<'_>) -> Result<(), i32> {
    Err(errno::EOPNOTSUPP)
}

/// Bytes and inodes of the filesystem of an open directory: `(total, available)` of each. Filesystems of Windows make
/// inodes when they need them.
pub(crate) fn space(handle: BorrowedHandle<'_>) -> Result<[(u64, u64); 2], i32> {
    let path = current_path(handle).ok_or(errno::ENOENT)?;
    super::machine::space_of(&path).map(|space| [space, (0, 0)])
}
