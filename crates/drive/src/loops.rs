//! The loop that takes requests from the generator to the engine and their time stamps to the recorder.
//!
//! Its contract: per I/O no `dyn`, no allocation, no lock, no shared write, no formatting, no system call but the
//! engine's own. It is compiled once per engine, for every-I/O or sampled timing (`TIMED`), and with or without the
//! features of [`Governor`] (`GOVERNED`); each worker chooses once. Code that does not depend on the engine is in
//! [`LoopParts`], and compiled once.

mod end_of_waits;
mod equipment;
mod governor;
mod issue_conditions;
mod overlaps;
mod pairs;
mod queued;
mod replacement;
mod search;
mod survival;
mod synchronous;
mod verify;

use fsdyno_engine::{Completion, Engine, ObjectTally, Slot, Slots};
use fsdyno_job::Direction;
use fsdyno_os::clock::Clock;
use fsdyno_os::errno::{EILSEQ, EIO, ENOSPC};
use fsdyno_results::{JobRecord, LostRequests};
use fsdyno_stats::sort;
use fsdyno_workload::{BLOCK_OPS, Block, Content, FileRange, Generator, Op, OpKind, Refill, UNNUMBERED};

use equipment::EngineWithSlots;
pub use equipment::{Equipment, Loop, Worker, drive};
pub use governor::Governor;
pub use issue_conditions::IssueConditions;
pub use search::DepthSearch;
pub use survival::Survival;

use crate::control::{Orders, Published, WorkerCell, WorkerState};
use crate::intervals::IntervalMeter;
use crate::job_clock::{JobClock, TickResult};
use crate::latency_series::LatencySeries;
use crate::logs::LogBuffer;
use crate::open_files::OpenFiles;
use crate::queueing::Queueing;
use crate::recorder::Recorder;

/// Time stamp of an I/O that is not timed.
const UNTIMED: u64 = u64::MAX;

/// Longest wait in the engine before orders are read again.
const PATIENCE: std::time::Duration = std::time::Duration::from_millis(100);

/// Requests that were still in flight when the worker gave them up. They are recorded whatever ended the job.
#[derive(Clone, Debug)]
pub struct AbandonedRequests {
    /// Number of these requests.
    pub count: usize,
    /// The oldest requests, oldest first, at most as many as a record lists.
    pub oldest: Vec<Op>,
    /// Time without a completion; `None`: the engine failed, so that waiting was not possible.
    pub silent: Option<std::time::Duration>,
}

impl AbandonedRequests {
    fn of(mut in_flight: Vec<Flight>, silent: Option<std::time::Duration>) -> Option<AbandonedRequests> {
        sort::by_key(&mut in_flight, |flight| flight.start_ns);
        let oldest = in_flight.iter().take(LostRequests::LISTED_MAX).map(|flight| flight.op).collect();
        if in_flight.is_empty() { None } else { Some(AbandonedRequests { count: in_flight.len(), oldest, silent }) }
    }
}

/// A request in flight.
#[derive(Clone, Copy)]
struct Flight {
    op: Op,
    start_ns: u64,
    issue_ns: u64,
    /// Intended start of a paced request.
    intended_ns: u64,
    /// Number of the write that this request reads back, or [`UNNUMBERED`].
    number: u64,
    /// Bytes that short transfers of the request have transferred; 0 in a slot whose request has had none.
    done: u64,
}

/// Why the I/O phase ended.
#[derive(Debug)]
pub enum Ended {
    /// Everything was transferred.
    Finished,
    /// The runtime was over.
    TimeUp,
    /// Stopped by the conductor.
    Stopped,
    /// The device is full, and `fill_device` makes this a normal end.
    DeviceFull,
    /// An error that the job does not survive.
    Failed(Failure),
}

/// Result of a step of the loop. The end is boxed, so that a step that continues returns in a register.
type Step<T = ()> = Result<T, Box<Ended>>;

/// An error with what is needed to report it.
#[derive(Clone, Debug)]
pub struct Failure {
    /// errno.
    pub code: i32,
    /// What failed, in fio's words.
    pub function: &'static str,
    /// The request that failed, if one did.
    pub op: Option<Op>,
    /// An explanation in addition to fio's message.
    pub detail: Option<String>,
}

