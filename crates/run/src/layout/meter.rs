//! How far a layout is, and how long the rest will take at the rate measured so far.

use std::time::Duration;

use engine::clock::{Clock, RealClock};

/// A rate is trusted after so long: the first chunks tell more about memory and allocation than about the device.
const TRUSTED_TIME: Duration = Duration::from_millis(500);

/// How far a layout is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Progress {
    /// Bytes made.
    pub(crate) bytes_done: u64,
    /// Bytes to make in all.
    pub(crate) bytes_total: u64,
    /// Time that the rest will take; `None` until the rate can be trusted.
    pub(crate) remaining: Option<Duration>,
}

/// Counts the bytes of one or more layouts and tells the watcher after each chunk, which comes some hundred times
/// a second on a quick disk: what to show, and how often, is the watcher's choice.
pub(crate) struct Meter<'watcher> {
    clock: RealClock,
    began_ns: u64,
    bytes_done: u64,
    bytes_total: u64,
    watcher: &'watcher mut dyn FnMut(Progress),
}

impl<'watcher> Meter<'watcher> {
    /// Begins to count towards `bytes_total`; the time runs from now.
    pub(crate) fn new(bytes_total: u64, watcher: &'watcher mut dyn FnMut(Progress)) -> Meter<'watcher> {
        let clock = RealClock::shared();
        Meter { clock, began_ns: clock.now_ns(), bytes_done: 0, bytes_total, watcher }
    }

    /// So many bytes more are made.
    pub(crate) fn add(&mut self, bytes: u64) {
        self.bytes_done += bytes;
        let elapsed = Duration::from_nanos(self.clock.now_ns().saturating_sub(self.began_ns));
        let remaining = remaining(self.bytes_done, self.bytes_total, elapsed);
        (self.watcher)(Progress { bytes_done: self.bytes_done, bytes_total: self.bytes_total, remaining });
    }
}

fn remaining(done: u64, total: u64, elapsed: Duration) -> Option<Duration> {
    if done == 0 || elapsed < TRUSTED_TIME {
        return None;
    }
    let rest = total.saturating_sub(done) as f64 / done as f64;
    Duration::try_from_secs_f64(elapsed.as_secs_f64() * rest).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_takes_as_long_as_the_rate_says() {
        let second = Duration::from_secs(1);
        assert_eq!(remaining(100 << 20, 300 << 20, second), Some(2 * second));
        assert_eq!(remaining(300 << 20, 300 << 20, second), Some(Duration::ZERO));
        assert_eq!(remaining(1 << 20, 2 << 20, second), Some(second));
    }

    #[test]
    fn nothing_is_foretold_too_early() {
        assert_eq!(remaining(0, 100, Duration::from_secs(9)), None);
        assert_eq!(remaining(500 << 20, 1 << 30, Duration::from_millis(499)), None);
    }

    #[test]
    fn several_files_count_together() {
        let mut seen = Vec::new();
        let mut watcher = |progress: Progress| seen.push((progress.bytes_done, progress.bytes_total));
        let mut meter = Meter::new(30, &mut watcher);
        meter.add(10);
        meter.add(20);
        assert_eq!(seen, [(10, 30), (30, 30)]);
    }
}
