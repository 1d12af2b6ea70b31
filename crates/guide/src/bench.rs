//! Runs one command line of the fio language within a study, and reports its progress to the watcher.

use std::sync::Arc;

use fsdyno_os::clock::{Clock, RealClock};
use fsdyno_results::{JobRecord, Note, RANKS_APART, RunRecord, Severity};
use fsdyno_run::{CommandLine, Control, Observer, StopRule, View, WorkerState};

use crate::watch::{LiveFigures, LivePhase, Step, StepTotals};
use crate::work_directory::WorkDirectory;
use crate::{Problem, Watcher};

mod tally;

use tally::Tally;

/// What the caller brings to a run.
#[derive(Clone, Copy, Debug)]
pub struct Conditions<'a> {
    /// The program's version line, for the record.
    pub version: &'a str,
    /// Stops the whole study, this run included.
    pub control: &'a Arc<Control>,
    /// When the run ends.
    pub stop_rule: StopRule,
    /// The work directory, in which all files of the run lie; `None`: the run has objects of a server alone.
    pub work: Option<&'a WorkDirectory>,
}

/// Runs one command line, with its files confined to the work directory.
///
/// # Errors
/// When the line is refused; nothing has been written then. Errors of its jobs are in the record.
pub fn run_line(
    words: &[String],
    conditions: Conditions<'_>,
    step: &Step,
    watcher: &mut dyn Watcher,
) -> Result<RunRecord, Problem> {
    let line = CommandLine::parse(words).map_err(Problem::new)?;
    let looked = line.look(|path| watcher.looks(path));
    // The random seed is the same each time: rounds and targets then read the same offsets and differ in the storage
    // alone.
    let mut planned = looked.plan(0).map_err(|sentences| {
        watcher.looked();
        Problem::new(sentences.join("\n"))
    })?;
    if let Some(work) = conditions.work {
        planned.plan.confine_to(work.open_directory()).map_err(|path| {
            let (path, work) = (path.display(), work.directory().display());
            Problem::new(format!("{path} lies outside {work}, the directory of this question"))
        })?;
    }
    let ready = planned.identify_storages();
    watcher.looked();
    let mut relay = Relay {
        step,
        watcher,
        work: conditions.work,
        began_ns: RealClock::shared().now_ns(),
        looks: Vec::new(),
        latency_ns_p99: None,
        next_interim_ns: INTERIM_NS,
        all_count: false,
        tally: Tally::default(),
        totals: None,
    };
    let control = Arc::new(Control::within(conditions.control));
    let Conditions { version, stop_rule, .. } = conditions;
    Ok(ready.run(fsdyno_run::Conditions { version, control, stop_rule }, &mut relay))
}

/// Interval at which interim records are taken, for the 99th percentile so far, ns.
const INTERIM_NS: u64 = 1_000_000_000;

/// Rates are averages over this number of the latest looks (one look each 50 ms).
const LOOKS: usize = 10;

/// A layout's rate is shown from this age on: before, it is the rate of memory, ms.
const SETTLED_MS: u64 = 500;

/// Turns the events of a running line into figures for the watcher.
struct Relay<'a> {
    step: &'a Step,
    watcher: &'a mut dyn Watcher,
    work: Option<&'a WorkDirectory>,
    began_ns: u64,
    /// `(elapsed ns, operations, bytes)` of the last looks.
    looks: Vec<(u64, u64, u64)>,
    latency_ns_p99: Option<u64>,
    next_interim_ns: u64,
    /// Whether all workers were past their ramp when the interim record was asked for.
    all_count: bool,
    tally: Tally,
    totals: Option<StepTotals>,
}

impl Relay<'_> {
    fn elapsed_ms(&self) -> u64 {
        (RealClock::shared().now_ns() - self.began_ns) / 1_000_000
    }

    fn rates(&mut self, elapsed_ns: u64, operations: u64, bytes: u64) -> (Option<f64>, Option<f64>) {
        self.looks.push((elapsed_ns, operations, bytes));
        if self.looks.len() > LOOKS {
            self.looks.remove(0);
        }
        let (then_ns, operations_then, bytes_then) = self.looks[0];
        let seconds = elapsed_ns.saturating_sub(then_ns) as f64 / 1e9;
        // The counters may restart after the ramp.
        let rate = |now: u64, then: u64| (seconds > 0.0).then(|| now.saturating_sub(then) as f64 / seconds);
        (rate(operations, operations_then), rate(bytes, bytes_then))
    }
}

/// The phase of the step, from the states of its workers. After its last request a writer syncs (shown); a reader only
/// closes its files, which takes no time.
fn phase(states: &[WorkerState], wrote: bool) -> LivePhase {
    use WorkerState::{Created, Initialised, Ramp, Running, Syncing, Verifying, Waiting};
    let any = |wanted: &[WorkerState]| states.iter().any(|state| wanted.contains(state));
    match () {
        () if any(&[Running, Verifying]) => LivePhase::Running,
        () if any(&[Syncing]) && wrote => LivePhase::Syncing,
        () if any(&[Waiting, Created, Initialised, Ramp]) => LivePhase::Ramp,
        () => LivePhase::Running,
    }
}

