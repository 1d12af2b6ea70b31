//! The tests of other tools (CrystalDiskMark, diskspd), for comparison with their published figures.

use fsdyno_results::test_name::{CDM, DISKSPD, Familiar, familiar};
use fsdyno_run::StopRule;
use fsdyno_text::quantity::counted;

use super::lines::{Test, Timing, test};

/// A tool whose tests are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Like {
    /// CrystalDiskMark, and KDiskMark with the same rows.
    Cdm,
    /// Microsoft's diskspd.
    Diskspd,
}

/// In CrystalDiskMark's order: all reads, then all writes.
static CDM_TESTS: [Test; 8] = [
    test(CDM[0].read, "1m sequential read, depth 8", &["--rw=read", "--bs=1m", "--iodepth=8"]),
    test(CDM[1].read, "1m sequential read, depth 1", &["--rw=read", "--bs=1m", "--iodepth=1"]),
    test(CDM[2].read, "4k random read, depth 32", &["--rw=randread", "--bs=4k", "--iodepth=32", "--randrepeat=0"]),
    test(CDM[3].read, "4k random read, depth 1", &["--rw=randread", "--bs=4k", "--iodepth=1", "--randrepeat=0"]),
    test(
        CDM[0].write,
        "1m sequential write, depth 8",
        &["--rw=write", "--bs=1m", "--iodepth=8", "--refill_buffers=1", "--end_fsync=1"],
    ),
    test(
        CDM[1].write,
        "1m sequential write, depth 1",
        &["--rw=write", "--bs=1m", "--iodepth=1", "--refill_buffers=1", "--end_fsync=1"],
    ),
    test(
        CDM[2].write,
        "4k random write, depth 32",
        &["--rw=randwrite", "--bs=4k", "--iodepth=32", "--randrepeat=0", "--refill_buffers=1", "--end_fsync=1"],
    ),
    test(
        CDM[3].write,
        "4k random write, depth 1",
        &["--rw=randwrite", "--bs=4k", "--iodepth=1", "--randrepeat=0", "--refill_buffers=1", "--end_fsync=1"],
    ),
];

/// With diskspd's `-Sh`, which bypasses the caches: direct I/O, and each write is durable before it returns.
static DISKSPD_TESTS: [Test; 8] = [
    test(DISKSPD[0].read, "64k sequential read, depth 2", &["--rw=read", "--bs=64k", "--iodepth=2"]),
    test(
        DISKSPD[1].read,
        "8k random read, depth 128, 4 jobs",
        &["--rw=randread", "--bs=8k", "--iodepth=128", "--numjobs=4"],
    ),
    test(
        DISKSPD[2].read,
        "4k random read, depth 32, 8 jobs",
        &["--rw=randread", "--bs=4k", "--iodepth=32", "--numjobs=8"],
    ),
    test(DISKSPD[3].read, "4k random read, depth 1", &["--rw=randread", "--bs=4k", "--iodepth=1"]),
    test(DISKSPD[0].write, "64k sequential write, depth 2", &["--rw=write", "--bs=64k", "--iodepth=2", "--sync=dsync"]),
    test(
        DISKSPD[1].write,
        "8k random write, depth 128, 4 jobs",
        &["--rw=randwrite", "--bs=8k", "--iodepth=128", "--numjobs=4", "--sync=dsync"],
    ),
    test(
        DISKSPD[2].write,
        "4k random write, depth 32, 8 jobs",
        &["--rw=randwrite", "--bs=4k", "--iodepth=32", "--numjobs=8", "--sync=dsync"],
    ),
    test(DISKSPD[3].write, "4k random write, depth 1", &["--rw=randwrite", "--bs=4k", "--iodepth=1", "--sync=dsync"]),
];

