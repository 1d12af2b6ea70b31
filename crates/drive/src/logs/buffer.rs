//! A worker's side of its logs: per I/O it only puts a row into a chunk.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use fsdyno_job::{Direction, Reporting};
use fsdyno_results::{Note, Severity};
use fsdyno_workload::Op;

use super::histograms::Histograms;
use super::rows::{Chunk, LogRow};
use super::windows::{Windows, WindowsToClose};
use super::writer::LogSender;
use super::{CHUNK_HISTOGRAMS, CHUNK_ROWS, CHUNKS_MAX, WINDOW_CHUNK_ROWS, epoch_ms};
use crate::control::Orders;
use crate::recorder::Recorder;

/// Longest time until rows are sent to the log thread, ns.
const HAND_OVER_NS: u64 = 1_000_000_000;

/// Longest wait for a chunk before orders are read.
const PATIENCE: Duration = Duration::from_millis(100);

/// Number of waits after a stop until the rows are given up, because the log's storage does not respond.
const WAITS_AFTER_STOP: u32 = 100;

/// How requests are logged.
enum Requests {
    Nothing,
    /// One row for each request.
    Each,
    /// One row for each window.
    Windows(Box<Windows>),
}

/// The logs of one worker.
pub struct LogBuffer {
    worker: usize,
    /// Rows that are not sent yet.
    chunk: Chunk,
    /// Number of rows that a chunk can hold.
    chunk_rows: usize,
    requests: Requests,
    histograms: Option<Histograms>,
    /// Start of the measured part on the worker's clock; `None`: it has not begun.
    origin_ns: Option<u64>,
    /// The clock from whose epoch times count; `None`: they count from the start of the measured part.
    epoch_clock: Option<u32>,
    /// Number that is added to each time, ms.
    epoch_ms: u64,
    handed_over_ns: u64,
    sender: LogSender,
    back: Sender<Chunk>,
    returned: Receiver<Chunk>,
    chunks: usize,
    control: Arc<Orders>,
    waits: u64,
    given_up: u64,
}

