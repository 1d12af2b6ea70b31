//! Block devices that consist of other devices or files.

use std::io;
use std::path::Path;

use crate::system;

/// The types of the targets (`linear`, `thin`) of the device-mapper device of this number, without repetitions.
/// `control`: the device mapper's control file, which only root may open.
pub fn targets(control: &Path, major: u32, minor: u32) -> io::Result<Vec<String>> {
    system::mapper::targets(control, major, minor)
}

/// What a loop device lies on, with the numbers of stat(2).
#[cfg(target_os = "linux")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopBacking {
    /// A file: the device number of its filesystem, and its inode.
    File {
        /// Device number of the filesystem.
        device: u64,
        /// Inode of the file.
        inode: u64,
    },
    /// A block device of this number.
    Device(u64),
}

/// What an open loop device lies on.
///
/// # Errors
/// The kernel's error, also if it lies on nothing.
#[cfg(target_os = "linux")]
pub fn loop_backing(device: &std::fs::File) -> io::Result<LoopBacking> {
    system::loops::backing(device)
}
