//! CRC-32C with the processor's instruction for it.

/// The fastest implementation of [`fsdyno_workload::crc32c`] on this machine.
pub fn crc32c() -> fn(&[u8]) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("sse4.2") {
        // SAFETY: the processor has the instruction; this was checked just before.
        return |bytes| unsafe { by_instruction(bytes) };
    }
    fsdyno_workload::crc32c
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse4.2")]
fn by_instruction(bytes: &[u8]) -> u32 {
    use std::arch::x86_64::{_mm_crc32_u8, _mm_crc32_u64};
    const WORD: usize = size_of::<u64>();
    /// Words per turn. The loop is unrolled by hand, because a build for size does not unroll it.
    const WORDS: usize = 8;

    let (runs, rest) = bytes.as_chunks::<{ WORDS * WORD }>();
    let (words, rest) = rest.as_chunks::<WORD>();
    let mut crc = u64::from(u32::MAX);
    for run in runs {
        for word in run.as_chunks::<WORD>().0 {
            crc = _mm_crc32_u64(crc, u64::from_le_bytes(*word));
        }
    }
    for word in words {
        crc = _mm_crc32_u64(crc, u64::from_le_bytes(*word));
    }
    rest.iter().fold(crc as u32, |crc, byte| _mm_crc32_u8(crc, *byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_instruction_and_the_table_agree() {
        let bytes: Vec<u8> = (0..5000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        for length in (0..200).chain([4052, 4096, 5000]) {
            for from in [0, 1, 5].into_iter().filter(|from| *from <= length) {
                let part = &bytes[from..length];
                assert_eq!(crc32c()(part), fsdyno_workload::crc32c(part), "{from}..{length}");
            }
        }
        // The check value of the published algorithm.
        assert_eq!(!crc32c()(b"123456789"), 0xe306_9283);
    }
}
