//! The synchronous engines: one system call per transfer (`psync`, `sync`, `pvsync`, `pvsync2`, `vsync`), a pipe
//! (`splice`), and engines whose requests transfer no data. One type holds all of them, so that the drive loop is
//! compiled once.

use std::io::{IoSlice, IoSliceMut};
use std::os::fd::{AsRawFd, BorrowedFd};

use fsdyno_job::{Direction, EngineName, EngineOptions};
use fsdyno_workload::{Op, OpKind};
use rustix::fs::SeekFrom;
use rustix::io::{Errno, ReadWriteFlags};

use super::commands::{Request, What};
use super::control::{self, Target};
use super::exchanged::Exchange;
use super::network::Network;
#[cfg(feature = "object")]
use super::objects::Objects;
use super::operations::Operations;
use super::page_faults::PageFaults;
use super::scsi::Scsi;
use super::space;
use super::spliced::Pipe;
use super::work::{Bursts, Running};
use crate::buffers::Arena;
use crate::contract::{Completion, Engine, EngineError, Queued};
#[cfg(feature = "object")]
use crate::object_tally::ObjectTally;
use crate::setup::{EngineSetup, EngineSetupError};
use crate::slot::Slot;
use fsdyno_os::clock::RealClock;
use fsdyno_os::files::OpenFile;
use fsdyno_os::linux::files::uninterrupted;

/// RWF_DONTCACHE (Linux 6.14), which rustix does not name yet.
pub(crate) const DONT_CACHE: u32 = 0x80;

/// RWF_ATOMIC (Linux 6.11), which rustix does not name either.
const ATOMIC: u32 = 0x40;

/// The flags that only writes have.
pub(super) fn of_writes(options: &EngineOptions) -> ReadWriteFlags {
    ReadWriteFlags::from_bits_retain(if options.atomic { ATOMIC } else { 0 })
}

/// A synchronous engine. `queue` returns when the transfer is done.
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
    /// lseek if the file position differs, then read, write (or readv, writev).
    Seeking { vectored: bool, positions: Box<[u64]> },
    /// splice, vmsplice.
    Spliced(Pipe),
    /// fallocate, ftruncate.
    Space(EngineName),
    /// EXT4_IOC_MOVE_EXT.
    Exchange(Exchange),
    /// No I/O: a copy from or to memory.
    Memory(Box<PageFaults>),
    /// An operation on the file's name.
    Operation(Box<Operations>),
    /// No I/O: a burst of computing.
    Burst(Bursts),
    /// No I/O: a check whether a program has ended.
    Look(Box<Running>),
    /// An object of a server.
    #[cfg(feature = "object")]
    Object(Box<Objects>),
    /// A part of the data that a peer sends or receives.
    Socket(Box<Network>),
    /// A command for a SCSI device.
    Command(Box<Scsi>),
}

/// The flags of preadv2 and pwritev2.
#[derive(Debug)]
pub(super) struct Flagged {
    always: ReadWriteFlags,
    of_writes: ReadWriteFlags,
    /// Percent of transfers that are polled, spread evenly (0 to 100).
    polled_percent: u32,
    /// Accumulated percent; at 100 a transfer is polled.
    accumulated: u32,
}

impl Flagged {
    pub(super) fn new(options: &EngineOptions) -> Flagged {
        let mut always = ReadWriteFlags::empty();
        always.set(ReadWriteFlags::NOWAIT, options.nowait);
        always.set(ReadWriteFlags::from_bits_retain(DONT_CACHE), options.uncached);
        let polled_percent = if options.hipri { options.hipri_percentage.unwrap_or(100).min(100) } else { 0 };
        Flagged { always, of_writes: of_writes(options), polled_percent, accumulated: 0 }
    }

    pub(super) fn next(&mut self, read: bool) -> ReadWriteFlags {
        let flags = if read { self.always } else { self.always | self.of_writes };
        self.accumulated += self.polled_percent;
        if self.accumulated < 100 {
            return flags;
        }
        self.accumulated -= 100;
        flags | ReadWriteFlags::HIPRI
    }
}

