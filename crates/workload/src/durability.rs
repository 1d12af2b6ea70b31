//! Syncs among the writes.

use fsdyno_job::Durability;

use crate::op::{Op, OpKind};

/// Counts writes and decides when a sync comes. The sync goes to the file that was written last.
#[derive(Clone, Debug)]
pub(crate) struct Syncs {
    /// Intervals in writes, 0: never. If several are due, the first one is used.
    every: [(u64, OpKind); 3],
    writes: u64,
    /// The file of the last write, until a sync for it has been considered.
    written: Option<u32>,
    /// First byte and end of the writes to each file since its last sync_file_range(2); empty if the job does not use
    /// it.
    ranges: Vec<(u64, u64)>,
}

const CLEAN: (u64, u64) = (u64::MAX, 0);

impl Syncs {
    pub(crate) fn new(durability: &Durability, files: usize) -> Self {
        let range_every = durability.sync_file_range.map_or(0, |(_, every)| every);
        Syncs {
            every: [
                (durability.fsync_every.into(), OpKind::Sync),
                (durability.fdatasync_every.into(), OpKind::DataSync),
                (range_every.into(), OpKind::SyncRange),
            ],
            writes: 0,
            written: None,
            ranges: if range_every > 0 { vec![CLEAN; files] } else { Vec::new() },
        }
    }

    /// Whether `durability` asks for syncs among the writes.
    pub(crate) fn asked_for(durability: &Durability) -> bool {
        Syncs::new(durability, 0).every.iter().any(|&(every, _)| every > 0)
    }

    /// Counts a write.
    pub(crate) fn wrote(&mut self, op: &Op) {
        self.writes += 1;
        self.written = Some(op.file);
        if let Some((start, end)) = self.ranges.get_mut(op.file as usize) {
            *start = op.offset.min(*start);
            *end = (op.offset + op.length).max(*end);
        }
    }

    /// The sync that comes before the next request, if one is due. It is called once per write.
    pub(crate) fn due(&mut self) -> Option<Op> {
        let file = self.written.take()?;
        let is_due = |&&(every, _): &&(u64, OpKind)| every > 0 && self.writes.is_multiple_of(every);
        let kind = self.every.iter().find(is_due)?.1;
        if kind != OpKind::SyncRange {
            return Some(Op { offset: 0, length: 0, file, kind, priority: 0 });
        }
        let (start, end) = std::mem::replace(&mut self.ranges[file as usize], CLEAN);
        Some(Op { offset: start, length: end - start, file, kind, priority: 0 })
    }
}
