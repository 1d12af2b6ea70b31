//! The loop that moves requests from the generator to the engine and their time stamps to the recorder.
//!
//! Its contract: per I/O no `dyn`, no allocation, no lock, no shared write, no formatting, no system call but the
//! engine's own. It is compiled once per engine, for every-I/O or sampled timing (`TIMED`), and with or without
//! the features of [`Governor`] (`GOVERNED`), and chosen once per worker. What does not depend on the engine is in
//! [`Parts`], and compiled once.

mod equipment;
mod governor;
mod holds;
mod pairs;
mod queued;
mod search;
mod synchronous;
mod verify;

use fsdyno_engine::{Completion, Engine, Slot, Slots};
use fsdyno_job::Direction;
use fsdyno_os::clock::Clock;
use fsdyno_os::errno::{EILSEQ, EIO, ENOSPC};
use fsdyno_results::{JobRecord, LostRequests};
use fsdyno_stats::sort;
use fsdyno_workload::{BLOCK_OPS, Block, Content, FileRange, Generator, Op, OpKind, Refill, UNNUMBERED};

use equipment::Equipped;
pub use equipment::{Equipment, Loop, Worker, drive};
pub use governor::Governor;
pub use holds::Holds;
pub use search::DepthSearch;

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

/// Survived errors of one worker that are listed.
const LISTED_MAX: usize = 100;

/// Requests that were still in flight when the worker gave them up; recorded whatever ended the job.
#[derive(Clone, Debug)]
pub struct Lost {
    /// How many.
    pub count: usize,
    /// Oldest first, as many as a record lists.
    pub oldest: Vec<Op>,
    /// Time without a completion; `None`: the engine failed, and waiting was not possible.
    pub silent: Option<std::time::Duration>,
}

impl Lost {
    fn of(mut away: Vec<Flight>, silent: Option<std::time::Duration>) -> Option<Lost> {
        sort::by_key(&mut away, |flight| flight.start_ns);
        let oldest = away.iter().take(LostRequests::LISTED_MAX).map(|flight| flight.op).collect();
        if away.is_empty() { None } else { Some(Lost { count: away.len(), oldest, silent }) }
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
    /// Of the write that is read back, or [`UNNUMBERED`].
    number: u64,
    /// Bytes already transferred, when it came back short.
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
    /// The device is full, as `fill_device` wishes.
    DeviceFull,
    /// An error that the job does not survive.
    Failed(Failure),
}

/// What a step of the loop gives. The end is boxed: a step that goes on says so in a register.
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
    /// An explanation that fio's message does not give.
    pub detail: Option<String>,
}

impl Failure {
    /// Something about a file, besides the requests.
    #[cold]
    pub fn of_file(function: &'static str, error: &fsdyno_os::files::FileError) -> Failure {
        Failure { code: error.code, function, op: None, detail: Some(error.to_string()) }
    }

    #[cold]
    fn of_engine(error: &fsdyno_engine::EngineError) -> Ended {
        Ended::Failed(Failure { code: error.code, function: error.call, op: None, detail: Some(error.to_string()) })
    }
}

/// Which errors the job survives.
#[derive(Clone, Debug)]
pub struct Survival {
    /// What the job asks for.
    pub policy: fsdyno_job::ErrorPolicy,
    /// ENOSPC ends the job without error.
    pub fill_device: bool,
    /// Counted so far, with the first errno.
    pub counted: fsdyno_results::SurvivedErrors,
    /// `error_dump`: the first requests that failed, and how many more there were.
    pub listed: Vec<(Op, i32)>,
    /// See `listed`.
    pub unlisted: u64,
}

impl Survival {
    /// Nothing has failed yet.
    pub fn new(policy: fsdyno_job::ErrorPolicy, fill_device: bool) -> Survival {
        Survival { policy, fill_device, counted: Default::default(), listed: Vec::new(), unlisted: 0 }
    }

    /// One more error that the job may survive.
    fn count(&mut self, code: i32) {
        if self.counted.total == 0 {
            self.counted.first = code;
        }
        self.counted.total += 1;
    }

    /// The job goes on after this request.
    fn list(&mut self, op: &Op, code: i32) {
        match self.listed.len() < LISTED_MAX {
            _ if !self.policy.dump => {}
            true => self.listed.push((*op, code)),
            false => self.unlisted += 1,
        }
    }
}

/// Makes the worker's record while it runs and after.
pub trait Account {
    /// The ramp is over: times and counters of the thread start here.
    fn begin_measuring(&mut self);
    /// The record as of `elapsed_ms` of the phase.
    fn job_record(
        &self,
        recorder: &Recorder,
        elapsed_ms: u64,
        survived: fsdyno_results::SurvivedErrors,
    ) -> Box<JobRecord>;
    /// The writes took `elapsed_ms`; the time of the phase that follows is that of its reads alone. Accounts without
    /// times ignore it.
    fn writes_over(&mut self, _elapsed_ms: u64) {}
}

