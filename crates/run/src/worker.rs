//! One worker from its files to its record.

mod end;
mod finish;
mod sentences;

use std::sync::Arc;

use engine::clock::{Clock, RealClock};
use engine::errno::{EINVAL, ENOMEM};
use engine::files::{Advice, FileAccess, OpenFile, OpenMode};
use engine::{Engine, EngineSetup, EngineVisitor, Slots, with_engine};
use job::{Fadvise, PerDirection};
use results::JobError;
use workload::{Content, Generator};

use crate::account::{ThreadAccount, blank_record, job_error};
use crate::conduct::{Event, Shared};
use crate::control::{Control, WorkerCell, WorkerState};
use crate::drive::{DepthSearch, Drive, Ended, Failure, Governor, Holds, Parts, Renewal, Survival};
use crate::flow::FlowShare;
use crate::ledger::latency::{LatencySeries, slices_max};
use crate::logs::LogBuffer;
use crate::phase::{Phase, RampEnd};
use crate::plan::{PlannedFile, WorkerPlan};
use crate::recorder::{Recorder, RecorderOptions};
use crate::steady_state::IntervalMeter;
use crate::verification::{self, Verification, state};
pub(crate) use end::{Refused, WorkerEnd};
use finish::finish;

/// Runs the worker to its end. `index` counts from 0. `None`: it had been abandoned before, and its end is recorded.
pub(crate) fn run(index: usize, shared: &Arc<Shared>) -> Option<WorkerEnd> {
    let plan = &shared.plan.workers[index];
    let cell = &shared.cells[index];
    cell.set_thread(engine::thread::thread_id());
    engine::allocation::may_be_abandoned();
    let prepared = state::verifiable(plan)
        .and_then(|verifiable| prepare(plan, &shared.control, cell).map(|files| (files, verifiable)));
    let (files, verifiable) = match prepared {
        Ok(prepared) => prepared,
        Err(refused) => {
            cell.set_state(WorkerState::Failed);
            return Some(refused_end(plan, refused));
        }
    };
    let setup = engine_setup(plan, &files, RealClock::shared());
    let task = Task { index, shared, plan, files: &files, verifiable };
    let ended = with_engine(&setup, task).unwrap_or_else(|error| {
        let message = format!("fio: {}: {error}", plan.job.name);
        Some(refused_end(plan, Refused { code: setup_code(&error), function: "engine", message }))
    });
    let Some(mut end) = ended else {
        // Closing might wait once more for what it was stuck in.
        std::mem::forget(files);
        return None;
    };
    if let Some((op, code)) = end.failed {
        end.messages.extend(engine::explain(&setup, &op, code));
    }
    let closes = !end.lost && !files.is_empty();
    let state = end.state.take();
    if !closes {
        // Closing one may wait for the requests that never came back: left to the end of the process.
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
    // A close may never return, and must not take along what is known.
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

fn setup_code(error: &engine::EngineSetupError) -> i32 {
    match error {
        engine::EngineSetupError::Buffers(_) => ENOMEM,
        engine::EngineSetupError::File(error) => error.code,
        engine::EngineSetupError::Refused { code, .. } => *code,
        engine::EngineSetupError::Option { .. } => EINVAL,
    }
}

/// Thread attributes and open files.
fn prepare(plan: &WorkerPlan, control: &Control, cell: &WorkerCell) -> Result<Vec<OpenFile>, Refused> {
    apply_process(plan)?;
    if plan.job.submission.engine.is_diskless() {
        return Ok(Vec::new());
    }
    let open = |(index, file)| {
        cell.turns_to(index);
        open(plan, file, control, cell)
    };
    plan.files.iter().enumerate().map(open).collect()
}

fn apply_process(plan: &WorkerPlan) -> Result<(), Refused> {
    let process = &plan.job.process;
    let refuse = |error: engine::thread::ThreadError| Refused {
        code: error.code,
        function: "thread attributes",
        message: error.to_string(),
    };
    if !process.cpus_allowed.is_empty() {
        let allowed = &process.cpus_allowed;
        let own = [allowed[plan.clone as usize % allowed.len()]];
        engine::thread::set_affinity(if process.cpus_split { &own } else { allowed }).map_err(refuse)?;
    }
    if let Some(nice) = process.nice {
        engine::thread::set_nice(nice).map_err(refuse)?;
    }
    if let Some((class, level)) = process.priority {
        engine::thread::set_io_priority(class, level).map_err(refuse)?;
    }
    Ok(())
}

fn open(plan: &WorkerPlan, file: &PlannedFile, control: &Control, cell: &WorkerCell) -> Result<OpenFile, Refused> {
    let job = &plan.job;
    let access = job.pattern.access;
    let mode = OpenMode {
        access: if access.modifies() { FileAccess::ReadWrite } else { FileAccess::Read },
        create: access.writes && job.files.allow_create,
        direct: job.submission.direct,
        sync: job.submission.sync_open,
    };
    let opened = plan.reach.open(&file.path, mode).map_err(|error| Refused {
        code: error.code,
        function: "open",
        message: format!("fio: {error}"),
    })?;
    if job.files.invalidate && !job.files.pre_read {
        // Advice; a cache that cannot be dropped is the ledger's business, not an error here.
        let _ = opened.drop_cache(file.start, file.length);
    }
    if let Some(advice) = advice(plan) {
        // Advice only, as above.
        let _ = opened.advise(advice, file.start, file.length);
    }
    if job.files.pre_read {
        pre_read(&opened, file, control, cell)?;
    }
    Ok(opened)
}

/// Advises the kernel about the pattern (fadvise).
fn advice(plan: &WorkerPlan) -> Option<Advice> {
    match plan.job.files.fadvise {
        Fadvise::Off => None,
        Fadvise::ByPattern if plan.job.pattern.access.random => Some(Advice::Random),
        Fadvise::ByPattern | Fadvise::Sequential => Some(Advice::Sequential),
        Fadvise::Random => Some(Advice::Random),
        Fadvise::NoReuse => Some(Advice::NoReuse),
    }
}

/// Reads the used range once, so that it is in the cache. An order to stop cuts it short.
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

fn engine_setup<'files>(plan: &WorkerPlan, files: &'files [OpenFile], clock: RealClock) -> EngineSetup<'files> {
    let submission = &plan.job.submission;
    EngineSetup {
        name: submission.engine,
        files,
        depth: plan.queueing.depth as u32,
        block_bytes_max: plan.block_bytes_max,
        memory_align: submission.memory_align,
        memory: submission.memory.clone(),
        sync_range_flags: plan.job.durability.sync_file_range.map_or(0, |(flags, _)| flags),
        discards_alone: !plan.job.pattern.access.writes,
        advice: advice(plan).unwrap_or(Advice::Normal),
        options: submission.engine_options.clone(),
        clock,
    }
}

