//! Features that pace a job or check each I/O: intended starts, think time, latency limits, minimum rates, log files,
//! verification. The loop of plain jobs is compiled without them.

use fsdyno_engine::{Engine, Slot};
use fsdyno_job::{Direction, Job, Pacing, PerDirection};
use fsdyno_os::clock::Clock;
use fsdyno_os::errno::{EIO, ETIMEDOUT};
use fsdyno_results::Latency;
use fsdyno_workload::{Block, Op, OpKind, UNNUMBERED, Workload};

use super::end_of_waits::{EndOfWaits, POLL_NS, SPIN_NS};
use super::issue_conditions::IssueConditions;
use super::overlaps::Overlaps;
use super::{DepthSearch, Drive, Ended, Failure, Flight, LoopParts, PATIENCE, Step, UNTIMED};
use crate::recorder::{Distributed, Recorder};
use crate::recording::Recording;
use crate::verification::Verification;

/// Time before the first check of minimum rates, as in fio, ns.
const SETTLING_NS: u64 = 2_000_000_000;

/// The beginning of a window of a minimum rate.
#[derive(Clone, Copy, Debug)]
struct MinimumRateWindow {
    since_ns: u64,
    bytes: u64,
    ios: u64,
}

/// The state of the governing features of one worker.
#[derive(Debug)]
pub struct Governor {
    pub(super) pacing: Pacing,
    /// Whether nothing but an intended start can hold a request back.
    starts_freely: bool,
    /// Whether, besides, completed requests are only recorded and logged.
    only_records: bool,
    /// Time on the worker's clock from which intended starts count.
    origin_ns: u64,
    pub(super) blocks_since_think: u32,
    /// Other reasons to hold requests back, besides rates and think time; `None`: there are none.
    pub(super) conditions: Option<Box<IssueConditions>>,
    /// Whether to drain before a trim, because the block's write may still be in flight.
    drains_before_trims: bool,
    /// Whether to drain before writes that follow reads of `verify`, because blocks may be written again.
    drains_after_reads: bool,
    /// Whether the last request read back a written block.
    reads_back: bool,
    /// `serialize_overlap`: a request waits for the requests in flight that it overlaps. In writers of zoned devices it
    /// waits for those of its zone.
    serializes: bool,
    /// The ranges of these requests; `None`: nothing waits, or the engine has one request in flight.
    overlaps: Option<Box<Overlaps>>,
    /// Bytes of a zone; 0: the device has none.
    zone_bytes: u64,
    /// Whether only some zones can be open: a zone that is being filled counts until its last write is done.
    limits_zones: bool,
    /// Whether other workers write these zones too: a request waits for its turn.
    shares_zones: bool,
    /// Time of the next check of a minimum rate; `u64::MAX`: there is none.
    minimum_due_ns: PerDirection<u64>,
    /// Start of the current window of a minimum rate.
    windows: PerDirection<Option<MinimumRateWindow>>,
    /// Checks blocks that are read.
    pub(super) verification: Option<Verification>,
    /// What is noted when requests start; `None`: nothing is noted.
    starts: Option<Box<StartedRequests>>,
    /// How the last part of each wait is spent.
    ends: EndOfWaits,
}

/// What is noted when requests start.
#[derive(Debug, Default)]
struct StartedRequests {
    /// In a replay, the delay of requests after their recorded times.
    lateness: Option<Distributed>,
    recording: Option<Recording>,
}

/// What the governor must know about a completed request.
pub(super) struct Governed {
    pub(super) lat_ns: u64,
    /// Intended start, or [`UNTIMED`].
    pub(super) intended_ns: u64,
    pub(super) end_ns: u64,
    /// Number of the write that the request read back, or [`UNNUMBERED`].
    pub(super) number: u64,
}

