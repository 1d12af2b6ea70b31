//! Logs over time: `write_bw_log`, `write_lat_log`, `write_iops_log`, `write_hist_log`.
//!
//! A worker puts rows into a chunk of its own, allocated before its first I/O, and hands it over when it is full or a
//! second old. One thread for the run turns rows into lines and gives the chunk back. So a log may grow for hours in
//! constant memory: each worker has at most [`CHUNKS_MAX`] chunks. A worker whose I/O is faster than its log waits, and
//! reports that afterwards; no row is dropped. Rows that were handed over are in the file, however the process ends; of
//! a compressed log, as many as `log_compression` compresses together may be missing.

mod buffer;
mod deflate;
mod histograms;
mod inflate;
mod lines;
mod rows;
mod samples;
mod windows;
mod writer;

pub use buffer::LogBuffer;
pub use inflate::{InflateError, inflate_log};
pub use lines::{Columns as LogColumns, Style};
pub(crate) use rows::NO_SUBMISSION;
pub use rows::Subject;
pub use writer::{LogFile, LogSender, LogWriter, Targets};

/// Rows of a chunk: some 80 KiB.
const CHUNK_ROWS: usize = 2048;

/// Rows of a chunk of an averaged log: it is handed over by time.
const WINDOW_CHUNK_ROWS: usize = 64;

/// Histograms of a chunk: some 120 KiB.
const CHUNK_HISTOGRAMS: usize = 8;

/// Chunks of one worker under way, the one it fills included.
const CHUNKS_MAX: usize = 8;

/// What a clock of the system says, ms since its epoch; `None`: it cannot be read.
pub fn epoch_ms(clock: u32) -> Option<u64> {
    const WALL_CLOCK: u32 = 0;
    match clock {
        WALL_CLOCK => Some(crate::wall::now_ms()),
        other => fsdyno_os::clock::system_clock_ns(other).map(|ns| ns / 1_000_000),
    }
}
