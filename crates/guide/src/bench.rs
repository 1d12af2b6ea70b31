//! One command line of the fio language, from its words to its record, watched.

use std::sync::Arc;

use engine::clock::{Clock, RealClock};
use job::Outcome;
use probe::HostFacts;
use results::{JobRecord, Note, RunRecord, Severity};
use run::{Control, Heading, MachineSources, Observer, View, WorkerState};

use crate::watch::{Counted, LiveFigures, LivePhase, Step};
use crate::workplace::Workplace;
use crate::{Problem, Watcher};

mod stability;
mod tally;

use stability::Stability;
use tally::Tally;

/// When a run ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StopRule {
    /// As its line says.
    AsWritten,
    /// At the line's runtime at the latest, and earlier when the rate has settled.
    Settled {
        /// Never before this many seconds of measuring.
        least_s: f64,
        /// Half-second windows that must agree.
        windows: usize,
        /// How far each may be from their median, as a share of it.
        tolerance: f64,
    },
}

/// What the caller brings to a run.
#[derive(Clone, Copy, Debug)]
pub struct Conditions<'a> {
    /// Version line for the record.
    pub version: &'a str,
    /// Stops the study, this run included.
    pub control: &'a Arc<Control>,
    /// When the run ends.
    pub stop_rule: StopRule,
    /// Where all of its files lie.
    pub work: &'a Workplace,
}

/// Parses, plans and runs one command line.
///
/// # Errors
/// When the line cannot be run: nothing has been written then. What happens to its jobs is in the record.
pub fn run_line(
    words: &[String],
    conditions: Conditions<'_>,
    step: &Step,
    watcher: &mut dyn Watcher,
) -> Result<RunRecord, Problem> {
    let request = match job::parse_command_line(words, &mut MachineSources) {
        Outcome::Run(request) => request,
        Outcome::Immediate(_) => return Err(Problem::new(format!("{} asks for no run", words.join(" ")))),
        Outcome::Rejected(rejection) => {
            let reasons: Vec<String> = rejection.errors.iter().map(|error| error.render(false)).collect();
            return Err(Problem::new(reasons.join("\n").trim_end().to_string()));
        }
    };
    let paths = run::plan::paths(&request.jobs);
    let facts = HostFacts::gather(paths.into_iter().inspect(|path| watcher.looks(path)));
    // The same places each time: rounds and targets then differ in the storage alone.
    let mut plan = run::plan::plan(&request.jobs, &facts, 0);
    if !plan.rejections.is_empty() {
        watcher.looked();
        return Err(Problem::new(plan.rejections.join("\n")));
    }
    plan.keep_beneath(conditions.work.held()).map_err(|path| {
        let (path, work) = (path.display(), conditions.work.directory().display());
        Problem::new(format!("{path} lies outside {work}, the directory of this question"))
    })?;
    let heading = Heading {
        version: conditions.version.to_string(),
        command: words.to_vec(),
        global_options: request.global_options.clone(),
        node: run::node(&plan, facts.host.clone()),
        notes: Vec::new(),
        foreign_look: std::time::Duration::ZERO,
    };
    watcher.looked();
    let control = Arc::new(Control::default());
    let mut relay = Relay {
        step,
        watcher,
        study: conditions.control,
        run: Arc::clone(&control),
        began_ns: RealClock::shared().now_ns(),
        looks: Vec::new(),
        latency_ns_p99: None,
        next_interim_ns: INTERIM_NS,
        all_count: false,
        tally: Tally::default(),
        counted: None,
        stability: Stability::new(conditions.stop_rule),
    };
    if conditions.control.stopped() {
        control.stop();
    }
    let mut record = run::conduct(plan, heading, Arc::clone(&control), &mut relay);
    if control.left_behind() {
        conditions.control.leave_behind();
    }
    record.signal = conditions.control.signal().or(record.signal);
    if let Err(lost) = conditions.work.check_there() {
        let id = results::DIRECTORY_LOST.to_string();
        record.notes.push(Note { id, severity: Severity::Invalid, node: None, job: None, text: lost.what });
    }
    record.findings = findings::of_run(&record);
    Ok(record)
}

/// How often the 99th percentile so far is asked for, ns.
const INTERIM_NS: u64 = 1_000_000_000;