impl Failure {
    /// A failure of an operation on a file that is not a request.
    #[cold]
    pub fn of_file(function: &'static str, error: &fsdyno_os::files::FileError) -> Failure {
        Failure { code: error.code, function, op: None, detail: Some(error.to_string()) }
    }

    #[cold]
    fn of_engine(error: &fsdyno_engine::EngineError) -> Ended {
        Ended::Failed(Failure { code: error.code, function: error.call, op: None, detail: Some(error.to_string()) })
    }
}

/// Makes the worker's record, during and after the run.
pub trait Account {
    /// The ramp is over: times and counters of the thread begin here.
    fn begin_measuring(&mut self);
    /// The record after `elapsed_ms` of the phase.
    fn job_record(
        &self,
        recorder: &Recorder,
        elapsed_ms: u64,
        survived: fsdyno_results::SurvivedErrors,
    ) -> Box<JobRecord>;
    /// The write phase took `elapsed_ms`; the next phase counts only the time of its reads. Accounts without times
    /// ignore this.
    fn writes_over(&mut self, _elapsed_ms: u64) {}
}

/// What a worker does with its files between two passes. Nothing is in flight then.
pub type BetweenPasses<'run> = Box<dyn Fn(&mut OpenFiles<'run>) -> Result<u32, Failure> + 'run>;

/// All that the loop needs besides an engine and its slots.
pub struct LoopParts<'run> {
    /// The files of the worker.
    pub files: OpenFiles<'run>,
    /// The range of each file that the job may use.
    pub used: &'run [FileRange],
    /// Makes the requests.
    pub generator: Generator,
    /// The content of writes; `None`: the job does not write.
    pub content: Option<Content>,
    /// Iodepth and batches.
    pub queueing: Queueing,
    /// The worker's counters.
    pub recorder: Recorder,
    /// The times of the tick.
    pub phase: JobClock,
    /// Latency over time; `None`: there are too many workers to keep it.
    pub series: Option<LatencySeries>,
    /// Which errors the job survives.
    pub survival: Survival,
    /// Pacing, think time and latency limits; `None` for plain jobs.
    pub governor: Option<Governor>,
    /// Rows of the log files. Rows of single requests are written only if there is a governor.
    pub log: Option<Box<LogBuffer>>,
    /// The intervals that a steady state is judged by.
    pub intervals: Option<Box<IntervalMeter>>,
    /// Time every I/O; false: one in 64 (a governed job needs the clock each time anyway).
    pub time_all: bool,
    /// Drop the page cache when a new pass begins.
    pub invalidate: bool,
    /// Syncs or recreates the files between two passes.
    pub between_passes: Option<BetweenPasses<'run>>,
    /// Makes the record.
    pub account: Box<dyn Account + 'run>,
    /// Orders to all workers.
    pub control: &'run Orders,
    /// The worker's side of the exchange with the conductor.
    pub cell: &'run WorkerCell,
    /// State of the loop; empty at the beginning.
    pub progress: Progress,
}

/// State that the loop keeps from tick to tick.
#[derive(Debug, Default)]
pub struct Progress {
    /// Totals at the end of the ramp, before the recorder was cleared.
    before_measuring: Published,
    snapshots_made: u32,
    /// File and offset of writes that failed and that the job survived.
    failed_writes: Vec<(u32, u64)>,
}

/// One worker's loop.
struct Drive<'run, E> {
    engine: E,
    /// All slots of the engine, at the beginning and at the end of a phase.
    slots: Slots<E>,
    parts: LoopParts<'run>,
    /// Largest number in flight in the governed loop; a search changes it.
    depth: usize,
    block: Block,
    cursor: usize,
    /// Number of requests of the block whose calls have been counted (synchronous engines).
    counted: usize,
    /// Latencies of the block's requests that are not recorded yet (synchronous engines).
    latencies_ns: [u64; BLOCK_OPS],
    /// Position in the block of the request that is timed when not all are.
    sample: usize,
    /// Position in the block up to which completed requests are replaced without a look at the clock: the timed
    /// request, or the end.
    replaceable_to: usize,
    blocks_made: u64,
    flights: Box<[Flight]>,
    /// Slots that are queued and not yet submitted.
    staged: Vec<u32>,
    /// Whether the call that waits for completions also submits the staged requests.
    joined: bool,
    /// Completions that are reaped and not yet processed; their slots still count as in flight.
    completions: Vec<Completion<E>>,
    /// When these were reaped, or [`UNTIMED`].
    reaped_ns: u64,
    /// Requests that were given up while draining.
    lost: Option<AbandonedRequests>,
}

