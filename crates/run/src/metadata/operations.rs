//! The metadata operations: each is a few system calls on names that were made before the measurement.

use std::ffi::{CStr, CString};
use std::mem::MaybeUninit;
use std::sync::Arc;

use fsdyno_os::clock::{Clock, RealClock};
use fsdyno_os::errno;
use fsdyno_os::files::Directory;
use fsdyno_os::names::{self, Opened};
use fsdyno_results::JobError;

use crate::account::job_error;

/// Most bytes per read or write call, as programs that copy files use.
const CHUNK_BYTES: usize = 1 << 20;

/// Buffer for the names of a directory, bytes; the C library's size.
const NAMES_BYTES: usize = 32 << 10;

/// The context that all workers of a phase share, read-only.
pub struct OperationContext {
    /// The directory that all names are relative to.
    pub root: Directory,
    /// Bytes of a file.
    pub size_bytes: u64,
    /// The data to write: a whole file or a chunk of it.
    payload: Vec<u8>,
    /// Of the names that a search finds, those of this part are examined: its number, and the number of parts.
    pub part: (u64, u64),
}

/// The object of one operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Its index.
    pub index: u32,
    /// Its name, relative to the root.
    pub name: CString,
    /// New name, target of a link, or directory, where the operation needs one.
    pub other: Option<CString>,
    /// Bytes of the file, or number of names in the directory, that must be found.
    pub expected: u64,
}

/// The buffers of a worker, reused by each operation.
pub struct Scratch {
    clock: RealClock,
    buffer: Vec<u8>,
    names: Vec<MaybeUninit<u8>>,
    /// Time of the call that is reported separately (close, fsync), ns.
    part_ns: u64,
}

/// A function that does one operation.
pub type Perform = fn(&OperationContext, &Item, &mut Scratch) -> Result<(), Failure>;

/// The operation of one worker on an item, with what the worker keeps between two of them (buffers, a connection).
/// Returns the time of the part that is timed separately, ns.
pub type Operate = Box<dyn FnMut(&Item) -> Result<u64, Failure>>;

/// Makes the operation of a worker, in the worker's thread and before the first operation of any.
pub type Prepare = Box<dyn Fn() -> Operate + Send + Sync>;

