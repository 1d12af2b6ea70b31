//! The confidence interval of a percentile of a histogram.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{Interval, binomial};
use crate::histogram::{BUCKETS, Histogram, bucket_value};

/// Why a percentile has no interval.
#[derive(Clone, Copy, Debug, PartialEq, Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoPercentileInterval {
    /// There are so few samples that even the largest may lie below the percentile (or the smallest above it).
    #[error("too few samples for an interval of this percentile: {count}, and it takes {needed}")]
    TooFewSamples {
        /// Number of samples in the histogram.
        count: u64,
        /// Smallest number of samples with which there is an interval.
        needed: u64,
        /// Lower bound of the percentile, ns; `None`: not known.
        at_least_ns: Option<f64>,
    },
    /// The upper end is in the last bucket, which contains all values from about 17.1 s on.
    #[error("the percentile may be longer than the histogram reaches")]
    BeyondLastBucket {
        /// Lower bound of the percentile, ns.
        at_least_ns: f64,
    },
    /// The percentage is not between 0 and 100, or the confidence not between 0 and 1.
    #[error("there is no interval of the {percent}th percentile with a confidence of {confidence}")]
    Undefined {
        /// The percentage asked for.
        percent: f64,
        /// The confidence asked for.
        confidence: f64,
    },
}

impl NoPercentileInterval {
    /// Lower bound of the percentile, ns; `None`: not known.
    pub fn at_least_ns(&self) -> Option<f64> {
        match *self {
            NoPercentileInterval::TooFewSamples { at_least_ns, .. } => at_least_ns,
            NoPercentileInterval::BeyondLastBucket { at_least_ns } => Some(at_least_ns),
            NoPercentileInterval::Undefined { .. } => None,
        }
    }
}

/// A distribution-free interval of the `percent`-th percentile (above 0, below 100) of a histogram, ns.
///
/// The l-th and the u-th smallest value bound the percentile with confidence P(l ≤ B ≤ u - 1), B ~ Binomial(n,
/// percent / 100) (H. A. David and H. N. Nagaraja, "Order Statistics", 3rd edition, section 7.1). The error on each
/// side is at most (1 - confidence) / 2. Of a value only the bucket is known, so that the interval goes from the
/// lower edge of one bucket to the upper edge of the other. Its confidence is at least the one asked for.
///
/// The samples are treated as independent. Latencies of neighbouring requests are not quite independent, so that
/// repeats of a run can scatter more than the interval of one run says.
pub fn percentile_interval(
    histogram: &Histogram,
    percent: f64,
    confidence: f64,
) -> Result<Interval, NoPercentileInterval> {
    let undefined = NoPercentileInterval::Undefined { percent, confidence };
    let needed = samples_needed(percent, confidence).ok_or(undefined)?;
    let (share, tail) = (percent / 100.0, (1.0 - confidence) / 2.0);
    let count = histogram.count();
    // The largest l with P(B ≤ l - 1) ≤ tail is the number of k with P(B ≤ k) ≤ tail.
    let low_rank = first(0, count, |k| binomial::at_most(k, count, share) > tail);
    let high_rank = first(0, count, |k| binomial::at_least(k, count, share) <= tail);
    let at_least_ns = (low_rank > 0).then(|| edges_ns(bucket_at(histogram, low_rank)).0);
    let Some(low) = at_least_ns.filter(|_| binomial::at_least(high_rank, count, share) <= tail) else {
        return Err(NoPercentileInterval::TooFewSamples { count, needed, at_least_ns });
    };
    let high_bucket = bucket_at(histogram, high_rank);
    if high_bucket == BUCKETS - 1 {
        return Err(NoPercentileInterval::BeyondLastBucket { at_least_ns: low });
    }
    let outside = binomial::at_most(low_rank - 1, count, share) + binomial::at_least(high_rank, count, share);
    Ok(Interval { low, high: edges_ns(high_bucket).1, confidence: 1.0 - outside })
}

/// The smallest number of samples with which [`percentile_interval`] exists: with fewer, all of them may lie on one
/// side of the percentile with a probability above (1 - confidence) / 2. It is 368 for p99 and 3,688 for p99.9 at 95
/// %. `None` if the percentage is not between 0 and 100, or the confidence not between 0 and 1.
pub fn samples_needed(percent: f64, confidence: f64) -> Option<u64> {
    let defined = percent > 0.0 && percent < 100.0 && confidence > 0.0 && confidence < 1.0;
    let share = percent / 100.0;
    let rarer = share.max(1.0 - share);
    defined.then(|| (((1.0 - confidence) / 2.0).ln() / rarer.ln()).ceil() as u64)
}

/// The smallest number of `from..to` for which `holds` is true, or `to`. The condition must stay true once it is
/// true.
fn first(from: u64, to: u64, holds: impl Fn(u64) -> bool) -> u64 {
    let (mut from, mut to) = (from, to);
    while from < to {
        let middle = from + (to - from) / 2;
        if holds(middle) {
            to = middle;
        } else {
            from = middle + 1;
        }
    }
    from
}

