//! The names of the tests: the same in tables, JSON, CSV, conditions and options.

/// Writes the file that the tests use: no test itself.
pub const FILL: &str = "fill";
/// Sequential reads of 1 MiB.
pub const SEQ_READ: &str = "seq-read";
/// Sequential writes of 1 MiB.
pub const SEQ_WRITE: &str = "seq-write";
/// Sequential reads of 64 KiB.
pub const SEQ_READ_64K: &str = "seq-read-64k";
/// Sequential writes of 64 KiB.
pub const SEQ_WRITE_64K: &str = "seq-write-64k";
/// Random 4 KiB reads, many in flight.
pub const RAND_READ: &str = "rand-read";
/// Random 4 KiB writes, many in flight.
pub const RAND_WRITE: &str = "rand-write";
/// Random 4 KiB reads, one in flight.
pub const READ_LATENCY: &str = "read-latency";
/// Random 4 KiB writes, one in flight.
pub const WRITE_LATENCY: &str = "write-latency";
/// 4 KiB writes, each made durable by an fdatasync before the next; its latency is that of the fdatasync.
pub const SYNC_LATENCY: &str = "sync-latency";
