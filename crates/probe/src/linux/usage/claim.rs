//! Asks the kernel whether a block device is claimed: then it cannot be opened exclusively. A filesystem, a log, a
//! RAID set, a cache, swap, or a program that needs it alone may have claimed it.

use std::fs::File;
use std::os::fd::{AsRawFd, BorrowedFd};

use fsdyno_os::clock::{Clock, RealClock};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// Number of tries, because tools that make filesystems or look for a free device, and runs that begin at the same
/// time, open a device for a moment.
const TRIES: u32 = 10;
const PAUSE_NS: u64 = 20_000_000;

/// What is still found after a while; `None`: it was not there, or it is gone.
pub(super) fn lasting<T>(mut found: impl FnMut() -> Option<T>) -> Option<T> {
    let clock = RealClock::shared();
    for _ in 1..TRIES {
        found()?;
        clock.sleep_until_ns(clock.now_ns() + PAUSE_NS);
    }
    found()
}

/// Whether somebody has claimed the device of this descriptor. The device is opened exclusively for the check and
/// closed at once, because nobody else can claim it while it is open.
pub(super) fn is_taken(device: BorrowedFd<'_>) -> Result<bool, Errno> {
    let mut other = None;
    let taken = lasting(|| match once_more(device, OFlags::EXCL) {
        Err(Errno::BUSY) => Some(()),
        Err(error) => {
            other = Some(error);
            None
        }
        Ok(_) => None,
    });
    other.map_or(Ok(taken.is_some()), Err)
}

/// Opens the device of a descriptor again for reading, wherever its name leads now.
pub(super) fn once_more(device: BorrowedFd<'_>, more: OFlags) -> Result<File, Errno> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | more;
    let path = format!("/proc/self/fd/{}", device.as_raw_fd());
    rustix::fs::open(path, flags, Mode::empty()).map(File::from)
}
