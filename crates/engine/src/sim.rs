//! The `sim` engine: a virtual device on a virtual clock, with which reports are tested against hand arithmetic.
//!
//! The device has C channels and takes S ns per request. A request that is submitted at time t goes to the channel
//! that is free first and begins at max(t, free), so that it ends at max(t, free) + S. Time does not pass while
//! requests are queued and submitted; waiting in `reap` advances it to the end of the request that is waited for.
//! Hence, with depth D, each completion replaced at once and nothing else that takes time:
//!
//! - D ≤ C: every latency is S, and N requests take ⌈N / D⌉ · S;
//! - D > C, D a multiple of C: the first D requests have latencies of S, 2S, … (C of each), all later ones D / C · S,
//!   and N requests (a multiple of C) take N / C · S.
//!
//! Requests are numbered from 1 in the order of submission; syncs and the rests of short transfers count. No data is
//! stored: reads leave the buffer unchanged, and only the script can make an end of file.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use fsdyno_job::{SimDevice, SimFault, SimFaultKind};
use fsdyno_workload::Op;

use crate::buffers::{Arena, ArenaError};
use crate::completions::{append, spare_capacity};
use crate::contract::{Completion, Engine, EngineError, Queued};
use crate::null::full_result;
use crate::setup::EngineSetup;
use crate::slot::Slot;
use fsdyno_os::clock::{Clock, VirtualClock};
use fsdyno_os::errno;
use fsdyno_os::files::OpenFile;

/// For a worker that polls without waiting, time would never advance. After this number of polls without a completion
/// at one time, time advances to the next completion.
const FRUITLESS_POLLS_MAX: u32 = 1000;

/// The virtual device.
#[derive(Debug)]
pub(crate) struct Sim<'a> {
    files: &'a [OpenFile],
    arena: Arena,
    clock: VirtualClock,
    service_ns: u64,
    /// Largest number of requests that are staged and in service.
    spare_capacity: usize,
    /// When each channel becomes free, earliest first.
    channels: BinaryHeap<Reverse<u64>>,
    staged: Vec<Staged>,
    in_service: BinaryHeap<Reverse<Service>>,
    submitted: u64,
    /// The script, in order; `faults_met` of its faults have happened.
    faults: Box<[SimFault]>,
    faults_met: usize,
    fruitless_polls: u32,
}

#[derive(Debug)]
struct Staged {
    slot: u32,
    result: i64,
}

/// A request in service, ordered by its end, then by its submission.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Service {
    end_ns: u64,
    number: u64,
    begin_ns: u64,
    slot: u32,
    result: i64,
}