/// What a worker does with its files when a pass is over and another one follows. Nothing is in flight then.
pub type BetweenPasses<'run> = Box<dyn Fn(&mut OpenFiles<'run>) -> Result<(), Failure> + 'run>;

/// What the loop works with, besides an engine and its slots.
pub struct Parts<'run> {
    /// Its files.
    pub files: OpenFiles<'run>,
    /// The range that is used of each.
    pub used: &'run [FileRange],
    /// Makes the requests.
    pub generator: Generator,
    /// Present for jobs that write.
    pub content: Option<Content>,
    /// Depth and batches.
    pub queueing: Queueing,
    /// The worker's counters.
    pub recorder: Recorder,
    /// When the loop looks up from its requests.
    pub phase: JobClock,
    /// Latency through the run; `None` where there are too many workers to keep it.
    pub series: Option<LatencySeries>,
    /// Which errors the job survives.
    pub survival: Survival,
    /// Pacing, think time and latency limits; `None` for plain jobs.
    pub governor: Option<Governor>,
    /// Rows of the log files. Those of each request are only written beside a governor.
    pub log: Option<Box<LogBuffer>>,
    /// Intervals for the judgement of a steady state.
    pub intervals: Option<Box<IntervalMeter>>,
    /// Time every I/O (false: one in 64; a governed job needs the clock each time anyway).
    pub time_all: bool,
    /// Drop the cache when a pass begins again.
    pub invalidate: bool,
    /// Syncs the files or makes them anew, before a pass begins again.
    pub between_passes: Option<BetweenPasses<'run>>,
    /// Makes the record.
    pub account: Box<dyn Account + 'run>,
    /// Orders to all workers.
    pub control: &'run Orders,
    /// The worker's side of the exchange with the conductor.
    pub cell: &'run WorkerCell,
    /// Nothing yet.
    pub progress: Progress,
}

/// What a loop remembers from tick to tick.
#[derive(Debug, Default)]
pub struct Progress {
    /// Totals at the end of the ramp, when the recorder was cleared.
    before_measuring: Published,
    snapshots_made: u32,
    /// File and offset of writes that failed and were survived.
    failed_writes: Vec<(u32, u64)>,
}

