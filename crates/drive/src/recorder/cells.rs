//! Two latency distributions with one counter per I/O.
//!
//! fio reports a histogram of 1,856 buckets and the coarse `lat (usec)` classes (2, 4, 10, 20, 50, ...), whose bounds
//! fall inside buckets. A cell is a bucket, or one half of a bucket that contains such a bound. So one look-up and
//! one addition per I/O give both distributions exactly.

use std::sync::OnceLock;

use fsdyno_results::{BUCKETS, bucket_of};

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
pub(crate) const CELLS: usize = BUCKETS + BOUNDS_NS.len();

#[derive(Clone, Copy, Debug)]
struct Split {
    /// Cell of the values below the threshold.
    cell: u32,
    /// First value that belongs to the next cell; `u64::MAX` when no bound falls into the bucket.
    threshold_ns: u64,
}

/// A split for each bucket.
type Splits = [Split; BUCKETS];

/// The splits of all workers, made when the first one asks: in the program's file they would take 29 KiB.
fn splits() -> &'static Splits {
    static SPLITS: OnceLock<Box<Splits>> = OnceLock::new();
    SPLITS.get_or_init(make_splits)
}

fn make_splits() -> Box<Splits> {
    // On the heap at once: a worker's stack is small.
    let splits = vec![Split { cell: 0, threshold_ns: u64::MAX }; BUCKETS].into_boxed_slice();
    let mut splits: Box<Splits> = splits.try_into().unwrap_or_else(|_| unreachable!("the vector has BUCKETS elements"));
    let mut cell = 0;
    let mut bound = 0;
    for (bucket, split) in splits.iter_mut().enumerate() {
        let (low, high) = (lowest(bucket), lowest(bucket + 1));
        while bound < BOUNDS_NS.len() && BOUNDS_NS[bound] <= low {
            bound += 1;
        }
        split.cell = cell;
        cell += 1;
        // Bounds differ at least by a factor of 4/3, so that no bucket above 4 ns contains two of them; smaller
        // buckets hold one value.
        if bound < BOUNDS_NS.len() && BOUNDS_NS[bound] < high {
            split.threshold_ns = BOUNDS_NS[bound];
            cell += 1;
        }
    }
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
    counts: Box<[u64; CELLS]>,
}

impl Cells {
    pub(crate) fn new() -> Cells {
        // Allocated on the heap at once: a worker's stack is small.
        let counts: Box<[u64]> = vec![0; CELLS].into_boxed_slice();
        Cells { splits: splits(), counts: counts.try_into().expect("the vector has CELLS elements") }
    }

    #[inline]
    pub(crate) fn add(&mut self, latency_ns: u64) {
        let split = &self.splits[bucket_of(latency_ns)];
        self.counts[split.cell as usize + usize::from(latency_ns >= split.threshold_ns)] += 1;
    }

    pub(crate) fn clear(&mut self) {
        self.counts.fill(0);
    }

    /// Counts by fio's buckets.
    pub(crate) fn buckets(&self) -> Vec<u64> {
        self.splits
            .iter()
            .map(|split| {
                let cell = split.cell as usize;
                let upper = if split.threshold_ns == u64::MAX { 0 } else { self.counts[cell + 1] };
                self.counts[cell] + upper
            })
            .collect()
    }

    /// Adds the counts to other classes; each class consists of whole buckets.
    pub(super) fn add_to(&self, classes: &mut [u64], class_of: impl Fn(u64) -> usize) {
        for (bucket, split) in self.splits.iter().enumerate() {
            let cell = split.cell as usize;
            let upper = if split.threshold_ns == u64::MAX { 0 } else { self.counts[cell + 1] };
            classes[class_of(lowest(bucket))] += self.counts[cell] + upper;
        }
    }

    /// Counts by coarse class: 10 in ns, 10 in us, 12 in ms.
    pub(crate) fn classes(&self) -> [u64; 32] {
        let mut classes = [0; 32];
        for (bucket, split) in self.splits.iter().enumerate() {
            let cell = split.cell as usize;
            classes[class_of(lowest(bucket))] += self.counts[cell];
            if split.threshold_ns != u64::MAX {
                classes[class_of(split.threshold_ns)] += self.counts[cell + 1];
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

    /// Values around every power of two and every bound, where an error of one would show.
    fn probes() -> Vec<u64> {
        let mut values: Vec<u64> = (0..300).collect();
        for around in BOUNDS_NS.iter().copied().chain((7..36).map(|power| 1u64 << power)) {
            values.extend([around - 1, around, around + 1]);
        }
        values.extend([17_000_000_000, 18_000_000_000, u64::MAX / 2]);
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
