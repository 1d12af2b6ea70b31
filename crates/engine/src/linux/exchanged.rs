//! `e4defrag`: writes that exchange blocks of a file with those of a donor file, as a defragmentation of ext4 does.
//! The file keeps its content; the donor's is lost.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use fsdyno_job::EngineName;
use fsdyno_os::files::{Advice, FileError, OpenFile};
use fsdyno_os::linux::files::{self, uninterrupted};
use fsdyno_os::written;
use fsdyno_workload::{Op, OpKind};
use rustix::fs::{FallocateFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::setup::{EngineSetup, EngineSetupError};

/// The donor.
#[derive(Debug)]
pub(super) struct Exchange {
    donor: OwnedFd,
    /// Blocks are allocated and given up within each request.
    in_place: bool,
    /// Bytes of a block of the file system.
    block_bytes: u64,
}

impl Exchange {
    /// Opens the donor, and allocates its blocks unless each request does. The kernel exchanges no block that the page
    /// cache holds, so that the job's range of the files leaves it first.
    pub(super) fn new(setup: &EngineSetup<'_>) -> Result<Exchange, EngineSetupError> {
        let (options, (begin, end)) = (&setup.options.donor, setup.options.used_range);
        let path = written::path(&options.name);
        let failed =
            |call| move |error: Errno| FileError::of(call, &written::path(&options.name), error.raw_os_error());
        // With NONBLOCK, a pipe of this name is refused at once.
        let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::ROTH;
        let donor = rustix::fs::open(&*path, flags, mode).map_err(failed("open"))?;
        let found = rustix::fs::fstat(&donor).map_err(failed("stat"))?;
        let identity = |fd: BorrowedFd<'_>| rustix::fs::fstat(fd).ok().map(|file| (file.st_dev, file.st_ino));
        let is_target = |file: &OpenFile| identity(file.as_fd()) == Some((found.st_dev, found.st_ino));
        if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile || setup.files.iter().any(is_target) {
            return Err(EngineSetupError::Option {
                engine: EngineName::E4defrag,
                option: "donorname",
                reason: format!("{} is no regular file, or the job's own: name another file", options.name),
            });
        }
        if !options.in_place {
            let reserved = uninterrupted(|| rustix::fs::fallocate(&donor, FallocateFlags::empty(), begin, end - begin));
            reserved.map_err(failed("fallocate"))?;
        }
        for file in setup.files {
            file.sync_data()?;
            file.drop_cache(begin, end - begin)?;
        }
        Ok(Exchange { donor, in_place: options.in_place, block_bytes: (found.st_blksize as u64).max(1) })
    }

    /// Exchanges the blocks of the range, and returns its length. A request that is no write changes nothing.
    #[cold]
    pub(super) fn exchange(&self, file: BorrowedFd<'_>, op: &Op, done: u64) -> Result<usize, Errno> {
        if op.kind != OpKind::Write {
            return Err(Errno::INVAL);
        }
        let (offset, length) = (op.offset + done, op.length - done);
        if self.in_place {
            uninterrupted(|| rustix::fs::fallocate(&self.donor, FallocateFlags::empty(), offset, length))?;
        }
        let mut moved = self.exchange_blocks(file, offset, length);
        if moved == Err(Errno::BUSY) {
            // An exchange before this one has brought the blocks into the page cache.
            let leaves = files::sync_data(file).and_then(|()| files::advise(file, Advice::DontNeed, offset, length));
            leaves.map_err(errno)?;
            moved = self.exchange_blocks(file, offset, length);
        }
        if self.in_place {
            uninterrupted(|| rustix::fs::ftruncate(&self.donor, 0))?;
        }
        moved
    }

    fn exchange_blocks(&self, file: BorrowedFd<'_>, offset: u64, length: u64) -> Result<usize, Errno> {
        let first = offset / self.block_bytes;
        let count = (offset + length).div_ceil(self.block_bytes) - first;
        let moved = files::exchange_extents(file, self.donor.as_raw_fd(), first, count).map_err(errno)?;
        match (moved * self.block_bytes).min(length) {
            // Nothing is there to exchange: the file ends before.
            0 => Err(Errno::INVAL),
            bytes => Ok(bytes as usize),
        }
    }
}

fn errno(code: i32) -> Errno {
    Errno::from_raw_os_error(code)
}