impl Observer for Relay<'_> {
    fn layout_progress(&mut self, done: u64, total: u64, seconds_left: Option<u64>) {
        let elapsed_ms = self.elapsed_ms();
        // In the first moments the rate is that of memory, or there is none.
        let bytes_per_s = (elapsed_ms >= SETTLED_MS).then(|| done as f64 * 1e3 / elapsed_ms as f64);
        let _ = total;
        let figures = LiveFigures {
            phase: LivePhase::Layout,
            elapsed_ms,
            seconds_left,
            bytes_per_s,
            layout_bytes: Some(done),
            ..LiveFigures::default()
        };
        self.watcher.progress(self.step, &figures);
    }

    fn message(&mut self, text: &str) {
        // The guided face does not call itself fio. What is said of a directory is said of the place that people asked about,
        // not of our directory in it; a file keeps its whole name.
        let text = text.strip_prefix("fio: ").unwrap_or(text);
        let own = self.work.and_then(|work| work.directory().file_name());
        let text = own.map_or(text.to_owned(), |own| text.replace(&format!("/{} ", own.to_string_lossy()), " "));
        self.watcher.message(&text);
    }

    fn job_failed(&mut self, record: &JobRecord) {
        // The study already says why ranks cannot run together.
        if let Some(error) = record.error.as_ref().filter(|error| error.function != RANKS_APART) {
            let text = format!("{}: {}: {} (errno {})", record.name, error.function, error.text, error.code);
            self.watcher.message(&text);
        }
    }

    fn watch(&mut self, view: &View<'_>) {
        let published: Vec<_> = view.cells.iter().map(fsdyno_run::WorkerCell::published).collect();
        let operations = published.iter().flat_map(|totals| totals.ios.into_values()).sum();
        let bytes = published.iter().flat_map(|totals| totals.bytes.into_values()).sum();
        let states: Vec<WorkerState> = view.cells.iter().map(fsdyno_run::WorkerCell::state).collect();
        let wrote = published.iter().any(|totals| totals.ios.write > 0);
        let (operations_per_s, bytes_per_s) = self.rates(view.elapsed_ns, operations, bytes);
        let figures = LiveFigures {
            phase: phase(&states, wrote),
            elapsed_ms: self.elapsed_ms(),
            seconds_left: fsdyno_run::seconds_left(view),
            operations_per_s,
            bytes_per_s,
            latency_ns_p99: self.latency_ns_p99,
            layout_bytes: None,
            totals: self.totals,
        };
        self.watcher.progress(self.step, &figures);
    }

    fn ended(&mut self) -> Vec<Note> {
        let lost = self.work.and_then(|work| work.check_there().err());
        let note = |lost: Problem| {
            let id = fsdyno_results::DIRECTORY_LOST.to_string();
            Note::new(id, Severity::Invalid, lost.what)
        };
        lost.map(note).into_iter().collect()
    }

    fn wants_interim(&mut self, view: &View<'_>) -> bool {
        let due = view.elapsed_ns >= self.next_interim_ns;
        if due {
            self.next_interim_ns = view.elapsed_ns + INTERIM_NS;
            let states = || view.cells.iter().map(fsdyno_run::WorkerCell::state);
            let warming = states().any(|state| state == WorkerState::Ramp);
            self.all_count = !warming && states().any(|state| state == WorkerState::Running);
        }
        due
    }

    fn interim(&mut self, record: &RunRecord) {
        self.watcher.partial(record);
        if self.all_count {
            self.totals = Some(self.tally.look(&record.jobs));
        }
        let rows = record.report_rows();
        let latencies = rows.iter().flat_map(|job| match job.sync.lat.moments.count {
            0 => vec![job.directions.read.response_or_latency(), job.directions.write.response_or_latency()],
            // A write that is followed by a sync is as slow as its sync.
            _ => vec![job.directions.read.response_or_latency(), Some(&job.sync.lat)],
        });
        self.latency_ns_p99 = latencies.flatten().filter_map(|latency| latency.percentile(99.0)).max();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_writers_sync_and_nobody_warms_up_at_the_end() {
        use WorkerState::{Exited, Ramp, Reaped, Running, Syncing};
        assert_eq!(phase(&[Ramp, Exited], false), LivePhase::Ramp);
        assert_eq!(phase(&[Ramp, Running], true), LivePhase::Running);
        assert_eq!([phase(&[Syncing], true), phase(&[Syncing], false)], [LivePhase::Syncing, LivePhase::Running]);
        assert_eq!(phase(&[Exited, Reaped], true), LivePhase::Running);
    }
}
