//! Carries out requests that move no data through a buffer: the syncs, the discard, and the actions on zones.

use std::os::fd::{AsFd, BorrowedFd};

use fsdyno_job::EngineOptions;
use fsdyno_workload::{Op, OpKind};

use fsdyno_os::files::{FileKind, OpenFile};
use fsdyno_os::linux::{files, zones};
use fsdyno_os::zones::ZoneAction;

/// The descriptor of a file, for an engine's calls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target<'a> {
    pub(crate) fd: BorrowedFd<'a>,
    pub(crate) kind: FileKind,
    /// A trim resets the zone.
    pub(crate) resets: bool,
}

impl<'a> Target<'a> {
    /// The descriptors of a worker's files.
    pub(crate) fn all(files: &'a [OpenFile], options: &EngineOptions) -> Box<[Target<'a>]> {
        let target = |file: &'a OpenFile| {
            let resets = options.resets_zones && zones::are_in(file.as_fd());
            Target { resets, ..Target::of(file) }
        };
        files.iter().map(target).collect()
    }

    fn of(file: &'a OpenFile) -> Target<'a> {
        Target { fd: file.as_fd(), kind: file.kind(), resets: false }
    }

    /// From now on requests that name `number` go to this file.
    #[cold]
    pub(crate) fn reassign(targets: &mut Box<[Target<'a>]>, number: u32, file: &'a OpenFile) {
        set_grown(targets, number as usize, Target::of(file));
    }
}

/// Sets an entry of a table, which grows if needed. Entries between are never used before they are set.
pub(crate) fn set_grown<T: Copy>(table: &mut Box<[T]>, index: usize, entry: T) {
    if index >= table.len() {
        let mut longer = std::mem::take(table).into_vec();
        longer.resize((index + 1).next_power_of_two(), entry);
        *table = longer.into_boxed_slice();
    }
    table[index] = entry;
}

/// Carries out a sync, a discard or an action on a zone. Returns bytes (0 but for a discard) or the negated errno.
#[cold]
#[inline(never)]
pub(crate) fn perform(target: Target<'_>, op: &Op, done: u64, sync_range_flags: u32) -> i64 {
    let Target { fd, kind, resets } = target;
    let outcome = match op.kind {
        OpKind::Sync => files::sync(fd).map(|()| 0),
        OpKind::DataSync => files::sync_data(fd).map(|()| 0),
        OpKind::SyncRange => files::sync_range(fd, op.offset, op.length, sync_range_flags).map(|()| 0),
        OpKind::ZoneReset | OpKind::ZoneFinish if op.length == 0 => Ok(0),
        OpKind::ZoneReset => zones::manage(fd, ZoneAction::Reset, op.offset, op.length).map(|()| 0),
        OpKind::ZoneFinish => zones::manage(fd, ZoneAction::Finish, op.offset, op.length).map(|()| 0),
        OpKind::Trim if resets => {
            zones::manage(fd, ZoneAction::Reset, op.offset, op.length).map(|()| op.length.cast_signed())
        }
        OpKind::Trim => {
            let left = op.length - done;
            files::discard(fd, kind, op.offset + done, left).map(|()| left as i64)
        }
        OpKind::Read | OpKind::Write => unreachable!("transfers are the engine's own"),
    };
    outcome.unwrap_or_else(|code| -i64::from(code))
}