/// The worker once it has its engine.
struct Task<'run> {
    index: usize,
    shared: &'run Arc<Shared>,
    plan: &'run WorkerPlan,
    files: &'run [OpenFile],
    /// So much of what an earlier run wrote can be verified.
    verifiable: Option<u64>,
}

impl EngineVisitor for Task<'_> {
    /// `None`: it was abandoned before it could begin.
    type Output = Option<WorkerEnd>;

    // Inlined, all engines would share one frame, and every worker's stack would hold room for the loop of each.
    #[inline(never)]
    fn visit<E: Engine>(self, mut engine: E, slots: Slots<E>) -> Option<WorkerEnd> {
        let Task { index, shared, plan, files, verifiable } = self;
        let job = &plan.job;
        let generator = match Generator::new(&state::limited(plan, verifiable)) {
            Ok(generator) => generator,
            Err(error) => {
                let message = format!("{}: {error}", job.name);
                return Some(refused_end(plan, Refused { code: EINVAL, function: "workload", message }));
            }
        };
        let content = job.pattern.access.writes.then(|| {
            let mut content = content(plan);
            fill_buffers(&mut engine, &slots, &mut content, plan);
            content
        });
        let cell = &shared.cells[index];
        // All of a stage take part in their flow before the first of them begins.
        let at_once = job.extent.start_delay_ns.1 == 0;
        let flow = if at_once { shared.flows.join(index) } else { None };
        cell.set_state(WorkerState::Initialised);
        shared.send(Event::Ready(index));
        if !shared.gate.wait(plan.stage, cell) {
            return None;
        }
        let series =
            slices_max(shared.plan.workers.len()).map(|max| LatencySeries::begin(engine.clock().now_ns(), max));
        start_delay(plan, shared, cell, engine.clock());
        let extent = &job.extent;
        let reporting = &job.reporting;
        let began_ns = engine.clock().now_ns();
        let phase = Phase::begin(
            began_ns,
            extent.ramp_ns,
            extent.runtime_ns,
            reporting.bandwidth_window_ms,
            reporting.iops_window_ms,
        )
        .with_ramp(ramp_by_bytes(plan));
        cell.set_state(if phase.in_ramp() { WorkerState::Ramp } else { WorkerState::Running });
        let holds = holds(plan, flow.or_else(|| shared.flows.join(index)), began_ns);
        let verification = Verification::of_reads(plan).or_else(|| Verification::of_backlog(plan));
        let parts = Parts {
            files,
            used: &plan.files,
            generator,
            content,
            queueing: plan.queueing,
            recorder: recorder(plan, E::SYNCHRONOUS),
            intervals: intervals(index, shared, began_ns, phase.in_ramp()),
            log: log(index, shared, began_ns, phase.in_ramp()),
            phase,
            series,
            survival: Survival {
                policy: job.errors.clone(),
                fill_device: job.files.fill_device,
                counted: Default::default(),
            },
            governor: Governor::for_job(job, &plan.workload, verification, holds, began_ns),
            time_all: time_all(plan),
            invalidate: job.files.invalidate && !job.submission.direct,
            renewal: renewal(plan, files, &shared.control, cell),
            account: ThreadAccount::begin(plan, RealClock::shared()),
            control: &shared.control,
            cell,
            slots,
            engine,
        };
        let mut drive = Box::new(Drive::new(parts));
        let nothing_to_do = verification::only(job) || verifiable == Some(0);
        let ended = if nothing_to_do { Ended::Finished } else { drive.run() };
        Some(finish(plan, drive, ended, verifiable))
    }
}

