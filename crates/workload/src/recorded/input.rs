//! The source of a log.

use std::fmt::Debug;
use std::io::{self, Read};
use std::sync::Arc;

/// A log that can be read at any offset.
pub trait LogInput: Debug + Send + Sync {
    /// Reads bytes from `offset` on; 0: the end of the log.
    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize>;
}

/// Reads a log from its beginning.
#[derive(Clone, Debug)]
pub(super) struct FromBegin {
    input: Arc<dyn LogInput>,
    at: u64,
}

impl FromBegin {
    pub(super) fn of(input: Arc<dyn LogInput>) -> FromBegin {
        FromBegin { input, at: 0 }
    }
}

impl Read for FromBegin {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let length = self.input.read_at(into, self.at)?;
        self.at += length as u64;
        Ok(length)
    }
}
