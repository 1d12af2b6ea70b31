//! Writes the command lines of `measure`.

use fsdyno_results::test_name;
use fsdyno_run::StopRule;

use crate::io_mode::IoMode;

/// One test of `measure`.
pub(super) struct Test {
    pub(super) pattern: &'static str,
    pub(super) title: &'static str,
    pub(super) words: &'static [&'static str],
    /// Number of files of the published line.
    pub(super) files: u64,
}

pub(super) const fn test(pattern: &'static str, title: &'static str, words: &'static [&'static str]) -> Test {
    Test { pattern, title, words, files: 1 }
}

/// The tests in the order in which they run; the least wanted ones are last, as the time may not suffice for them.
pub(super) const TESTS: [Test; 9] = [
    test(test_name::READ_LATENCY, "4k random read, depth 1", &["--rw=randread", "--bs=4k", "--iodepth=1"]),
    test(test_name::RAND_READ, "4k random read, depth 32", &["--rw=randread", "--bs=4k", "--iodepth=32"]),
    test(test_name::SEQ_READ, "1m sequential read, depth 16", &["--rw=read", "--bs=1m", "--iodepth=16"]),
    test(
        test_name::WRITE_LATENCY,
        "4k random write, depth 1",
        &["--rw=randwrite", "--bs=4k", "--iodepth=1", "--end_fsync=1"],
    ),
    // As a database writes its log: one write at a time through the page cache, durable before the next.
    test(
        test_name::SYNC_LATENCY,
        "4k write + fdatasync, depth 1",
        &["--ioengine=psync", "--direct=0", "--rw=write", "--bs=4k", "--fdatasync=1"],
    ),
    test(
        test_name::RAND_WRITE,
        "4k random write, depth 32",
        &["--rw=randwrite", "--bs=4k", "--iodepth=32", "--end_fsync=1"],
    ),
    test(
        test_name::SEQ_WRITE,
        "1m sequential write, depth 16",
        &["--rw=write", "--bs=1m", "--iodepth=16", "--end_fsync=1"],
    ),
    test(test_name::SEQ_READ_64K, "64k sequential read, depth 32", &["--rw=read", "--bs=64k", "--iodepth=32"]),
    test(
        test_name::SEQ_WRITE_64K,
        "64k sequential write, depth 32",
        &["--rw=write", "--bs=64k", "--iodepth=32", "--end_fsync=1"],
    ),
];

/// The names of all tests.
pub fn names() -> impl Iterator<Item = &'static str> {
    TESTS.iter().map(|test| test.pattern)
}

/// The published lines of Google's NetApp page: latency, IOPS, throughput.
pub(super) const FULL: [Test; 3] = [
    test(test_name::WRITE_LATENCY, "4k random write, depth 1", &["--rw=randwrite", "--bs=4k", "--iodepth=1"]),
    test(test_name::RAND_READ, "4k random read, depth 32", &["--rw=randread", "--bs=4k", "--iodepth=32"]),
    Test {
        pattern: test_name::SEQ_READ_64K,
        title: "64k sequential read, depth 32, 16 jobs",
        words: &["--rw=read", "--bs=64k", "--iodepth=32", "--numjobs=16"],
        files: 16,
    },
];

/// Bytes of a file of the published lines.
pub(super) const FULL_FILE_BYTES: u64 = 10 << 30;

/// The time limits and the file sizes of a study.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timing {
    /// Largest file, bytes.
    pub(super) file_bytes: u64,
    /// Largest file where a daemon may upload the whole file at each sync, bytes.
    pub(super) daemon_file_bytes: u64,
    /// All tests together, s; a test that would end later does not begin.
    pub(super) total_s: u32,
    /// Time limit of the fill, s.
    pub(super) fill_s: u32,
    /// Ramp of each test, ms.
    pub(super) ramp_ms: u32,
    /// Longest measuring of each test, ms.
    pub(super) runtime_ms: u32,
    /// Rest of the storage before each test, s.
    pub(super) interval_s: u32,
    /// The rule by which a test may end earlier.
    pub(super) stop_rule: StopRule,
}

