//! fio's latency histogram: exact below 128 ns, then 64 buckets per power of two (error at most 1/128).

use serde::{Deserialize, Serialize};

/// fio's number of buckets: 29 groups of 64.
pub const BUCKETS: usize = 1856;

/// Bucket of a latency in ns. The last bucket takes everything from about 17.1 s up.
#[inline]
pub fn bucket_of(latency_ns: u64) -> usize {
    let group = (57 - (latency_ns | 127).leading_zeros()) as usize;
    let index = (group << 6) + (latency_ns >> group) as usize;
    index.min(BUCKETS - 1)
}

/// The value in ns that stands for a bucket: exact below 128, then the bucket's middle, as fio prints it.
pub fn bucket_value(bucket: usize) -> u64 {
    if bucket < 128 {
        return bucket as u64;
    }
    let group = (bucket >> 6) - 1;
    let base = 1u64 << (group + 6);
    let inside = (bucket & 63) as u64;
    base + (inside << group) + (1u64 << group) / 2
}

/// Counts by bucket.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Histogram {
    counts: Vec<u64>,
}
