//! Logs over time: `write_bw_log`, `write_lat_log`, `write_iops_log`.
//!
//! A worker puts rows into a chunk of its own, allocated before its first I/O, and hands it over when it is full or a
//! second old. One thread for the run turns rows into lines and gives the chunk back. So a log may grow for hours in
//! constant memory: each worker has at most [`CHUNKS_MAX`] chunks under way. One whose I/O is faster than its log waits,
//! and says so afterwards: nothing is left out. What was handed over is in the file, however the process ends.

mod buffer;
mod files;
mod lines;
mod windows;
mod writer;

use job::Direction;

pub(crate) use buffer::LogBuffer;
pub(crate) use writer::{LogSender, LogWriter};

use crate::plan::Plan;

/// Rows of a chunk: some 80 KiB.
const CHUNK_ROWS: usize = 2048;

/// Rows of a chunk of an averaged log: it is handed over by time.
const WINDOW_CHUNK_ROWS: usize = 64;

/// Chunks of one worker under way, the one it fills included.
const CHUNKS_MAX: usize = 8;

/// Submission latency of the engines that have none: their slat log stays empty.
pub(crate) const NO_SUBMISSION: u64 = u64::MAX;

/// What a log is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Subject {
    /// KiB/s.
    Bandwidth,
    /// I/Os per second.
    Iops,
    /// Submission latency, ns.
    Slat,
    /// Completion latency, ns.
    Clat,
    /// Total latency, ns.
    Lat,
}

impl Subject {
    const ALL: [Subject; 5] = [Subject::Bandwidth, Subject::Iops, Subject::Slat, Subject::Clat, Subject::Lat];

    /// How the file's name ends, before its number.
    fn suffix(self) -> &'static str {
        match self {
            Subject::Bandwidth => "bw",
            Subject::Iops => "iops",
            Subject::Slat => "slat",
            Subject::Clat => "clat",
            Subject::Lat => "lat",
        }
    }
}

/// What a worker hands over. Times count from the beginning of what is measured, or from the Unix epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Row {
    /// One I/O: a line in each of the logs.
    Request { at_ns: u64, offset: u64, slat_ns: u64, clat_ns: u64, length: u32, direction: Direction },
    /// One window: a line in one log.
    Window { at_ms: u64, value: u64, largest: u64, subject: Subject, direction: Direction },
}

/// Makes the log files of the plan, empty: whether they can be written is known before anything runs. The error is a
/// sentence.
pub fn claim_logs(plan: &Plan) -> Result<(), String> {
    files::LogFiles::open(plan).map(drop)
}
