//! The common case of the queued loop: a transfer is complete, and the block's next request takes its slot.

use fsdyno_engine::{Completion, Engine, EngineError, Queued, Slot};
use fsdyno_os::clock::Clock;
use fsdyno_workload::OpKind;

use super::{Drive, Step, UNTIMED};

/// What became of a completed request: its slot if that is free, or the end of the I/O phase.
pub(super) type FreedSlot<E> = Step<Option<Slot<E>>>;

/// Why a completed request was not replaced in the common way.
enum Exception<E> {
    /// It is no whole transfer.
    Unusual(Completion<E>),
    /// It is recorded, and the job has features that see each transfer.
    Governed(Slot<E>),
    /// It is recorded, and its slot is free: the block is over, or the next request must wait or is no transfer.
    Free(Slot<E>),
    /// The engine completed the next request while queueing it.
    DoneAtOnce(Completion<E>),
    /// The engine has no room for the next request.
    Refused(Slot<E>),
    /// The next request is queued in the slot of this index, and the engine did not submit it alone.
    NotSubmitted(usize, Result<usize, EngineError>),
}

impl<E> Exception<E> {
    /// Whether the block's next request was taken from the block, and its depth and call are not counted yet.
    fn is_of_next(&self) -> bool {
        matches!(self, Exception::DoneAtOnce(_) | Exception::Refused(_) | Exception::NotSubmitted(..))
    }
}

impl<E: Engine> Drive<'_, E> {
    /// Replaces completed requests until one of them cannot be replaced. `None`: all are.
    #[inline(always)]
    pub(super) fn replace_all<const TIMED: bool, const GOVERNED: bool>(&mut self) -> Option<FreedSlot<E>> {
        // Single requests are submitted as soon as they are queued.
        debug_assert!(self.staged.is_empty());
        let exception = self.replace_usual::<TIMED, GOVERNED>()?;
        let done = match exception {
            Exception::Unusual(completion) => self.complete_unusual::<TIMED, GOVERNED>(completion),
            Exception::Governed(slot) => return Some(self.replace_governed::<TIMED>(slot)),
            Exception::Free(slot) => return Some(Ok(Some(slot))),
            Exception::DoneAtOnce(completion) => {
                self.count_issued(completion.slot.index());
                self.done_at_once::<TIMED, GOVERNED>(completion)
            }
            Exception::Refused(slot) => {
                self.count_issued(slot.index());
                let op = self.flights[slot.index()].op;
                self.make_room::<TIMED, GOVERNED>(slot, op, 0)
            }
            Exception::NotSubmitted(index, outcome) => {
                self.count_issued(index);
                match outcome {
                    Ok(taken) => self.submitted_unusual::<TIMED, GOVERNED>(index as u32, taken),
                    Err(error) => Err(self.submit_failed(index as u32, &error)),
                }
            }
        };
        Some(done.map(|()| None))
    }

    /// Records completed requests, and submits the block's next requests in their slots, up to the first exception.
    /// Each check and each load counts here: most requests of most jobs pass. What all requests share is held in
    /// variables of the function.
    #[inline(always)]
    fn replace_usual<const TIMED: bool, const GOVERNED: bool>(&mut self) -> Option<Exception<E>> {
        let mut completions = std::mem::take(&mut self.completions);
        let (first, mut cursor) = (self.cursor, self.cursor);
        let (end_ns, replaceable_to) = (self.reaped_ns, self.replaceable_to);
        let Drive { engine, parts, flights, block, .. } = self;
        let (flights, block) = (&mut flights[..], &*block);
        let ops = &block.ops[..replaceable_to];
        let exception = loop {
            let Some(Completion { slot, result }) = completions.pop() else { break None };
            let index = slot.index();
            let flight = &mut flights[index];
            if !flight.is_whole(result) {
                break Some(Exception::Unusual(Completion { slot, result }));
            }
            let lane = flight.op.kind as usize;
            parts.record::<TIMED>(engine.clock(), flight, lane, end_ns);
            if GOVERNED && !parts.only_records(flight, lane, end_ns) {
                break Some(Exception::Governed(slot));
            }
            let Some(next) = ops.get(cursor) else { break Some(Exception::Free(slot)) };
            // A job whose requests are only recorded has nothing but rates to hold them back.
            let intended_ns = if GOVERNED { parts.late_start_ns(block, cursor, end_ns) } else { Some(0) };
            let Some(intended_ns) = intended_ns else { break Some(Exception::Free(slot)) };
            // A copy, whose kind stays known. The slot's request is copied from the block, which takes fewer registers.
            let op = *next;
            let lane = op.kind as usize;
            if lane > OpKind::Trim as usize {
                break Some(Exception::Free(slot));
            }
            let writes = op.kind == OpKind::Write;
            flight.begin::<GOVERNED>(next, block, cursor, intended_ns);
            cursor += 1;
            if writes {
                parts.prepare(engine, &slot, &flight.op);
            }
            if TIMED {
                flight.start_ns = engine.clock().now_ns();
            }
            debug_assert!(TIMED || flight.start_ns == UNTIMED);
            debug_assert!(parts.files.place_of(flight.op.file).is_some(), "a request to a file that is closed");
            match engine.queue(slot, &op, 0) {
                Queued::Staged => {}
                Queued::Done(completion) => break Some(Exception::DoneAtOnce(completion)),
                Queued::Full(slot) => break Some(Exception::Refused(slot)),
            }
            match engine.submit() {
                Ok(1) => {}
                outcome => break Some(Exception::NotSubmitted(index, outcome)),
            }
            parts.recorder.replaced(lane);
            if TIMED {
                flight.issue_ns = engine.clock().now_ns();
            }
        };
        let taken = cursor - first;
        parts.recorder.replaced_many(taken - usize::from(exception.as_ref().is_some_and(Exception::is_of_next)));
        self.cursor = cursor;
        // The empty list has nothing to free.
        std::mem::forget(std::mem::replace(&mut self.completions, completions));
        exception
    }

    /// Counts a request that was queued in the slot of this index.
    #[cold]
    fn count_issued(&mut self, index: usize) {
        self.parts.recorder.issued(self.flights[index].op.kind as usize, self.slots.in_flight());
    }

    /// Replaces a completed request of a job with features that see each transfer.
    #[inline(always)]
    fn replace_governed<const TIMED: bool>(&mut self, slot: Slot<E>) -> FreedSlot<E> {
        let slot = self.govern(slot)?;
        if self.cursor == self.block.len || !self.parts.starts_freely() {
            return Ok(Some(slot));
        }
        match self.parts.late_start_ns(&self.block, self.cursor, self.reaped_ns) {
            Some(intended_ns) => self.issue_next::<TIMED, true>(slot, intended_ns).map(|()| None),
            None => Ok(Some(slot)),
        }
    }
}