impl<'run, E: Engine> Loop<'run> for Drive<'run, E> {
    fn is_synchronous(&self) -> bool {
        E::SYNCHRONOUS
    }

    fn run(&mut self) -> Ended {
        let ended = match (self.parts.time_all, self.parts.governor.is_some()) {
            (_, true) => self.work::<true, true>(),
            (true, false) => self.work::<true, false>(),
            (false, false) => self.work::<false, false>(),
        };
        self.parts.generator.leave_turn(None, false);
        let ended = self.parts.await_checks(ended, E::SYNCHRONOUS);
        let now_ns = self.now_ns();
        self.parts.close_windows(now_ns);
        self.parts.publish();
        ended
    }

    fn next_phase(&mut self) {
        if E::SYNCHRONOUS {
            // The only slot was lost with the request that ended the phase.
            self.slots.reclaim();
        }
        self.depth = self.parts.depth_at_first();
        self.block = Block::new();
        (self.cursor, self.counted) = (0, 0);
        self.reaped_ns = UNTIMED;
        self.parts.progress.failed_writes.clear();
    }

    fn go_on(&mut self, requests: u64) {
        if E::SYNCHRONOUS {
            // The only slot was lost with the request that ended the phase.
            self.slots.reclaim();
        }
        self.counted = self.cursor;
        self.parts.generator.go_on(requests, &mut self.block, self.cursor);
    }

    fn parts(&mut self) -> &mut LoopParts<'run> {
        &mut self.parts
    }

    fn now_ns(&self) -> u64 {
        self.engine.clock().now_ns()
    }

    fn lost(&self) -> Option<&AbandonedRequests> {
        self.lost.as_ref()
    }

    fn objects(&mut self) -> Option<&ObjectTally> {
        self.engine.objects()
    }

    fn said(&self) -> Option<String> {
        self.engine.said()
    }

    fn ways(&self) -> Vec<&'static str> {
        let mut ways = self.engine.ways();
        if self.joined {
            ways.push("submit-and-wait");
        }
        ways
    }
}

impl<'run, E: Engine> Drive<'run, E> {
    fn new(equipped: EngineWithSlots<E>, mut parts: LoopParts<'run>) -> Self {
        let EngineWithSlots { engine, slots } = equipped;
        let depth = parts.queueing.depth;
        let idle = Op { offset: 0, length: 0, file: 0, kind: OpKind::Read, priority: 0 };
        let flight = Flight { op: idle, start_ns: UNTIMED, issue_ns: 0, intended_ns: 0, number: UNNUMBERED, done: 0 };
        parts.progress.snapshots_made = parts.control.snapshot_epoch();
        if let Some(governor) = parts.governor.as_mut().filter(|_| !E::SYNCHRONOUS) {
            governor.know_overlaps(depth);
        }
        Drive {
            depth: parts.depth_at_first(),
            block: Block::new(),
            cursor: 0,
            counted: 0,
            latencies_ns: [0; BLOCK_OPS],
            sample: 0,
            replaceable_to: 0,
            blocks_made: 0,
            flights: vec![flight; depth].into_boxed_slice(),
            staged: Vec::with_capacity(depth),
            joined: parts.queueing.joins(&engine),
            completions: Vec::with_capacity(depth),
            reaped_ns: UNTIMED,
            lost: None,
            engine,
            slots,
            parts,
        }
    }

    fn work<const TIMED: bool, const GOVERNED: bool>(&mut self) -> Ended {
        let worked = if E::SYNCHRONOUS {
            self.work_synchronously::<TIMED, GOVERNED>()
        } else {
            self.work_queued::<TIMED, GOVERNED>()
        };
        let Err(ended) = worked;
        let drained = self.drain::<TIMED, GOVERNED>();
        let pairs = self.parts.generator.trims_then_writes() && self.lost.is_none();
        let written = if pairs { self.write_trimmed(&ended) } else { Ok(()) };
        match drained.and(written) {
            Err(failed) if matches!(*failed, Ended::Failed(_)) && !matches!(*ended, Ended::Failed(_)) => *failed,
            Ok(()) | Err(_) => *ended,
        }
    }

