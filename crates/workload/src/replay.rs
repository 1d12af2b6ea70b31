//! The writes of a workload once more, as reads: what a job wrote can be verified without remembering it.

use crate::generator::{Generator, Refill};
use crate::op::{BLOCK_OPS, Block, Op, OpKind};

/// Walks the same requests again and keeps the writes.
#[derive(Clone, Debug)]
pub(crate) struct Replay {
    writes: Generator,
    made: Block,
    /// Position in `made`.
    next: usize,
    /// Number of the next write.
    number: u64,
    /// Stop before the write of this number.
    end: u64,
    /// File and offset of writes that failed, in order: what is there now is not known.
    failed: Vec<(u32, u64)>,
}

impl Replay {
    pub(crate) fn new(writes: Generator, end: u64, mut failed: Vec<(u32, u64)>) -> Replay {
        failed.sort_unstable();
        Replay { writes, made: Block::new(), next: 0, number: 0, end, failed }
    }

    pub(crate) fn refill(&mut self, block: &mut Block) -> Refill {
        let numbers = block.numbers.get_or_insert_with(|| Box::new([0; BLOCK_OPS]));
        while block.len < BLOCK_OPS {
            let Some((write, number)) = self.next_write() else { break };
            if self.failed.binary_search(&(write.file, write.offset)).is_ok() {
                continue;
            }
            block.ops[block.len] = Op { kind: OpKind::Read, ..write };
            numbers[block.len] = number;
            block.len += 1;
        }
        if block.len > 0 { Refill::Ops } else { Refill::Done }
    }

    fn next_write(&mut self) -> Option<(Op, u64)> {
        while self.number < self.end {
            if self.next == self.made.len {
                self.next = 0;
                match self.writes.refill(&mut self.made) {
                    Refill::Ops => {}
                    Refill::Pass => continue,
                    Refill::Done => return None,
                }
            }
            let op = self.made.ops[self.next];
            self.next += 1;
            if op.kind == OpKind::Write {
                self.number += 1;
                return Some((op, self.number - 1));
            }
        }
        None
    }
}
