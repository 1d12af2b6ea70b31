//! A confidence interval.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where the true value lies with this confidence, in the unit of the value.
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
    /// From the lower of the low ends to the higher of the high ones.
    pub fn joined(self, other: Interval) -> Interval {
        Interval { low: self.low.min(other.low), high: self.high.max(other.high), ..self }
    }

    /// Whether the two have a value in common.
    pub fn overlaps(&self, other: &Interval) -> bool {
        self.low <= other.high && other.low <= self.high
    }

    /// Whether it is wider than the figure that it is of, which then says little more than its sign.
    pub fn is_wider_than(&self, value: f64) -> bool {
        self.high - self.low > value
    }

    /// Whether the value lies within.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}