    /// Fills the block; on a new pass drops the cache first.
    fn next_block<const TIMED: bool, const GOVERNED: bool>(&mut self) -> Step {
        loop {
            match self.parts.generator.refill(&mut self.block) {
                Refill::Ops => break,
                Refill::Pass => {
                    self.engine.begin_pass();
                    if self.parts.between_passes.is_some() {
                        self.end_pass::<TIMED, GOVERNED>()?;
                    }
                    if self.parts.invalidate {
                        self.parts.files.drop_cache(self.parts.used);
                    }
                }
                Refill::Done => return Err(Box::new(Ended::Finished)),
            }
        }
        self.cursor = 0;
        self.counted = 0;
        self.blocks_made += 1;
        Ok(())
    }

    /// Ends a pass: what is in flight belongs to it and is drained.
    #[cold]
    fn end_pass<const TIMED: bool, const GOVERNED: bool>(&mut self) -> Step {
        // The block is empty: all of its requests have been issued.
        (self.cursor, self.counted) = (0, 0);
        if !E::SYNCHRONOUS {
            self.drain::<TIMED, GOVERNED>()?;
        }
        if self.lost.is_some() {
            // A sync would wait for requests that never completed.
            return Err(Box::new(Ended::Stopped));
        }
        // The following sync may never return; publishing now keeps the totals of the transfers before it.
        self.parts.publish();
        let LoopParts { between_passes, files, .. } = &mut self.parts;
        let outcome = between_passes.as_ref().map_or(Ok(0), |end_pass| end_pass(files));
        let synced = outcome.map_err(|failure| Box::new(Ended::Failed(failure)))?;
        let now_ns = self.now_ns();
        if let Some(governor) = &mut self.parts.governor
            && let Some(recording) = governor.recording()
        {
            recording.note_next_pass(synced, now_ns);
        }
        if now_ns >= self.parts.phase.next_ns { self.poll_events(now_ns) } else { Ok(()) }
    }

    /// Position in the block of the I/O that is timed in sampled timing. It changes from block to block, so that it
    /// does not follow a period of the pattern.
    fn sample_position(&self) -> usize {
        (self.blocks_made.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 58) as usize
    }

    #[inline]
    fn now_ns(&self) -> u64 {
        self.engine.clock().now_ns()
    }

    /// Runs the tick: windows, totals, stop orders, the end of the runtime.
    #[cold]
    fn poll_events(&mut self, now_ns: u64) -> Step {
        if E::SYNCHRONOUS {
            self.count_calls();
        }
        self.parts.poll_events(now_ns, &mut self.block, self.cursor)
    }
}

