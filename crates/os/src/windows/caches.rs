//! The caches of the whole machine, which nobody but Windows drops.

use std::io;

use crate::files::Directory;

/// What an order to drop them would be given to.
pub const SWITCH: &str = "Windows' file cache";

/// They may not be dropped.
///
/// # Errors
/// Always.
pub fn may_be_dropped() -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "Windows has no switch that drops them"))
}

/// They are not dropped.
///
/// # Errors
/// Always.
pub fn drop_all(_: &Directory) -> io::Result<()> {
    may_be_dropped()
}
