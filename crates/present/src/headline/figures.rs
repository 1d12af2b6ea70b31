//! The figures of a test in words.

use results::quantity::{bytes_per_s, latency, number};

use super::test::TestFigures;

/// `1,090 MB/s`.
pub(crate) fn throughput(test: &TestFigures) -> Option<String> {
    Some(bytes_per_s(test.mb_per_s? * 1e6))
}

/// `67,100 IOPS`.
pub(crate) fn rate(test: &TestFigures) -> Option<String> {
    Some(format!("{} IOPS", number(test.iops?)))
}

/// The figure by which targets are compared.
pub(crate) fn compared(test: &TestFigures) -> Option<String> {
    if let Some(wall) = test.wall_s {
        return Some(latency(wall * 1e9));
    }
    if !test.by_requests {
        return throughput(test);
    }
    // A phase of operations does no I/O of its own.
    if test.depth.is_some() { rate(test) } else { Some(format!("{} ops/s", number(test.iops?))) }
}

/// The median latency, or the mean of too few, without its name: where a column or a tile has it.
pub(crate) fn typical(test: &TestFigures) -> Option<String> {
    let found = test.latency_us?;
    Some(latency(found.p50.or(found.mean)? * 1e3))
}

/// The ratio of mean and median from which both are printed.
const APART: f64 = 3.0;

/// The mean, where it is far from the median.
pub(crate) fn mean_apart(test: &TestFigures) -> Option<String> {
    let found = test.latency_us?;
    let (median, mean) = (found.p50?, found.mean?);
    (mean >= median * APART || median >= mean * APART).then(|| latency(mean * 1e3))
}

/// `a median of 114 µs (mean 2.03 ms)`, in a sentence.
pub(crate) fn typical_named(test: &TestFigures) -> Option<String> {
    let name = if test.latency_us?.p50.is_some() { "median" } else { "mean" };
    let mean = mean_apart(test).map(|mean| format!(" (mean {mean})")).unwrap_or_default();
    Some(format!("a {name} of {}{mean}", typical(test)?))
}

/// The 99th percentile of latency.
pub(crate) fn p99(test: &TestFigures) -> Option<String> {
    Some(latency(test.latency_us?.p99? * 1e3))
}
