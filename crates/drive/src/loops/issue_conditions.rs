//! Other reasons to hold a request back, besides rates and think time: empty cycles, the other jobs of a flow, the
//! search for a depth, a file that is closed or locked.

use fsdyno_engine::Engine;
use fsdyno_job::Pacing;
use fsdyno_workload::{Op, ZoneTurn};

use super::{DepthSearch, Drive, Ended, Failure, LoopParts, PATIENCE, Step};
use crate::file_locks::LockedFiles;
use crate::flow::FlowShare;

/// Number of looks at a flow without a pause between them, before the worker sleeps between looks.
const EAGER_LOOKS: u32 = 200;

/// Time of this sleep, ns.
const SLEEP_NS: u64 = 20_000;

/// The reasons to hold a worker's requests back.
#[derive(Debug)]
pub struct IssueConditions {
    /// Turns of an empty loop before each request.
    cycles: u32,
    flow: Option<FlowShare>,
    /// `openfiles`: a request may have to open its file first.
    opens: bool,
    /// `lockfile`: a request takes the lock of its file first.
    pub(super) locks: Option<LockedFiles>,
    /// `flow_sleep`: time to sleep while the other jobs of the flow are behind, ns; 0: look again soon.
    flow_sleep_ns: u64,
    /// The search for the depth that keeps a latency.
    pub(super) search: Option<DepthSearch>,
    /// Time between two pauses, ns (`thinktime_iotime`); 0: blocks alone decide.
    think_interval_ns: u64,
    think_due_ns: u64,
}

impl IssueConditions {
    /// `None`: the job has none of these.
    pub fn for_job(
        pacing: &Pacing,
        flow: Option<FlowShare>,
        locks: Option<LockedFiles>,
        search: Option<DepthSearch>,
        opens: bool,
        now_ns: u64,
    ) -> Option<Box<IssueConditions>> {
        let think_interval_ns = if pacing.think_ns > 0 { pacing.think_interval_ns } else { 0 };
        let any = flow.is_some() || locks.is_some() || search.is_some() || opens;
        let any = any || pacing.think_cycles > 0 || think_interval_ns > 0;
        any.then(|| {
            let flow_sleep_ns = pacing.flow.map_or(0, |flow| flow.sleep_ns);
            let cycles = pacing.think_cycles;
            let think_due_ns = u64::MAX;
            let mut conditions =
                IssueConditions { cycles, flow, opens, locks, flow_sleep_ns, search, think_interval_ns, think_due_ns };
            conditions.await_think_time(now_ns);
            Box::new(conditions)
        })
    }

    /// A pause is over: sets the next one after `thinktime_iotime`.
    pub(super) fn await_think_time(&mut self, now_ns: u64) {
        if self.think_interval_ns > 0 {
            self.think_due_ns = now_ns.saturating_add(self.think_interval_ns);
        }
    }
}

