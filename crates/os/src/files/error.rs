//! Errors of operations on files, with their likely cause and the next step.

use std::path::{Path, PathBuf};

use super::{DirectAlignment, FileAccess, OpenMode};
use crate::errno;
use crate::system::errors as system;

/// The operation of an open that only needs permission to read.
const READING: &str = "open for reading";

/// A failed operation on a file.
#[derive(Debug, thiserror::Error)]
#[error("cannot {operation} {path}: {text}{advice}", path = path.display(), text = std::io::Error::from_raw_os_error(*code))]
pub struct FileError {
    /// The operation that failed.
    pub operation: &'static str,
    /// The file.
    pub path: PathBuf,
    /// errno.
    pub code: i32,
    /// The likely cause.
    pub cause: FileCause,
    /// The next step, with its leading punctuation; empty: there is no advice.
    pub advice: String,
}

/// Causes that a caller may have to distinguish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileCause {
    /// O_DIRECT was refused.
    DirectRefused,
    /// The file, or a directory on the way, is missing.
    Missing,
    /// The permissions do not allow it.
    Permission,
    /// The filesystem is mounted read-only.
    ReadOnly,
    /// It is a directory.
    Directory,
    /// There is no space, or a quota is reached.
    NoSpace,
    /// Too many open files.
    TooManyOpen,
    /// The filesystem does not support it.
    Unsupported,
    /// The device or the server failed.
    Device,
    /// Anything else.
    Other,
}

impl FileError {
    /// The error of any operation except an open.
    pub fn of(operation: &'static str, path: &Path, code: i32) -> FileError {
        let (cause, advice) = cause_and_advice(code);
        let changes = cause == FileCause::Permission && operation != READING;
        let protected = if changes { system::why_not_written(path) } else { None };
        FileError { operation, path: path.to_owned(), code, cause, advice: protected.unwrap_or(advice).to_owned() }
    }

    /// The error of an open.
    pub(super) fn of_open(path: &Path, mode: OpenMode, code: i32) -> FileError {
        let operation = match (mode.create, mode.access) {
            (true, _) => "create or open",
            (false, FileAccess::Read) => READING,
            (false, FileAccess::Write) => "open for writing",
            (false, FileAccess::ReadWrite) => "open for reading and writing",
        };
        let mut error = FileError::of(operation, path, code);
        match code {
            // With these flags, open(2) returns EINVAL for no other reason.
            errno::EINVAL if mode.direct => {
                error.cause = FileCause::DirectRefused;
                error.advice = "; looks like your file system does not support direct=1/buffered=0. Run with direct=0 (the page cache then serves repeated reads), or put the file on a file \
                                system with direct I/O (ext4, xfs, btrfs, NFS; tmpfs since Linux 6.6)"
                    .to_owned();
            }
            errno::ENOENT if mode.create => {
                error.advice = "; a directory of this path does not exist: create it, or correct directory= or \
                                filename="
                    .to_owned();
            }
            errno::EPERM | errno::EACCES
                if mode.access != FileAccess::Read && system::why_not_written(path).is_none() =>
            {
                error.advice = format!("{}, or use a directory that you may write to", error.advice);
            }
            _ => {}
        }
        error
    }
}

/// The cause of an errno and what to do about it. The text of other errors is clear without advice.
fn cause_and_advice(code: i32) -> (FileCause, &'static str) {
    let (cause, advice) = cause_and_advice_of_unix(code);
    (cause, system::advice(code).unwrap_or(advice))
}

/// The same, with the commands of a Unix.
fn cause_and_advice_of_unix(code: i32) -> (FileCause, &'static str) {
    match code {
        errno::ENOENT => {
            (FileCause::Missing, "; check the path, or let the job create the file (size=, allow_file_create=1)")
        }
        errno::EACCES | errno::EPERM => {
            (FileCause::Permission, "; run as a user with access to it (ls -l and id show who that is)")
        }
        errno::EROFS => (FileCause::ReadOnly, "; the mount is read-only: remount it rw, or run a read-only job"),
        errno::EISDIR => (FileCause::Directory, "; use a file in it (filename=), or set directory="),
        errno::ENOTDIR => (FileCause::Missing, "; a part of the path is a file, not a directory"),
        errno::ENOSPC => {
            (FileCause::NoSpace, "; free space there or lower size= (df -h and df -i show the free space)")
        }
        errno::EDQUOT => (FileCause::NoSpace, "; the disk quota is used up: free space or lower size="),
        errno::EFBIG => (FileCause::NoSpace, "; larger than the file system or `ulimit -f` allows: lower size="),
        errno::EMFILE => (
            FileCause::TooManyOpen,
            "; set openfiles, raise the limit of this process with `ulimit -n`, or lower numjobs",
        ),
        errno::ENFILE => {
            (FileCause::TooManyOpen, "; raise the limit of the system, fs.file-max, or lower nrfiles or numjobs")
        }
        errno::EOPNOTSUPP | errno::ENOSYS => {
            (FileCause::Unsupported, "; this file system has no such operation: leave the option that asks for it out")
        }
        errno::ETXTBSY => (FileCause::Permission, "; a program runs from it: use another file"),
        errno::EIO => (FileCause::Device, "; the device or the server reported a failure (dmesg may say more)"),
        errno::EXDEV => (FileCause::Other, "; a link or another mount below it leads out of the work directory"),
        errno::ESTALE => (FileCause::Device, "; the server no longer knows this file: remount, or open it anew"),
        errno::ENXIO | errno::ENODEV => (FileCause::Device, "; no device behind this path"),
        errno::EBUSY => (FileCause::Device, "; another program uses it: unmount or release it first"),
        _ => (FileCause::Other, ""),
    }
}

/// Reasons why a direct transfer may have been refused, the most certain first.
pub(super) fn refused_transfer(
    demand: Option<DirectAlignment>,
    offset: u64,
    length: u64,
    memory_align: usize,
) -> String {
    let Some(DirectAlignment { memory, offset: step }) = demand else {
        return "direct I/O was refused and the kernel does not report the alignment: bs, offset, blockalign and \
                iomem_align must be multiples of the device's logical block (512 or 4096 bytes); try bs=4k, or \
                direct=0"
            .to_owned();
    };
    if step == 0 || memory == 0 {
        "this file does not support direct I/O: run with direct=0, or use another file system".to_owned()
    } else if !length.is_multiple_of(u64::from(step)) {
        format!(
            "direct I/O on this file needs lengths in multiples of {step} bytes, not {length}: set bs to one, or direct=0"
        )
    } else if !offset.is_multiple_of(u64::from(step)) {
        format!(
            "direct I/O on this file needs offsets in multiples of {step} bytes, not {offset}: set offset and blockalign so, or direct=0"
        )
    } else if !memory_align.is_multiple_of(memory as usize) {
        format!("direct I/O on this file needs memory aligned to {memory} bytes: set iomem_align={memory}, or direct=0")
    } else {
        "offset, length and memory are aligned, so the file system refused for another reason: try direct=0".to_owned()
    }
}
