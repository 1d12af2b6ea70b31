//! Devices that are made of others.

use std::io;
use std::path::Path;

use crate::system;

/// The types of the targets (`linear`, `thin`) of the device-mapper device of this number, each once. `control`: the
/// device mapper's own file, which only root may ask.
pub fn targets(control: &Path, major: u32, minor: u32) -> io::Result<Vec<String>> {
    system::mapper::targets(control, major, minor)
}
