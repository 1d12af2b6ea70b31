//! The extents of a file, which are not read here yet.

use super::errno;
use super::fd::BorrowedFd;
use crate::files::Extents;

pub(crate) fn extents(_: BorrowedFd<'_>, _length: u64, _flush: bool) -> Result<Extents, i32> {
    Err(errno::EOPNOTSUPP)
}
