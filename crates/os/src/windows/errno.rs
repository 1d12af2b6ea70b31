//! The names of `crate::errno` with the numbers of Windows. The standard library uses the same numbers, so that codes
//! of both have the same meaning.

use windows_sys::Win32::Foundation::*;
use windows_sys::Win32::Networking::WinSock::{WSAEINTR, WSAEWOULDBLOCK};

/// Each name with its number.
macro_rules! numbers {
    ($($name:ident $number:expr;)+) => {
        $(#[doc = stringify!($number)] pub const $name: i32 = $number as i32;)+
    };
}

numbers! {
    EACCES ERROR_ACCESS_DENIED;
    EAGAIN WSAEWOULDBLOCK;
    EBADF ERROR_INVALID_HANDLE;
    EBUSY ERROR_SHARING_VIOLATION;
    ECANCELED ERROR_OPERATION_ABORTED;
    EDQUOT ERROR_DISK_QUOTA_EXCEEDED;
    EEXIST ERROR_FILE_EXISTS;
    EFAULT ERROR_NOACCESS;
    EFBIG ERROR_FILE_TOO_LARGE;
    EILSEQ ERROR_INVALID_DATA;
    EINTR WSAEINTR;
    EINVAL ERROR_INVALID_PARAMETER;
    EIO ERROR_IO_DEVICE;
    EISDIR ERROR_DIRECTORY_NOT_SUPPORTED;
    ELOOP ERROR_STOPPED_ON_SYMLINK;
    EMFILE ERROR_TOO_MANY_OPEN_FILES;
    ENFILE ERROR_NO_SYSTEM_RESOURCES;
    ENODEV ERROR_DEV_NOT_EXIST;
    ENOENT ERROR_FILE_NOT_FOUND;
    ENOMEM ERROR_NOT_ENOUGH_MEMORY;
    ENOSPC ERROR_DISK_FULL;
    ENOSYS ERROR_CALL_NOT_IMPLEMENTED;
    ENOTDIR ERROR_DIRECTORY;
    ENOTEMPTY ERROR_DIR_NOT_EMPTY;
    ENOTTY ERROR_BAD_COMMAND;
    ENXIO ERROR_NOT_READY;
    EOPNOTSUPP ERROR_NOT_SUPPORTED;
    EPERM ERROR_PRIVILEGE_NOT_HELD;
    EROFS ERROR_WRITE_PROTECT;
    ESTALE ERROR_FILE_INVALID;
    ETIMEDOUT ERROR_TIMEOUT;
    ETXTBSY ERROR_USER_MAPPED_FILE;
    EXDEV ERROR_NOT_SAME_DEVICE;
}

/// Why the last call of this thread failed.
#[cold]
pub fn last() -> i32 {
    std::io::Error::last_os_error().raw_os_error().map_or(EIO, one_of_a_kind)
}

/// The error number of a status of the native interface.
#[cold]
pub fn of_status(status: NTSTATUS) -> i32 {
    // SAFETY: the call takes a number and looks it up in a table.
    one_of_a_kind(unsafe { RtlNtStatusToDosError(status) } as i32)
}

/// If Windows has several numbers for one name, returns the one that the name has here.
fn one_of_a_kind(code: i32) -> i32 {
    match code as u32 {
        ERROR_PATH_NOT_FOUND | ERROR_INVALID_DRIVE | ERROR_BAD_NETPATH | ERROR_BAD_NET_NAME => ENOENT,
        ERROR_ALREADY_EXISTS => EEXIST,
        ERROR_LOCK_VIOLATION => EAGAIN,
        ERROR_HANDLE_DISK_FULL => ENOSPC,
        ERROR_OUTOFMEMORY | ERROR_COMMITMENT_LIMIT => ENOMEM,
        ERROR_INVALID_FUNCTION => EOPNOTSUPP,
        ERROR_CRC | ERROR_READ_FAULT | ERROR_WRITE_FAULT | ERROR_GEN_FAILURE => EIO,
        _ => code,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_numbers_of_one_meaning_become_one() {
        assert_eq!(one_of_a_kind(ERROR_PATH_NOT_FOUND as i32), ENOENT);
        assert_eq!(one_of_a_kind(ERROR_HANDLE_DISK_FULL as i32), ENOSPC);
        assert_eq!(one_of_a_kind(EEXIST), EEXIST);
        let would_block = std::io::Error::from_raw_os_error(EAGAIN);
        assert_eq!(would_block.kind(), std::io::ErrorKind::WouldBlock);
    }
}
