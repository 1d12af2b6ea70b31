//! Pages of a mapped file that cannot be had: the file was shortened, its storage failed, its disk is full. The kernel says
//! so with SIGBUS, which ends a process. Here a page of zeros takes the place of such a page, the access ends, and whoever
//! made it learns that it was in vain.

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
    /// The mappings that this thread watches; read by the signal's handler, on the same thread.
    static WATCHED: Cell<(*const Range, usize)> = const { Cell::new((std::ptr::null(), 0)) };
    /// An access of this thread was in vain.
    static IN_VAIN: Cell<bool> = const { Cell::new(false) };
}

/// What SIGBUS did before.
static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

/// Watches the mappings of one engine, on the thread that made it.
#[derive(Debug)]
pub(super) struct BusErrorWatch {
    ranges: Box<[Range]>,
}

impl BusErrorWatch {
    /// `ranges`: address and length of each mapping; they stay mapped as long as this lives.
    pub(super) fn begin(ranges: impl Iterator<Item = (usize, usize)>) -> BusErrorWatch {
        static INSTALLED: Once = Once::new();
        INSTALLED.call_once(install);
        let mut watch = BusErrorWatch { ranges: Box::default() };
        watch.watch(ranges);
        watch
    }

    /// Watches these instead. What was watched before may be gone already, as nothing accesses it.
    pub(super) fn watch(&mut self, ranges: impl Iterator<Item = (usize, usize)>) {
        let page = memory::page_bytes();
        WATCHED.set((std::ptr::null(), 0));
        self.ranges = ranges.map(|(start, bytes)| Range { start, bytes: bytes.next_multiple_of(page) }).collect();
        WATCHED.set((self.ranges.as_ptr(), self.ranges.len()));
    }

    /// Whether an access of this thread since the last call was in vain.
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
    // SAFETY: only asks, and fills the structure.
    if unsafe { libc::sigaction(libc::SIGBUS, std::ptr::null(), before.as_mut_ptr()) } != 0 {
        return;
    }
    // SAFETY: all fields are integers or addresses, zeroed above and filled by the call.
    let _ = BEFORE.set(unsafe { before.assume_init() });
    // SAFETY: a structure of integers and addresses, for which zeros are valid.
    let mut action = unsafe { std::mem::zeroed::<libc::sigaction>() };
    action.sa_sigaction = on_bus_error as *const () as usize;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
    // SAFETY: the handler does nothing but what a handler may do: it reads memory of its own thread and makes system
    // calls. A refusal leaves things as they were.
    unsafe { libc::sigaction(libc::SIGBUS, &raw const action, std::ptr::null_mut()) };
}

extern "C" fn on_bus_error(_signal: libc::c_int, info: *mut libc::siginfo_t, _context: *mut libc::c_void) {
    // SAFETY: the kernel passes a valid structure, and for this signal it has an address.
    let address = unsafe { (*info).si_addr() } as usize;
    if !replace_page(address) {
        // Not one of ours: the access is made again, and ends as it would have.
        if let Some(before) = BEFORE.get() {
            // SAFETY: what the system gave itself.
            unsafe { libc::sigaction(libc::SIGBUS, before, std::ptr::null_mut()) };
        }
    }
}

/// Puts a page of zeros where a watched one cannot be had.
fn replace_page(address: usize) -> bool {
    let (first, count) = WATCHED.get();
    let ours = (0..count).any(|index| {
        // SAFETY: `BusErrorWatch` keeps this number of them there, and ends this before they go; this is its thread.
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
    // SAFETY: errno belongs to this thread, and what was interrupted may be about to read it.
    let errno = unsafe { *libc::__errno_location() };
    // SAFETY: the page lies within a mapping of an engine of this thread, which copies from and to it by address alone.
    let mapped = unsafe { libc::mmap(start, page, protection, flags, -1, 0) };
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
    IN_VAIN.set(true);
    mapped != libc::MAP_FAILED
}
