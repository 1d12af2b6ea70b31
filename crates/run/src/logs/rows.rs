//! The rows of log files.

use job::Direction;

/// Submission latency of the engines that have none: their slat log stays empty.
pub(crate) const NO_SUBMISSION: u64 = u64::MAX;

/// The figure that a log file holds.
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
    pub(super) const ALL: [Subject; 5] =
        [Subject::Bandwidth, Subject::Iops, Subject::Slat, Subject::Clat, Subject::Lat];

    /// How the file's name ends, before its number.
    pub(super) fn suffix(self) -> &'static str {
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
