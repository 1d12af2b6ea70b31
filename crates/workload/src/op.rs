//! One request, and the block of requests that a generator fills.

use fsdyno_job::Direction;

/// What a request asks of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum OpKind {
    /// Transfer from the file.
    Read = 0,
    /// Transfer to the file.
    Write = 1,
    /// Discard.
    Trim = 2,
    /// fsync(2).
    Sync = 3,
    /// fdatasync(2).
    DataSync = 4,
    /// sync_file_range(2) over `offset..offset + length`; length 0: to the end of the file.
    SyncRange = 5,
    /// Reset of the zones of a zoned device in `offset..offset + length`: their data is gone. Length 0: of a zone that
    /// is only counted, so that nothing is to be done.
    ZoneReset = 6,
    /// Finish of these zones: nothing more is written to them before a reset.
    ZoneFinish = 7,
}

impl OpKind {
    /// The direction of a transfer; `None` for the syncs and the actions on zones.
    #[inline]
    pub fn direction(self) -> Option<Direction> {
        // A comparison and not a match: the compiler would make a jump table of a match, and the loop calls this
        // twice per request.
        if (self as u8) <= OpKind::Trim as u8 { Some(Direction::ALL[self as usize]) } else { None }
    }

    /// Whether it acts on a zone of a device.
    #[inline]
    pub fn acts_on_zone(self) -> bool {
        (self as u8) >= OpKind::ZoneReset as u8
    }

    /// Those that stand in recorded logs.
    const RECORDED: [OpKind; 6] =
        [OpKind::Read, OpKind::Write, OpKind::Trim, OpKind::Sync, OpKind::DataSync, OpKind::SyncRange];

    /// The word for logs and messages, as in fio.
    pub fn word(self) -> &'static str {
        match self {
            OpKind::Read => "read",
            OpKind::Write => "write",
            OpKind::Trim => "trim",
            OpKind::Sync => "sync",
            OpKind::DataSync => "datasync",
            OpKind::SyncRange => "sync_file_range",
            OpKind::ZoneReset => "zone_reset",
            OpKind::ZoneFinish => "zone_finish",
        }
    }

    /// 0 for reads, 1 for writes, 2 for trims, 3 for all syncs.
    pub(crate) fn lane(self) -> usize {
        self.direction().map_or(3, |direction| direction as usize)
    }

    /// The kind that this word names.
    pub fn named(word: &[u8]) -> Option<OpKind> {
        OpKind::RECORDED.into_iter().find(|kind| kind.word().as_bytes() == word)
    }
}

/// The kind of request that transfers in this direction.
pub(crate) fn kind_of(direction: Direction) -> OpKind {
    match direction {
        Direction::Read => OpKind::Read,
        Direction::Write => OpKind::Write,
        Direction::Trim => OpKind::Trim,
    }
}

/// One request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Op {
    /// Bytes from the start of the file.
    pub offset: u64,
    /// Length, bytes.
    pub length: u64,
    /// Index into the worker's files.
    pub file: u32,
    /// What to do.
    pub kind: OpKind,
    /// The I/O priority as the kernel has it; 0: that of the thread.
    pub priority: u16,
}

const _: () = assert!(std::mem::size_of::<Op>() == 24);

impl Op {
    /// A transfer in the one file. The priority stays: a block is stamped with those of its requests as a whole.
    #[inline(always)]
    pub(crate) fn aim(&mut self, offset: u64, length: u64, kind: OpKind) {
        (self.offset, self.length, self.file, self.kind) = (offset, length, 0, kind);
    }
}

/// The value in [`Block::intended_ns`] of a request that may start at any time.
pub const NO_INSTANT: u64 = u64::MAX;

/// Requests per block.
pub const BLOCK_OPS: usize = 64;

/// The value in [`Block::numbers`] of a write whose block was trimmed afterwards.
pub const TRIMMED: u64 = u64::MAX - 1;

/// The value in [`Block::numbers`] of a request that reads back nothing.
pub const UNNUMBERED: u64 = u64::MAX;

/// A block of requests, made ahead of their submission.
#[derive(Clone, Debug)]
pub struct Block {
    /// The requests; the first `len` are valid.
    pub ops: [Op; BLOCK_OPS],
    /// Number of valid requests (0 to [`BLOCK_OPS`]).
    pub len: usize,
    /// Intended start of each request in ns since the start of the I/O phase, when the job is paced.
    pub intended_ns: Option<Box<[u64; BLOCK_OPS]>>,
    /// The write that each request reads back, counted from 0, or [`UNNUMBERED`]; only while writes are verified.
    pub numbers: Option<Box<[u64; BLOCK_OPS]>>,
    /// Whether all requests, the invalid ones too, are in file 0, and have the length and the kind of the first one: then
    /// only their offsets are made anew.
    pub(crate) alike: bool,
    /// Whether requests may have priorities of their own.
    pub(crate) prioritized: bool,
}

impl Block {
    /// An empty block.
    pub fn new() -> Self {
        let nothing = Op { offset: 0, length: 0, file: 0, kind: OpKind::Read, priority: 0 };
        Block { ops: [nothing; BLOCK_OPS], len: 0, intended_ns: None, numbers: None, alike: true, prioritized: false }
    }

    /// Gives all requests this length and this kind.
    pub(crate) fn make_alike(&mut self, length: u64, kind: OpKind) {
        let first = self.ops[0];
        if !self.alike || first.length != length || first.kind != kind {
            self.ops.fill(Op { offset: 0, length, file: 0, kind, priority: 0 });
            self.alike = true;
        }
    }
}

impl Default for Block {
    fn default() -> Self {
        Block::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_become_alike_whatever_the_block_had() {
        let mut block = Block::new();
        for (length, kind) in [(4096, OpKind::Write), (4096, OpKind::Read), (8192, OpKind::Read)] {
            block.make_alike(length, kind);
            assert!(block.ops.iter().all(|op| (op.length, op.kind) == (length, kind)), "{length} {kind:?}");
        }
        block.alike = false;
        (block.ops[5].file, block.ops[6].priority, block.ops[7].kind) = (3, 2, OpKind::Trim);
        block.make_alike(8192, OpKind::Read);
        let alike = Op { offset: 0, length: 8192, file: 0, kind: OpKind::Read, priority: 0 };
        assert_eq!(block.ops, [alike; BLOCK_OPS]);
    }
}
