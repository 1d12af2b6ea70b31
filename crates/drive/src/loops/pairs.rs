//! The end of a job that trims each block and then writes it: each trimmed block is written, whatever has ended the
//! job.

use fsdyno_engine::{Engine, Queued};
use fsdyno_job::Direction;
use fsdyno_workload::{Op, OpKind, Refill};

use super::synchronous::TransferEnd;
use super::{Drive, Ended, Failure, Step, UNTIMED};
use crate::logs::NO_SUBMISSION;

impl<E: Engine> Drive<'_, E> {
    /// Writes the blocks that are trimmed and not yet written: those whose write is the next request of their file.
    /// These writes do not wait for a rate or another job. Nothing is in flight.
    #[cold]
    pub(super) fn write_trimmed(&mut self, ended: &Ended) -> Step {
        let mut settled: Vec<u32> = Vec::new();
        // A trim that failed has not changed its block. A trim that was only too slow has a detail; it has changed
        // its block.
        if let Ended::Failed(Failure { op: Some(op), detail: None, .. }) = ended
            && op.kind == OpKind::Trim
        {
            settled.push(op.file);
        }
        self.parts.generator.end();
        let mut outcome = Ok(());
        loop {
            while self.cursor < self.block.len {
                let op = self.block.ops[self.cursor];
                let transfers = matches!(op.kind, OpKind::Trim | OpKind::Write);
                if !transfers || settled.contains(&op.file) {
                    self.cursor += 1;
                    continue;
                }
                settled.push(op.file);
                if op.kind == OpKind::Write {
                    outcome = outcome.and(self.write_next(&op));
                } else {
                    self.cursor += 1;
                }
            }
            (self.cursor, self.counted) = (0, 0);
            if self.parts.generator.refill(&mut self.block) == Refill::Done {
                return outcome;
            }
        }
    }

    /// Issues the block's next request, which is the write `op`, and waits for it.
    fn write_next(&mut self, op: &Op) -> Step {
        let governed = self.parts.governor.is_some();
        self.see_to_file::<true>(self.cursor)?;
        if E::SYNCHRONOUS {
            self.cursor += 1;
            return self.write_synchronously(op);
        }
        let Some(slot) = self.slots.take() else { return Ok(()) };
        if governed {
            self.issue_next::<true, true>(slot, UNTIMED)?;
            self.drain::<true, true>()
        } else {
            self.issue_next::<true, false>(slot, UNTIMED)?;
            self.drain::<true, false>()
        }
    }

    fn write_synchronously(&mut self, op: &Op) -> Step {
        // The only slot was lost with the request that ended the job.
        self.slots.reclaim();
        let slot = self.slots.take().expect("a synchronous worker has one slot");
        self.parts.prepare(&mut self.engine, &slot, op);
        let start_ns = self.now_ns();
        let Queued::Done(completion) = self.engine.queue(slot, op, 0) else {
            unreachable!("a synchronous engine is done when queue returns");
        };
        self.parts.recorder.single_calls(1);
        let (_, settled) = self.finish_transfer(completion, op, Direction::Write)?;
        if settled == TransferEnd::Whole {
            let end_ns = self.now_ns();
            let clat_ns = end_ns.saturating_sub(start_ns);
            self.parts.recorder.transferred(Direction::Write as usize, op.length);
            self.parts.recorder.timed_sync(Direction::Write, clat_ns);
            self.log(op, (NO_SUBMISSION, clat_ns), end_ns);
        }
        Ok(())
    }
}
