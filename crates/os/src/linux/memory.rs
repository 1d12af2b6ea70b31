//! Maps memory.

use std::path::Path;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

use fsdyno_job::Memory;
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags};

/// Size of an ordinary page, bytes.
pub fn page_bytes() -> usize {
    rustix::param::page_size()
}

/// Size of the system's default huge page, bytes (2 MiB if it is not reported).
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

/// The size of a huge page as flags of mmap and shmget encode it; 0: the system's default.
fn huge_size(bytes: u64) -> u32 {
    const SHIFT: u32 = 26;
    bytes.checked_ilog2().map_or(0, |logarithm| logarithm << SHIFT)
}

/// Makes a segment that is removed with its last user.
#[cold]
fn segment(length: usize, flags: i32) -> Result<NonNull<u8>, i32> {
    let failed = || std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO);
    // SAFETY: the calls make a new segment and map it where the kernel wants, so no existing mapping is replaced. It
    // is marked for removal at once; Linux removes it when nobody has it mapped any more.
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

/// Maps a part of a file that no other worker uses, after the parts of the others. An existing file grows and never
/// shrinks; a new file is removed with its last user.
#[cold]
fn file(length: usize, path: &Path, shared: bool) -> Result<NonNull<u8>, i32> {
    /// Where the next worker's part begins, in any file.
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let open = |flags| rustix::fs::open(path, OFlags::RDWR | OFlags::CLOEXEC | flags, Mode::from_raw_mode(0o644));
    let (file, new) = match open(OFlags::empty()) {
        Err(Errno::NOENT) => (open(OFlags::CREATE | OFlags::EXCL).map_err(|error| error.raw_os_error())?, true),
        opened => (opened.map_err(|error| error.raw_os_error())?, false),
    };
    if new {
        // A new file must not be left behind. If it stays, that is no failure of the job.
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

/// Size of the pages of a file's mapping, bytes: huge pages on hugetlbfs.
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
    // SAFETY: the range is one live mapping of the caller's, and locking it does not change its content.
    unsafe { rustix::mm::mlock(address.as_ptr().cast(), length) }.map_err(|error| error.raw_os_error())
}

/// Touches the pages of a mapping before they are used. Kernels before 5.14 do this at the first use.
pub fn populate(address: NonNull<u8>, length: usize) {
    // SAFETY: the range is one live mapping of the caller's, whose content does not change.
    let _ = unsafe { rustix::mm::madvise(address.as_ptr().cast(), length, Advice::LinuxPopulateWrite) };
}

/// Checks whether this process may map `length` more bytes.
pub(crate) fn check_room(length: usize) -> Result<(), i32> {
    let address = map(length, &Memory::Anonymous)?;
    // SAFETY: the mapping was made above, and nobody has used it.
    unsafe { unmap(address, length) };
    Ok(())
}

/// Checks whether this process may have `count` more mappings.
pub(crate) fn check_mappings(count: usize) -> Result<(), i32> {
    let page = page_bytes();
    let length = (count + 1) * page;
    let address = map(length, &Memory::Anonymous)?;
    let split = |index: usize| {
        // SAFETY: the page is one of the mapping above, which nobody uses.
        let page = unsafe { address.add(index * page) };
        // SAFETY: as above; a page with another protection than its neighbours splits the mapping.
        unsafe { rustix::mm::mprotect(page.as_ptr().cast(), page_bytes(), rustix::mm::MprotectFlags::empty()) }
    };
    let split = (1..count).step_by(2).try_for_each(split);
    // SAFETY: the whole range is unmapped, whatever number of mappings it has become.
    unsafe { unmap(address, length) };
    split.map_err(|error| error.raw_os_error())
}

/// Undoes a mapping.
///
/// # Safety
/// `address` and `length` are those of one mapping that nobody uses any more, including the kernel.
pub unsafe fn unmap(address: NonNull<u8>, length: usize) {
    // SAFETY: the caller's promise. The call only fails for a range that is not a mapping, which the promise
    // excludes.
    let _ = unsafe { rustix::mm::munmap(address.as_ptr().cast(), length) };
}
