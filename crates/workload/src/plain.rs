//! The plain cases: one file, one block size, no rare feature. The case is chosen once per block of requests, so that
//! a request costs a few instructions.

use std::ops::Range;

use fsdyno_job::Direction;

use crate::extent::Extent;
use crate::generator::Refill;
use crate::mix::Mix;
use crate::op::{BLOCK_OPS, Block, Op, OpKind};
use crate::permutation::Lookahead;
use crate::random::{Tausworthe, never_rounds_up};
use crate::spread::{Ranks, Zones};

/// One file with one block size.
#[derive(Clone, Debug)]
pub(crate) struct Plain {
    pub(crate) start: u64,
    /// Length of the range, bytes.
    pub(crate) length: u64,
    /// Length of each request, bytes.
    pub(crate) size: u64,
    pub(crate) order: OffsetOrder,
    pub(crate) directions: Directions,
    pub(crate) extent: Extent,
    /// Whether each pass repeats the sequence of the first; not so for a time-based job.
    pub(crate) repeats: bool,
}

/// How the offset of the next request is found.
#[derive(Clone, Debug)]
pub(crate) enum OffsetOrder {
    /// From one position.
    Sequential { next: u64 },
    /// From one position per direction. `chosen` is the direction whose position is at the end.
    SequentialMix { next: [u64; 2], chosen: Option<usize> },
    /// Each block once per pass; `left` is the number of blocks that are left.
    Permuted { blocks: Lookahead, left: u64 },
    /// Any block at any time, all equally likely.
    Uniform { stream: Tausworthe, seed: u64 },
    /// Any block at any time, some of them more often.
    Skewed(Box<Ranks>),
    /// Any block of a zone that is drawn first, in one direction.
    Zoned(Box<ZonedOrder>),
}

/// Zones of one direction, and the draws within them.
#[derive(Clone, Debug)]
pub(crate) struct ZonedOrder {
    pub(crate) zones: Zones,
    pub(crate) direction: Direction,
    pub(crate) stream: Tausworthe,
    pub(crate) seed: u64,
}

/// How the direction of the next request is found.
#[derive(Clone, Debug)]
pub(crate) enum Directions {
    /// Always the same.
    Only(OpKind),
    /// By a draw.
    Mixed(Mix),
}

impl Plain {
    /// Whether all requests have one kind and one length.
    pub(crate) fn makes_alike(&self) -> bool {
        matches!(self.directions, Directions::Only(_))
    }

    pub(crate) fn refill(&mut self, block: &mut Block) -> Refill {
        let size = self.size;
        let most = self.extent.requests_left(size).min(BLOCK_OPS as u64);
        if most == 0 && self.extent.is_over() {
            return Refill::Done;
        }
        match self.directions {
            Directions::Only(kind) => block.make_alike(size, kind),
            Directions::Mixed(_) => block.alike = false,
        }
        let ops = &mut block.ops[..most as usize];
        let (start, directions) = (self.start, &mut self.directions);
        let count = match &mut self.order {
            OffsetOrder::Sequential { next } => {
                let count = most.min((self.length - *next) / size);
                let offsets = (0..count).map(|number| start + *next + number * size);
                fill(&mut ops[..count as usize], size, directions, offsets);
                *next += count * size;
                count as usize
            }
            OffsetOrder::Permuted { blocks, left } => {
                let count = most.min(*left) as usize;
                *left -= count as u64;
                let offsets = blocks.take(count).iter().map(|block| start + block * size);
                fill(&mut ops[..count], size, directions, offsets);
                count
            }
            OffsetOrder::Uniform { stream: kept, .. } => {
                // A copy can stay in registers.
                let mut stream = *kept;
                let blocks = self.length / size;
                if never_rounds_up(blocks) {
                    let offset = || start + ((u64::from(stream.draw()) * blocks) >> 32) * size;
                    fill_in_pairs(ops, size, directions, offset);
                } else {
                    fill(ops, size, directions, std::iter::repeat_with(|| start + stream.below(blocks) * size));
                }
                *kept = stream;
                ops.len()
            }
            OffsetOrder::Skewed(ranks) => {
                fill(ops, size, directions, std::iter::repeat_with(|| start + ranks.draw() * size));
                ops.len()
            }
            OffsetOrder::Zoned(order) => {
                let blocks = self.length / size;
                let ZonedOrder { zones, direction, stream, .. } = &mut **order;
                let block = || {
                    let (first, count) = zones.draw(*direction, blocks, size);
                    first + stream.below(count)
                };
                fill(ops, size, directions, std::iter::repeat_with(block).map(|block| start + block * size));
                ops.len()
            }
            OffsetOrder::SequentialMix { next, chosen } => {
                let range = start..start + self.length;
                fill_sequential_mix(ops, size, directions, range, next, chosen)
            }
        };
        self.extent.issue(count as u64, count as u64 * size);
        block.len = count;
        if count > 0 {
            return Refill::Ops;
        }
        if self.start_over() { Refill::Pass } else { Refill::Done }
    }

