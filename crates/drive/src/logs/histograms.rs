//! Histograms over time, taken from the recorder's counters at the end of each window, so that no I/O costs more.

use fsdyno_job::{Direction, Logs, PerDirection};

use super::rows::HistogramRow;
use super::windows::{WindowsToClose, end_of_window};
use crate::recorder::Recorder;

/// The counters of one direction at the start of the window.
#[derive(Clone, Debug, Default)]
struct WindowStart {
    buckets: Vec<u64>,
    bytes: u64,
    ios: u64,
}

/// The histogram windows of one worker. Times are ns since the start of the measured part.
#[derive(Clone, Debug)]
pub(super) struct Histograms {
    length_ns: u64,
    /// Number of neighbouring buckets that are added up to one in the log.
    merged: usize,
    due_ns: u64,
    then: PerDirection<WindowStart>,
}

impl Histograms {
    /// `None`: the job logs no histograms.
    pub(super) fn new(logs: &Logs) -> Option<Histograms> {
        let length_ns = u64::from(logs.histogram_window_ms) * 1_000_000;
        let wanted = logs.histograms.is_some() && length_ns > 0;
        let merged = 1 << logs.histogram_coarseness;
        wanted.then(|| Histograms { length_ns, merged, due_ns: length_ns, then: PerDirection::default() })
    }

    /// When the current window is to be closed.
    pub(super) fn due_ns(&self) -> u64 {
        self.due_ns
    }

    /// The recorder has cleared its counters.
    pub(super) fn recount(&mut self) {
        self.then = PerDirection::default();
    }

    /// Closes the window: makes a row for each direction that has latencies in it.
    pub(super) fn close(
        &mut self,
        closing: WindowsToClose,
        at_ns: u64,
        recorder: &Recorder,
        mut put: impl FnMut(HistogramRow),
    ) {
        if !closing.closes(self.due_ns, self.length_ns, at_ns) {
            return;
        }
        self.due_ns = end_of_window(at_ns, self.length_ns);
        for direction in Direction::ALL {
            let Some(buckets) = recorder.latency_buckets(direction) else { continue };
            let now = WindowStart { buckets, bytes: recorder.bytes(direction), ios: recorder.completed(direction) };
            let then = std::mem::replace(&mut self.then[direction], now);
            let now = &self.then[direction];
            if now.ios > then.ios {
                let counts = now.buckets.chunks(self.merged).zip(sums(&then.buckets, self.merged));
                let counts = counts.map(|(now, then)| now.iter().sum::<u64>() - then).collect();
                let block_bytes = (now.bytes - then.bytes) / (now.ios - then.ios);
                put(HistogramRow { at_ms: at_ns / 1_000_000, direction, block_bytes, counts });
            }
        }
    }
}

/// Sums of `merged` neighbouring buckets; beyond the end buckets count 0.
fn sums(buckets: &[u64], merged: usize) -> impl Iterator<Item = u64> {
    buckets.chunks(merged).map(|neighbours| neighbours.iter().sum()).chain(std::iter::repeat(0))
}
