//! Blocks of which a given part compresses, and of which a given share repeats earlier blocks.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::pool::{POOL_BYTES, Pool, STEP, Stores, mix, pool};
use crate::random::Tausworthe;

/// Length of a piece of blocks that do not compress, bytes.
const PIECE_BYTES: usize = POOL_BYTES;

/// Blocks of one worker that others may repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepeatedBlocks {
    /// Seed of the worker's content.
    pub seed: u64,
    /// Number of its first blocks that differ from one another.
    pub count: u64,
}

/// Makes the blocks of one worker.
#[derive(Clone, Debug)]
pub(super) struct BlockMaker {
    pool: &'static Pool,
    /// Length of a piece, bytes; then the percentage of random bytes. The rest of a piece is zeroes or the pattern.
    piece: usize,
    random: usize,
    rest: Vec<u8>,
    pub(super) stores: Stores,
    seed: u64,
    /// Number of blocks so far that repeat no earlier block.
    number: u64,
    repeat_percent: u32,
    /// Decides which blocks repeat others. It follows fio's sequence if the worker's seeds are known.
    repeats: Tausworthe,
    /// Blocks that may be repeated; empty: the block before.
    set: Vec<RepeatedBlocks>,
    /// Chooses the block of the set.
    choices: Xoshiro256PlusPlus,
}

impl BlockMaker {
    /// `None` if the content neither compresses nor repeats.
    pub(super) fn new(content: &fsdyno_job::Content, seed: u64) -> Option<BlockMaker> {
        if content.zero || content.compress.is_none() && (content.dedupe.is_none() || content.pattern.is_some()) {
            return None;
        }
        let (percent, chunk) = content.compress.map_or((0, PIECE_BYTES), |(percent, chunk)| (percent, chunk as usize));
        let piece = if chunk == 0 { usize::MAX } else { chunk };
        Some(BlockMaker {
            pool: pool(),
            piece,
            random: 100 - percent.min(100) as usize,
            rest: content.pattern.clone().unwrap_or_default(),
            stores: Stores::WORDS,
            seed,
            number: 0,
            repeat_percent: content.dedupe.map_or(0, |dedupe| dedupe.percent),
            repeats: Tausworthe::new(seed),
            set: Vec::new(),
            choices: Xoshiro256PlusPlus::seed_from_u64(seed.wrapping_add(STEP)),
        })
    }

    /// Sets the blocks that are repeated; without any, the block before is repeated. `seed` decides when a block
    /// repeats another.
    pub(super) fn repeat(&mut self, set: &[RepeatedBlocks], seed: u64) {
        self.set = set.iter().copied().filter(|blocks| blocks.count > 0).collect();
        self.repeats = Tausworthe::new(seed);
    }

    /// Writes the next block.
    pub(super) fn make(&mut self, block: &mut [u8]) {
        let (seed, number) = self.next();
        self.make_block(block, seed, number);
    }

    /// Seed of the worker whose block is next, and the number of that block.
    fn next(&mut self) -> (u64, u64) {
        let repeats = self.repeat_percent > 0 && self.repeats.percent() <= self.repeat_percent;
        if !repeats {
            self.number += 1;
            return (self.seed, self.number - 1);
        }
        let all = self.set.iter().fold(0u64, |sum, blocks| sum.saturating_add(blocks.count));
        if all == 0 {
            return (self.seed, self.number.saturating_sub(1));
        }
        let mut number = self.below(all);
        for blocks in &self.set {
            if number < blocks.count {
                return (blocks.seed, number);
            }
            number -= blocks.count;
        }
        (self.seed, 0)
    }

