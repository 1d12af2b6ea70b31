//! What holds requests back besides rates and think time: empty cycles, the other jobs of a flow, the search for a depth.

use engine::Engine;

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
    pub(crate) cycles: u32,
    pub(crate) flow: Option<FlowShare>,
    /// Sleep so long when the flow holds it back, ns; 0: look again soon.
    pub(crate) flow_sleep_ns: u64,
    /// The depth that keeps a latency is being searched for.
    pub(crate) search: Option<DepthSearch>,
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

    /// Requests in flight at most, as far as a search has come.
    #[inline]
    pub(super) fn depth_limit(&self) -> usize {
        let depth = self.parts.queueing.depth;
        let search = self.parts.governor.as_ref().and_then(|governor| governor.holds.as_ref()?.search.as_ref());
        search.map_or(depth, |search| depth.min(search.depth() as usize))
    }

    /// The search goes on at another depth, or measures at the one that it has found: nothing may be in flight.
    #[cold]
    fn change_depth<const TIMED: bool>(&mut self) -> Result<(), Ended> {
        if !E::SYNCHRONOUS {
            self.drain::<TIMED, true>()?;
        }
        let now_ns = self.now_ns();
        let Some(search) = self.search() else { return Ok(()) };
        if search.measures() {
            let published = self.totals();
            self.parts.phase.begin_anew(now_ns, &mut self.parts.recorder);
            self.begin_measuring(now_ns, published);
        } else {
            search.begin_window(now_ns);
        }
        Ok(())
    }
}