/// `unlink_each_loop`. A job that reads finds nothing to open afterwards, which is its error, as with fio.
fn renewal<'run>(
    plan: &'run WorkerPlan,
    files: &'run [OpenFile],
    control: &'run Control,
    cell: &'run WorkerCell,
) -> Option<Renewal<'run>> {
    if !plan.job.files.unlink_each_loop {
        return None;
    }
    let failed = |code, function, detail| Failure { code, function, op: None, detail: Some(detail) };
    Some(Box::new(move || {
        for (file, planned) in files.iter().zip(&plan.files) {
            let removed = plan.reach.remove(&planned.path);
            removed.map_err(|error| failed(error.code, "unlink", error.to_string()))?;
            let new = open(plan, planned, control, cell);
            let new = new.map_err(|refused| failed(refused.code, refused.function, refused.message))?;
            file.replace(new).map_err(|error| failed(error.code, "open", error.to_string()))?;
        }
        Ok(())
    }))
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
    let content = content.repeating(&plan.repeated, &plan.random_seeds());
    // Without a disk no read changes a buffer, and a mix without reads has none.
    let reads = job.pattern.access.reads && job.pattern.read_percent > 0;
    let read_into = (reads || plan.workload.backlog.is_some()) && !job.submission.engine.is_diskless();
    if read_into { content.restored(plan.block_bytes_max) } else { content }
}

/// What ends a warm-up by bytes: this worker's own, or those of its group.
fn ramp_by_bytes(plan: &WorkerPlan) -> Option<RampEnd> {
    match plan.job.extent.ramp_bytes {
        0 => None,
        _ if plan.shares_ramp() => Some(RampEnd::Order),
        bytes => Some(RampEnd::Bytes(bytes)),
    }
}

/// What holds the worker's requests back, besides rates and think time.
fn holds(plan: &WorkerPlan, flow: Option<FlowShare>, began_ns: u64) -> Option<Box<Holds>> {
    let pacing = &plan.job.pacing;
    let depth_max = plan.queueing.depth as u32;
    let search = pacing.latency_target.map(|target| DepthSearch::new(target, depth_max, began_ns));
    Holds::for_job(pacing, flow, search, began_ns)
}

