//! Adds up the answers of a server to all workers of a row.

use fsdyno_results::{Histogram, ObjectRecord, PerDirection};

use crate::evidence::JobInStage;

/// Fewer answers of a row say nothing about all of them.
pub(super) const ANSWERS_MIN: u64 = 16;

/// Bodies up to this size need one round trip at most, as far as the network is concerned, bytes.
const SMALL_BYTES: u64 = 64 << 10;

pub(super) fn records<'r>(row: &JobInStage<'r>) -> impl Iterator<Item = &'r ObjectRecord> {
    row.workers.iter().filter_map(|worker| worker.object.as_deref())
}

/// The sum; a record of another program may have any counts.
pub(super) fn total(counts: impl Iterator<Item = u64>) -> u64 {
    counts.fold(0, u64::saturating_add)
}

pub(super) fn sum(row: &JobInStage<'_>, of: fn(&ObjectRecord) -> u64) -> u64 {
    total(records(row).map(of))
}

/// The answers of all directions.
pub(super) fn answers(row: &JobInStage<'_>) -> u64 {
    sum(row, |record| total(record.answers.iter().map(|(_, count)| *count)))
}

pub(super) fn by_direction(row: &JobInStage<'_>, of: fn(&ObjectRecord) -> &PerDirection<u64>) -> PerDirection<u64> {
    PerDirection::from_fn(|direction| total(records(row).map(|record| of(record)[direction])))
}

/// The times of all workers.
pub(super) fn times(row: &JobInStage<'_>, of: fn(&ObjectRecord) -> &Histogram) -> Histogram {
    let mut all = Histogram::new();
    records(row).for_each(|record| all.merge(of(record)));
    all
}

/// Whether it reads objects of at most `SMALL_BYTES` alone, often enough to be judged.
pub(super) fn reads_small(row: &JobInStage<'_>) -> bool {
    let (_, largest) = row.first().setup.block_sizes.read;
    row.reads() && !row.writes() && largest <= SMALL_BYTES && answers(row) >= ANSWERS_MIN
}

/// The time of all workers together, with that of the ramp, which their counts have too, ns.
pub(super) fn wall_ns(row: &JobInStage<'_>) -> f64 {
    row.workers.iter().map(|worker| worker.job_runtime_ms as f64 * 1e6 + worker.plan.ramp_ms as f64 * 1e6).sum()
}
