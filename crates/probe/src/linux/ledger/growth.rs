//! Differences of counters.

/// Growth of a counter that never wraps in practice. A counter that was reset has not grown.
pub(super) fn growth(before: u64, after: u64) -> u64 {
    after.saturating_sub(before)
}
