//! A value with its confidence interval.

use serde::{Deserialize, Serialize};

use crate::interval::Interval;

/// A value with the interval of the true value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The estimate, which is inside the interval.
    pub value: f64,
    /// The interval of the true value.
    pub interval: Interval,
}

impl Estimate {
    /// The distance from the value to the farther end of the interval, divided by the absolute value: 0.02 is "±2 %".
    /// `None` if the value is 0.
    pub fn relative_half_width(&self) -> Option<f64> {
        let Estimate { value, interval: Interval { low, high, .. } } = *self;
        (value != 0.0).then(|| (high - value).max(value - low) / value.abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_farther_end_counts() {
        let interval = Interval { low: 4.0, high: 6.0, confidence: 0.95 };
        assert_eq!(Estimate { value: 5.5, interval }.relative_half_width(), Some(1.5 / 5.5));
        assert_eq!(Estimate { value: 4.5, interval }.relative_half_width(), Some(1.5 / 4.5));
        assert_eq!(Estimate { value: 0.0, interval }.relative_half_width(), None);
    }
}
