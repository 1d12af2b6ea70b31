//! The operations: each is a few system calls on names that were made before the clock began.

use std::ffi::{CStr, CString};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;

use engine::clock::{Clock, RealClock};
use engine::files::Directory;
use results::JobError;
use rustix::fs::{AtFlags, Mode, OFlags, RawDir, StatxFlags};
use rustix::io::Errno;

use crate::workplace::reason;

/// Bytes that one call writes or reads at most: what programs that copy files use.
const CHUNK_BYTES: usize = 1 << 20;

/// Bytes for names of a directory at a time: what the C library takes.
const NAMES_BYTES: usize = 32 << 10;

/// What all workers share and none changes.
pub(super) struct Ground {
    /// The directory that all names are relative to.
    pub(super) root: Directory,
    /// Bytes of a file.
    pub(super) size_bytes: u64,
    /// What is written: a whole file or a chunk of it.
    payload: Vec<u8>,
}

/// What one operation acts on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) index: u32,
    pub(super) name: CString,
    /// New name, target of a link, or directory, where the operation needs one.
    pub(super) other: Option<CString>,
    /// Bytes of the file, or names in the directory, that must be found.
    pub(super) expected: u64,
}

/// What a worker keeps from one operation to the next.
pub(super) struct Scratch {
    clock: RealClock,
    buffer: Vec<u8>,
    names: Vec<MaybeUninit<u8>>,
    /// Time of the call that is told apart (close, fsync), ns.
    pub(super) part_ns: u64,
}

/// One operation.
pub(super) type Perform = fn(&Ground, &Item, &mut Scratch) -> Result<(), Failure>;

