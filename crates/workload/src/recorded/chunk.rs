//! The piece of a log that is in memory.

use std::io::{self, ErrorKind, Read};

/// Bytes that are read at once.
const CHUNK_BYTES: usize = 64 * 1024;

/// The bytes of a log that were read and not used yet.
#[derive(Clone, Debug)]
pub(super) struct Chunk {
    bytes: Box<[u8]>,
    from: usize,
    to: usize,
}

impl Chunk {
    pub(super) fn new() -> Chunk {
        Chunk { bytes: vec![0; CHUNK_BYTES].into_boxed_slice(), from: 0, to: 0 }
    }

    pub(super) fn rest(&self) -> &[u8] {
        &self.bytes[self.from..self.to]
    }

    /// Removes the first `length` bytes, or all bytes if there are fewer.
    pub(super) fn skip(&mut self, length: usize) {
        self.from = self.to.min(self.from + length);
    }

    /// Reads more; false: the log has ended, or the piece is full.
    pub(super) fn read_on(&mut self, input: &mut dyn Read) -> io::Result<bool> {
        let length = self.to - self.from;
        self.bytes.copy_within(self.from..self.to, 0);
        (self.from, self.to) = (0, length);
        loop {
            match input.read(&mut self.bytes[length..]) {
                Ok(more) => {
                    self.to += more;
                    return Ok(more > 0);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Reads until there are `length` bytes; false: the input has fewer.
    pub(super) fn has(&mut self, length: usize, input: &mut dyn Read) -> io::Result<bool> {
        while self.to - self.from < length {
            if !self.read_on(input)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
