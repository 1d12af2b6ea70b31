//! Averaged logs: one row for each direction that completed I/Os in a window.

use fsdyno_job::{Direction, PerDirection, Reporting};

use super::rows::{LogRow, LoggedFigure, NO_SUBMISSION};
use crate::recorder::Recorder;

/// Sum and largest value of one latency in a window, ns.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    total_ns: u64,
    largest_ns: u64,
}

impl Sum {
    #[inline]
    fn add(&mut self, latency_ns: u64) {
        self.total_ns += latency_ns;
        self.largest_ns = self.largest_ns.max(latency_ns);
    }
}

/// The latencies of one direction in a window.
#[derive(Clone, Copy, Debug, Default)]
struct Latencies {
    /// When the window closes, ns since the start of the measured part.
    due_ns: u64,
    count: u64,
    /// I/Os that have a submission latency.
    submitted: u64,
    slat: Sum,
    clat: Sum,
    lat: Sum,
}

/// The window of a rate: when it began, and the counters at that time.
#[derive(Clone, Copy, Debug)]
struct Rate {
    subject: LoggedFigure,
    length_ns: u64,
    /// When the window closes, ns since the start of the measured part.
    due_ns: u64,
    /// The time in the previous line.
    opened_ms: u64,
    then: PerDirection<u64>,
}

impl Rate {
    fn new(subject: LoggedFigure, length_ms: u32) -> Rate {
        let length_ns = u64::from(length_ms) * 1_000_000;
        Rate { subject, length_ns, due_ns: length_ns, opened_ms: 0, then: PerDirection::default() }
    }

    /// Closes the window. The rate is taken over the time since the previous line, at least one millisecond, so that
    /// a shorter last window loses nothing.
    fn close(&mut self, at_ns: u64, recorder: &Recorder, put: &mut impl FnMut(LogRow)) {
        let at_ms = (at_ns / 1_000_000).max(self.opened_ms + 1);
        let spent_ms = at_ms - self.opened_ms;
        self.opened_ms = at_ms;
        self.due_ns = end_of_window(at_ns, self.length_ns);
        for direction in Direction::ALL {
            let (counter, unit) = match self.subject {
                LoggedFigure::Bandwidth => (recorder.bytes(direction), 1024),
                _ => (recorder.completed(direction), 1),
            };
            let done = counter - std::mem::replace(&mut self.then[direction], counter);
            if done > 0 {
                let value = done * 1000 / spent_ms / unit;
                put(LogRow::Window { at_ms, value, largest: value, subject: self.subject, direction });
            }
        }
    }
}

/// Which windows to close.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WindowsToClose {
    /// Windows that have ended.
    Due,
    /// Windows that ended a while ago, when no further request begins. What is still drained belongs to the last
    /// window.
    Overdue,
    /// All windows, as they are.
    All,
}

impl WindowsToClose {
    /// Whether to close a window of this length.
    pub(super) fn closes(self, due_ns: u64, length_ns: u64, at_ns: u64) -> bool {
        match self {
            WindowsToClose::Due => at_ns >= due_ns,
            WindowsToClose::Overdue => at_ns >= due_ns + length_ns / 10,
            WindowsToClose::All => true,
        }
    }
}

/// The end of the window that contains `at_ns`. Windows keep to their grid, even if one of them closes late.
pub(super) fn end_of_window(at_ns: u64, length_ns: u64) -> u64 {
    at_ns - at_ns % length_ns + length_ns
}

/// The windows of one worker. Times are ns since the start of the measured part.
#[derive(Clone, Debug)]
pub(super) struct Windows {
    length_ns: u64,
    latencies: PerDirection<Latencies>,
    rates: [Rate; 2],
}

impl Windows {
    /// Makes the windows that the job asks for. A rate uses the windows of the report's samples if those are shorter,
    /// as in fio.
    pub(super) fn new(reporting: &Reporting) -> Windows {
        let length_ms = reporting.logs.window_ms;
        let length_ns = u64::from(length_ms) * 1_000_000;
        let first = Latencies { due_ns: length_ns, ..Latencies::default() };
        let bandwidth = Rate::new(LoggedFigure::Bandwidth, length_ms.min(reporting.bandwidth_window_ms));
        let iops = Rate::new(LoggedFigure::Iops, length_ms.min(reporting.iops_window_ms));
        Windows { length_ns, latencies: PerDirection::all(first), rates: [bandwidth, iops] }
    }

    /// Adds one I/O; returns whether the window of its direction must be closed.
    #[inline]
    pub(super) fn note(&mut self, direction: Direction, slat_ns: u64, clat_ns: u64, at_ns: u64) -> bool {
        let window = &mut self.latencies[direction];
        window.count += 1;
        window.clat.add(clat_ns);
        if slat_ns == NO_SUBMISSION {
            window.lat.add(clat_ns);
        } else {
            window.submitted += 1;
            window.slat.add(slat_ns);
            window.lat.add(slat_ns + clat_ns);
        }
        at_ns >= window.due_ns
    }

    /// Closes the latency window of a direction.
    pub(super) fn close_latencies(&mut self, direction: Direction, at_ns: u64, mut put: impl FnMut(LogRow)) {
        let window = &mut self.latencies[direction];
        let sums = [
            (LoggedFigure::Slat, window.submitted, window.slat),
            (LoggedFigure::Clat, window.count, window.clat),
            (LoggedFigure::Lat, window.count, window.lat),
        ];
        for (subject, count, sum) in sums.into_iter().filter(|(_, count, _)| *count > 0) {
            let mean_ns = (sum.total_ns + count / 2) / count;
            let at_ms = at_ns / 1_000_000;
            put(LogRow::Window { at_ms, value: mean_ns, largest: sum.largest_ns, subject, direction });
        }
        let due_ns = end_of_window(at_ns, self.length_ns);
        *window = Latencies { due_ns, ..Latencies::default() };
    }

    /// The recorder has cleared its counters.
    pub(super) fn recount(&mut self) {
        self.rates.iter_mut().for_each(|rate| rate.then = PerDirection::default());
    }

    /// When the next window of a rate must be closed.
    pub(super) fn due_ns(&self) -> u64 {
        self.rates.iter().map(|rate| rate.due_ns).min().unwrap_or(u64::MAX)
    }

    /// Closes the windows of rates.
    pub(super) fn close_rates(
        &mut self,
        closing: WindowsToClose,
        at_ns: u64,
        recorder: &Recorder,
        mut put: impl FnMut(LogRow),
    ) {
        for rate in self.rates.iter_mut().filter(|rate| closing.closes(rate.due_ns, rate.length_ns, at_ns)) {
            rate.close(at_ns, recorder, &mut put);
        }
    }
}
