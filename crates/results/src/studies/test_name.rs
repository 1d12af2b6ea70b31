//! The names of tests, which are the same in tables, JSON, CSV, conditions and options.

/// Writes the file that the tests use; it is not a test.
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
/// 4 KiB writes, each made durable by an fdatasync before the next; the latency is that of the fdatasync.
pub const SYNC_LATENCY: &str = "sync-latency";

/// Phases whose title differs from their name in JSON and CSV.
const TITLES: [(&str, &str); 5] = [
    ("stat-hot", "hot stat"),
    ("stat-cold", "cold stat"),
    ("open-read", "open+read"),
    ("fsync-file", "write+fsync"),
    ("fsync-directory", "create+fsync of dir"),
];

/// The title of a phase in tables for people; for any other test, its name.
pub fn title_of_phase(pattern: &str) -> &str {
    TITLES.iter().find(|(name, _)| *name == pattern).map_or(pattern, |(_, title)| *title)
}

/// Calls that are timed as a part of another phase, with that phase.
const PARTS: [(&str, &str); 3] =
    [("write-close", "write"), ("fsync-file-only", "fsync-file"), ("fsync-directory-only", "fsync-directory")];

/// The phase of which this is a part; `None`: it is a test of its own.
pub fn phase_of_part(pattern: &str) -> Option<&'static str> {
    PARTS.iter().find(|(part, _)| *part == pattern).map(|(_, phase)| *phase)
}

/// A test of another tool, under that tool's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Familiar {
    /// The tool's name for it.
    pub name: &'static str,
    /// Whether requests are random and small, so that IOPS and latency matter.
    pub is_random: bool,
    /// The test that reads.
    pub read: &'static str,
    /// The test that writes.
    pub write: &'static str,
}

macro_rules! familiar {
    ($name:literal, $is_random:literal) => {
        Familiar { name: $name, is_random: $is_random, read: concat!($name, " read"), write: concat!($name, " write") }
    };
}

/// The rows of CrystalDiskMark and KDiskMark.
pub const CDM: [Familiar; 4] = [
    familiar!("SEQ1M Q8T1", false),
    familiar!("SEQ1M Q1T1", false),
    familiar!("RND4K Q32T1", true),
    familiar!("RND4K Q1T1", true),
];
/// The command lines of diskspd's documentation, by block size, order, `-o` and `-t`.
pub const DISKSPD: [Familiar; 4] = [
    familiar!("64K seq o2t1", false),
    familiar!("8K rnd o128t4", true),
    familiar!("4K rnd o32t8", true),
    familiar!("4K rnd o1t1", true),
];

/// The tests of all other tools.
pub fn familiar() -> impl Iterator<Item = &'static Familiar> {
    CDM.iter().chain(&DISKSPD)
}
