//! Gives each block exactly once per pass, in an order that looks random, without a map: O(1) memory for any size.
//!
//! A counter runs over the 2^k values of the smallest k bits that hold the range. A keyed bijection on k bits turns
//! each value into a block, and blocks outside of the range are skipped.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// The order of one pass: two rounds of a keyed bijection on k bits.
#[derive(Clone, Copy, Debug)]
struct OffsetOrder {
    mask: u64,
    shift: u32,
    rounds: [Round; 2],
}

#[derive(Clone, Copy, Debug)]
struct Round {
    even: u64,
    odd: u64,
    add: u64,
}

impl OffsetOrder {
    fn new(bits: u32, seed: u64, pass: u64) -> Self {
        let mut keys = Xoshiro256PlusPlus::seed_from_u64(seed ^ pass.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut key = || keys.next_u64();
        let rounds = std::array::from_fn(|_| Round { even: key() << 1, odd: key() | 1, add: key() });
        OffsetOrder { mask: (1 << bits) - 1, shift: bits.div_ceil(2), rounds }
    }

    /// Both steps of a round are bijections on k bits: a quadratic with an even first and an odd second coefficient,
    /// and xor with the upper half of the value. The square makes neighbours unrelated after two rounds; products
    /// alone need four.
    #[inline]
    fn place(&self, counter: u64) -> u64 {
        self.rounds.iter().fold(counter, |value, round| {
            let slope = value.wrapping_mul(round.even).wrapping_add(round.odd);
            let value = value.wrapping_mul(slope).wrapping_add(round.add) & self.mask;
            value ^ (value >> self.shift)
        })
    }
}

/// A permutation of `0..size`, pass after pass, one block at a time.
#[derive(Clone, Debug)]
pub(crate) struct Permutation {
    size: u64,
    bits: u32,
    seed: u64,
    pass: u64,
    counter: u64,
    order: OffsetOrder,
}

/// Largest number of blocks of one range: 2^48.
pub(crate) const BLOCKS_MAX: u64 = 1 << 48;

impl Permutation {
    /// `size` is the number of blocks, at most [`BLOCKS_MAX`].
    pub(crate) fn new(size: u64, seed: u64) -> Self {
        assert!(size <= BLOCKS_MAX, "a range of {size} blocks");
        let bits = size.max(1).next_power_of_two().trailing_zeros();
        Permutation { size, bits, seed, pass: 0, counter: 0, order: OffsetOrder::new(bits, seed, 0) }
    }

    /// The next block; `None` when the pass has given all of them.
    pub(crate) fn draw(&mut self) -> Option<u64> {
        while self.counter <= self.order.mask {
            let block = self.order.place(self.counter);
            self.counter += 1;
            if block < self.size {
                return Some(block);
            }
        }
        None
    }

    /// Begins a pass in a new order.
    pub(crate) fn next_pass(&mut self) {
        self.pass += 1;
        self.rewind();
    }

    /// Begins again with the order of the first pass.
    pub(crate) fn first_pass(&mut self) {
        self.pass = 0;
        self.rewind();
    }

    fn rewind(&mut self) {
        self.order = OffsetOrder::new(self.bits, self.seed, self.pass);
        self.counter = 0;
    }
}

/// Number of counters that are tried at a time.
const STRIDE: usize = 64;

/// Draws a permutation ahead, in the same order; the number of blocks that are taken at a time changes nothing.
/// Blocks outside of the range are removed without a branch, because a branch that goes either way for half of the
/// blocks would be mispredicted.
#[derive(Clone, Debug)]
pub(crate) struct Lookahead {
    permutation: Permutation,
    ready: Box<[u64; 2 * STRIDE]>,
    /// Index in `ready` of the next block to take.
    next: usize,
    len: usize,
}

impl Lookahead {
    pub(crate) fn new(permutation: Permutation) -> Self {
        Lookahead { permutation, ready: Box::new([0; 2 * STRIDE]), next: 0, len: 0 }
    }

    /// The next `count` blocks (at most 64, and at most the number that is left in the pass).
    #[inline]
    pub(crate) fn take(&mut self, count: usize) -> &[u64] {
        debug_assert!(count <= STRIDE);
        if self.len - self.next < count {
            // Nothing is left if the number of blocks is a power of two.
            if self.next < self.len {
                self.ready.copy_within(self.next..self.len, 0);
            }
            (self.next, self.len) = (0, self.len - self.next);
            while self.len < count && self.permutation.counter <= self.permutation.order.mask {
                self.draw_stride();
            }
        }
        let from = self.next;
        self.next += count;
        &self.ready[from..from + count]
    }