impl Governor {
    /// `None` when the job has nothing to govern.
    #[inline(never)]
    pub fn for_job(
        job: &Job,
        workload: &Workload,
        verification: Option<Verification>,
        conditions: Option<Box<IssueConditions>>,
        now_ns: u64,
    ) -> Option<Governor> {
        let mut pacing = Pacing::clone(&job.pacing);
        // One value applies to all directions; a direction without I/O has no rate to keep.
        for direction in Direction::ALL.into_iter().filter(|direction| !job.pattern.access.has(*direction)) {
            pacing.rate_min[direction] = None;
            pacing.rate_iops_min[direction] = None;
        }
        let watched = |d: Direction| {
            pacing.rate_min[d].is_some() || pacing.rate_iops_min[d].is_some() || pacing.max_latency_ns[d] > 0
        };
        let watched = pacing.is_paced() || Direction::ALL.into_iter().any(watched);
        let drains_before_trims = job.verify.as_ref().is_some_and(|verify| verify.trims.is_some());
        let orders = drains_before_trims || workload.backlog.is_some();
        let zone_bytes = workload.pattern.zoned.map_or(0, |zones| zones.zone_bytes);
        let limits_zones = workload.pattern.zoned.is_some_and(|zones| zones.open_max.max(zones.job_open_max) > 0);
        let serializes = (job.submission.serialize_overlap || zone_bytes > 0) && job.pattern.access.modifies();
        let checks = verification.is_some() || job.reporting.logs.of_requests();
        let replays = job.traces.keeps_time();
        let noted = replays || job.traces.record.is_some();
        let needed = watched || conditions.is_some() || orders || serializes || checks || noted;
        needed.then(|| {
            let ungoverned = Governor::of_verification(verification, conditions, now_ns);
            let mut governor =
                Governor { pacing, drains_before_trims, serializes, zone_bytes, limits_zones, ..ungoverned };
            governor.shares_zones = workload.zones.are_shared() && job.pattern.access.modifies();
            let lateness = replays.then(Distributed::default);
            governor.starts = noted.then(|| Box::new(StartedRequests { lateness, recording: None }));
            governor.ends = EndOfWaits { spins: replays, polls: replays, late_ns: SPIN_NS, spun_ns: 0 };
            governor.drains_after_reads = workload.backlog.is_some() && workload.writes_again();
            let reads_back = workload.backlog.is_some();
            governor.starts_freely = !reads_back && governor.holds_nothing_back();
            governor.only_records = governor.starts_freely && governor.checks_nothing();
            governor.watch_minimum_rates(now_ns);
            governor
        })
    }

    /// Whether a request starts without other checks than that of its intended start.
    fn holds_nothing_back(&self) -> bool {
        let orders =
            self.drains_before_trims || self.drains_after_reads || self.serializes || self.conditions.is_some();
        self.pacing.think_ns == 0 && !orders && self.starts.is_none()
    }

    /// Whether nothing is done with a completed request but to record it.
    fn checks_nothing(&self) -> bool {
        let Pacing { rate_min, rate_iops_min, max_latency_ns, .. } = &self.pacing;
        let free = |d: Direction| rate_min[d].is_none() && rate_iops_min[d].is_none() && max_latency_ns[d] == 0;
        Direction::ALL.into_iter().all(free) && self.verification.is_none()
    }

    /// A governor without pacing, for the phase that reads back and verifies.
    pub fn of_verification(
        verification: Option<Verification>,
        conditions: Option<Box<IssueConditions>>,
        now_ns: u64,
    ) -> Governor {
        Governor {
            pacing: Pacing::default(),
            starts_freely: false,
            only_records: false,
            origin_ns: now_ns,
            blocks_since_think: 0,
            conditions,
            drains_before_trims: false,
            drains_after_reads: false,
            reads_back: false,
            serializes: false,
            overlaps: None,
            zone_bytes: 0,
            limits_zones: false,
            shares_zones: false,
            minimum_due_ns: PerDirection::all(u64::MAX),
            windows: PerDirection::default(),
            verification,
            starts: None,
            ends: EndOfWaits::default(),
        }
    }

    /// Begins to know the ranges of the requests in flight, if requests wait for those that they overlap.
    pub(super) fn know_overlaps(&mut self, depth: usize) {
        self.overlaps = self.serializes.then(|| Box::new(Overlaps::new(depth)));
    }

    /// The request is about to be queued.
    #[inline]
    pub(super) fn begins(&mut self, slot: usize, op: &Op) {
        let range = self.waited_for(op);
        if let Some(overlaps) = &mut self.overlaps {
            overlaps.begin(slot, &range);
        }
    }

