//! Count, extremes, mean and deviation, summed as integers so that merging is exact.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Sums of integer values (ns for latencies).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Moments {
    /// Number of values.
    pub count: u64,
    /// Smallest value; not valid if `count` is 0.
    pub min: u64,
    /// Largest value; not valid if `count` is 0.
    pub max: u64,
    /// Sum of the values.
    #[serde(with = "decimal_text")]
    #[schemars(with = "String")]
    pub sum: u128,
    /// Sum of the squares.
    #[serde(with = "decimal_text")]
    #[schemars(with = "String")]
    pub sum_of_squares: u128,
}

impl Moments {
    /// Adds one value.
    #[inline]
    pub fn record(&mut self, value: u64) {
        let wide = u128::from(value);
        self.merge(&Moments { count: 1, min: value, max: value, sum: wide, sum_of_squares: wide * wide });
    }

    /// Adds all values of another one.
    pub fn merge(&mut self, other: &Moments) {
        if other.count == 0 {
            return;
        }
        if self.count == 0 {
            *self = *other;
            return;
        }
        self.count += other.count;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.sum += other.sum;
        self.sum_of_squares = self.sum_of_squares.saturating_add(other.sum_of_squares);
    }

    /// Smallest value; `None` without values.
    pub fn min(&self) -> Option<u64> {
        (self.count > 0).then_some(self.min)
    }

    /// Largest value; `None` without values.
    pub fn max(&self) -> Option<u64> {
        (self.count > 0).then_some(self.max)
    }

    /// Mean; `None` without values.
    pub fn mean(&self) -> Option<f64> {
        if self.count == 0 {
            return None;
        }
        // Whole part and remainder are converted separately, because a sum above 2^53 would lose the remainder.
        let count = u128::from(self.count);
        Some((self.sum / count) as f64 + (self.sum % count) as f64 / self.count as f64)
    }

    /// Standard deviation of a sample (divided by n - 1); 0 for one value, `None` without values.
    pub fn deviation(&self) -> Option<f64> {
        match self.count {
            0 => None,
            1 => Some(0.0),
            count => Some((self.squared_deviations() / (count - 1) as f64).sqrt()),
        }
    }

    /// Sum of the squared deviations from the mean, without cancellation: with sum = n * m + r, it is (sum of squares
    /// - n * m * m - 2 * m * r) - r * r / n, where all terms except the last are whole numbers.
    fn squared_deviations(&self) -> f64 {
        let count = u128::from(self.count);
        let (whole, rest) = (self.sum / count, self.sum % count);
        let around_whole = self
            .sum_of_squares
            .saturating_sub(whole.saturating_mul(self.sum - rest))
            .saturating_sub((whole * rest).saturating_mul(2));
        match around_whole.checked_mul(count) {
            Some(scaled) => scaled.saturating_sub(rest * rest) as f64 / self.count as f64,
            // The value is too large for the exact form, but then it is also far larger than the term that is lost.
            None => around_whole as f64 - (rest * rest) as f64 / self.count as f64,
        }
    }
}

/// A u128 as decimal text, because most readers of JSON round a number above 2^53.
mod decimal_text {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(value: &u128, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(value)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u128, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(|_| D::Error::custom(format!("not a whole number: {text:?}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[u64]) -> Moments {
        let mut moments = Moments::default();
        values.iter().for_each(|value| moments.record(*value));
        moments
    }

    #[test]
    fn nothing_measured_has_no_figures() {
        let none = Moments::default();
        assert_eq!((none.min(), none.max(), none.mean(), none.deviation()), (None, None, None, None));
    }

    #[test]
    fn a_hand_computed_sample() {
        let moments = of(&[2, 4, 4, 4, 5, 5, 7, 9]);
        assert_eq!((moments.min(), moments.max(), moments.mean()), (Some(2), Some(9), Some(5.0)));
        // Squared deviations 9+1+1+1+0+0+4+16 = 32, over 7.
        assert_eq!(moments.deviation(), Some((32.0f64 / 7.0).sqrt()));
        assert_eq!(of(&[17]).deviation(), Some(0.0));
    }

    #[test]
    fn a_small_spread_around_a_huge_mean_is_exact() {
        let base = u64::MAX / 4;
        assert_eq!(of(&[base, base + 2]).deviation(), Some(2f64.sqrt()));
        assert_eq!(of(&[base, base, base + 1]).mean(), Some(base as f64));
        // A third each: 2 * (1/3)^2 + (2/3)^2 = 2/3, over 2.
        assert_eq!(of(&[base, base, base + 1]).deviation(), Some((1.0f64 / 3.0).sqrt()));
    }
}
