//! What a worker and the conductor exchange while I/O runs: the stop flag in one direction, totals in the other. A
//! worker writes only its own cell, several times a second; nothing here is accessed per I/O.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};

use fsdyno_job::{Direction, PerDirection};
use fsdyno_results::JobRecord;

use crate::bounds::Bounds;
use crate::end::WorkerEnd;

/// What a worker is doing, with the letter that the progress line shows for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum WorkerState {
    /// Not started.
    Waiting,
    /// Its thread exists.
    Created,
    /// Ready to begin.
    Initialised,
    /// Ramp: I/O runs and is not counted.
    Ramp,
    /// I/O runs.
    Running,
    /// Reads back what it wrote.
    Verifying,
    /// Syncs at the end.
    Syncing,
    /// Ended; its result is not yet collected.
    Exited,
    /// Ended, and its result is collected.
    Reaped,
    /// Ended with an error.
    Failed,
}

impl WorkerState {
    const ALL: [WorkerState; 10] = [
        WorkerState::Waiting,
        WorkerState::Created,
        WorkerState::Initialised,
        WorkerState::Ramp,
        WorkerState::Running,
        WorkerState::Verifying,
        WorkerState::Syncing,
        WorkerState::Exited,
        WorkerState::Reaped,
        WorkerState::Failed,
    ];
}

/// Orders to all workers of a run.
#[derive(Debug, Default)]
pub struct Orders {
    stop: AtomicBool,
    /// Grows with each request for an interim record.
    snapshot_epoch: AtomicU32,
    bounds: Bounds,
}

impl Orders {
    /// Orders of a run with these timeouts.
    pub fn with_bounds(bounds: Bounds) -> Orders {
        Orders { bounds, ..Orders::default() }
    }

    /// The timeouts of the run.
    pub fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// Asks every worker to drain and report.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Whether the run was asked to end.
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// The stop flag, for the layout.
    pub fn stop_flag(&self) -> &AtomicBool {
        &self.stop
    }

    /// Asks the workers for interim records.
    pub fn request_snapshots(&self) -> u32 {
        self.snapshot_epoch.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// The number of the latest request.
    pub fn snapshot_epoch(&self) -> u32 {
        self.snapshot_epoch.load(Ordering::Relaxed)
    }
}

/// Totals that a worker published last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Published {
    /// Bytes by direction, since the worker began (the ramp included).
    pub bytes: PerDirection<u64>,
    /// I/Os by direction, since the worker began (the ramp included).
    pub ios: PerDirection<u64>,
    /// Number of open files.
    pub open_files: u32,
}

/// One worker's side of the exchange, on cache lines of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct WorkerCell {
    /// [`WorkerState::Waiting`] at first.
    state: AtomicU8,
    stop: AtomicBool,
    bytes: PerDirection<AtomicU64>,
    ios: PerDirection<AtomicU64>,
    open_files: AtomicU32,
    /// The kernel's number of the worker's thread; 0: the thread has not begun.
    thread: AtomicU32,
    /// Incremented with each step before the first and after the last I/O: a file was opened, a part was read, a file
    /// was synced.
    steps: AtomicU64,
    /// The file of the latest step.
    file: AtomicU32,
    /// 99th percentile of latency so far of a metadata worker, ns; 0: not known yet.
    latency_ns_p99: AtomicU64,
    /// Whether the conductor has abandoned the worker: its end is recorded, and it must not begin anything.
    abandoned: AtomicBool,
    /// Whether the worker's group has transferred as many bytes as `ramp_size` says.
    ramp_over: AtomicBool,
    snapshot: Mutex<Option<(u32, Box<JobRecord>)>>,
    /// The end of the worker, as far as it is known, while the worker is in a call that may not return.
    end: Mutex<Option<WorkerEnd>>,
}

impl WorkerCell {
    /// What the worker is doing.
    pub fn state(&self) -> WorkerState {
        WorkerState::ALL[usize::from(self.state.load(Ordering::Relaxed))]
    }

    /// Sets what the worker does from now on.
    pub fn set_state(&self, state: WorkerState) {
        self.state.store(state as u8, Ordering::Relaxed);
    }

    /// Sets the number of the worker's thread.
    pub fn set_thread(&self, thread: u32) {
        self.thread.store(thread, Ordering::Relaxed);
    }

    /// The kernel's number of the worker's thread, once it runs.
    pub fn thread(&self) -> Option<u32> {
        Some(self.thread.load(Ordering::Relaxed)).filter(|thread| *thread != 0)
    }

