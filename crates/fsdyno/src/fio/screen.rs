//! Shows a running run: layout lines, the progress line, errors, interim reports.

use fsdyno_results::{JobRecord, RunRecord};
use fsdyno_run::{Control, Observer, SignalWatch, View};
use fsdyno_text::escape;
use std::sync::Arc;

use super::bandwidth_log::BandwidthLog;
use super::formats::Formats;
use super::output::{LiveLine, Output};
use super::progress_line::ProgressMeter;
use super::record_file::RecordFile;
use crate::process::saver::Saver;
use crate::process::streams::print_stderr;

/// A layout that will take longer than this is announced, s.
const LONG_LAYOUT_S: u64 = 5;

/// Rules of the progress line.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProgressRules {
    /// Interval between two lines, ns.
    pub(super) interval_ns: u64,
    /// Interval between new lines, ns; `None`: the line is always overwritten.
    pub(super) newline_ns: Option<u64>,
}

/// The observer of a run on the fio face.
pub(super) struct Screen<'run> {
    pub(super) output: &'run mut Output,
    pub(super) formats: &'run Formats,
    /// `None`: no progress line.
    pub(super) progress: Option<ProgressRules>,
    /// Whether our own notes are shown on stderr; otherwise only the report has them.
    pub(super) notes_shown: bool,
    /// `--status-interval`.
    pub(super) status: IntervalGrid,
    pub(super) control: Arc<Control>,
    pub(super) signals: SignalWatch,
    /// Saves interim records, so that nothing is lost if the run is interrupted.
    pub(super) record: Option<GrowingRecord>,
    pub(super) bandwidth_log: Option<BandwidthLog>,
    pub(super) state: ScreenState,
}

/// Decides when the next interval is over. Intervals keep to a fixed grid: if each late check prolonged them, one would
/// be missing at the end of the run.
pub(super) struct IntervalGrid {
    /// Length, ns; 0: never.
    interval_ns: u64,
    last_ns: u64,
}

impl IntervalGrid {
    pub(super) fn ms(interval_ms: u64) -> IntervalGrid {
        IntervalGrid { interval_ns: interval_ms * 1_000_000, last_ns: 0 }
    }

    fn is_over(&mut self, elapsed_ns: u64) -> bool {
        let over = self.interval_ns > 0 && elapsed_ns >= self.last_ns + self.interval_ns;
        if over {
            self.last_ns = elapsed_ns - elapsed_ns % self.interval_ns;
        }
        over
    }
}

/// Saves the record during the run.
pub(super) struct GrowingRecord {
    saver: Saver<RunRecord>,
    /// The interval between two saves; never: only at the end.
    every: IntervalGrid,
}

impl GrowingRecord {
    /// Writes the record to this file at this interval.
    pub(super) fn begin(file: Arc<RecordFile>, interval_ms: u64) -> GrowingRecord {
        let mut reported = false;
        let saver = Saver::begin(move |record| {
            // Reported once; the last save reports its own failure.
            if let (Err(error), false) = (file.save_interim(record), reported) {
                reported = true;
                file.print_failure(&error, " yet", "; it is tried again when the run ends");
            }
        });
        GrowingRecord { saver, every: IntervalGrid::ms(interval_ms) }
    }
}

/// The state of the screen.
#[derive(Default)]
pub(super) struct ScreenState {
    live: LiveLine,
    meter: ProgressMeter,
    last_line_ns: u64,
    last_newline_ns: u64,
    last_layout_percent: Option<u64>,
    layout_announced: bool,
    signal_reported: bool,
    /// Whether to show the next interim record, because a signal has ended the run and something is still waited for.
    partial_due: bool,
    /// Whether the next interim record was asked for as a report, not only to be saved.
    report_due: bool,
    /// Why the report could not be written.
    pub(super) output_failure: Option<std::io::Error>,
}

impl Screen<'_> {
    fn print(&mut self, text: &str) {
        if let Err(error) = self.output.write(text) {
            self.state.output_failure.get_or_insert(error);
            // Nobody reads the report any more; only a record is a reason to go on.
            if self.record.is_none() {
                self.control.stop();
            }
        }
    }

    /// Prints the line about the signal that ends the run, once.
    pub(super) fn report_signal(&mut self) {
        if let (Some(signal), false) = (self.control.signal(), self.state.signal_reported) {
            self.state.signal_reported = true;
            let text = format!("\nfio: terminating on signal {signal}");
            if self.formats.for_people() { self.print(&format!("{text}\n")) } else { self.output.error(&text) }
        }
    }
}

