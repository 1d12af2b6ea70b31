//! What a thread of this process waits for in the kernel.

use std::path::PathBuf;

/// A system call that a thread is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// What it does, in a word: `read`, `write`, `fsync`, `close`.
    pub operation: String,
    /// The file, where the call is about one.
    pub file: Option<PathBuf>,
    /// First byte, where the call names it.
    pub offset: Option<u64>,
    /// Bytes, where the call names them.
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