/// The file position is not known: the next transfer seeks.
const POSITION_UNKNOWN: u64 = u64::MAX;

impl<'a> Positioned<'a> {
    pub(crate) fn new(setup: &EngineSetup<'a>) -> Result<Positioned<'a>, EngineSetupError> {
        let seeking = |vectored| Call::Seeking {
            vectored,
            positions: vec![POSITION_UNKNOWN; setup.files.len()].into_boxed_slice(),
        };
        let call = match setup.name {
            EngineName::Sync => seeking(false),
            EngineName::Vsync => seeking(true),
            EngineName::Pvsync => Call::Vectored,
            EngineName::Pvsync2 => Call::Flagged(Flagged::new(&setup.options)),
            EngineName::Splice => Call::Spliced(pipe(setup.name)?),
            EngineName::Cpuio => Call::Burst(Bursts::new(&setup.options.burn)),
            EngineName::Exec => Call::Look(Box::new(Running::new(&setup.options.program)?)),
            #[cfg(feature = "object")]
            EngineName::Http => Call::Object(Box::new(Objects::new(setup)?)),
            #[cfg(not(feature = "object"))]
            EngineName::Http => {
                return Err(EngineSetupError::Option {
                    engine: setup.name,
                    option: "ioengine",
                    reason:
                        "this program was built without object stores: use one that was built with its feature object"
                            .to_owned(),
                });
            }
            EngineName::Net => Call::Socket(Box::new(Network::new(&setup.options.network, None)?)),
            EngineName::Netsplice => {
                Call::Socket(Box::new(Network::new(&setup.options.network, Some(pipe(setup.name)?))?))
            }
            EngineName::E4defrag => Call::Exchange(Exchange::new(setup)?),
            EngineName::PageFault => Call::Memory(Box::new(PageFaults::new(setup.options.used_range.1)?)),
            EngineName::Sg => Call::Command(Box::new(Scsi::new(setup)?)),
            name if name.changes_space() => Call::Space(name),
            name if name.works_on_names() => Call::Operation(Box::new(Operations::new(setup)?)),
            _ => Call::Plain,
        };
        Ok(Positioned {
            call,
            files: setup.files,
            targets: Target::all(setup.files, &setup.options),
            arena: setup.arena()?,
            clock: setup.clock,
            sync_range_flags: setup.sync_range_flags,
        })
    }

    #[inline]
    fn perform(&mut self, slot: &Slot<Self>, op: &Op, done: u64) -> i64 {
        if !matches!(op.kind, OpKind::Read | OpKind::Write) {
            return self.control(slot, op, done);
        }
        let place = &mut self.arena.buffer(slot)[done as usize..op.length as usize];
        let offset = op.offset + done;
        let read = op.kind == OpKind::Read;
        let fd = |index: u32| self.targets[index as usize].fd;
        let outcome = match &mut self.call {
            Call::Plain => plain(fd(op.file), place, offset, read),
            Call::Vectored => vectored(fd(op.file), place, offset, read),
            Call::Flagged(flagged) => with_flags(fd(op.file), place, offset, read, flagged.next(read)),
            Call::Seeking { vectored, positions } => {
                seeking(fd(op.file), place, offset, read, *vectored, &mut positions[op.file as usize])
            }
            Call::Spliced(pipe) => pipe.transfer(fd(op.file), place, offset, read),
            Call::Space(name) => space::change(*name, fd(op.file), op, done),
            Call::Exchange(exchange) => exchange.exchange(fd(op.file), op, done),
            Call::Memory(memory) => return memory.copy(place, op, done, read),
            Call::Operation(operations) => return operations.request(op, &self.clock),
            Call::Burst(bursts) => return bursts.burn(&self.clock),
            Call::Look(program) => return program.look(&self.clock),
            #[cfg(feature = "object")]
            Call::Object(objects) => return objects.request(op, place),
            Call::Socket(network) => return network.transfer(place, read),
            Call::Command(scsi) => {
                let what = if read { What::Read } else { What::Write };
                return scsi.perform(&request(fd(op.file), slot.index(), what, place, offset));
            }
        };
        match outcome {
            Ok(bytes) => bytes as i64,
            Err(error) => -i64::from(error.raw_os_error()),
        }
    }

    /// Carries out syncs and discards. A name has no data to sync, and its trim is a request like any other.
    #[cold]
    fn control(&mut self, slot: &Slot<Self>, op: &Op, done: u64) -> i64 {
        match &mut self.call {
            Call::Operation(operations) if op.kind == OpKind::Trim => operations.request(op, &self.clock),
            Call::Memory(_) if op.kind == OpKind::Trim => -i64::from(libc::EINVAL),
            Call::Operation(_) | Call::Memory(_) => 0,
            #[cfg(feature = "object")]
            Call::Object(objects) => objects.request(op, &mut []),
            Call::Command(scsi) if !op.kind.acts_on_zone() => {
                let what = if op.kind == OpKind::Trim { What::Trim } else { What::Sync };
                let none = request(self.targets[op.file as usize].fd, slot.index(), what, &mut [], op.offset + done);
                scsi.perform(&Request { bytes: op.length.saturating_sub(done), ..none })
            }
            _ => control::perform(self.targets[op.file as usize], op, done, self.sync_range_flags),
        }
    }
}

/// What a device is asked for, with the buffer for it.
fn request(fd: BorrowedFd<'_>, slot: usize, what: What, place: &mut [u8], offset: u64) -> Request {
    Request { slot, fd: fd.as_raw_fd(), what, address: place.as_mut_ptr(), offset, bytes: place.len() as u64 }
}

#[inline]
pub(super) fn plain(fd: BorrowedFd<'_>, place: &mut [u8], offset: u64, read: bool) -> Result<usize, Errno> {
    if read {
        uninterrupted(|| rustix::io::pread(fd, &mut *place, offset))
    } else {
        uninterrupted(|| rustix::io::pwrite(fd, place, offset))
    }
}

pub(super) fn vectored(fd: BorrowedFd<'_>, place: &mut [u8], offset: u64, read: bool) -> Result<usize, Errno> {
    if read {
        let mut slices = [IoSliceMut::new(place)];
        uninterrupted(|| rustix::io::preadv(fd, &mut slices, offset))
    } else {
        uninterrupted(|| rustix::io::pwritev(fd, &[IoSlice::new(place)], offset))
    }
}

pub(super) fn with_flags(
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

    fn reassign(&mut self, place: usize, file: u32) -> Result<(), EngineError> {
        if matches!(self.call, Call::Command(_)) {
            return Err(EngineError { call: "openfiles", code: libc::EOPNOTSUPP });
        }
        Target::reassign(&mut self.targets, file, &self.files[place]);
        if let Call::Seeking { positions, .. } = &mut self.call {
            control::set_grown(positions, file as usize, POSITION_UNKNOWN);
        }
        Ok(())
    }

    #[inline]
    fn queue(&mut self, slot: Slot<Self>, op: &Op, done: u64) -> Queued<Self> {
        let result = self.perform(&slot, op, done);
        Queued::Done(Completion { slot, result })
    }

    fn begin_pass(&mut self) {
        if let Call::Operation(operations) = &mut self.call {
            operations.begin_pass();
        }
    }

    #[cfg(feature = "object")]
    fn objects(&mut self) -> Option<&ObjectTally> {
        match &mut self.call {
            Call::Object(objects) => Some(objects.tally()),
            _ => None,
        }
    }

    fn said(&self) -> Option<String> {
        if let Call::Command(scsi) = &self.call { scsi.said() } else { None }
    }

    fn operation(&self) -> Option<(Direction, u64)> {
        match &self.call {
            Call::Operation(operations) => operations.latest(),
            _ => None,
        }
    }
}

/// The pipe that pages go through.
fn pipe(engine: EngineName) -> Result<Pipe, EngineSetupError> {
    Pipe::new().map_err(|error| EngineSetupError::Refused {
        engine,
        call: "pipe",
        code: error.raw_os_error(),
        advice: "close files, or raise their limit (ulimit -n)".to_owned(),
    })
}
