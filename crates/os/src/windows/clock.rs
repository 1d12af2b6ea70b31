//! The system's clock and its opinion about the processor's counter.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Nanoseconds of the performance counter since this was first called.
#[inline]
#[expect(clippy::disallowed_methods, reason = "this is what others are to ask instead")]
pub(crate) fn monotonic_ns() -> u64 {
    static ORIGIN: OnceLock<Instant> = OnceLock::new();
    ORIGIN.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// Of the clocks with numbers there is the monotonic one.
pub(crate) fn numbered_ns(number: u32) -> Option<u64> {
    const MONOTONIC: u32 = 1;
    (number == MONOTONIC).then(monotonic_ns)
}

/// Sleeps; the standard library has a timer of high resolution for it.
#[expect(clippy::disallowed_methods, reason = "this is what others are to call instead")]
pub fn sleep(duration: Duration) {
    std::thread::sleep(duration);
}

/// Windows does not say whether it trusts the time stamp counter: the processor's own word has to do, and the clock is
/// held against the performance counter while a run goes on.
pub(crate) fn counter_distrusted() -> Option<&'static str> {
    None
}
