//! The system's clock, and whether Windows trusts the processor's counter.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Nanoseconds of the performance counter since the first call.
#[inline]
#[expect(clippy::disallowed_methods, reason = "other code must use this function instead")]
pub(crate) fn monotonic_ns() -> u64 {
    static ORIGIN: OnceLock<Instant> = OnceLock::new();
    ORIGIN.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// Of the numbered clocks, only the monotonic one exists.
pub(crate) fn numbered_ns(number: u32) -> Option<u64> {
    const MONOTONIC: u32 = 1;
    (number == MONOTONIC).then(monotonic_ns)
}

/// Sleeps; the standard library uses a timer of high resolution.
#[expect(clippy::disallowed_methods, reason = "other code must use this function instead")]
pub fn sleep(duration: Duration) {
    std::thread::sleep(duration);
}

/// Sleeps until this long after a reading of [`monotonic_ns`].
pub(crate) fn sleep_until(since_ns: u64, wait_ns: u64) {
    sleep(Duration::from_nanos(since_ns.saturating_add(wait_ns).saturating_sub(monotonic_ns())));
}

/// Windows does not report whether it trusts the time stamp counter. Only the processor's flags are known, and the
/// clock is compared with the performance counter during a run.
pub(crate) fn counter_distrusted() -> Option<&'static str> {
    None
}
