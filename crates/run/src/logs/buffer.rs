//! A worker's side of its logs: rows into a chunk, nothing else per I/O.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use job::Direction;
use results::{Note, Severity};
use workload::Op;

use super::rows::Row;
use super::windows::Windows;
use super::writer::LogSender;
use super::{CHUNK_ROWS, CHUNKS_MAX, WINDOW_CHUNK_ROWS};
use crate::control::Control;
use crate::plan::WorkerPlan;
use crate::recorder::Recorder;

/// Longest time until rows are handed over, ns.
const HAND_OVER_NS: u64 = 1_000_000_000;

/// Longest wait for a chunk before orders are read.
const PATIENCE: Duration = Duration::from_millis(100);

/// Waits after a stop before the rows are given up: the log's storage does not respond.
const WAITS_AFTER_STOP: u32 = 100;

/// The logs of one worker.
pub(crate) struct LogBuffer {
    worker: usize,
    /// Rows not handed over yet.
    rows: Vec<Row>,
    /// Rows that a chunk takes.
    chunk_rows: usize,
    /// `None`: one row for each I/O.
    windows: Option<Windows>,
    /// When the measured part began on the worker's clock; `None`: it has not.
    origin_ns: Option<u64>,
    /// Times count from the Unix epoch.
    unix_epoch: bool,
    /// What is added to each time, ms.
    epoch_ms: u64,
    handed_over_ns: u64,
    sender: LogSender,
    back: Sender<Vec<Row>>,
    returned: Receiver<Vec<Row>>,
    chunks: usize,
    control: Arc<Control>,
    waits: u64,
    given_up: u64,
}

impl LogBuffer {
    /// For a worker whose job has logs, counted from 0.
    pub(crate) fn new(worker: usize, plan: &WorkerPlan, sender: LogSender, control: Arc<Control>) -> LogBuffer {
        let logs = &plan.job.reporting.logs;
        let (back, returned) = channel();
        let chunk_rows = if logs.window_ms > 0 { WINDOW_CHUNK_ROWS } else { CHUNK_ROWS };
        LogBuffer {
            worker,
            rows: Vec::with_capacity(chunk_rows),
            chunk_rows,
            windows: (logs.window_ms > 0).then(|| Windows::new(&plan.job.reporting)),
            origin_ns: None,
            unix_epoch: logs.unix_epoch,
            epoch_ms: 0,
            handed_over_ns: 0,
            sender,
            back,
            returned,
            chunks: 1,
            control,
            waits: 0,
            given_up: 0,
        }
    }

    /// The measured part begins: the ramp is in no log.
    pub(crate) fn begin(&mut self, now_ns: u64) {
        self.origin_ns = Some(now_ns);
        self.handed_over_ns = now_ns;
        if self.unix_epoch {
            self.epoch_ms = crate::wall::now_ms();
        }
    }

    /// Adds a completed I/O.
    #[inline]
    pub(crate) fn note(&mut self, op: &Op, direction: Direction, slat_ns: u64, clat_ns: u64, end_ns: u64) {
        let Some(origin_ns) = self.origin_ns else { return };
        let at_ns = end_ns.saturating_sub(origin_ns);
        match &mut self.windows {
            None => {
                let at_ns = at_ns + self.epoch_ms * 1_000_000;
                self.put(Row::Request { at_ns, offset: op.offset, slat_ns, clat_ns, length: op.length, direction });
            }
            Some(windows) => {
                if windows.note(direction, slat_ns, clat_ns, at_ns) {
                    self.close_latencies(direction, at_ns);
                }
            }
        }
    }

    /// When the next call is due, on the worker's clock.
    pub(crate) fn due_ns(&self) -> u64 {
        match (&self.windows, self.origin_ns) {
            (Some(windows), Some(origin_ns)) => origin_ns.saturating_add(windows.due_ns()),
            _ => u64::MAX,
        }
    }

