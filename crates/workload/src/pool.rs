//! The random bytes that blocks are made of, where they are not drawn one by one.

use std::sync::OnceLock;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Length of the pool of random bytes that every block is made of; each piece combines it with a key of its own. The
/// pool stays in the first cache, and no compressor finds one piece in another.
pub(crate) const POOL_BYTES: usize = 4096;

/// The pool.
pub(crate) type Pool = [u8; POOL_BYTES];

/// Seed of the pool. It is the same for all workers, because they share the blocks of a working set.
const POOL_SEED: u64 = 0x5ca1_ab1e;

/// The pool of all workers, made when the first one asks.
pub(crate) fn pool() -> &'static Pool {
    static POOL: OnceLock<Box<Pool>> = OnceLock::new();
    POOL.get_or_init(|| {
        let mut pool = Box::new([0; POOL_BYTES]);
        Xoshiro256PlusPlus::seed_from_u64(POOL_SEED).fill_bytes(pool.as_mut_slice());
        pool
    })
}

/// An odd number, so that its multiples reach all numbers of 64 bits.
pub(crate) const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The functions that store the bytes of a block.
#[derive(Clone, Copy, Debug)]
pub struct Stores {
    /// Has the effect of [`xor_with_key`].
    pub xor: fn(to: &mut [u8], from: &[u8], key: u64),
    /// Fills with zeros.
    pub clear: fn(to: &mut [u8]),
}

impl Stores {
    /// Stores by words, which every processor can do.
    pub const WORDS: Stores = Stores { xor: xor_with_key, clear: |to| to.fill(0) };
}

/// Fills `to` with bytes of `from`, each word of 64 bits combined with `key` by xor. `from` consists of whole words
/// and is not shorter than `to`.
pub fn xor_with_key(to: &mut [u8], from: &[u8], key: u64) {
    const WORD: usize = size_of::<u64>();
    /// Words per turn. The loop is unrolled by hand, because a build for size does not unroll it.
    const WORDS: usize = 8;

    let mixed = |word: &[u8; WORD]| (u64::from_le_bytes(*word) ^ key).to_le_bytes();
    let (to_runs, to_rest) = to.as_chunks_mut::<{ WORDS * WORD }>();
    let (from_runs, _) = from.as_chunks::<{ WORDS * WORD }>();
    let done = to_runs.len() * WORDS * WORD;
    for (to, from) in to_runs.iter_mut().zip(from_runs) {
        for (to, from) in to.as_chunks_mut::<WORD>().0.iter_mut().zip(from.as_chunks::<WORD>().0) {
            *to = mixed(from);
        }
    }
    for (to, from) in to_rest.chunks_mut(WORD).zip(from[done..].as_chunks::<WORD>().0) {
        to.copy_from_slice(&mixed(from)[..to.len()]);
    }
}

/// The finaliser of splitmix64: results for neighbouring numbers are unrelated.
pub(crate) fn mix(number: u64) -> u64 {
    let mixed = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
