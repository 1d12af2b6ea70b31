//! The caches of the whole machine, which only Windows itself drops.

use std::io;

use crate::files::Directory;

/// The name of the cache in messages.
pub const SWITCH: &str = "Windows' file cache";

/// The caches cannot be dropped.
///
/// # Errors
/// Always.
pub fn may_be_dropped() -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "Windows has no switch that drops them"))
}

/// The caches are not dropped.
///
/// # Errors
/// Always.
pub fn drop_all(_: &Directory) -> io::Result<()> {
    may_be_dropped()
}
