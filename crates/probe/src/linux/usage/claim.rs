//! The kernel's answer: a block device that cannot be opened exclusively has been claimed by a filesystem, a log, a RAID
//! set, a cache, swap, or a program that means to have it alone.

use std::fs::File;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// Others ask in the same way, and hold the device for as long as that takes: tools that make filesystems, and runs that
/// begin at the same time.
const TRIES: u32 = 10;
const PAUSE: Duration = Duration::from_millis(20);

/// Opens the device of a descriptor once more, for reading and exclusively, while no other program may claim it. `None`:
/// it is claimed.
pub(super) fn exclusively(device: BorrowedFd<'_>) -> Result<Option<File>, Errno> {
    let flags = OFlags::RDONLY | OFlags::EXCL | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let path = format!("/proc/self/fd/{}", device.as_raw_fd());
    for attempt in 1..=TRIES {
        match rustix::fs::open(path.as_str(), flags, Mode::empty()) {
            Ok(claimed) => return Ok(Some(File::from(claimed))),
            Err(Errno::BUSY) if attempt < TRIES => std::thread::sleep(PAUSE),
            Err(Errno::BUSY) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}
