//! Devices that are made of others, which Windows has under other names.

use std::io;
use std::path::Path;

pub(crate) fn targets(_control: &Path, _major: u32, _minor: u32) -> io::Result<Vec<String>> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "the device mapper belongs to Linux"))
}
