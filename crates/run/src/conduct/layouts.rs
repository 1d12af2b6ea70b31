//! Watches the layout threads for the conductor.

use fsdyno_drive::Silence;

use crate::layout::Progress;
use crate::stall::{Liveness, StallDetector};

/// A thread that lays out the files of a worker, or has done so.
struct LayoutThread {
    worker: usize,
    thread: u32,
    /// Number of reports so far.
    reports: u64,
    detector: StallDetector<u64>,
    progress: Progress,
    works: bool,
}

/// All layout threads since there was last none at work.
#[derive(Default)]
pub(super) struct LayoutThreads(Vec<LayoutThread>);

impl LayoutThreads {
    /// A thread begins with the files of a worker.
    pub(super) fn begins(&mut self, worker: usize, thread: u32) {
        self.pauses(thread);
        if self.0.iter().all(|lane| !lane.works) {
            // A new series of layouts: earlier threads do not matter.
            self.0.clear();
        }
        let progress = Progress { bytes_done: 0, bytes_total: 0, remaining: None };
        self.0.push(LayoutThread {
            worker,
            thread,
            reports: 0,
            detector: StallDetector::default(),
            progress,
            works: true,
        });
    }

    /// A thread makes nothing for now.
    pub(super) fn pauses(&mut self, thread: u32) {
        if let Some(lane) = self.working(thread) {
            lane.works = false;
        }
    }

    /// A thread has made a chunk; returns the progress of all threads together.
    pub(super) fn progresses(&mut self, thread: u32, progress: Progress) -> Progress {
        if let Some(lane) = self.working(thread) {
            lane.reports += 1;
            lane.progress = progress;
        }
        let working = self.0.iter().filter(|lane| lane.works);
        Progress {
            bytes_done: self.0.iter().map(|lane| lane.progress.bytes_done).sum(),
            bytes_total: self.0.iter().map(|lane| lane.progress.bytes_total).sum(),
            remaining: working
                .map(|lane| lane.progress.remaining)
                .try_fold(Default::default(), |longest, remaining| Some(remaining?.max(longest))),
        }
    }

    /// Checks whether a thread is stuck; returns its worker and thread.
    pub(super) fn look(&mut self, step_ns: u64, limits: Silence) -> Vec<(usize, u32, Liveness)> {
        let working = self.0.iter_mut().filter(|lane| lane.works);
        let looked = working.map(|lane| (lane.worker, lane.thread, lane.detector.look(step_ns, lane.reports, limits)));
        looked.filter(|(.., found)| *found != Liveness::Alive).collect()
    }

    fn working(&mut self, thread: u32) -> Option<&mut LayoutThread> {
        self.0.iter_mut().find(|lane| lane.works && lane.thread == thread)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsdyno_drive::Bounds;
    use std::time::Duration;

    fn progress(bytes_done: u64, bytes_total: u64, seconds: Option<u64>) -> Progress {
        Progress { bytes_done, bytes_total, remaining: seconds.map(Duration::from_secs) }
    }

    #[test]
    fn progress_is_that_of_all_that_work_together() {
        let mut lanes = LayoutThreads::default();
        lanes.begins(0, 10);
        lanes.progresses(10, progress(5, 5, None));
        lanes.pauses(10);
        lanes.begins(1, 11);
        lanes.begins(2, 12);
        assert_eq!(lanes.progresses(11, progress(1, 4, Some(3))), progress(1, 4, None), "one has told nothing yet");
        assert_eq!(lanes.progresses(12, progress(2, 8, Some(6))), progress(3, 12, Some(6)));
        lanes.pauses(12);
        assert_eq!(lanes.progresses(11, progress(4, 4, Some(0))), progress(6, 12, Some(0)));
    }

    #[test]
    fn one_that_is_stuck_is_found_beside_one_that_goes_on() {
        let mut lanes = LayoutThreads::default();
        lanes.begins(0, 10);
        lanes.begins(1, 11);
        let limits = Bounds::of_seconds(2).layout(true);
        let looks = (0..200).flat_map(|number| {
            lanes.progresses(11, progress(number, 1000, None));
            lanes.look(100_000_000, limits)
        });
        let lost: Vec<_> = looks.filter(|(.., found)| matches!(found, Liveness::Lost(_))).collect();
        assert!(!lost.is_empty() && lost.iter().all(|(worker, thread, _)| (*worker, *thread) == (0, 10)));
    }
}
