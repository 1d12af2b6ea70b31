//! The program's allocator: the system's, with a reserve. If an allocation fails, the reserve is freed, so that the
//! run can still write its report. A worker that gets no memory even then waits and is abandoned; any other thread
//! ends the program with a sentence.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::Write;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use crate::system;

/// Size of the reserve: enough for a record and its report.
const RESERVE_BYTES: usize = 8 << 20;

static RESERVE: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());

/// Size of the first allocation that failed, bytes; 0: none has failed.
static FAILED_BYTES: AtomicUsize = AtomicUsize::new(0);

/// Exit status of a program without memory, on both faces.
const STATUS: u8 = 1;

/// Threads that wait for memory, by the system's number; 0: a free place.
static WAITING: [AtomicU32; 64] = [const { AtomicU32::new(0) }; 64];

thread_local! {
    static MAY_BE_ABANDONED: Cell<bool> = const { Cell::new(false) };
}

/// For `#[global_allocator]`.
#[derive(Debug)]
pub struct Allocator;

// SAFETY: every call goes to the system's allocator, whose promises these are, with unchanged arguments; a second
// call with the same arguments is a new one.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise is the system's.
        let allocate = || unsafe { System.alloc(layout) };
        or_from_put_by(layout.size(), allocate(), allocate)
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise is the system's.
        let allocate = || unsafe { System.alloc_zeroed(layout) };
        or_from_put_by(layout.size(), allocate(), allocate)
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's promise is the system's; one that fails leaves the block as it is.
        let allocate = || unsafe { System.realloc(block, layout, size) };
        or_from_put_by(size, allocate(), allocate)
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is the system's.
        unsafe { System.dealloc(block, layout) }
    }
}

/// For `#[global_allocator]` of a test: the same allocator, which counts what workers allocate.
#[derive(Debug)]
pub struct CountingAllocator;

static ALLOCATIONS_OF_WORKERS: AtomicU64 = AtomicU64::new(0);

impl CountingAllocator {
    /// Number of allocations, also those that grow a block, of all threads since they became workers (`may_be_abandoned`).
    /// What other threads allocate depends on how long a run takes, and is not counted.
    pub fn of_workers(&self) -> u64 {
        ALLOCATIONS_OF_WORKERS.load(Ordering::Relaxed)
    }

    fn count() {
        if MAY_BE_ABANDONED.get() {
            ALLOCATIONS_OF_WORKERS.fetch_add(1, Ordering::Relaxed);
        }
    }
}

// SAFETY: every call goes to the program's allocator with unchanged arguments; counting needs no memory.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::count();
        // SAFETY: the caller's promise is the allocator's.
        unsafe { Allocator.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        Self::count();
        // SAFETY: the caller's promise is the allocator's.
        unsafe { Allocator.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        Self::count();
        // SAFETY: the caller's promise is the allocator's.
        unsafe { Allocator.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is the allocator's.
        unsafe { Allocator.dealloc(block, layout) }
    }
}

#[inline(always)]
fn or_from_put_by(bytes: usize, block: *mut u8, again: impl Fn() -> *mut u8) -> *mut u8 {
    if block.is_null() { from_put_by(bytes, &again) } else { block }
}

#[cold]
#[inline(never)]
fn from_put_by(bytes: usize, again: &dyn Fn() -> *mut u8) -> *mut u8 {
    // Only the first failure is reported; an exchange that fails is no error.
    let _ = FAILED_BYTES.compare_exchange(0, bytes.max(1), Ordering::Relaxed, Ordering::Relaxed);
    if let Some(reserve) = NonNull::new(RESERVE.swap(std::ptr::null_mut(), Ordering::Relaxed)) {
        // SAFETY: this mapping was made by `reserve` and nobody has touched it. Only the thread that took the address
        // out has it.
        unsafe { system::memory::unmap(reserve, RESERVE_BYTES) };
    }
    let block = again();
    if block.is_null() { without_memory(bytes) } else { block }
}

/// Called if there is no memory, not even the reserve. It must not allocate.
fn without_memory(bytes: usize) -> ! {
    if MAY_BE_ABANDONED.get() {
        let thread = system::thread::thread_id();
        let place = |slot: &&AtomicU32| slot.compare_exchange(0, thread, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        // A thread without a place here is noticed because it makes no progress.
        let _ = WAITING.iter().find(place);
        loop {
            system::clock::sleep(Duration::from_secs(3600));
        }
    }
    let mut sentence = [0; 200];
    let mut rest = &mut sentence[..];
    // The text fits the buffer.
    let _ = writeln!(
        rest,
        "fsdyno: an allocation of {bytes} bytes failed, and the run ends without a report; lower iodepth, numjobs or \
         nrfiles, or raise the memory limit (ulimit -v, cgroup)"
    );
    let length = 200 - rest.len();
    system::process::end_at_once(&sentence[..length], STATUS)
}

/// Maps the reserve. Without it a failed allocation is still noticed, if memory is left to report it.
pub fn reserve() {
    if let Ok(mapping) = system::memory::map(RESERVE_BYTES, &fsdyno_job::Memory::Anonymous) {
        RESERVE.store(mapping.as_ptr(), Ordering::Relaxed);
    }
}

/// Marks this thread as one that a run may abandon: it waits if there is no memory.
pub fn may_be_abandoned() {
    MAY_BE_ABANDONED.set(true);
}

/// Size of the first allocation that failed, bytes.
pub fn failed_bytes() -> Option<usize> {
    Some(FAILED_BYTES.load(Ordering::Relaxed)).filter(|bytes| *bytes > 0)
}

/// Whether this thread waits for memory, which it will do for ever; only threads that may be abandoned do.
pub fn waits_for_memory(thread: u32) -> bool {
    failed_bytes().is_some() && WAITING.iter().any(|slot| slot.load(Ordering::Relaxed) == thread)
}
