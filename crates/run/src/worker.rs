//! Runs one worker, from opening its files to its record.

mod between_passes;
mod command;
mod finish;
mod in_turn;
pub(crate) mod objects;
mod process;
mod recording;
mod refused;
mod removal;
mod sentences;
mod start_delay;
mod wear_out;
mod work;
mod zones;

use std::fs::File;
use std::sync::Arc;

use crate::control::Control;
use fsdyno_drive::{
    DepthSearch, Ended, Equipment, FlowShare, Governor, IntervalMeter, IssueConditions, JobClock, LatencySeries,
    LockedFiles, LogBuffer, Loop, LoopParts, RampEnd, Recorder, RecorderOptions, Survival, Worker, WorkerCell,
    WorkerEnd, WorkerState,
};
use fsdyno_engine::buffers::LockedMemory;
use fsdyno_engine::{EngineSetup, Names};
use fsdyno_job::{Direction, EngineName, Fadvise, IoPriority, Job, PerDirection};
use fsdyno_os::clock::{Clock, RealClock};
use fsdyno_os::errno::EINVAL;
use fsdyno_os::files::{Advice, FileAccess, OpenFile, OpenMode};
use fsdyno_results::JobError;
use fsdyno_workload::{Content, Generator};

use crate::account::{ThreadAccount, blank_record, job_error};
use crate::conduct::{Event, Shared};
use crate::ledger::slices_max;
use crate::plan::{PlannedFile, WorkerPlan};
use crate::verification::{self, state};
use between_passes::between_passes;
use command::CommandTime;
use finish::finish;
pub(crate) use refused::Refused;
use start_delay::start_delay;

/// Number of workers from which on each of them saves memory: waits with a small stack, and packs its distributions at its
/// end.
const MANY: usize = 256;

/// Runs the worker to its end. `index` counts from 0. `None`: it had been abandoned before, and its end is recorded.
// The functions that are called before the worker waits are not inlined: their frames would be part of the stack of each
// worker that waits.
#[inline(never)]
pub(crate) fn run(index: usize, shared: &Arc<Shared>) -> Option<WorkerEnd> {
    let plan = &shared.plan.workers[index];
    let (files, verifiable, _locked, recording) = match prepared(index, shared) {
        Ok(prepared) => prepared,
        Err(end) => return Some(*end),
    };
    let mut end = work(index, shared, files, verifiable, recording)?;
    if shared.plan.workers.len() > MANY {
        end.record.pack();
    }
    if let Err(refused) = command::run(CommandTime::After, index, shared) {
        end.notes.push(verification::note(&plan.job.name, "postrun-failed", refused.message));
    }
    Some(end)
}

/// The files of a worker that can begin, the number of writes that it can verify, its locked memory, and the file of
/// `write_iolog`.
type Prepared = (Vec<OpenFile>, Option<u64>, LockedMemory, Option<File>);

#[inline(never)]
fn prepared(index: usize, shared: &Arc<Shared>) -> Result<Prepared, Box<WorkerEnd>> {
    let plan = &shared.plan.workers[index];
    let cell = &shared.cells[index];
    cell.set_thread(fsdyno_os::thread::thread_id());
    fsdyno_os::allocation::may_be_abandoned();
    let prepared = state::verifiable(plan).and_then(|verifiable| {
        let locked = process::apply(plan, &shared.groups)?;
        let failed = |refused: Refused| Refused { message: format!("fio: {}", refused.message), ..refused };
        command::run(CommandTime::Before, index, shared).map_err(failed)?;
        let recording = recording::open(plan, shared)?;
        prepare(plan, shared, cell).map(|files| (files, verifiable, locked, recording))
    });
    prepared.map_err(|refused| {
        cell.set_state(WorkerState::Failed);
        Box::new(refused_end(plan, refused))
    })
}

/// Gives back what is not used of the stack of a worker that will wait, one of many.
fn shrink_stack(shared: &Shared) {
    if shared.plan.workers.len() > MANY {
        fsdyno_os::thread::release_stack();
    }
}

