//! The loop for engines that keep several requests in flight.

use std::convert::Infallible;
use std::time::Duration;

use fsdyno_engine::{Completion, Engine, EngineError, Queued, Slot};
use fsdyno_job::Direction;
use fsdyno_os::clock::Clock;
use fsdyno_os::errno::{EAGAIN, ECANCELED};
use fsdyno_os::files::FileKind;
use fsdyno_workload::{BLOCK_OPS, Block, Op, OpKind};

use super::governor::Governed;
use super::replacement::FreedSlot;
use super::{AbandonedRequests, Drive, Ended, Failure, Flight, LoopParts, PATIENCE, Step, UNTIMED};
use crate::recorder::Stamps;

impl Flight {
    /// Whether this is the result of a transfer that is complete, without a short transfer before it.
    #[inline(always)]
    pub(super) fn is_whole(&self, result: i64) -> bool {
        self.op.kind as usize <= OpKind::Trim as usize && result == self.op.length as i64
    }

    /// Becomes this request, which is at `cursor` of the block. The request is copied whole and then used where it
    /// lies, because the loop only needs its kind.
    #[inline(always)]
    pub(super) fn begin<const GOVERNED: bool>(&mut self, op: &Op, block: &Block, cursor: usize, intended_ns: u64) {
        debug_assert_eq!(self.done, 0, "the slot's last request has ended");
        self.op = *op;
        if GOVERNED {
            self.intended_ns = intended_ns;
            // A block that has numbers once has them always: without them the request stays unnumbered.
            if let Some(numbers) = &block.numbers {
                self.number = numbers[cursor];
            }
        }
    }
}

impl LoopParts<'_> {
    /// Records a transfer that is complete.
    #[inline(always)]
    pub(super) fn record<const TIMED: bool>(
        &mut self,
        clock: &impl Clock,
        flight: &mut Flight,
        lane: usize,
        end_ns: u64,
    ) {
        self.recorder.transferred(lane, flight.op.length);
        if TIMED || flight.start_ns != UNTIMED {
            let end_ns = if TIMED || end_ns != UNTIMED { end_ns } else { clock.now_ns() };
            let stamps = Stamps { start_ns: flight.start_ns, issue_ns: flight.issue_ns, end_ns };
            self.recorder.timed(lane, flight.op.priority, stamps);
            if !TIMED {
                // The next request in this slot is not timed, unless it is a sample.
                flight.start_ns = UNTIMED;
            }
        }
    }
}