    /// The request as others wait for it. Writes of a zone arrive in their order, and nothing of a zone is in flight when
    /// it is reset: on zoned devices its range has whole zones.
    fn waited_for(&self, op: &Op) -> Op {
        match self.zone_bytes {
            0 => *op,
            bytes => {
                let offset = op.offset / bytes * bytes;
                Op { offset, length: (op.offset + op.length - offset).next_multiple_of(bytes), ..*op }
            }
        }
    }

    /// The slot's request is complete, or was never queued.
    #[inline]
    pub(super) fn ends(&mut self, slot: usize) {
        if let Some(overlaps) = &mut self.overlaps {
            overlaps.end(slot);
        }
    }

    /// The delays of requests after their recorded times; `None`: no request had a recorded time.
    pub fn lateness(&self) -> Option<Latency> {
        let lateness = self.starts.as_ref()?.lateness.as_ref()?.latency();
        (lateness.moments.count > 0).then_some(lateness)
    }

    /// Whether the worker may spin at the end of its waits. Where other workers want the same processor, spinning would
    /// delay them.
    pub fn spin(&mut self, may_spin: bool) {
        self.ends.spins |= may_spin;
    }

    /// CPU time that was spun at the ends of waits, ns; `None`: the worker never spins.
    pub fn spun_ns(&self) -> Option<u64> {
        self.ends.spins.then_some(self.ends.spun_ns)
    }

    /// Begins to record the requests that are issued.
    pub fn record(&mut self, recording: Option<Recording>) {
        if recording.is_some() {
            self.starts.get_or_insert_default().recording = recording;
        }
    }

    /// The recording.
    pub(super) fn recording(&mut self) -> Option<&mut Recording> {
        self.starts.as_mut()?.recording.as_mut()
    }

    /// Takes the recording.
    pub fn take_recording(&mut self) -> Option<Recording> {
        self.starts.as_mut()?.recording.take()
    }

    /// Takes the search for a depth, with its result.
    pub fn take_search(&mut self) -> Option<DepthSearch> {
        self.conditions.as_mut()?.search.take()
    }

    /// Takes the verification, with its results.
    pub fn take_verification(&mut self) -> Option<Verification> {
        self.verification.take()
    }

    /// Whether a depth is searched for. A search begins with one request in flight.
    pub(super) fn searches(&self) -> bool {
        self.conditions.as_ref().is_some_and(|conditions| conditions.search.is_some())
    }

    /// Begins the measured part: windows begin, because the counters are at 0.
    pub(super) fn begin_measuring(&mut self, now_ns: u64) {
        match self.starts.as_mut().and_then(|starts| starts.lateness.as_mut()) {
            // The end of the ramp does not shift recorded times.
            Some(lateness) => lateness.clear(),
            None => self.origin_ns = now_ns,
        }
        self.watch_minimum_rates(now_ns);
        if let Some(search) = self.conditions.as_mut().and_then(|conditions| conditions.search.as_mut()) {
            search.begin_window(now_ns);
        }
    }

    /// Begins the windows of minimum rates, after a time to settle.
    fn watch_minimum_rates(&mut self, now_ns: u64) {
        self.windows = PerDirection::default();
        for direction in Direction::ALL {
            let watched = self.pacing.rate_min[direction].is_some() || self.pacing.rate_iops_min[direction].is_some();
            self.minimum_due_ns[direction] = if watched { now_ns.saturating_add(SETTLING_NS) } else { u64::MAX };
        }
    }

