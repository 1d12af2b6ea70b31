//! Copies from and to memory that others write meanwhile: other workers and other processes map the same file. To the
//! language such a copy would be a data race, so it is left to the processor: the compiler sees no access, only memory
//! that changes behind its back.

/// Copies `bytes` bytes. What others write at the same time arrives in any mixture.
///
/// # Safety
/// Both ranges are mapped, `from` for reading and `to` for writing, and do not overlap. At most one of them is memory
/// that the compiler knows about, and that one is the caller's alone.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(super) unsafe fn copy(from: *const u8, to: *mut u8, bytes: usize) {
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
pub(super) unsafe fn copy(from: *const u8, to: *mut u8, bytes: usize) {
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
}