/// Runs the worker on its files and closes them.
fn work(
    index: usize,
    shared: &Arc<Shared>,
    files: Vec<OpenFile>,
    verifiable: Option<u64>,
    recording: Option<File>,
) -> Option<WorkerEnd> {
    let plan = &shared.plan.workers[index];
    let cell = &shared.cells[index];
    let setup = engine_setup(plan, &files, RealClock::shared());
    let mut task = Task { index, shared, plan, files: &files, verifiable, recording, stopped_before: false, end: None };
    if let Err(error) = fsdyno_drive::drive(&setup, &mut task) {
        let message = format!("fio: {}: {error}", plan.job.name);
        task.end = Some(refused_end(plan, Refused { code: error.code(), function: "engine", message }));
    }
    let Some(mut end) = task.end else {
        // Closing might block on the same storage again.
        std::mem::forget(files);
        return None;
    };
    if let Some((op, code)) = end.failed {
        end.messages.extend(fsdyno_engine::explain(&setup, &op, code));
    }
    closed(plan, files, cell, end)
}

/// Closes the files after the end of the loop.
#[inline(never)]
fn closed(plan: &WorkerPlan, files: Vec<OpenFile>, cell: &WorkerCell, mut end: WorkerEnd) -> Option<WorkerEnd> {
    let closes = !end.lost && (!files.is_empty() || plan.job.submission.engine.works_on_names());
    let state = end.state.take();
    if !closes {
        // Closing may wait for the requests that never completed: the end of the process does it.
        std::mem::forget(files);
        if state.is_none() {
            return Some(end);
        }
        cell.set_state(WorkerState::Syncing);
        cell.keep_end(end);
        let message = state.and_then(|state| state::save(plan, &state));
        let mut end = cell.take_end()?;
        end.messages.extend(message);
        return Some(end);
    }
    // A close may never return: the results so far are stored before.
    cell.set_state(WorkerState::Syncing);
    cell.keep_end(end);
    let mut closed = close(plan, files, cell);
    closed.messages.extend(state.and_then(|state| state::save(plan, &state)));
    cell.take_end().map(|end| closed.added_to(end))
}

pub(crate) fn refused_end(plan: &WorkerPlan, refused: Refused) -> WorkerEnd {
    let mut record = blank_record(plan);
    record.error = Some(job_error(refused.code, refused.function));
    WorkerEnd { record, messages: vec![refused.message], notes: Vec::new(), failed: None, lost: false, state: None }
}

/// Opens all files, or as many as `openfiles` allows.
fn prepare(plan: &WorkerPlan, shared: &Shared, cell: &WorkerCell) -> Result<Vec<OpenFile>, Refused> {
    shared.guard.judge_memory(plan)?;
    if plan.job.submission.engine.is_diskless() {
        return Ok(Vec::new());
    }
    let mut files = Vec::new();
    for (index, file) in plan.files.iter().enumerate() {
        if index >= plan.open_files() && !plan.job.files.pre_read {
            break;
        }
        cell.turns_to(index);
        let opened = open(plan, file, shared)?;
        if plan.job.files.pre_read {
            pre_read(&opened, file, &shared.control, cell)?;
        }
        if index < plan.open_files() {
            files.push(opened);
        }
    }
    Ok(files)
}

fn open(plan: &WorkerPlan, file: &PlannedFile, shared: &Shared) -> Result<OpenFile, Refused> {
    let job = &plan.job;
    let access = job.pattern.access;
    // Reads of falloc reserve space, which also changes a file.
    let changes = access.modifies() || job.submission.engine.changes_space();
    // sg hands commands over by write(2), also those that read.
    let hands_over = job.submission.engine == EngineName::Sg && plan.queueing.depth > 1;
    let mode = OpenMode {
        access: if changes || hands_over { FileAccess::ReadWrite } else { FileAccess::Read },
        create: access.writes && job.files.allow_create,
        // Commands pass the page cache, and character devices refuse O_DIRECT.
        direct: job.submission.direct && !job.submission.engine.commands_devices(),
        sync: job.submission.sync_open,
    };
    let opened = plan.reach.open(&file.path, mode).map_err(|error| Refused {
        code: error.code,
        function: "open",
        message: format!("fio: {error}"),
    })?;
    shared.guard.judge(plan, &opened)?;
    if let Some(number) = job.files.write_hint.filter(|_| access.writes) {
        opened.hint_lifetime(number).map_err(|error| Refused {
            code: error.code,
            function: "fcntl write hint",
            message: format!("fio: {error}"),
        })?;
    }
    if job.submission.engine.commands_devices() {
        return Ok(opened);
    }
    if job.files.invalidate && !job.files.pre_read {
        // This is only advice: the ledger shows a cache that was not dropped.
        let _ = opened.drop_cache(file.start, file.length);
    }
    if let Some(advice) = advice(plan) {
        // This is only advice, too.
        let _ = opened.advise(advice, file.start, file.length);
    }
    Ok(opened)
}

