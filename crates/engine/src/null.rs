//! The `null` engine: no I/O at all, so that only the cost of the generator and the loop remains.

use std::time::Duration;

use fsdyno_workload::{Op, OpKind};

use crate::buffers::{Arena, ArenaError};
use crate::completions::spare_capacity;
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

/// Any depth: requests are staged; all are done when they are submitted.
#[derive(Debug)]
pub(crate) struct NullQueued<'a> {
    files: &'a [OpenFile],
    arena: Arena,
    clock: RealClock,
    /// The results of the staged requests, in their order. There is room for each slot, so that it never grows.
    staged: Vec<Completion<Self>>,
    /// Number of these that are submitted: the first ones.
    submitted: usize,
}

impl<'a> NullQueued<'a> {
    pub(crate) fn new(setup: &EngineSetup<'a>) -> Result<NullQueued<'a>, ArenaError> {
        Ok(NullQueued {
            files: setup.files,
            arena: setup.arena()?,
            clock: setup.clock,
            staged: Vec::with_capacity(setup.depth as usize),
            submitted: 0,
        })
    }
}

impl Engine for NullQueued<'_> {
    const SYNCHRONOUS: bool = false;

    crate::contract::belongings!(RealClock);

    #[inline(always)]
    fn queue(&mut self, slot: Slot<Self>, op: &Op, done: u64) -> Queued<Self> {
        debug_assert!(spare_capacity(&self.staged) > 0);
        self.staged.push(Completion { slot, result: full_result(op, done) });
        Queued::Staged
    }

    #[inline(always)]
    fn submit(&mut self) -> Result<usize, EngineError> {
        let count = self.staged.len() - self.submitted;
        self.submitted = self.staged.len();
        Ok(count)
    }

    #[inline(always)]
    fn reap(
        &mut self,
        _min: usize,
        max: usize,
        _timeout: Option<Duration>,
        completions: &mut Vec<Completion<Self>>,
    ) -> Result<usize, EngineError> {
        let count = self.submitted.min(max).min(spare_capacity(completions));
        if count == self.staged.len() {
            // The common case is one copy of memory.
            completions.append(&mut self.staged);
        } else {
            completions.extend(self.staged.drain(..count));
        }
        self.submitted -= count;
        Ok(count)
    }

    fn cancel(&mut self) -> Result<(), EngineError> {
        Ok(())
    }
}