impl LogBuffer {
    /// Makes the logs of the worker of this index, counted from 0.
    pub fn new(worker: usize, reporting: &Reporting, sender: LogSender, control: Arc<Orders>) -> LogBuffer {
        let logs = &reporting.logs;
        let (back, returned) = channel();
        let (chunk_rows, requests) = match logs.window_ms {
            _ if !logs.of_requests() => (0, Requests::Nothing),
            0 => (CHUNK_ROWS, Requests::Each),
            _ => (WINDOW_CHUNK_ROWS, Requests::Windows(Box::new(Windows::new(reporting)))),
        };
        LogBuffer {
            worker,
            chunk: Chunk::of(chunk_rows),
            chunk_rows,
            requests,
            histograms: Histograms::new(logs).filter(|_| reporting.completion_latency),
            origin_ns: None,
            epoch_clock: logs.alternate_epoch.then_some(logs.epoch_clock),
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

    /// Begins the measured part; the ramp is not logged.
    pub fn begin(&mut self, now_ns: u64) {
        self.origin_ns = Some(now_ns);
        self.handed_over_ns = now_ns;
        // Opening the files has already checked that the clock can be read.
        self.epoch_ms = self.epoch_clock.and_then(epoch_ms).unwrap_or_default();
    }

    /// The recorder has cleared its counters.
    pub(crate) fn recount(&mut self) {
        if let Requests::Windows(windows) = &mut self.requests {
            windows.recount();
        }
        self.histograms.iter_mut().for_each(Histograms::recount);
    }

    /// Adds a completed I/O.
    #[inline]
    pub(crate) fn note(&mut self, op: &Op, (slat_ns, clat_ns): (u64, u64), end_ns: u64) {
        let (Some(origin_ns), Some(direction)) = (self.origin_ns, op.kind.direction()) else { return };
        let at_ns = end_ns.saturating_sub(origin_ns);
        match &mut self.requests {
            Requests::Each => {
                let Op { offset, length, priority, .. } = *op;
                self.put(LogRow::Request { at_ns, offset, slat_ns, clat_ns, length, direction, priority });
            }
            Requests::Windows(windows) => {
                if windows.note(direction, slat_ns, clat_ns, at_ns) {
                    self.close_latencies(direction, at_ns);
                }
            }
            Requests::Nothing => {}
        }
    }

    /// When [`LogBuffer::look`] must be called next, on the worker's clock.
    pub(crate) fn due_ns(&self) -> u64 {
        let Some(origin_ns) = self.origin_ns else { return u64::MAX };
        let rates_ns = if let Requests::Windows(windows) = &self.requests { windows.due_ns() } else { u64::MAX };
        let histograms_ns = self.histograms.as_ref().map_or(u64::MAX, Histograms::due_ns);
        origin_ns.saturating_add(rates_ns.min(histograms_ns))
    }

    /// Closes the windows that are due and sends old rows. It is called several times a second. `over`: no further
    /// request begins.
    pub(crate) fn look(&mut self, now_ns: u64, recorder: &Recorder, over: bool) {
        if now_ns >= self.due_ns() {
            self.close_counted(if over { WindowsToClose::Overdue } else { WindowsToClose::Due }, now_ns, recorder);
        }
        if now_ns >= self.handed_over_ns + HAND_OVER_NS {
            self.handed_over_ns = now_ns;
            self.hand_over();
        }
    }

    /// Closes all windows as they are, after the last request. Then sends the rows, because a sync that follows may
    /// never return.
    pub(crate) fn close_windows(&mut self, now_ns: u64, recorder: &Recorder) {
        let Some(origin_ns) = self.origin_ns else { return };
        let at_ns = now_ns.saturating_sub(origin_ns);
        Direction::ALL.into_iter().for_each(|direction| self.close_latencies(direction, at_ns));
        self.close_counted(WindowsToClose::All, now_ns, recorder);
        self.hand_over();
    }

    /// Sends the remaining rows at the end of the worker; all windows must be closed. Returns a note if the worker
    /// had to wait for its log.
    ///
    /// # Errors
    /// A sentence, if rows are missing.
    pub fn finish(mut self, name: &str) -> Result<Option<Note>, String> {
        self.chunk.epoch_ms = self.epoch_ms;
        let last = std::mem::take(&mut self.chunk);
        self.sender.send(self.worker, last, self.back.clone());
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
        let Requests::Windows(windows) = &mut self.requests else { return };
        let mut closed = Vec::with_capacity(3);
        windows.close_latencies(direction, at_ns, |row| closed.push(row));
        closed.into_iter().for_each(|row| self.put(row));
    }

    /// Closes the windows of the recorder's counters: rates and histograms.
    #[cold]
    fn close_counted(&mut self, closing: WindowsToClose, now_ns: u64, recorder: &Recorder) {
        let Some(at_ns) = self.origin_ns.map(|origin_ns| now_ns.saturating_sub(origin_ns)) else { return };
        let mut rates = Vec::with_capacity(6);
        if let Requests::Windows(windows) = &mut self.requests {
            windows.close_rates(closing, at_ns, recorder, |row| rates.push(row));
        }
        rates.into_iter().for_each(|row| self.put(row));
        if let Some(histograms) = &mut self.histograms {
            histograms.close(closing, at_ns, recorder, |row| self.chunk.histograms.push(row));
        }
        if self.chunk.histograms.len() >= CHUNK_HISTOGRAMS {
            self.hand_over();
        }
    }

    #[inline]
    fn put(&mut self, row: LogRow) {
        if self.chunk.rows.len() == self.chunk_rows {
            self.hand_over();
        }
        self.chunk.rows.push(row);
    }

    /// Sends the rows to the log thread and takes an empty chunk.
    #[cold]
    fn hand_over(&mut self) {
        if self.chunk.len() == 0 {
            return;
        }
        self.chunk.epoch_ms = self.epoch_ms;
        match self.empty_chunk() {
            Some(empty) => {
                let full = std::mem::replace(&mut self.chunk, empty);
                self.sender.send(self.worker, full, self.back.clone());
            }
            None => {
                self.given_up += self.chunk.len() as u64;
                self.chunk.clear();
            }
        }
    }

    fn empty_chunk(&mut self) -> Option<Chunk> {
        if let Ok(chunk) = self.returned.try_recv() {
            return Some(chunk);
        }
        if self.chunks < CHUNKS_MAX {
            self.chunks += 1;
            return Some(Chunk::of(self.chunk_rows));
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
