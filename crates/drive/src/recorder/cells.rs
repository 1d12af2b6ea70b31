//! Two latency distributions with one counter per I/O.
//!
//! fio reports a histogram of 1,856 buckets and the coarse `lat (usec)` classes (2, 4, 10, 20, 50, ...), whose bounds
//! fall inside buckets. A cell is a bucket, or one half of a bucket that contains such a bound. So one look-up and
//! one addition per I/O give both distributions exactly.

use std::sync::OnceLock;

use fsdyno_results::{BUCKETS, UNLIMITED_BUCKETS, unlimited_bucket_of};

/// Upper bounds of the coarse classes, exclusive, ns: 10 in ns, 10 in us, 11 in ms; the last class has no bound.
const BOUNDS_NS: [u64; 31] = bounds_ns();

const fn bounds_ns() -> [u64; 31] {
    const STEPS: [u64; 11] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000, 2000];
    let mut bounds = [0; 31];
    let mut index = 0;
    while index < 31 {
        bounds[index] = match index {
            0..10 => STEPS[index],
            10..20 => STEPS[index - 10] * 1_000,
            _ => STEPS[index - 20] * 1_000_000,
        };
        index += 1;
    }
    bounds
}

/// One cell for each bucket and one for each bound: enough even if every bound splits a bucket.
const CELLS: usize = BUCKETS + BOUNDS_NS.len();

/// Number of counters: a power of two, so that an index is cut off instead of checked.
const COUNTERS: usize = CELLS.next_power_of_two();

#[derive(Clone, Copy, Debug)]
struct Split {
    /// The last value of the cell, ns; larger ones belong to the next cell. `u32::MAX` if no bound falls into the
    /// bucket: no bound is as large, so that half the memory holds it.
    last_ns: u32,
    /// The number of the cell. A bucket of larger values than `u32::MAX` has the number before its own one.
    cell: u32,
}

/// A split for each bucket, fio's last one divided by the rule of the others: no latency is too large, so that none
/// has to be compared with a largest one.
type Splits = [Split; UNLIMITED_BUCKETS];

/// The splits of all workers, made when the first one asks: in the program's file they would take 32 KiB.
fn splits() -> &'static Splits {
    static SPLITS: OnceLock<Box<Splits>> = OnceLock::new();
    SPLITS.get_or_init(make_splits)
}

fn make_splits() -> Box<Splits> {
    // On the heap at once: a worker's stack is small.
    let splits = vec![Split { last_ns: u32::MAX, cell: 0 }; UNLIMITED_BUCKETS].into_boxed_slice();
    let mut splits: Box<Splits> = splits.try_into().unwrap_or_else(|_| unreachable!("the vector is as long"));
    let mut cell = 0;
    let mut bound = 0;
    for (bucket, split) in splits[..BUCKETS].iter_mut().enumerate() {
        let (low, high) = (lowest(bucket), lowest(bucket + 1));
        while bound < BOUNDS_NS.len() && BOUNDS_NS[bound] <= low {
            bound += 1;
        }
        split.cell = cell - u32::from(low > u64::from(u32::MAX));
        cell += 1;
        // Bounds differ at least by a factor of 4/3, so that no bucket above 4 ns contains two of them; smaller
        // buckets hold one value.
        if bound < BOUNDS_NS.len() && BOUNDS_NS[bound] < high {
            split.last_ns = (BOUNDS_NS[bound] - 1) as u32;
            cell += 1;
        }
    }
    let last = splits[BUCKETS - 1];
    splits[BUCKETS..].fill(last);
    splits
}

/// The smallest value of a bucket, ns.
fn lowest(bucket: usize) -> u64 {
    if bucket < 128 { bucket as u64 } else { ((bucket & 63) as u64 + 64) << ((bucket >> 6) - 1) }
}

/// Counts by cell.
#[derive(Clone, Debug)]
pub(crate) struct Cells {
    splits: &'static Splits,
    counts: Box<[u64; COUNTERS]>,
}

