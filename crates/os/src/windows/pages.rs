//! Pages of a file in the cache, which Windows does not show.

use super::errno;
use super::fd::BorrowedFd;
use crate::files::{CachedPages, FileKind};

pub(crate) fn cached(_: BorrowedFd<'_>, _: FileKind) -> Result<CachedPages, i32> {
    Err(errno::EOPNOTSUPP)
}