    /// Fails the job if its rate was below a minimum during a window of `rate_cycle`. A window ends with a transfer,
    /// as in fio: if requests are farther apart than a window, the rate is taken over the time between them.
    #[cold]
    fn check_minimum_rate(&mut self, direction: Direction, now_ns: u64, recorder: &Recorder) -> Step {
        let cycle_ns = u64::from(self.pacing.rate_cycle_ms) * 1_000_000;
        let (bytes, ios) = (recorder.bytes(direction), recorder.completed(direction));
        let window = self.windows[direction].replace(MinimumRateWindow { since_ns: now_ns, bytes, ios });
        self.minimum_due_ns[direction] = now_ns.saturating_add(cycle_ns);
        let Some(window) = window else { return Ok(()) };
        let spent_ns = u128::from(now_ns.saturating_sub(window.since_ns).max(1));
        let per_second = |now: u64, then: u64| (u128::from(now - then) * 1_000_000_000 / spent_ns) as u64;
        let (rate, iops) = (per_second(bytes, window.bytes), per_second(ios, window.ios));
        let missed = match (self.pacing.rate_min[direction], self.pacing.rate_iops_min[direction]) {
            (Some(min), _) if rate < min => Some(format!("rate_min={min}B/s not met, got {rate}B/s")),
            (None, Some(min)) if iops < u64::from(min) => Some(format!("rate_iops_min={min} not met, got {iops} IOPS")),
            _ => None,
        };
        if missed.is_none() {
            return Ok(());
        }
        Err(Box::new(Ended::Failed(Failure { code: EIO, function: "check_min_rate", op: None, detail: missed })))
    }
}

impl LoopParts<'_> {
    #[inline]
    fn intended_start_ns(&self, block: &Block, index: usize) -> u64 {
        let origin_ns = self.governor.as_ref().map_or(0, |governor| governor.origin_ns);
        let intended_ns = block.intended_ns.as_ref().map_or(0, |starts| starts[index]);
        origin_ns.saturating_add(intended_ns)
    }

    /// Whether nothing but its intended start can hold a request back.
    #[inline(always)]
    pub(super) fn starts_freely(&self) -> bool {
        self.governor.as_ref().is_some_and(|governor| governor.starts_freely)
    }

    /// The intended start of the next request of a job whose requests start freely, if it may start now. Then no clock
    /// reading is needed. [`UNTIMED`]: the job has no intended starts.
    #[inline(always)]
    pub(super) fn late_start_ns(&self, block: &Block, next: usize, reaped_ns: u64) -> Option<u64> {
        if block.intended_ns.is_none() {
            return Some(UNTIMED);
        }
        let intended_ns = self.intended_start_ns(block, next);
        (intended_ns <= reaped_ns && reaped_ns < self.phase.next_ns).then_some(intended_ns)
    }

    /// Logs a transfer and counts its response time, which is all in most jobs. Returns false if the job has other
    /// features, too.
    #[inline(always)]
    pub(super) fn only_records(&mut self, flight: &Flight, lane: usize, end_ns: u64) -> bool {
        if !self.governor.as_ref().is_some_and(|governor| governor.only_records) {
            return false;
        }
        if flight.intended_ns != UNTIMED {
            let response_ns = end_ns.saturating_sub(flight.intended_ns);
            self.recorder.responded(lane, response_ns);
        }
        if self.log.is_some() {
            self.log_flight(flight, end_ns);
        }
        true
    }

    /// Logs a completed transfer of a queueing engine.
    pub(super) fn log_flight(&mut self, flight: &Flight, end_ns: u64) {
        let slat_ns = flight.issue_ns.saturating_sub(flight.start_ns);
        let clat_ns = end_ns.saturating_sub(flight.issue_ns);
        if let Some(log) = &mut self.log {
            log.note(&flight.op, (slat_ns, clat_ns), end_ns);
        }
    }
}

