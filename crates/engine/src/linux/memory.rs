//! Mappings.

use std::ptr::NonNull;

use job::Memory;
use rustix::mm::{MapFlags, ProtFlags};

/// Bytes of an ordinary page.
pub(crate) fn page_bytes() -> usize {
    rustix::param::page_size()
}

/// Bytes of the system's default huge page (2 MiB when it does not say).
pub(crate) fn huge_page_bytes() -> usize {
    const FALLBACK: usize = 2 << 20;
    let size = || {
        let text = std::fs::read_to_string("/proc/meminfo").ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix("Hugepagesize:"))?;
        line.split_whitespace().next()?.parse::<usize>().ok().filter(|kib| *kib > 0)
    };
    size().map_or(FALLBACK, |kib| kib << 10)
}

/// Maps `length` bytes of zeroed private memory (a multiple of the page in use).
pub(crate) fn map(length: usize, memory: &Memory) -> Result<NonNull<u8>, i32> {
    let flags = match memory {
        Memory::Anonymous => MapFlags::PRIVATE | MapFlags::NORESERVE,
        Memory::Huge => MapFlags::PRIVATE | MapFlags::HUGETLB,
    };
    // SAFETY: the kernel chooses the address, so no existing mapping is replaced.
    let address =
        unsafe { rustix::mm::mmap_anonymous(std::ptr::null_mut(), length, ProtFlags::READ | ProtFlags::WRITE, flags) };
    match address {
        Ok(address) => Ok(NonNull::new(address.cast()).expect("mmap never maps address 0 unasked")),
        Err(error) => Err(error.raw_os_error()),
    }
}

/// Undoes a mapping.
///
/// # Safety
/// `address` and `length` are those of one mapping that nobody uses any more, the kernel included.
pub(crate) unsafe fn unmap(address: NonNull<u8>, length: usize) {
    // SAFETY: the caller's promise. It can only fail for a range that is no mapping, which that promise excludes.
    let _ = unsafe { rustix::mm::munmap(address.as_ptr().cast(), length) };
}
