//! `cmdprio_percentage` and its companions: some requests have another I/O priority than their thread.

use std::iter::repeat_n;

use fsdyno_job::{Direction, PerDirection, PriorityShare};

use crate::op::{Block, Op, OpKind, kind_of};

/// Draws the priorities of requests, a block of them at a time.
#[derive(Clone, Debug)]
pub(crate) struct Priorities {
    tables: Box<[Table]>,
    state: u64,
}

/// The priorities of requests of one kind and size.
#[derive(Clone, Debug)]
struct Table {
    kind: OpKind,
    block_bytes: u64,
    /// The bits of the size that count; 0: it is of all sizes.
    size_mask: u64,
    /// By a number that is drawn below 100. The others are there because a number below 128 needs no check.
    by_percent: [u16; 128],
}

impl Table {
    /// `shares`: those of the size, one after the other; the rest of the requests have the priority of their thread.
    fn new<'a>(kind: OpKind, block_bytes: Option<u64>, shares: impl Iterator<Item = &'a PriorityShare>) -> Table {
        let size_mask = block_bytes.map_or(0, |_| u64::MAX);
        let mut priorities = shares.flat_map(|share| repeat_n(share.priority.as_number(), share.percent as usize));
        let by_percent = std::array::from_fn(|_| priorities.next().unwrap_or(0));
        Table { kind, block_bytes: block_bytes.unwrap_or(0), size_mask, by_percent }
    }

    #[inline]
    fn is_of(&self, op: &Op) -> bool {
        self.kind == op.kind && (self.block_bytes ^ op.length) & self.size_mask == 0
    }
}

/// One table for each size that the shares of a direction name.
fn tables(direction: Direction, shares: &[PriorityShare]) -> impl Iterator<Item = Table> {
    let sizes = shares.iter().map(|share| share.block_bytes);
    let is_new =
        move |(place, size): &(usize, Option<u64>)| !shares[..*place].iter().any(|share| share.block_bytes == *size);
    sizes.enumerate().filter(is_new).map(move |(_, size)| {
        Table::new(kind_of(direction), size, shares.iter().filter(move |share| share.block_bytes == size))
    })
}

impl Priorities {
    /// `None`: all requests have that of their thread.
    pub(crate) fn new(shares: &PerDirection<Vec<PriorityShare>>) -> Option<Box<Priorities>> {
        let tables: Box<[Table]> = shares.iter().flat_map(|(direction, shares)| tables(direction, shares)).collect();
        (!tables.is_empty()).then(|| Box::new(Priorities { tables, state: 0 }))
    }

    /// Gives each request of the block its priority.
    pub(crate) fn stamp(&mut self, block: &mut Block) {
        let ops = &mut block.ops[..block.len];
        let table_of = |op: &Op| self.tables.iter().find(|table| table.is_of(op));
        self.state = match ops.first().filter(|_| block.alike).and_then(table_of) {
            // The usual case has a loop of its own, which looks for nothing.
            Some(table) => stamp_from(self.state, ops, |_| Some(table)),
            None => stamp_from(self.state, ops, table_of),
        };
    }
}

/// Draws the priority of each request from its table; returns the new state.
#[inline(always)]
fn stamp_from<'tables>(mut state: u64, ops: &mut [Op], table_of: impl Fn(&Op) -> Option<&'tables Table>) -> u64 {
    for op in ops {
        state = next(state);
        let percent = ((state >> 32) * 100) >> 32;
        op.priority = table_of(op).map_or(0, |table| table.by_percent[percent as usize]);
    }
    state
}

/// Knuth's generator: the upper half of its state is random enough, and costs the least.
fn next(state: u64) -> u64 {
    state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1)
}

#[cfg(test)]
mod tests {
    use fsdyno_job::IoPriority;

    use super::*;
    use crate::op::BLOCK_OPS;

    const URGENT: IoPriority = IoPriority { class: 1, level: 2, hint: 0 };
    const IDLE: IoPriority = IoPriority { class: 3, level: 0, hint: 0 };

    fn share(block_bytes: Option<u64>, percent: u32, priority: IoPriority) -> PriorityShare {
        PriorityShare { block_bytes, percent, priority }
    }

    /// How many of 9,600 requests have no priority of their own, `URGENT`, `IDLE`.
    fn counts(priorities: &mut Priorities, kind: OpKind, length: u64) -> [u32; 3] {
        let mut block = Block::new();
        // What an earlier block left behind is no priority of this one.
        block.ops.fill(Op { offset: 0, length, file: 0, kind, priority: 7 });
        block.len = BLOCK_OPS;
        let mut counts = [0; 3];
        let numbers = [0, URGENT.as_number(), IDLE.as_number()];
        for _ in 0..9600 / BLOCK_OPS {
            priorities.stamp(&mut block);
            for op in &block.ops {
                counts[numbers.iter().position(|number| *number == op.priority).unwrap()] += 1;
            }
        }
        counts
    }

    #[test]
    fn shares_are_kept_by_size_and_direction() {
        let mut shares = PerDirection::default();
        assert!(Priorities::new(&shares).is_none());
        shares.read = vec![share(Some(4096), 30, URGENT), share(Some(4096), 20, IDLE)];
        shares.write = vec![share(None, 100, IDLE)];
        let mut priorities = Priorities::new(&shares).unwrap();
        let mut count = |kind, length| counts(&mut priorities, kind, length);
        let [rest, first, second] = count(OpKind::Read, 4096);
        assert!((2700..3060).contains(&first) && (1770..2070).contains(&second), "{rest} {first} {second} of 9,600");
        assert_eq!(count(OpKind::Read, 8192), [9600, 0, 0]);
        assert_eq!(count(OpKind::Write, 512), [0, 0, 9600]);
        assert_eq!(count(OpKind::Trim, 512), [9600, 0, 0]);
        assert_eq!(count(OpKind::Sync, 0), [9600, 0, 0]);
    }

    #[test]
    fn the_only_share_of_a_direction_is_kept_for_all_sizes() {
        let shares = PerDirection {
            read: vec![share(None, 30, URGENT)],
            write: vec![share(None, 100, IDLE)],
            ..PerDirection::default()
        };
        let mut priorities = Priorities::new(&shares).unwrap();
        let mut count = |kind, length| counts(&mut priorities, kind, length);
        for length in [512, 4096] {
            let [rest, urgent, idle] = count(OpKind::Read, length);
            assert!((2700..3060).contains(&urgent) && idle == 0, "{rest} {urgent} {idle} of 9,600");
            assert_eq!(count(OpKind::Write, length), [0, 0, 9600], "each of them");
        }
        for kind in [OpKind::Trim, OpKind::Sync, OpKind::ZoneFinish] {
            assert_eq!(count(kind, 4096), [9600, 0, 0], "{kind:?}");
        }
    }
}
