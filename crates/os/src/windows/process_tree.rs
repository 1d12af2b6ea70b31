//! Commands cannot be measured here. Job objects could do what the meter does on Linux; this is not built yet.

use std::ffi::OsString;
use std::io;
use std::time::Duration;

use crate::files::Directory;
use crate::process_tree::{CommandOutput, Limits, TreeUsage};

/// Why no command can be measured here.
pub fn missing() -> Option<&'static str> {
    Some("commands cannot be timed on Windows yet: no job object awaits, counts and ends their processes")
}

/// A running command, which does not exist here.
#[derive(Debug)]
pub struct Metered(std::convert::Infallible);

/// Refuses to start a command.
///
/// # Errors
/// Always.
pub fn begin(_: &[OsString], _: &Directory, _: &[(OsString, OsString)], _: Limits) -> io::Result<Metered> {
    Err(io::Error::new(io::ErrorKind::Unsupported, missing().unwrap_or_default()))
}

impl Metered {
    /// See the module of Linux.
    pub fn is_over_within(&self, _: Duration) -> bool {
        match self.0 {}
    }

    /// See the module of Linux.
    pub fn end(&self) {
        match self.0 {}
    }

    /// See the module of Linux.
    ///
    /// # Errors
    /// None.
    pub fn result(self) -> io::Result<(TreeUsage, CommandOutput)> {
        match self.0 {}
    }
}

/// Never called.
pub fn meter(_: &[OsString]) -> u8 {
    1
}
