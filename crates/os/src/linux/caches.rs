//! Drops the caches of the whole machine.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsFd;

use crate::files::Directory;

/// The file to which the order is written.
pub const SWITCH: &str = "/proc/sys/vm/drop_caches";

/// The order for page cache, names and attributes.
const ALL: &[u8] = b"3\n";

fn open() -> io::Result<File> {
    OpenOptions::new().write(true).open(SWITCH)
}

/// Whether this process may drop the caches.
///
/// # Errors
/// If it may not, with the reason.
pub fn may_be_dropped() -> io::Result<()> {
    open().map(drop)
}

/// Writes back the filesystem of this directory, because dirty pages would stay, and drops page cache, names and
/// attributes of the whole machine.
///
/// # Errors
/// If one of the two is refused.
pub fn drop_all(synced_first: &Directory) -> io::Result<()> {
    super::files::sync_filesystem(synced_first.as_fd()).map_err(io::Error::from_raw_os_error)?;
    open()?.write_all(ALL)
}
