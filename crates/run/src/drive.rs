//! The loop that moves requests from the generator to the engine and their time stamps to the recorder.
//!
//! Its contract: per I/O no `dyn`, no allocation, no lock, no shared write, no formatting, no system call but the
//! engine's own. It is compiled once per engine, for every-I/O or sampled timing (`TIMED`), and with or without
//! the features of [`Governor`] (`GOVERNED`), and chosen once per worker.

mod governor;
mod hold;
mod queued;
mod search;
mod synchronous;
mod verify;

use engine::clock::Clock;
use engine::errno::{EILSEQ, EIO, ENOSPC};
use engine::files::OpenFile;
use engine::{Completion, Engine, Slot, Slots};
use job::Direction;
use results::{JobRecord, LostRequests, sort};
use workload::{BLOCK_OPS, Block, Content, Generator, Op, OpKind, Refill, UNNUMBERED};

pub(crate) use governor::Governor;
pub(crate) use hold::Holds;
pub(crate) use search::DepthSearch;

use crate::control::{Control, Published, WorkerCell, WorkerState};
use crate::ledger::latency::LatencySeries;
use crate::logs::LogBuffer;
use crate::phase::{Phase, TickResult};
use crate::plan::{PlannedFile, Queueing};
use crate::recorder::Recorder;
use crate::steady_state::IntervalMeter;

/// Time stamp of an I/O that is not timed.
const UNTIMED: u64 = u64::MAX;

/// Longest wait in the engine before orders are read again.
const PATIENCE: std::time::Duration = std::time::Duration::from_millis(100);

/// Names the failure of requests that never completed.
pub(crate) const DRAIN: &str = "drain";

/// Requests that were still in flight when the worker gave them up; recorded whatever ended the job.
#[derive(Clone, Debug)]
pub(crate) struct Lost {
    pub(crate) count: usize,
    /// Oldest first, as many as a record lists.
    pub(crate) oldest: Vec<Op>,
    /// Time without a completion; `None`: the engine failed, and waiting was not possible.
    pub(crate) silent: Option<std::time::Duration>,
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
    done: u32,
}

/// Why the I/O phase ended.
#[derive(Debug)]
pub(crate) enum Ended {
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

/// An error with what is needed to report it.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    /// errno.
    pub(crate) code: i32,
    /// What failed, in fio's words.
    pub(crate) function: &'static str,
    /// The request that failed, if one did.
    pub(crate) op: Option<Op>,
    /// An explanation that fio's message does not give.
    pub(crate) detail: Option<String>,
}

impl Failure {
    fn of_engine(error: &engine::EngineError) -> Ended {
        Ended::Failed(Failure { code: error.code, function: error.call, op: None, detail: Some(error.to_string()) })
    }
}

/// Which errors the job survives.
#[derive(Clone, Debug)]
pub(crate) struct Survival {
    pub(crate) policy: job::ErrorPolicy,
    /// ENOSPC ends the job without error.
    pub(crate) fill_device: bool,
    /// Counted so far, with the first errno.
    pub(crate) counted: results::SurvivedErrors,
}

impl Survival {
    /// One more error that the job may survive.
    fn count(&mut self, code: i32) {
        if self.counted.total == 0 {
            self.counted.first = code;
        }
        self.counted.total += 1;
    }
}

/// Makes the worker's record while it runs and after.
pub(crate) trait Account {
    /// The ramp is over: times and counters of the thread start here.
    fn begin_measuring(&mut self);
    /// The record as of `elapsed_ms` of the phase.
    fn job_record(&self, recorder: &Recorder, elapsed_ms: u64, survived: results::SurvivedErrors) -> JobRecord;
    /// The writes took `elapsed_ms`; the time of the phase that follows is that of its reads alone. Accounts without
    /// times ignore it.
    fn writes_over(&mut self, _elapsed_ms: u64) {}
}

/// Removes the files of a worker and makes new ones, which take the place of the old ones in its engine.
pub(crate) type Renewal<'run> = Box<dyn Fn() -> Result<(), Failure> + 'run>;

/// The parts of the loop.
pub(crate) struct Parts<'run, E, A> {
    pub(crate) engine: E,
    /// All slots of the engine, at the beginning and at the end of a phase.
    pub(crate) slots: Slots<E>,
    /// Open files, and the range that is used of each.
    pub(crate) files: &'run [OpenFile],
    pub(crate) used: &'run [PlannedFile],
    pub(crate) generator: Generator,
    /// Present for jobs that write.
    pub(crate) content: Option<Content>,
    pub(crate) queueing: Queueing,
    pub(crate) recorder: Recorder,
    pub(crate) phase: Phase,
    /// Latency through the run; `None` where there are too many workers to keep it.
    pub(crate) series: Option<LatencySeries>,
    pub(crate) survival: Survival,
    /// Pacing, think time and latency limits; `None` for plain jobs.
    pub(crate) governor: Option<Governor>,
    /// Rows of the log files; present only beside a governor.
    pub(crate) log: Option<Box<LogBuffer>>,
    /// Intervals for the judgement of a steady state.
    pub(crate) intervals: Option<Box<IntervalMeter>>,
    /// Time every I/O (false: one in 64; a governed job needs the clock each time anyway).
    pub(crate) time_all: bool,
    /// Drop the cache when a pass begins again.
    pub(crate) invalidate: bool,
    /// `unlink_each_loop`: makes the files anew when a pass begins again.
    pub(crate) renewal: Option<Renewal<'run>>,
    pub(crate) account: A,
    pub(crate) control: &'run Control,
    pub(crate) cell: &'run WorkerCell,
}

