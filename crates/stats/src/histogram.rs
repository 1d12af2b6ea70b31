//! fio's latency histogram: exact below 128 ns, then 64 buckets per power of two (error at most 1/128).

use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::packed;

/// Number of fio's buckets: 29 groups of 64.
pub const BUCKETS: usize = 1856;

/// Bucket of a latency in ns. The last bucket contains all latencies from about 17.1 s on.
#[inline]
pub fn bucket_of(latency_ns: u64) -> usize {
    unlimited_bucket_of(latency_ns).min(BUCKETS - 1)
}

/// Above all values of [`unlimited_bucket_of`].
pub const UNLIMITED_BUCKETS: usize = 4096;

/// Bucket of a latency in ns by the same rule, without an end: the buckets from [`BUCKETS`] on are in fio's last one.
#[inline]
pub fn unlimited_bucket_of(latency_ns: u64) -> usize {
    let group = (57 - (latency_ns | 127).leading_zeros()) as usize;
    (group << 6) + (latency_ns >> group) as usize
}

/// The value in ns that represents a bucket: exact below 128, then the middle of the bucket, as fio prints it.
pub fn bucket_value(bucket: usize) -> u64 {
    if bucket < 128 {
        return bucket as u64;
    }
    let group = (bucket >> 6) - 1;
    let base = 1u64 << (group + 6);
    let inside = (bucket & 63) as u64;
    base + (inside << group) + (1u64 << group) / 2
}

/// Counts by bucket. Saved as pairs `[bucket, count]` of the buckets in use. In memory it is as long as the highest
/// bucket in use, so that ten thousand clones with fast requests fit.
#[derive(Clone, Debug, JsonSchema)]
#[schemars(with = "Vec<(usize, u64)>")]
pub struct Histogram {
    form: Form,
}

/// How the counts are stored.
#[derive(Clone, Debug)]
enum Form {
    /// By bucket, up to the highest in use.
    Open(Vec<u64>),
    /// The buckets in use, as [`packed`] bytes: a few for each.
    Packed(Box<[u8]>),
}

impl Histogram {
    /// An empty histogram.
    pub fn new() -> Histogram {
        Histogram { form: Form::Open(Vec::new()) }
    }

    /// A histogram of counts by bucket.
    ///
    /// # Panics
    /// If there are more than [`BUCKETS`] counts.
    pub fn from_counts(mut counts: Vec<u64>) -> Histogram {
        assert!(counts.len() <= BUCKETS, "a histogram has {BUCKETS} buckets, not {}", counts.len());
        let used = counts.iter().rposition(|count| *count > 0).map_or(0, |last| last + 1);
        counts.truncate(used);
        counts.shrink_to_fit();
        Histogram { form: Form::Open(counts) }
    }

    /// Stores the counts in a tenth of the memory until one changes, so that records of thousands of nodes fit.
    pub fn pack(&mut self) {
        if matches!(self.form, Form::Open(_)) {
            self.form = Form::Packed(packed::pack(self.used()));
        }
    }

    /// Takes all counts, as the bytes from which [`Histogram::of_packed`] makes them again.
    pub fn take_packed(&mut self) -> Box<[u8]> {
        self.pack();
        match std::mem::take(self).form {
            Form::Packed(bytes) => bytes,
            Form::Open(_) => unreachable!("it has just been packed"),
        }
    }

    /// The histogram whose counts [`Histogram::take_packed`] took; `None`: the bytes are damaged.
    pub fn of_packed(bytes: &[u8]) -> Option<Histogram> {
        let last = packed::last_bucket(bytes)?;
        (last < BUCKETS).then(|| Histogram { form: Form::Packed(bytes.into()) })
    }

    /// The counts by bucket, for changes.
    fn open(&mut self) -> &mut Vec<u64> {
        if matches!(self.form, Form::Packed(_)) {
            self.form = Form::Open(self.counts());
        }
        match &mut self.form {
            Form::Open(counts) => counts,
            Form::Packed(_) => unreachable!("it has just been opened"),
        }
    }

    /// Counts one latency, ns.
    #[inline]
    pub fn record(&mut self, latency_ns: u64) {
        self.add(bucket_of(latency_ns), 1);
    }

