//! Finds the writes that no later write overwrites, with a counter for each unit of the files.
//!
//! The writes of a pass are counted, then walked through again: a write is the newest if none of its units has
//! another write to come. This takes four bytes for each unit, whatever the number of writes, and is done only where
//! blocks can repeat. The reset of a zone counts as a write to all of it.

use fsdyno_job::{BlockSize, Direction, RandomGenerator};

use crate::op::Op;
use crate::workload::Workload;

/// Largest number of units that are counted: 1 GiB of counters.
const UNITS_MAX: u64 = 1 << 28;

/// Number of writes to come, for each unit of each file.
#[derive(Clone, Debug)]
pub(crate) struct Newest {
    unit: u64,
    files: Vec<WriteCounts>,
}

#[derive(Clone, Debug)]
struct WriteCounts {
    start: u64,
    /// A counter may wrap around, because it is counted down as often as up.
    writes: Vec<u32>,
}

/// Whether blocks are overwritten, and whether the newest write can be found.
pub(crate) enum Overwriting {
    /// Each block is written once.
    Never,
    Counted(Newest),
    /// The counters would take too much memory.
    TooMuch,
}

impl Newest {
    pub(crate) fn of(workload: &Workload) -> Overwriting {
        if !writes_over(workload) {
            return Overwriting::Never;
        }
        let unit = unit(workload).max(1);
        let units = |length: u64| length.div_ceil(unit);
        if workload.files.iter().fold(0u64, |sum, file| sum.saturating_add(units(file.length))) > UNITS_MAX {
            return Overwriting::TooMuch;
        }
        let counted =
            |file: &crate::FileRange| WriteCounts { start: file.start, writes: vec![0; units(file.length) as usize] };
        Overwriting::Counted(Newest { unit, files: workload.files.iter().map(counted).collect() })
    }

    fn units(&mut self, write: &Op) -> &mut [u32] {
        let Some(file) = self.files.get_mut(write.file as usize) else { return &mut [] };
        let from = write.offset.saturating_sub(file.start);
        let to = (from + write.length).div_ceil(self.unit) as usize;
        let to = to.min(file.writes.len());
        &mut file.writes[((from / self.unit) as usize).min(to)..to]
    }

    /// Counts a write to come.
    pub(crate) fn count(&mut self, write: &Op) {
        self.units(write).iter_mut().for_each(|writes| *writes = writes.wrapping_add(1));
    }

    /// Counts a write down; returns whether it is the last one in all of its units.
    pub(crate) fn is_newest(&mut self, write: &Op) -> bool {
        self.units(write).iter_mut().fold(true, |newest, writes| {
            *writes = writes.wrapping_sub(1);
            newest && *writes == 0
        })
    }
}

/// Whether a pass may write to a place more than once.
pub(crate) fn writes_over(workload: &Workload) -> bool {
    let pattern = &workload.pattern;
    let moves = pattern.modifier.is_some() || pattern.strided.is_some() || pattern.zoned.is_some();
    if workload.starts_over || moves || workload.serves_again() {
        return true;
    }
    let partly_sequential = workload.directions().any(|direction| pattern.random_percent[direction] < 100);
    let sizes = workload.random_sizes(if pattern.access.trims { Direction::Trim } else { Direction::Write });
    let overlapping = pattern.generator == Some(RandomGenerator::Lfsr) && sizes.min() != sizes.max();
    let again = !workload.covers_each_block_once() || workload.fills_gaps();
    pattern.access.random && (again || partly_sequential || overlapping)
}

/// The unit: a divisor of all offsets within a file and of all lengths, except for a length that the end of a file
/// cuts.
fn unit(workload: &Workload) -> u64 {
    let pattern = &workload.pattern;
    let mut unit = 0;
    let mut and = |bytes: u64| unit = greatest_common_divisor(unit, bytes);
    for direction in workload.directions_drawn() {
        match &pattern.block_size[direction] {
            BlockSize::Fixed(size) => and(*size),
            BlockSize::Range(min, max) if min == max => and(*min),
            BlockSize::Range(..) if pattern.unaligned_sizes => and(1),
            BlockSize::Range(min, max) => [min, max].into_iter().for_each(|&size| and(size)),
            BlockSize::Split(parts) => parts.iter().for_each(|part| and(part.0)),
        }
        if let Some(align) = &pattern.block_align {
            and(align[direction]);
        }
    }
    if let Some(zones) = pattern.strided {
        and(zones.range.saturating_add(zones.skip));
        and(zones.range);
    }
    if let Some(zones) = pattern.zoned {
        // A zone is written from where its write pointer was.
        and(zones.zone_bytes);
        workload.zones.get().into_iter().flatten().flatten().for_each(|zone| and(zone.written));
    }
    let skip = pattern.modifier.filter(|_| !pattern.access.random).unwrap_or(0);
    and(skip.unsigned_abs());
    if skip < 0 {
        workload.files.iter().for_each(|file| and(file.length));
    }
    unit
}

/// The greatest common divisor; that of 0 and a number is the number.
pub fn greatest_common_divisor(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { greatest_common_divisor(other, one % other) }
}