impl<E: Engine, A> Parts<'_, E, A> {
    /// Makes the slot's buffer ready for this write.
    #[inline]
    fn prepare(&mut self, slot: &Slot<E>, op: &Op) {
        if let Some(content) = &mut self.content {
            content.prepare(&mut self.engine.buffer(slot)[..op.length as usize], op);
        }
    }
}

/// One worker's loop.
pub(crate) struct Drive<'run, E: Engine, A> {
    parts: Parts<'run, E, A>,
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
    /// Totals at the end of the ramp, when the recorder was cleared.
    before_measuring: Published,
    snapshots_made: u32,
    /// File and offset of writes that failed and were survived.
    failed_writes: Vec<(u32, u64)>,
    /// Requests that were given up while draining.
    lost: Option<Lost>,
}

impl<'run, E: Engine, A: Account> Drive<'run, E, A> {
    pub(crate) fn new(parts: Parts<'run, E, A>) -> Self {
        let depth = parts.queueing.depth;
        let idle = Op { offset: 0, length: 0, file: 0, kind: OpKind::Read };
        let flight = Flight { op: idle, start_ns: UNTIMED, issue_ns: 0, intended_ns: 0, number: UNNUMBERED, done: 0 };
        let snapshots_made = parts.control.snapshot_epoch();
        let searches = parts.governor.as_ref().is_some_and(|governor| governor.searches());
        Drive {
            depth: if searches { 1 } else { depth },
            block: Block::new(),
            cursor: 0,
            counted: 0,
            latencies_ns: [0; BLOCK_OPS],
            sample: 0,
            blocks_made: 0,
            flights: vec![flight; depth].into_boxed_slice(),
            staged: Vec::with_capacity(depth),
            joined: parts.queueing.joins(&parts.engine),
            completions: Vec::with_capacity(depth),
            reaped_ns: UNTIMED,
            before_measuring: Published::default(),
            snapshots_made,
            failed_writes: Vec::new(),
            lost: None,
            parts,
        }
    }

    /// Runs the I/O phase to its end and drains it.
    pub(crate) fn run(&mut self) -> Ended {
        let ended = match (self.parts.time_all, self.parts.governor.is_some()) {
            (_, true) => self.work::<true, true>(),
            (true, false) => self.work::<true, false>(),
            (false, false) => self.work::<false, false>(),
        };
        self.publish();
        ended
    }

    fn work<const TIMED: bool, const GOVERNED: bool>(&mut self) -> Ended {
        let worked = if E::SYNCHRONOUS {
            self.work_synchronously::<TIMED, GOVERNED>()
        } else {
            self.work_queued::<TIMED, GOVERNED>()
        };
        let Err(ended) = worked;
        if E::SYNCHRONOUS {
            return ended;
        }
        match self.drain::<TIMED, GOVERNED>() {
            Err(failed @ Ended::Failed(_)) if !matches!(ended, Ended::Failed(_)) => failed,
            Ok(()) | Err(_) => ended,
        }
    }

    /// Requests that never completed.
    pub(crate) fn take_lost(&mut self) -> Option<Lost> {
        self.lost.take()
    }

    /// The search for a depth, as it ended.
    pub(crate) fn take_search(&mut self) -> Option<DepthSearch> {
        self.parts.governor.as_mut()?.holds.as_mut()?.search.take()
    }

