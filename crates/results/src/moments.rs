//! Count, extremes, mean and deviation, summed in integers so that merging is exact.

use serde::{Deserialize, Serialize};

/// Sums of integer values (ns for latencies).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moments {
    /// How many values.
    pub count: u64,
    /// Smallest; meaningless when `count` is 0.
    pub min: u64,
    /// Largest; meaningless when `count` is 0.
    pub max: u64,
    /// Sum.
    pub sum: u128,
    /// Sum of the squares.
    pub sum_of_squares: u128,
}