/// The advice for the kernel on the access pattern (fadvise).
fn advice(plan: &WorkerPlan) -> Option<Advice> {
    match plan.job.files.fadvise {
        Fadvise::Off => None,
        Fadvise::ByPattern if plan.job.pattern.access.random => Some(Advice::Random),
        Fadvise::ByPattern | Fadvise::Sequential => Some(Advice::Sequential),
        Fadvise::Random => Some(Advice::Random),
        Fadvise::NoReuse => Some(Advice::NoReuse),
    }
}

/// Reads the used range once, so that it is cached (`pre_read`). An order to stop ends it early.
fn pre_read(opened: &OpenFile, file: &PlannedFile, control: &Control, cell: &WorkerCell) -> Result<(), Refused> {
    let mut buffer = vec![0; 1 << 20];
    let mut at = file.start;
    let end = file.start.saturating_add(file.length);
    while at < end && !control.stopped() {
        let part = (end - at).min(buffer.len() as u64) as usize;
        let got = opened.read_full_at(&mut buffer[..part], at).map_err(|error| Refused {
            code: error.code,
            function: "pre_read",
            message: format!("fio: {error}"),
        })?;
        if got == 0 {
            break;
        }
        at += got as u64;
        cell.step();
    }
    Ok(())
}

fn engine_setup<'files>(plan: &'files WorkerPlan, files: &'files [OpenFile], clock: RealClock) -> EngineSetup<'files> {
    let submission = &plan.job.submission;
    EngineSetup {
        name: submission.engine,
        files,
        names: names(plan),
        depth: plan.queueing.depth as u32,
        block_bytes_max: plan.block_bytes_max,
        memory_align: submission.memory_align,
        memory: submission.memory.clone(),
        populated: plan.populated,
        sync_range_flags: plan.job.durability.sync_file_range.map_or(0, |(flags, _)| flags),
        offload: submission.offloads(),
        discards_alone: !plan.job.pattern.access.writes,
        advice: advice(plan).unwrap_or(Advice::Normal),
        options: work::options(plan),
        clock,
    }
}

/// How the operations of an engine on names are counted, as in fio: as writes if the job only writes.
fn names(plan: &WorkerPlan) -> Names<'_> {
    let engine = plan.job.submission.engine;
    if !engine.works_on_names() && !engine.reaches_objects() {
        return Names::NONE;
    }
    let access = plan.job.pattern.access;
    let counted_as = if access.writes && !access.reads { Direction::Write } else { Direction::Read };
    Names { paths: plan.files.iter().map(|file| &*file.path).collect(), counted_as }
}

/// A worker with its engine.
struct Task<'run> {
    index: usize,
    shared: &'run Arc<Shared>,
    plan: &'run WorkerPlan,
    files: &'run [OpenFile],
    /// Number of an earlier run's writes that can be verified.
    verifiable: Option<u64>,
    /// The file of `write_iolog`, until recording begins.
    recording: Option<File>,
    /// Whether an order to stop came during `startdelay`.
    stopped_before: bool,
    /// `None` at the end: the worker was abandoned before it could begin.
    end: Option<WorkerEnd>,
}

