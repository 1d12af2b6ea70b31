//! `measure`: how fast is it? Latency, IOPS, throughput, and what the three have to do with each other.

use std::path::Path;

use results::evidence::{DirectIoIdentity, StorageClass};
use results::{Question, Severity, Study};

use crate::bench::StopRule;
use crate::study::{Asking, Place, job_path, planned_row};
use crate::workplace::{Workplace, room_bytes};
use crate::{Problem, Watcher};

/// How thorough.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Effort {
    /// Within 20 s.
    Quick,
    /// About a minute.
    #[default]
    Normal,
    /// The published lines of case D: 60 s each, 10 GiB a file.
    Full,
}

/// What was asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// How thorough.
    pub effort: Effort,
    /// Bytes of the file; `None`: adapted to space, memory and speed.
    pub size_bytes: Option<u64>,
    /// The filesystem type that it must be.
    pub expected: Option<String>,
}

/// One thing to measure.
struct Test {
    pattern: &'static str,
    title: &'static str,
    words: &'static [&'static str],
}

/// The tests, in the order in which they run: the writes of a pattern before its reads, so that no read meets data
/// that was never written.
const TESTS: [Test; 8] = [
    Test {
        pattern: "latency-write",
        title: "4k random write, depth 1",
        words: &["--rw=randwrite", "--bs=4k", "--iodepth=1"],
    },
    Test {
        pattern: "latency-read",
        title: "4k random read, depth 1",
        words: &["--rw=randread", "--bs=4k", "--iodepth=1"],
    },
    Test {
        pattern: "iops-write",
        title: "4k random write, depth 32",
        words: &["--rw=randwrite", "--bs=4k", "--iodepth=32"],
    },
    Test {
        pattern: "iops-read",
        title: "4k random read, depth 32",
        words: &["--rw=randread", "--bs=4k", "--iodepth=32"],
    },
    Test {
        pattern: "throughput-64k-write",
        title: "64k sequential write, depth 32",
        words: &["--rw=write", "--bs=64k", "--iodepth=32", "--end_fsync=1"],
    },
    Test {
        pattern: "throughput-64k-read",
        title: "64k sequential read, depth 32",
        words: &["--rw=read", "--bs=64k", "--iodepth=32"],
    },
    Test {
        pattern: "throughput-1m-write",
        title: "1m sequential write, depth 16",
        words: &["--rw=write", "--bs=1m", "--iodepth=16", "--end_fsync=1"],
    },
    Test {
        pattern: "throughput-1m-read",
        title: "1m sequential read, depth 16",
        words: &["--rw=read", "--bs=1m", "--iodepth=16"],
    },
];

/// Measures one place.
///
/// # Errors
/// When the place cannot be used; nothing is left there then.
pub fn measure(
    place: &Place,
    options: &Options,
    version: &str,
    command: Vec<String>,
    control: std::sync::Arc<run::Control>,
    watcher: &mut dyn Watcher,
) -> Result<Study, Problem> {
    let mut asking = Asking::begin(Question::Measure, std::slice::from_ref(place), version, command, control, watcher);
    let size_bytes = file_size(&mut asking, &place.path, options);
    let work = Workplace::open(&place.path, options.expected.as_deref(), size_bytes)?;
    asking.steps.1 = TESTS.len();
    let direct = uses_direct(&mut asking);
    for test in &TESTS {
        if asking.stopped() {
            break;
        }
        let command = line(test, &job_path(&work.file("measure.dat"))?, size_bytes, direct, options.effort);
        asking.run_row(planned_row(0, test.pattern, test.title, 0, command), stop_rule(options.effort))?;
    }
    work.close()?;
    Ok(asking.finish())
}

fn line(test: &Test, file: &str, size_bytes: u64, direct: bool, effort: Effort) -> Vec<String> {
    let (ramp_ms, runtime_s) = match effort {
        Effort::Quick => (300, 1),
        _ => (1000, 8),
    };
    let mut words = vec![
        format!("--name={}", test.pattern),
        format!("--filename={file}"),
        format!("--size={size_bytes}"),
        "--ioengine=libaio".to_string(),
        format!("--direct={}", u8::from(direct)),
        "--time_based=1".to_string(),
        format!("--runtime={runtime_s}"),
        format!("--ramp_time={ramp_ms}ms"),
        "--fallocate=none".to_string(),
    ];
    words.extend(test.words.iter().map(|word| word.to_string()));
    words
}

fn stop_rule(effort: Effort) -> StopRule {
    match effort {
        Effort::Normal => StopRule::Settled { least_s: 3.0, windows: 6, tolerance: 0.05 },
        Effort::Quick | Effort::Full => StopRule::AsWritten,
    }
}

/// Whether files there are opened with O_DIRECT; that they are not is said.
fn uses_direct(asking: &mut Asking<'_>) -> bool {
    let storage = &asking.study.targets[0].storage;
    let refused = storage.direct_io.value() == Some(&DirectIoIdentity::Refused);
    let memory = storage.class == StorageClass::Memory;
    if refused && !memory {
        let text = "the filesystem refuses direct I/O: the page cache takes part in all figures";
        asking.note("direct-refused", Severity::Caution, text);
    }
    !refused && !memory
}

/// Bytes of the file: as asked, or a part of what may be used.
fn file_size(asking: &mut Asking<'_>, path: &Path, options: &Options) -> u64 {
    if let Some(size_bytes) = options.size_bytes {
        return size_bytes;
    }
    let wanted: u64 = match options.effort {
        Effort::Quick => 256 << 20,
        Effort::Normal => 1 << 30,
        Effort::Full => 10 << 30,
    };
    let room = room_bytes(path).unwrap_or(u64::MAX) / 2;
    let size_bytes = wanted.min(room).max(16 << 20) >> 20 << 20;
    if size_bytes < wanted {
        let text = format!("the file has {} MiB instead of {} MiB, for want of space", size_bytes >> 20, wanted >> 20);
        asking.note("size-adapted", Severity::Caution, text);
    }
    size_bytes
}
