//! Tracks which workers of a stage have not ended: each is counted once when it begins and once when it ends.

use std::sync::{Condvar, Mutex};

use fsdyno_drive::WorkerCell;

/// Holds a stage's workers until all are ready.
#[derive(Default)]
pub(crate) struct StartGate {
    open_stages: Mutex<u32>,
    opened: Condvar,
}

impl StartGate {
    /// Waits until the stage begins. False: this worker was abandoned before, and must not begin.
    #[must_use]
    pub(crate) fn wait(&self, stage: u32, cell: &WorkerCell) -> bool {
        let mut open = self.open_stages.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        while *open <= stage && !cell.abandoned() {
            open = self.opened.wait(open).unwrap_or_else(|poisoned| poisoned.into_inner());
        }
        !cell.abandoned()
    }

    pub(crate) fn open(&self, stage: u32) {
        *self.open_stages.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = stage + 1;
        self.opened.notify_all();
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Attendance {
    /// Not of this stage, or ended.
    Absent,
    /// Begun, but not ready.
    Starting,
    /// Waiting at the gate, or working.
    Ready,
}

/// The workers of one stage.
#[derive(Debug)]
pub(crate) struct StageWorkers {
    attendance: Vec<Attendance>,
    starting: usize,
    awaited: usize,
}

impl StageWorkers {
    /// No worker has begun yet, of this number.
    pub(crate) fn new(workers: usize) -> StageWorkers {
        StageWorkers { attendance: vec![Attendance::Absent; workers], starting: 0, awaited: 0 }
    }

    /// Notes that this worker's thread has begun.
    pub(crate) fn begins(&mut self, index: usize) {
        self.attendance[index] = Attendance::Starting;
        self.starting += 1;
        self.awaited += 1;
    }

    /// Notes that it is ready for its I/O; ignored for a worker that has ended.
    pub(crate) fn is_ready(&mut self, index: usize) {
        if self.attendance[index] == Attendance::Starting {
            self.attendance[index] = Attendance::Ready;
            self.starting -= 1;
        }
    }

    /// Notes that it has ended, or was abandoned. False: it had ended before, or never begun.
    #[must_use]
    pub(crate) fn ends(&mut self, index: usize) -> bool {
        match std::mem::replace(&mut self.attendance[index], Attendance::Absent) {
            Attendance::Absent => return false,
            Attendance::Starting => self.starting -= 1,
            Attendance::Ready => {}
        }
        self.awaited -= 1;
        true
    }

    /// Whether it has begun, and has neither ended nor been abandoned.
    pub(crate) fn awaits(&self, index: usize) -> bool {
        self.attendance[index] != Attendance::Absent
    }

    pub(crate) fn is_any_starting(&self) -> bool {
        self.starting > 0
    }

    pub(crate) fn is_awaited(&self) -> bool {
        self.awaited > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_comes_back_late_is_not_counted_twice() {
        let mut stage_workers = StageWorkers::new(3);
        (0..3).for_each(|index| stage_workers.begins(index));
        assert!(stage_workers.ends(0), "left behind");
        stage_workers.is_ready(0);
        assert!(!stage_workers.ends(0), "back");
        stage_workers.is_ready(1);
        stage_workers.is_ready(1);
        assert!(stage_workers.is_any_starting(), "the third is not ready");
        assert!(stage_workers.ends(2));
        assert!(!stage_workers.is_any_starting() && stage_workers.is_awaited());
        assert!(stage_workers.ends(1));
        assert!(!stage_workers.is_awaited());
    }

    #[test]
    fn who_was_left_behind_does_not_pass_the_gate() {
        let (gate, well, late) = (StartGate::default(), WorkerCell::default(), WorkerCell::default());
        late.abandon();
        assert!(!gate.wait(0, &late), "not even while it is closed");
        gate.open(0);
        assert!(gate.wait(0, &well) && !gate.wait(0, &late));
    }
}
