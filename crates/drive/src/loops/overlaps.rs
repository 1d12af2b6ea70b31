//! `serialize_overlap`: which ranges of files have requests in flight. A lookup takes the same time at any depth.

use fsdyno_workload::{Op, OpKind};

/// The place of an entry that is in no list.
const NOWHERE: u32 = u32::MAX;

/// The ranges of the requests in flight. A range belongs to the level of its length: it begins and ends in at most two
/// neighbouring cells of that level, and has an entry in the list of each. Memory is allocated only when this is made.
#[derive(Debug)]
pub(super) struct Overlaps {
    /// The first entry of each list. Cells share lists by a hash.
    firsts: Box<[u32]>,
    /// Two entries for each slot.
    entries: Box<[Entry]>,
    /// The request of each slot that is in flight.
    ops: Box<[Option<Op>]>,
    /// Number of ranges of each level, of reads and of all other requests.
    counts: [[u32; LEVELS]; 2],
    /// One bit for each level whose count is not 0.
    used: [u64; 2],
}

/// Level n has cells of 2^n bytes.
const LEVELS: usize = 64;

#[derive(Clone, Copy, Debug)]
struct Entry {
    list: u32,
    previous: u32,
    next: u32,
}

/// Cells that two ranges must share if they overlap: those of one level, of one file, of reads or of other requests.
struct Cells {
    key: u64,
    first: u64,
    last: u64,
}

impl Cells {
    fn of(op: &Op, level: usize, reads: bool) -> Cells {
        let key = u64::from(op.file) << 7 | (level as u64) << 1 | u64::from(reads);
        Cells { key, first: op.offset >> level, last: (op.offset + (op.length - 1)) >> level }
    }
}

fn is_read(op: &Op) -> bool {
    op.kind == OpKind::Read
}

/// The level whose cells are as long as the range, or up to twice as long.
fn level(op: &Op) -> usize {
    (u64::BITS - (op.length - 1).leading_zeros()).min(u64::BITS - 1) as usize
}

impl Overlaps {
    /// Room for this number of requests in flight.
    pub(super) fn new(depth: usize) -> Overlaps {
        let nowhere = Entry { list: NOWHERE, previous: NOWHERE, next: NOWHERE };
        Overlaps {
            firsts: vec![NOWHERE; (4 * depth).next_power_of_two()].into(),
            entries: vec![nowhere; 2 * depth].into(),
            ops: vec![None; depth].into(),
            counts: [[0; LEVELS]; 2],
            used: [0; 2],
        }
    }

    fn count(&mut self, reads: bool, level: usize, change: i32) {
        let count = &mut self.counts[usize::from(reads)][level];
        *count = count.wrapping_add_signed(change);
        let bit = 1 << level;
        let used = &mut self.used[usize::from(reads)];
        *used = if *count > 0 { *used | bit } else { *used & !bit };
    }

    fn list(&self, key: u64, cell: u64) -> u32 {
        // Multiplication by the golden ratio spreads neighbours; the upper half has the well-mixed bits.
        let hash = (cell ^ key.rotate_right(20)).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        hash as u32 & (self.firsts.len() as u32 - 1)
    }

    /// The request is in flight from now on. A request without length overlaps nothing.
    pub(super) fn begin(&mut self, slot: usize, op: &Op) {
        self.end(slot);
        if op.length == 0 {
            return;
        }
        let (level, reads) = (level(op), is_read(op));
        let cells = Cells::of(op, level, reads);
        self.ops[slot] = Some(*op);
        self.count(reads, level, 1);
        self.enter(2 * slot as u32, self.list(cells.key, cells.first));
        if cells.last != cells.first {
            self.enter(2 * slot as u32 + 1, self.list(cells.key, cells.last));
        }
    }

    fn enter(&mut self, entry: u32, list: u32) {
        let next = std::mem::replace(&mut self.firsts[list as usize], entry);
        self.entries[entry as usize] = Entry { list, previous: NOWHERE, next };
        if next != NOWHERE {
            self.entries[next as usize].previous = entry;
        }
    }

    /// The slot's request is complete.
    pub(super) fn end(&mut self, slot: usize) {
        let Some(op) = self.ops[slot].take() else { return };
        self.count(is_read(&op), level(&op), -1);
        for entry in [2 * slot, 2 * slot + 1] {
            let Entry { list, previous, next } = self.entries[entry];
            match (list, previous) {
                (NOWHERE, _) => continue,
                (_, NOWHERE) => self.firsts[list as usize] = next,
                _ => self.entries[previous as usize].next = next,
            }
            if next != NOWHERE {
                self.entries[next as usize].previous = previous;
            }
            self.entries[entry].list = NOWHERE;
        }
    }

