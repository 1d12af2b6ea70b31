//! What a file is filled with: what the job's buffer options say, incompressible by default.

use job::Content;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Bytes made and written at a time, or a little less: whole blocks where blocks matter.
const CHUNK_BYTES: usize = 1 << 20;

/// Makes the content of one file in order.
pub(super) struct Filler<'job> {
    content: &'job Content,
    block_bytes: usize,
    random: Xoshiro256PlusPlus,
    /// The block made last, for deduplicable content.
    last: Vec<u8>,
}

impl<'job> Filler<'job> {
    pub(super) fn new(content: &'job Content, block_bytes: u32, seed: u64) -> Filler<'job> {
        let random = Xoshiro256PlusPlus::seed_from_u64(seed);
        Filler { content, block_bytes: block_bytes.max(1) as usize, random, last: Vec::new() }
    }

    /// Bytes that each call of [`Filler::fill`] but the last must ask for.
    pub(super) fn chunk_bytes(&self) -> usize {
        if self.is_plain() { CHUNK_BYTES } else { (CHUNK_BYTES / self.block_bytes).max(1) * self.block_bytes }
    }

    /// Random from end to end, so that blocks do not matter.
    fn is_plain(&self) -> bool {
        let Content { zero, refill: _, scramble: _, pattern, compress, dedupe_percent } = self.content;
        !zero && pattern.is_none() && compress.is_none() && *dedupe_percent == 0
    }

    /// The next bytes of the file.
    pub(super) fn fill(&mut self, chunk: &mut [u8]) {
        if self.is_plain() {
            return self.random.fill_bytes(chunk);
        }
        for block in chunk.chunks_mut(self.block_bytes) {
            self.fill_block(block);
        }
    }

    fn fill_block(&mut self, block: &mut [u8]) {
        if self.content.zero {
            return block.fill(0);
        }
        if self.content.dedupe_percent > 0 {
            // The last block of a file may be shorter than the one before.
            if self.repeats() && self.last.len() >= block.len() {
                return block.copy_from_slice(&self.last[..block.len()]);
            }
            self.fill_new(block);
            self.last.clear();
            self.last.extend_from_slice(block);
        } else {
            self.fill_new(block);
        }
    }

    /// Whether the next block is a copy, drawn with the job's percentage.
    fn repeats(&mut self) -> bool {
        self.random.next_u64() % 100 < u64::from(self.content.dedupe_percent)
    }

    fn fill_new(&mut self, block: &mut [u8]) {
        match self.content.compress {
            Some((percent, chunk_bytes)) => {
                let chunk_bytes = if chunk_bytes == 0 { block.len() } else { chunk_bytes as usize };
                for chunk in block.chunks_mut(chunk_bytes.max(1)) {
                    let random_bytes = chunk.len() * (100 - percent.min(100)) as usize / 100;
                    let (random, rest) = chunk.split_at_mut(random_bytes);
                    self.random.fill_bytes(random);
                    repeat(rest, self.content.pattern.as_deref().unwrap_or(&[0]));
                }
            }
            None => match &self.content.pattern {
                Some(pattern) => repeat(block, pattern),
                None => self.random.fill_bytes(block),
            },
        }
    }
}

fn repeat(target: &mut [u8], pattern: &[u8]) {
    for piece in target.chunks_mut(pattern.len().max(1)) {
        piece.copy_from_slice(&pattern[..piece.len()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(crate) fn plain() -> Content {
        Content { zero: false, refill: false, scramble: true, pattern: None, compress: None, dedupe_percent: 0 }
    }

    fn made(content: &Content, block_bytes: u32, bytes: usize) -> Vec<u8> {
        let mut filler = Filler::new(content, block_bytes, 42);
        let mut all = vec![0xee; bytes];
        let chunk_bytes = filler.chunk_bytes();
        for chunk in all.chunks_mut(chunk_bytes) {
            filler.fill(chunk);
        }
        all
    }

    #[test]
    fn random_content_has_no_equal_blocks_and_no_favourite_byte() {
        let all = made(&plain(), 4096, 4 << 20);
        let mut blocks: Vec<&[u8]> = all.chunks(4096).collect();
        let count = blocks.len();
        blocks.sort();
        blocks.dedup();
        assert_eq!(blocks.len(), count);
        let mut counts = [0_u32; 256];
        for byte in &all {
            counts[usize::from(*byte)] += 1;
        }
        // 16,384 are expected of each; ten standard deviations either way.
        assert!(counts.iter().all(|count| (15_100..17_700).contains(count)), "seed 42: {counts:?}");
    }

    #[test]
    fn the_seed_decides() {
        let first = made(&plain(), 4096, 100);
        assert_eq!(first, made(&plain(), 512, 100));
        let mut other = [0; 100];
        Filler::new(&plain(), 4096, 43).fill(&mut other);
        assert_ne!(first, other);
    }

    #[test]
    fn zeroes() {
        let content = Content { zero: true, ..plain() };
        assert!(made(&content, 4096, 5000).iter().all(|byte| *byte == 0));
    }

    #[test]
    fn a_pattern_begins_anew_with_each_block() {
        let content = Content { pattern: Some(b"abc".to_vec()), ..plain() };
        assert_eq!(made(&content, 4, 10), b"abcaabcaab");
    }

    #[test]
    fn blocks_that_do_not_divide_a_chunk_stay_whole() {
        let content = Content { pattern: Some(b"0123456789".to_vec()), ..plain() };
        let block_bytes = 700_001;
        let all = made(&content, block_bytes, 2 * block_bytes as usize + 3);
        assert_eq!(&all[block_bytes as usize..][..3], b"012");
        assert_eq!(&all[2 * block_bytes as usize..], b"012");
    }

    #[test]
    fn compressible_content_has_its_share_in_each_chunk() {
        let content = Content { compress: Some((75, 512)), ..plain() };
        let all = made(&content, 4096, 8192);
        for chunk in all.chunks(512) {
            assert!(chunk[128..].iter().all(|byte| *byte == 0));
            assert!(chunk[..128].iter().filter(|byte| **byte == 0).count() < 10);
        }
    }

    #[test]
    fn repeated_blocks_have_their_share() {
        let content = Content { dedupe_percent: 30, ..plain() };
        let all = made(&content, 512, 512 * 10_000);
        let blocks: Vec<&[u8]> = all.chunks(512).collect();
        let repeated = blocks.windows(2).filter(|pair| pair[0] == pair[1]).count();
        // 3,000 are expected; ten standard deviations either way.
        assert!((2540..3460).contains(&repeated), "seed 42: {repeated}");
    }

    #[test]
    fn everything_may_repeat() {
        let content = Content { dedupe_percent: 100, ..plain() };
        let all = made(&content, 512, 512 * 8 + 100);
        assert!(all.chunks(512).all(|block| *block == all[..block.len()]));
    }
}