impl<'a> Sim<'a> {
    pub(crate) fn new(setup: &EngineSetup<'a>) -> Result<Sim<'a>, ArenaError> {
        let SimDevice { service_ns, channels, queue, faults } = setup.options.sim.clone();
        let depth = setup.depth as usize;
        let mut in_order: Vec<SimFault> = Vec::with_capacity(faults.len());
        for fault in faults {
            in_order.insert(in_order.partition_point(|before| before.number <= fault.number), fault);
        }
        // More channels than the depth are never used.
        let channels = (channels.max(1) as usize).min(depth);
        Ok(Sim {
            files: setup.files,
            arena: setup.arena()?,
            clock: VirtualClock::new(),
            service_ns,
            spare_capacity: if queue == 0 { depth } else { queue as usize },
            channels: (0..channels).map(|_| Reverse(0)).collect(),
            staged: Vec::with_capacity(depth),
            in_service: BinaryHeap::with_capacity(depth),
            submitted: 0,
            faults: in_order.into_boxed_slice(),
            faults_met: 0,
            fruitless_polls: 0,
        })
    }

    /// Gives a request to the channel that is free first.
    fn serve(&mut self, staged: Staged) {
        self.submitted += 1;
        let Staged { slot, mut result } = staged;
        let mut service_ns = self.service_ns;
        while let Some(fault) = self.faults.get(self.faults_met).filter(|fault| fault.number <= self.submitted) {
            if fault.number == self.submitted {
                match fault.kind {
                    SimFaultKind::Error(code) => result = -i64::from(code),
                    SimFaultKind::Short(bytes) => result = result.min(i64::from(bytes)),
                    SimFaultKind::Stall(stall_ns) => service_ns = service_ns.saturating_add(stall_ns),
                    SimFaultKind::EndOfFile => result = 0,
                }
            }
            self.faults_met += 1;
        }
        let mut free = self.channels.peek_mut().expect("a device has at least one channel");
        let begin_ns = free.0.max(self.clock.now_ns());
        let end_ns = begin_ns.saturating_add(service_ns);
        *free = Reverse(end_ns);
        drop(free);
        self.in_service.push(Reverse(Service { end_ns, number: self.submitted, begin_ns, slot, result }));
    }

    fn finished_by(&self, time_ns: u64) -> bool {
        self.in_service.peek().is_some_and(|Reverse(next)| next.end_ns <= time_ns)
    }

    fn pop(&mut self) -> Completion<Self> {
        let Reverse(Service { slot, result, .. }) =
            self.in_service.pop().expect("the caller checked that one is in service");
        Completion { slot: Slot::returned(slot), result }
    }

    /// Advances the time to the next end of a request, but not beyond `deadline_ns`.
    fn advance(&mut self, deadline_ns: u64) {
        if let Some(Reverse(next)) = self.in_service.peek() {
            self.clock.advance_to_ns(next.end_ns.min(deadline_ns));
        }
    }
}

impl Engine for Sim<'_> {
    const SYNCHRONOUS: bool = false;

    crate::contract::belongings!(VirtualClock);

    fn queue(&mut self, slot: Slot<Self>, op: &Op, done: u64) -> Queued<Self> {
        if self.staged.len() + self.in_service.len() >= self.spare_capacity {
            return Queued::Full(slot);
        }
        self.staged.push(Staged { slot: slot.into_number(), result: full_result(op, done) });
        Queued::Staged
    }

    fn submit(&mut self) -> Result<usize, EngineError> {
        let mut staged = std::mem::take(&mut self.staged);
        let count = staged.len();
        for request in staged.drain(..) {
            self.serve(request);
        }
        self.staged = staged;
        Ok(count)
    }

    fn reap(
        &mut self,
        min: usize,
        max: usize,
        timeout: Option<Duration>,
        completions: &mut Vec<Completion<Self>>,
    ) -> Result<usize, EngineError> {
        let max = max.min(spare_capacity(completions));
        let min = min.min(max).min(self.in_service.len());
        let deadline_ns = timeout.map_or(u64::MAX, |timeout| {
            self.clock.now_ns().saturating_add(u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX))
        });
        let mut count = 0;
        while count < max {
            if self.finished_by(self.clock.now_ns()) {
                append(completions, 1, || self.pop());
                count += 1;
            } else if count < min && self.clock.now_ns() < deadline_ns {
                self.advance(deadline_ns);
            } else {
                break;
            }
        }
        self.fruitless_polls = if count == 0 && min == 0 { self.fruitless_polls + 1 } else { 0 };
        if self.fruitless_polls == FRUITLESS_POLLS_MAX {
            self.fruitless_polls = 0;
            self.advance(u64::MAX);
        }
        Ok(count)
    }

    /// Cancels requests that wait for a channel: they complete at once with ECANCELED. Requests in service complete
    /// as usual.
    fn cancel(&mut self) -> Result<(), EngineError> {
        let now_ns = self.clock.now_ns();
        let services = std::mem::take(&mut self.in_service);
        self.in_service = services
            .into_iter()
            .map(|Reverse(service)| match service.begin_ns > now_ns {
                true => Reverse(Service { end_ns: now_ns, result: -i64::from(errno::ECANCELED), ..service }),
                false => Reverse(service),
            })
            .collect();
        Ok(())
    }
}