    /// The parts between two phases.
    pub(crate) fn parts(&mut self) -> &mut Parts<'run, E, A> {
        &mut self.parts
    }

    /// The parts, for what follows the I/O phase.
    pub(crate) fn into_parts(self) -> Parts<'run, E, A> {
        self.parts
    }

    /// Fills the block; on a new pass drops the cache first.
    fn next_block<const TIMED: bool, const GOVERNED: bool>(&mut self) -> Result<(), Ended> {
        loop {
            match self.parts.generator.refill(&mut self.block) {
                Refill::Ops => break,
                Refill::Pass => {
                    if self.parts.renewal.is_some() {
                        self.renew_files::<TIMED, GOVERNED>()?;
                    }
                    if self.parts.invalidate {
                        self.drop_cache();
                    }
                }
                Refill::Done => return Err(Ended::Finished),
            }
        }
        self.cursor = 0;
        self.counted = 0;
        self.blocks_made += 1;
        Ok(())
    }

    #[cold]
    fn renew_files<const TIMED: bool, const GOVERNED: bool>(&mut self) -> Result<(), Ended> {
        if !E::SYNCHRONOUS {
            self.drain::<TIMED, GOVERNED>()?;
        }
        self.parts.renewal.as_ref().map_or(Ok(()), |renew| renew()).map_err(Ended::Failed)
    }

    #[cold]
    fn drop_cache(&mut self) {
        for (file, used) in self.parts.files.iter().zip(self.parts.used) {
            // Advice only: what cannot be dropped stays, as with fio.
            let _ = file.drop_cache(used.start, used.length);
        }
    }

    /// Position of the timed I/O of this block in sampled timing. It moves, so that it does not follow a period of the
    /// pattern.
    fn sample_position(&self) -> usize {
        (self.blocks_made.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 58) as usize
    }

    #[inline]
    fn now_ns(&self) -> u64 {
        self.parts.engine.clock().now_ns()
    }

    /// Polls what is due besides I/O: windows, totals, stop orders, the end of the runtime.
    #[cold]
    fn poll_events(&mut self, now_ns: u64) -> Result<(), Ended> {
        if E::SYNCHRONOUS {
            self.count_calls();
        }
        let published = self.totals();
        if self.parts.cell.ramp_is_over() {
            self.parts.phase.end_ramp();
        }
        let tick = self.parts.phase.tick(now_ns, &mut self.parts.recorder);
        if tick == TickResult::Measured {
            self.begin_measuring(now_ns, published);
            if let Some(log) = &mut self.parts.log {
                log.begin(now_ns);
            }
            self.parts.cell.set_state(WorkerState::Running);
        }
        self.keep_series(tick, now_ns);
        if let Parts { intervals: Some(intervals), recorder, phase, .. } = &mut self.parts {
            intervals.look(now_ns, recorder);
            phase.next_ns = phase.next_ns.min(intervals.due_ns());
        }
        if let Parts { log: Some(log), recorder, phase, .. } = &mut self.parts {
            log.look(now_ns, recorder);
            phase.next_ns = phase.next_ns.min(log.due_ns());
        }
        self.publish();
        self.offer_snapshot(now_ns);
        if self.parts.control.stopped() || self.parts.cell.stopped() {
            return Err(Ended::Stopped);
        }
        if tick == TickResult::TimeUp { Err(Ended::TimeUp) } else { Ok(()) }
    }

    /// The counters are at 0 and count from now on. `published`: the totals before.
    fn begin_measuring(&mut self, now_ns: u64, published: Published) {
        self.before_measuring = published;
        self.parts.account.begin_measuring();
        if let Some(governor) = &mut self.parts.governor {
            governor.begin_measuring(now_ns);
            // The schedule begins anew: a backlog of the ramp is not caught up in the measured part.
            self.parts.generator.restart_pacing(&mut self.block, self.cursor);
        }
        if let Some(series) = &mut self.parts.series {
            series.cleared();
        }
        if let Some(intervals) = &mut self.parts.intervals {
            intervals.begin(now_ns);
        }
    }

    fn keep_series(&mut self, tick: TickResult, now_ns: u64) {
        let Parts { series: Some(series), recorder, phase, .. } = &mut self.parts else { return };
        if tick != TickResult::Measured && !phase.in_ramp() {
            series.look(now_ns, recorder);
        }
    }

    fn totals(&self) -> Published {
        let mut totals = self.before_measuring;
        for direction in Direction::ALL {
            totals.bytes[direction] += self.parts.recorder.bytes(direction);
            totals.ios[direction] += self.parts.recorder.completed(direction);
        }
        // The files of the engines that touch none count as open, as with fio.
        totals.open_files = self.parts.used.len() as u32;
        totals
    }

    fn publish(&self) {
        self.parts.cell.publish(self.totals());
    }

    fn offer_snapshot(&mut self, now_ns: u64) {
        let epoch = self.parts.control.snapshot_epoch();
        if epoch != self.snapshots_made {
            self.snapshots_made = epoch;
            let Parts { account, recorder, phase, series, survival, cell, governor, .. } = &self.parts;
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
    fn failed(&mut self, op: &Op, code: i32, function: &'static str) -> Result<(), Ended> {
        if let Some(direction) = op.kind.direction() {
            self.parts.recorder.lost(direction);
        }
        if op.kind == OpKind::Write {
            self.note_failed_write(op);
        }
        let survival = &mut self.parts.survival;
        if survival.fill_device && code == ENOSPC && op.kind == OpKind::Write {
            return Err(Ended::DeviceFull);
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
            return Ok(());
        }
        Err(Ended::Failed(Failure { code, function, op: Some(*op), detail: None }))
    }
}
