//! Survives SIGBUS, which the kernel sends for a page of a mapped file that cannot be read: the file was shortened,
//! its storage failed, or its disk is full. Without this the process would end. Here a page of zeros replaces the
//! page, the access completes, and the caller learns that its data is not valid.

use std::cell::Cell;
use std::sync::{Once, OnceLock};

use fsdyno_os::memory;

/// A mapping of a file.
#[derive(Clone, Copy, Debug)]
struct Range {
    start: usize,
    bytes: usize,
}

thread_local! {
    /// The mappings that this thread watches. The signal handler reads them on the same thread.
    static WATCHED: Cell<(*const Range, usize)> = const { Cell::new((std::ptr::null(), 0)) };
    /// Whether an access of this thread has met such a page.
    static IN_VAIN: Cell<bool> = const { Cell::new(false) };
}

/// The action of SIGBUS before this module set its own.
static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

/// Watches the mappings of one engine on the thread that made it.
#[derive(Debug)]
pub(super) struct BusErrorWatch {
    ranges: Box<[Range]>,
}

impl BusErrorWatch {
    /// `ranges`: address and length of each mapping; they stay mapped as long as this value lives.
    pub(super) fn begin(ranges: impl Iterator<Item = (usize, usize)>) -> BusErrorWatch {
        static INSTALLED: Once = Once::new();
        INSTALLED.call_once(install);
        let mut watch = BusErrorWatch { ranges: Box::default() };
        watch.watch(ranges);
        watch
    }

    /// Watches these mappings instead. Earlier ones may be unmapped already, because no code accesses them.
    pub(super) fn watch(&mut self, ranges: impl Iterator<Item = (usize, usize)>) {
        let page = memory::page_bytes();
        WATCHED.set((std::ptr::null(), 0));
        self.ranges = ranges.map(|(start, bytes)| Range { start, bytes: bytes.next_multiple_of(page) }).collect();
        WATCHED.set((self.ranges.as_ptr(), self.ranges.len()));
    }

    /// Whether an access of this thread since the last call has met such a page.
    #[inline(always)]
    pub(super) fn take_bus_error(&self) -> bool {
        IN_VAIN.get() && IN_VAIN.replace(false)
    }
}

impl Drop for BusErrorWatch {
    fn drop(&mut self) {
        WATCHED.set((std::ptr::null(), 0));
    }
}

fn install() {
    let mut before = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: the call only asks, and fills the structure.
    if unsafe { libc::sigaction(libc::SIGBUS, std::ptr::null(), before.as_mut_ptr()) } != 0 {
        return;
    }
    // SAFETY: all fields are integers or addresses, zeroed above and filled by the call.
    let _ = BEFORE.set(unsafe { before.assume_init() });
    // SAFETY: a structure of integers and addresses, for which zeros are valid.
    let mut action = unsafe { std::mem::zeroed::<libc::sigaction>() };
    action.sa_sigaction = on_bus_error as *const () as usize;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
    // SAFETY: the handler only does what a handler may do: it reads memory of its own thread and makes system calls.
    // If the call is refused, nothing changes.
    unsafe { libc::sigaction(libc::SIGBUS, &raw const action, std::ptr::null_mut()) };
}

extern "C" fn on_bus_error(_signal: libc::c_int, info: *mut libc::siginfo_t, _context: *mut libc::c_void) {
    // SAFETY: the kernel passes a valid structure, and for this signal it has an address.
    let address = unsafe { (*info).si_addr() } as usize;
    if !replace_page(address) {
        // The page is not watched: with the earlier action the access is repeated and ends as it would have.
        if let Some(before) = BEFORE.get() {
            // SAFETY: the action is one that the system itself returned.
            unsafe { libc::sigaction(libc::SIGBUS, before, std::ptr::null_mut()) };
        }
    }
}

/// Replaces a page that cannot be read by zeros, if it is watched.
fn replace_page(address: usize) -> bool {
    let (first, count) = WATCHED.get();
    let ours = (0..count).any(|index| {
        // SAFETY: `BusErrorWatch` keeps this number of ranges valid and ends the watch before they are freed; this is
        // its thread.
        let range = unsafe { *first.add(index) };
        (range.start..range.start + range.bytes).contains(&address)
    });
    if !ours {
        return false;
    }
    let page = memory::page_bytes();
    let start = std::ptr::without_provenance_mut(address / page * page);
    let (protection, flags) =
        (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED);
    // SAFETY: errno belongs to this thread; the interrupted code may be about to read it, so it is restored below.
    let errno = unsafe { *libc::__errno_location() };
    // SAFETY: the page lies within a mapping of an engine of this thread, which copies from and to it by address alone.
    let mapped = unsafe { libc::mmap(start, page, protection, flags, -1, 0) };
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
    IN_VAIN.set(true);
    mapped != libc::MAP_FAILED
}