impl<E: Engine> Drive<'_, E> {
    #[inline]
    pub(super) fn governor(&mut self) -> &mut Governor {
        self.parts.governor.as_mut().expect("the governed loop has a governor")
    }

    /// Waits until the request may start; returns its intended start ([`UNTIMED`] when it has none).
    #[inline]
    pub(super) fn await_turn<const TIMED: bool>(&mut self, index: usize) -> Step<u64> {
        let intended_ns = self.await_start::<TIMED>(index)?;
        if self.governor().shares_zones {
            self.take_zone::<TIMED>(index)?;
        }
        if self.governor().starts.is_some() {
            self.note_start(index, intended_ns);
        }
        Ok(intended_ns)
    }

    #[inline(never)]
    fn note_start(&mut self, index: usize, intended_ns: u64) {
        let now_ns = self.now_ns();
        let op = self.block.ops[index];
        let Some(starts) = &mut self.governor().starts else { return };
        if let Some(lateness) = starts.lateness.as_mut().filter(|_| intended_ns != UNTIMED) {
            lateness.add(now_ns.saturating_sub(intended_ns));
        }
        if let Some(recording) = &mut starts.recording {
            recording.note(&op, now_ns);
        }
    }

    #[inline]
    fn await_start<const TIMED: bool>(&mut self, index: usize) -> Step<u64> {
        let (think_ns, think_blocks) = (self.governor().pacing.think_ns, self.governor().pacing.think_blocks);
        if think_ns > 0 && self.governor().blocks_since_think >= think_blocks {
            self.governor().blocks_since_think = 0;
            self.think::<TIMED>(think_ns, index)?;
        }
        if self.governor().conditions.is_some() {
            self.wait_for_issue_conditions::<TIMED>(index)?;
        }
        if !E::SYNCHRONOUS && (self.governor().drains_before_trims || self.block.numbers.is_some()) {
            self.drain_where_order_counts::<TIMED>(index)?;
        }
        if !E::SYNCHRONOUS && self.governor().overlaps.is_some() {
            self.await_overlapping::<TIMED>(index)?;
        }
        if self.governor().pacing.think_on_issue && self.block.ops[index].kind.direction().is_some() {
            self.governor().blocks_since_think += 1;
        }
        if self.block.intended_ns.is_none() {
            return Ok(UNTIMED);
        }
        let intended_ns = self.intended_start_ns(index);
        if intended_ns == UNTIMED {
            return Ok(UNTIMED);
        }
        // For the condition see `late_start_ns`.
        if !E::SYNCHRONOUS && intended_ns <= self.reaped_ns && self.reaped_ns < self.parts.phase.next_ns {
            return Ok(intended_ns);
        }
        // The start is computed again during the wait, because the end of the ramp restarts the schedule.
        self.wait_until::<TIMED>(|drive| drive.intended_start_ns(index))
    }

    /// Drains where the order of requests matters: a written block must be complete before it is trimmed or read
    /// back, and a block that is read back must be complete before it is written again.
    fn drain_where_order_counts<const TIMED: bool>(&mut self, index: usize) -> Step {
        let kind = self.block.ops[index].kind;
        let number = self.block.numbers.as_ref().map_or(UNNUMBERED, |numbers| numbers[index]);
        let governor = self.governor();
        let reads_back = number != UNNUMBERED;
        let drains = match kind {
            OpKind::Trim => governor.drains_before_trims,
            OpKind::Write => governor.drains_after_reads && governor.reads_back,
            _ => reads_back && !governor.reads_back,
        };
        governor.reads_back = reads_back;
        if drains { self.drain::<TIMED, true>() } else { Ok(()) }
    }

    /// Waits for the requests in flight that overlap the block's request, unless all of them are reads.
    #[cold]
    fn await_overlapping<const TIMED: bool>(&mut self, index: usize) -> Step {
        let op = self.block.ops[index];
        let governor = self.governor();
        if governor.limits_zones && op.kind == OpKind::Write && op.offset.is_multiple_of(governor.zone_bytes) {
            self.drain::<TIMED, true>()?;
        }
        let op = self.governor().waited_for(&op);
        while self.governor().overlaps.as_ref().is_some_and(|overlaps| overlaps.overlaps(&op)) {
            self.submit::<TIMED, true>()?;
            self.reap::<TIMED, true>(1, PATIENCE)?;
        }
        Ok(())
    }

    #[inline]
    fn intended_start_ns(&self, index: usize) -> u64 {
        self.parts.intended_start_ns(&self.block, index)
    }

    /// Waits until the time that `due` returns. Meanwhile it reaps completions and runs the tick.
    pub(super) fn wait_until<const TIMED: bool>(&mut self, due: impl Fn(&Self) -> u64) -> Step<u64> {
        loop {
            let now_ns = self.now_ns();
            if now_ns >= self.parts.phase.next_ns {
                self.poll_events(now_ns)?;
            }
            let due_ns = due(self);
            if now_ns >= due_ns {
                return Ok(due_ns);
            }
            let ends = self.governor().ends;
            let waits_for_completions = !E::SYNCHRONOUS && self.slots.in_flight() > 0;
            let spin_ns = if waits_for_completions && !ends.polls { 0 } else { ends.spin_ns() };
            let wake_ns = due_ns.saturating_sub(spin_ns).min(self.parts.phase.next_ns);
            let spins = now_ns >= wake_ns;
            let to_ns = due_ns.min(self.parts.phase.next_ns);
            if spins {
                self.governor().ends.spun_ns += to_ns - now_ns;
            }
            if waits_for_completions {
                self.submit::<TIMED, true>()?;
                let patience = std::time::Duration::from_nanos(wake_ns.saturating_sub(now_ns));
                self.reap::<TIMED, true>(usize::from(!spins), patience)?;
                if spins {
                    // Completions are reaped between the parts of the wait.
                    self.engine.clock().spin_until_ns(to_ns.min(now_ns + POLL_NS));
                }
            } else if spins {
                self.engine.clock().spin_until_ns(to_ns);
            } else {
                self.engine.clock().sleep_until_ns(wake_ns);
                let late_ns = self.now_ns().saturating_sub(wake_ns);
                self.governor().ends.learn(late_ns);
            }
        }
    }

    /// Does a think time: drains, spins, then sleeps. `index`: the request after the pause.
    fn think<const TIMED: bool>(&mut self, think_ns: u64, index: usize) -> Step {
        if !E::SYNCHRONOUS {
            self.drain::<TIMED, true>()?;
        }
        let begin_ns = self.now_ns();
        let spin_ns = self.governor().pacing.think_spin_ns.min(think_ns);
        self.engine.clock().spin_until_ns(begin_ns + spin_ns);
        self.wait_until::<TIMED>(|_| begin_ns + think_ns)?;
        let end_ns = self.now_ns();
        if let Some(conditions) = &mut self.governor().conditions {
            conditions.await_think_time(end_ns);
        }
        if self.governor().pacing.ignore_think_time && self.block.intended_ns.is_some() {
            // The schedule continues after the pause: requests that were to start during the pause are not caught up.
            let waited_ns = self.intended_start_ns(index).saturating_sub(begin_ns);
            let shift_ns = end_ns.saturating_sub(begin_ns).saturating_sub(waited_ns);
            self.governor().origin_ns = self.governor().origin_ns.saturating_add(shift_ns);
        }
        Ok(())
    }

    /// Logs a completed transfer.
    #[inline]
    pub(super) fn log(&mut self, op: &Op, (slat_ns, clat_ns): (u64, u64), end_ns: u64) {
        if let Some(log) = &mut self.parts.log {
            log.note(op, (slat_ns, clat_ns), end_ns);
        }
    }

    /// Handles a completed transfer: verification, response time, count for think time, latency limit.
    #[inline]
    pub(super) fn governed(&mut self, slot: &Slot<E>, op: &Op, direction: Direction, stamps: Governed) -> Step {
        let Governed { lat_ns, intended_ns, end_ns, number } = stamps;
        if direction == Direction::Read && self.governor().verification.is_some() {
            self.verify(slot, op, number)?;
        }
        if intended_ns != UNTIMED && number == UNNUMBERED {
            self.parts.recorder.responded(direction as usize, end_ns.saturating_sub(intended_ns));
        }
        let LoopParts { governor, recorder, phase, .. } = &mut self.parts;
        let governor = governor.as_mut().expect("the governed loop has a governor");
        if end_ns >= governor.minimum_due_ns[direction] && !phase.in_ramp() {
            governor.check_minimum_rate(direction, end_ns, recorder)?;
        }
        if !governor.pacing.think_on_issue {
            governor.blocks_since_think += 1;
        }
        let limit_ns = governor.pacing.max_latency_ns[direction];
        if limit_ns > 0 && lat_ns > limit_ns {
            let detail = format!("latency of {lat_ns} nsec exceeds specified max ({limit_ns} nsec)");
            return Err(Box::new(Ended::Failed(Failure {
                code: ETIMEDOUT,
                function: "max latency exceeded",
                op: Some(*op),
                detail: Some(detail),
            })));
        }
        if governor.shares_zones {
            self.parts.generator.leave_turn(Some(op), true);
        }
        if self.governor().conditions.is_some() { self.conditions_after_completion(op, lat_ns, end_ns) } else { Ok(()) }
    }
}
