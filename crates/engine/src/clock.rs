//! Clocks: nanoseconds since an origin of their own.

/// A clock that never runs backwards as one thread sees it.
pub trait Clock {
    /// Nanoseconds since the clock's origin.
    fn now_ns(&self) -> u64;

    /// Waits until `deadline_ns` (bounded by the caller; wakes early when signalled).
    fn sleep_until_ns(&self, deadline_ns: u64);
}
