//! `psync` and `sync`: one call per transfer, with its offset.

use fsdyno_workload::{Op, OpKind};

use fsdyno_os::fd::{AsFd, BorrowedFd};
use fsdyno_os::windows::files;

use super::control;
use crate::buffers::{Arena, ArenaError};
use crate::contract::{Completion, Engine, Queued};
use crate::setup::EngineSetup;
use crate::slot::Slot;
use fsdyno_os::clock::RealClock;
use fsdyno_os::files::OpenFile;

/// A synchronous engine. `queue` returns when the transfer is done.
#[derive(Debug)]
pub(super) struct Positioned<'a> {
    files: &'a [OpenFile],
    handles: Box<[BorrowedFd<'a>]>,
    arena: Arena,
    clock: RealClock,
}

impl<'a> Positioned<'a> {
    pub(super) fn new(setup: &EngineSetup<'a>) -> Result<Positioned<'a>, ArenaError> {
        Ok(Positioned {
            files: setup.files,
            handles: setup.files.iter().map(AsFd::as_fd).collect(),
            arena: setup.arena()?,
            clock: setup.clock,
        })
    }

    #[inline]
    fn perform(&mut self, slot: &Slot<Self>, op: &Op, done: u64) -> i64 {
        let handle = self.handles[op.file as usize];
        let offset = op.offset + done;
        let place = &mut self.arena.buffer(slot);
        let outcome = match op.kind {
            OpKind::Read => files::read_at(handle, &mut place[done as usize..op.length as usize], offset),
            OpKind::Write => files::write_at(handle, &place[done as usize..op.length as usize], offset),
            _ => return control::perform(handle, op),
        };
        outcome.map_or_else(|code| -i64::from(code), |bytes| bytes as i64)
    }
}

impl Engine for Positioned<'_> {
    const SYNCHRONOUS: bool = true;

    crate::contract::belongings!(RealClock);

    #[inline]
    fn queue(&mut self, slot: Slot<Self>, op: &Op, done: u64) -> Queued<Self> {
        let result = self.perform(&slot, op, done);
        Queued::Done(Completion { slot, result })
    }
}