    /// A uniform draw from 0..limit; the limit is far below 2^64.
    fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.choices.next_u64()) * u128::from(limit)) >> 64) as u64
    }

    /// Number of random bytes in a piece of this length.
    fn random_bytes(&self, length: usize) -> usize {
        (length as u64 * self.random as u64 / 100) as usize
    }

    fn make_block(&self, block: &mut [u8], seed: u64, number: u64) {
        // The key is mixed before it is counted up: otherwise the second piece of a block would equal the first piece
        // of the next block.
        let mut key = mix(seed.wrapping_add(number.wrapping_mul(STEP)));
        let whole = self.piece.min(block.len());
        let whole_random = self.random_bytes(whole);
        for piece in block.chunks_mut(self.piece) {
            let random = if piece.len() == whole { whole_random } else { self.random_bytes(piece.len()) };
            let (mut head, rest) = piece.split_at_mut(random);
            while let Some(part) = head.split_off_mut(..POOL_BYTES) {
                key = key.wrapping_add(STEP);
                (self.stores.xor)(part, self.pool.as_slice(), mix(key));
            }
            if !head.is_empty() {
                key = key.wrapping_add(STEP);
                (self.stores.xor)(head, self.pool.as_slice(), mix(key));
            }
            if self.rest.is_empty() {
                (self.stores.clear)(rest);
            } else {
                super::repeat(&self.rest, rest);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn pieces(compress: Option<(u32, u32)>, percent: u32, pattern: Option<&[u8]>) -> BlockMaker {
        let dedupe = (percent > 0).then_some(fsdyno_job::Dedupe { percent, working_set_percent: None, global: false });
        let pattern = pattern.map(<[u8]>::to_vec);
        BlockMaker::new(&fsdyno_job::Content { compress, dedupe, pattern, ..fsdyno_job::Content::default() }, 7)
            .unwrap()
    }

    fn blocks(pieces: &mut BlockMaker, count: usize, length: usize) -> Vec<Vec<u8>> {
        let mut made = Vec::new();
        for _ in 0..count {
            let mut block = vec![0xaa; length];
            pieces.make(&mut block);
            made.push(block);
        }
        made
    }

    #[test]
    fn a_piece_is_random_at_first_then_zero() {
        for (percent, chunk, length, random) in [
            (50, 512, 4096, 256),
            (25, 512, 4096, 384),
            (10, 64, 4096, 57),
            (75, 0, 4096, 1024),
            (60, 65536, 4096, 1638),
        ] {
            let block = &blocks(&mut pieces(Some((percent, chunk)), 0, None), 1, length)[0];
            let piece = if chunk == 0 { length } else { length.min(chunk as usize) };
            for part in block.chunks(piece) {
                assert!(part[random..].iter().all(|&byte| byte == 0), "{percent} % of {chunk}");
                let zeros = part[..random].iter().filter(|&&byte| byte == 0).count();
                assert!(zeros <= 4 + random / 64, "{zeros} zeros of {random} random bytes");
            }
        }
        let block = &blocks(&mut pieces(Some((100, 512)), 0, None), 1, 4096)[0];
        assert!(block.iter().all(|&byte| byte == 0));
        let block = &blocks(&mut pieces(Some((50, 512)), 0, Some(b"abc")), 1, 1024)[0];
        assert!(block[256..512].starts_with(b"abcabc") && block[768..].starts_with(b"abc"));
    }

    #[test]
    fn random_parts_never_repeat() {
        for seed in [0, 7, 0x88] {
            let mut seen = HashSet::new();
            let mut pieces = BlockMaker { seed, ..pieces(Some((50, 512)), 0, None) };
            for block in blocks(&mut pieces, 200, 4096) {
                for piece in block.chunks(512) {
                    assert!(piece[..256].chunks(16).all(|part| seen.insert(part.to_vec())), "seed {seed}");
                }
            }
        }
    }

    #[test]
    fn so_many_blocks_repeat_the_one_before() {
        for percent in [10, 50, 90] {
            let made = blocks(&mut pieces(None, percent, None), 4000, 64);
            let repeated = made.windows(2).filter(|two| two[0] == two[1]).count() as i64;
            assert!((repeated - i64::from(percent) * 40).abs() < 120, "{repeated} of 4000 at {percent} %");
            let different: HashSet<&Vec<u8>> = made.iter().collect();
            assert!((different.len() as i64 - (4000 - repeated)).abs() <= 1);
        }
        let all = blocks(&mut pieces(None, 100, None), 50, 64);
        assert!(all.iter().all(|block| *block == all[0]));
    }

    #[test]
    fn a_working_set_is_the_first_blocks_of_its_workers() {
        let mut pieces = pieces(None, 50, None);
        pieces.repeat(&[RepeatedBlocks { seed: 7, count: 20 }, RepeatedBlocks { seed: 9, count: 20 }], 1);
        let made = blocks(&mut pieces, 4000, 64);
        let different: HashSet<&Vec<u8>> = made.iter().collect();
        // Half of the blocks are new; some of these are this worker's part of the set. The other part comes with the
        // other worker.
        assert!((different.len() as i64 - 2020).abs() < 130, "{}", different.len());
        let mut other = BlockMaker { seed: 9, repeat_percent: 0, ..pieces };
        other.number = 0;
        let others = blocks(&mut other, 20, 64);
        assert!(others.iter().all(|block| different.contains(block)));
    }

    #[test]
    fn the_same_seed_makes_the_same_blocks() {
        let make = || blocks(&mut pieces(Some((30, 512)), 40, None), 50, 4096);
        assert_eq!(make(), make());
    }
}
