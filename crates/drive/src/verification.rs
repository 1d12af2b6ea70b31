//! `verify=`: checks the blocks that a worker reads.

mod checkers;
mod dump;

use std::collections::BTreeMap;
use std::path::PathBuf;

use fsdyno_job::{Job, Verify};
use fsdyno_os::written;
use fsdyno_results::{Note, Severity};
use fsdyno_workload::{Expected, FileRange, Op, Seal, TRIMMED, UNNUMBERED};

use checkers::Checkers;
pub(crate) use checkers::MismatchedBlock;

/// Largest number of mismatches of one worker that are listed in full.
const LISTED_MAX: u64 = 100;

/// The name of a file in messages.
fn name(used: &[FileRange], file: u32) -> String {
    used.get(file as usize).map_or_else(|| "-".to_owned(), |file| fsdyno_job::bytes::shown(&file.name))
}

/// The flags that fio prints for a read of the job's own list of writes, and for another read.
const FLAGS_READ_BACK: u32 = 88;
const FLAGS_READ: u32 = 8;

/// Checks the blocks of one worker.
#[derive(Debug)]
pub struct Verification {
    seal: Seal,
    /// The threads that check; `None`: the worker checks.
    checkers: Option<Checkers>,
    /// The reads are of blocks that the job itself wrote.
    reads_back: bool,
    /// Blocks must come from this run.
    fresh: bool,
    /// The first mismatch ends the job, whatever errors the job survives.
    pub(crate) fatal: bool,
    /// Directory of the blocks of mismatches, and the ending of their names.
    dumps: Option<(PathBuf, String)>,
    /// Mismatches in fio's words.
    messages: Vec<String>,
    unlisted: u64,
    /// By file: the run that wrote its first checked block, and the number of blocks of other runs.
    runs: BTreeMap<u32, (u64, u64)>,
}

impl Verification {
    /// Checks blocks as the job's `verify` says. `reads_back`: the reads are of blocks that the job itself wrote.
    pub fn new(seal: Seal, job: &Job, verify: &Verify, reads_back: bool) -> Verification {
        let directory = || written::path(verify.aux_path.as_deref().unwrap_or_default());
        let dumps = || (directory(), job.name_on_node(String::new()));
        Verification {
            checkers: Checkers::start(&seal, verify.threads, &verify.thread_processors),
            seal,
            reads_back,
            fresh: reads_back && verify.fresh && !verify.only,
            fatal: verify.fatal,
            dumps: verify.dump.then(dumps),
            messages: Vec::new(),
            unlisted: 0,
            runs: BTreeMap::new(),
        }
    }

    /// Checks a block that was read and returns its mismatches. If other threads check, it returns mismatches of
    /// earlier blocks. `number`: the write that is read back.
    pub(crate) fn check(&mut self, buffer: &mut [u8], op: &Op, number: u64) -> Vec<MismatchedBlock> {
        if self.reads_back && number == UNNUMBERED {
            return Vec::new();
        }
        if !self.reads_back {
            for run in self.seal.runs(buffer) {
                let (first, others) = self.runs.entry(op.file).or_insert((run, 0));
                *others += u64::from(run != *first);
            }
        }
        let expected = match self.fresh && number != UNNUMBERED {
            _ if number == TRIMMED => Expected::Zeroes,
            true => Expected::WriteOfThisRun(number),
            false => Expected::Anybody,
        };
        if let Some(checkers) = &self.checkers {
            return checkers.hand_over(buffer, op, expected);
        }
        let Err(mismatch) = self.seal.check(buffer, op.offset, expected) else { return Vec::new() };
        vec![MismatchedBlock { mismatch, buffer: buffer.to_vec(), op: *op }]
    }

    /// Waits for the other threads and returns the mismatches that they found.
    pub(crate) fn await_all(&self) -> Vec<MismatchedBlock> {
        self.checkers.as_ref().map(Checkers::await_all).unwrap_or_default()
    }

    /// Records a mismatch and its message.
    pub(crate) fn note(&mut self, found: &MismatchedBlock, used: &[FileRange]) {
        let MismatchedBlock { mismatch, buffer, op } = found;
        if self.messages.len() as u64 >= LISTED_MAX {
            self.unlisted += 1;
            return;
        }
        let file = &name(used, op.file);
        let flags = if self.reads_back { FLAGS_READ_BACK } else { FLAGS_READ };
        let mut message = mismatch.sentences(file, op, flags);
        if let Some((directory, ending)) = &self.dumps {
            let place = directory.join(written::path(file).file_name().unwrap_or_default());
            message += &dump::dump(&self.seal, mismatch, buffer, op, &place, ending);
        }
        self.messages.push(message);
    }

    /// Notes about files with blocks of several runs.
    pub fn notes(&self, job: &str, used: &[FileRange]) -> Vec<Note> {
        let mixed = self.runs.iter().filter(|(_, (_, others))| *others > 0);
        let notes = mixed.map(|(file, (_, others))| {
            let file = name(used, *file);
            let text = format!(
                "verify: {file} has blocks of several runs: {others} are not of the run that wrote the first block. Each \
                 block is intact, but may be outdated"
            );
            Note { job: Some(job.to_owned()), ..Note::new("blocks-of-several-runs", Severity::Caution, text) }
        });
        notes.collect()
    }

    /// The messages about mismatches.
    pub fn into_messages(mut self) -> Vec<String> {
        if self.unlisted > 0 {
            self.messages.push(format!("fio: verify: {} further blocks are wrong", self.unlisted));
        }
        self.messages
    }
}
