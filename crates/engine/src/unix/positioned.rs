//! `psync` and `sync`: one call per transfer, with its offset.

use std::io::{Error, ErrorKind};
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::fs::FileExt;

use fsdyno_workload::{Op, OpKind};

use crate::buffers::{Arena, ArenaError};
use crate::contract::{Completion, Engine, EngineError, Queued};
use crate::setup::EngineSetup;
use crate::slot::Slot;
use fsdyno_os::clock::RealClock;
use fsdyno_os::fd::AsFd;
use fsdyno_os::files::OpenFile;

/// A synchronous engine. `queue` returns when the transfer is done.
#[derive(Debug)]
pub(super) struct Positioned<'a> {
    files: &'a [OpenFile],
    /// The same descriptors, as files of the standard library; their owner closes them.
    calls: Vec<ManuallyDrop<std::fs::File>>,
    arena: Arena,
    clock: RealClock,
}

impl<'a> Positioned<'a> {
    pub(super) fn new(setup: &EngineSetup<'a>) -> Result<Positioned<'a>, ArenaError> {
        Ok(Positioned {
            files: setup.files,
            calls: setup.files.iter().map(calls).collect(),
            arena: setup.arena()?,
            clock: setup.clock,
        })
    }

    #[inline]
    fn perform(&mut self, slot: &Slot<Self>, op: &Op, done: u64) -> i64 {
        let file = &self.calls[op.file as usize];
        let offset = op.offset + done;
        let place = &mut self.arena.buffer(slot);
        loop {
            let outcome = match op.kind {
                OpKind::Read => file.read_at(&mut place[done as usize..op.length as usize], offset),
                OpKind::Write => file.write_at(&place[done as usize..op.length as usize], offset),
                OpKind::Sync => file.sync_all().map(|()| 0),
                // POSIX cannot sync a range, so that all data of the file is synced.
                OpKind::DataSync | OpKind::SyncRange => file.sync_data().map(|()| 0),
                OpKind::Trim | OpKind::ZoneReset | OpKind::ZoneFinish => {
                    Err(Error::from_raw_os_error(libc::EOPNOTSUPP))
                }
            };
            match outcome {
                Ok(bytes) => return bytes as i64,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return -i64::from(error.raw_os_error().unwrap_or(libc::EIO)),
            }
        }
    }
}

fn calls(file: &OpenFile) -> ManuallyDrop<std::fs::File> {
    // SAFETY: the descriptor is open for as long as the engine borrows the file, and is never closed by this one.
    ManuallyDrop::new(unsafe { std::fs::File::from_raw_fd(AsFd::as_fd(file).as_raw_fd()) })
}

impl Engine for Positioned<'_> {
    const SYNCHRONOUS: bool = true;

    crate::contract::belongings!(RealClock);

    fn reassign(&mut self, place: usize, file: u32) -> Result<(), EngineError> {
        while self.calls.len() <= file as usize {
            // Entries are never used before they are set.
            self.calls.push(calls(&self.files[place]));
        }
        self.calls[file as usize] = calls(&self.files[place]);
        Ok(())
    }

    #[inline]
    fn queue(&mut self, slot: Slot<Self>, op: &Op, done: u64) -> Queued<Self> {
        let result = self.perform(&slot, op, done);
        Queued::Done(Completion { slot, result })
    }
}