impl<E: Engine> Drive<'_, E> {
    // A separate function: the plain loop and the governed loop do not share registers.
    #[inline(never)]
    pub(super) fn work_queued<const TIMED: bool, const GOVERNED: bool>(&mut self) -> Step<Infallible> {
        let queueing = self.parts.queueing;
        // Batches are formed from all completions that were reaped. A single request is replaced as soon as its
        // completion is known, so that the iodepth stays as asked for.
        let replace_each = queueing.batch == 1 && queueing.depth_low >= queueing.depth;
        if self.cursor == self.block.len {
            self.next_block::<TIMED, GOVERNED>()?;
        }
        loop {
            while self.slots.in_flight() < if GOVERNED { self.depth } else { queueing.depth } {
                if self.cursor == self.block.len {
                    self.next_block::<TIMED, GOVERNED>()?;
                    if !TIMED {
                        self.sample = self.sample_position();
                        let now_ns = self.now_ns();
                        if now_ns >= self.parts.phase.next_ns {
                            self.poll_events(now_ns)?;
                        }
                    }
                }
                let intended_ns = if GOVERNED { self.await_turn::<TIMED>(self.cursor)? } else { 0 };
                let slot = self.slots.take().expect("in flight is below the depth, so a slot is free");
                if GOVERNED {
                    let op = self.block.ops[self.cursor];
                    self.governor().begins(slot.index(), &op);
                }
                self.issue_next::<TIMED, GOVERNED>(slot, intended_ns)?;
            }
            if !self.joined {
                self.submit::<TIMED, GOVERNED>()?;
            }
            if replace_each {
                self.parts.recorder.replace_at(self.slots.in_flight());
                let samples = !TIMED && self.cursor <= self.sample;
                self.replaceable_to = if samples { self.sample.min(self.block.len) } else { self.block.len };
            }
            loop {
                let settled = if replace_each {
                    self.replace_all::<TIMED, GOVERNED>()
                } else {
                    self.completions.pop().map(|completion| self.record_completion::<TIMED, GOVERNED>(completion))
                };
                let Some(slot) = settled else {
                    // A search may allow fewer in flight than are to be reaped at once.
                    let reap_min = if GOVERNED { queueing.reap_min.min(self.depth) } else { queueing.reap_min };
                    if self.joined && !self.staged.is_empty() {
                        self.submit_and_reap::<TIMED, GOVERNED>(reap_min)?;
                    } else {
                        self.reap_more::<TIMED, GOVERNED>(reap_min, PATIENCE)?;
                    }
                    if self.is_due::<TIMED, GOVERNED>() {
                        self.tick_after_reaping::<TIMED, GOVERNED>()?;
                        break;
                    }
                    continue;
                };
                let Some(slot) = slot? else {
                    // After a sync or a survived error the slot is free. The rest of a short transfer is staged; it
                    // must be submitted, or it would wait for ever.
                    if self.slots.in_flight() < queueing.depth || !self.staged.is_empty() {
                        break;
                    }
                    continue;
                };
                self.slots.put_back(slot);
                if replace_each
                    || self.slots.in_flight() <= queueing.depth_low.min(queueing.depth - 1)
                        && self.completions.is_empty()
                {
                    break;
                }
            }
        }
    }

    /// Whether the tick is due. Untimed workers read the clock once per block; here they read it only when nothing
    /// was reaped.
    #[inline(always)]
    fn is_due<const TIMED: bool, const GOVERNED: bool>(&self) -> bool {
        (TIMED || GOVERNED || self.reaped_ns != UNTIMED) && self.reaped_ns >= self.parts.phase.next_ns
    }

    /// Runs the tick after reaping. Requests that completed during the ramp are recorded before the counters are
    /// cleared.
    #[cold]
    fn tick_after_reaping<const TIMED: bool, const GOVERNED: bool>(&mut self) -> Step {
        let reaped_ns = self.reaped_ns;
        if self.parts.phase.in_ramp() {
            self.complete_all::<TIMED, GOVERNED>()?;
        }
        self.poll_events(reaped_ns)
    }

    /// Queues the block's next request, and submits when a batch is full.
    #[inline(always)]
    pub(super) fn issue_next<const TIMED: bool, const GOVERNED: bool>(
        &mut self,
        slot: Slot<E>,
        intended_ns: u64,
    ) -> Step {
        let timed = TIMED || self.cursor == self.sample;
        let Some(index) = self.queue_next::<TIMED, GOVERNED>(slot, intended_ns, timed)? else { return Ok(()) };
        let batch = self.parts.queueing.batch;
        if batch == 1 {
            return self.submit_single::<TIMED, GOVERNED>(index, timed);
        }
        self.staged.push(index);
        // The last batch before a wait is submitted by the call that waits.
        let waits_next = self.joined && self.slots.in_flight() >= self.depth;
        if self.staged.len() >= batch && !waits_next { self.submit::<TIMED, GOVERNED>() } else { Ok(()) }
    }

    /// Queues the block's next request. Returns the number of its slot if the request must still be submitted.
    #[inline(always)]
    fn queue_next<const TIMED: bool, const GOVERNED: bool>(
        &mut self,
        slot: Slot<E>,
        intended_ns: u64,
        timed: bool,
    ) -> Step<Option<u32>> {
        let cursor = self.cursor;
        self.cursor = cursor + 1;
        let in_flight = self.slots.in_flight();
        let index = slot.index();
        let Drive { engine, parts, flights, block, .. } = self;
        let flight = &mut flights[index];
        flight.begin::<GOVERNED>(&block.ops[cursor % BLOCK_OPS], block, cursor, intended_ns);
        if flight.op.kind == OpKind::Write {
            parts.prepare(engine, &slot, &flight.op);
        }
        let direction = flight.op.kind.direction();
        flight.start_ns = if timed || direction.is_none() { engine.clock().now_ns() } else { UNTIMED };
        match direction {
            Some(direction) => parts.recorder.issued(direction as usize, in_flight),
            None if flight.op.kind.acts_on_zone() => {}
            None => {
                parts.recorder.sync_issued();
                parts.recorder.sync_committed(in_flight);
            }
        }
        debug_assert!(parts.files.place_of(flight.op.file).is_some(), "a request to a file that is closed");
        match engine.queue(slot, &flight.op, 0) {
            Queued::Staged => Ok(Some(index as u32)),
            Queued::Done(completion) => self.done_at_once::<TIMED, GOVERNED>(completion).map(|()| None),
            Queued::Full(slot) => {
                let op = flight.op;
                self.make_room::<TIMED, GOVERNED>(slot, op, 0).map(|()| None)
            }
        }
    }

    /// Submits the only staged request: the common case, without the list.
    #[inline(always)]
    fn submit_single<const TIMED: bool, const GOVERNED: bool>(&mut self, index: u32, timed: bool) -> Step {
        let taken = match self.engine.submit() {
            Ok(taken) => taken,
            Err(error) => return Err(self.submit_failed(index, &error)),
        };
        if taken != 1 || !self.staged.is_empty() {
            return self.submitted_unusual::<TIMED, GOVERNED>(index, taken);
        }
        self.parts.recorder.submitted(1);
        if timed {
            self.flights[index as usize].issue_ns = self.now_ns();
        }
        Ok(())
    }

    /// The request stays staged, and the run ends.
    #[cold]
    pub(super) fn submit_failed(&mut self, index: u32, error: &EngineError) -> Box<Ended> {
        self.staged.push(index);
        Box::new(Failure::of_engine(error))
    }

    /// The general case: the kernel took nothing, or other requests were staged before.
    #[cold]
    pub(super) fn submitted_unusual<const TIMED: bool, const GOVERNED: bool>(
        &mut self,
        index: u32,
        taken: usize,
    ) -> Step {
        self.staged.push(index);
        self.note_submitted::<TIMED>(taken);
        self.submit::<TIMED, GOVERNED>()
    }

    /// Handles a request that the engine completed while queueing it (a sync or a discard that the kernel does not
    /// queue). It counts as issued at its start.
    #[cold]
    pub(super) fn done_at_once<const TIMED: bool, const GOVERNED: bool>(&mut self, completion: Completion<E>) -> Step {
        let flight = &mut self.flights[completion.slot.index()];
        flight.issue_ns = flight.start_ns;
        if let Some(direction) = flight.op.kind.direction() {
            self.parts.recorder.done_at_once(direction);
        }
        self.reaped_ns = self.now_ns();
        self.complete::<TIMED, GOVERNED>(completion)
    }

    /// The engine's own queue is full: submit and reap until it takes the request.
    #[cold]
    pub(super) fn make_room<const TIMED: bool, const GOVERNED: bool>(
        &mut self,
        refused: Slot<E>,
        op: Op,
        done: u64,
    ) -> Step {
        let mut slot = refused;
        loop {
            let result = self.submit::<TIMED, GOVERNED>().and_then(|()| self.reap::<TIMED, GOVERNED>(1, PATIENCE));
            if let Err(ended) = result {
                // The request was never queued: its slot is free, and draining must not wait for the request.
                if GOVERNED {
                    self.governor().ends(slot.index());
                }
                self.flights[slot.index()].done = 0;
                self.slots.put_back(slot);
                if done == 0 {
                    self.cursor -= 1;
                    self.parts.recorder.withdrawn(op.kind.direction());
                }
                return Err(ended);
            }
            let index = slot.index();
            match self.engine.queue(slot, &op, done) {
                Queued::Staged => {
                    self.staged.push(index as u32);
                    return Ok(());
                }
                Queued::Done(completion) => return self.done_at_once::<TIMED, GOVERNED>(completion),
                Queued::Full(again) => slot = again,
            }
        }
    }

    /// Submits the staged requests and stamps their issue after the call, as fio does.
    #[inline]
    pub(super) fn submit<const TIMED: bool, const GOVERNED: bool>(&mut self) -> Step {
        let mut refusals = 0;
        while !self.staged.is_empty() {
            let taken = self.engine.submit().map_err(|error| Failure::of_engine(&error))?;
            self.note_submitted::<TIMED>(taken);
            refusals = if taken == 0 { refusals + 1 } else { 0 };
            if refusals > self.waits_max() {
                let detail = Some("the kernel accepts no more requests, although none is in flight".to_string());
                return Err(Box::new(Ended::Failed(Failure { code: EAGAIN, function: "submit", op: None, detail })));
            }
            if !self.staged.is_empty() {
                self.reap::<TIMED, GOVERNED>(1, PATIENCE)?;
            }
        }
        Ok(())
    }

    /// Submits the staged requests and waits for completions in one call. Requests count as issued when the call
    /// begins, because the time to submit them cannot be separated from the wait.
    fn submit_and_reap<const TIMED: bool, const GOVERNED: bool>(&mut self, min: usize) -> Step {
        let max = self.parts.queueing.reap_max;
        let begin_ns = self.now_ns();
        let outcome = self.engine.submit_and_reap(min.min(max), max, Some(PATIENCE), &mut self.completions);
        let (taken, reaped) = outcome.map_err(|error| Failure::of_engine(&error))?;
        self.issued_at(taken, begin_ns);
        self.reaped_ns = self.now_ns();
        self.parts.recorder.reaped(reaped);
        // If requests are left, the kernel did not take all of them and has not waited.
        if self.staged.is_empty() { Ok(()) } else { self.submit::<TIMED, GOVERNED>() }
    }

    /// Stamps the first `taken` staged requests and removes them from the list.
    fn note_submitted<const TIMED: bool>(&mut self, taken: usize) {
        let issued = &self.staged[..taken];
        let stamp = TIMED || issued.iter().any(|index| self.flights[*index as usize].start_ns != UNTIMED);
        let issue_ns = if stamp { self.now_ns() } else { 0 };
        self.issued_at(taken, issue_ns);
    }

    fn issued_at(&mut self, taken: usize, issue_ns: u64) {
        self.parts.recorder.submitted(taken);
        for index in self.staged.drain(..taken) {
            let flight = &mut self.flights[index as usize];
            // The rest of a short transfer keeps the issue time of its request.
            if flight.done == 0 {
                flight.issue_ns = issue_ns;
            }
        }
    }

    /// Reaps at least `min` completions, records them, and runs the tick if it is due.
    pub(super) fn reap<const TIMED: bool, const GOVERNED: bool>(&mut self, min: usize, patience: Duration) -> Step {
        self.complete_all::<TIMED, GOVERNED>()?;
        self.reap_more::<TIMED, GOVERNED>(min, patience)?;
        self.complete_all::<TIMED, GOVERNED>()?;
        if self.is_due::<TIMED, GOVERNED>() { self.poll_events(self.reaped_ns) } else { Ok(()) }
    }

    fn complete_all<const TIMED: bool, const GOVERNED: bool>(&mut self) -> Step {
        while let Some(completion) = self.completions.pop() {
            self.complete::<TIMED, GOVERNED>(completion)?;
        }
        Ok(())
    }

    /// Reaps completions; one time stamp is for all of them.
    #[inline]
    fn reap_more<const TIMED: bool, const GOVERNED: bool>(&mut self, min: usize, patience: Duration) -> Step {
        let max = self.parts.queueing.reap_max;
        let reaped = self.engine.reap(min.min(max), max, Some(patience), &mut self.completions);
        let stamped = TIMED || GOVERNED || self.completions.is_empty();
        self.reaped_ns = if stamped { self.now_ns() } else { UNTIMED };
        let count = reaped.map_err(|error| Failure::of_engine(&error))?;
        self.parts.recorder.reaped(count);
        Ok(())
    }

    fn complete<const TIMED: bool, const GOVERNED: bool>(&mut self, completion: Completion<E>) -> Step {
        if let Some(slot) = self.record_completion::<TIMED, GOVERNED>(completion)? {
            self.slots.put_back(slot);
        }
        Ok(())
    }

    /// Records a completed request. Returns its slot, unless it was handled as an unusual one. Inlined into the loop of
    /// batches; other callers use `complete`.
    #[inline(always)]
    fn record_completion<const TIMED: bool, const GOVERNED: bool>(
        &mut self,
        completion: Completion<E>,
    ) -> FreedSlot<E> {
        let end_ns = self.reaped_ns;
        let Drive { engine, parts, flights, .. } = self;
        let flight = &mut flights[completion.slot.index()];
        if !flight.is_whole(completion.result) {
            return self.complete_unusual::<TIMED, GOVERNED>(completion).map(|()| None);
        }
        let lane = flight.op.kind as usize;
        parts.record::<TIMED>(engine.clock(), flight, lane, end_ns);
        if GOVERNED && !parts.only_records(flight, lane, end_ns) {
            return self.govern(completion.slot).map(Some);
        }
        Ok(Some(completion.slot))
    }

    /// Shows a recorded transfer to the job's features.
    #[inline(always)]
    pub(super) fn govern(&mut self, slot: Slot<E>) -> Step<Slot<E>> {
        let (index, end_ns) = (slot.index(), self.reaped_ns);
        self.governor().ends(index);
        let flight = self.flights[index];
        self.parts.log_flight(&flight, end_ns);
        let Some(direction) = flight.op.kind.direction() else { return Ok(slot) };
        let lat_ns = end_ns.saturating_sub(flight.start_ns);
        let stamps = Governed { lat_ns, intended_ns: flight.intended_ns, end_ns, number: flight.number };
        if let Err(ended) = self.governed(&slot, &flight.op, direction, stamps) {
            self.slots.put_back(slot);
            return Err(ended);
        }
        Ok(slot)
    }

    /// Handles syncs, errors and short transfers.
    #[cold]
    pub(super) fn complete_unusual<const TIMED: bool, const GOVERNED: bool>(
        &mut self,
        completion: Completion<E>,
    ) -> Step {
        let end_ns = self.reaped_ns;
        let index = completion.slot.index();
        let flight = self.flights[index];
        self.flights[index].done = 0;
        if GOVERNED {
            self.governor().ends(index);
        }
        if completion.result < 0 {
            self.slots.put_back(completion.slot);
            if completion.result == -i64::from(ECANCELED) && self.parts.control.stopped() {
                // `drain` has cancelled it: it was issued, but never carried out.
                return Ok(());
            }
            return self.parts.failed(&flight.op, -completion.result as i32, "io_u error");
        }
        let Some(direction) = flight.op.kind.direction() else {
            self.slots.put_back(completion.slot);
            let end_ns = if end_ns != UNTIMED { end_ns } else { self.now_ns() };
            self.parts.recorder.controlled(flight.op.kind, end_ns.saturating_sub(flight.start_ns));
            return Ok(());
        };
        let done = flight.done + completion.result as u64;
        if done == flight.op.length || completion.result == 0 && direction == Direction::Trim {
            return self.complete::<TIMED, GOVERNED>(Completion { result: flight.op.length as i64, ..completion });
        }
        if completion.result == 0 {
            self.slots.put_back(completion.slot);
            let file = self.parts.files.get(flight.op.file);
            if file.is_some_and(|file| file.kind() == FileKind::CharacterDevice) {
                // A read of /dev/null returns no bytes, which is no error.
                self.parts.recorder.transferred(direction as usize, 0);
                if TIMED {
                    let stamps = Stamps { start_ns: flight.start_ns, issue_ns: flight.issue_ns, end_ns };
                    self.parts.recorder.timed(direction as usize, flight.op.priority, stamps);
                }
                return Ok(());
            }
            return self.parts.failed(&flight.op, 5, "full resid");
        }
        self.parts.recorder.shortened(direction);
        self.flights[index].done = done;
        if GOVERNED {
            self.governor().begins(index, &flight.op);
        }
        match self.engine.queue(completion.slot, &flight.op, done) {
            Queued::Staged => {
                self.staged.push(index as u32);
                Ok(())
            }
            Queued::Done(next) => self.complete::<TIMED, GOVERNED>(next),
            Queued::Full(slot) => self.make_room::<TIMED, GOVERNED>(slot, flight.op, done),
        }
    }

    /// Number of waits of [`PATIENCE`] in a row without a completion before requests are given up.
    fn waits_max(&self) -> u128 {
        self.parts.control.bounds().drain().as_nanos().div_ceil(PATIENCE.as_nanos())
    }

    /// The requests that are still in flight, to be given up.
    #[cold]
    fn given_up(&self, silent: Option<Duration>) -> Option<AbandonedRequests> {
        // Requests that were never submitted belong to the worker alone; they are not lost.
        let unanswered = self.slots.in_flight_indices().filter(|index| !self.staged.contains(&(*index as u32)));
        AbandonedRequests::of(unanswered.map(|index| self.flights[index]).collect(), silent)
    }

    /// Reaps everything in flight, because the kernel owns the requests until they complete. The wait is bounded:
    /// requests that never complete are an error, not a hang.
    pub(super) fn drain<const TIMED: bool, const GOVERNED: bool>(&mut self) -> Step {
        if E::SYNCHRONOUS {
            return Ok(());
        }
        // The first failure is reported; the other requests must complete nevertheless.
        let mut outcome = Ok(());
        let mut takes_more = true;
        let mut waits = 0;
        loop {
            let before = self.slots.in_flight();
            while let Some(completion) = self.completions.pop() {
                outcome = outcome.and(self.complete::<TIMED, GOVERNED>(completion));
            }
            // Requests that the kernel does not take will not complete.
            let untaken = if takes_more { 0 } else { self.staged.len() };
            if self.slots.in_flight() <= untaken {
                return outcome;
            }
            if takes_more {
                match self.submit::<TIMED, GOVERNED>() {
                    // A stop order or the end of the runtime does not end the draining.
                    Ok(()) => {}
                    Err(ended) if matches!(*ended, Ended::Stopped | Ended::TimeUp) => {}
                    failed => {
                        takes_more = false;
                        outcome = outcome.and(failed);
                    }
                }
            }
            if let Err(failed) = self.reap_more::<TIMED, GOVERNED>(1, PATIENCE) {
                self.lost = self.given_up(None);
                return outcome.and(Err(failed));
            }
            waits = if self.slots.in_flight() < before || !self.completions.is_empty() { 0 } else { waits + 1 };
            // A write that follows its trim is not cancelled: its block would stay without data.
            if waits == 1 && self.parts.control.stopped() && !self.parts.generator.trims_then_writes() {
                // An engine that cannot cancel lets its requests complete.
                let _ = self.engine.cancel();
            }
            if waits > self.waits_max() {
                self.lost = self.given_up(Some(self.parts.control.bounds().drain()));
                return outcome;
            }
        }
    }
}
