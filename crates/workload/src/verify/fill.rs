//! Random bytes that follow from a number: what a block should hold can be made again from its header.
//!
//! Two places of a table of random words are added up, three operations for each word, which compilers do several at a
//! time. No two blocks are alike or compress, as the places and a key differ with each.

use std::sync::LazyLock;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Words of the table.
const TABLE_WORDS: usize = 8192;

/// Words that are filled from one pair of places.
const RUN_WORDS: usize = 512;

/// Where a run can begin in the table.
const PLACES: usize = TABLE_WORDS - RUN_WORDS;

const WORD: usize = size_of::<u64>();

static TABLE: LazyLock<Box<[u64; TABLE_WORDS]>> = LazyLock::new(|| {
    let mut stream = Xoshiro256PlusPlus::seed_from_u64(0);
    Box::new(std::array::from_fn(|_| stream.next_u64()))
});

/// The finaliser of splitmix64.
fn mixed(number: u64) -> u64 {
    let mixed = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

/// Fills a buffer with the bytes of this number.
pub(super) fn fill(buffer: &mut [u8], number: u64) {
    let table: &[u64; TABLE_WORDS] = &TABLE;
    let mut key = number;
    for run in buffer.chunks_mut(RUN_WORDS * WORD) {
        key = mixed(key.wrapping_add(0x9E37_79B9_7F4A_7C15));
        // Two different places: one with itself would leave the key alone.
        let one = key as u32 as usize % PLACES;
        let other = (one + 1 + (key >> 32) as usize % (PLACES - 1)) % PLACES;
        let pairs = table[one..][..RUN_WORDS].iter().zip(&table[other..][..RUN_WORDS]);
        let (words, rest) = run.as_chunks_mut::<WORD>();
        for (word, (one, other)) in words.iter_mut().zip(pairs) {
            *word = (one ^ other ^ key).to_le_bytes();
        }
        let last = (table[other] ^ key).to_le_bytes();
        rest.copy_from_slice(&last[..rest.len()]);
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
            assert!(same < 8 + length / 100, "{same} of {length} bytes are the same");
        }
    }

    #[test]
    fn no_piece_of_eight_bytes_comes_twice_in_four_megabytes() {
        let blocks: Vec<u8> = (0..1024).flat_map(|number| filled(4096, number)).collect();
        let words: HashSet<&[u8]> = blocks.chunks(8).collect();
        assert_eq!(words.len(), blocks.len() / 8);
        let mut counts = [0_u32; 256];
        blocks.iter().for_each(|&byte| counts[usize::from(byte)] += 1);
        assert!(counts.iter().all(|&count| (15_500..17_300).contains(&count)), "each value about 16384 times");
    }
}