/// One worker's loop.
struct Drive<'run, E> {
    engine: E,
    /// All slots of the engine, at the beginning and at the end of a phase.
    slots: Slots<E>,
    parts: Parts<'run>,
    /// In flight at most, in the governed loop: a search changes it.
    depth: usize,
    block: Block,
    cursor: usize,
    /// Requests of the block whose calls have been counted (synchronous engines).
    counted: usize,
    /// Latencies of the block's requests that are not recorded yet (synchronous engines).
    latencies_ns: [u64; BLOCK_OPS],
    /// Position in the block of the request that is timed when not all are.
    sample: usize,
    blocks_made: u64,
    flights: Box<[Flight]>,
    /// Slots queued but not yet submitted.
    staged: Vec<u32>,
    /// The call that waits for completions hands over what is staged.
    joined: bool,
    /// Reaped but not yet processed; their slots still count as in flight.
    completions: Vec<Completion<E>>,
    /// When they were reaped, or [`UNTIMED`].
    reaped_ns: u64,
    /// Requests that were given up while draining.
    lost: Option<Lost>,
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
        let ended = self.parts.await_checks(ended, E::SYNCHRONOUS);
        let now_ns = self.now_ns();
        self.parts.close_windows(now_ns);
        self.parts.publish();
        ended
    }

    fn next_phase(&mut self) {
        if E::SYNCHRONOUS {
            // Its only one went with the request that ended the phase.
            self.slots.reclaim();
        }
        self.depth = self.parts.depth_at_first();
        self.block = Block::new();
        (self.cursor, self.counted) = (0, 0);
        self.reaped_ns = UNTIMED;
        self.parts.progress.failed_writes.clear();
    }

    fn parts(&mut self) -> &mut Parts<'run> {
        &mut self.parts
    }

    fn now_ns(&self) -> u64 {
        self.engine.clock().now_ns()
    }

    fn lost(&self) -> Option<&Lost> {
        self.lost.as_ref()
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
    fn new(equipped: Equipped<E>, mut parts: Parts<'run>) -> Self {
        let Equipped { engine, slots } = equipped;
        let depth = parts.queueing.depth;
        let idle = Op { offset: 0, length: 0, file: 0, kind: OpKind::Read };
        let flight = Flight { op: idle, start_ns: UNTIMED, issue_ns: 0, intended_ns: 0, number: UNNUMBERED, done: 0 };
        parts.progress.snapshots_made = parts.control.snapshot_epoch();
        Drive {
            depth: parts.depth_at_first(),
            block: Block::new(),
            cursor: 0,
            counted: 0,
            latencies_ns: [0; BLOCK_OPS],
            sample: 0,
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

    /// What is still in flight belongs to the pass that is over.
    #[cold]
    fn end_pass<const TIMED: bool, const GOVERNED: bool>(&mut self) -> Step {
        // The block is empty: all of its requests have been issued.
        (self.cursor, self.counted) = (0, 0);
        if !E::SYNCHRONOUS {
            self.drain::<TIMED, GOVERNED>()?;
        }
        if self.lost.is_some() {
            // A sync would wait for what never came back.
            return Err(Box::new(Ended::Stopped));
        }
        // A sync may never come back: what was transferred before it is then known whole.
        self.parts.publish();
        let Parts { between_passes, files, .. } = &mut self.parts;
        let outcome = between_passes.as_ref().map_or(Ok(()), |end_pass| end_pass(files));
        outcome.map_err(|failure| Box::new(Ended::Failed(failure)))?;
        let now_ns = self.now_ns();
        if now_ns >= self.parts.phase.next_ns { self.poll_events(now_ns) } else { Ok(()) }
    }

    /// Position of the timed I/O of this block in sampled timing. It moves, so that it does not follow a period of the
    /// pattern.
    fn sample_position(&self) -> usize {
        (self.blocks_made.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 58) as usize
    }

    #[inline]
    fn now_ns(&self) -> u64 {
        self.engine.clock().now_ns()
    }

    /// Polls what is due besides I/O: windows, totals, stop orders, the end of the runtime.
    #[cold]
    fn poll_events(&mut self, now_ns: u64) -> Step {
        if E::SYNCHRONOUS {
            self.count_calls();
        }
        self.parts.poll_events(now_ns, &mut self.block, self.cursor)
    }
}

impl Parts<'_> {
    /// Makes the slot's buffer ready for this write.
    #[inline]
    fn prepare<E: Engine>(&mut self, engine: &mut E, slot: &Slot<E>, op: &Op) {
        if let Some(content) = &mut self.content {
            content.prepare(&mut engine.buffer(slot)[..op.length as usize], op);
        }
    }

    /// A search begins with one request in flight.
    fn depth_at_first(&self) -> usize {
        let searches = self.governor.as_ref().is_some_and(|governor| governor.searches());
        if searches { 1 } else { self.queueing.depth }
    }

    /// Does what is due besides I/O. `block`: the requests, issued up to `cursor`.
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
        if let Parts { intervals: Some(intervals), recorder, phase, .. } = self {
            intervals.look(now_ns, recorder);
            phase.next_ns = phase.next_ns.min(intervals.due_ns());
        }
        let stopped = self.control.stopped() || self.cell.stopped();
        if let Parts { log: Some(log), recorder, phase, .. } = self {
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

    /// Nothing is in flight and nothing begins: the windows under way, of the samples and of the logs, end here.
    fn close_windows(&mut self, now_ns: u64) {
        let Parts { phase, recorder, log, .. } = self;
        phase.close_last_windows(now_ns, recorder);
        if let Some(log) = log {
            log.close_windows(now_ns, recorder);
        }
    }

    /// The counters are at 0 and count from now on. `published`: the totals before.
    fn begin_measuring(&mut self, now_ns: u64, published: Published, block: &mut Block, cursor: usize) {
        self.progress.before_measuring = published;
        // An interim record of the warm-up would be taken for one of the measuring where the next one is late: the look
        // that this is part of offers one anew.
        self.progress.snapshots_made = 0;
        self.account.begin_measuring();
        if let Some(governor) = &mut self.governor {
            governor.begin_measuring(now_ns);
            // The schedule begins anew: a backlog of the ramp is not caught up in the measured part.
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
        let Parts { series: Some(series), recorder, phase, .. } = self else { return };
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
            let Parts { account, recorder, phase, series, survival, cell, governor, .. } = self;
            let mut record = account.job_record(recorder, phase.elapsed_ms(now_ns), survival.counted);
            if let Some(search) = governor.as_ref().and_then(|governor| governor.holds.as_ref()?.search.as_ref()) {
                record.latency_depth = search.depth();
            }
            record.latency_series = series.as_ref().map(|series| series.slices().to_vec()).unwrap_or_default();
            cell.offer_snapshot(epoch, record);
        }
    }

    /// Decides about a request that failed: `Ok` when the job survives it.
    #[cold]
    fn failed(&mut self, op: &Op, code: i32, function: &'static str) -> Step {
        if let Some(direction) = op.kind.direction() {
            self.recorder.lost(direction);
        }
        let holds = self.governor.as_mut().and_then(|governor| governor.holds.as_mut());
        if let Some(locks) = holds.and_then(|holds| holds.locks.as_mut()) {
            locks.give_back(op);
        }
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
        // An explicit list replaces the two errors that are survivable by default.
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
