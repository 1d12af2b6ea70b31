//! A map of the used blocks of a range: one bit for each block, with summaries above, so that the next free block is
//! found in a few steps however full the map is.

/// The map. Its memory is allocated as zeroes, so that the system provides pages only when they are touched.
#[derive(Clone, Debug)]
pub(crate) struct BlockMap {
    blocks: u64,
    /// `levels[0]` has one bit for each block, set when the block is used. A bit of a higher level says that 64 bits
    /// below are set.
    levels: Vec<Vec<u64>>,
}

impl BlockMap {
    /// A map with all `blocks` free.
    pub(crate) fn new(blocks: u64) -> Self {
        let mut levels = Vec::new();
        let mut bits = blocks;
        loop {
            let words = bits.div_ceil(64);
            levels.push(vec![0; words as usize]);
            if words <= 1 {
                break;
            }
            bits = words;
        }
        BlockMap { blocks, levels }
    }

    /// Frees all blocks.
    pub(crate) fn clear(&mut self) {
        self.levels.iter_mut().for_each(|level| level.fill(0));
    }

    /// Whether this block is free.
    #[inline]
    pub(crate) fn is_free(&self, block: u64) -> bool {
        self.levels[0].get((block / 64) as usize).is_some_and(|word| word >> (block % 64) & 1 == 0)
    }

    /// The first free block at or after `block`; after the end the search continues from the start.
    #[inline]
    pub(crate) fn free_from(&self, block: u64) -> Option<u64> {
        let clear = self.levels[0].get((block / 64) as usize).map_or(0, |word| !word & (u64::MAX << (block % 64)));
        let near = block / 64 * 64 + u64::from(clear.trailing_zeros());
        if clear != 0 && near < self.blocks { Some(near) } else { self.free_farther(block) }
    }

    #[inline(never)]
    fn free_farther(&self, block: u64) -> Option<u64> {
        self.free_above(block).or_else(|| self.free_above(0))
    }

    /// Marks `count` blocks from `block` on as used if all of them are free, and if one word has their bits. Returns
    /// whether it did.
    #[inline]
    pub(crate) fn take(&mut self, block: u64, count: u64) -> bool {
        let within = block % 64 + count <= 64 && count < 64 && block + count <= self.blocks;
        let Some(word) = self.levels[0].get_mut((block / 64) as usize).filter(|_| within) else { return false };
        let bits = ((1 << count) - 1) << (block % 64);
        if *word & bits != 0 {
            return false;
        }
        *word |= bits;
        if *word == u64::MAX {
            // Also marks the word as full, in the levels above.
            self.set(block);
        }
        true
    }

    /// Number of free blocks in a row from `block` on, at most `wanted`.
    pub(crate) fn free_run(&self, block: u64, wanted: u64) -> u64 {
        let end = self.blocks.min(block.saturating_add(wanted));
        let mut at = block;
        while at < end {
            let used = self.levels[0][(at / 64) as usize] >> (at % 64);
            if used != 0 {
                at += u64::from(used.trailing_zeros());
                break;
            }
            at = (at / 64 + 1) * 64;
        }
        at.min(end).saturating_sub(block)
    }

    /// Marks `count` blocks from `block` on as used, or fewer at the end.
    pub(crate) fn mark(&mut self, block: u64, count: u64) {
        (block..self.blocks.min(block.saturating_add(count))).for_each(|at| self.set(at));
    }

    #[inline(never)]
    fn set(&mut self, block: u64) {
        let mut bit = block;
        for level in &mut self.levels {
            let word = &mut level[(bit / 64) as usize];
            *word |= 1 << (bit % 64);
            if *word != u64::MAX {
                break;
            }
            bit /= 64;
        }
    }

    /// Climbs until a word has a clear bit at or after the position, then descends along the first clear bits.
    fn free_above(&self, block: u64) -> Option<u64> {
        let mut bit = block;
        let mut height = 0;
        loop {
            let level = self.levels.get(height)?;
            let clear = level.get((bit / 64) as usize).map_or(0, |word| !word & (u64::MAX << (bit % 64)));
            if clear != 0 {
                bit = bit / 64 * 64 + u64::from(clear.trailing_zeros());
                break;
            }
            bit = bit / 64 + 1;
            height += 1;
        }
        for level in self.levels[..height].iter().rev() {
            // A clear bit may belong to words after the end of the level below.
            let word = level.get(bit as usize)?;
            bit = bit * 64 + u64::from(word.trailing_ones());
        }
        (bit < self.blocks).then_some(bit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_a_plain_list_of_flags() {
        for blocks in [1_u64, 2, 63, 64, 65, 127, 128, 4095, 4096, 4097, 5000, 300_000] {
            let mut map = BlockMap::new(blocks);
            let mut flags = vec![false; blocks as usize];
            let mut state = blocks;
            for _ in 0..2000 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let block = (state >> 33) % blocks;
                let plain = (block..blocks).chain(0..block).find(|&at| !flags[at as usize]);
                let free = map.free_from(block);
                assert_eq!(free, plain, "{blocks} blocks, from {block}");
                assert_eq!(map.is_free(block), free == Some(block));
                let Some(free) = free else { break };
                let wanted = 1 + (state >> 50) % 100;
                let run = (free..blocks.min(free + wanted)).take_while(|&at| !flags[at as usize]).count() as u64;
                assert_eq!(map.free_run(free, wanted), run);
                let (cut, one_word) = (run < wanted, free / 64 == (free + wanted - 1) / 64 && wanted < 64);
                assert_eq!(map.take(free, wanted), one_word && !cut, "{wanted} of {blocks} blocks from {free}");
                map.mark(free, run);
                flags[free as usize..(free + run) as usize].fill(true);
            }
        }
    }

    #[test]
    fn a_full_map_has_nothing_free_until_it_is_cleared() {
        for blocks in [1, 64, 100, 4096, 5000] {
            let mut map = BlockMap::new(blocks);
            assert_eq!(map.free_run(0, u64::MAX), blocks);
            map.mark(0, u64::MAX);
            assert_eq!(map.free_from(blocks / 2), None);
            map.clear();
            assert_eq!(map.free_from(blocks / 2), Some(blocks / 2));
        }
    }
}
