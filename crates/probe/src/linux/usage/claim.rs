//! The kernel's answer: a block device that cannot be opened exclusively has been claimed by a filesystem, a log, a RAID
//! set, a cache, swap, or a program that means to have it alone.

use std::fs::File;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// Others ask in the same way: tools that make filesystems, and runs that begin at the same time. A claim of that kind is
/// soon gone.
const TRIES: u32 = 10;
const PAUSE: Duration = Duration::from_millis(20);

/// Whether somebody has claimed the device of this descriptor. It is opened exclusively for that, and closed at once: as
/// long as it is open, nobody else can claim it.
pub(super) fn is_taken(device: BorrowedFd<'_>) -> Result<bool, Errno> {
    for attempt in 1..=TRIES {
        match once_more(device, OFlags::EXCL) {
            Ok(_) => return Ok(false),
            Err(Errno::BUSY) if attempt < TRIES => std::thread::sleep(PAUSE),
            Err(Errno::BUSY) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}

/// Opens the device of a descriptor for reading: whatever its name leads to by now.
pub(super) fn once_more(device: BorrowedFd<'_>, more: OFlags) -> Result<File, Errno> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | more;
    let path = format!("/proc/self/fd/{}", device.as_raw_fd());
    rustix::fs::open(path, flags, Mode::empty()).map(File::from)
}
