//! Logs over time: `write_bw_log`, `write_lat_log`, `write_iops_log`.
//!
//! A worker puts rows into a chunk of its own, allocated before its first I/O, and hands it over when it is full or a
//! second old. One thread for the run turns rows into lines and gives the chunk back. So a log may grow for hours in
//! constant memory: each worker has at most [`CHUNKS_MAX`] chunks. A worker whose I/O is faster than its log waits, and
//! reports that afterwards; no row is dropped. Rows that were handed over are in the file, however the process ends.

mod buffer;
mod files;
mod lines;
mod rows;
mod windows;
mod writer;

pub(crate) use buffer::LogBuffer;
pub(crate) use rows::NO_SUBMISSION;
pub(crate) use writer::{LogSender, LogWriter};

use crate::plan::Plan;

/// Rows of a chunk: some 80 KiB.
const CHUNK_ROWS: usize = 2048;

/// Rows of a chunk of an averaged log: it is handed over by time.
const WINDOW_CHUNK_ROWS: usize = 64;

/// Chunks of one worker under way, the one it fills included.
const CHUNKS_MAX: usize = 8;

/// Makes the log files of the plan, empty: whether they can be written is known before anything runs. The error is a
/// sentence.
pub fn claim_logs(plan: &Plan) -> Result<(), String> {
    files::LogFiles::open(plan).map(drop)
}