/// The bucket of the `rank`-th smallest value; ranks start at 1 and end at the histogram's count.
fn bucket_at(histogram: &Histogram, rank: u64) -> usize {
    let mut reached = 0;
    let reaches = |count: &u64| {
        reached += count;
        reached >= rank
    };
    histogram.counts().iter().position(reaches).unwrap_or(BUCKETS - 1)
}

/// The smallest and the largest latency, ns, of a bucket other than the last.
fn edges_ns(bucket: usize) -> (f64, f64) {
    let width = 1u64 << (bucket >> 6).saturating_sub(1);
    let low = bucket_value(bucket) - width / 2;
    (low as f64, (low + width - 1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::histogram::bucket_of;
    use crate::random::noise::{Shape, share};

    /// Values of 1 ns to `count` ns, each once; exact up to 127.
    fn one_to(count: u64) -> Histogram {
        let mut histogram = Histogram::new();
        (1..=count).for_each(|value| histogram.record(value));
        histogram
    }

    #[test]
    fn the_median_of_a_hundred_is_the_textbooks() {
        // Ranks 40 and 61: P(40 ≤ B ≤ 60) = 0.9648.
        let found = percentile_interval(&one_to(100), 50.0, 0.95).unwrap();
        assert_eq!((found.low, found.high), (40.0, 61.0));
        assert!((found.confidence - 0.964_799_8).abs() < 1e-7, "{found:?}");
    }

    #[test]
    fn edges_hold_their_bucket_and_nothing_else() {
        for bucket in 0..BUCKETS - 1 {
            let (low, high) = edges_ns(bucket);
            assert_eq!((bucket_of(low as u64), bucket_of(high as u64)), (bucket, bucket));
            assert_eq!(bucket_of(high as u64 + 1), bucket + 1);
        }
    }

    #[test]
    fn too_few_samples_say_how_many_it_takes() {
        assert_eq!(samples_needed(99.0, 0.95), Some(368));
        assert_eq!(samples_needed(1.0, 0.95), Some(368));
        assert_eq!(samples_needed(99.9, 0.95), Some(3688));
        assert_eq!(samples_needed(50.0, 0.95), Some(6));
        let none = |count| percentile_interval(&one_to(count), 99.0, 0.95).unwrap_err();
        assert!(matches!(none(0), NoPercentileInterval::TooFewSamples { at_least_ns: None, .. }));
        assert!(matches!(none(367), NoPercentileInterval::TooFewSamples { count: 367, needed: 368, .. }));
        assert!(percentile_interval(&one_to(368), 99.0, 0.95).is_ok());
        assert!(percentile_interval(&one_to(368), 1.0, 0.95).is_ok());
        assert!(percentile_interval(&one_to(367), 1.0, 0.95).is_err());
        for (percent, confidence) in [(0.0, 0.95), (100.0, 0.95), (f64::NAN, 0.95), (99.0, 0.0), (99.0, 95.0)] {
            let found = percentile_interval(&one_to(500), percent, confidence);
            assert!(matches!(found, Err(NoPercentileInterval::Undefined { .. })), "{found:?}");
        }
    }

    #[test]
    fn a_bucket_without_end_bounds_nothing() {
        let mut histogram = one_to(500);
        (0..50).for_each(|_| histogram.record(u64::MAX));
        let none = percentile_interval(&histogram, 99.0, 0.95).unwrap_err();
        assert!(matches!(none, NoPercentileInterval::BeyondLastBucket { .. }), "{none:?}");
        assert!(percentile_interval(&histogram, 50.0, 0.95).is_ok());
    }

    #[test]
    fn billions_of_samples_are_no_trouble() {
        let mut histogram = Histogram::new();
        (100..110).for_each(|bucket| histogram.add(bucket, 300_000_000));
        let found = percentile_interval(&histogram, 50.0, 0.95).unwrap();
        // Exactly at an edge: 1.5e9 values are at most 104 ns.
        assert_eq!((found.low, found.high), (104.0, 105.0));
        assert!((0.95..0.9501).contains(&found.confidence), "{found:?}");
    }

    #[test]
    fn it_covers_the_percentile_as_often_as_it_says() {
        for (percent, count) in [(50.0, 20), (99.0, 400), (99.0, 2000)] {
            // Exponential with median 100 us: the percentile is known.
            let truth_ns = 1e5 * -(1.0 - percent / 100.0f64).log2();
            let covered = share(1500, |random| {
                let mut histogram = Histogram::new();
                (0..count).for_each(|_| histogram.record((random.sample(Shape::LongTail) * 1e3) as u64));
                percentile_interval(&histogram, percent, 0.95).is_ok_and(|found| found.contains(truth_ns))
            });
            assert!((0.94..0.99).contains(&covered), "p{percent} of {count}: {covered}");
        }
    }
}
