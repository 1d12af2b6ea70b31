//! `verify_backlog`: reads among the writes of a job that verifies. Some written blocks are read back before the rest
//! is written.

use std::collections::{BTreeMap, VecDeque};

use fsdyno_job::VerifyBacklog;

use crate::op::{Op, OpKind, TRIMMED};
use crate::workload::Workload;

/// A write that is still to be read back, and its number.
pub(crate) type Unverified = (Op, u64);

/// The written blocks that are not read back yet.
#[derive(Clone, Debug)]
enum List {
    /// For jobs that write no block twice: the oldest write is read first.
    InOrder(VecDeque<Unverified>),
    /// By file and offset, the lowest first. A write removes the earlier writes that it overlaps.
    ByPlace(BTreeMap<(u32, u64), Unverified>),
}

impl List {
    fn len(&self) -> u64 {
        match self {
            List::InOrder(writes) => writes.len() as u64,
            List::ByPlace(writes) => writes.len() as u64,
        }
    }

    fn add(&mut self, write: Op, number: u64) {
        match self {
            List::InOrder(writes) => writes.push_back((write, number)),
            List::ByPlace(writes) => {
                let end = write.offset + write.length;
                // Overlapping entries were removed, so that no earlier entry reaches further than the last one.
                while let Some((&place, (last, _))) = writes.range(..(write.file, end)).next_back() {
                    let overlaps = last.file == write.file && last.offset + last.length > write.offset;
                    if !overlaps {
                        break;
                    }
                    writes.remove(&place);
                }
                writes.insert((write.file, write.offset), (write, number));
            }
        }
    }

    fn take(&mut self) -> Option<Unverified> {
        match self {
            List::InOrder(writes) => writes.pop_front(),
            List::ByPlace(writes) => writes.pop_first().map(|(_, write)| write),
        }
    }

    /// The write to the file and offset of this trim.
    fn find(&mut self, trim: &Op) -> Option<&mut Unverified> {
        let place = (trim.file, trim.offset);
        match self {
            List::InOrder(writes) => writes.iter_mut().find(|(write, _)| (write.file, write.offset) == place),
            List::ByPlace(writes) => writes.get_mut(&place),
        }
    }

    fn forget(&mut self, trim: &Op) {
        let place = (trim.file, trim.offset);
        match self {
            List::InOrder(writes) => writes.retain(|(write, _)| (write.file, write.offset) != place),
            List::ByPlace(writes) => drop(writes.remove(&place)),
        }
    }
}

/// Decides when written blocks are read back.
#[derive(Clone, Debug)]
pub(crate) struct Backlog {
    asked: VerifyBacklog,
    unverified: List,
    /// Number of the next write.
    number: u64,
    /// Reads that are left of the current batch.
    batch: u64,
    /// Whether the last request was a read.
    read: bool,
    /// Whether a pass is over, so that all its blocks are read back before the next pass.
    flushes: bool,
}

impl Backlog {
    pub(crate) fn new(workload: &Workload) -> Option<Backlog> {
        let asked = workload.backlog?;
        // With several loops each loop is read back before the next, so that they do not overwrite each other.
        let unverified = match workload.overwrites() || workload.time_based {
            true => List::ByPlace(BTreeMap::new()),
            false => List::InOrder(VecDeque::new()),
        };
        Some(Backlog { asked, unverified, number: 0, batch: 0, read: false, flushes: false })
    }

    /// The read that comes before the next request, with the number of its write; `None`: no read is due.
    pub(crate) fn due(&mut self) -> Option<Unverified> {
        let VerifyBacklog { writes, batch } = self.asked;
        let waiting = self.unverified.len();
        if self.batch == 0 && waiting > 0 && !self.read && waiting.is_multiple_of(writes) {
            self.batch = if batch == 0 { writes } else { batch };
        }
        if self.batch == 0 && !self.flushes {
            return None;
        }
        // If no more writes wait, the rest of the batch is used for later writes.
        let Some((write, number)) = self.unverified.take() else {
            self.flushes = false;
            return None;
        };
        self.batch = self.batch.saturating_sub(1);
        self.read = true;
        Some((Op { kind: OpKind::Read, ..write }, number))
    }

    /// Notes a request that is not a read of this backlog.
    pub(crate) fn issued(&mut self, op: &Op) {
        self.read = op.kind == OpKind::Read;
        if op.kind == OpKind::Write {
            self.unverified.add(*op, self.number);
            self.number += 1;
        }
    }

    /// Notes that a written block was discarded.
    pub(crate) fn trimmed(&mut self, trim: &Op, reads_as_zeroes: bool) {
        self.read = false;
        if !reads_as_zeroes {
            self.unverified.forget(trim);
        } else if let Some((_, number)) = self.unverified.find(trim) {
            *number = TRIMMED;
        }
    }

    /// Requests that all blocks are read back first, because the files start over.
    pub(crate) fn flush(&mut self) {
        self.flushes = true;
        self.batch = 0;
    }

    /// The writes that are left at the end.
    pub(crate) fn into_unverified(mut self) -> Vec<Unverified> {
        std::iter::from_fn(|| self.unverified.take()).collect()
    }
}