/// What a steady state is judged by.
fn intervals(index: usize, shared: &Arc<Shared>, began_ns: u64, in_ramp: bool) -> Option<Box<IntervalMeter>> {
    let steady = shared.plan.workers[index].job.reporting.steady_state.as_ref()?;
    let mut meter = Box::new(IntervalMeter::new(index, steady, Arc::clone(shared)));
    if !in_ramp {
        meter.begin(began_ns);
    }
    Some(meter)
}

/// What the worker keeps for its log files.
fn log(index: usize, shared: &Shared, began_ns: u64, in_ramp: bool) -> Option<Box<LogBuffer>> {
    let plan = &shared.plan.workers[index];
    let sender = shared.logs.clone().filter(|_| plan.job.reporting.logs.any())?;
    let mut buffer = Box::new(LogBuffer::new(index, plan, sender, Arc::clone(&shared.control)));
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

fn recorder(plan: &WorkerPlan, synchronous: bool) -> Recorder {
    let job = &plan.job;
    let access = job.pattern.access;
    let durability = &job.durability;
    let kept = RecorderOptions {
        submission: !synchronous,
        lat_distribution: job.reporting.lat_percentiles,
        slat_distribution: job.reporting.slat_percentiles,
        response: job.pacing.has_rate(),
        syncs: durability.fsync_every > 0 || durability.fdatasync_every > 0 || durability.sync_file_range.is_some(),
    };
    let reads = access.reads || verification::reads_what_it_wrote(plan);
    let used = PerDirection { read: reads, write: access.writes, trim: access.trims || plan.workload.trims.is_some() };
    Recorder::new(used, kept, plan.queueing.depth)
}

/// Every buffer gets its content once; what changes per I/O is changed per I/O.
fn fill_buffers<E: Engine>(engine: &mut E, slots: &Slots<E>, content: &mut Content, plan: &WorkerPlan) {
    if plan.job.submission.engine.is_diskless() || content.makes_anew() {
        return;
    }
    // In the order in which they are taken.
    for slot in slots.free().iter().rev() {
        content.fill(engine.buffer(slot));
    }
}

/// A number that differs between workers and repeats with the seed (the finaliser of splitmix64).
fn spread(plan: &WorkerPlan) -> u64 {
    let mixed = (plan.workload.seed ^ (u64::from(plan.thread_number) << 32)).wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed ^ (mixed >> 27)
}

/// Waits `startdelay`, in slices that notice an order to stop.
fn start_delay(plan: &WorkerPlan, shared: &Shared, cell: &WorkerCell, clock: &impl Clock) {
    let (shortest_ns, longest_ns) = plan.job.extent.start_delay_ns;
    let spread_ns = longest_ns.saturating_sub(shortest_ns);
    let drawn_ns = if spread_ns == 0 { 0 } else { spread(plan) % (spread_ns + 1) };
    let until_ns = clock.now_ns() + shortest_ns + drawn_ns;
    while clock.now_ns() < until_ns && !shared.control.stopped() && !cell.stopped() {
        clock.sleep_until_ns(until_ns.min(clock.now_ns() + 50_000_000));
    }
}

/// What closing the files gave.
#[derive(Default)]
struct Closed {
    messages: Vec<String>,
    error: Option<JobError>,
    took_ns: u64,
}

impl Closed {
    fn added_to(self, mut end: WorkerEnd) -> WorkerEnd {
        end.messages.extend(self.messages);
        end.record.error = end.record.error.or(self.error);
        end.record.close_ns = Some(self.took_ns);
        end
    }
}

/// Closes the files: an error there is an error of the job. Then `unlink`.
fn close(plan: &WorkerPlan, files: Vec<OpenFile>, cell: &WorkerCell) -> Closed {
    let clock = RealClock::shared();
    let began_ns = clock.now_ns();
    let mut closed = Closed::default();
    for (index, file) in files.into_iter().enumerate() {
        cell.turns_to(index);
        let path = file.path().to_owned();
        if let Err(error) = file.close() {
            closed.messages.push(format!("fio: {error}"));
            closed.error = closed.error.or(Some(job_error(error.code, "close")));
        }
        let removed = if plan.job.files.unlink { plan.reach.remove(&path) } else { Ok(()) };
        if let Err(error) = removed {
            closed.messages.push(format!("fio: {error}"));
        }
    }
    closed.took_ns = clock.now_ns().saturating_sub(began_ns);
    closed
}
