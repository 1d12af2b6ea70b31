//! The kernel's interface for asynchronous I/O as `linux/aio_abi.h` defines it: five system calls, and the ring of
//! completions that the kernel maps into the process.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Read.
pub(super) const COMMAND_READ: u16 = 0;
/// Write.
pub(super) const COMMAND_WRITE: u16 = 1;
/// Reads into a list of buffers.
pub(super) const COMMAND_READ_LIST: u16 = 7;
/// Writes from a list of buffers.
pub(super) const COMMAND_WRITE_LIST: u16 = 8;
/// fsync.
pub(super) const COMMAND_SYNC: u16 = 2;
/// fdatasync.
pub(super) const COMMAND_DATA_SYNC: u16 = 3;
/// A trim, which only devices take that get commands.
pub(super) const COMMAND_TRIM: u16 = 100;

/// `struct iocb`: one request. The kernel copies it when it is submitted.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(super) struct Iocb {
    pub(super) data: u64,
    #[cfg(target_endian = "little")]
    key: u32,
    pub(super) flags_rw: u32,
    #[cfg(target_endian = "big")]
    key: u32,
    pub(super) command: u16,
    priority: i16,
    pub(super) fd: u32,
    pub(super) buffer: u64,
    pub(super) bytes: u64,
    pub(super) offset: i64,
    reserved: u64,
    flags: u32,
    result_fd: u32,
}

const _: () = assert!(std::mem::size_of::<Iocb>() == 64);

impl Iocb {
    /// A request whose completion carries this number.
    pub(super) fn of_slot(number: u64) -> Iocb {
        Iocb { data: number, ..Iocb::default() }
    }

    /// Sets the I/O priority; 0: that of the submitting thread.
    pub(super) fn set_priority(&mut self, priority: u16) {
        const HAS_PRIORITY: u32 = 2;
        self.priority = priority.cast_signed();
        self.flags = if priority == 0 { 0 } else { HAS_PRIORITY };
    }

    pub(super) fn priority(&self) -> u16 {
        self.priority.cast_unsigned()
    }

    /// Makes the transfer name its buffer in `list`, which must stay where it is until the transfer is done.
    pub(super) fn name_list(&mut self, list: &mut libc::iovec) {
        let base = std::ptr::with_exposed_provenance_mut(self.buffer as usize);
        *list = libc::iovec { iov_base: base, iov_len: self.bytes as usize };
        self.command = if self.command == COMMAND_READ { COMMAND_READ_LIST } else { COMMAND_WRITE_LIST };
        (self.buffer, self.bytes) = (std::ptr::from_mut(list).expose_provenance() as u64, 1);
    }
}

/// `struct io_event`: one completion.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(super) struct Event {
    pub(super) data: u64,
    object: u64,
    pub(super) result: i64,
    result_2: i64,
}

const _: () = assert!(std::mem::size_of::<Event>() == 32);

impl Event {
    /// The completion that the kernel would return.
    pub(super) fn of(request: &Iocb, result: i64) -> Event {
        Event { data: request.data, result, ..Event::default() }
    }
}

/// `struct aio_ring`: the head of the completion ring; the events follow it.
#[repr(C)]
struct Header {
    id: u32,
    count: u32,
    head: AtomicU32,
    tail: AtomicU32,
    magic: u32,
    compatible: u32,
    incompatible: u32,
    header_bytes: u32,
}

/// The value that identifies a ring which this code can read.
const RING_MAGIC: u32 = 0xa10a_10a1;

/// A context: requests in flight and their completions.
#[derive(Debug)]
pub(super) struct Context {
    /// The kernel's handle: the address of the ring.
    id: usize,
    /// Number of events in the ring; 0: the ring is of an unknown kind and is not read.
    ring_count: u32,
}

fn outcome(answer: libc::c_long) -> Result<usize, i32> {
    match answer {
        -1 => Err(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)),
        count => Ok(count as usize),
    }
}

impl Context {
    /// io_setup: room for `depth` requests.
    pub(super) fn new(depth: u32) -> Result<Context, i32> {
        let mut id: usize = 0;
        // SAFETY: the call writes the handle, one machine word, to `id`.
        outcome(unsafe { libc::syscall(libc::SYS_io_setup, depth as libc::c_ulong, &raw mut id) })?;
        let mut context = Context { id, ring_count: 0 };
        let ring = context.ring();
        // SAFETY: the handle is the address of the ring's header, which the kernel mapped into this process and
        // which stays until io_destroy. These fields never change.
        let (magic, incompatible, header_bytes, count) =
            unsafe { ((*ring).magic, (*ring).incompatible, (*ring).header_bytes, (*ring).count) };
        if magic == RING_MAGIC && incompatible == 0 && header_bytes as usize == std::mem::size_of::<Header>() {
            context.ring_count = count;
        }
        Ok(context)
    }