    /// Called several times a second: closes the windows that are due, hands over old rows.
    pub(crate) fn look(&mut self, now_ns: u64, recorder: &Recorder) {
        if now_ns >= self.due_ns() {
            self.close_rates(now_ns, recorder);
        }
        if now_ns >= self.handed_over_ns + HAND_OVER_NS {
            self.handed_over_ns = now_ns;
            self.hand_over();
        }
    }

    /// The worker ended at `now_ns`: closes the windows of latencies, as fio does, and hands over the rest; a part of a
    /// window gives no rate. Returns a note if rows were delayed.
    ///
    /// # Errors
    /// A sentence, if rows are missing.
    pub(crate) fn finish(mut self, name: &str, now_ns: u64) -> Result<Option<Note>, String> {
        let at_ns = self.origin_ns.map_or(0, |origin_ns| now_ns.saturating_sub(origin_ns));
        Direction::ALL.into_iter().for_each(|direction| self.close_latencies(direction, at_ns));
        let last = std::mem::take(&mut self.rows);
        self.sender.rows(self.worker, last, self.back.clone());
        let waits = self.waits;
        match self.given_up {
            0 if waits == 0 => Ok(None),
            0 => {
                let text = format!(
                    "{name}: writing its logs is slower than its I/O: it waited {waits} times. Next step: \
                     log_avg_msec, or a faster directory for the logs"
                );
                Ok(Some(Note { job: Some(name.to_owned()), ..Note::new("logs-slow", Severity::Caution, text) }))
            }
            rows => Err(format!("fio: {name}: {rows} log rows are lost: the storage of the logs does not respond")),
        }
    }

    #[cold]
    fn close_latencies(&mut self, direction: Direction, at_ns: u64) {
        let LogBuffer { windows: Some(windows), epoch_ms, .. } = self else { return };
        let mut closed = Vec::with_capacity(3);
        let epoch_ms = *epoch_ms;
        windows.close_latencies(direction, at_ns, |row| closed.push(later(row, epoch_ms)));
        closed.into_iter().for_each(|row| self.put(row));
    }

    #[cold]
    fn close_rates(&mut self, now_ns: u64, recorder: &Recorder) {
        let LogBuffer { windows: Some(windows), origin_ns: Some(origin_ns), epoch_ms, .. } = self else { return };
        let (at_ns, epoch_ms) = (now_ns.saturating_sub(*origin_ns), *epoch_ms);
        let mut closed = Vec::with_capacity(6);
        windows.close_rates(at_ns, recorder, |row| closed.push(later(row, epoch_ms)));
        closed.into_iter().for_each(|row| self.put(row));
    }

    #[inline]
    fn put(&mut self, row: Row) {
        if self.rows.len() == self.chunk_rows {
            self.hand_over();
        }
        self.rows.push(row);
    }

    /// Hands the rows to the writer, and takes an emptied chunk back.
    #[cold]
    fn hand_over(&mut self) {
        if self.rows.is_empty() {
            return;
        }
        match self.empty_chunk() {
            Some(empty) => {
                let full = std::mem::replace(&mut self.rows, empty);
                self.sender.rows(self.worker, full, self.back.clone());
            }
            None => {
                self.given_up += self.rows.len() as u64;
                self.rows.clear();
            }
        }
    }

    fn empty_chunk(&mut self) -> Option<Vec<Row>> {
        if let Ok(chunk) = self.returned.try_recv() {
            return Some(chunk);
        }
        if self.chunks < CHUNKS_MAX {
            self.chunks += 1;
            return Some(Vec::with_capacity(self.chunk_rows));
        }
        self.waits += 1;
        let mut after_stop = 0;
        loop {
            match self.returned.recv_timeout(PATIENCE) {
                Ok(chunk) => return Some(chunk),
                Err(RecvTimeoutError::Timeout) if after_stop < WAITS_AFTER_STOP => {
                    after_stop += u32::from(self.control.stopped());
                }
                Err(_) => return None,
            }
        }
    }
}

/// The row with its time counted from an earlier moment.
fn later(mut row: Row, by_ms: u64) -> Row {
    if let Row::Window { at_ms, .. } = &mut row {
        *at_ms += by_ms;
    }
    row
}
