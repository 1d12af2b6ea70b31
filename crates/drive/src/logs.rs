//! Logs over time: `write_bw_log`, `write_lat_log`, `write_iops_log`, `write_hist_log`.
//!
//! A worker writes rows into a chunk of its own, which is allocated before its first I/O, and sends the chunk to the
//! log thread when it is full or a second old. One thread per run turns rows into lines and returns the chunk. So a
//! log may grow for hours in constant memory: each worker has at most [`CHUNKS_MAX`] chunks. A worker whose I/O is
//! faster than its log waits, and reports that afterwards; no row is dropped. Rows that were sent are in the file,
//! however the process ends; of a compressed log, the part that was not yet compressed (`log_compression`) may be
//! missing.

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
pub use rows::LoggedFigure;
pub(crate) use rows::NO_SUBMISSION;
pub use writer::{LogFile, LogSender, LogWriter, Targets};

/// Rows of a chunk: about 80 KiB.
const CHUNK_ROWS: usize = 2048;

/// Rows of a chunk of an averaged log, which is sent after a time.
const WINDOW_CHUNK_ROWS: usize = 64;

/// Histograms of a chunk: about 120 KiB.
const CHUNK_HISTOGRAMS: usize = 8;

/// Largest number of chunks of one worker, with the one that it fills.
const CHUNKS_MAX: usize = 8;

/// The time of a clock of the system, ms since its epoch; `None`: it cannot be read.
pub fn epoch_ms(clock: u32) -> Option<u64> {
    const WALL_CLOCK: u32 = 0;
    match clock {
        WALL_CLOCK => Some(crate::wall::now_ms()),
        other => fsdyno_os::clock::system_clock_ns(other).map(|ns| ns / 1_000_000),
    }
}