    /// The whole ring, the header and the events after it: memory that the kernel mapped, known by its address.
    #[inline(always)]
    fn ring(&self) -> *const Header {
        std::ptr::with_exposed_provenance(self.id)
    }

    /// io_submit. Returns how many of the requests that `requests` points to were taken.
    ///
    /// # Safety
    /// Each pointer leads to a request whose buffer stays valid, and untouched by others, until it has completed.
    #[inline]
    pub(super) unsafe fn submit(&self, requests: &[*const Iocb]) -> Result<usize, i32> {
        // SAFETY: the caller's promise; the kernel copies the requests during the call.
        outcome(unsafe {
            libc::syscall(libc::SYS_io_submit, self.id, requests.len() as libc::c_long, requests.as_ptr())
        })
    }

    /// The completions in the ring. `None`: the ring cannot be read.
    #[inline(always)]
    pub(super) fn peek(&self) -> Option<Ready<'_>> {
        if self.ring_count == 0 {
            return None;
        }
        let ring = self.ring();
        // SAFETY: as in `new`. The kernel writes the events before it moves the tail.
        let (head, tail) = unsafe { ((*ring).head.load(Ordering::Relaxed), (*ring).tail.load(Ordering::Acquire)) };
        let (head, tail) = (head % self.ring_count, tail % self.ring_count);
        let available = if tail >= head { tail - head } else { tail + self.ring_count - head };
        Some(Ready { ring, ring_count: self.ring_count, head, available, context: PhantomData })
    }

    /// io_getevents: waits for at least `min` completions and stores at most `events.len()`.
    pub(super) fn wait(&self, min: usize, events: &mut [Event], timeout: Option<Duration>) -> Result<usize, i32> {
        let timeout = timeout.map(|timeout| libc::timespec {
            tv_sec: i64::try_from(timeout.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: timeout.subsec_nanos() as _,
        });
        let timeout = timeout.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: the kernel writes at most `events.len()` events, and reads the time if there is one.
        outcome(unsafe {
            libc::syscall(
                libc::SYS_io_getevents,
                self.id,
                min as libc::c_long,
                events.len() as libc::c_long,
                events.as_mut_ptr(),
                timeout,
            )
        })
    }

    /// io_cancel: asks for one request to end early. Most files do not support it.
    pub(super) fn cancel(&self, request: *const Iocb) -> Result<(), i32> {
        let mut event = Event::default();
        // SAFETY: the request is only read, to find its number; the kernel may write one event.
        outcome(unsafe { libc::syscall(libc::SYS_io_cancel, self.id, request, &raw mut event) }).map(|_| ())
    }

    /// For tests: completions are read by io_getevents only, as if the ring were unknown.
    #[cfg(test)]
    pub(super) fn leave_ring_unread(&mut self) {
        self.ring_count = 0;
    }

    /// io_destroy: waits for the requests in flight and frees the context.
    pub(super) fn destroy(&mut self) {
        self.ring_count = 0;
        // SAFETY: the handle is this context's, and nothing refers to the ring any more. A failure would mean that
        // the context is gone already.
        let _ = outcome(unsafe { libc::syscall(libc::SYS_io_destroy, self.id) });
    }
}

/// Completions in the ring.
pub(super) struct Ready<'a> {
    /// Pointer to the whole ring: a reference to the header would not cover the events.
    ring: *const Header,
    ring_count: u32,
    head: u32,
    available: u32,
    /// The ring lives as long as its context.
    context: PhantomData<&'a Context>,
}

impl Ready<'_> {
    #[inline(always)]
    pub(super) fn count(&self) -> usize {
        self.available as usize
    }

    /// The next event. It may be called at most `count` times.
    #[inline(always)]
    pub(super) fn pop(&mut self) -> Event {
        debug_assert!(self.available > 0);
        // SAFETY: the events follow the header, `head` is below their number, and the tail said that this event is
        // written. It stays so until `finish` moves the head.
        let event = unsafe { *self.ring.add(1).cast::<Event>().add(self.head as usize) };
        self.head = if self.head + 1 == self.ring_count { 0 } else { self.head + 1 };
        self.available -= 1;
        event
    }

    /// Returns the places of the popped events to the kernel.
    #[inline(always)]
    pub(super) fn finish(self) {
        // SAFETY: as in `Context::new`; `head` is an atomic, so the kernel may read it meanwhile.
        unsafe { (*self.ring).head.store(self.head, Ordering::Release) };
    }
}
