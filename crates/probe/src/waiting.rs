//! What a thread of this process waits for in the kernel.

use std::path::PathBuf;

/// A system call that a thread is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The operation in a word: `read`, `write`, `fsync`, `close`.
    pub operation: String,
    /// The file, if the call has one.
    pub file: Option<PathBuf>,
    /// First byte, if the call has an offset.
    pub offset: Option<u64>,
    /// Length, if the call has one, bytes.
    pub length: Option<u64>,
}

impl std::fmt::Display for Waiting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.operation)?;
        if let Some(file) = &self.file {
            write!(f, " of {}", file.display())?;
        }
        if let Some(offset) = self.offset {
            write!(f, " at offset {offset}")?;
        }
        self.length.map_or(Ok(()), |length| write!(f, ", {length} bytes"))
    }
}
