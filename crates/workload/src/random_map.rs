//! How random blocks are kept from repeating.

use fsdyno_job::{Direction, RandomGenerator};

use crate::block_map::BlockMap;
use crate::lfsr::Lfsr;
use crate::permutation::Permutation;
use crate::random::Stream;
use crate::workload::Workload;

/// What keeps random blocks of one size apart.
#[derive(Clone, Debug)]
pub(crate) enum Cover {
    /// Not at all.
    None,
    /// One size: the permutation.
    Permutation(Permutation),
    /// Several sizes, or fio's own order.
    Map(BlockMap),
    Lfsr(Lfsr),
}

impl Cover {
    /// For the blocks of one map of the file with this number; `map` is a direction that takes them.
    pub(crate) fn of(workload: &Workload, map: Direction, blocks: u64, file: u64, seed: u64) -> Cover {
        if blocks == 0 {
            return Cover::None;
        }
        match workload.pattern.generator {
            Some(RandomGenerator::Lfsr) => Cover::Lfsr(Lfsr::new(blocks, seed)),
            _ if workload.remembers_blocks(map) => Cover::Map(BlockMap::new(blocks)),
            _ => Cover::Permutation(Permutation::new(blocks, permutation_seed(seed, file))),
        }
    }

    /// Begins again; `repeats`: in the order of the first time.
    pub(crate) fn restart(&mut self, repeats: bool) {
        match self {
            Cover::None => {}
            Cover::Permutation(permutation) if repeats => permutation.first_pass(),
            Cover::Permutation(permutation) => permutation.next_pass(),
            Cover::Map(map) => map.clear(),
            Cover::Lfsr(register) => register.reset(),
        }
    }

    /// A block of the first `blocks`, of which this may cover more. It begins again when all have come; `None`: there is
    /// none.
    pub(crate) fn draw_below(&mut self, stream: &mut Stream, blocks: u64) -> Option<u64> {
        if blocks == 0 {
            return None;
        }
        loop {
            match self.draw(stream, blocks) {
                Some(block) if block < blocks => return Some(block),
                Some(_) => {
                    // A map says which is the next free one: from there to the end of the window there is none.
                    let Cover::Map(map) = self else { continue };
                    match map.free_from(0).filter(|block| *block < blocks) {
                        Some(block) => return Some(block),
                        None => map.clear(),
                    }
                }
                None => self.restart(false),
            }
        }
    }

    /// A block that has not come yet; `None` when all have.
    pub(crate) fn draw(&mut self, stream: &mut Stream, blocks: u64) -> Option<u64> {
        match self {
            Cover::None => Some(stream.below(blocks)),
            Cover::Permutation(permutation) => permutation.draw(),
            Cover::Map(map) => map.free_from(stream.below(blocks)),
            Cover::Lfsr(register) => register.draw(),
        }
    }
}

/// The key of one file's permutation.
pub(crate) fn permutation_seed(seed: u64, file: u64) -> u64 {
    seed ^ file.wrapping_mul(0xd134_2543_de82_ef95)
}