    fn start_over(&mut self) -> bool {
        if !self.extent.starts_over() {
            return false;
        }
        let time_based = self.extent.time_based();
        match &mut self.order {
            // In a time-based job, a single position starts over and everything else continues.
            OffsetOrder::SequentialMix { next, chosen: Some(direction) }
                if time_based && next[*direction] == self.length =>
            {
                next[*direction] = 0;
                return true;
            }
            OffsetOrder::SequentialMix { next, chosen } => {
                *next = [0; 2];
                *chosen = None;
            }
            OffsetOrder::Sequential { next } => *next = 0,
            OffsetOrder::Permuted { blocks, left } => {
                *left = self.length / self.size;
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
            OffsetOrder::Uniform { stream, seed } if self.repeats => *stream = Tausworthe::new(*seed),
            OffsetOrder::Skewed(ranks) if self.repeats => ranks.restart(),
            OffsetOrder::Zoned(order) if self.repeats => {
                order.zones.restart();
                order.stream = Tausworthe::new(order.seed);
            }
            OffsetOrder::Uniform { .. } | OffsetOrder::Skewed(_) | OffsetOrder::Zoned(_) => {}
        }
        if let Directions::Mixed(mix) = &mut self.directions {
            mix.next_pass(self.repeats);
        }
        true
    }
}

/// Fills in each request; there is one loop for a single direction, whose requests are alike already, and one for a mix.
#[inline(always)]
fn fill(ops: &mut [Op], length: u64, directions: &mut Directions, offsets: impl Iterator<Item = u64>) {
    match directions {
        Directions::Only(_) => {
            for (op, offset) in ops.iter_mut().zip(offsets) {
                op.offset = offset;
            }
        }
        Directions::Mixed(mix) => {
            let kinds = mix.kinds();
            let mut choices = mix.choose_many(ops.len());
            for (op, offset) in ops.iter_mut().zip(offsets) {
                op.aim(offset, length, kinds[(choices & 1) as usize]);
                choices >>= 1;
            }
        }
    }
}

/// Fills in each request. Between two draws, the state of the stream would be moved back to the registers of the first;
/// with two requests per turn of the loop it is not.
#[inline(always)]
fn fill_in_pairs(ops: &mut [Op], length: u64, directions: &mut Directions, mut offset: impl FnMut() -> u64) {
    if let Directions::Mixed(_) = directions {
        return fill(ops, length, directions, std::iter::repeat_with(offset));
    }
    let (pairs, last) = ops.as_chunks_mut();
    for [first, second] in pairs {
        first.offset = offset();
        second.offset = offset();
    }
    for op in last {
        op.offset = offset();
    }
}

/// Stops if the drawn direction has its position at the end; the draw is then kept in `chosen`.
fn fill_sequential_mix(
    ops: &mut [Op],
    size: u64,
    directions: &mut Directions,
    range: Range<u64>,
    next: &mut [u64; 2],
    chosen: &mut Option<usize>,
) -> usize {
    let Directions::Mixed(mix) = directions else { return 0 };
    let furthest = range.start + next[0].max(next[1]);
    if chosen.is_none() && furthest + ops.len() as u64 * size <= range.end {
        let kinds = mix.kinds();
        let mut choices = mix.choose_many(ops.len());
        for op in ops.iter_mut() {
            let direction = (choices & 1) as usize;
            choices >>= 1;
            op.aim(range.start + next[direction], size, kinds[direction]);
            next[direction] += size;
        }
        return ops.len();
    }
    for (count, op) in ops.iter_mut().enumerate() {
        let direction = chosen.take().unwrap_or_else(|| mix.choose());
        let offset = range.start + next[direction];
        if offset + size > range.end {
            *chosen = Some(direction);
            return count;
        }
        op.aim(offset, size, mix.kinds()[direction]);
        next[direction] += size;
        mix.issue(direction);
    }
    ops.len()
}