    fn draw_stride(&mut self) {
        let Permutation { size, counter, order, .. } = self.permutation;
        let tries = (order.mask + 1 - counter).min(STRIDE as u64);
        let mut len = self.len;
        for counter in counter..counter + tries {
            let block = order.place(counter);
            self.ready[len % (2 * STRIDE)] = block;
            len += usize::from(block < size);
        }
        self.len = len;
        self.permutation.counter = counter + tries;
    }

    /// See [`Permutation::next_pass`]. All blocks of the last pass must have been taken.
    pub(crate) fn next_pass(&mut self) {
        (self.next, self.len) = (0, 0);
        self.permutation.next_pass();
    }

    /// See [`Permutation::first_pass`].
    pub(crate) fn first_pass(&mut self) {
        (self.next, self.len) = (0, 0);
        self.permutation.first_pass();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pass(permutation: &mut Permutation) -> Vec<u64> {
        std::iter::from_fn(|| permutation.draw()).collect()
    }

    fn assert_all_once(blocks: &[u64], size: u64) {
        assert_eq!(blocks.len() as u64, size, "{size} blocks: not each exactly once");
        let mut seen = vec![false; blocks.len()];
        for block in blocks {
            assert!(!std::mem::replace(&mut seen[*block as usize], true), "{size} blocks: {block} comes twice");
        }
    }

    #[test]
    fn every_size_shows_every_block_once() {
        for size in (1..=5000).chain([65_535, 65_536, 65_537, 1_000_003]) {
            let mut permutation = Permutation::new(size, 0x89 + size);
            assert_all_once(&pass(&mut permutation), size);
        }
    }

    #[test]
    fn looking_ahead_shows_the_same_blocks() {
        for size in (1..300).chain([4095, 4096, 4097, 100_000]) {
            let mut ahead = Lookahead::new(Permutation::new(size, size));
            let mut passes = Vec::new();
            for _ in 0..2 {
                let mut blocks = Vec::new();
                while (blocks.len() as u64) < size {
                    let count = (size - blocks.len() as u64).min(1 + blocks.len() as u64 % 64) as usize;
                    blocks.extend_from_slice(ahead.take(count));
                }
                assert_all_once(&blocks, size);
                let mut one_by_one = Permutation::new(size, size);
                (0..passes.len()).for_each(|_| one_by_one.next_pass());
                assert_eq!(pass(&mut one_by_one), blocks);
                passes.push(blocks);
                ahead.next_pass();
            }
            assert!(size < 16 || passes[0] != passes[1], "{size}: a second pass in the same order");
        }
    }

    #[test]
    fn passes_differ_and_the_first_can_be_repeated() {
        let mut permutation = Permutation::new(1000, 1);
        let first = pass(&mut permutation);
        permutation.next_pass();
        assert_ne!(first, pass(&mut permutation));
        permutation.first_pass();
        assert_eq!(first, pass(&mut permutation));
    }

    #[test]
    fn the_largest_range_stays_in_range() {
        for size in [BLOCKS_MAX, BLOCKS_MAX / 2 + 1, (1 << 40) - 1] {
            let mut permutation = Permutation::new(size, 3);
            assert!((0..10_000).all(|_| permutation.draw().is_some_and(|block| block < size)));
        }
    }

    /// Chi-squared of the distances between neighbours, in 64 classes: 63 degrees of freedom, mean 63, deviation 11.
    #[test]
    fn neighbours_are_unrelated() {
        for (size, seed) in [1 << 12, 1 << 16, 1 << 20, 100_003, 1 << 40, 262_144].into_iter().zip(1..) {
            let mut permutation = Permutation::new(size, seed);
            for stride in [1, 2, 7] {
                permutation.first_pass();
                let blocks: Vec<u64> = std::iter::from_fn(|| permutation.draw()).take(65_536).collect();
                let mut classes = [0_u64; 64];
                for pair in blocks.iter().zip(&blocks[stride..]) {
                    let distance = (pair.1 + size - pair.0) % size;
                    classes[(u128::from(distance) * 64 / u128::from(size)) as usize] += 1;
                }
                let expected = (blocks.len() - stride) as f64 / 64.0;
                let chi: f64 = classes.iter().map(|&n| (n as f64 - expected).powi(2) / expected).sum();
                assert!(chi < 63.0 + 5.0 * 11.3, "{size} blocks, {stride} apart: chi-squared {chi}");
            }
        }
    }
}
