//! What counters grew by.

/// Growth of a counter that never wraps in practice; one that begins anew has not grown.
pub(super) fn growth(before: u64, after: u64) -> u64 {
    after.saturating_sub(before)
}

/// Growth of a pair of counters.
pub(super) fn growth_of_pair(before: [u64; 2], after: [u64; 2]) -> [u64; 2] {
    [growth(before[0], after[0]), growth(before[1], after[1])]
}
