//! The content of written blocks, and how it is checked.

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
    /// Percent that compresses (1 to 100), and the length of a piece in bytes; 0: one piece is the whole block.
    pub compress: Option<(u32, u32)>,
    /// Blocks that repeat earlier ones; `None`: no block does.
    pub dedupe: Option<Dedupe>,
}

/// `dedupe_percentage` and its companions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dedupe {
    /// Percent of blocks that repeat earlier ones (1 to 100).
    pub percent: u32,
    /// `dedupe_mode=working_set`: blocks repeat the first blocks of the job; the working set is this percentage of
    /// its size. `None`: a block repeats the block before it.
    pub working_set_percent: Option<u32>,
    /// `dedupe_global`: the working sets of all jobs with this option are one.
    pub global: bool,
}

impl Dedupe {
    /// Size of the working set and of its blocks, bytes; `None`: a block repeats the block before it.
    pub fn working_set(&self, bytes: u64, block_bytes: u64) -> Option<u64> {
        let percent = self.working_set_percent?;
        let blocks = bytes / block_bytes.max(1);
        Some(((u128::from(blocks) * u128::from(percent) / 100) as u64).max(1))
    }
}

impl Default for Content {
    fn default() -> Content {
        Content { zero: false, refill: false, scramble: true, pattern: None, compress: None, dedupe: None }
    }
}

/// Bytes that repeat, with positions for the offset in the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BytePattern {
    /// The bytes; zeroes where the offset is written.
    pub bytes: Vec<u8>,
    /// The positions at which eight bytes hold the offset in the file, lowest byte first.
    pub offsets: Vec<usize>,
    /// Files whose bytes still have to be inserted, with their positions. A finished job has none.
    pub files: Vec<(usize, String)>,
}

/// `verify=` and its companions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verify {
    /// The checksum or pattern.
    pub kind: VerifyKind,
    /// Read back after writing.
    pub read_back: bool,
    /// Bytes between headers; `None`: the block size.
    pub interval: Option<u32>,
    /// Offset of the header within its interval, bytes.
    pub header_offset: u32,
    /// `verify_pattern`.
    pub pattern: Option<BytePattern>,
    /// The pattern begins again after this number of bytes of a block; 0: with each block.
    pub pattern_interval: u32,
    /// `verify_async`: the number of threads that check; 0: the worker checks.
    pub threads: u32,
    /// The processors of these threads; empty: those of the worker.
    pub thread_processors: Vec<u32>,
    /// The first mismatch ends the job.
    pub fatal: bool,
    /// Write the expected and the received block into files.
    pub dump: bool,
    /// Directory of the dumps and saved states; `None`: the working directory.
    pub aux_path: Option<String>,
    /// Read back and check while writing goes on.
    pub backlog: VerifyBacklog,
    /// Only check: the offsets are generated as in the write phase, and nothing is written.
    pub only: bool,
    /// Blocks must come from this run and from the last write to them.
    pub fresh: bool,
    /// Save how far the writes had come when the job ended.
    pub state_save: bool,
    /// Check only as far as a saved state says.
    pub state_load: bool,
    /// Check only what was written before the last fsync or fdatasync.
    pub only_synced: bool,
    /// Trims among the writes.
    pub trims: Option<TrimBacklog>,
}

/// `verify_backlog` and its companion: written blocks are read back before all blocks are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VerifyBacklog {
    /// Number of writes after which their blocks are read back; 0: only at the end.
    pub writes: u64,
    /// Number of blocks that are read back then; 0: as many as `writes`.
    pub batch: u64,
}

/// `trim_percentage` and its companions: some of the written blocks are trimmed again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrimBacklog {
    /// Share of the writes whose blocks are trimmed.
    pub percent: u32,
    /// Number of writes after which a batch of trims follows.
    pub backlog: u64,
    /// Number of trims in a batch; 0: as many as the backlog.
    pub batch: u64,
    /// Trimmed blocks must read as zeroes; otherwise they are not read.
    pub read_as_zeroes: bool,
}

/// Checksums of `verify=`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
    Sha3Of224,
    Sha3Of256,
    Sha3Of384,
    Sha3Of512,
    Xxhash,
    Pattern,
    PatternHeader,
    Meta,
    #[default]
    Null,
}

impl VerifyKind {
    /// Bytes before the digest in the header of a checked interval, as fio 3.33 lays it out.
    pub const HEADER_LENGTH: usize = 40;

    /// Bytes of the digest that follows this header.
    pub fn digest_length(self) -> usize {
        match self {
            VerifyKind::Crc7 => 1,
            VerifyKind::Crc16 => 2,
            VerifyKind::Crc32 | VerifyKind::Crc32c | VerifyKind::Xxhash => 4,
            VerifyKind::Crc64 => 8,
            VerifyKind::Md5 => 16,
            VerifyKind::Sha1 => 20,
            VerifyKind::Sha3Of224 => 28,
            VerifyKind::Sha3Of256 => 32,
            VerifyKind::Sha3Of384 => 48,
            // fio keeps SHA-256's last block.
            VerifyKind::Sha256 | VerifyKind::Sha512 | VerifyKind::Sha3Of512 => 64,
            VerifyKind::Pattern | VerifyKind::PatternHeader | VerifyKind::Meta | VerifyKind::Null => 0,
        }
    }

    /// fio's word.
    pub fn name(self) -> &'static str {
        match self {
            VerifyKind::Crc7 => "crc7",
            VerifyKind::Crc16 => "crc16",
            VerifyKind::Crc32 => "crc32",
            VerifyKind::Crc32c => "crc32c",
            VerifyKind::Crc64 => "crc64",
            VerifyKind::Md5 => "md5",
            VerifyKind::Sha1 => "sha1",
            VerifyKind::Sha256 => "sha256",
            VerifyKind::Sha512 => "sha512",
            VerifyKind::Sha3Of224 => "sha3-224",
            VerifyKind::Sha3Of256 => "sha3-256",
            VerifyKind::Sha3Of384 => "sha3-384",
            VerifyKind::Sha3Of512 => "sha3-512",
            VerifyKind::Xxhash => "xxhash",
            VerifyKind::Pattern => "pattern",
            VerifyKind::PatternHeader => "pattern_hdr",
            VerifyKind::Meta => "meta",
            VerifyKind::Null => "null",
        }
    }

    /// Whether each checked interval begins with a header.
    pub fn has_header(self) -> bool {
        !matches!(self, VerifyKind::Pattern | VerifyKind::Null)
    }
}