/// Why an operation failed.
#[derive(Debug)]
pub(super) enum Failure {
    /// A system call said so.
    Call(&'static str, Errno),
    /// It said that all is well and it is not.
    Wrong(&'static str, String),
}

impl Failure {
    /// A signal came in between: that says nothing about the storage.
    pub(super) fn interrupted(&self) -> bool {
        matches!(self, Failure::Call(_, Errno::INTR))
    }

    pub(super) fn to_error(&self) -> JobError {
        match self {
            Failure::Call(function, errno) => JobError {
                code: errno.raw_os_error(),
                function: function.to_string(),
                text: reason(&std::io::Error::from(*errno)),
            },
            Failure::Wrong(function, text) => {
                JobError { code: Errno::IO.raw_os_error(), function: function.to_string(), text: text.clone() }
            }
        }
    }
}

impl Ground {
    /// In this directory, with files of this size.
    pub(super) fn new(root: Directory, size_bytes: u64) -> Ground {
        Ground { root, size_bytes, payload: payload(size_bytes) }
    }
}

/// The page's five bytes, and then what no compression makes smaller.
fn payload(size_bytes: u64) -> Vec<u8> {
    let length = usize::try_from(size_bytes).map_or(CHUNK_BYTES, |bytes| bytes.min(CHUNK_BYTES));
    let mut bytes = b"test\n".to_vec();
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    while bytes.len() < length {
        // xorshift64: any sequence without patterns does.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend(state.to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}

impl Scratch {
    pub(super) fn new(ground: &Ground) -> Scratch {
        Scratch {
            clock: RealClock::shared(),
            buffer: vec![0; ground.payload.len().max(256)],
            names: vec![MaybeUninit::uninit(); NAMES_BYTES],
            part_ns: 0,
        }
    }

    /// Does a part of the operation and keeps its time.
    fn part<T>(&mut self, act: impl FnOnce() -> T) -> T {
        let begin_ns = self.clock.now_ns();
        let outcome = act();
        self.part_ns = self.clock.now_ns().saturating_sub(begin_ns);
        outcome
    }
}

/// Names the call that failed.
fn call<T>(function: &'static str, outcome: Result<T, Errno>) -> Result<T, Failure> {
    outcome.map_err(|errno| Failure::Call(function, errno))
}

fn close(descriptor: OwnedFd) -> Result<(), Failure> {
    call("close", engine::files::close(descriptor).map_err(Errno::from_raw_os_error))
}

fn open_new(ground: &Ground, name: &CStr) -> Result<OwnedFd, Failure> {
    // As a shell's redirection does, but for links, of which there are none of ours.
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    call("open", rustix::fs::openat(&ground.root, name, flags, Mode::from_raw_mode(0o644)))
}

fn open_old(ground: &Ground, name: &CStr, more: OFlags) -> Result<OwnedFd, Failure> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | more;
    call("open", rustix::fs::openat(&ground.root, name, flags, Mode::empty()))
}

fn write_all(ground: &Ground, file: &OwnedFd) -> Result<(), Failure> {
    let mut left = ground.size_bytes;
    while left > 0 {
        let length = ground.payload.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        match call("write", rustix::io::write(file, &ground.payload[..length]))? {
            0 => return Err(Failure::Wrong("write", "it took none of the bytes".to_string())),
            written => left -= written as u64,
        }
    }
    Ok(())
}

/// Open, write, close.
pub(super) fn write(ground: &Ground, item: &Item, scratch: &mut Scratch) -> Result<(), Failure> {
    let file = open_new(ground, &item.name)?;
    // A failed write is the news, whatever close would say after it.
    write_all(ground, &file)?;
    scratch.part(|| close(file))
}

/// Open, read to the end, close.
pub(super) fn read(ground: &Ground, item: &Item, scratch: &mut Scratch) -> Result<(), Failure> {
    let file = open_old(ground, &item.name, OFlags::empty())?;
    let mut found = 0u64;
    loop {
        match call("read", rustix::io::read(&file, scratch.buffer.as_mut_slice()))? {
            0 => break,
            bytes => found += bytes as u64,
        }
    }
    close(file)?;
    right_size("read", found, item.expected)
}

fn right_size(function: &'static str, found: u64, expected: u64) -> Result<(), Failure> {
    let wrong = || Failure::Wrong(function, format!("the file has {found} bytes instead of {expected}"));
    if found == expected { Ok(()) } else { Err(wrong()) }
}

/// Open, close: an empty file.
pub(super) fn create(ground: &Ground, item: &Item, _scratch: &mut Scratch) -> Result<(), Failure> {
    close(open_new(ground, &item.name)?)
}

/// The attributes.
pub(super) fn stat(ground: &Ground, item: &Item, _scratch: &mut Scratch) -> Result<(), Failure> {
    let found = call("stat", rustix::fs::statat(&ground.root, item.name.as_c_str(), AtFlags::empty()))?;
    right_size("stat", u64::try_from(found.st_size).unwrap_or(0), item.expected)
}

/// The attributes, past what the kernel remembers of them: asked of the server, or of the daemon.
pub(super) fn stat_forced(ground: &Ground, item: &Item, _scratch: &mut Scratch) -> Result<(), Failure> {
    let flags = AtFlags::STATX_FORCE_SYNC;
    let found = call("statx", rustix::fs::statx(&ground.root, item.name.as_c_str(), flags, StatxFlags::SIZE))?;
    right_size("statx", found.stx_size, item.expected)
}

/// All names of a directory: open, read to its end, close.
pub(super) fn list(ground: &Ground, item: &Item, scratch: &mut Scratch) -> Result<(), Failure> {
    let directory = open_old(ground, &item.name, OFlags::DIRECTORY)?;
    let mut listing = RawDir::new(&directory, scratch.names.as_mut_slice());
    let mut listed = 0;
    while let Some(entry) = listing.next() {
        let entry = call("readdir", entry)?;
        listed += u64::from(entry.file_name() != c"." && entry.file_name() != c"..");
    }
    close(directory)?;
    // More than expected is no fault: a file that could not be written may have left its name.
    let missing = || Failure::Wrong("readdir", format!("{listed} names were listed instead of {}", item.expected));
    if listed >= item.expected { Ok(()) } else { Err(missing()) }
}

/// To the new name.
pub(super) fn rename(ground: &Ground, item: &Item, _scratch: &mut Scratch) -> Result<(), Failure> {
    call("rename", rustix::fs::renameat(&ground.root, item.name.as_c_str(), &ground.root, other(item)?))
}

/// Open, write, fsync, close: as a mail store keeps a message.
pub(super) fn write_synced(ground: &Ground, item: &Item, scratch: &mut Scratch) -> Result<(), Failure> {
    let file = open_new(ground, &item.name)?;
    write_all(ground, &file)?;
    call("fsync", scratch.part(|| rustix::fs::fsync(&file)))?;
    close(file)
}

/// An empty file, and its name made durable: open, close, fsync of the directory.
pub(super) fn create_synced(ground: &Ground, item: &Item, scratch: &mut Scratch) -> Result<(), Failure> {
    close(open_new(ground, &item.name)?)?;
    let directory = open_old(ground, other(item)?, OFlags::DIRECTORY)?;
    call("fsync", scratch.part(|| rustix::fs::fsync(&directory)))?;
    close(directory)
}

pub(super) fn make_directory(ground: &Ground, item: &Item, _scratch: &mut Scratch) -> Result<(), Failure> {
    call("mkdir", rustix::fs::mkdirat(&ground.root, item.name.as_c_str(), Mode::from_raw_mode(0o755)))
}

pub(super) fn remove_directory(ground: &Ground, item: &Item, _scratch: &mut Scratch) -> Result<(), Failure> {
    call("rmdir", rustix::fs::unlinkat(&ground.root, item.name.as_c_str(), AtFlags::REMOVEDIR))
}

pub(super) fn link(ground: &Ground, item: &Item, _scratch: &mut Scratch) -> Result<(), Failure> {
    call("symlink", rustix::fs::symlinkat(other(item)?, &ground.root, item.name.as_c_str()))
}

pub(super) fn read_link(ground: &Ground, item: &Item, scratch: &mut Scratch) -> Result<(), Failure> {
    let buffer = scratch.buffer.as_mut_slice();
    let length = call("readlink", rustix::fs::readlinkat_raw(&ground.root, item.name.as_c_str(), &mut *buffer))?;
    let expected = other(item)?.to_bytes();
    if buffer.get(..length) == Some(expected) {
        return Ok(());
    }
    let found = String::from_utf8_lossy(&scratch.buffer[..length]).into_owned();
    Err(Failure::Wrong("readlink", format!("the link leads to {found:?}")))
}

pub(super) fn unlink(ground: &Ground, item: &Item, _scratch: &mut Scratch) -> Result<(), Failure> {
    call("unlink", rustix::fs::unlinkat(&ground.root, item.name.as_c_str(), AtFlags::empty()))
}

fn other(item: &Item) -> Result<&CStr, Failure> {
    item.other.as_deref().ok_or_else(|| Failure::Wrong("name", "nobody gave the second name".to_string()))
}
