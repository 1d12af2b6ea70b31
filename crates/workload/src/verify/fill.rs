//! Random bytes that are computed from a number, so that the expected content of a block can be computed from its
//! header.
//!
//! The generator is multiplicative congruential: one multiplication for each word. Compressors and devices that look
//! for equal blocks find nothing in it.

/// A multiplier for 64 bits (Steele and Vigna, "Computationally easy, spectrally good multipliers").
const MULTIPLIER: u64 = 0xF135_7AEA_2E62_A9C5;

/// Words per turn. The loop is unrolled by hand, because a build for size does not unroll it. Each lane is a sequence
/// of its own, so that a multiplication need not wait for the one before it.
const LANES: usize = 8;

const WORD: usize = size_of::<u64>();

/// The step of each lane: the step of all lanes together.
const STRIDE: u64 = MULTIPLIER.wrapping_pow(LANES as u32);

/// The finaliser of splitmix64.
fn mixed(number: u64) -> u64 {
    let number = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mixed = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

/// Fills a buffer with the bytes that belong to `number`.
pub(super) fn fill(buffer: &mut [u8], number: u64) {
    // An even number would become 0.
    let mut lanes = [mixed(number) | 1; LANES];
    for lane in 1..LANES {
        lanes[lane] = lanes[lane - 1].wrapping_mul(MULTIPLIER);
    }
    let (runs, rest) = buffer.as_chunks_mut::<{ LANES * WORD }>();
    for run in runs {
        for (word, lane) in run.as_chunks_mut::<WORD>().0.iter_mut().zip(&mut lanes) {
            *word = lane.to_le_bytes();
            *lane = lane.wrapping_mul(STRIDE);
        }
    }
    for (word, lane) in rest.chunks_mut(WORD).zip(lanes) {
        word.copy_from_slice(&lane.to_le_bytes()[..word.len()]);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn filled(length: usize, number: u64) -> Vec<u8> {
        let mut buffer = vec![0; length];
        fill(&mut buffer, number);
        buffer
    }

    #[test]
    fn the_same_number_gives_the_same_bytes_and_another_one_others() {
        for length in [0, 1, 7, 8, 456, 4096, 4101, 70_000] {
            assert_eq!(filled(length, 3), filled(length, 3));
            let same = filled(length, 3).iter().zip(&filled(length, 4)).filter(|pair| pair.0 == pair.1).count();
            assert!(same < 8 + length / 64, "{same} of {length} bytes are the same");
        }
    }

    #[test]
    fn no_piece_of_eight_bytes_comes_twice_in_four_megabytes() {
        let blocks: Vec<u8> = (0..1024).flat_map(|number| filled(4096, number)).collect();
        let words: HashSet<&[u8]> = blocks.chunks(8).collect();
        assert_eq!(words.len(), blocks.len() / 8);
        // Only the lowest bits of each word are not evenly distributed.
        let mut counts = [0_u32; 256];
        blocks.chunks(8).for_each(|word| word[1..].iter().for_each(|&byte| counts[usize::from(byte)] += 1));
        assert!(counts.iter().all(|&count| (13_700..15_000).contains(&count)), "each value about 14336 times");
    }
}
