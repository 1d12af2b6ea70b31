//! Random bytes that are computed from a number, so that the expected content of a block can be computed from its
//! header.
//!
//! They are those of the pool that all blocks are made of, combined with a key that follows from the number.

use crate::pool::{POOL_BYTES, Pool, STEP, Stores, mix, pool};

/// Computes the bytes that belong to a number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fill {
    pool: &'static Pool,
    pub(super) stores: Stores,
}

impl Fill {
    pub(super) fn new() -> Fill {
        Fill { pool: pool(), stores: Stores::WORDS }
    }

    /// Fills a buffer with the bytes that belong to `number`.
    pub(super) fn fill(&self, buffer: &mut [u8], number: u64) {
        let mut number = number;
        for part in buffer.chunks_mut(POOL_BYTES) {
            (self.stores.xor)(part, self.pool, mix(number));
            number = number.wrapping_add(STEP);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn filled(length: usize, number: u64) -> Vec<u8> {
        let mut buffer = vec![0; length];
        Fill::new().fill(&mut buffer, number);
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
        let mut counts = [0_u32; 256];
        blocks.chunks(8).for_each(|word| word.iter().for_each(|&byte| counts[usize::from(byte)] += 1));
        assert!(counts.iter().all(|&count| (15_700..17_100).contains(&count)), "each value about 16384 times");
    }
}