impl<E: Engine> Drive<'_, E> {
    /// Waits until nothing holds back the block's request of this index.
    #[inline(never)]
    pub(super) fn wait_for_issue_conditions<const TIMED: bool>(&mut self, index: usize) -> Step {
        if self.search().is_some_and(|search| search.changes()) {
            self.change_depth::<TIMED>()?;
        }
        let opens = self.governor().conditions.as_ref().is_some_and(|conditions| conditions.opens);
        if opens {
            self.see_to_file::<TIMED>(index)?;
        }
        if self.block.ops[index].kind.direction().is_none() {
            return Ok(());
        }
        self.wait_until_granted::<TIMED>(index, |conditions, _| conditions.flow.as_mut().is_none_or(FlowShare::take))?;
        if self.locks().is_some() {
            self.lock_file::<TIMED>(index)?;
        }
        let cycles = self.governor().conditions.as_ref().map_or(0, |conditions| conditions.cycles);
        (0..cycles).for_each(|turn| {
            std::hint::black_box(turn);
        });
        Ok(())
    }

    /// Opens the file of the block's request of this index, if it is closed.
    pub(super) fn see_to_file<const TIMED: bool>(&mut self, index: usize) -> Step {
        match self.parts.files.is_asked_for(self.block.ops[index].file) {
            true => Ok(()),
            false => self.open_file::<TIMED>(index),
        }
    }

    /// Opens the request's file in place of another file, when no request of that other file is in flight.
    #[cold]
    fn open_file<const TIMED: bool>(&mut self, index: usize) -> Step {
        let Drive { parts: LoopParts { files, generator, .. }, block, .. } = self;
        let (place, other) = files.one_to_close(&block.ops[index..block.len], generator);
        while !E::SYNCHRONOUS && other.is_some_and(|other| self.has_in_flight(other)) {
            self.submit::<TIMED, true>()?;
            self.reap::<TIMED, true>(1, PATIENCE)?;
        }
        let file = self.block.ops[index].file;
        self.parts.files.open(file, place).map_err(|failure| Box::new(Ended::Failed(failure)))?;
        self.engine.reassign(place, file).map_err(|error| Box::new(Failure::of_engine(&error)))
    }

    /// Whether a request of this file is in flight.
    fn has_in_flight(&mut self, file: u32) -> bool {
        // Flights of free slots are over: a file number that does not exist removes them from the search.
        self.slots.free().iter().for_each(|slot| self.flights[slot.index()].op.file = u32::MAX);
        self.flights.iter().any(|flight| flight.op.file == file)
    }

    fn locks(&mut self) -> Option<&mut LockedFiles> {
        self.governor().conditions.as_mut()?.locks.as_mut()
    }

    /// Waits for the lock of the request's file.
    #[cold]
    fn lock_file<const TIMED: bool>(&mut self, index: usize) -> Step {
        let op = self.block.ops[index];
        if !E::SYNCHRONOUS && self.locks().is_some_and(|locks| locks.holds_against(&op)) {
            self.drain::<TIMED, true>()?;
        }
        self.wait_until_granted::<TIMED>(index, |conditions, op| {
            conditions.locks.as_mut().is_none_or(|locks| locks.take(op))
        })
    }

    /// Waits until no other request works on the zone of the block's request.
    #[cold]
    pub(super) fn take_zone<const TIMED: bool>(&mut self, index: usize) -> Step {
        for looks in 1.. {
            match self.parts.generator.take_turn(&mut self.block, index) {
                ZoneTurn::Taken => break,
                ZoneTurn::Busy => self.let_others_go_first::<TIMED>(looks)?,
                ZoneTurn::Over => return Err(Box::new(Ended::Finished)),
            }
        }
        Ok(())
    }

    /// Lets other jobs run until `grants` allows the request.
    #[inline(never)]
    fn wait_until_granted<const TIMED: bool>(
        &mut self,
        index: usize,
        grants: fn(&mut IssueConditions, &Op) -> bool,
    ) -> Step {
        let op = self.block.ops[index];
        let mut looks = 0;
        while !self.governor().conditions.as_mut().is_none_or(|conditions| grants(conditions, &op)) {
            looks += 1;
            self.let_others_go_first::<TIMED>(looks)?;
        }
        Ok(())
    }

    /// Waits while others hold the request back. Requests in flight continue.
    fn let_others_go_first<const TIMED: bool>(&mut self, looks: u32) -> Step {
        let sleep_ns = self.governor().conditions.as_ref().map_or(0, |conditions| conditions.flow_sleep_ns);
        if sleep_ns > 0 && !E::SYNCHRONOUS {
            self.drain::<TIMED, true>()?;
        }
        let eager = looks <= EAGER_LOOKS && self.slots.in_flight() == 0;
        let pause_ns = match sleep_ns {
            0 if eager => 0,
            0 => SLEEP_NS,
            sleep_ns => sleep_ns,
        };
        let until_ns = self.now_ns().saturating_add(pause_ns);
        self.wait_until::<TIMED>(|_| until_ns).map(|_| ())
    }

    fn search(&mut self) -> Option<&mut DepthSearch> {
        self.governor().conditions.as_mut()?.search.as_mut()
    }

    /// After a transfer: checks whether a pause is due by the clock, and gives the latency to the search.
    #[inline(never)]
    pub(super) fn conditions_after_completion(&mut self, op: &Op, lat_ns: u64, end_ns: u64) -> Step {
        let in_ramp = self.parts.phase.in_ramp();
        let governor = self.governor();
        let Some(conditions) = &mut governor.conditions else { return Ok(()) };
        if let Some(locks) = &mut conditions.locks {
            locks.give_back(op);
        }
        if end_ns >= conditions.think_due_ns {
            governor.blocks_since_think = governor.pacing.think_blocks;
        }
        match &mut conditions.search {
            Some(search) if !in_ramp => {
                search.note(lat_ns, end_ns).map_err(|verdict| Box::new(verdict.ended(op, lat_ns)))
            }
            _ => Ok(()),
        }
    }

    /// Changes to the next depth of the search, or measures at the depth that was found. It drains first.
    #[cold]
    fn change_depth<const TIMED: bool>(&mut self) -> Step {
        if !E::SYNCHRONOUS {
            self.drain::<TIMED, true>()?;
        }
        let now_ns = self.now_ns();
        let Some(search) = self.search() else { return Ok(()) };
        let depth = search.depth() as usize;
        let measures = search.measures();
        if !measures {
            search.begin_window(now_ns);
        }
        self.depth = depth;
        if measures {
            let Drive { parts, block, cursor, .. } = self;
            let published = parts.totals();
            parts.close_windows(now_ns);
            parts.phase.begin_anew(now_ns, &mut parts.recorder);
            parts.begin_measuring(now_ns, published, block, *cursor);
        }
        Ok(())
    }
}
