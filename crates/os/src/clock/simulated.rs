//! A virtual clock, whose time passes only while somebody waits.

use std::cell::Cell;
use std::rc::Rc;

use super::Clock;

/// A clock that starts at 0 and advances only by [`VirtualClock::advance_to_ns`] and by sleeping. Clones share the
/// time.
#[derive(Clone, Debug, Default)]
pub struct VirtualClock {
    now_ns: Rc<Cell<u64>>,
}

impl VirtualClock {
    /// A clock at 0.
    pub fn new() -> VirtualClock {
        VirtualClock::default()
    }

    /// Advances the time; an earlier time changes nothing.
    #[inline]
    pub fn advance_to_ns(&self, time_ns: u64) {
        self.now_ns.set(self.now_ns.get().max(time_ns));
    }
}

impl Clock for VirtualClock {
    #[inline]
    fn now_ns(&self) -> u64 {
        self.now_ns.get()
    }

    fn sleep_until_ns(&self, deadline_ns: u64) {
        self.advance_to_ns(deadline_ns);
    }

    fn spin_until_ns(&self, deadline_ns: u64) {
        self.advance_to_ns(deadline_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleeping_moves_the_time_of_every_clone() {
        let clock = VirtualClock::new();
        let other = clock.clone();
        clock.sleep_until_ns(700);
        assert_eq!(other.now_ns(), 700);
        other.advance_to_ns(600);
        assert_eq!(clock.now_ns(), 700, "time never runs backwards");
    }
}