/// Rates are those of the last so many looks (one each 50 ms).
const LOOKS: usize = 10;

/// From the conductor's news to the watcher's figures; also the one who ends a run that has settled.
struct Relay<'a> {
    step: &'a Step,
    watcher: &'a mut dyn Watcher,
    study: &'a Arc<Control>,
    run: Arc<Control>,
    began_ns: u64,
    /// `(elapsed ns, operations, bytes)` of the last looks.
    looks: Vec<(u64, u64, u64)>,
    latency_ns_p99: Option<u64>,
    next_interim_ns: u64,
    /// No worker was warming up when the interim record was asked for.
    all_count: bool,
    tally: Tally,
    counted: Option<Counted>,
    stability: Stability,
}

impl Relay<'_> {
    fn forward_stop(&self) {
        match self.study.signal() {
            Some(signal) => self.run.stop_by_signal(signal),
            None if self.study.stopped() => self.run.stop(),
            None => {}
        }
    }

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
        // After the ramp the counts may begin anew.
        let rate = |now: u64, then: u64| (seconds > 0.0).then(|| now.saturating_sub(then) as f64 / seconds);
        (rate(operations, operations_then), rate(bytes, bytes_then))
    }
}

impl Observer for Relay<'_> {
    fn layout_progress(&mut self, done: u64, total: u64, seconds_left: Option<u64>) {
        self.forward_stop();
        let elapsed_ms = self.elapsed_ms();
        let bytes_per_s = (elapsed_ms > 0).then(|| done as f64 * 1e3 / elapsed_ms as f64);
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

    fn idle(&mut self) {
        self.forward_stop();
    }

    fn message(&mut self, text: &str) {
        self.watcher.message(text);
    }

    fn job_failed(&mut self, record: &JobRecord) {
        if let Some(error) = &record.error {
            let text = format!("{}: {}: {} (errno {})", record.name, error.function, error.text, error.code);
            self.watcher.message(&text);
        }
    }

    fn watch(&mut self, view: &View<'_>) {
        self.forward_stop();
        let published: Vec<_> = view.cells.iter().map(run::WorkerCell::published).collect();
        let operations = published.iter().flat_map(|totals| totals.ios.into_values()).sum();
        let bytes = published.iter().flat_map(|totals| totals.bytes.into_values()).sum();
        let states: Vec<WorkerState> = view.cells.iter().map(run::WorkerCell::state).collect();
        let any = |state| states.contains(&state);
        let phase = match () {
            () if any(WorkerState::Running) || any(WorkerState::Verifying) => LivePhase::Running,
            () if any(WorkerState::Syncing) => LivePhase::Syncing,
            () => LivePhase::Ramp,
        };
        let (operations_per_s, bytes_per_s) = self.rates(view.elapsed_ns, operations, bytes);
        if phase == LivePhase::Running && self.stability.settled(view.elapsed_ns, operations) {
            self.run.stop();
        }
        let figures = LiveFigures {
            phase,
            elapsed_ms: self.elapsed_ms(),
            seconds_left: run::seconds_left(view),
            operations_per_s,
            bytes_per_s,
            latency_ns_p99: self.latency_ns_p99,
            layout_bytes: None,
            counted: self.counted,
        };
        self.watcher.progress(self.step, &figures);
    }

    fn wants_interim(&mut self, view: &View<'_>) -> bool {
        let due = view.elapsed_ns >= self.next_interim_ns;
        if due {
            self.next_interim_ns = view.elapsed_ns + INTERIM_NS;
            let states = || view.cells.iter().map(run::WorkerCell::state);
            let warming = states().any(|state| state == WorkerState::Ramp);
            self.all_count = !warming && states().any(|state| state == WorkerState::Running);
        }
        due
    }

    fn interim(&mut self, record: &RunRecord) {
        self.watcher.partial(record);
        if self.all_count {
            self.counted = Some(self.tally.look(&record.jobs));
        }
        let rows = record.report_rows();
        let latencies = rows.iter().flat_map(|job| [&job.directions.read.clat, &job.directions.write.clat]);
        self.latency_ns_p99 = latencies.filter_map(|clat| clat.histogram.as_ref()?.percentile(99.0)).max();
    }
}
