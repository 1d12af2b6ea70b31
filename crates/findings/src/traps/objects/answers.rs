//! Adds up the answers of a server to all workers of a row.

use fsdyno_results::{Histogram, ObjectRecord, PerDirection};

use crate::evidence::Row;

/// Fewer answers of a row say nothing about all of them.
pub(super) const ANSWERS_MIN: u64 = 16;

/// Bodies up to this size need one round trip at most, as far as the network is concerned, bytes.
const SMALL_BYTES: u64 = 64 << 10;

fn records<'r>(row: &Row<'r>) -> impl Iterator<Item = &'r ObjectRecord> {
    row.workers.iter().filter_map(|worker| worker.object.as_deref())
}

pub(super) fn sum(row: &Row<'_>, of: fn(&ObjectRecord) -> u64) -> u64 {
    records(row).map(of).sum()
}

/// The answers of all directions.
pub(super) fn answers(row: &Row<'_>) -> u64 {
    sum(row, |record| record.answers.iter().map(|(_, count)| count).sum())
}

pub(super) fn by_direction(row: &Row<'_>, of: fn(&ObjectRecord) -> &PerDirection<u64>) -> PerDirection<u64> {
    PerDirection::from_fn(|direction| records(row).map(|record| of(record)[direction]).sum())
}

/// The times of all workers.
pub(super) fn times(row: &Row<'_>, of: fn(&ObjectRecord) -> &Histogram) -> Histogram {
    let mut all = Histogram::new();
    records(row).for_each(|record| all.merge(of(record)));
    all
}

/// Whether it reads objects of at most `SMALL_BYTES` alone, often enough to be judged.
pub(super) fn reads_small(row: &Row<'_>) -> bool {
    let (_, largest) = row.first().setup.block_sizes.read;
    row.reads() && !row.writes() && largest <= SMALL_BYTES && answers(row) >= ANSWERS_MIN
}
