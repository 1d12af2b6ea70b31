//! Engines on the space of files: `falloc`, `ftruncate`. They move no data.

use std::os::fd::BorrowedFd;

use fsdyno_job::EngineName;
use fsdyno_workload::{Op, OpKind};
use rustix::fs::FallocateFlags;
use rustix::io::Errno;

use fsdyno_os::linux::files::uninterrupted;

/// Allocates or cuts the range, and returns its length, although no byte moves.
#[cold]
pub(crate) fn change(name: EngineName, fd: BorrowedFd<'_>, op: &Op, done: u64) -> Result<usize, Errno> {
    let (offset, length) = (op.offset + done, (op.length - done));
    let flags = match (name, op.kind) {
        (EngineName::Falloc, OpKind::Read) => FallocateFlags::KEEP_SIZE,
        (EngineName::Falloc, _) => FallocateFlags::empty(),
        (_, OpKind::Read) => return Err(Errno::INVAL),
        _ => return uninterrupted(|| rustix::fs::ftruncate(fd, offset)).map(|()| length as usize),
    };
    uninterrupted(|| rustix::fs::fallocate(fd, flags, offset, length)).map(|()| length as usize)
}
