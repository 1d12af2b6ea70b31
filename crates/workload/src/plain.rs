//! The common cases: one file, one block size, nothing rare. Each is decided once per block of requests, so that a
//! request costs a few instructions.

use crate::extent::Extent;
use crate::generator::Refill;
use crate::mix::Mix;
use crate::op::{BLOCK_OPS, Block, Op, OpKind};
use crate::permutation::Lookahead;
use crate::random::{Tausworthe, exact_below};

/// One file with one block size.
#[derive(Clone, Debug)]
pub(crate) struct Plain {
    pub(crate) start: u64,
    /// Bytes of the range.
    pub(crate) length: u64,
    /// Bytes of each request.
    pub(crate) size: u32,
    pub(crate) order: Order,
    pub(crate) directions: Directions,
    pub(crate) extent: Extent,
    /// Each start over repeats the first sequence, unless the job is time-based.
    pub(crate) repeats: bool,
}

/// Where the next request goes.
#[derive(Clone, Debug)]
pub(crate) enum Order {
    /// One position.
    Sequential { next: u64 },
    /// A position per direction; `chosen` is the direction that found its position at the end.
    SequentialMix { next: [u64; 2], chosen: Option<usize> },
    /// Each block once per pass, of which so many are left.
    Permuted { blocks: Lookahead, left: u64 },
    /// Any block at any time.
    Uniform { stream: Tausworthe, seed: u64 },
}

/// Which way the data goes.
#[derive(Clone, Debug)]
pub(crate) enum Directions {
    /// Always the same.
    Only(OpKind),
    /// Drawn.
    Mixed(Mix),
}

impl Plain {
    pub(crate) fn refill(&mut self, block: &mut Block) -> Refill {
        let size = u64::from(self.size);
        let most = self.extent.left(size).min(BLOCK_OPS as u64);
        if most == 0 {
            return Refill::Done;
        }
        let count = match &mut self.order {
            Order::SequentialMix { .. } => self.fill_sequential_mix(&mut block.ops[..most as usize]),
            Order::Sequential { next } => {
                let count = most.min((self.length - *next) / size) as usize;
                let mut at = self.start + *next;
                *next += count as u64 * size;
                let offset = || {
                    let offset = at;
                    at += size;
                    offset
                };
                fill(&mut block.ops[..count], self.size, &mut self.directions, offset);
                count
            }
            Order::Permuted { blocks, left } => {
                let count = most.min(*left) as usize;
                *left -= count as u64;
                let mut drawn = blocks.take(count).iter();
                let start = self.start;
                let offset = || start + drawn.next().map_or(0, |block| block * size);
                fill(&mut block.ops[..count], self.size, &mut self.directions, offset);
                count
            }
            Order::Uniform { stream, .. } => {
                let (start, blocks) = (self.start, self.length / size);
                let ops = &mut block.ops[..most as usize];
                if exact_below(blocks) {
                    fill(ops, self.size, &mut self.directions, || start + stream.below_exact(blocks) * size);
                } else {
                    fill(ops, self.size, &mut self.directions, || start + stream.below(blocks) * size);
                }
                most as usize
            }
        };
        self.extent.issue(count as u64, count as u64 * size);
        block.len = count;
        if count > 0 {
            return Refill::Ops;
        }
        if self.start_over() { Refill::Pass } else { Refill::Done }
    }

    /// Stops where a direction is drawn whose position stands at the end.
    fn fill_sequential_mix(&mut self, ops: &mut [Op]) -> usize {
        let (Order::SequentialMix { next, chosen }, Directions::Mixed(mix)) = (&mut self.order, &mut self.directions)
        else {
            unreachable!("a mix of one direction");
        };
        let size = u64::from(self.size);
        for (count, op) in ops.iter_mut().enumerate() {
            let direction = chosen.take().unwrap_or_else(|| mix.choose());
            if next[direction] + size > self.length {
                *chosen = Some(direction);
                return count;
            }
            let offset = self.start + next[direction];
            *op = Op { offset, length: self.size, file: 0, kind: mix.kind(direction) };
            next[direction] += size;
            mix.issue(direction);
        }
        ops.len()
    }

    fn start_over(&mut self) -> bool {
        if !self.extent.starts_over() {
            return false;
        }
        let time_based = self.extent.time_based();
        match &mut self.order {
            // With time_based the one position wraps, and all else runs on.
            Order::SequentialMix { next, chosen: Some(direction) } if time_based && next[*direction] == self.length => {
                next[*direction] = 0;
                return true;
            }
            Order::SequentialMix { next, chosen } => {
                *next = [0; 2];
                *chosen = None;
            }
            Order::Sequential { next } => *next = 0,
            Order::Permuted { blocks, left } => {
                *left = self.length / u64::from(self.size);
                if time_based {
                    blocks.next_pass();
                    return true;
                }
                if self.repeats {
                    blocks.first_pass();
                } else {
                    blocks.next_pass();
                }
            }
            Order::Uniform { stream, seed } if self.repeats => *stream = Tausworthe::new(*seed),
            Order::Uniform { .. } => {}
        }
        if let Directions::Mixed(mix) = &mut self.directions
            && self.repeats
        {
            mix.restart();
        }
        true
    }
}

/// Fills in each request; one loop for one direction, one for a mix.
#[inline(always)]
fn fill(ops: &mut [Op], length: u32, directions: &mut Directions, mut offset: impl FnMut() -> u64) {
    match directions {
        Directions::Only(kind) => {
            for op in ops {
                *op = Op { offset: offset(), length, file: 0, kind: *kind };
            }
        }
        Directions::Mixed(mix) => {
            for op in ops {
                let direction = mix.choose();
                mix.issue(direction);
                *op = Op { offset: offset(), length, file: 0, kind: mix.kind(direction) };
            }
        }
    }
}
