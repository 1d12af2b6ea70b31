//! Mappings.

use std::path::Path;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

use fsdyno_job::Memory;
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags};

/// Bytes of an ordinary page.
pub fn page_bytes() -> usize {
    rustix::param::page_size()
}

/// Bytes of the system's default huge page (2 MiB when it does not say).
pub fn huge_page_bytes() -> usize {
    const FALLBACK: usize = 2 << 20;
    let size = || {
        let text = std::fs::read_to_string("/proc/meminfo").ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix("Hugepagesize:"))?;
        line.split_whitespace().next()?.parse::<usize>().ok().filter(|kib| *kib > 0)
    };
    size().map_or(FALLBACK, |kib| kib << 10)
}

/// Maps `length` bytes of zeroed memory (a multiple of the page in use), or of a file.
pub fn map(length: usize, memory: &Memory) -> Result<NonNull<u8>, i32> {
    let flags = match memory {
        Memory::Anonymous => MapFlags::PRIVATE | MapFlags::NORESERVE,
        Memory::Shared => MapFlags::SHARED | MapFlags::NORESERVE,
        Memory::Huge(bytes) => MapFlags::PRIVATE | MapFlags::HUGETLB | MapFlags::from_bits_retain(huge_size(*bytes)),
        Memory::Segment => return segment(length, 0),
        Memory::HugeSegment(bytes) => return segment(length, libc::SHM_HUGETLB | huge_size(*bytes).cast_signed()),
        Memory::File { path, shared } => return file(length, &crate::written::path(path), *shared),
    };
    // SAFETY: the kernel chooses the address, so no existing mapping is replaced.
    let address =
        unsafe { rustix::mm::mmap_anonymous(std::ptr::null_mut(), length, ProtFlags::READ | ProtFlags::WRITE, flags) };
    mapped(address)
}

fn mapped(address: Result<*mut std::ffi::c_void, Errno>) -> Result<NonNull<u8>, i32> {
    match address {
        Ok(address) => Ok(NonNull::new(address.cast()).expect("mmap never maps address 0 unasked")),
        Err(error) => Err(error.raw_os_error()),
    }
}

/// The size of a huge page where the flags of mmap and shmget have it; 0: the system's default.
fn huge_size(bytes: u64) -> u32 {
    const SHIFT: u32 = 26;
    bytes.checked_ilog2().map_or(0, |logarithm| logarithm << SHIFT)
}

/// A segment that goes with its last user.
#[cold]
fn segment(length: usize, flags: i32) -> Result<NonNull<u8>, i32> {
    let failed = || std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO);
    // SAFETY: the calls make a new segment and map it where the kernel wants, so no existing mapping is replaced. It is
    // marked for removal at once, which Linux does when nobody has it mapped any more.
    unsafe {
        let id = libc::shmget(libc::IPC_PRIVATE, length, libc::IPC_CREAT | 0o600 | flags);
        if id < 0 {
            return Err(failed());
        }
        let address = libc::shmat(id, std::ptr::null(), 0);
        let refused = (address.addr() == usize::MAX).then(failed);
        libc::shmctl(id, libc::IPC_RMID, std::ptr::null_mut());
        match refused {
            Some(code) => Err(code),
            None => Ok(NonNull::new(address.cast()).expect("shmat never maps address 0 unasked")),
        }
    }
}

/// A part of a file that no other worker has, behind those of the others. A file that is there grows, and never shrinks;
/// one that is not goes with its last user.
#[cold]
fn file(length: usize, path: &Path, shared: bool) -> Result<NonNull<u8>, i32> {
    /// Where the next worker's part begins, in whichever file.
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let open = |flags| rustix::fs::open(path, OFlags::RDWR | OFlags::CLOEXEC | flags, Mode::from_raw_mode(0o644));
    let (file, new) = match open(OFlags::empty()) {
        Err(Errno::NOENT) => (open(OFlags::CREATE | OFlags::EXCL).map_err(|error| error.raw_os_error())?, true),
        opened => (opened.map_err(|error| error.raw_os_error())?, false),
    };
    if new {
        // One that was not there before is not left behind. That it stays is no failure of the job.
        let _ = rustix::fs::unlink(path);
    }
    let stat = rustix::fs::fstat(&file).map_err(|error| error.raw_os_error())?;
    let begin = NEXT.fetch_add(length as u64, Ordering::Relaxed);
    let end = begin + length as u64;
    let regular = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
    if regular && stat.st_size.cast_unsigned() < end {
        rustix::fs::ftruncate(&file, end).map_err(|error| error.raw_os_error())?;
    }
    let flags = if shared { MapFlags::SHARED } else { MapFlags::PRIVATE };
    let protection = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: the kernel chooses the address, so no existing mapping is replaced.
    mapped(unsafe { rustix::mm::mmap(std::ptr::null_mut(), length, protection, flags, &file, begin) })
}

/// Bytes of the pages that a file is mapped by: those of its file system, which are huge ones on hugetlbfs.
pub fn file_page_bytes(path: &Path) -> usize {
    const HUGETLBFS: u64 = 0x9584_58f6;
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match rustix::fs::statfs(directory) {
        Ok(system) if system.f_type as u64 & 0xffff_ffff == HUGETLBFS => system.f_bsize as usize,
        _ => page_bytes(),
    }
}

/// Locks the pages of a mapping into memory.
pub fn lock(address: NonNull<u8>, length: usize) -> Result<(), i32> {
    // SAFETY: the range is one live mapping of the caller's, and locking it changes nothing that it holds.
    unsafe { rustix::mm::mlock(address.as_ptr().cast(), length) }.map_err(|error| error.raw_os_error())
}

/// Gives a mapping its pages before they are used. An older kernel (before 5.14) gives them when they are.
pub fn populate(address: NonNull<u8>, length: usize) {
    // SAFETY: the range is one live mapping of the caller's, which keeps what it holds.
    let _ = unsafe { rustix::mm::madvise(address.as_ptr().cast(), length, Advice::LinuxPopulateWrite) };
}

/// Whether this process may map this number of bytes more.
pub(crate) fn check_room(length: usize) -> Result<(), i32> {
    let address = map(length, &Memory::Anonymous)?;
    // SAFETY: the mapping was made above, and nobody has used it.
    unsafe { unmap(address, length) };
    Ok(())
}

/// Whether this process may have this number of mappings more.
pub(crate) fn check_mappings(count: usize) -> Result<(), i32> {
    let page = page_bytes();
    let length = (count + 1) * page;
    let address = map(length, &Memory::Anonymous)?;
    let split = |index: usize| {
        // SAFETY: the page is one of the mapping above, which nobody uses.
        let page = unsafe { address.add(index * page) };
        // SAFETY: as above; a page of another protection than its neighbours makes them mappings of their own.
        unsafe { rustix::mm::mprotect(page.as_ptr().cast(), page_bytes(), rustix::mm::MprotectFlags::empty()) }
    };
    let split = (1..count).step_by(2).try_for_each(split);
    // SAFETY: the whole mapping goes, however many it has become.
    unsafe { unmap(address, length) };
    split.map_err(|error| error.raw_os_error())
}

/// Undoes a mapping.
///
/// # Safety
/// `address` and `length` are those of one mapping that nobody uses any more, the kernel included.
pub unsafe fn unmap(address: NonNull<u8>, length: usize) {
    // SAFETY: the caller's promise. It can only fail for a range that is no mapping, which that promise excludes.
    let _ = unsafe { rustix::mm::munmap(address.as_ptr().cast(), length) };
}
