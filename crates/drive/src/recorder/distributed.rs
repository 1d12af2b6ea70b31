//! Sums and distributions of latencies.

use fsdyno_results::{Histogram, Latency, Moments};

use super::cells::Cells;

/// Running sums of one latency, ns. The caller counts, because several sums of a lane share one count.
#[derive(Clone, Debug)]
pub(super) struct Sums {
    min: u64,
    max: u64,
    pub(super) sum: u64,
    sum_of_squares: u128,
}

impl Sums {
    pub(super) const EMPTY: Sums = Sums { min: u64::MAX, max: 0, sum: 0, sum_of_squares: 0 };

    #[inline]
    pub(super) fn add(&mut self, value: u64) {
        // Branches, not `min` and `max`: extremes hardly ever change, and a predicted branch stores nothing.
        if value < self.min {
            self.min = value;
        }
        if value > self.max {
            self.max = value;
        }
        // 584 years of summed latency fit.
        self.sum += value;
        self.sum_of_squares += u128::from(value) * u128::from(value);
    }

    pub(super) fn moments(&self, count: u64) -> Moments {
        if count == 0 {
            return Moments::default();
        }
        Moments { count, min: self.min, max: self.max, sum: u128::from(self.sum), sum_of_squares: self.sum_of_squares }
    }
}

/// A latency with its distribution.
#[derive(Clone, Debug)]
pub struct Distributed {
    pub(super) count: u64,
    pub(super) sums: Sums,
    pub(super) cells: Cells,
}

impl Default for Distributed {
    fn default() -> Distributed {
        Distributed { count: 0, sums: Sums::EMPTY, cells: Cells::new() }
    }
}

impl Distributed {
    /// Adds one latency.
    #[inline]
    pub fn add(&mut self, latency_ns: u64) {
        self.count += 1;
        self.sums.add(latency_ns);
        self.cells.add(latency_ns);
    }

    pub(crate) fn clear(&mut self) {
        self.count = 0;
        self.sums = Sums::EMPTY;
        self.cells.clear();
    }

    /// The latency as the record holds it.
    pub fn latency(&self) -> Latency {
        Latency {
            moments: self.sums.moments(self.count),
            histogram: Some(Histogram::from_counts(self.cells.buckets())),
        }
    }
}

/// All of them as one.
pub(super) fn merged<'a>(parts: impl Iterator<Item = &'a Distributed>) -> Latency {
    parts.map(Distributed::latency).fold(Latency::default(), |mut sum, part| {
        sum.merge(&part);
        sum
    })
}
