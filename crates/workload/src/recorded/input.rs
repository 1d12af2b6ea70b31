//! Where a log is read from.

use std::fmt::Debug;
use std::io::{self, Read};
use std::sync::Arc;

/// A log that can be read at any place.
pub trait LogInput: Debug + Send + Sync {
    /// Bytes from `offset` on; 0: it ends there.
    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize>;
}

/// A log from its begin.
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
