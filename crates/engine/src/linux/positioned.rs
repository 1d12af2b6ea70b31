//! One system call per transfer: `psync`, `sync`, `pvsync`, `pvsync2`, `vsync`.

use std::io::{IoSlice, IoSliceMut};
use std::os::fd::BorrowedFd;

use job::{EngineName, EngineOptions};
use rustix::fs::SeekFrom;
use rustix::io::{Errno, ReadWriteFlags};
use workload::{Op, OpKind};

use super::control::{self, Target};
use super::files::uninterrupted;
use crate::buffers::{Arena, ArenaError};
use crate::clock::RealClock;
use crate::contract::{Completion, Engine, Queued};
use crate::files::OpenFile;
use crate::setup::EngineSetup;
use crate::slot::Slot;

/// RWF_DONTCACHE (Linux 6.14), which rustix does not name yet.
pub(crate) const DONT_CACHE: u32 = 0x80;

/// A synchronous engine. `queue` blocks until the transfer is over.
#[derive(Debug)]
pub(crate) struct Positioned<'a> {
    call: Call,
    files: &'a [OpenFile],
    targets: Box<[Target<'a>]>,
    arena: Arena,
    clock: RealClock,
    sync_range_flags: u32,
}

/// Which call makes the transfer.
#[derive(Debug)]
enum Call {
    /// pread, pwrite.
    Plain,
    /// preadv, pwritev.
    Vectored,
    /// preadv2, pwritev2.
    Flagged(Flagged),
    /// lseek where the file does not stand there already, then read, write (or readv, writev).
    Seeking { vectored: bool, positions: Box<[u64]> },
}

/// The flags of preadv2 and pwritev2.
#[derive(Debug)]
struct Flagged {
    always: ReadWriteFlags,
    /// Percent of the transfers that are polled for, spread evenly (0 to 100).
    polled_percent: u32,
    /// Percent that have accumulated; at 100 a transfer is polled for.
    accumulated: u32,
}

impl Flagged {
    fn new(options: &EngineOptions) -> Flagged {
        let mut always = ReadWriteFlags::empty();
        always.set(ReadWriteFlags::NOWAIT, options.nowait);
        always.set(ReadWriteFlags::from_bits_retain(DONT_CACHE), options.uncached);
        let polled_percent = if options.hipri { options.hipri_percentage.unwrap_or(100).min(100) } else { 0 };
        Flagged { always, polled_percent, accumulated: 0 }
    }

    fn next(&mut self) -> ReadWriteFlags {
        self.accumulated += self.polled_percent;
        if self.accumulated < 100 {
            return self.always;
        }
        self.accumulated -= 100;
        self.always | ReadWriteFlags::HIPRI
    }
}

/// No file stands here: the next transfer seeks.
const POSITION_UNKNOWN: u64 = u64::MAX;

impl<'a> Positioned<'a> {
    pub(crate) fn new(setup: &EngineSetup<'a>) -> Result<Positioned<'a>, ArenaError> {
        let seeking = |vectored| Call::Seeking {
            vectored,
            positions: vec![POSITION_UNKNOWN; setup.files.len()].into_boxed_slice(),
        };
        let call = match setup.name {
            EngineName::Sync => seeking(false),
            EngineName::Vsync => seeking(true),
            EngineName::Pvsync => Call::Vectored,
            EngineName::Pvsync2 => Call::Flagged(Flagged::new(&setup.options)),
            _ => Call::Plain,
        };
        Ok(Positioned {
            call,
            files: setup.files,
            targets: Target::all(setup.files),
            arena: setup.arena()?,
            clock: setup.clock,
            sync_range_flags: setup.sync_range_flags,
        })
    }

    #[inline]
    fn perform(&mut self, slot: &Slot<Self>, op: &Op, done: u32) -> i64 {
        let target = self.targets[op.file as usize];
        if !matches!(op.kind, OpKind::Read | OpKind::Write) {
            return control::perform(target, op, done, self.sync_range_flags);
        }
        let place = &mut self.arena.buffer(slot)[done as usize..op.length as usize];
        let offset = op.offset + u64::from(done);
        let read = op.kind == OpKind::Read;
        let outcome = match &mut self.call {
            Call::Plain => plain(target.fd, place, offset, read),
            Call::Vectored => vectored(target.fd, place, offset, read),
            Call::Flagged(flagged) => with_flags(target.fd, place, offset, read, flagged.next()),
            Call::Seeking { vectored, positions } => {
                seeking(target.fd, place, offset, read, *vectored, &mut positions[op.file as usize])
            }
        };
        match outcome {
            Ok(bytes) => bytes as i64,
            Err(error) => -i64::from(error.raw_os_error()),
        }
    }
}

#[inline]
fn plain(fd: BorrowedFd<'_>, place: &mut [u8], offset: u64, read: bool) -> Result<usize, Errno> {
    if read {
        uninterrupted(|| rustix::io::pread(fd, &mut *place, offset))
    } else {
        uninterrupted(|| rustix::io::pwrite(fd, place, offset))
    }
}

fn vectored(fd: BorrowedFd<'_>, place: &mut [u8], offset: u64, read: bool) -> Result<usize, Errno> {
    if read {
        let mut slices = [IoSliceMut::new(place)];
        uninterrupted(|| rustix::io::preadv(fd, &mut slices, offset))
    } else {
        uninterrupted(|| rustix::io::pwritev(fd, &[IoSlice::new(place)], offset))
    }
}

fn with_flags(
    fd: BorrowedFd<'_>,
    place: &mut [u8],
    offset: u64,
    read: bool,
    flags: ReadWriteFlags,
) -> Result<usize, Errno> {
    if read {
        let mut slices = [IoSliceMut::new(place)];
        uninterrupted(|| rustix::io::preadv2(fd, &mut slices, offset, flags))
    } else {
        uninterrupted(|| rustix::io::pwritev2(fd, &[IoSlice::new(place)], offset, flags))
    }
}

fn seeking(
    fd: BorrowedFd<'_>,
    place: &mut [u8],
    offset: u64,
    read: bool,
    vectored: bool,
    position: &mut u64,
) -> Result<usize, Errno> {
    if *position != offset {
        rustix::fs::seek(fd, SeekFrom::Start(offset))?;
    }
    let outcome = match (read, vectored) {
        (true, false) => uninterrupted(|| rustix::io::read(fd, &mut *place)),
        (true, true) => uninterrupted(|| rustix::io::readv(fd, &mut [IoSliceMut::new(place)])),
        (false, false) => uninterrupted(|| rustix::io::write(fd, place)),
        (false, true) => uninterrupted(|| rustix::io::writev(fd, &[IoSlice::new(place)])),
    };
    *position = outcome.map_or(POSITION_UNKNOWN, |bytes| offset + bytes as u64);
    outcome
}

impl Engine for Positioned<'_> {
    const SYNCHRONOUS: bool = true;

    crate::contract::belongings!(RealClock);

    #[inline]
    fn queue(&mut self, slot: Slot<Self>, op: &Op, done: u32) -> Queued<Self> {
        let result = self.perform(&slot, op, done);
        Queued::Done(Completion { slot, result })
    }
}