impl LoopParts<'_> {
    /// Fills the slot's buffer for this write.
    #[inline]
    fn prepare<E: Engine>(&mut self, engine: &mut E, slot: &Slot<E>, op: &Op) {
        if let Some(content) = &mut self.content {
            content.prepare(&mut engine.buffer(slot)[..op.length as usize], op);
        }
    }

    /// The first iodepth. A search begins with one request in flight.
    fn depth_at_first(&self) -> usize {
        let searches = self.governor.as_ref().is_some_and(|governor| governor.searches());
        if searches { 1 } else { self.queueing.depth }
    }

    /// Runs the tick. The requests of `block` are issued up to `cursor`.
    #[cold]
    #[inline(never)]
    fn poll_events(&mut self, now_ns: u64, block: &mut Block, cursor: usize) -> Step {
        let published = self.totals();
        if self.cell.ramp_is_over() {
            self.phase.end_ramp();
        }
        let tick = self.phase.tick(now_ns, &mut self.recorder);
        if tick == TickResult::Measured {
            self.begin_measuring(now_ns, published, block, cursor);
            if let Some(log) = &mut self.log {
                log.begin(now_ns);
            }
            self.cell.set_state(WorkerState::Running);
        }
        self.keep_series(tick, now_ns);
        if let LoopParts { intervals: Some(intervals), recorder, phase, .. } = self {
            intervals.look(now_ns, recorder);
            phase.next_ns = phase.next_ns.min(intervals.due_ns());
        }
        let stopped = self.control.stopped() || self.cell.stopped();
        if let LoopParts { log: Some(log), recorder, phase, .. } = self {
            log.look(now_ns, recorder, stopped || tick == TickResult::TimeUp);
            phase.next_ns = phase.next_ns.min(log.due_ns());
        }
        self.publish();
        self.offer_snapshot(now_ns);
        if stopped {
            return Err(Box::new(Ended::Stopped));
        }
        if tick == TickResult::TimeUp { Err(Box::new(Ended::TimeUp)) } else { Ok(()) }
    }

    /// Closes the windows of the samples and of the logs; nothing is in flight and no request follows.
    fn close_windows(&mut self, now_ns: u64) {
        let LoopParts { phase, recorder, log, .. } = self;
        phase.close_last_windows(now_ns, recorder);
        if let Some(log) = log {
            log.close_windows(now_ns, recorder);
        }
    }

    /// Begins the measured part: the counters are at 0. `published`: the totals before.
    fn begin_measuring(&mut self, now_ns: u64, published: Published, block: &mut Block, cursor: usize) {
        self.progress.before_measuring = published;
        // An interim record of the ramp must not be taken for one of the measured part, if the next record is late.
        // The caller offers a new record.
        self.progress.snapshots_made = 0;
        self.account.begin_measuring();
        if let Some(governor) = &mut self.governor {
            governor.begin_measuring(now_ns);
            // The schedule begins again, so that a backlog of the ramp is not caught up in the measured part.
            self.generator.restart_pacing(block, cursor);
        }
        if let Some(series) = &mut self.series {
            series.cleared();
        }
        if let Some(intervals) = &mut self.intervals {
            intervals.begin(now_ns);
        }
        if let Some(log) = &mut self.log {
            log.recount();
        }
    }

    fn keep_series(&mut self, tick: TickResult, now_ns: u64) {
        let LoopParts { series: Some(series), recorder, phase, .. } = self else { return };
        if tick != TickResult::Measured && !phase.in_ramp() {
            series.look(now_ns, recorder);
        }
    }

    fn totals(&self) -> Published {
        let mut totals = self.progress.before_measuring;
        for direction in Direction::ALL {
            totals.bytes[direction] += self.recorder.bytes(direction);
            totals.ios[direction] += self.recorder.completed(direction);
        }
        totals.open_files = self.files.count_open(self.used.len()) as u32;
        totals
    }

    fn publish(&self) {
        self.cell.publish(self.totals());
    }

    fn offer_snapshot(&mut self, now_ns: u64) {
        let epoch = self.control.snapshot_epoch();
        if epoch != self.progress.snapshots_made {
            self.progress.snapshots_made = epoch;
            let LoopParts { account, recorder, phase, series, survival, cell, governor, .. } = self;
            let mut record = account.job_record(recorder, phase.elapsed_ms(now_ns), survival.counted);
            if let Some(search) = governor.as_ref().and_then(|governor| governor.conditions.as_ref()?.search.as_ref()) {
                record.latency_depth = search.depth();
            }
            record.latency_series = series.as_ref().map(|series| series.slices().to_vec()).unwrap_or_default();
            cell.offer_snapshot(epoch, record);
        }
    }

    /// Handles a request that failed: `Ok` if the job survives the error.
    #[cold]
    fn failed(&mut self, op: &Op, code: i32, function: &'static str) -> Step {
        if let Some(direction) = op.kind.direction() {
            self.recorder.lost(direction);
        }
        let conditions = self.governor.as_mut().and_then(|governor| governor.conditions.as_mut());
        if let Some(locks) = conditions.and_then(|conditions| conditions.locks.as_mut()) {
            locks.give_back(op);
        }
        self.generator.leave_turn(Some(op), false);
        if op.kind == OpKind::Write {
            self.note_failed_write(op);
        }
        let survival = &mut self.survival;
        if survival.fill_device && code == ENOSPC && op.kind == OpKind::Write {
            return Err(Box::new(Ended::DeviceFull));
        }
        let (goes_on, listed) = match op.kind {
            OpKind::Read => (survival.policy.on_read, &survival.policy.ignored[0]),
            _ => (survival.policy.on_write, &survival.policy.ignored[1]),
        };
        // An explicit list replaces the two errors that are survived by default.
        let survivable = if listed.is_empty() { [EIO, EILSEQ].contains(&code) } else { listed.contains(&code) };
        if goes_on {
            // The error that ends the job is counted too, as in fio.
            survival.count(code);
        }
        if goes_on && survivable {
            survival.list(op, code);
            return Ok(());
        }
        Err(Box::new(Ended::Failed(Failure { code, function, op: Some(*op), detail: None })))
    }
}
