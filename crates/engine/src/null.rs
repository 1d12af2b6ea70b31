//! The `null` engine: no I/O at all, so that only the cost of the generator and the loop remains.

use std::time::Duration;

use fsdyno_workload::{Op, OpKind};

use crate::buffers::{Arena, ArenaError};
use crate::completions::{append_all, spare_capacity};
use crate::contract::{Completion, Engine, EngineError, Queued};
use crate::setup::EngineSetup;
use crate::slot::Slot;
use fsdyno_os::clock::RealClock;
use fsdyno_os::files::OpenFile;

/// The result of a request without fault or end of file: its remaining bytes.
#[inline(always)]
pub(crate) fn full_result(op: &Op, done: u64) -> i64 {
    match op.kind {
        OpKind::Read | OpKind::Write | OpKind::Trim => op.length as i64 - done as i64,
        OpKind::Sync | OpKind::DataSync | OpKind::SyncRange | OpKind::ZoneReset | OpKind::ZoneFinish => 0,
    }
}

/// Depth 1: each request is done when it is queued.
#[derive(Debug)]
pub(crate) struct NullSync<'a> {
    files: &'a [OpenFile],
    arena: Arena,
    clock: RealClock,
}

impl<'a> NullSync<'a> {
    pub(crate) fn new(setup: &EngineSetup<'a>) -> Result<NullSync<'a>, ArenaError> {
        Ok(NullSync { files: setup.files, arena: setup.arena()?, clock: setup.clock })
    }
}

impl Engine for NullSync<'_> {
    const SYNCHRONOUS: bool = true;

    crate::contract::belongings!(RealClock);

    #[inline(always)]
    fn queue(&mut self, slot: Slot<Self>, op: &Op, done: u64) -> Queued<Self> {
        Queued::Done(Completion { slot, result: full_result(op, done) })
    }
}

/// Any depth: requests are staged; all are done when they are submitted, and complete in their order.
#[derive(Debug)]
pub(crate) struct NullQueued<'a> {
    files: &'a [OpenFile],
    arena: Arena,
    clock: RealClock,
    /// A ring of requests. Positions count up and are masked.
    ring: Box<[Staged]>,
    reaped: u32,
    submitted: u32,
    staged: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Staged {
    slot: u32,
    result: i64,
}

impl<'a> NullQueued<'a> {
    pub(crate) fn new(setup: &EngineSetup<'a>) -> Result<NullQueued<'a>, ArenaError> {
        let ring = vec![Staged::default(); (setup.depth as usize).next_power_of_two()].into_boxed_slice();
        Ok(NullQueued {
            files: setup.files,
            arena: setup.arena()?,
            clock: setup.clock,
            ring,
            reaped: 0,
            submitted: 0,
            staged: 0,
        })
    }

    #[inline(always)]
    fn place(&self, position: u32) -> usize {
        position as usize & (self.ring.len() - 1)
    }
}

impl Engine for NullQueued<'_> {
    const SYNCHRONOUS: bool = false;

    crate::contract::belongings!(RealClock);

    #[inline(always)]
    fn queue(&mut self, slot: Slot<Self>, op: &Op, done: u64) -> Queued<Self> {
        // The ring has a place for each slot, so that it cannot be full.
        debug_assert!(self.staged.wrapping_sub(self.reaped) < self.ring.len() as u32);
        let place = self.place(self.staged);
        self.ring[place] = Staged { slot: slot.into_number(), result: full_result(op, done) };
        self.staged = self.staged.wrapping_add(1);
        Queued::Staged
    }

    #[inline(always)]
    fn submit(&mut self) -> Result<usize, EngineError> {
        let count = self.staged.wrapping_sub(self.submitted);
        self.submitted = self.staged;
        Ok(count as usize)
    }

    #[inline(always)]
    fn reap(
        &mut self,
        _min: usize,
        max: usize,
        _timeout: Option<Duration>,
        completions: &mut Vec<Completion<Self>>,
    ) -> Result<usize, EngineError> {
        let ready = self.submitted.wrapping_sub(self.reaped) as usize;
        let count = ready.min(max).min(spare_capacity(completions));
        // The requests lie one after the other up to the end of the ring, then from its beginning.
        let first = self.place(self.reaped);
        let straight = count.min(self.ring.len() - first);
        for run in [&self.ring[first..first + straight], &self.ring[..count - straight]] {
            let done = |staged: &Staged| Completion { slot: Slot::returned(staged.slot), result: staged.result };
            append_all(completions, run.iter().map(done));
        }
        self.reaped = self.reaped.wrapping_add(count as u32);
        Ok(count)
    }

    fn cancel(&mut self) -> Result<(), EngineError> {
        Ok(())
    }
}
