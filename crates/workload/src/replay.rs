//! Repeats the writes of a workload as reads: a job's writes can be verified without remembering them.

use crate::generator::{Generator, Refill};
use crate::newest::{Newest, Overwriting};
use crate::op::{BLOCK_OPS, Block, Op, OpKind, TRIMMED};
use crate::random::Seeds;
use crate::trims::Marks;
use crate::workload::{Workload, WorkloadError};

/// Walks through the same requests again and keeps the writes, only the newest one of each place.
#[derive(Debug)]
pub(crate) struct Replay {
    writes: Walk,
    /// Finds the newest write of each place, with a second walk that counts the writes; `None`: no block repeats.
    newest: Option<(Newest, Walk)>,
    /// Whether each pass is read back by itself, as fio reads after each loop.
    pass_by_pass: bool,
    /// Whether the writes of the current pass have been counted.
    counted: bool,
    /// Finds the writes that were trimmed afterwards.
    trimmed: Option<Trimmed>,
    /// File and offset of writes that failed, sorted: the content of these places is not known.
    failed: Vec<(u32, u64)>,
}

/// Finds trimmed writes. Marked writes are trimmed in their order, so that the number of trims is enough to know.
#[derive(Debug)]
struct Trimmed {
    marks: Marks,
    /// Number of trims whose writes are still to be replayed.
    left: u64,
    read_as_zeroes: bool,
}

impl Trimmed {
    /// Whether the next write was trimmed.
    fn next(&mut self) -> bool {
        let trimmed = self.marks.next() && self.left > 0;
        self.left -= u64::from(trimmed);
        trimmed
    }
}

/// Gives the requests of a generator one after the other.
#[derive(Debug)]
struct Walk {
    generator: Generator,
    made: Block,
    /// Index in `made` of the next request.
    next: usize,
    /// Number of the next write.
    number: u64,
    /// Number of trims so far.
    trims: u64,
    /// Whether trims reset zones.
    trims_erase: bool,
    /// Number of the first write after the last sync.
    synced: u64,
    /// The walk ends before the write of this number.
    end: u64,
}

/// The next step of a walk.
enum Step {
    Write(Op, u64),
    /// What was written there is gone.
    Erased(Op),
    /// The files start over.
    Pass,
    Done,
}

impl Replay {
    /// Replays the writes of `workload` up to the number `end`. Writes to the files and offsets in `failed` are left
    /// out.
    pub(crate) fn new(workload: &Workload, end: u64, mut failed: Vec<(u32, u64)>) -> Result<Replay, WorkloadError> {
        failed.sort_unstable();
        let newest = match Newest::of(workload) {
            Overwriting::TooMuch if workload.pattern.zoned.is_some() => return Err(WorkloadError::TooManyZoneBlocks),
            Overwriting::Counted(newest) => Some((newest, Walk::new(workload, end)?)),
            Overwriting::Never | Overwriting::TooMuch => None,
        };
        let marks = Marks::new(workload, &Seeds::new(workload.seed, workload.thread_number));
        let trimmed = match marks.zip(workload.trims) {
            Some((marks, trims)) => {
                let left = Walk::new(workload, end)?.walked_to_the_end().trims;
                Some(Trimmed { marks, left, read_as_zeroes: trims.read_as_zeroes })
            }
            None => None,
        };
        let writes = Walk::new(workload, end)?;
        Ok(Replay { writes, newest, pass_by_pass: !workload.starts_over, counted: false, trimmed, failed })
    }

    pub(crate) fn refill(&mut self, block: &mut Block) -> Refill {
        let numbers = block.numbers.get_or_insert_with(|| Box::new([0; BLOCK_OPS]));
        while block.len < BLOCK_OPS {
            if !self.counted {
                self.count_pass();
            }
            let (write, number) = match self.writes.step() {
                Step::Write(write, number) => (write, number),
                Step::Erased(place) => {
                    if let Some((newest, _)) = &mut self.newest {
                        newest.is_newest(&place);
                    }
                    continue;
                }
                Step::Pass => {
                    self.counted = !self.pass_by_pass;
                    continue;
                }
                Step::Done => break,
            };
            let trimmed = self.trimmed.as_mut().is_some_and(Trimmed::next);
            if trimmed && self.trimmed.as_ref().is_some_and(|trimmed| !trimmed.read_as_zeroes) {
                continue;
            }
            let is_newest = self.newest.as_mut().is_none_or(|(newest, _)| newest.is_newest(&write));
            if !is_newest || self.failed.binary_search(&(write.file, write.offset)).is_ok() {
                continue;
            }
            block.ops[block.len] = Op { kind: OpKind::Read, ..write };
            numbers[block.len] = if trimmed { TRIMMED } else { number };
            block.len += 1;
        }
        if block.len > 0 { Refill::Ops } else { Refill::Done }
    }

    /// Counts the writes up to the next read-back.
    fn count_pass(&mut self) {
        self.counted = true;
        let Some((newest, ahead)) = &mut self.newest else { return };
        loop {
            match ahead.step() {
                Step::Write(place, _) | Step::Erased(place) => newest.count(&place),
                Step::Pass if !self.pass_by_pass => {}
                Step::Pass | Step::Done => break,
            }
        }
    }
}

/// Number of the first `writes` writes of the workload that came before its last fsync or fdatasync.
pub(crate) fn writes_before_sync(workload: &Workload, writes: u64) -> Result<u64, WorkloadError> {
    Ok(Walk::new(workload, writes)?.walked_to_the_end().synced)
}

impl Walk {
    /// Begins before the first request of the workload. It has no pace, and no reads among its writes.
    fn new(workload: &Workload, end: u64) -> Result<Walk, WorkloadError> {
        let generator = Generator::again(workload)?;
        let trims_erase = workload.pattern.zoned.is_some();
        Ok(Walk { generator, made: Block::new(), next: 0, number: 0, trims: 0, trims_erase, synced: 0, end })
    }

    fn walked_to_the_end(mut self) -> Walk {
        while !matches!(self.step(), Step::Done) {}
        self
    }

    fn step(&mut self) -> Step {
        loop {
            if self.next == self.made.len {
                self.next = 0;
                match self.generator.refill(&mut self.made) {
                    Refill::Ops => {}
                    Refill::Pass => return Step::Pass,
                    Refill::Done => return Step::Done,
                }
            }
            let op = self.made.ops[self.next];
            if op.kind == OpKind::Write && self.number == self.end {
                return Step::Done;
            }
            self.next += 1;
            if op.kind == OpKind::Write {
                self.number += 1;
                return Step::Write(op, self.number - 1);
            }
            if op.kind == OpKind::ZoneReset || self.trims_erase && op.kind == OpKind::Trim {
                return Step::Erased(op);
            }
            self.trims += u64::from(op.kind == OpKind::Trim);
            if matches!(op.kind, OpKind::Sync | OpKind::DataSync) {
                self.synced = self.number;
            }
        }
    }
}
