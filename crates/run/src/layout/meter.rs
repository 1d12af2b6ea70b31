//! Measures the progress of a layout, and estimates the remaining time from the rate so far.

use std::time::Duration;

use fsdyno_os::clock::{Clock, RealClock};

/// A rate is shown from this time on.
const TRUSTED_TIME: Duration = Duration::from_millis(500);

/// The progress of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Progress {
    /// Bytes made.
    pub(crate) bytes_done: u64,
    /// Bytes to make in all.
    pub(crate) bytes_total: u64,
    /// Estimated remaining time; `None` until the rate can be trusted.
    pub(crate) remaining: Option<Duration>,
}

/// Counts the bytes of one or more layouts and reports to the observer after each chunk, some hundred times per second
/// on a fast disk. The observer decides what to show, and how often.
pub(crate) struct Meter<'watcher> {
    clock: RealClock,
    /// Time of the first chunk, ns, and its bytes. What comes before (removal of an old file, allocation) is not part
    /// of the rate.
    first: Option<(u64, u64)>,
    bytes_done: u64,
    bytes_total: u64,
    watcher: &'watcher mut dyn FnMut(Progress),
}

impl<'watcher> Meter<'watcher> {
    /// A meter for `bytes_total` bytes; its time begins with the first chunk.
    pub(crate) fn new(bytes_total: u64, watcher: &'watcher mut dyn FnMut(Progress)) -> Meter<'watcher> {
        Meter { clock: RealClock::shared(), first: None, bytes_done: 0, bytes_total, watcher }
    }

    /// Adds bytes that were made.
    pub(crate) fn add(&mut self, bytes: u64) {
        self.bytes_done += bytes;
        let now_ns = self.clock.now_ns();
        let (first_ns, first_bytes) = *self.first.get_or_insert((now_ns, self.bytes_done));
        let elapsed = Duration::from_nanos(now_ns.saturating_sub(first_ns));
        let rest = self.bytes_total.saturating_sub(self.bytes_done);
        let remaining = remaining(self.bytes_done - first_bytes, rest, elapsed);
        (self.watcher)(Progress { bytes_done: self.bytes_done, bytes_total: self.bytes_total, remaining });
    }
}

/// The time of `rest` bytes at the rate of `done` bytes in `elapsed`.
fn remaining(done: u64, rest: u64, elapsed: Duration) -> Option<Duration> {
    if done == 0 || elapsed < TRUSTED_TIME {
        return None;
    }
    Duration::try_from_secs_f64(elapsed.as_secs_f64() * rest as f64 / done as f64).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_takes_as_long_as_the_rate_says() {
        let second = Duration::from_secs(1);
        assert_eq!(remaining(100 << 20, 200 << 20, second), Some(2 * second));
        assert_eq!(remaining(300 << 20, 0, second), Some(Duration::ZERO));
    }

    #[test]
    fn nothing_is_foretold_too_early() {
        assert_eq!(remaining(0, 100, Duration::from_secs(9)), None);
        assert_eq!(remaining(500 << 20, 1 << 30, Duration::from_millis(499)), None);
    }

    #[test]
    fn what_came_before_the_first_chunk_is_no_part_of_the_rate() {
        let mut seen = Vec::new();
        let mut watcher = |progress: Progress| seen.push(progress.remaining);
        let mut meter = Meter::new(1 << 40, &mut watcher);
        // The time of the first chunk alone gives no rate.
        meter.clock.sleep_until_ns(meter.clock.now_ns() + TRUSTED_TIME.as_nanos() as u64);
        meter.add(1);
        assert_eq!(seen, [None]);
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