impl<'run> Worker<'run> for Task<'run> {
    fn begin(&mut self, engine: &mut dyn Equipment) -> Option<Box<LoopParts<'run>>> {
        let Task { index, shared, plan, .. } = *self;
        let (generator, content) = self.sources(engine)?;
        let cell = &shared.cells[index];
        // All workers of a stage join their flow before the first of them begins.
        let at_once = plan.job.extent.start_delay_ns.1 == 0;
        let flow = if at_once { shared.flows.join(index) } else { None };
        cell.set_state(WorkerState::Initialised);
        shared.send(Event::Ready(index));
        shrink_stack(shared);
        if !shared.gate.wait(plan.stage, cell) {
            return None;
        }
        work::announce(plan, shared);
        let series = slices_max(shared.plan.workers.len()).map(|max| LatencySeries::begin(engine.now_ns(), max));
        self.stopped_before = start_delay(plan, shared, cell, engine);
        self.equip(engine, generator, content, series, flow)
    }

    fn work(&mut self, work: &mut dyn Loop<'run>) {
        let nothing_to_do = verification::only(&self.plan.job) || self.verifiable == Some(0);
        let ended = match () {
            () if nothing_to_do => Ended::Finished,
            // As in fio, a job that waits to begin does nothing after a signal.
            () if self.stopped_before => Ended::Stopped,
            () => {
                shrink_stack(self.shared);
                wear_out::run_to_end(self.shared, work)
            }
        };
        self.end = Some(finish(self.plan, &self.shared.plan, work, ended, self.verifiable));
    }
}

impl<'run> Task<'run> {
    /// Makes what its requests and the content of its writes come from. `None`: its end says why it cannot begin.
    #[inline(never)]
    fn sources(&mut self, engine: &mut dyn Equipment) -> Option<(Box<Generator>, Option<Box<Content>>)> {
        let Task { plan, verifiable, .. } = *self;
        let job = &plan.job;
        let generator = match &plan.replay {
            Some(replay) => {
                let log = Arc::clone(&replay.log);
                Ok(Generator::recorded(&plan.workload, log, &job.traces.options))
            }
            None if job.submission.engine.computes() => Ok(Generator::steps(job.extent.number_ios)),
            None => Generator::new(&state::limited(plan, verifiable)),
        };
        let mut generator = match generator {
            Ok(generator) => Box::new(generator),
            Err(error) => {
                let message = format!("{}: {error}", job.name);
                self.end = Some(refused_end(plan, Refused { code: EINVAL, function: "workload", message }));
                return None;
            }
        };
        generator.made_by(fsdyno_engine::draws::sums());
        let content = (job.pattern.access.writes && job.submission.engine.uses_buffers()).then(|| {
            let mut content = Box::new(content(plan));
            // Every buffer is filled once; what must change per I/O is changed per I/O.
            if job.submission.engine.carries_data() && !content.makes_anew() {
                engine.fill_buffers(&mut content);
            }
            content
        });
        Some((generator, content))
    }

    /// The parts of its loop, with which it begins now. `None`: its end says why it cannot begin.
    #[inline(never)]
    fn equip(
        &mut self,
        engine: &dyn Equipment,
        mut generator: Box<Generator>,
        content: Option<Box<Content>>,
        series: Option<LatencySeries>,
        flow: Option<FlowShare>,
    ) -> Option<Box<LoopParts<'run>>> {
        let Task { index, shared, plan, .. } = *self;
        let job = &plan.job;
        let zoned = plan.workload.pattern.zoned.is_some();
        if zoned && let Err(refused) = zones::obey(plan, self.files, &mut generator) {
            self.end = Some(refused_end(plan, refused));
            return None;
        }
        let flow = flow.or_else(|| shared.flows.join(index));
        let mut parts = self.parts(engine, *generator, content.map(|content| *content), series, flow);
        if let Some(governor) = &mut parts.governor {
            let file = self.recording.take();
            governor.record(file.map(|file| recording::begin(plan, file, engine.now_ns())));
        }
        if job.traces.keeps_time() || job.pacing.has_rate() || job.pacing.think_ns > 0 {
            fsdyno_os::thread::wake_sharply();
            let may_spin = shared.plan.workers.len() <= fsdyno_os::thread::processors();
            parts.governor.iter_mut().for_each(|governor| governor.spin(may_spin));
        }
        Some(parts)
    }

    /// The state of its loop from now on.
    #[inline(never)]
    fn parts(
        &self,
        engine: &dyn Equipment,
        generator: Generator,
        content: Option<Content>,
        series: Option<LatencySeries>,
        flow: Option<FlowShare>,
    ) -> Box<LoopParts<'run>> {
        let Task { index, shared, plan, files, .. } = *self;
        let (job, cell) = (&plan.job, &shared.cells[index]);
        let began_ns = engine.now_ns();
        let phase = phase(plan, began_ns);
        cell.set_state(if phase.in_ramp() { WorkerState::Ramp } else { WorkerState::Running });
        let open_files = in_turn::open_files(plan, shared, files);
        let conditions = issue_conditions(plan, flow, shared.take_locks(index), open_files.take_turns(), began_ns);
        let verification = verification::of_reads(plan).or_else(|| verification::of_backlog(plan));
        Box::new(LoopParts {
            files: open_files,
            used: &plan.workload.files,
            generator,
            content,
            queueing: plan.queueing,
            recorder: recorder(plan, engine.is_synchronous()),
            intervals: intervals(index, shared, began_ns, phase.in_ramp()),
            log: log(index, shared, began_ns, phase.in_ramp()),
            phase,
            series,
            survival: Survival::new((*job.errors).clone(), job.files.fill_device),
            governor: Governor::for_job(job, &plan.workload, verification, conditions, began_ns),
            time_all: time_all(plan),
            invalidate: job.files.invalidate && !job.submission.direct,
            between_passes: between_passes(plan, shared, cell),
            account: Box::new(ThreadAccount::begin(plan, RealClock::shared())),
            control: &shared.control,
            cell,
            progress: Default::default(),
        })
    }
}

