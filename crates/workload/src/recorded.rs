//! Recorded I/O: makes requests from a log, each with its recorded time.
//!
//! A log is read piece by piece, so that memory does not grow with it. It is read twice: [`Summary::of`] finds the
//! files and all errors before anything is done; [`Recorded`] makes the requests.

mod blocks;
mod chunk;
mod input;
mod lines;
mod merge;
mod records;

use std::io::Read;
use std::sync::Arc;

use fsdyno_job::{Access, ReplayOptions};

use crate::op::{BLOCK_OPS, Block, NO_INSTANT};
use input::FromBegin;
pub use input::LogInput;
pub use merge::{MergeError, TraceToMerge, merge};
pub use records::LogError;
use records::Records;

/// What a log contains, without its requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// The files with I/O; [`Op::file`](crate::Op::file) numbers them from 0.
    pub files: Vec<ReplayedFile>,
    /// Number of requests.
    pub requests: u64,
    /// Number of requests with a recorded time.
    pub timed: u64,
    /// Length of the shortest request, then of the longest, bytes.
    pub lengths: (u64, u64),
    /// Sum of the lengths of all requests, bytes.
    pub bytes: u64,
    /// Largest number of requests in flight in a trace of blktrace, whose files are devices `major:minor` unless they
    /// are redirected. `None`: an iolog does not contain it.
    pub depth: Option<u32>,
}

/// A file of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplayedFile {
    /// Its name, as a text of the fio language.
    pub name: String,
    /// Largest end of a transfer, bytes.
    pub end: u64,
    /// Line or record of the first transfer with this end.
    pub end_at: u64,
    /// Line or record of the first request of the file.
    pub first_at: u64,
    /// Whether the file has reads, writes, trims, syncs.
    pub kinds: [bool; 4],
}

impl Summary {
    /// Reads the whole log.
    ///
    /// # Errors
    /// What is wrong with the log, and where.
    pub fn of(input: &mut dyn Read, options: &ReplayOptions) -> Result<Summary, LogError> {
        let mut records = Records::new(options);
        let mut summary = Summary::default();
        while let Some(record) = records.next(input)? {
            let op = record.op;
            let index = op.file as usize;
            if index == summary.files.len() {
                let name = fsdyno_job::bytes::text(records.file_name(index));
                summary.files.push(ReplayedFile { name, first_at: record.number, ..ReplayedFile::default() });
            }
            let file = &mut summary.files[index];
            file.kinds[op.kind.lane()] = true;
            if op.kind.direction().is_some() && op.offset + op.length > file.end {
                (file.end, file.end_at) = (op.offset + op.length, record.number);
            }
            summary.requests += 1;
            summary.timed += u64::from(record.due_ns != NO_INSTANT);
            if op.length > 0 {
                let (min, max) = summary.lengths;
                summary.lengths = (if min == 0 { op.length } else { min.min(op.length) }, max.max(op.length));
                summary.bytes = summary.bytes.saturating_add(op.length);
            }
        }
        match summary.requests {
            0 => Err(records.error("the log holds no I/O that is replayed")),
            _ => {
                summary.depth = records.depth();
                // A log with only syncs has no lengths, but a block size of 0 is not valid.
                summary.lengths.1 = summary.lengths.1.max(1);
                summary.lengths.0 = summary.lengths.0.max(1);
                Ok(summary)
            }
        }
    }

    /// The directions that the log contains.
    pub fn access(&self) -> Access {
        let any = |lane: usize| self.files.iter().any(|file| file.kinds[lane]);
        let (writes, trims) = (any(1), any(2));
        Access { reads: any(0) || !writes && !trims, writes, trims, random: false }
    }

    /// Whether the log contains syncs.
    pub fn syncs(&self) -> bool {
        self.files.iter().any(|file| file.kinds[3])
    }
}

/// Makes the requests of a log.
#[derive(Clone, Debug)]
pub(crate) struct Recorded {
    records: Records,
    input: FromBegin,
    keeps_time: bool,
    fault: Option<LogError>,
}

impl Recorded {
    pub(crate) fn new(input: Arc<dyn LogInput>, options: &ReplayOptions) -> Recorded {
        let input = FromBegin::of(input);
        Recorded { records: Records::new(options), input, keeps_time: !options.no_stall, fault: None }
    }

    /// Fills the block; false: the log has ended. It is a separate function, so that the function for all other jobs
    /// stays small.
    #[cold]
    #[inline(never)]
    pub(crate) fn refill(&mut self, block: &mut Block) -> bool {
        let stamps = if self.keeps_time {
            Some(block.intended_ns.get_or_insert_with(|| Box::new([0; BLOCK_OPS])))
        } else {
            None
        };
        let mut stamps = stamps.map(|stamps| stamps.iter_mut());
        while block.len < BLOCK_OPS && self.fault.is_none() {
            match self.records.next(&mut self.input) {
                Ok(Some(record)) => {
                    block.ops[block.len] = record.op;
                    if let Some(stamp) = stamps.as_mut().and_then(Iterator::next) {
                        *stamp = record.due_ns;
                    }
                    block.len += 1;
                }
                Ok(None) => break,
                Err(error) => self.fault = Some(error),
            }
        }
        block.len > 0
    }

    /// The error because of which the requests ended before the log.
    pub(crate) fn fault(&self) -> Option<&LogError> {
        self.fault.as_ref()
    }
}

#[cfg(test)]
mod tests;
