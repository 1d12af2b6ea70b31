//! Clocks, in nanoseconds since an origin of their own.

mod real;
mod simulated;

pub use real::{ClockChoice, ClockError, ClockSource, ClockWatch, RealClock};
pub use simulated::VirtualClock;

pub use crate::system::clock::sleep;

/// The time of a system clock, by its number for `clock_gettime`, ns; `None`: it cannot be read.
pub fn system_clock_ns(number: u32) -> Option<u64> {
    crate::system::clock::numbered_ns(number)
}

/// A clock. On one thread it hardly ever runs backwards: a move between processors may take it back by a few ticks,
/// so subtract with saturation.
pub trait Clock: Clone {
    /// Nanoseconds since the clock's origin.
    fn now_ns(&self) -> u64;

    /// Waits until `deadline_ns`. The caller limits the wait; a signal ends it early.
    fn sleep_until_ns(&self, deadline_ns: u64);

    /// Spins until `deadline_ns`; a virtual clock only advances.
    fn spin_until_ns(&self, deadline_ns: u64) {
        while self.now_ns() < deadline_ns {
            std::hint::spin_loop();
        }
    }
}
