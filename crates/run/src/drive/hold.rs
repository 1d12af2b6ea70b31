//! What holds requests back besides rates and think time: empty cycles, the other jobs of a flow, the search for a depth.

use engine::Engine;
use job::Pacing;
use workload::Op;

use super::{Account, DepthSearch, Drive, Ended};
use crate::flow::FlowShare;

/// Looks at a flow that follow each other at once, before the worker sleeps between them.
const EAGER_LOOKS: u32 = 200;

/// How long it sleeps then, ns.
const SLEEP_NS: u64 = 20_000;

/// What holds a worker's requests back.
#[derive(Clone, Debug)]
pub(crate) struct Holds {
    /// Turns of an empty loop before each request.
    cycles: u32,
    flow: Option<FlowShare>,
    /// Sleep so long when the flow holds it back, ns; 0: look again soon.
    flow_sleep_ns: u64,
    /// The depth that keeps a latency is being searched for.
    pub(crate) search: Option<DepthSearch>,
    /// A pause so long after the one before, ns (`thinktime_iotime`); 0: blocks alone decide.
    think_interval_ns: u64,
    think_due_ns: u64,
}

impl Holds {
    /// `None`: nothing of it holds the job back.
    pub(crate) fn for_job(
        pacing: &Pacing,
        flow: Option<FlowShare>,
        search: Option<DepthSearch>,
        now_ns: u64,
    ) -> Option<Box<Holds>> {
        let think_interval_ns = if pacing.think_ns > 0 { pacing.think_interval_ns } else { 0 };
        let any = flow.is_some() || search.is_some() || pacing.think_cycles > 0 || think_interval_ns > 0;
        any.then(|| {
            let flow_sleep_ns = pacing.flow.map_or(0, |flow| flow.sleep_ns);
            let cycles = pacing.think_cycles;
            let mut holds = Holds { cycles, flow, flow_sleep_ns, search, think_interval_ns, think_due_ns: u64::MAX };
            holds.await_think_time(now_ns);
            Box::new(holds)
        })
    }

    /// A pause is over: the next one is due after `thinktime_iotime`.
    pub(super) fn await_think_time(&mut self, now_ns: u64) {
        if self.think_interval_ns > 0 {
            self.think_due_ns = now_ns.saturating_add(self.think_interval_ns);
        }
    }
}

impl<E: Engine, A: Account> Drive<'_, E, A> {
    /// Before the request of this number: what holds it back.
    #[inline(never)]
    pub(super) fn hold<const TIMED: bool>(&mut self, index: usize) -> Result<(), Ended> {
        if self.search().is_some_and(|search| search.changes()) {
            self.change_depth::<TIMED>()?;
        }
        if self.block.ops[index].kind.direction().is_none() {
            return Ok(());
        }
        let mut looks = 0;
        while !self.takes_turn() {
            looks += 1;
            self.let_others_go_first::<TIMED>(looks)?;
        }
        let cycles = self.governor().holds.as_ref().map_or(0, |holds| holds.cycles);
        (0..cycles).for_each(|turn| {
            std::hint::black_box(turn);
        });
        Ok(())
    }

    fn takes_turn(&mut self) -> bool {
        let flow = self.governor().holds.as_mut().and_then(|holds| holds.flow.as_mut());
        flow.is_none_or(FlowShare::take)
    }

    /// The flow holds the request back. What is in flight goes on meanwhile.
    fn let_others_go_first<const TIMED: bool>(&mut self, looks: u32) -> Result<(), Ended> {
        let sleep_ns = self.governor().holds.as_ref().map_or(0, |holds| holds.flow_sleep_ns);
        if sleep_ns > 0 && !E::SYNCHRONOUS {
            self.drain::<TIMED, true>()?;
        }
        let eager = looks <= EAGER_LOOKS && self.parts.slots.in_flight() == 0;
        let pause_ns = match sleep_ns {
            0 if eager => 0,
            0 => SLEEP_NS,
            sleep_ns => sleep_ns,
        };
        let until_ns = self.now_ns().saturating_add(pause_ns);
        self.wait_until::<TIMED>(|_| until_ns).map(|_| ())
    }

    fn search(&mut self) -> Option<&mut DepthSearch> {
        self.governor().holds.as_mut()?.search.as_mut()
    }

    /// After a transfer: a pause may be due by the clock, and a search has one latency more.
    #[inline(never)]
    pub(super) fn held_completes(&mut self, op: &Op, lat_ns: u64, end_ns: u64) -> Result<(), Ended> {
        let in_ramp = self.parts.phase.in_ramp();
        let governor = self.governor();
        let Some(holds) = &mut governor.holds else { return Ok(()) };
        if end_ns >= holds.think_due_ns {
            governor.blocks_since_thought = governor.pacing.think_blocks;
        }
        match &mut holds.search {
            Some(search) if !in_ramp => search.note(lat_ns, end_ns).map_err(|verdict| verdict.ended(op, lat_ns)),
            _ => Ok(()),
        }
    }

    /// The search goes on at another depth, or measures at the one that it has found: nothing may be in flight.
    #[cold]
    fn change_depth<const TIMED: bool>(&mut self) -> Result<(), Ended> {
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
            let published = self.totals();
            self.parts.phase.begin_anew(now_ns, &mut self.parts.recorder);
            self.begin_measuring(now_ns, published);
        }
        Ok(())
    }
}