    /// Whether a request in flight overlaps this one, unless both are reads.
    pub(super) fn overlaps(&self, op: &Op) -> bool {
        op.length > 0 && (self.overlaps_kind(op, false) || !is_read(op) && self.overlaps_kind(op, true))
    }

    fn overlaps_kind(&self, op: &Op, reads: bool) -> bool {
        let mut left = self.used[usize::from(reads)];
        while left != 0 {
            if self.overlaps_level(op, left.trailing_zeros() as usize, reads) {
                return true;
            }
            left &= left - 1;
        }
        false
    }

    fn overlaps_level(&self, op: &Op, level: usize, reads: bool) -> bool {
        let cells = Cells::of(op, level, reads);
        // A long range over many short ones: a look at each request is shorter.
        if cells.last - cells.first >= self.ops.len() as u64 {
            return self.ops.iter().flatten().any(|other| is_read(other) == reads && share_bytes(op, other));
        }
        (cells.first..=cells.last).any(|cell| self.overlaps_listed(op, self.list(cells.key, cell), reads))
    }

    fn overlaps_listed(&self, op: &Op, list: u32, reads: bool) -> bool {
        let mut at = self.firsts[list as usize];
        while at != NOWHERE {
            let other = self.ops[at as usize / 2].as_ref();
            if other.is_some_and(|other| is_read(other) == reads && share_bytes(op, other)) {
                return true;
            }
            at = self.entries[at as usize].next;
        }
        false
    }
}

fn share_bytes(one: &Op, other: &Op) -> bool {
    let end = |op: &Op| op.offset + op.length;
    one.file == other.file && one.offset < end(other) && other.offset < end(one)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `overlaps` must answer, by a look at everything. A request without length overlaps nothing.
    fn one_by_one(in_flight: &[Option<Op>], op: &Op) -> bool {
        in_flight
            .iter()
            .flatten()
            .any(|other| !(is_read(op) && is_read(other)) && op.length.min(other.length) > 0 && share_bytes(op, other))
    }

    /// Numbers below a limit, the same in each run.
    struct Numbers(u64);

    impl Numbers {
        fn below(&mut self, limit: u64) -> u64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 >> 11) % limit
        }

        /// A request somewhere in this number of sectors.
        fn op(&mut self, sectors: u64, longest: u64) -> Op {
            let kind = [OpKind::Read, OpKind::Write, OpKind::Trim, OpKind::SyncRange][self.below(4) as usize];
            let length_max = 2 << self.below(longest);
            let length = self.below(length_max) * 512;
            Op { offset: self.below(sectors) * 512, length, file: self.below(2) as u32, kind, priority: 0 }
        }
    }

    #[test]
    fn overlaps_are_those_of_a_look_at_every_request() {
        for (depth, longest) in [(1, 4), (8, 2), (64, 6), (300, 11)] {
            let mut overlaps = Overlaps::new(depth);
            let mut in_flight = vec![None; depth];
            let mut found = [0; 2];
            let mut numbers = Numbers(7);
            for number in 0..20_000 {
                let (op, slot) = (numbers.op(16 * depth as u64, longest), numbers.below(depth as u64) as usize);
                let expected = one_by_one(&in_flight, &op);
                assert_eq!(overlaps.overlaps(&op), expected, "depth {depth}: {op:?} in {in_flight:?}");
                found[usize::from(expected)] += 1;
                if number % 3 == 0 {
                    overlaps.end(slot);
                    in_flight[slot] = None;
                } else {
                    overlaps.begin(slot, &op);
                    in_flight[slot] = Some(op);
                }
            }
            assert!(found.iter().all(|count| *count > 100), "depth {depth}: both answers occur: {found:?}");
        }
    }

    #[test]
    fn a_list_is_short_at_any_depth() {
        for depth in [64, 16_384] {
            let mut overlaps = Overlaps::new(depth);
            let write = |slot: u64| Op { offset: slot * 4096, length: 4096, file: 0, kind: OpKind::Write, priority: 0 };
            (0..depth).for_each(|slot| overlaps.begin(slot, &write(slot as u64)));
            let length = |mut at: u32| {
                let mut count = 0;
                while at != NOWHERE {
                    (at, count) = (overlaps.entries[at as usize].next, count + 1);
                }
                count
            };
            let longest = overlaps.firsts.iter().map(|first| length(*first)).max();
            assert!(longest <= Some(8), "depth {depth}: {longest:?}");
        }
    }
}
