//! Sums random draws with the processor's widest instructions.

use fsdyno_workload::SumDraws;

/// The fastest implementation of [`fsdyno_workload::sum_draws`] on this machine.
pub fn sums() -> SumDraws {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has the instructions; this was checked just before.
        return |registers, summing, sums| unsafe { by_avx2(registers, summing, sums) };
    }
    fsdyno_workload::sum_draws
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn by_avx2(
    registers: &mut fsdyno_workload::LaneRegisters,
    summing: fsdyno_workload::Summing,
    sums: &mut fsdyno_workload::LaneSums,
) {
    use std::arch::x86_64::*;

    /// The next draw of each lane; see `Tausworthe` in `fsdyno_workload`.
    #[target_feature(enable = "avx2")]
    fn draw([a, b, c]: &mut [__m256i; 3]) -> __m256i {
        let kept = |register, mask| _mm256_and_si256(register, _mm256_set1_epi32(mask));
        let mixed = |register, shifted| _mm256_xor_si256(register, shifted);
        let low = _mm256_srli_epi32::<19>(mixed(*a, _mm256_slli_epi32::<13>(*a)));
        *a = mixed(_mm256_slli_epi32::<12>(kept(*a, !1)), low);
        let low = _mm256_srli_epi32::<25>(mixed(*b, _mm256_slli_epi32::<2>(*b)));
        *b = mixed(_mm256_slli_epi32::<4>(kept(*b, !7)), low);
        let low = _mm256_srli_epi32::<11>(mixed(*c, _mm256_slli_epi32::<3>(*c)));
        *c = mixed(_mm256_slli_epi32::<17>(kept(*c, !15)), low);
        mixed(mixed(*a, *b), *c)
    }

    // SAFETY: each reference covers the 32 bytes that are read, which need not be aligned.
    let mut state = [0, 1, 2].map(|number: usize| unsafe { _mm256_loadu_si256(registers[number].as_ptr().cast()) });
    let factor = _mm256_set1_epi64x(summing.factor.into());
    let summand = _mm256_set1_epi64x(summing.summand.into());
    let shift = _mm_cvtsi64_si128(summing.shift.into());
    let lower = _mm256_set1_epi64x(u32::MAX.into());
    let quotient = |draw| _mm256_srl_epi64(_mm256_add_epi64(_mm256_mul_epu32(draw, factor), summand), shift);
    // Lanes with even numbers, then those with odd numbers: the lower and the upper halves of words of 64 bits.
    let mut draws = [_mm256_setzero_si256(); 2];
    let mut quotients = draws;
    for _ in 0..fsdyno_workload::SUMMED_DRAWS {
        let even = draw(&mut state);
        let odd = _mm256_srli_epi64::<32>(even);
        draws[0] = _mm256_add_epi64(draws[0], _mm256_and_si256(even, lower));
        draws[1] = _mm256_add_epi64(draws[1], odd);
        quotients[0] = _mm256_add_epi64(quotients[0], quotient(even));
        quotients[1] = _mm256_add_epi64(quotients[1], quotient(odd));
    }
    for ([even, odd], to) in [(draws, &mut sums.draws), (quotients, &mut sums.quotients)] {
        let pairs = (_mm256_unpacklo_epi64(even, odd), _mm256_unpackhi_epi64(even, odd));
        let (first, second) = to.split_at_mut(4);
        // SAFETY: each half covers the 32 bytes that are written, which need not be aligned.
        unsafe {
            _mm256_storeu_si256(first.as_mut_ptr().cast(), _mm256_permute2x128_si256::<0x20>(pairs.0, pairs.1));
            _mm256_storeu_si256(second.as_mut_ptr().cast(), _mm256_permute2x128_si256::<0x31>(pairs.0, pairs.1));
        }
    }
    if summing.further {
        let further = draw(&mut state);
        // SAFETY: the reference covers the 32 bytes that are written, which need not be aligned.
        unsafe { _mm256_storeu_si256(sums.further.as_mut_ptr().cast(), further) }
    }
    for (register, state) in registers.iter_mut().zip(state) {
        // SAFETY: as above.
        unsafe { _mm256_storeu_si256(register.as_mut_ptr().cast(), state) }
    }
}

#[cfg(test)]
mod tests {
    use fsdyno_workload::{LaneSums, Summing, sum_draws};

    use super::*;

    #[test]
    fn wide_instructions_and_one_by_one_agree() {
        let lane = |number: u32| std::array::from_fn(|at| (number + at as u32).wrapping_mul(2_654_435_761));
        for (factor, summand, shift, further) in
            [(0, 0, 0, true), (u32::MAX, u32::MAX, 42, true), (0x8000_0001, 0, 33, false), (0xfff0_1234, 7, 63, true)]
        {
            let summing = Summing { factor, summand, shift, further };
            let mut registers = [lane(1), lane(20), lane(300)];
            let (mut wide, mut expected) = (LaneSums::default(), LaneSums::default());
            let mut expected_registers = registers;
            for _ in 0..100 {
                sums()(&mut registers, summing, &mut wide);
                sum_draws(&mut expected_registers, summing, &mut expected);
                assert_eq!((&registers, &wide), (&expected_registers, &expected), "{summing:?}");
            }
        }
    }
}
