//! Copies from and to memory that others write meanwhile: other workers and other processes map the same file. To the
//! language such a copy would be a data race, so it is left to the processor: the compiler sees no access, only memory
//! that changes behind its back.

use std::ptr::NonNull;

use fsdyno_os::errno::{EBADF, EFBIG};
use fsdyno_os::memory::page_bytes;

/// A whole file in memory.
#[derive(Debug)]
pub(crate) struct Mapped {
    pub(crate) base: NonNull<u8>,
    pub(crate) length: u64,
    pub(crate) writable: bool,
}

impl Mapped {
    /// Copies between the file and `place`; answers bytes or the negated error number.
    ///
    /// # Safety
    /// This number of bytes is mapped from `base` on, for writing too if that is said; nothing refers into them.
    #[inline]
    pub(crate) unsafe fn transfer(&self, place: &mut [u8], offset: u64, read: bool) -> i64 {
        if !read && !self.writable {
            return -i64::from(EBADF);
        }
        let left = self.length.saturating_sub(offset);
        if left == 0 {
            // Beyond the end a read finds nothing; a write has nowhere to go, since a mapping cannot grow.
            return if read || place.is_empty() { 0 } else { -i64::from(EFBIG) };
        }
        let bytes = (place.len() as u64).min(left) as usize;
        // SAFETY: `offset` is below the length.
        let mapped = unsafe { self.base.add(offset as usize) };
        if read {
            // SAFETY: `bytes` fit into the file behind `offset`, by the caller's promise, and into the place, which is this
            // worker's alone.
            unsafe { copy(mapped.as_ptr(), place.as_mut_ptr(), bytes) };
        } else {
            // SAFETY: as above, and the file is writable.
            unsafe { copy(place.as_ptr(), mapped.as_ptr(), bytes) };
        }
        bytes as i64
    }

    /// The pages that hold a range: address and bytes. Ranges are cut at the end of the file.
    ///
    /// # Safety
    /// This number of bytes is mapped from `base` on.
    pub(crate) unsafe fn pages(&self, offset: u64, length: u64) -> (NonNull<u8>, usize) {
        let page = page_bytes() as u64;
        let end = offset.saturating_add(length).min(self.length);
        let begin = offset.min(end) / page * page;
        // SAFETY: `begin` is at most the length.
        (unsafe { self.base.add(begin as usize) }, (end - begin) as usize)
    }
}

/// Copies `bytes` bytes. What others write at the same time arrives in any mixture.
///
/// # Safety
/// Both ranges are mapped, `from` for reading and `to` for writing, and do not overlap. At most one of them is memory
/// that the compiler knows about, and that one is the caller's alone.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) unsafe fn copy(from: *const u8, to: *mut u8, bytes: usize) {
    // SAFETY: the caller's promise. The instruction touches nothing but the two ranges and the three registers; the
    // direction flag is clear by the calling convention.
    unsafe {
        core::arch::asm!(
            "rep movsb",
            inout("rcx") bytes => _,
            inout("rsi") from => _,
            inout("rdi") to => _,
            options(nostack, preserves_flags),
        );
    }
}

/// The same, byte by byte.
///
/// # Safety
/// As above.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub(crate) unsafe fn copy(from: *const u8, to: *mut u8, bytes: usize) {
    for index in 0..bytes {
        // SAFETY: the caller's promise; volatile accesses are neither left out nor joined.
        unsafe { to.add(index).write_volatile(from.add(index).read_volatile()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_bytes_arrive() {
        for length in [0usize, 1, 7, 8, 4095, 4096, 100_001] {
            let from: Vec<u8> = (0..length).map(|index| (index * 7) as u8).collect();
            let mut to = vec![0; length + 1];
            // SAFETY: two vectors of at least this length.
            unsafe { copy(from.as_ptr(), to.as_mut_ptr(), length) };
            assert!(to[..length] == from && to[length] == 0);
        }
    }

    #[test]
    fn a_file_in_memory_ends_where_it_ends() {
        let mut memory = *b"01234567";
        let mut mapped = Mapped { base: NonNull::new(memory.as_mut_ptr()).unwrap(), length: 8, writable: true };
        let transfer = |mapped: &Mapped, place: &mut [u8], offset, read| {
            // SAFETY: eight bytes of this test's own, which it looks at when all is over.
            unsafe { mapped.transfer(place, offset, read) }
        };
        let mut place = *b"abcd";
        assert_eq!(transfer(&mapped, &mut place, 8, true), 0);
        assert_eq!(transfer(&mapped, &mut place, 9, false), -i64::from(EFBIG));
        assert_eq!(transfer(&mapped, &mut [], 9, false), 0);
        assert_eq!(transfer(&mapped, &mut place, 5, true), 3);
        assert_eq!(&place, b"567d");
        assert_eq!(transfer(&mapped, &mut place, 6, false), 2);
        mapped.writable = false;
        assert_eq!(transfer(&mapped, &mut place, 0, false), -i64::from(EBADF));
        assert_eq!(&memory, b"01234556");
    }
}
