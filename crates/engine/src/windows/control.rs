//! Carries out requests that move no data through a buffer: the syncs.

use fsdyno_workload::{Op, OpKind};

use fsdyno_os::errno;
use fsdyno_os::fd::BorrowedFd;
use fsdyno_os::windows::files;

/// Carries out a sync. Returns 0 or the negated error number.
#[cold]
#[inline(never)]
pub(super) fn perform(handle: BorrowedFd<'_>, op: &Op) -> i64 {
    let outcome = match op.kind {
        OpKind::Sync => files::sync(handle),
        OpKind::DataSync => files::sync_data(handle),
        // Planning refuses `sync_file_range`; a trim would need a sparse file.
        OpKind::SyncRange | OpKind::Trim | OpKind::ZoneReset | OpKind::ZoneFinish => Err(errno::EOPNOTSUPP),
        OpKind::Read | OpKind::Write => unreachable!("transfers are the engine's own"),
    };
    outcome.map_or_else(|code| -i64::from(code), |()| 0)
}