/// The counts of one bucket.
struct BucketCounts {
    lowest_ns: u64,
    /// Number of values below the bound in the bucket, or all.
    count: u64,
    /// The bound in the bucket, ns, and the number of values from it on.
    above: Option<(u64, u64)>,
}

impl Cells {
    pub(crate) fn new() -> Cells {
        // Allocated on the heap at once: a worker's stack is small.
        let counts: Box<[u64]> = vec![0; COUNTERS].into_boxed_slice();
        Cells { splits: splits(), counts: counts.try_into().expect("the vector has COUNTERS elements") }
    }

    #[inline]
    pub(crate) fn add(&mut self, latency_ns: u64) {
        let split = &self.splits[unlimited_bucket_of(latency_ns) % UNLIMITED_BUCKETS];
        let cell = split.cell as usize + usize::from(latency_ns > u64::from(split.last_ns));
        self.counts[cell % COUNTERS] += 1;
    }

    /// The counts of fio's buckets.
    fn each_bucket(&self) -> impl Iterator<Item = BucketCounts> {
        self.splits[..BUCKETS].iter().enumerate().map(|(bucket, split)| {
            let (cell, lowest_ns, bound_ns) = (split.cell as usize, lowest(bucket), u64::from(split.last_ns) + 1);
            if lowest_ns >= bound_ns {
                return BucketCounts { lowest_ns, count: self.counts[cell + 1], above: None };
            }
            let above = (bound_ns < lowest(bucket + 1)).then(|| (bound_ns, self.counts[cell + 1]));
            BucketCounts { lowest_ns, count: self.counts[cell], above }
        })
    }

    pub(crate) fn clear(&mut self) {
        self.counts.fill(0);
    }

    /// Counts by fio's buckets.
    pub(crate) fn buckets(&self) -> Vec<u64> {
        self.each_bucket().map(|bucket| bucket.count + bucket.above.map_or(0, |(_, count)| count)).collect()
    }

    /// Adds the counts to other classes; each class consists of whole buckets.
    pub(super) fn add_to(&self, classes: &mut [u64], class_of: impl Fn(u64) -> usize) {
        for BucketCounts { lowest_ns, count, above } in self.each_bucket() {
            classes[class_of(lowest_ns)] += count + above.map_or(0, |(_, count)| count);
        }
    }

    /// Counts by coarse class: 10 in ns, 10 in us, 12 in ms.
    pub(crate) fn classes(&self) -> [u64; 32] {
        let mut classes = [0; 32];
        for BucketCounts { lowest_ns, count, above } in self.each_bucket() {
            classes[class_of(lowest_ns)] += count;
            if let Some((bound_ns, count)) = above {
                classes[class_of(bound_ns)] += count;
            }
        }
        classes
    }
}

fn class_of(latency_ns: u64) -> usize {
    BOUNDS_NS.partition_point(|bound| *bound <= latency_ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsdyno_results::bucket_of;

    /// Values around every power of two and every bound, where an error of one would show.
    fn probes() -> Vec<u64> {
        let mut values: Vec<u64> = (0..300).collect();
        for around in BOUNDS_NS.iter().copied().chain((7..36).map(|power| 1u64 << power)) {
            values.extend([around - 1, around, around + 1]);
        }
        values.extend([17_000_000_000, 18_000_000_000, u64::MAX / 2, u64::MAX]);
        values
    }

    #[test]
    fn cells_fold_back_into_buckets_and_classes() {
        let mut cells = Cells::new();
        let mut buckets = vec![0; BUCKETS];
        let mut classes = [0; 32];
        for value in probes() {
            cells.add(value);
            buckets[bucket_of(value)] += 1;
            classes[BOUNDS_NS.iter().filter(|bound| value >= **bound).count()] += 1;
        }
        assert_eq!(cells.buckets(), buckets);
        assert_eq!(cells.classes(), classes);
    }

    #[test]
    fn lowest_inverts_bucket_of() {
        for bucket in 0..BUCKETS {
            assert_eq!(bucket_of(lowest(bucket)), bucket);
            if bucket > 0 {
                assert_eq!(bucket_of(lowest(bucket) - 1), bucket - 1);
            }
        }
    }
}
