//! Covers: what prevents random blocks from repeating within a pass.

use fsdyno_job::{Direction, RandomGenerator};

use crate::block_map::BlockMap;
use crate::lfsr::Lfsr;
use crate::permutation::Permutation;
use crate::random::Stream;
use crate::workload::Workload;

/// What prevents random blocks of one size from repeating.
#[derive(Clone, Debug)]
pub(crate) enum RepeatGuard {
    /// Nothing: blocks may repeat.
    None,
    /// A permutation, for blocks of one size.
    Permutation(Permutation),
    /// A map of used blocks, for several sizes or fio's own order.
    Map(BlockMap),
    Lfsr(Lfsr),
}

impl RepeatGuard {
    /// The cover for one map of the file with this number; `map` is a direction that uses this map.
    pub(crate) fn of(workload: &Workload, map: Direction, blocks: u64, file: u64, seed: u64) -> RepeatGuard {
        if blocks == 0 {
            return RepeatGuard::None;
        }
        match workload.pattern.generator {
            Some(RandomGenerator::Lfsr) => RepeatGuard::Lfsr(Lfsr::new(blocks, seed)),
            _ if workload.remembers_blocks(map) => RepeatGuard::Map(BlockMap::new(blocks)),
            _ => RepeatGuard::Permutation(Permutation::new(blocks, permutation_seed(seed, file))),
        }
    }

    /// Begins again; with `repeats` in the order of the first time.
    pub(crate) fn restart(&mut self, repeats: bool) {
        match self {
            RepeatGuard::None => {}
            RepeatGuard::Permutation(permutation) if repeats => permutation.first_pass(),
            RepeatGuard::Permutation(permutation) => permutation.next_pass(),
            RepeatGuard::Map(map) => map.clear(),
            RepeatGuard::Lfsr(register) => register.reset(),
        }
    }

    /// Draws one of the first `blocks` blocks; the cover may have more blocks. It begins again when all have come.
    /// `None`: there are no blocks.
    pub(crate) fn draw_below(&mut self, stream: &mut Stream, blocks: u64) -> Option<u64> {
        if blocks == 0 {
            return None;
        }
        loop {
            match self.draw(stream, blocks) {
                Some(block) if block < blocks => return Some(block),
                Some(_) => {
                    // The map has returned the next free block, so that no block is free between the draw and the end
                    // of the window.
                    let RepeatGuard::Map(map) = self else { continue };
                    match map.free_from(0).filter(|block| *block < blocks) {
                        Some(block) => return Some(block),
                        None => map.clear(),
                    }
                }
                None => self.restart(false),
            }
        }
    }

    /// Draws a block that has not come yet; `None` when all have come.
    pub(crate) fn draw(&mut self, stream: &mut Stream, blocks: u64) -> Option<u64> {
        match self {
            RepeatGuard::None => Some(stream.below(blocks)),
            RepeatGuard::Permutation(permutation) => permutation.draw(),
            RepeatGuard::Map(map) => map.free_from(stream.below(blocks)),
            RepeatGuard::Lfsr(register) => register.draw(),
        }
    }
}

/// The key of one file's permutation.
pub(crate) fn permutation_seed(seed: u64, file: u64) -> u64 {
    seed ^ file.wrapping_mul(0xd134_2543_de82_ef95)
}
