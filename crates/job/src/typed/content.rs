//! What is written, and how it is checked.

/// What is written.
#[derive(Clone, Debug, PartialEq)]
pub struct Content {
    /// Only zeroes.
    pub zero: bool,
    /// New random bytes for each write.
    pub refill: bool,
    /// Random once, then changed a little for each write.
    pub scramble: bool,
    /// Repeat these bytes; `None`: random.
    pub pattern: Option<Vec<u8>>,
    /// Percent that compresses (0 to 100) in chunks of so many bytes.
    pub compress: Option<(u32, u32)>,
    /// Percent of blocks that repeat earlier ones (0 to 100).
    pub dedupe_percent: u32,
}

/// `verify=` and its companions.
#[derive(Clone, Debug, PartialEq)]
pub struct Verify {
    /// The checksum or pattern.
    pub kind: VerifyKind,
    /// Read back after writing.
    pub read_back: bool,
    /// Bytes between headers; `None`: the block size.
    pub interval: Option<u32>,
    /// Where the header stands within its interval, bytes.
    pub header_offset: u32,
    /// `verify_pattern`.
    pub pattern: Option<Vec<u8>>,
    /// The first mismatch ends the job.
    pub fatal: bool,
    /// Write the expected and the received block into files.
    pub dump: bool,
    /// Verify after so many writes instead of at the end; 0: at the end.
    pub backlog: u64,
    /// How many to verify at a time from the backlog.
    pub backlog_batch: u64,
    /// Only replay the offsets, no write phase.
    pub only: bool,
    /// Save where the writes stood when the job is cut short.
    pub state_save: bool,
}

/// Checksums of `verify=`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the published algorithm of its name")]
pub enum VerifyKind {
    Crc7,
    Crc16,
    Crc32,
    Crc32c,
    Crc64,
    Md5,
    Sha1,
    Sha256,
    Sha512,
    Xxhash,
    Pattern,
    PatternHeader,
    Meta,
    Null,
}
