//! The zones of a device, which Windows does not show.

use super::errno;
use super::fd::BorrowedFd;
use crate::zones::Zone;

pub(crate) fn report(_: BorrowedFd<'_>, _from: u64, _to: u64) -> Result<Vec<Zone>, i32> {
    Err(errno::EOPNOTSUPP)
}
