//! Runs a plan: layouts first, then stage after stage, some after layouts of their own. It watches and collects the
//! workers, and ends with one record.

mod clock_watch;
mod layouts;
mod observer;
mod order;
mod patience;
mod shared;
mod steady;

use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::control::Control;
use fsdyno_drive::{Flows, LogWriter, WorkerCell, WorkerEnd, WorkerState, file_locks, now_ms};
use fsdyno_job::IdleProfile;
use fsdyno_os::clock::{Clock, ClockWatch, RealClock};
use fsdyno_os::errno::{EAGAIN, EFAULT};
use fsdyno_probe::{DiskWatch, Look};
use fsdyno_results::evidence::MachineEvidence;
use fsdyno_results::{ClockFacts, Host, JobRecord, Node, Note, RunRecord, SCHEMA_VERSION, Severity};
use fsdyno_stats::sort;

use crate::account::blank_record;
use crate::control_groups::ControlGroups;
use crate::guard::Guard;
use crate::idleness::IdleMeter;
use crate::ledger::Sampler;
use crate::ledger::foreign::ForeignLook;
use crate::logs;
use crate::plan::{Plan, WorkerPlan};
use crate::stage_workers::{StageWorkers, StartGate};
use crate::stall::worker::{WorkerWatch, from_totals};
use crate::stop_rule::{Stability, StopRule};
use crate::worker::{self, Refused};
pub use observer::{Observer, View};
pub(crate) use shared::{Event, Shared};
use steady::SteadyStates;

/// Stack of a worker, bytes: the drive loop keeps its state on the heap.
const STACK_BYTES: usize = 256 * 1024;

/// Interval at which orders and totals are read.
const WATCH: Duration = Duration::from_millis(50);

/// Interval of interim records where a server or daemon may leave a worker stuck, ns; each costs some ten microseconds.
const SNAPSHOTS_NS: u64 = 250_000_000;

/// Id of the note that log files are incomplete.
pub const LOGS_INCOMPLETE: &str = "logs-incomplete";

/// What is known before the run and belongs into the record, with the machine facts it comes from.
#[derive(Debug)]
pub(crate) struct Heading {
    /// The program's version line.
    pub(crate) version: String,
    /// Words of the command line.
    pub(crate) command: Vec<String>,
    /// Options that apply to all jobs.
    pub(crate) global_options: Vec<(String, String)>,
    /// This machine, with the storages that the files are on.
    pub(crate) node: Node,
    /// Notes made before the run.
    pub(crate) notes: Vec<Note>,
    /// The rule that ends the run.
    pub(crate) stop_rule: StopRule,
    /// Asks for the idle time of the CPUs.
    pub(crate) idle_profile: Option<IdleProfile>,
    /// The machine facts with which the plan was made.
    pub(crate) look: Look,
}

/// Runs the plan to its end.
pub(crate) fn conduct(
    mut plan: Plan,
    heading: Heading,
    control: Arc<Control>,
    observer: &mut dyn Observer,
) -> RunRecord {
    let (sender, events) = channel();
    let cells = plan.workers.iter().map(|_| WorkerCell::default()).collect();
    let writer = logs::begin(&plan).unwrap_or_else(|sentence| {
        plan.refuse_all("log", &sentence);
        None
    });
    let groups = ControlGroups::begin(&plan, || heading.look.blkio_mount()).unwrap_or_else(|sentence| {
        plan.refuse_all("cgroup", &sentence);
        ControlGroups::default()
    });
    let logs = writer.as_ref().map(LogWriter::sender);
    let flows = Flows::of(plan.workers.iter().map(|worker| worker.job.pacing.flow));
    let locks = Mutex::new(file_locks(
        plan.workers.iter().map(|worker| (worker.job.files.lock, worker.files.iter().map(|file| &*file.path))),
    ));
    let gate = StartGate::default();
    let guard = Guard::default();
    let wears_out = heading.stop_rule == StopRule::WearOut && plan.workers.len() == 1;
    let events_of_workers = Mutex::new(sender);
    let shared =
        Shared { plan, cells, control, gate, guard, groups, flows, locks, logs, wears_out, events: events_of_workers };
    let shared = Arc::new(shared);
    let mut conductor = Conductor::new(shared, heading, events, observer);
    conductor.logs = writer;
    conductor.run()
}