    /// Adds `count` to a bucket.
    ///
    /// # Panics
    /// If `bucket` is not below [`BUCKETS`].
    #[inline]
    pub fn add(&mut self, bucket: usize, count: u64) {
        assert!(bucket < BUCKETS, "there is no bucket {bucket}");
        if count == 0 {
            return;
        }
        let counts = self.open();
        if bucket >= counts.len() {
            counts.resize(bucket + 1, 0);
        }
        counts[bucket] += count;
    }

    /// Adds another histogram's counts.
    pub fn merge(&mut self, other: &Histogram) {
        match &other.form {
            Form::Open(more) if !more.is_empty() => {
                let counts = self.open();
                counts.resize(counts.len().max(more.len()), 0);
                counts.iter_mut().zip(more).for_each(|(count, more)| *count += more);
            }
            Form::Open(_) => {}
            Form::Packed(_) => other.used().for_each(|(bucket, count)| self.add(bucket, count)),
        }
    }

    /// Number of values that were counted.
    pub fn count(&self) -> u64 {
        match &self.form {
            Form::Open(counts) => counts.iter().sum(),
            Form::Packed(_) => self.used().map(|(_, count)| count).sum(),
        }
    }

    /// Counts by bucket, up to the highest in use.
    pub fn counts(&self) -> Vec<u64> {
        let mut counts = match &self.form {
            Form::Open(counts) => return counts.clone(),
            Form::Packed(_) => Vec::new(),
        };
        for (bucket, count) in self.used() {
            counts.resize(bucket, 0);
            counts.push(count);
        }
        counts
    }

    /// The buckets in use, ascending: the value in ns that represents each, and its count.
    pub fn bins(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.used().map(|(bucket, count)| (bucket_value(bucket), count))
    }

    /// The value in ns at a percentile (0 to 100): that of the first bucket at which the cumulative count reaches
    /// `percent / 100` of all. `None` if nothing was counted.
    pub fn percentile(&self, percent: f64) -> Option<u64> {
        let rank = rank_of(percent, self.count());
        let mut reached = 0;
        for (bucket, count) in self.used() {
            reached += count;
            if reached >= rank {
                return Some(bucket_value(bucket));
            }
        }
        // Nothing was counted, or the percentage is above 100.
        self.used().last().map(|(bucket, _)| bucket_value(bucket))
    }

    fn used(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let (counts, bytes): (&[u64], &[u8]) = match &self.form {
            Form::Open(counts) => (counts, &[]),
            Form::Packed(bytes) => (&[], bytes),
        };
        let open = counts.iter().copied().enumerate().filter(|(_, count)| *count > 0);
        open.chain(packed::unpack(bytes))
    }
}

impl PartialEq for Histogram {
    fn eq(&self, other: &Histogram) -> bool {
        self.used().eq(other.used())
    }
}

impl Eq for Histogram {}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram::new()
    }
}

/// The smallest cumulative count that reaches `percent` of `count` values.
///
/// fio computes `percent / 100 * count` in 80-bit floating point. Where the exact product is a whole number, the
/// rounding decides which bucket is printed (30 % of 100 values are 31 values for fio). So the same is done here:
/// quotient and product are each rounded to 64 bits.
fn rank_of(percent: f64, count: u64) -> u64 {
    if percent.is_nan() || percent <= 0.0 || count == 0 {
        return 1;
    }
    let bits = percent.to_bits();
    let biased = (bits >> 52) as i32;
    if biased == 0 {
        return 1;
    }
    // percent = mantissa * 2^exponent; the mantissa has 53 bits.
    let mantissa = u128::from((bits & ((1 << 52) - 1)) | (1 << 52));
    let exponent = biased - 1075;
    let scaled = mantissa << 74;
    let (quotient, shift) = round_to_64_bits(scaled / 100, scaled % 100 != 0);
    let (product, more) = round_to_64_bits(u128::from(quotient) * u128::from(count), false);
    let exponent = exponent - 74 + shift + more;
    match exponent {
        0.. => product.checked_shl(exponent as u32).unwrap_or(u64::MAX),
        -63..0 => {
            let down = -exponent as u32;
            (product >> down) + u64::from(product & ((1 << down) - 1) != 0)
        }
        _ => 1,
    }
}

