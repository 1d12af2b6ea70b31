//! A confidence interval.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The interval that contains the true value with this confidence, in the unit of the value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Probability, 0 to 1: 0.95.
    pub confidence: f64,
}

impl Interval {
    /// From the lower of the low ends to the higher of the high ends.
    pub fn joined(self, other: Interval) -> Interval {
        Interval { low: self.low.min(other.low), high: self.high.max(other.high), ..self }
    }

    /// Whether the two have a value in common.
    pub fn overlaps(&self, other: &Interval) -> bool {
        self.low <= other.high && other.low <= self.high
    }

    /// Whether it is wider than `value`; then the figure says little more than its sign.
    pub fn is_wider_than(&self, value: f64) -> bool {
        self.high - self.low > value
    }

    /// Whether it contains the value.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}
