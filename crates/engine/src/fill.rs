//! Fills buffers with the processor's widest instructions.

use fsdyno_workload::Stores;

/// The fastest way on this machine to store the bytes of a block.
pub fn stores() -> Stores {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        return Stores {
            // SAFETY: the processor has the instructions; this was checked just before.
            xor: |to, from, key| unsafe { by_avx2(to, from, key) },
            // SAFETY: as above.
            clear: |to| unsafe { clear_by_avx2(to) },
        };
    }
    Stores::WORDS
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn by_avx2(to: &mut [u8], from: &[u8], key: u64) {
    let keys = std::arch::x86_64::_mm256_set1_epi64x(key.cast_signed());
    let (to, from) = xor_runs::<512>(to, from, keys);
    // Half of a sector, where half of a block compresses.
    let (to, from) = xor_runs::<256>(to, from, keys);
    let (to, from) = xor_runs::<32>(to, from, keys);
    if !to.is_empty() {
        fsdyno_workload::xor_with_key(to, from, key);
    }
}

/// Fills the whole runs of `RUN` bytes, a multiple of 32, and returns what is left of both. The inner loop has a known
/// length: a build for size unrolls no other.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
fn xor_runs<'t, 'f, const RUN: usize>(
    mut to: &'t mut [u8],
    mut from: &'f [u8],
    keys: std::arch::x86_64::__m256i,
) -> (&'t mut [u8], &'f [u8]) {
    use std::arch::x86_64::{__m256i, _mm256_loadu_si256, _mm256_storeu_si256, _mm256_xor_si256};
    const WORD: usize = size_of::<__m256i>();

    while to.len() >= RUN {
        let (to_run, to_rest) = to.split_at_mut(RUN);
        let (from_run, from_rest) = from.split_at(RUN);
        for (to, from) in to_run.as_chunks_mut::<WORD>().0.iter_mut().zip(from_run.as_chunks::<WORD>().0) {
            // SAFETY: both references cover the bytes that are read and written, which need not be aligned.
            unsafe {
                let mixed = _mm256_xor_si256(_mm256_loadu_si256(from.as_ptr().cast()), keys);
                _mm256_storeu_si256(to.as_mut_ptr().cast(), mixed);
            }
        }
        (to, from) = (to_rest, from_rest);
    }
    (to, from)
}

/// Used instead of the C library's memset, which in a static program fills short pieces word by word.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn clear_by_avx2(to: &mut [u8]) {
    use std::arch::x86_64::{__m256i, _mm256_set1_epi64x, _mm256_storeu_si256};
    const WORD: usize = size_of::<__m256i>();
    const WORDS: usize = 8;

    // The value is hidden from the compiler; otherwise it would make the loop a call of memset again.
    let zeros = _mm256_set1_epi64x(std::hint::black_box(0));
    let (runs, rest) = to.as_chunks_mut::<{ WORDS * WORD }>();
    for run in runs {
        for word in run.as_chunks_mut::<WORD>().0 {
            // SAFETY: the reference covers the bytes that are written, which need not be aligned.
            unsafe { _mm256_storeu_si256(word.as_mut_ptr().cast(), zeros) }
        }
    }
    if !rest.is_empty() {
        rest.fill(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_instructions_and_words_agree() {
        let from: Vec<u8> = (0..4096_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        let key = 0x0123_4567_89ab_cdef;
        for length in (0..600).chain([2047, 2048, 4000, 4095, 4096]) {
            let (mut wide, mut words) = (vec![0xaa; length + 1], vec![0xaa; length + 1]);
            (stores().xor)(&mut wide[1..], &from, key);
            fsdyno_workload::xor_with_key(&mut words[1..], &from, key);
            assert_eq!(wide, words, "{length} bytes");
            assert_eq!(wide[0], 0xaa);
            (stores().clear)(&mut wide[1..]);
            assert!(wide[0] == 0xaa && wide[1..].iter().all(|&byte| byte == 0), "{length} bytes");
        }
    }
}
