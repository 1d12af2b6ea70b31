//! Allocates memory in pages.

use std::ptr::NonNull;
use std::sync::OnceLock;

use fsdyno_job::Memory;
use windows_sys::Win32::System::Memory::{
    GetLargePageMinimum, MEM_COMMIT, MEM_LARGE_PAGES, MEM_RELEASE, MEM_RESERVE, PAGE_READWRITE, VirtualAlloc,
    VirtualFree,
};
use windows_sys::Win32::System::SystemInformation::{GetSystemInfo, SYSTEM_INFO};

use super::errno;

/// Size of an ordinary page, bytes.
pub fn page_bytes() -> usize {
    static BYTES: OnceLock<usize> = OnceLock::new();
    *BYTES.get_or_init(|| {
        let mut info = SYSTEM_INFO::default();
        // SAFETY: the call fills the structure, which is complete.
        unsafe { GetSystemInfo(&raw mut info) };
        info.dwPageSize as usize
    })
}

/// Size of a large page, bytes (2 MiB if the processor has none; then the allocation is refused).
pub fn huge_page_bytes() -> usize {
    const FALLBACK: usize = 2 << 20;
    // SAFETY: the call takes nothing and returns a number.
    match unsafe { GetLargePageMinimum() } {
        0 => FALLBACK,
        bytes => bytes,
    }
}

/// Allocates `length` bytes of zeroed memory (a multiple of the page in use).
pub fn map(length: usize, memory: &Memory) -> Result<NonNull<u8>, i32> {
    let kind = match memory {
        Memory::Huge(_) => MEM_RESERVE | MEM_COMMIT | MEM_LARGE_PAGES,
        // Other kinds are refused when the job is planned.
        _ => MEM_RESERVE | MEM_COMMIT,
    };
    // SAFETY: the system chooses the address, so no existing memory is replaced.
    let address = unsafe { VirtualAlloc(std::ptr::null(), length, kind, PAGE_READWRITE) };
    NonNull::new(address.cast()).ok_or_else(errno::last)
}

/// Size of the pages of any file's mapping, bytes.
pub fn file_page_bytes(_path: &std::path::Path) -> usize {
    page_bytes()
}

/// Not built; the job is refused when it is planned.
pub fn lock(_address: NonNull<u8>, _length: usize) -> Result<(), i32> {
    Err(errno::EOPNOTSUPP)
}

/// No filesystem here needs it.
pub fn populate(_address: NonNull<u8>, _length: usize) {}

/// Windows reports the lack of room when the thread is started.
pub(crate) fn check_room(_length: usize) -> Result<(), i32> {
    Ok(())
}

/// There is no limit.
pub(crate) fn check_mappings(_count: usize) -> Result<(), i32> {
    Ok(())
}

/// Frees an allocation.
///
/// # Safety
/// `address` is that of one allocation of [`map`] that nobody uses any more, including the system.
pub unsafe fn unmap(address: NonNull<u8>, _length: usize) {
    // SAFETY: the caller's promise. The whole allocation is released, for which the length must be 0.
    let _ = unsafe { VirtualFree(address.as_ptr().cast(), 0, MEM_RELEASE) };
}