    /// Counts a step that is not an I/O of the job.
    pub fn step(&self) {
        self.steps.fetch_add(1, Ordering::Relaxed);
    }

    /// Sets the file that the next step opens, syncs or closes.
    pub fn turns_to(&self, file: usize) {
        self.file.store(file as u32, Ordering::Relaxed);
        self.step();
    }

    /// Steps so far.
    pub fn steps(&self) -> u64 {
        self.steps.load(Ordering::Relaxed)
    }

    /// The file of the latest step.
    pub fn file(&self) -> usize {
        self.file.load(Ordering::Relaxed) as usize
    }

    /// Abandons the worker, whatever it is doing.
    pub fn abandon(&self) {
        self.abandoned.store(true, Ordering::Relaxed);
        self.stop();
    }

    /// Whether the worker was abandoned and must not begin anything.
    pub fn abandoned(&self) -> bool {
        self.abandoned.load(Ordering::Relaxed)
    }

    /// Stores the worker's end while the worker is in a call that may not return.
    pub fn keep_end(&self, end: WorkerEnd) {
        *self.end.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(end);
    }

    /// Takes the stored end: the worker does so when its call has returned, the conductor when it abandons the
    /// worker. The second of the two gets `None`.
    pub fn take_end(&self) -> Option<WorkerEnd> {
        self.end.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take()
    }

    /// Ends the ramp of a worker whose group decides when the ramp is over.
    pub fn end_ramp(&self) {
        self.ramp_over.store(true, Ordering::Relaxed);
    }

    /// Whether the group has ended the ramp.
    pub fn ramp_is_over(&self) -> bool {
        self.ramp_over.load(Ordering::Relaxed)
    }

    /// Asks this worker alone to drain and report (`exitall`, a steady state).
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Whether the worker was asked to end.
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// The totals that the worker published last.
    pub fn published(&self) -> Published {
        Published {
            bytes: self.bytes.as_ref().map(|counter| counter.load(Ordering::Relaxed)),
            ios: self.ios.as_ref().map(|counter| counter.load(Ordering::Relaxed)),
            open_files: self.open_files.load(Ordering::Relaxed),
        }
    }

    /// Publishes the worker's totals.
    pub fn publish(&self, totals: Published) {
        for direction in Direction::ALL {
            self.bytes[direction].store(totals.bytes[direction], Ordering::Relaxed);
            self.ios[direction].store(totals.ios[direction], Ordering::Relaxed);
        }
        self.open_files.store(totals.open_files, Ordering::Relaxed);
    }

    /// Publishes the 99th percentile of latency so far.
    pub fn publish_p99(&self, latency_ns: Option<u64>) {
        self.latency_ns_p99.store(latency_ns.unwrap_or(0), Ordering::Relaxed);
    }

    /// The 99th percentile last published.
    pub fn latency_ns_p99(&self) -> Option<u64> {
        Some(self.latency_ns_p99.load(Ordering::Relaxed)).filter(|latency_ns| *latency_ns > 0)
    }

    /// Answers the request `epoch` with an interim record.
    pub fn offer_snapshot(&self, epoch: u32, record: Box<JobRecord>) {
        *self.snapshot.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some((epoch, record));
    }

    /// The interim record for this or a later request; `None`: the worker has not made it yet.
    pub fn snapshot_since(&self, epoch: u32) -> Option<Box<JobRecord>> {
        let offered = self.snapshot.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        offered.as_ref().filter(|(made_for, _)| *made_for >= epoch).map(|(_, record)| record.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines of a processor's cache; two of them are fetched together.
    const PAIR_BYTES: usize = 128;

    /// The pairs of lines on which a value lies.
    fn pairs<T>(value: &T) -> std::ops::RangeInclusive<usize> {
        let first = std::ptr::from_ref(value).addr();
        first / PAIR_BYTES..=(first + size_of::<T>() - 1) / PAIR_BYTES
    }

    #[test]
    fn what_a_worker_publishes_shares_no_cache_line_with_another_worker() {
        let cells: Vec<WorkerCell> = (0..10).map(|_| WorkerCell::default()).collect();
        for (cell, next) in cells.iter().zip(&cells[1..]) {
            let (last, first) = (pairs(cell), pairs(next));
            assert!(last.end() < first.start(), "{last:?} {first:?}");
            // All that is stored for each batch lies in the worker's own cell.
            for counter in [&cell.bytes.read, &cell.ios.read, &cell.bytes.trim, &cell.ios.trim] {
                assert!(last.contains(pairs(counter).start()), "{last:?}");
            }
        }
    }
}