fn phase(plan: &WorkerPlan, began_ns: u64) -> JobClock {
    let (extent, reporting) = (&plan.job.extent, &plan.job.reporting);
    let windows = (reporting.bandwidth_window_ms, reporting.iops_window_ms);
    JobClock::begin(began_ns, extent.ramp_ns, extent.runtime_ns, windows.0, windows.1).with_ramp(ramp_by_bytes(plan))
}

fn content(plan: &WorkerPlan) -> Content {
    let (job, seed) = (&plan.job, plan.content_seed());
    let content = match (&job.verify, verification::seal(plan)) {
        (Some(verify), Some(seal)) => {
            let pattern = verify.pattern.as_ref().map(|pattern| pattern.bytes.as_slice());
            Content::sealed(&job.content, pattern, seed, seal, plan.queueing.depth)
        }
        _ => Content::new(&job.content, seed),
    };
    let content = content.repeating(&plan.repeated, &plan.random_seeds()).made_by(fsdyno_engine::fill::stores());
    // Without a disk no read changes a buffer, and a mix with 0 % reads has none.
    let reads = job.pattern.access.reads && job.pattern.read_percent > 0;
    let read_into = (reads || plan.workload.backlog.is_some()) && job.submission.engine.carries_data();
    if read_into { content.restored(plan.block_bytes_max) } else { content }
}

/// The counters that end a ramp by bytes: this worker's own, or those of its group.
fn ramp_by_bytes(plan: &WorkerPlan) -> Option<RampEnd> {
    match plan.job.extent.ramp_bytes {
        0 => None,
        _ if plan.shares_ramp() => Some(RampEnd::Order),
        bytes => Some(RampEnd::Bytes(bytes)),
    }
}

/// What delays the worker's requests, besides rates and think time.
#[inline(never)]
fn issue_conditions(
    plan: &WorkerPlan,
    flow: Option<FlowShare>,
    locks: Option<LockedFiles>,
    opens: bool,
    began_ns: u64,
) -> Option<Box<IssueConditions>> {
    let pacing = &plan.job.pacing;
    let depth_max = plan.queueing.depth as u32;
    let search = pacing.latency_target.map(|target| DepthSearch::new(target, depth_max, began_ns));
    IssueConditions::for_job(pacing, flow, locks, search, opens, began_ns)
}

/// The intervals by which a steady state is judged.
#[inline(never)]
fn intervals(index: usize, shared: &Arc<Shared>, began_ns: u64, in_ramp: bool) -> Option<Box<IntervalMeter>> {
    let steady = shared.plan.workers[index].job.reporting.steady_state.as_ref()?;
    let conductor = Arc::clone(shared);
    let send = Box::new(move |interval| conductor.send(Event::Interval(index, interval)));
    let mut meter = Box::new(IntervalMeter::new(steady, send));
    if !in_ramp {
        meter.begin(began_ns);
    }
    Some(meter)
}

