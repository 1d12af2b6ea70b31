//! `random_generator=lfsr`: a shift register of maximal length, which gives every block once without a map.
//! Neighbours are visibly related, so that it is used only on request. It gives fio's sequence.

/// The register of one range.
#[derive(Clone, Debug)]
pub(crate) struct Lfsr {
    blocks: u64,
    left: u64,
    seed: u64,
    state: u64,
    top: u64,
    taps: u64,
}

/// Tapped bits (counted from 1, the highest is the width) of registers of maximal length, for widths from 3 to 49.
/// These are the published tables of hardware makers; the entry for 32 bits comes from another one.
#[rustfmt::skip]
const TAPS: [&[u8]; 47] = [
    &[3, 2], &[4, 3], &[5, 3], &[6, 5], &[7, 6], &[8, 6, 5, 4], &[9, 5], &[10, 7], &[11, 9], &[12, 6, 4, 1],
    &[13, 4, 3, 1], &[14, 5, 3, 1], &[15, 14], &[16, 15, 13, 4], &[17, 14], &[18, 11], &[19, 6, 2, 1], &[20, 17],
    &[21, 19], &[22, 21], &[23, 18], &[24, 23, 22, 17], &[25, 22], &[26, 6, 2, 1], &[27, 5, 2, 1], &[28, 25],
    &[29, 27], &[30, 6, 4, 1], &[31, 28], &[32, 31, 29, 1], &[33, 20], &[34, 27, 2, 1], &[35, 33], &[36, 25],
    &[37, 5, 4, 3, 2, 1], &[38, 6, 5, 1], &[39, 35], &[40, 38, 21, 19], &[41, 38], &[42, 41, 20, 19],
    &[43, 42, 38, 37], &[44, 43, 18, 17], &[45, 44, 42, 41], &[46, 45, 26, 25], &[47, 42], &[48, 47, 21, 20],
    &[49, 40],
];

impl Lfsr {
    /// `blocks` is at least 1 and at most [`BLOCKS_MAX`](crate::permutation::BLOCKS_MAX).
    pub(crate) fn new(blocks: u64, seed: u64) -> Self {
        let width = (u64::BITS - blocks.leading_zeros()).max(3);
        let taps = TAPS[width as usize - 3].iter().fold(0, |taps, bit| taps | 1 << (bit - 1));
        let mut register = Lfsr { blocks, left: 0, seed, state: 0, top: 1 << (width - 1), taps };
        register.reset();
        register.step();
        register
    }

    /// Begins the order again, one step earlier than the first time.
    pub(crate) fn reset(&mut self) {
        self.left = self.blocks;
        self.state = self.seed & (2 * self.top - 1);
        if self.state == 2 * self.top - 1 {
            // All ones is the only state that never changes.
            self.state = 0;
        }
    }

    /// The next block; `None` when the pass has given all of them.
    pub(crate) fn draw(&mut self) -> Option<u64> {
        self.left = self.left.checked_sub(1)?;
        loop {
            self.step();
            if self.state < self.blocks {
                return Some(self.state);
            }
        }
    }

    fn step(&mut self) {
        let even = self.state & 1 == 0;
        self.state = (self.state >> 1) | self.top;
        if even {
            self.state ^= self.taps;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_shows_every_block_once() {
        for blocks in (1..2000).chain([65_535, 65_536, 1_000_003]) {
            let mut register = Lfsr::new(blocks, blocks * 0x9e37_79b9);
            for _ in 0..2 {
                let mut seen = vec![false; blocks as usize];
                while let Some(block) = register.draw() {
                    assert!(
                        !std::mem::replace(&mut seen[block as usize], true),
                        "{blocks} blocks: {block} comes twice"
                    );
                }
                assert!(!seen.contains(&false), "{blocks} blocks");
                register.reset();
            }
        }
    }

    #[test]
    fn a_seed_of_all_ones_does_not_stand_still() {
        let mut register = Lfsr::new(7, u64::MAX);
        assert_eq!(std::iter::from_fn(|| register.draw()).count(), 7);
    }

    /// Recorded from fio (seed 7): the first five blocks of ranges that fill their register.
    #[test]
    #[rustfmt::skip]
    fn fio_s_sequences() {
        let seed = crate::random::Seeds::new(7, 1).of(crate::random::Slot::Offset);
        for (blocks, expected) in [
            (7, [1, 4, 0, 2, 3]), (15, [3, 9, 12, 2, 5]), (255, [123, 189, 222, 87, 171]),
            (4095, [1066, 572, 311, 2203, 3149]), (65_535, [4107, 34_821, 50_178, 12_809, 39_172]),
            (1_048_575, [491_523, 770_049, 909_312, 520_192, 194_560]),
            (4_294_967_295, [12_746_754, 1_348_550_656, 2_016_452_609, 3_155_709_952, 235_677_697]),
        ] {
            let mut register = Lfsr::new(blocks, seed);
            assert_eq!(std::array::from_fn(|_| register.draw().unwrap()), expected, "{blocks} blocks");
        }
    }
}
