//! The rows of logs, as workers send them to the log thread.

use fsdyno_job::Direction;

/// Submission latency of an engine that has none: its slat log stays empty.
pub(crate) const NO_SUBMISSION: u64 = u64::MAX;

/// The figure that a log file contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum LoggedFigure {
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
    /// Completion latencies by bucket of the histogram.
    Histogram,
}

impl LoggedFigure {
    /// All subjects, in the order of their numbers.
    pub const ALL: [LoggedFigure; 6] = [
        LoggedFigure::Bandwidth,
        LoggedFigure::Iops,
        LoggedFigure::Slat,
        LoggedFigure::Clat,
        LoggedFigure::Lat,
        LoggedFigure::Histogram,
    ];

    /// The suffix of the file's name, before its number.
    pub fn suffix(self) -> &'static str {
        match self {
            LoggedFigure::Bandwidth => "bw",
            LoggedFigure::Iops => "iops",
            LoggedFigure::Slat => "slat",
            LoggedFigure::Clat => "clat",
            LoggedFigure::Lat => "lat",
            LoggedFigure::Histogram => "clat_hist",
        }
    }
}

/// The logged figures of a request or of a window. Times count from the start of the measured part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogRow {
    /// One I/O: a line in each of the logs. `priority`: its own I/O priority; 0: that of its thread.
    Request { at_ns: u64, offset: u64, slat_ns: u64, clat_ns: u64, length: u64, direction: Direction, priority: u16 },
    /// One window: a line in one log.
    Window { at_ms: u64, value: u64, largest: u64, subject: LoggedFigure, direction: Direction },
}

/// The completion latencies of one direction in a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HistogramRow {
    pub(super) at_ms: u64,
    pub(super) direction: Direction,
    /// Mean size of the I/Os in the window.
    pub(super) block_bytes: u64,
    pub(super) counts: Vec<u64>,
}

/// The rows that a worker sends at once.
#[derive(Debug, Default)]
pub(super) struct Chunk {
    /// Number that is added to each time, ms.
    pub(super) epoch_ms: u64,
    pub(super) rows: Vec<LogRow>,
    pub(super) histograms: Vec<HistogramRow>,
}

impl Chunk {
    pub(super) fn of(rows: usize) -> Chunk {
        Chunk { rows: Vec::with_capacity(rows), ..Chunk::default() }
    }

    /// Number of rows of all kinds.
    pub(super) fn len(&self) -> usize {
        self.rows.len() + self.histograms.len()
    }

    pub(super) fn clear(&mut self) {
        self.rows.clear();
        self.histograms.clear();
    }
}
