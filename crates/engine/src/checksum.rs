//! CRC-32C with the processor's instruction for it.

/// The fastest implementation of [`fsdyno_workload::crc32c`] on this machine.
pub fn crc32c() -> fn(&[u8]) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("sse4.2") {
        if std::arch::is_x86_feature_detected!("pclmulqdq") {
            // SAFETY: the processor has both instructions; this was checked just before.
            return |bytes| unsafe { by_lanes(bytes) };
        }
        // SAFETY: the processor has the instruction; this was checked just before.
        return |bytes| unsafe { by_instruction(u64::from(u32::MAX), bytes) };
    }
    fsdyno_workload::crc32c
}

#[cfg(target_arch = "x86_64")]
const WORD: usize = size_of::<u64>();

/// Bytes per turn. The loops are unrolled by hand, because a build for size does not unroll them.
#[cfg(target_arch = "x86_64")]
const RUN: usize = 8 * WORD;

/// Continues the checksum of the bytes before.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse4.2")]
fn by_instruction(before: u64, bytes: &[u8]) -> u32 {
    use std::arch::x86_64::{_mm_crc32_u8, _mm_crc32_u32, _mm_crc32_u64};

    let (runs, rest) = bytes.as_chunks::<RUN>();
    let (words, rest) = rest.as_chunks::<WORD>();
    let mut crc = before;
    for run in runs {
        for word in run.as_chunks::<WORD>().0 {
            crc = _mm_crc32_u64(crc, u64::from_le_bytes(*word));
        }
    }
    for word in words {
        crc = _mm_crc32_u64(crc, u64::from_le_bytes(*word));
    }
    let mut crc = crc as u32;
    let (halves, rest) = rest.as_chunks::<{ WORD / 2 }>();
    for half in halves {
        crc = _mm_crc32_u32(crc, u32::from_le_bytes(*half));
    }
    for byte in rest {
        crc = _mm_crc32_u8(crc, *byte);
    }
    crc
}

/// Bytes of a lane: three lanes are nearly all data of a block of 4 KiB behind its header.
#[cfg(target_arch = "x86_64")]
const LANE: usize = 3 * LANE_RUN;

/// Bytes of a lane per turn.
#[cfg(target_arch = "x86_64")]
const LANE_RUN: usize = 7 * RUN;

/// Continues three checksums with a run of bytes each.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse4.2")]
#[inline]
fn three_runs(lanes: &mut [u64; 3], first: &[u8; RUN], second: &[u8; RUN], third: &[u8; RUN]) {
    use std::arch::x86_64::_mm_crc32_u64;

    let words = first.as_chunks::<WORD>().0.iter().zip(second.as_chunks::<WORD>().0);
    for ((first, second), third) in words.zip(third.as_chunks::<WORD>().0) {
        lanes[0] = _mm_crc32_u64(lanes[0], u64::from_le_bytes(*first));
        lanes[1] = _mm_crc32_u64(lanes[1], u64::from_le_bytes(*second));
        lanes[2] = _mm_crc32_u64(lanes[2], u64::from_le_bytes(*third));
    }
}

/// An instruction waits for the result of the one before it for three cycles, so that three lanes are as fast as one.
/// The checksum of a lane is moved past the lanes behind it by a multiplication.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse4.2,pclmulqdq")]
fn by_lanes(bytes: &[u8]) -> u32 {
    use std::arch::x86_64::{_mm_clmulepi64_si128, _mm_crc32_u64, _mm_cvtsi64_si128, _mm_cvtsi128_si64};
    const PAST_ONE: u32 = factor_past(LANE);
    const PAST_TWO: u32 = factor_past(2 * LANE);

    let (groups, rest) = bytes.as_chunks::<{ 3 * LANE }>();
    let mut crc = u64::from(u32::MAX);
    for group in groups {
        let mut lanes = [crc, 0, 0];
        let (first, behind) = group.split_at(LANE);
        let (second, third) = behind.split_at(LANE);
        let runs = first.as_chunks::<LANE_RUN>().0.iter().zip(second.as_chunks().0).zip(third.as_chunks().0);
        for ((first, second), third) in runs {
            let (first, second, third): (&[u8; LANE_RUN], &[u8; LANE_RUN], &[u8; LANE_RUN]) = (first, second, third);
            let (first, second) = (first.as_chunks::<RUN>().0, second.as_chunks::<RUN>().0);
            let third = third.as_chunks::<RUN>().0;
            three_runs(&mut lanes, &first[0], &second[0], &third[0]);
            three_runs(&mut lanes, &first[1], &second[1], &third[1]);
            three_runs(&mut lanes, &first[2], &second[2], &third[2]);
            three_runs(&mut lanes, &first[3], &second[3], &third[3]);
            three_runs(&mut lanes, &first[4], &second[4], &third[4]);
            three_runs(&mut lanes, &first[5], &second[5], &third[5]);
            three_runs(&mut lanes, &first[6], &second[6], &third[6]);
        }
        let product = |crc: u64, factor: u32| {
            let factors = (_mm_cvtsi64_si128(crc.cast_signed()), _mm_cvtsi64_si128(factor.into()));
            _mm_cvtsi128_si64(_mm_clmulepi64_si128(factors.0, factors.1, 0)).cast_unsigned()
        };
        crc = _mm_crc32_u64(0, product(lanes[0], PAST_TWO) ^ product(lanes[1], PAST_ONE)) ^ lanes[2];
    }
    by_instruction(crc, rest)
}

/// x to the power of 8 * `bytes` - 33, modulo the polynomial, with the highest power in the lowest bit. The product of
/// such numbers is too high by one, and the instruction multiplies by x to the power of 32.
#[cfg(target_arch = "x86_64")]
const fn factor_past(bytes: usize) -> u32 {
    const POLYNOMIAL: u32 = 0x82f6_3b78;
    let mut factor = 1 << 31;
    let mut left = 8 * bytes - 33;
    while left > 0 {
        factor = (factor >> 1) ^ (POLYNOMIAL & 0u32.wrapping_sub(factor & 1));
        left -= 1;
    }
    factor
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_instruction_and_the_table_agree() {
        let bytes: Vec<u8> = (0..9000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        for length in (0..200).chain(4030..4100).chain([5000, 8063, 8064, 8065, 9000]) {
            for from in [0, 1, 5].into_iter().filter(|from| *from <= length) {
                let part = &bytes[from..length];
                assert_eq!(crc32c()(part), fsdyno_workload::crc32c(part), "{from}..{length}");
            }
        }
        // The check value of the published algorithm.
        assert_eq!(!crc32c()(b"123456789"), 0xe306_9283);
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn one_lane_and_the_table_agree() {
        if !std::arch::is_x86_feature_detected!("sse4.2") {
            return testkit::skip("the processor has no instruction for CRC-32C");
        }
        let bytes: Vec<u8> = (0..300).map(|at| (at * 7) as u8).collect();
        for length in 0..300 {
            // SAFETY: the processor has the instruction; this was checked just before.
            let by_instruction = unsafe { by_instruction(u64::from(u32::MAX), &bytes[..length]) };
            assert_eq!(by_instruction, fsdyno_workload::crc32c(&bytes[..length]), "{length} bytes");
        }
    }
}