struct Conductor<'run> {
    shared: Arc<Shared>,
    heading: Heading,
    events: Receiver<Event>,
    observer: &'run mut dyn Observer,
    ended: Vec<Option<Box<JobRecord>>>,
    clock: RealClock,
    clock_watch: ClockWatch,
    began_ns: u64,
    started_ms: u64,
    started_ns: Vec<Option<u64>>,
    disks: Option<DiskWatch>,
    /// Runs from the first stage on; `None` also when its thread could not be started.
    sampler: Option<Sampler>,
    /// Writes the log files.
    logs: Option<LogWriter>,
    /// Runs from the first stage on, if it was asked for.
    idleness: Option<IdleMeter>,
    /// The facts about the machine that are known before the sampler's first sample.
    machine: MachineEvidence,
    /// One per worker.
    detectors: Vec<WorkerWatch>,
    /// Decides whether the run may end early.
    stability: Stability,
    /// Decides whether workers may end early (`steadystate`).
    steady_states: SteadyStates,
    /// Time of the last check of the workers, ns.
    looked_ns: u64,
    /// Whether a failed allocation was reported.
    short_of_memory: bool,
    /// Time at which the next interim records are asked for, ns.
    next_snapshots_ns: u64,
}

impl<'run> Conductor<'run> {
    fn new(
        shared: Arc<Shared>,
        heading: Heading,
        events: Receiver<Event>,
        observer: &'run mut dyn Observer,
    ) -> Conductor<'run> {
        let workers = shared.plan.workers.len();
        let clock = RealClock::shared();
        Conductor {
            stability: Stability::new(heading.stop_rule),
            steady_states: SteadyStates::of(&shared.plan.workers),
            shared,
            heading,
            events,
            observer,
            ended: (0..workers).map(|_| None).collect(),
            began_ns: clock.now_ns(),
            clock,
            clock_watch: ClockWatch::begin(clock),
            started_ms: now_ms(),
            started_ns: vec![None; workers],
            disks: None,
            sampler: None,
            logs: None,
            idleness: None,
            machine: MachineEvidence::default(),
            detectors: vec![WorkerWatch::default(); workers],
            looked_ns: clock.now_ns(),
            short_of_memory: false,
            next_snapshots_ns: SNAPSHOTS_NS,
        }
    }

    fn run(self) -> RunRecord {
        // Pages of the program's code that has done its part are released: here option parsing and planning, at the end
        // the run.
        fsdyno_os::process::release_program_pages();
        let record = self.carry_out();
        fsdyno_os::process::release_program_pages();
        record
    }

    fn carry_out(mut self) -> RunRecord {
        self.shared.control.follow();
        self.refuse_planned();
        let foreign_look = ForeignLook::begin(&self.heading.look, &self.shared.plan, self.clock);
        self.lay_out(0);
        if let Some(look) = foreign_look {
            self.machine.foreign_bytes_per_s = look.end();
        }
        self.shared.control.other_ranks().inspect(|other_ranks| other_ranks.laid_out());
        self.begin_idle_profile();
        self.began_ns = self.clock.now_ns();
        self.started_ms = now_ms();
        if !self.shared.control.stopped() {
            self.disks = self.watch_disks();
        }
        let create_only = |worker: &WorkerPlan| worker.job.files.create_only;
        for index in 0..self.shared.plan.workers.len() {
            if create_only(&self.shared.plan.workers[index]) && self.ended[index].is_none() {
                self.ended[index] = Some(blank_record(&self.shared.plan.workers[index]));
            }
        }
        let stages = self.shared.plan.workers.iter().map(|worker| worker.stage).max().map_or(0, |last| last + 1);
        for stage in 0..stages {
            if stage > 0 && !self.shared.control.stopped() {
                self.lay_out(stage);
            }
            if self.shared.control.stopped() {
                break;
            }
            self.run_stage(stage);
        }
        self.end_logs();
        self.remove_groups();
        self.heading.notes.extend(self.observer.ended());
        self.shared.control.follow();
        let ended = std::mem::take(&mut self.ended);
        // In fio, a job that a signal kept from starting is shown as one that did nothing.
        let jobs = ended.into_iter().enumerate().map(|(index, ended)| *ended.unwrap_or_else(|| self.unfinished(index)));
        let jobs = jobs.collect();
        self.record(jobs, true)
    }

    fn refuse_planned(&mut self) {
        for index in 0..self.shared.plan.workers.len() {
            if let Some(refusal) = self.shared.plan.workers[index].refused.clone() {
                let refused = Refused { code: refusal.code, function: refusal.function, message: refusal.message };
                self.end(index, worker::refused_end(&self.shared.plan.workers[index], refused));
            }
        }
    }

    /// Waits until the log files are written; missing lines are reported, and noted in the record.
    fn end_logs(&mut self) {
        let bounds = self.shared.control.bounds();
        for text in self.logs.take().map(|logs| logs.end(bounds)).unwrap_or_default() {
            self.observer.message(&text);
            let severity = Severity::Caution;
            self.heading.notes.push(Note::new(LOGS_INCOMPLETE, severity, text));
        }
    }

    /// Removes the control groups that the run has made; those that are left are reported, and noted in the record.
    fn remove_groups(&mut self) {
        for error in self.shared.groups.remove(!self.shared.control.abandoned()) {
            let text = format!("a control group of this run is left: {error}");
            self.observer.message(&text);
            self.heading.notes.push(Note::new("group-left", Severity::Info, text));
        }
    }

    fn begin_idle_profile(&mut self) {
        let Some(profile) = self.heading.idle_profile else { return };
        match IdleMeter::begin(profile, &self.heading.look) {
            Ok(meter) => self.idleness = Some(meter),
            Err(reason) => {
                let text = format!("--idle-prof has measured nothing: {reason}");
                self.heading.notes.push(Note::new("no-idle-profile", Severity::Caution, text));
            }
        }
    }

    fn watch_disks(&self) -> Option<DiskWatch> {
        let wanted = |worker: &&WorkerPlan| worker.job.reporting.disk_util && worker.refused.is_none();
        let mut paths: Vec<_> = self
            .shared
            .plan
            .workers
            .iter()
            .filter(wanted)
            .filter(|worker| worker.job.submission.engine.lays_out())
            .flat_map(|worker| worker.parts.iter().map(|part| self.shared.plan.storages[part.storage].path.clone()))
            .collect();
        sort::by(&mut paths, Ord::cmp);
        paths.dedup();
        (!paths.is_empty()).then(|| DiskWatch::begin(&self.heading.look, paths))
    }

    /// Starts the stage's workers together and waits until all have ended.
    fn run_stage(&mut self, stage: u32) {
        let mut waiting = self.waiting(stage);
        if waiting.is_empty() {
            return;
        }
        self.begin_ledger();
        let mut stage_workers = StageWorkers::new(self.ended.len());
        self.start_released(&mut waiting, &mut stage_workers);
        let early = self.await_readiness(stage, &mut stage_workers);
        // With other ranks, a stage begins when all ranks are ready.
        let agreed_ns = self.shared.control.other_ranks().map(|other_ranks| other_ranks.ready(stage));
        if let Some(sampler) = &mut self.sampler {
            sampler.begin_stage(stage);
        }
        let looked_ns = self.clock.now_ns();
        agreed_ns.inspect(|agreed_ns| self.clock.sleep_until_ns(*agreed_ns));
        let began_ns = self.clock.now_ns();
        self.sampler.iter_mut().for_each(|sampler| sampler.stage_runs(began_ns, began_ns - looked_ns));
        let now_ns = self.elapsed_ns();
        let begun = (0..self.ended.len()).filter(|index| stage_workers.awaits(*index));
        for index in begun.chain(early.iter().map(|(index, _)| *index)) {
            self.started_ns[index] = Some(now_ns);
        }
        self.begin_clock_watch();
        self.shared.gate.open(stage);
        for (index, end) in early {
            self.end(index, end);
        }
        self.start_released(&mut waiting, &mut stage_workers);
        self.watch_stage(stage, waiting, &mut stage_workers);
        self.shared
            .control
            .other_ranks()
            .inspect(|other_ranks| other_ranks.ended(stage, began_ns, self.clock.now_ns()));
        self.judge_clock(stage);
        // A storage that left a worker stuck would not answer the last sample either.
        if let Some(sampler) = self.sampler.as_mut().filter(|_| !self.shared.control.abandoned()) {
            sampler.end_stage(stage);
        }
    }

    /// Receives the workers' events and checks the workers, until all have ended.
    fn watch_stage(&mut self, stage: u32, mut waiting: Vec<usize>, stage_workers: &mut StageWorkers) {
        let mut watched_ns = 0;
        while stage_workers.is_awaited() {
            self.shared.control.follow();
            match self.events.recv_timeout(WATCH) {
                Ok(Event::Ended(index, end)) if stage_workers.ends(index) => {
                    self.end(index, end);
                    self.start_released(&mut waiting, stage_workers);
                }
                Ok(Event::Ready(index)) if stage_workers.awaits(index) => {
                    // The gate of the stage is already open, so the worker begins at once.
                    stage_workers.is_ready(index);
                    self.started_ns[index] = Some(self.elapsed_ns());
                }
                Ok(Event::Interval(index, interval)) => self.judge_interval(index, interval),
                Ok(Event::Line(line)) => self.observer.layout(&line),
                // A worker that was abandoned has returned, too late.
                Ok(Event::Ended(..) | Event::Ready(_)) => {}
                Err(RecvTimeoutError::Timeout) => self.abandon_lost_workers(stage, stage_workers),
                Err(RecvTimeoutError::Disconnected) => break,
            }
            // The checks below visit all workers, so they are not made for each event.
            let now_ns = self.clock.now_ns();
            if stage_workers.is_awaited() && now_ns < watched_ns + WATCH.as_nanos() as u64 {
                continue;
            }
            watched_ns = now_ns;
            self.watch();
            self.end_ramps_of_groups();
            self.stop_by_rule();
            self.watch_clock();
            if let Some(sampler) = &mut self.sampler {
                sampler.watch(self.clock.now_ns(), stage);
            }
        }
    }

    /// Waits until each worker is ready or has ended; returns those that ended before they were ready.
    fn await_readiness(&mut self, stage: u32, stage_workers: &mut StageWorkers) -> Vec<(usize, WorkerEnd)> {
        let mut early = Vec::new();
        while stage_workers.is_any_starting() {
            self.shared.control.follow();
            match self.events.recv_timeout(WATCH) {
                Ok(Event::Ready(index)) => stage_workers.is_ready(index),
                Ok(Event::Ended(index, end)) if stage_workers.ends(index) => {
                    self.shared.cells[index].set_state(WorkerState::Exited);
                    early.push((index, end));
                }
                Ok(Event::Line(line)) => self.observer.layout(&line),
                // A worker that was abandoned has returned, too late; nobody measures intervals yet.
                Ok(Event::Ended(..) | Event::Interval(..)) => {}
                Err(RecvTimeoutError::Timeout) => {
                    self.observer.idle();
                    self.abandon_lost_workers(stage, stage_workers);
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        early
    }

    fn begin_ledger(&mut self) {
        // Jobs without files move no bytes in any layer below: samples would only cost memory and start-up time.
        let mut workers = self.shared.plan.workers.iter();
        if self.sampler.is_some() || !workers.any(|worker| worker.job.submission.engine.has_paths()) {
            return;
        }
        match Sampler::begin(
            &self.shared,
            &self.heading.look,
            &self.heading.node.storages,
            std::mem::take(&mut self.machine),
        ) {
            Ok(sampler) => self.sampler = Some(sampler),
            Err(error) => self.heading.notes.push(Note::new(
                "no-ledger",
                Severity::Caution,
                format!("nobody watched the layers below the run: cannot start a thread: {error}"),
            )),
        }
    }

    /// Starts a worker's thread; the error is its errno.
    fn start(&mut self, index: usize) -> Result<(), i32> {
        let shared = Arc::clone(&self.shared);
        shared.cells[index].set_state(WorkerState::Created);
        let work = move || {
            let end = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| worker::run(index, &shared)))
                .unwrap_or_else(|_| {
                    let message = format!("{}: internal error, see above", shared.plan.workers[index].job.name);
                    let refused = Refused { code: EFAULT, function: "worker", message };
                    Some(worker::refused_end(&shared.plan.workers[index], refused))
                });
            if let Some(end) = end {
                shared.send(Event::Ended(index, end));
            }
        };
        fsdyno_os::thread::begin(&format!("worker-{}", index + 1), STACK_BYTES, work)
            .map(drop)
            .map_err(|error| error.raw_os_error().unwrap_or(EAGAIN))
    }

    /// Ends a worker for which no thread could be started. `told`: whether the message about it was shown already.
    fn refuse_thread(&mut self, index: usize, code: i32, told: bool) {
        let error = std::io::Error::from_raw_os_error(code);
        let message = format!("fio: cannot start thread {}: {error}", index + 1);
        let mut end =
            worker::refused_end(&self.shared.plan.workers[index], Refused { code, function: "thread", message });
        if told {
            end.messages.clear();
        }
        self.end(index, end);
    }

    fn end(&mut self, index: usize, end: WorkerEnd) {
        self.shared.flows.leave(index);
        if end.lost {
            self.shared.control.abandon();
        }
        for message in &end.messages {
            self.observer.message(message);
        }
        for note in end.notes {
            self.observer.note(&format!("fio: {}", note.text));
            self.heading.notes.push(note);
        }
        let failed = end.record.error.is_some();
        if failed {
            self.observer.job_failed(&end.record);
        }
        self.shared.cells[index].set_state(if failed { WorkerState::Failed } else { WorkerState::Reaped });
        self.ended[index] = Some(end.record);
        let job = Arc::clone(&self.shared.plan.workers[index].job);
        if job.exit_all || failed && job.exit_all_on_error {
            self.end_others(index, job.exit_what);
        }
        self.end_work_beside_io();
    }

    /// `exit_on_io_done`: ends the jobs without I/O once the last job with I/O has ended.
    fn end_work_beside_io(&self) {
        let workers = self.shared.plan.workers.iter().zip(&self.ended);
        if workers.clone().any(|(worker, ended)| ended.is_none() && !worker.job.submission.engine.computes()) {
            return;
        }
        for ((worker, _), cell) in workers.zip(&self.shared.cells) {
            if worker.job.submission.engine_options.burn.until_io_done {
                cell.stop();
            }
        }
    }

    /// Time since the first stage began, ns.
    fn elapsed_ns(&self) -> u64 {
        self.clock.now_ns().saturating_sub(self.began_ns)
    }

    fn watch(&mut self) {
        let elapsed_ns = self.elapsed_ns();
        let view =
            View { plan: &self.shared.plan, cells: &self.shared.cells, elapsed_ns, started_ns: &self.started_ns };
        self.observer.watch(&view);
        // A stuck worker cannot report at its end: where that can happen, workers report in between.
        if elapsed_ns >= self.next_snapshots_ns && self.sampler.as_ref().is_some_and(Sampler::may_wait) {
            self.next_snapshots_ns = elapsed_ns + SNAPSHOTS_NS;
            self.shared.control.request_snapshots();
        }
        if self.observer.wants_interim(&view) {
            let seconds_left = crate::progress::seconds_left(&view);
            self.take_snapshots();
            let record = self.record(self.jobs_so_far(seconds_left), false);
            self.observer.interim(&record);
        }
    }

    /// Ends the run when its stop rule says so.
    fn stop_by_rule(&mut self) {
        let cells = &self.shared.cells;
        let measures = |cell: &WorkerCell| matches!(cell.state(), WorkerState::Running | WorkerState::Verifying);
        if self.shared.control.stopped() || !cells.iter().any(measures) {
            return;
        }
        let operations = cells.iter().flat_map(|cell| cell.published().ios.into_values()).sum();
        if self.stability.settled(self.elapsed_ns(), operations) {
            self.shared.control.stop();
            self.heading.notes.extend(self.heading.stop_rule.note());
        }
    }

    /// Waits briefly for interim counters of the workers; those of a stuck worker stay as they were.
    fn take_snapshots(&mut self) {
        let epoch = self.shared.control.request_snapshots();
        let deadline_ns = self.clock.now_ns() + 200_000_000;
        let running =
            |index: &usize| matches!(self.shared.cells[*index].state(), WorkerState::Running | WorkerState::Ramp);
        let pending: Vec<usize> = (0..self.ended.len()).filter(|i| self.ended[*i].is_none()).filter(running).collect();
        while self.clock.now_ns() < deadline_ns
            && pending.iter().any(|index| self.shared.cells[*index].snapshot_since(epoch).is_none())
        {
            self.clock.sleep_until_ns(self.clock.now_ns() + 5_000_000);
        }
    }

    /// The results of the workers that have ended, and the latest interim records of the others.
    fn jobs_so_far(&self, seconds_left: Option<u64>) -> Vec<JobRecord> {
        let begun = self.ended.iter().enumerate().filter(|(index, _)| self.started_ns[*index].is_some());
        let record_of = |(index, ended): (usize, &Option<Box<JobRecord>>)| match ended {
            Some(record) => JobRecord::clone(record),
            None => JobRecord { eta_s: seconds_left, ..*self.so_far(index) },
        };
        begun.map(record_of).collect()
    }

    /// The latest interim record of a running worker, or one from its totals if it has never given any.
    fn so_far(&self, index: usize) -> Box<JobRecord> {
        let cell = &self.shared.cells[index];
        let ran_ns = self.started_ns[index].map_or(0, |started_ns| self.elapsed_ns().saturating_sub(started_ns));
        let known = || from_totals(&self.shared.plan.workers[index], cell.published(), ran_ns / 1_000_000);
        cell.snapshot_since(0).unwrap_or_else(known)
    }

    fn unfinished(&self, index: usize) -> Box<JobRecord> {
        let offered = self.shared.cells[index].snapshot_since(0);
        offered.unwrap_or_else(|| blank_record(&self.shared.plan.workers[index]))
    }

    fn record(&self, jobs: Vec<JobRecord>, complete: bool) -> RunRecord {
        let elapsed_ns = self.elapsed_ns();
        RunRecord {
            schema: SCHEMA_VERSION,
            version: self.heading.version.clone(),
            started_ms: self.started_ms,
            taken_ms: now_ms(),
            elapsed_s: elapsed_ns / 1_000_000_000 + 1,
            complete,
            command: self.heading.command.clone(),
            global_options: self.heading.global_options.clone(),
            nodes: vec![self.node(elapsed_ns)],
            ranks_record: None,
            jobs: jobs.into_iter().map(|job| self.steady_states.complete(job)).collect(),
            notes: self.heading.notes.iter().chain(&self.shared.plan.notes).cloned().collect(),
            signal: self.shared.control.signal(),
            findings: Vec::new(),
        }
    }

    /// This machine with the ledger so far.
    fn node(&self, elapsed_ns: u64) -> Node {
        let Node { name, host, storages, .. } = self.heading.node.clone();
        let disks = self.disks.as_ref().map(|watch| watch.finish(Duration::from_nanos(elapsed_ns)));
        Node {
            name,
            host: Host { clock: Some(clock_facts(&self.clock)), ..host },
            storages,
            disks: disks.unwrap_or_default(),
            ledger: self.sampler.as_ref().map(Sampler::so_far),
            idleness: self.idleness.as_ref().and_then(|meter| meter.so_far(&self.heading.look)),
            part: None,
        }
    }
}

/// The facts about a clock.
pub fn clock_facts(clock: &RealClock) -> ClockFacts {
    ClockFacts {
        source: clock.source().to_string(),
        cost_ns: clock.cost_ns(),
        frequency_hz: clock.frequency_hz(),
        drift_ppm: clock.drift_ppm_since_calibration(),
    }
}
