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

/// Sleeps; the standard library has a timer of high resolution for it.
#[expect(clippy::disallowed_methods, reason = "this is what others are to call instead")]
pub(crate) fn sleep(duration: Duration) {
    std::thread::sleep(duration);
}

/// Windows does not say whether it trusts the time stamp counter: the processor's own word has to do, and the clock is
/// held against the performance counter while a run goes on.
pub(crate) fn counter_distrusted() -> Option<&'static str> {
    None
}
