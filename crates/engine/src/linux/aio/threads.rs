//! `io_submit_mode=offload`: threads that carry out the requests in place of the kernel's queue. Each thread takes
//! the next request, makes the call of the engine that was asked for, and waits for it.

use std::collections::VecDeque;
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use fsdyno_job::EngineName;
use io_uring::{IoUring, opcode, types};
use rustix::io::Errno;

use super::abi::{COMMAND_DATA_SYNC, COMMAND_READ, COMMAND_SYNC, COMMAND_WRITE, Context, Event, Iocb};
use crate::linux::positioned::{self, Flagged};
use crate::setup::{EngineSetup, EngineSetupError};
use fsdyno_os::linux::files;

/// Stack of a thread, bytes; it only makes calls.
const STACK_BYTES: usize = 64 * 1024;

/// The threads, one for each request that may be in flight.
#[derive(Debug)]
pub(super) struct Threads {
    desk: Arc<SharedLists>,
    threads: Vec<JoinHandle<()>>,
}

/// The lists that the worker and the threads share.
#[derive(Debug, Default)]
struct SharedLists {
    lists: Mutex<Lists>,
    /// Signals that there is a request, or the end.
    asked: Condvar,
    /// Signals that there is a completion.
    answered: Condvar,
}

#[derive(Debug, Default)]
struct Lists {
    requests: VecDeque<Iocb>,
    events: Vec<Event>,
    ended: bool,
}