/// Why an operation failed.
#[derive(Debug)]
pub enum Failure {
    /// A system call failed: its name and errno.
    Call(&'static str, i32),
    /// The calls succeeded with a wrong result: the call and what is wrong.
    Wrong(&'static str, String),
}

impl Failure {
    /// Whether a signal interrupted it: then the storage did not fail.
    pub(crate) fn interrupted(&self) -> bool {
        matches!(self, Failure::Call(_, errno::EINTR))
    }

    pub(crate) fn to_error(&self) -> JobError {
        match self {
            Failure::Call(function, code) => job_error(*code, function),
            Failure::Wrong(function, text) => {
                JobError { code: errno::EIO, function: function.to_string(), text: text.clone() }
            }
        }
    }
}

impl OperationContext {
    /// A context for this directory, with files of this size.
    pub fn new(root: Directory, size_bytes: u64) -> OperationContext {
        OperationContext { root, size_bytes, payload: payload(size_bytes.min(CHUNK_BYTES as u64)), part: (0, 1) }
    }
}

/// The operation of each worker on the files of a context.
pub fn on_files(context: Arc<OperationContext>, perform: Perform) -> Prepare {
    Box::new(move || {
        let context = Arc::clone(&context);
        let mut scratch = Scratch::new(&context);
        Box::new(move |item| {
            perform(&context, item, &mut scratch)?;
            Ok(scratch.part_ns)
        })
    })
}

/// The five bytes of the published test, followed by incompressible data.
pub fn payload(size_bytes: u64) -> Vec<u8> {
    let length = usize::try_from(size_bytes).unwrap_or(usize::MAX);
    let mut bytes = b"test\n".to_vec();
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    while bytes.len() < length {
        // xorshift64: any sequence without patterns is good enough.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend(state.to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}

impl Scratch {
    fn new(context: &OperationContext) -> Scratch {
        Scratch {
            clock: RealClock::shared(),
            buffer: vec![0; context.payload.len().max(256)],
            names: vec![MaybeUninit::uninit(); NAMES_BYTES],
            part_ns: 0,
        }
    }

    /// Does a part of the operation and records its time.
    fn part<T>(&mut self, act: impl FnOnce() -> T) -> T {
        let begin_ns = self.clock.now_ns();
        let outcome = act();
        self.part_ns = self.clock.now_ns().saturating_sub(begin_ns);
        outcome
    }
}

/// Adds the name of the call that failed.
fn call<T>(function: &'static str, outcome: Result<T, i32>) -> Result<T, Failure> {
    outcome.map_err(|code| Failure::Call(function, code))
}

fn close(opened: Opened) -> Result<(), Failure> {
    call("close", opened.close())
}

fn open_new(context: &OperationContext, item: &Item) -> Result<Opened, Failure> {
    call("open", names::create(&context.root, &item.name))
}

fn open_directory(context: &OperationContext, name: &CStr) -> Result<Opened, Failure> {
    call("open", names::open_directory(&context.root, name))
}

fn write_all(context: &OperationContext, file: &Opened) -> Result<(), Failure> {
    let mut left = context.size_bytes;
    while left > 0 {
        let length = context.payload.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        match call("write", file.write(&context.payload[..length]))? {
            0 => return Err(Failure::Wrong("write", "the write stored 0 bytes".to_string())),
            written => left -= written as u64,
        }
    }
    Ok(())
}

/// Open, write, close.
pub fn write(context: &OperationContext, item: &Item, scratch: &mut Scratch) -> Result<(), Failure> {
    let file = open_new(context, item)?;
    // A failed write is reported, whatever close returns after it.
    write_all(context, &file)?;
    scratch.part(|| close(file))
}

/// Open, read to the end, close.
pub fn read(context: &OperationContext, item: &Item, scratch: &mut Scratch) -> Result<(), Failure> {
    let file = call("open", names::open(&context.root, &item.name))?;
    let mut found = 0u64;
    loop {
        match call("read", file.read(&mut scratch.buffer))? {
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
pub fn create(context: &OperationContext, item: &Item, _scratch: &mut Scratch) -> Result<(), Failure> {
    close(open_new(context, item)?)
}

/// Reads the attributes.
pub fn stat(context: &OperationContext, item: &Item, _scratch: &mut Scratch) -> Result<(), Failure> {
    let found = call("stat", names::size(&context.root, &item.name))?;
    right_size("stat", found, item.expected)
}

/// stat(2) that bypasses the kernel's cache: the server or the daemon answers.
pub fn stat_uncached(context: &OperationContext, item: &Item, _scratch: &mut Scratch) -> Result<(), Failure> {
    let found = call("statx", names::size_asked_anew(&context.root, &item.name))?;
    right_size("statx", found, item.expected)
}

/// Lists a directory: open, read to its end, close.
pub fn list(context: &OperationContext, item: &Item, scratch: &mut Scratch) -> Result<(), Failure> {
    let directory = open_directory(context, &item.name)?;
    let listed = call("readdir", directory.count_names(&mut scratch.names))?;
    close(directory)?;
    all_listed(listed, item.expected)
}

fn all_listed(listed: u64, expected: u64) -> Result<(), Failure> {
    // More names than expected are no error: a file that could not be written may have left its name.
    let missing = || Failure::Wrong("readdir", format!("the listing has {listed} names instead of {expected}"));
    if listed >= expected { Ok(()) } else { Err(missing()) }
}

/// Lists a directory, and reads the attributes of names with `01`: `find -name '*01*' -size 3901c`. Ranks that search the
/// same directory each examine a part of the names.
pub fn find(context: &OperationContext, item: &Item, scratch: &mut Scratch) -> Result<(), Failure> {
    let directory = open_directory(context, &item.name)?;
    let (part, parts) = context.part;
    let mut examine = |name: &CStr| {
        let bytes = name.to_bytes();
        let sum = bytes.iter().fold(0u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(*byte)));
        let examined = sum % parts == part && bytes.windows(2).any(|pair| pair == b"01");
        if examined { names::size(&context.root, name).map(drop) } else { Ok(()) }
    };
    let listed = call("find", directory.each_name(&mut scratch.names, &mut examine))?;
    close(directory)?;
    all_listed(listed, item.expected)
}

/// Renames to the new name.
pub fn rename(context: &OperationContext, item: &Item, _scratch: &mut Scratch) -> Result<(), Failure> {
    call("rename", names::rename(&context.root, &item.name, other(item)?))
}

/// Open, write, fsync, close: as a mail store writes a message.
pub fn write_synced(context: &OperationContext, item: &Item, scratch: &mut Scratch) -> Result<(), Failure> {
    let file = open_new(context, item)?;
    write_all(context, &file)?;
    call("fsync", scratch.part(|| file.sync()))?;
    close(file)
}

/// Makes an empty file with a durable name: open, close, fsync of the directory.
pub fn create_synced(context: &OperationContext, item: &Item, scratch: &mut Scratch) -> Result<(), Failure> {
    close(open_new(context, item)?)?;
    let directory = open_directory(context, other(item)?)?;
    call("fsync", scratch.part(|| directory.sync()))?;
    close(directory)
}

/// Makes a directory.
pub fn make_directory(context: &OperationContext, item: &Item, _scratch: &mut Scratch) -> Result<(), Failure> {
    call("mkdir", names::make_directory(&context.root, &item.name))
}

/// Removes a directory.
pub fn remove_directory(context: &OperationContext, item: &Item, _scratch: &mut Scratch) -> Result<(), Failure> {
    call("rmdir", names::remove_directory(&context.root, &item.name))
}

/// Makes a symbolic link.
pub fn link(context: &OperationContext, item: &Item, _scratch: &mut Scratch) -> Result<(), Failure> {
    call("symlink", names::link(&context.root, other(item)?, &item.name))
}

/// Reads a symbolic link.
pub fn read_link(context: &OperationContext, item: &Item, scratch: &mut Scratch) -> Result<(), Failure> {
    let length = call("readlink", names::read_link(&context.root, &item.name, &mut scratch.buffer))?;
    let expected = other(item)?.to_bytes();
    if scratch.buffer.get(..length) == Some(expected) {
        return Ok(());
    }
    let found = String::from_utf8_lossy(&scratch.buffer[..length]).into_owned();
    Err(Failure::Wrong("readlink", format!("the link points to {found:?}")))
}

/// Removes a file.
pub fn unlink(context: &OperationContext, item: &Item, _scratch: &mut Scratch) -> Result<(), Failure> {
    call("unlink", names::remove(&context.root, &item.name))
}

fn other(item: &Item) -> Result<&CStr, Failure> {
    item.other
        .as_deref()
        .ok_or_else(|| Failure::Wrong("name", "internal error: the second name is missing".to_string()))
}