impl Test {
    /// Whether the test syncs; how long that takes depends on the storage.
    pub(super) fn syncs(&self) -> bool {
        self.words.iter().any(|word| word.contains("sync=1"))
    }

    /// Whether the test names its own engine.
    fn has_engine(&self) -> bool {
        self.words.iter().any(|word| word.starts_with("--ioengine="))
    }
}

impl Timing {
    pub(super) const QUICK: Timing = Timing {
        file_bytes: 256 << 20,
        daemon_file_bytes: 16 << 20,
        total_s: 15,
        fill_s: 2,
        ramp_ms: 200,
        runtime_ms: 1050,
        interval_s: 0,
        stop_rule: StopRule::AsWritten,
    };
    pub(super) const NORMAL: Timing = Timing {
        file_bytes: 2 << 30,
        daemon_file_bytes: 128 << 20,
        total_s: 75,
        fill_s: 8,
        ramp_ms: 1000,
        runtime_ms: 6000,
        interval_s: 0,
        stop_rule: StopRule::Settled { least_s: 3.0, windows: 6, tolerance: 0.05 },
    };

    /// The longest time of a test without its sync, ms.
    pub(super) fn own_ms(&self) -> u64 {
        u64::from(self.ramp_ms + self.runtime_ms)
    }

    /// The time of one loop of a test with `loops`, with its share of the rest before the first loop, ms.
    pub(super) fn step_ms(&self, loops: u32) -> u64 {
        self.own_ms() + u64::from(self.interval_s) * 1000 / u64::from(loops.max(1))
    }

    /// The measuring time of each test, as its line writes it.
    pub(super) fn runtime(&self) -> String {
        format!("{}ms", self.runtime_ms)
    }

    /// The same with `runtime_s` for each test, and no limit on the total.
    pub(super) fn lasting(self, runtime_s: u32) -> Timing {
        let runtime_ms = runtime_s.saturating_mul(1000);
        Timing { runtime_ms, total_s: u32::MAX, stop_rule: StopRule::AsWritten, ..self }
    }
}

/// The line of a test on the file that was filled.
pub(super) fn adapted(test: &Test, io_mode: &IoMode, file: &str, size_bytes: u64, timing: Timing) -> Vec<String> {
    let mut words = common(test, io_mode, file, size_bytes);
    words.push("--time_based=1".to_string());
    words.push(format!("--runtime={}", timing.runtime()));
    if timing.ramp_ms > 0 {
        words.push(format!("--ramp_time={}ms", timing.ramp_ms));
    }
    words
}

fn common(test: &Test, io_mode: &IoMode, file: &str, size_bytes: u64) -> Vec<String> {
    let mut words = vec![
        format!("--name={}", test.pattern),
        format!("--filename={file}"),
        format!("--size={size_bytes}"),
        "--fallocate=none".to_string(),
    ];
    if test.has_engine() {
        words.push(IoMode::WHOLE_LATENCY.to_string());
    } else {
        words.extend(io_mode.words());
    }
    words.extend(test.words.iter().map(|word| word.to_string()));
    words
}

/// The published line; `size_bytes` replaces its 10 GiB if it was asked for.
pub(super) fn full(test: &Test, directory: &str, size_bytes: Option<u64>) -> Vec<String> {
    let size = size_bytes.map_or("10g".to_string(), |bytes| bytes.to_string());
    let mut words = vec![
        format!("--name={}", test.pattern),
        format!("--size={size}"),
        "--fallocate=none".to_string(),
        "--direct=1".to_string(),
        "--runtime=60".to_string(),
        "--time_based".to_string(),
        "--ramp_time=5".to_string(),
        format!("--directory={directory}"),
        "--ioengine=libaio".to_string(),
    ];
    words.extend(test.words.iter().map(|word| word.to_string()));
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_takes_its_share_of_the_rests() {
        let timing = Timing { ramp_ms: 0, runtime_ms: 5000, interval_s: 5, ..Timing::NORMAL };
        assert_eq!([1, 5].map(|loops| timing.step_ms(loops)), [10_000, 6_000]);
        assert_eq!(Timing::NORMAL.step_ms(1), Timing::NORMAL.own_ms(), "nothing rests there");
    }
}
