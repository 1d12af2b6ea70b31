//! Clocks: nanoseconds since an origin of their own.

mod real;
mod simulated;

pub use real::{ClockChoice, ClockError, ClockSource, ClockWatch, RealClock};
pub use simulated::VirtualClock;

pub use crate::system::clock::sleep;

/// What a clock of the system says, by its number there (of `clock_gettime`), ns; `None`: it cannot be read.
pub fn system_clock_ns(number: u32) -> Option<u64> {
    crate::system::clock::numbered_ns(number)
}

/// A clock that hardly ever runs backwards as one thread sees it: a move between processors may take a few ticks
/// back, so subtract with saturation.
pub trait Clock: Clone {
    /// Nanoseconds since the clock's origin.
    fn now_ns(&self) -> u64;

    /// Waits until `deadline_ns` (bounded by the caller; wakes early when signalled).
    fn sleep_until_ns(&self, deadline_ns: u64);

    /// Burns the processor until `deadline_ns` (a virtual clock just advances).
    fn spin_until_ns(&self, deadline_ns: u64) {
        while self.now_ns() < deadline_ns {
            std::hint::spin_loop();
        }
    }
}