impl Like {
    /// All tools, by their names in `--like`.
    pub const NAMED: [(&'static str, Like); 2] = [("cdm", Like::Cdm), ("diskspd", Like::Diskspd)];

    /// The tool of this name.
    pub fn named(name: &str) -> Option<Like> {
        Like::NAMED.into_iter().find(|(known, _)| *known == name).map(|(_, like)| like)
    }

    fn familiar(self) -> &'static [Familiar] {
        match self {
            Like::Cdm => &CDM,
            Like::Diskspd => &DISKSPD,
        }
    }

    /// The names of its tests: a name for both directions, or for one.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        self.familiar().iter().flat_map(|test| [test.name, test.read, test.write])
    }

    pub(super) fn tests(self) -> &'static [Test] {
        match self {
            Like::Cdm => &CDM_TESTS,
            Like::Diskspd => &DISKSPD_TESTS,
        }
    }

    /// The times of KDiskMark's source, and of diskspd without options; the file size is that of diskspd's sample
    /// lines.
    pub(super) fn timing(self) -> Timing {
        let (file_bytes, ramp_ms, runtime_ms, interval_s) = match self {
            Like::Cdm => (1 << 30, 0, 5000, 5),
            Like::Diskspd => (2 << 30, 5000, 10_000, 0),
        };
        Timing {
            file_bytes,
            daemon_file_bytes: file_bytes,
            total_s: u32::MAX,
            fill_s: u32::MAX,
            ramp_ms,
            runtime_ms,
            interval_s,
            stop_rule: StopRule::AsWritten,
        }
    }

    /// Number of loops of each test.
    pub(super) fn loops(self) -> u32 {
        match self {
            Like::Cdm => 5,
            Like::Diskspd => 1,
        }
    }

    /// A sentence on how the figures compare with the tool's own.
    pub(super) fn sentence(self, loops: u32) -> String {
        let times = if loops == 1 { "once".to_string() } else { counted(u64::from(loops), "time") };
        match self {
            Like::Cdm if loops > 1 => format!(
                "The tests are those of CrystalDiskMark and KDiskMark, each run {times} on the same file. Rates are medians \
                 of these loops: CrystalDiskMark shows the best loop, KDiskMark the mean."
            ),
            Like::Cdm => format!(
                "The tests are those of CrystalDiskMark and KDiskMark, each run {times}. These tools run each 5 times: \
                 CrystalDiskMark shows the best loop, KDiskMark the mean."
            ),
            Like::Diskspd => format!(
                "The tests are lines of diskspd's documentation, each run {times} on the same file, with every write \
                 durable before it returns (-Sh)."
            ),
        }
    }
}

/// The names of the tests of all tools.
pub fn familiar_names() -> impl Iterator<Item = &'static str> {
    familiar().flat_map(|test| [test.name, test.read, test.write])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_what_its_line_does() {
        for (_, like) in Like::NAMED {
            let all: Vec<&str> = like.familiar().iter().flat_map(|test| [test.read, test.write]).collect();
            assert_eq!(like.tests().len(), all.len());
            for test in like.tests() {
                assert!(all.contains(&test.pattern));
                let value = |key: &str| test.words.iter().find_map(|word| word.strip_prefix(key)).unwrap_or("1");
                let [size, order] = match like {
                    Like::Cdm => [test.pattern[3..5].to_string(), test.pattern[..3].to_lowercase()],
                    Like::Diskspd => [0, 1].map(|index| test.pattern.split(' ').nth(index).unwrap().to_string()),
                };
                assert_eq!(value("--bs="), size.to_lowercase(), "{}", test.pattern);
                let (depth, jobs) = (value("--iodepth="), value("--numjobs="));
                let queue = match like {
                    Like::Cdm => format!(" Q{depth}T{jobs} "),
                    Like::Diskspd => format!(" o{depth}t{jobs} "),
                };
                assert!(test.pattern.contains(&queue), "{}", test.pattern);
                let direction = test.pattern.rsplit(' ').next().unwrap();
                let order = if order == "seq" { "" } else { "rand" };
                assert_eq!(value("--rw="), format!("{order}{direction}"), "{}", test.pattern);
            }
        }
    }
}
