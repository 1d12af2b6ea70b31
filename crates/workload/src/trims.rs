//! `trim_percentage`: trims among the writes of a job that verifies. Some written blocks are discarded again.

use std::collections::VecDeque;

use fsdyno_job::TrimBacklog;

use crate::op::{Op, OpKind};
use crate::random::{Seeds, Slot, Stream};
use crate::workload::Workload;

/// Decides which writes are marked to be trimmed.
#[derive(Clone, Debug)]
pub(crate) struct Marks {
    stream: Stream,
    percent: u32,
}

impl Marks {
    pub(crate) fn new(workload: &Workload, seeds: &Seeds) -> Option<Marks> {
        let wide = workload.pattern.generator == Some(fsdyno_job::RandomGenerator::Tausworthe64);
        let stream = Stream::new(seeds.of(Slot::Marks), wide);
        workload.trims.map(|trims| Marks { stream, percent: trims.percent })
    }

    /// Whether the next write is marked. It is called once per write, in their order.
    pub(crate) fn next(&mut self) -> bool {
        self.stream.within(self.percent)
    }
}

/// Trims the marked writes in batches, the oldest first.
#[derive(Clone, Debug)]
pub(crate) struct Trims {
    marks: Marks,
    asked: TrimBacklog,
    marked: VecDeque<Op>,
    /// Number of writes that are still to be read back.
    unverified: u64,
    /// Trims that are left of the current batch.
    batch: u64,
    /// Whether the last request was a trim.
    trimmed: bool,
}

impl Trims {
    pub(crate) fn new(workload: &Workload, seeds: &Seeds) -> Option<Trims> {
        let (marks, asked) = (Marks::new(workload, seeds)?, workload.trims?);
        Some(Trims { marks, asked, marked: VecDeque::new(), unverified: 0, batch: 0, trimmed: false })
    }

    /// The trim that comes before the next request, if one is due.
    pub(crate) fn due(&mut self) -> Option<Op> {
        let TrimBacklog { backlog, batch, read_as_zeroes, .. } = self.asked;
        if self.batch == 0 && !self.trimmed && self.unverified.is_multiple_of(backlog) {
            self.batch = if batch == 0 { backlog } else { batch };
        }
        if self.batch == 0 {
            return None;
        }
        let Some(op) = self.marked.pop_front() else {
            // Later marks belong to the next batch.
            self.batch = 0;
            return None;
        };
        self.batch -= 1;
        self.trimmed = true;
        self.unverified -= u64::from(!read_as_zeroes);
        Some(Op { kind: OpKind::Trim, ..op })
    }

    pub(crate) fn read_as_zeroes(&self) -> bool {
        self.asked.read_as_zeroes
    }

    /// Notes that a written block was read back; it is no longer trimmed.
    pub(crate) fn verified(&mut self, read: &Op) {
        self.trimmed = false;
        self.unverified = self.unverified.saturating_sub(1);
        // Writes are read back in the order in which they were marked.
        if self.marked.front().is_some_and(|marked| (marked.file, marked.offset) == (read.file, read.offset)) {
            self.marked.pop_front();
        }
    }

    /// Notes a request that is not a trim of a marked block.
    pub(crate) fn issued(&mut self, op: &Op) {
        self.trimmed = false;
        if op.kind != OpKind::Write {
            return;
        }
        self.unverified += 1;
        if self.marks.next() {
            self.marked.push_back(*op);
        }
    }
}