impl Observer for Screen<'_> {
    fn layout(&mut self, line: &str) {
        self.state.last_layout_percent = None;
        self.state.layout_announced = false;
        if self.formats.for_people() {
            self.print(&escape::terminal(&format!("{line}\n")));
        }
    }

    fn layout_progress(&mut self, done: u64, total: u64, seconds_left: Option<u64>) {
        self.report_signal();
        let Some(left) = seconds_left else { return };
        if left >= LONG_LAYOUT_S && !self.state.layout_announced {
            self.state.layout_announced = true;
            self.note(&format!("note: laying out {} MiB will take about {left} s more", total >> 20));
        }
        let percent = done * 100 / total.max(1);
        if self.progress.is_some() && self.state.layout_announced && self.state.last_layout_percent != Some(percent) {
            self.state.last_layout_percent = Some(percent);
            let line = format!("Layout: {}/{} MiB [{percent}%][eta {left}s]", done >> 20, total >> 20);
            self.state.live.show(&line, done >= total);
        }
    }

    fn idle(&mut self) {
        self.report_signal();
    }

    fn message(&mut self, text: &str) {
        self.state.live.clear();
        self.output.error(text);
    }

    fn note(&mut self, text: &str) {
        if self.notes_shown {
            self.state.live.clear();
            print_stderr(text);
        }
    }

    fn still_waits(&mut self, text: &str) {
        self.note(text);
        // Programs get a single document.
        self.state.partial_due = self.formats.for_people();
    }

    fn job_failed(&mut self, record: &JobRecord) {
        let Some(error) = &record.error else { return };
        self.state.live.clear();
        let text = format!(
            "fio: pid={pid}, err={code}/file:{name}, func={function}, error={text}",
            pid = record.pid,
            code = error.code,
            name = record.name,
            function = error.function,
            text = error.text
        );
        // As fio, on stdout, but only where the output's format stays valid.
        if self.formats.for_people() && self.formats.count() == 1 && record.pid != 0 {
            self.print(&escape::terminal(&format!("{text}\n")));
        } else {
            self.output.error(&text);
        }
    }

    fn watch(&mut self, view: &View<'_>) {
        self.report_signal();
        self.bandwidth_log.iter_mut().for_each(|log| log.watch(view));
        let Some(rules) = self.progress else { return };
        if view.elapsed_ns < self.state.last_line_ns + rules.interval_ns {
            return;
        }
        self.state.last_line_ns = view.elapsed_ns;
        let newline = rules.newline_ns.is_some_and(|every| view.elapsed_ns >= self.state.last_newline_ns + every);
        if newline {
            self.state.last_newline_ns = view.elapsed_ns;
        }
        let line = self.state.meter.measure(view).line();
        self.state.live.show(&line, newline);
    }

    fn wants_interim(&mut self, view: &View<'_>) -> bool {
        let partial_due = std::mem::take(&mut self.state.partial_due);
        self.state.report_due = self.status.is_over(view.elapsed_ns) | self.signals.interim_asked() | partial_due;
        let save_due = self.record.as_mut().is_some_and(|record| record.every.is_over(view.elapsed_ns));
        self.state.report_due || save_due
    }

    fn interim(&mut self, record: &RunRecord) {
        if let Some(growing) = &self.record {
            growing.saver.offer(record.clone());
        }
        if self.state.report_due {
            let text = self.formats.interim(record);
            self.print(&text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::IntervalGrid;

    #[test]
    fn as_many_intervals_are_over_as_a_run_has() {
        let mut every = IntervalGrid::ms(1000);
        // Each check is late; the last one comes when a run of 3 s is over.
        let over = [400, 999, 1040, 1900, 2090, 2990, 3001].map(|ms| every.is_over(ms * 1_000_000));
        assert_eq!(over, [false, false, true, false, true, false, true]);
        assert!(!IntervalGrid::ms(0).is_over(u64::MAX));
    }
}