impl SharedLists {
    fn lists(&self) -> MutexGuard<'_, Lists> {
        // A thread that panicked has reported it already; the lists are consistent between any two statements.
        self.lists.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the next request; `None`: no more requests follow.
    fn next(&self) -> Option<Iocb> {
        let mut lists = self.lists();
        loop {
            if let Some(request) = lists.requests.pop_front() {
                return Some(request);
            }
            if lists.ended {
                return None;
            }
            lists = self.asked.wait(lists).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn answer(&self, event: Event) {
        self.lists().events.push(event);
        self.answered.notify_one();
    }
}

impl Threads {
    pub(super) fn start(setup: &EngineSetup<'_>) -> Result<Threads, EngineSetupError> {
        let depth = setup.depth as usize;
        let lists = Lists { requests: VecDeque::with_capacity(depth), events: Vec::with_capacity(depth), ended: false };
        let desk = Arc::new(SharedLists { lists: Mutex::new(lists), ..SharedLists::default() });
        let mut started = Threads { desk, threads: Vec::with_capacity(depth) };
        for _ in 0..depth {
            let refused = |code| EngineSetupError::Refused {
                engine: setup.name,
                call: "io_submit_mode=offload",
                code,
                advice: "lower iodepth or numjobs, or leave io_submit_mode out".to_owned(),
            };
            let mut caller = Caller::new(setup).map_err(refused)?;
            let desk = Arc::clone(&started.desk);
            let thread = fsdyno_os::thread::begin("offload", STACK_BYTES, move || {
                while let Some(request) = desk.next() {
                    let result = caller.perform(&request);
                    desk.answer(Event::of(&request, result));
                }
            });
            started.threads.push(thread.map_err(|error| refused(error.raw_os_error().unwrap_or(libc::EAGAIN)))?);
        }
        Ok(started)
    }

    /// Gives all of the requests to the threads.
    ///
    /// # Safety
    /// As for [`Context::submit`]; files and buffers outlive the threads.
    pub(super) unsafe fn submit(&self, requests: &[*const Iocb]) -> usize {
        // SAFETY: the caller's promise.
        let copies = requests.iter().map(|request| unsafe { **request });
        self.desk.lists().requests.extend(copies);
        requests.iter().for_each(|_| self.desk.asked.notify_one());
        requests.len()
    }

    /// As [`Context::wait`].
    pub(super) fn wait(&self, min: usize, events: &mut [Event], timeout: Option<Duration>) -> usize {
        let few = |lists: &mut Lists| lists.events.len() < min;
        let lists = self.desk.lists();
        let mut lists = match timeout {
            Some(timeout) => {
                let waited = self.desk.answered.wait_timeout_while(lists, timeout, few);
                waited.unwrap_or_else(PoisonError::into_inner).0
            }
            None => self.desk.answered.wait_while(lists, few).unwrap_or_else(PoisonError::into_inner),
        };
        let count = lists.events.len().min(events.len());
        for (place, event) in events.iter_mut().zip(lists.events.drain(..count)) {
            *place = event;
        }
        count
    }

    /// Leaves the threads in calls that do not return.
    pub(super) fn abandon(&mut self) {
        self.threads.clear();
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.desk.lists().ended = true;
        self.desk.asked.notify_all();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// How one thread makes its calls.
enum Caller {
    /// pread, pwrite.
    Plain,
    /// preadv, pwritev.
    Vectored,
    /// preadv2, pwritev2.
    Flagged(Flagged),
    /// io_submit of one request, and io_getevents.
    Aio(Context),
    /// io_uring with one request at a time.
    Ring(Box<IoUring>),
}

impl Caller {
    fn new(setup: &EngineSetup<'_>) -> Result<Caller, i32> {
        let ring = || IoUring::new(1).map_err(|error| error.raw_os_error().unwrap_or(libc::EIO));
        Ok(match setup.name {
            EngineName::Pvsync | EngineName::Vsync => Caller::Vectored,
            EngineName::Pvsync2 => Caller::Flagged(Flagged::new(&setup.options)),
            EngineName::Libaio => Caller::Aio(Context::new(1)?),
            EngineName::IoUring => Caller::Ring(Box::new(ring()?)),
            _ => Caller::Plain,
        })
    }

    /// Makes the call. Returns bytes or the negated errno.
    fn perform(&mut self, request: &Iocb) -> i64 {
        let outcome = match self {
            Caller::Aio(context) => by_context(context, request),
            Caller::Ring(ring) => by_ring(ring, request),
            _ => self.call(request).map(|bytes| bytes as i64).map_err(Errno::raw_os_error),
        };
        outcome.unwrap_or_else(|code| -i64::from(code))
    }

    fn call(&mut self, request: &Iocb) -> Result<usize, Errno> {
        // SAFETY: the files outlive the threads.
        let fd = unsafe { BorrowedFd::borrow_raw(request.fd.cast_signed()) };
        if request.command > COMMAND_WRITE {
            let synced = if request.command == COMMAND_SYNC { files::sync(fd) } else { files::sync_data(fd) };
            return synced.map(|()| 0).map_err(Errno::from_raw_os_error);
        }
        let address = std::ptr::with_exposed_provenance_mut(request.buffer as usize);
        // SAFETY: the place in the arena belongs to this request until it completes, and nobody else touches it.
        let place = unsafe { std::slice::from_raw_parts_mut(address, request.bytes as usize) };
        let (offset, read) = (request.offset as u64, request.command == COMMAND_READ);
        match self {
            Caller::Vectored => positioned::vectored(fd, place, offset, read),
            Caller::Flagged(flagged) => positioned::with_flags(fd, place, offset, read, flagged.next(read)),
            _ => positioned::plain(fd, place, offset, read),
        }
    }
}

impl Drop for Caller {
    fn drop(&mut self) {
        if let Caller::Aio(context) = self {
            context.destroy();
        }
    }
}

fn by_context(context: &Context, request: &Iocb) -> Result<i64, i32> {
    let mut event = [Event::default()];
    // SAFETY: as in `Caller::call`; the request is done when this function returns.
    unsafe { context.submit(&[std::ptr::from_ref(request)]) }?;
    loop {
        match context.wait(1, &mut event, None) {
            Ok(1) => return Ok(event[0].result),
            Ok(_) | Err(libc::EINTR) => {}
            Err(code) => return Err(code),
        }
    }
}

fn by_ring(ring: &mut IoUring, request: &Iocb) -> Result<i64, i32> {
    let Iocb { buffer, bytes, offset, flags_rw, .. } = *request;
    let file = types::Fd(request.fd.cast_signed());
    let address = std::ptr::with_exposed_provenance_mut::<u8>(buffer as usize);
    let (length, offset, flags) = (bytes as u32, offset as u64, flags_rw.cast_signed());
    let entry = match request.command {
        COMMAND_READ => {
            opcode::Read::new(file, address, length).offset(offset).rw_flags(flags).ioprio(request.priority()).build()
        }
        COMMAND_WRITE => {
            opcode::Write::new(file, address, length).offset(offset).rw_flags(flags).ioprio(request.priority()).build()
        }
        COMMAND_DATA_SYNC => opcode::Fsync::new(file).flags(types::FsyncFlags::DATASYNC).build(),
        _ => opcode::Fsync::new(file).build(),
    };
    // SAFETY: as in `Caller::call`; the request is done when this function returns. The queue has room for the only
    // entry.
    unsafe { ring.submission().push(&entry) }.map_err(|_| libc::EAGAIN)?;
    loop {
        if let Some(completion) = ring.completion().next() {
            return Ok(i64::from(completion.result()));
        }
        match ring.submit_and_wait(1).map_err(|error| error.raw_os_error().unwrap_or(libc::EIO)) {
            Ok(_) | Err(libc::EINTR) => {}
            Err(code) => return Err(code),
        }
    }
}
