//! Copies from and to memory that other workers and processes may change at the same time, because they map the same
//! file. In Rust such a copy would be a data race. So an assembler instruction copies, and the compiler sees no
//! access.

use std::ptr::NonNull;

use fsdyno_os::errno::{EBADF, EFBIG};
use fsdyno_os::memory::page_bytes;

/// A whole file that is mapped into memory.
#[derive(Debug)]
pub(crate) struct Mapped {
    pub(crate) base: NonNull<u8>,
    pub(crate) length: u64,
    pub(crate) writable: bool,
}

impl Mapped {
    /// Copies between the file and `place`; returns bytes or the negated error number.
    ///
    /// # Safety
    /// `length` bytes are mapped from `base`, writable if `read` is false; no reference points into them.
    #[inline]
    pub(crate) unsafe fn transfer(&self, place: &mut [u8], offset: u64, read: bool) -> i64 {
        if !read && !self.writable {
            return -i64::from(EBADF);
        }
        let left = self.length.saturating_sub(offset);
        if left == 0 {
            // Beyond the end a read gets no bytes; a write fails, because a mapping cannot grow.
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

    /// The pages that contain a range: address and number of bytes. The range is cut at the end of the file.
    ///
    /// # Safety
    /// `length` bytes are mapped from `base`.
    pub(crate) unsafe fn pages(&self, offset: u64, length: u64) -> (NonNull<u8>, usize) {
        let page = page_bytes() as u64;
        let end = offset.saturating_add(length).min(self.length);
        let begin = offset.min(end) / page * page;
        // SAFETY: `begin` is at most the length.
        (unsafe { self.base.add(begin as usize) }, (end - begin) as usize)
    }
}

/// Copies `bytes` bytes. Bytes that others write at the same time may arrive in any mixture of old and new.
///
/// # Safety
/// Both ranges are mapped, `from` for reading and `to` for writing, and do not overlap. At most one of them is memory
/// that the compiler knows about, and that one belongs to the caller alone.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) unsafe fn copy(from: *const u8, to: *mut u8, bytes: usize) {
    // SAFETY: the caller's promise. The instruction touches only the two ranges and the three registers; the
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

/// Copies in the same way, byte by byte.
///
/// # Safety
/// As above.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub(crate) unsafe fn copy(from: *const u8, to: *mut u8, bytes: usize) {
    for index in 0..bytes {
        // SAFETY: the caller's promise; volatile accesses are neither omitted nor merged.
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
            // SAFETY: eight bytes that belong to this test, which reads them only at the end.
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