/// Rounds to 64 significant bits, ties to even: the value is the result times 2 to the power of the second number.
/// `inexact` says that a part below the last bit was cut off before.
fn round_to_64_bits(value: u128, inexact: bool) -> (u64, i32) {
    let excess = 64 - value.leading_zeros() as i32;
    if excess <= 0 {
        return (value as u64, 0);
    }
    let kept = value >> excess;
    let rest = value & ((1 << excess) - 1);
    let half = 1 << (excess - 1);
    let up = rest > half || (rest == half && (inexact || kept & 1 == 1));
    match u64::try_from(kept + u128::from(up)) {
        Ok(rounded) => (rounded, excess),
        Err(_) => (1 << 63, excess + 1),
    }
}

impl Serialize for Histogram {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.used())
    }
}

impl<'de> Deserialize<'de> for Histogram {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Histogram, D::Error> {
        let mut histogram = Histogram::new();
        for (bucket, count) in Vec::<(usize, u64)>::deserialize(deserializer)? {
            if bucket >= BUCKETS {
                return Err(D::Error::custom(format!("bucket {bucket} of a histogram of {BUCKETS}")));
            }
            histogram.add(bucket, count);
        }
        Ok(histogram)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_below_128_are_exact_and_the_next_group_is_two_wide() {
        for value in 0..128 {
            assert_eq!(bucket_value(bucket_of(value)), value);
        }
        // 128 and 129 are in one bucket, whose middle is 129.
        assert_eq!(bucket_of(128), bucket_of(129));
        assert_eq!(bucket_value(bucket_of(128)), 129);
        // 1024..2048 has 64 buckets of 16: 1704 is the middle of 1696..1712.
        assert_eq!(bucket_of(1696), bucket_of(1711));
        assert_eq!(bucket_value(bucket_of(1696)), 1704);
        assert_eq!(bucket_of(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn histograms_of_any_form_add_up() {
        let of = |values: [u64; 3]| {
            let mut histogram = Histogram::new();
            values.into_iter().for_each(|value| histogram.record(value));
            histogram
        };
        let packed = |mut histogram: Histogram| {
            histogram.pack();
            histogram
        };
        let [few, more] = [of([3, 3, 40]), of([3, 100, 2000])];
        for other in [more.clone(), packed(more.clone())] {
            for mut sum in [few.clone(), packed(few.clone())] {
                sum.merge(&other);
                let bins: Vec<(u64, u64)> = sum.bins().collect();
                assert_eq!(bins, [(3, 3), (40, 1), (100, 1), (bucket_value(bucket_of(2000)), 1)]);
                assert_eq!(sum.count(), 6);
            }
        }
    }

    #[test]
    fn an_empty_histogram_has_no_percentile() {
        assert_eq!(Histogram::new().percentile(50.0), None);
    }

    #[test]
    fn percentile_is_the_first_bucket_that_reaches_the_rank() {
        let mut histogram = Histogram::new();
        (1..=100).for_each(|value| histogram.record(value));
        let at = |percent| histogram.percentile(percent).unwrap();
        assert_eq!((at(0.0), at(1.0), at(1.5), at(50.0), at(99.0), at(99.1), at(100.0)), (1, 1, 2, 50, 99, 100, 100));
        assert_eq!(at(250.0), 100);
    }

    /// Ranks of x86 `ceil((long double) percent / 100.0 * count)`, computed once in C.
    #[test]
    fn ranks_round_as_80_bit_arithmetic_does() {
        for (percent, count, rank) in RANKS {
            assert_eq!(rank_of(percent, count), rank, "{percent} % of {count}");
        }
    }

    const RANKS: [(f64, u64, u64); 12] = [
        (30.0, 10, 3),
        (30.0, 50, 16),
        (30.0, 100, 31),
        (60.0, 25, 16),
        (15.0, 380, 58),
        (50.0, 2, 1),
        (99.5, 200, 199),
        (99.9, 1000, 1000),
        (99.99, 10_000, 9999),
        (0.001, 5, 1),
        (33.3, 1_000_000_007, 333_000_003),
        (100.0, u64::MAX, u64::MAX),
    ];
}
