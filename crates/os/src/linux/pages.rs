//! Reads which pages of a file are in the page cache: cachestat(2), or mincore(2) if that is missing.

use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::NonNull;

use rustix::fs::{Access, AtFlags, CWD, OFlags};
use rustix::mm::{MapFlags, ProtFlags};

use super::{files, memory};
use crate::files::{CachedPages, FileKind};

/// Bytes that are mapped at a time: mincore returns one byte per page.
const WINDOW_BYTES: u64 = 1 << 30;

/// Larger files are not looked at, because mincore visits each page, cached or not.
const MINCORE_BYTES_MAX: u64 = 64 << 30;

/// The number of the call, which is the same on every architecture except alpha; libc has it only for some.
const CACHESTAT: libc::c_long = 451;

#[repr(C)]
struct Range {
    offset: u64,
    length: u64,
}

#[repr(C)]
#[derive(Default)]
struct Counts {
    cached: u64,
    dirty: u64,
    writeback: u64,
    evicted: u64,
    recently_evicted: u64,
}

/// The kernel's counts for the whole file.
pub(crate) fn cached(fd: BorrowedFd<'_>, kind: FileKind) -> Result<CachedPages, i32> {
    let code = match cachestat(fd) {
        Ok(pages) => return Ok(pages),
        Err(code) => code,
    };
    // EPERM may come from the kernel's rule or from a sandbox that does not know the call. mincore has the same rule,
    // but answers that every page is cached.
    match code {
        libc::ENOSYS | libc::EPERM if may_know(fd) => mincore(fd, kind),
        _ => Err(code),
    }
}

fn cachestat(fd: BorrowedFd<'_>) -> Result<CachedPages, i32> {
    // Length 0 means up to the end of the file.
    let range = Range { offset: 0, length: 0 };
    let mut counts = Counts::default();
    const FLAGS: libc::c_uint = 0;
    // SAFETY: the call reads `range` and fills `counts`, both laid out as the kernel's structures and alive here.
    let answer = unsafe { libc::syscall(CACHESTAT, fd.as_raw_fd(), &raw const range, &raw mut counts, FLAGS) };
    if answer != 0 {
        return Err(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO));
    }
    let bytes = |pages: u64| pages.saturating_mul(memory::page_bytes() as u64);
    Ok(CachedPages {
        cached_bytes: bytes(counts.cached),
        dirty_bytes: Some(bytes(counts.dirty)),
        writeback_bytes: Some(bytes(counts.writeback)),
        evicted_bytes: Some(bytes(counts.evicted)),
    })
}

/// The kernel's rule for both calls: this user owns the file or may write it.
fn may_know(fd: BorrowedFd<'_>) -> bool {
    let user = rustix::process::geteuid();
    let owner = rustix::fs::fstat(fd).map(|stat| stat.st_uid);
    let path = format!("/proc/self/fd/{}", fd.as_raw_fd());
    let writable = || rustix::fs::accessat(CWD, path, Access::WRITE_OK, AtFlags::EACCESS).is_ok();
    user.is_root() || owner == Ok(user.as_raw()) || writable()
}

/// Counts page by page, in windows.
fn mincore(fd: BorrowedFd<'_>, kind: FileKind) -> Result<CachedPages, i32> {
    let size = files::size(fd, kind)?;
    if size > MINCORE_BYTES_MAX {
        return Err(libc::EFBIG);
    }
    // A mapping changes the access time. The owner may prevent that; for other users this call fails and nothing
    // changes.
    let _ = rustix::fs::fcntl_getfl(fd).and_then(|flags| rustix::fs::fcntl_setfl(fd, flags | OFlags::NOATIME));
    let page = memory::page_bytes() as u64;
    let mut cached = 0;
    let mut answers = Vec::new();
    let mut offset = 0;
    while offset < size {
        let length = (size - offset).min(WINDOW_BYTES);
        answers.resize(length.div_ceil(page) as usize, 0u8);
        let window = UntouchedMap::map(fd, offset, length)?;
        window.ask(&mut answers)?;
        // The lowest bit says that the page is cached; the others are reserved.
        cached += answers.iter().filter(|answer| **answer & 1 != 0).count() as u64;
        offset += length;
    }
    Ok(CachedPages { cached_bytes: cached * page, dirty_bytes: None, writeback_bytes: None, evicted_bytes: None })
}

/// A part of a file that is mapped and never touched.
struct UntouchedMap {
    base: NonNull<u8>,
    length: usize,
}

impl UntouchedMap {
    fn map(fd: BorrowedFd<'_>, offset: u64, length: u64) -> Result<UntouchedMap, i32> {
        let length = usize::try_from(length).map_err(|_| libc::EFBIG)?;
        // SAFETY: the kernel chooses the address, so no existing mapping is replaced; nobody reads through it.
        let base =
            unsafe { rustix::mm::mmap(std::ptr::null_mut(), length, ProtFlags::READ, MapFlags::SHARED, fd, offset) };
        let base = base.map_err(|error| error.raw_os_error())?;
        Ok(UntouchedMap { base: NonNull::new(base.cast()).expect("mmap never maps address 0 unasked"), length })
    }

    /// Gets one answer for each page of the window.
    fn ask(&self, answers: &mut [u8]) -> Result<(), i32> {
        assert!(answers.len() >= self.length.div_ceil(memory::page_bytes()), "one byte a page");
        // SAFETY: the range is one live mapping, and the kernel writes one byte a page, for which there is room.
        let answer = unsafe { libc::mincore(self.base.as_ptr().cast(), self.length, answers.as_mut_ptr()) };
        if answer == 0 { Ok(()) } else { Err(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)) }
    }
}

impl Drop for UntouchedMap {
    fn drop(&mut self) {
        // SAFETY: address and length are those of the mapping, which nobody else knows.
        unsafe { memory::unmap(self.base, self.length) }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn mincore_and_cachestat_count_the_same() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&vec![7; 300_000]).unwrap();
        let fd = file.as_fd();
        let counted = match cachestat(fd) {
            Ok(counted) => counted,
            Err(code) => {
                eprintln!("skipped: cachestat answers errno {code}");
                return;
            }
        };
        let page = memory::page_bytes() as u64;
        assert_eq!(counted.cached_bytes, 300_000_u64.div_ceil(page) * page, "what was just written is in the cache");
        assert_eq!(mincore(fd, FileKind::Regular).unwrap().cached_bytes, counted.cached_bytes);
    }

    #[test]
    fn an_empty_file_has_no_pages() {
        let file = tempfile::tempfile().unwrap();
        assert_eq!(mincore(file.as_fd(), FileKind::Regular).unwrap().cached_bytes, 0);
    }
}
