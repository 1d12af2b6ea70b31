//! The loop for engines whose calls return when the request is done.

use std::convert::Infallible;

use fsdyno_engine::{Completion, Engine, FINISHED, NOT_BEGUN, OPERATION, Queued, Slot, WAITING};
use fsdyno_job::Direction;
use fsdyno_os::clock::Clock;
use fsdyno_os::errno::EIO;
use fsdyno_workload::{BLOCK_OPS, Op, OpKind, UNNUMBERED};

use super::governor::Governed;
use super::{Drive, Ended, Failure, Step};
use crate::logs::NO_SUBMISSION;

/// Number of partial transfers after which a request counts as stuck.
const PARTS_MAX: u32 = 1_000_000;

/// How a request ended that one call did not complete.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum TransferEnd {
    /// Everything was transferred.
    Whole,
    /// It moves no data: an operation on a name was made for it, or for a request before it.
    Operation,
    /// It failed and the job survives, or it is issued again.
    Failed,
}

impl<E: Engine> Drive<'_, E> {
    pub(super) fn work_synchronously<const TIMED: bool, const GOVERNED: bool>(&mut self) -> Step<Infallible> {
        let mut slot = self.slots.take().expect("a synchronous worker has one slot");
        loop {
            // A phase that goes on has a block that is not done.
            if self.cursor == self.block.len {
                self.next_block::<TIMED, GOVERNED>()?;
            }
            if TIMED {
                slot = self.block_part::<true, GOVERNED>(slot, self.block.len)?;
            } else {
                let sample = self.sample_position().min(self.block.len - 1);
                slot = self.block_part::<false, GOVERNED>(slot, sample)?;
                slot = self.block_part::<true, GOVERNED>(slot, sample + 1)?;
                slot = self.block_part::<false, GOVERNED>(slot, self.block.len)?;
                let now_ns = self.now_ns();
                if now_ns >= self.parts.phase.next_ns {
                    self.poll_events(now_ns)?;
                }
            }
        }
    }

    /// Does the requests of the block up to `to` and counts their calls together.
    fn block_part<const TIMED: bool, const GOVERNED: bool>(&mut self, slot: Slot<E>, to: usize) -> Step<Slot<E>> {
        let outcome = self.each_of_part::<TIMED, GOVERNED>(slot, to);
        self.count_calls();
        outcome
    }

    /// Counts the calls of the block that are not counted yet.
    pub(super) fn count_calls(&mut self) {
        self.parts.recorder.single_calls((self.cursor - self.counted) as u64);
        self.counted = self.cursor;
    }

    #[inline(always)]
    fn each_of_part<const TIMED: bool, const GOVERNED: bool>(&mut self, mut slot: Slot<E>, to: usize) -> Step<Slot<E>> {
        while self.cursor < to {
            if TIMED && !GOVERNED {
                slot = self.chain(slot, to)?;
                if self.cursor == to {
                    break;
                }
            }
            let intended_ns = if GOVERNED { self.await_turn::<TIMED>(self.cursor)? } else { 0 };
            let op = self.block.ops[self.cursor];
            let numbers = if GOVERNED { self.block.numbers.as_ref() } else { None };
            let number = numbers.map_or(UNNUMBERED, |numbers| numbers[self.cursor]);
            self.cursor += 1;
            let Some(direction) = op.kind.direction() else {
                slot = self.sync_call(slot, &op)?;
                continue;
            };
            if op.kind == OpKind::Write {
                self.parts.prepare(&mut self.engine, &slot, &op);
            }
            debug_assert!(self.parts.files.place_of(op.file).is_some(), "a request to a file that is closed");
            let start_ns = if TIMED { self.now_ns() } else { 0 };
            let Queued::Done(mut completion) = self.engine.queue(slot, &op, 0) else {
                unreachable!("a synchronous engine is done when queue returns");
            };
            let mut settled = TransferEnd::Whole;
            if completion.result != op.length as i64 {
                (completion, settled) = self.finish_transfer(completion, &op, direction)?;
            }
            slot = completion.slot;
            if settled == TransferEnd::Failed {
                continue;
            }
            self.parts.recorder.transferred(direction as usize, op.length);
            if TIMED {
                let end_ns = self.now_ns();
                let mut clat_ns = end_ns.saturating_sub(start_ns);
                if settled == TransferEnd::Operation {
                    clat_ns = self.operated::<GOVERNED>(&op, end_ns);
                } else {
                    self.parts.recorder.timed_sync(direction, clat_ns);
                }
                if GOVERNED {
                    if settled == TransferEnd::Whole {
                        self.log(&op, (NO_SUBMISSION, clat_ns), end_ns);
                    }
                    let stamps = Governed { lat_ns: clat_ns, intended_ns, end_ns, number };
                    self.governed(&slot, &op, direction, stamps)?;
                }
                if end_ns >= self.parts.phase.next_ns {
                    self.poll_events(end_ns)?;
                }
            }
        }
        Ok(slot)
    }

    /// Does the requests one after the other, up to a sync, with one clock reading each. The reading that ends a
    /// request also starts the next one, because only taking it from the block lies between. The requests are
    /// recorded together afterwards, outside of every request's time. A write needs a reading of its own, because its
    /// buffer is filled before.
    #[inline(always)]
    fn chain(&mut self, mut slot: Slot<E>, to: usize) -> Step<Slot<E>> {
        let from = self.cursor;
        let mut now_ns = self.now_ns();
        for at in from..to.min(BLOCK_OPS) {
            let Drive { engine, parts, block, latencies_ns, .. } = &mut *self;
            let op = block.ops[at];
            let Some(direction) = op.kind.direction() else { break };
            if op.kind == OpKind::Write {
                // The request where it lies: the copy stays in registers.
                parts.prepare(engine, &slot, &block.ops[at]);
                now_ns = engine.clock().now_ns();
            }
            let start_ns = now_ns;
            let Queued::Done(completion) = engine.queue(slot, &op, 0) else {
                unreachable!("a synchronous engine is done when queue returns");
            };
            if completion.result != op.length as i64 {
                self.write_down(from);
                // A copy of its own: the one above stays in registers.
                let op = self.block.ops[at];
                return self.broken_link(completion, &op, direction, start_ns);
            }
            now_ns = engine.clock().now_ns();
            slot = completion.slot;
            latencies_ns[at] = now_ns.saturating_sub(start_ns);
            self.cursor = at + 1;
            if now_ns >= self.parts.phase.next_ns {
                break;
            }
        }
        self.write_down(from);
        if now_ns >= self.parts.phase.next_ns {
            self.poll_events(now_ns)?;
        }
        Ok(slot)
    }

    /// Records the chained requests from `from` up to the cursor.
    #[inline(always)]
    fn write_down(&mut self, from: usize) {
        let done = from..self.cursor;
        self.parts.recorder.timed_syncs(&self.block.ops[done.clone()], &self.latencies_ns[done]);
    }

    /// Handles a chained request that was short or failed.
    #[cold]
    fn broken_link(
        &mut self,
        completion: Completion<E>,
        op: &Op,
        direction: Direction,
        start_ns: u64,
    ) -> Step<Slot<E>> {
        self.cursor += 1;
        let (completion, settled) = self.finish_transfer(completion, op, direction)?;
        let now_ns = self.now_ns();
        if settled != TransferEnd::Failed {
            self.parts.recorder.transferred(direction as usize, op.length);
        }
        match settled {
            TransferEnd::Whole => self.parts.recorder.timed_sync(direction, now_ns.saturating_sub(start_ns)),
            TransferEnd::Operation => drop(self.operated::<false>(op, now_ns)),
            TransferEnd::Failed => {}
        }
        if now_ns >= self.parts.phase.next_ns {
            self.poll_events(now_ns)?;
        }
        Ok(completion.slot)
    }

    /// Records the operation on a name that the engine made for this request, with the engine's time. A request of
    /// the same pass may already have had it.
    #[cold]
    fn operated<const GOVERNED: bool>(&mut self, op: &Op, end_ns: u64) -> u64 {
        let Some((direction, clat_ns)) = self.engine.operation() else { return 0 };
        self.parts.recorder.timed_sync(direction, clat_ns);
        if GOVERNED {
            self.log(op, (NO_SUBMISSION, clat_ns), end_ns);
        }
        clat_ns
    }

    /// Continues a short transfer, or handles an error that the job may survive.
    #[cold]
    pub(super) fn finish_transfer(
        &mut self,
        first: Completion<E>,
        op: &Op,
        direction: Direction,
    ) -> Step<(Completion<E>, TransferEnd)> {
        let mut completion = first;
        let mut done: u64 = 0;
        for _ in 0..PARTS_MAX {
            match completion.result {
                FINISHED => {
                    match done {
                        // Nothing was transferred: the request does not count, unless a tick has counted it
                        // meanwhile.
                        0 => self.cursor = self.counted.max(self.cursor - 1),
                        part => self.parts.recorder.transferred(direction as usize, part),
                    }
                    return Err(Box::new(Ended::Finished));
                }
                OPERATION => return Ok((completion, TransferEnd::Operation)),
                WAITING => {
                    let now_ns = self.now_ns();
                    self.poll_events(now_ns)?;
                    completion = self.queue_again(completion.slot, op, done);
                    continue;
                }
                NOT_BEGUN => {
                    self.cursor -= 1;
                    self.begin_anew()?;
                    return Ok((completion, TransferEnd::Failed));
                }
                error if error < 0 => {
                    self.parts.failed(op, -error as i32, "io_u error")?;
                    return Ok((completion, TransferEnd::Failed));
                }
                0 => {
                    self.parts.failed(op, 5, "full resid")?;
                    return Ok((completion, TransferEnd::Failed));
                }
                bytes => done += bytes as u64,
            }
            if done >= op.length {
                return Ok((completion, TransferEnd::Whole));
            }
            self.parts.recorder.shortened(direction);
            completion = self.queue_again(completion.slot, op, done);
        }
        Err(Box::new(Ended::Failed(Failure { code: EIO, function: "full resid", op: Some(*op), detail: None })))
    }

    fn queue_again(&mut self, slot: Slot<E>, op: &Op, done: u64) -> Completion<E> {
        let Queued::Done(completion) = self.engine.queue(slot, op, done) else {
            unreachable!("a synchronous engine is done when queue returns");
        };
        completion
    }

    /// Begins the measured part again, as nothing was transferred yet. Then reads the orders.
    #[cold]
    fn begin_anew(&mut self) -> Step {
        let now_ns = self.now_ns();
        let Drive { parts, block, cursor, .. } = self;
        let published = parts.totals();
        parts.phase.begin_anew(now_ns, &mut parts.recorder);
        parts.begin_measuring(now_ns, published, block, *cursor);
        self.poll_events(now_ns)
    }

    /// fsync, fdatasync and sync_file_range, which are always timed, and actions on zones.
    #[cold]
    fn sync_call(&mut self, slot: Slot<E>, op: &Op) -> Step<Slot<E>> {
        // The following sync may never return; publishing now keeps the totals of the transfers before it.
        self.parts.publish();
        let start_ns = self.now_ns();
        if op.kind.acts_on_zone() {
            // It is no request of the job.
            self.counted += 1;
        } else {
            self.parts.recorder.sync_issued();
        }
        let Queued::Done(completion) = self.engine.queue(slot, op, 0) else {
            unreachable!("a synchronous engine is done when queue returns");
        };
        let end_ns = self.now_ns();
        if completion.result < 0 {
            self.parts.failed(op, -completion.result as i32, "sync")?;
        } else {
            self.parts.recorder.controlled(op.kind, end_ns.saturating_sub(start_ns));
        }
        if end_ns >= self.parts.phase.next_ns {
            self.poll_events(end_ns)?;
        }
        Ok(completion.slot)
    }
}

#[cfg(test)]
mod tests;
