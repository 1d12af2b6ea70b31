//! The common case of the queued loop: a transfer is complete, and the block's next request takes its slot.

use fsdyno_engine::{Completion, Engine, Queued, Slot};
use fsdyno_os::clock::Clock;
use fsdyno_workload::OpKind;

use super::{Drive, Step, UNTIMED};

/// What became of a completed request: its slot if that is free, or the end of the I/O phase.
pub(super) type FreedSlot<E> = Step<Option<Slot<E>>>;

impl<E: Engine> Drive<'_, E> {
    /// Replaces completed requests until one of them cannot be replaced. `None`: all are.
    #[inline(always)]
    pub(super) fn replace_all<const TIMED: bool, const GOVERNED: bool>(&mut self) -> Option<FreedSlot<E>> {
        while let Some(completion) = self.completions.pop() {
            let freed = self.replace::<TIMED, GOVERNED>(completion);
            if freed.is_some() {
                return freed;
            }
        }
        None
    }

    /// Records a completed request, and submits the block's next request in its slot. `None`: that one is in flight.
    /// Each check and each load counts here: most requests of most jobs pass.
    #[inline(always)]
    fn replace<const TIMED: bool, const GOVERNED: bool>(&mut self, completion: Completion<E>) -> Option<FreedSlot<E>> {
        let Drive { engine, parts, flights, block, replaceable_to, staged, slots, .. } = self;
        let (cursor, end_ns) = (self.cursor, self.reaped_ns);
        let Completion { slot, result } = completion;
        let index = slot.index();
        let flight = &mut flights[index];
        if !flight.is_whole(result) {
            return Some(self.complete_unusual::<TIMED, GOVERNED>(Completion { slot, result }).map(|()| None));
        }
        let lane = flight.op.kind as usize;
        parts.record::<TIMED>(engine.clock(), flight, lane, end_ns);
        if GOVERNED && !parts.only_records(flight, lane, end_ns) {
            return self.replace_governed::<TIMED>(slot);
        }
        if cursor == *replaceable_to {
            return Some(Ok(Some(slot)));
        }
        // A job whose requests are only recorded has nothing but rates to hold them back.
        let intended_ns = if GOVERNED { parts.late_start_ns(block, cursor, end_ns) } else { Some(0) };
        let Some(intended_ns) = intended_ns else { return Some(Ok(Some(slot))) };
        let op = block.ops[cursor];
        let lane = op.kind as usize;
        if lane > OpKind::Trim as usize {
            return Some(self.issue_next::<TIMED, GOVERNED>(slot, intended_ns).map(|()| None));
        }
        let writes = op.kind == OpKind::Write;
        flight.begin::<GOVERNED>(block, cursor, intended_ns);
        self.cursor = cursor + 1;
        if writes {
            parts.prepare(engine, &slot, &flight.op);
        }
        flight.start_ns = if TIMED { engine.clock().now_ns() } else { UNTIMED };
        debug_assert!(parts.files.place_of(flight.op.file).is_some(), "a request to a file that is closed");
        // The copy, whose kind is known, not the request in memory.
        match engine.queue(slot, &op, 0) {
            Queued::Staged => {}
            Queued::Done(completion) => {
                parts.recorder.issued(lane, slots.in_flight());
                return Some(self.done_at_once::<TIMED, GOVERNED>(completion).map(|()| None));
            }
            Queued::Full(slot) => {
                parts.recorder.issued(lane, slots.in_flight());
                return Some(self.make_room::<TIMED, GOVERNED>(slot, op, 0).map(|()| None));
            }
        }
        let taken = match engine.submit() {
            Ok(taken) => taken,
            Err(error) => {
                parts.recorder.issued(lane, slots.in_flight());
                return Some(Err(self.submit_failed(index as u32, &error)));
            }
        };
        if taken != 1 || !staged.is_empty() {
            parts.recorder.issued(lane, slots.in_flight());
            return Some(self.submitted_unusual::<TIMED, GOVERNED>(index as u32, taken).map(|()| None));
        }
        parts.recorder.replaced(lane, slots.in_flight());
        if TIMED {
            flight.issue_ns = engine.clock().now_ns();
        }
        None
    }

    /// The same for a job with features that see each transfer.
    #[inline(always)]
    fn replace_governed<const TIMED: bool>(&mut self, slot: Slot<E>) -> Option<FreedSlot<E>> {
        let slot = match self.govern(slot) {
            Ok(slot) => slot,
            Err(ended) => return Some(Err(ended)),
        };
        if self.cursor == self.block.len || !self.parts.starts_freely() {
            return Some(Ok(Some(slot)));
        }
        match self.parts.late_start_ns(&self.block, self.cursor, self.reaped_ns) {
            Some(intended_ns) => Some(self.issue_next::<TIMED, true>(slot, intended_ns).map(|()| None)),
            None => Some(Ok(Some(slot))),
        }
    }
}