/// The buffer of the worker's log rows.
#[inline(never)]
fn log(index: usize, shared: &Shared, began_ns: u64, in_ramp: bool) -> Option<Box<LogBuffer>> {
    let plan = &shared.plan.workers[index];
    let sender = shared.logs.clone().filter(|_| plan.job.reporting.logs.any())?;
    let mut buffer = Box::new(LogBuffer::new(index, &plan.job.reporting, sender, shared.control.orders()));
    if !in_ramp {
        buffer.begin(began_ns);
    }
    Some(buffer)
}

fn time_all(plan: &WorkerPlan) -> bool {
    let reporting = &plan.job.reporting;
    let any = reporting.completion_latency || reporting.submission_latency || reporting.total_latency;
    any && !reporting.sampled_clock
}

#[inline(never)]
fn recorder(plan: &WorkerPlan, synchronous: bool) -> Recorder {
    let job = &plan.job;
    let access = job.pattern.access;
    let durability = &job.durability;
    let kept = RecorderOptions {
        submission: !synchronous,
        lat_distribution: job.reporting.lat_percentiles,
        slat_distribution: job.reporting.slat_percentiles,
        response: job.pacing.has_rate() || plan.replay.as_ref().is_some_and(|replay| replay.summary.timed > 0),
        syncs: durability.fsync_every > 0 || durability.fdatasync_every > 0 || durability.sync_file_range.is_some(),
    };
    let reads = access.reads || verification::reads_what_it_wrote(plan);
    let reads = reads || job.submission.engine.works_on_names() && !access.writes;
    let used = PerDirection { read: reads, write: access.writes, trim: access.trims || plan.workload.trims.is_some() };
    let mut recorder = Recorder::new(used, kept, plan.queueing.depth);
    if let Some(priorities) = priorities(job) {
        recorder.split_by(priorities);
    }
    recorder
}

/// The priorities that requests of each direction can have, with the thread's first; `None`: all have the same.
fn priorities(job: &Job) -> Option<PerDirection<Vec<IoPriority>>> {
    let options = &job.submission.engine_options;
    let base = job.process.priority.unwrap_or_default();
    let listed = |direction: Direction| {
        let mut listed = vec![base];
        for share in &options.priority_shares[direction] {
            if !listed.contains(&share.priority) {
                listed.push(share.priority);
            }
        }
        if listed.len() > 1 { listed } else { Vec::new() }
    };
    options.has_priorities().then(|| PerDirection::from_fn(listed))
}

/// The result of closing the files.
#[derive(Default)]
struct CloseResult {
    messages: Vec<String>,
    error: Option<JobError>,
    took_ns: u64,
}

impl CloseResult {
    fn added_to(self, mut end: WorkerEnd) -> WorkerEnd {
        end.messages.extend(self.messages);
        end.record.error = end.record.error.or(self.error);
        end.record.close_ns = Some(self.took_ns);
        end
    }
}

/// Closes the files, with errors as errors of the job; then removes them with `unlink`.
fn close(plan: &WorkerPlan, files: Vec<OpenFile>, cell: &WorkerCell) -> CloseResult {
    let clock = RealClock::shared();
    let began_ns = clock.now_ns();
    let mut closed = CloseResult::default();
    for (index, file) in files.into_iter().enumerate() {
        cell.turns_to(index);
        if let Err(error) = file.close() {
            closed.messages.push(format!("fio: {error}"));
            closed.error = closed.error.or(Some(job_error(error.code, "close")));
        }
    }
    let engine = plan.job.submission.engine;
    let touches_files = !engine.is_diskless() || matches!(engine, EngineName::Filecreate | EngineName::Filestat);
    if plan.job.files.unlink && touches_files {
        for (index, file) in plan.files.iter().enumerate() {
            cell.turns_to(index);
            let failed = removal::remove(plan, &file.path).err();
            closed.messages.extend(failed.map(|error| format!("fio: {error}")));
        }
    }
    closed.took_ns = clock.now_ns().saturating_sub(began_ns);
    closed
}
