//! `io_submit_mode=offload`: the calls of a synchronous engine on threads of their own, one for each slot, so that as many
//! are under way as the depth allows.

use std::collections::VecDeque;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use workload::{Op, OpKind};

use super::control::Target;
use super::positioned::Caller;
use crate::buffers::{Arena, ArenaError};
use crate::clock::{Clock, RealClock};
use crate::completions::{append, spare_capacity};
use crate::contract::{Completion, Engine, EngineError, Queued};
use crate::files::OpenFile;
use crate::setup::EngineSetup;
use crate::slot::Slot;

/// A thread makes calls and nothing else.
const STACK_BYTES: usize = 64 * 1024;

/// A synchronous engine whose calls others make.
pub(crate) struct Offload<'a> {
    setup: EngineSetup<'a>,
    files: &'a [OpenFile],
    arena: Arena,
    clock: RealClock,
    /// Makes the calls that are not handed on.
    own: Caller<'a>,
    /// By slot; started when the slot is first used.
    threads: Vec<Option<Helper>>,
    staged: VecDeque<Order>,
    results: Receiver<(u32, i64)>,
    results_to: Sender<(u32, i64)>,
    in_flight: usize,
}

/// A thread, which ends when nobody can send it orders any more.
struct Helper {
    orders: Sender<Order>,
    thread: JoinHandle<()>,
}

/// A transfer for a thread.
struct Order {
    slot: u32,
    op: Op,
    done: u32,
    place: *mut u8,
    bytes: usize,
}

// SAFETY: the place belongs to the request while it is in flight, and to nobody else.
unsafe impl Send for Order {}

impl<'a> Offload<'a> {
    pub(crate) fn new(setup: &EngineSetup<'a>) -> Result<Offload<'a>, ArenaError> {
        let (results_to, results) = channel();
        let depth = setup.depth as usize;
        Ok(Offload {
            setup: setup.clone(),
            files: setup.files,
            arena: setup.arena()?,
            clock: setup.clock,
            own: Caller::beside_others(setup, Target::all(setup.files)),
            threads: (0..depth).map(|_| None).collect(),
            staged: VecDeque::with_capacity(depth),
            results,
            results_to,
            in_flight: 0,
        })
    }

    fn start(&self) -> std::io::Result<Helper> {
        let target = |file: &OpenFile| {
            // SAFETY: the files outlive the threads, which `drop` waits for; whoever forgets an engine because requests
            // are lost leaves its files open too.
            let fd = unsafe { BorrowedFd::borrow_raw(file.as_fd().as_raw_fd()) };
            Target { fd, kind: file.kind() }
        };
        let caller = Caller::beside_others(&self.setup, self.files.iter().map(target).collect());
        let (orders, received) = channel();
        let results = self.results_to.clone();
        let builder = std::thread::Builder::new().name("offload".to_owned()).stack_size(STACK_BYTES);
        let thread = builder.spawn(move || serve(caller, &received, &results))?;
        Ok(Helper { orders, thread })
    }

    fn hand_over(&mut self, order: Order) -> Result<(), EngineError> {
        let index = order.slot as usize;
        if self.threads[index].is_none() {
            let helper = self.start().map_err(|error| EngineError {
                call: "clone",
                code: error.raw_os_error().unwrap_or(crate::errno::EAGAIN),
            })?;
            self.threads[index] = Some(helper);
        }
        let taken = self.threads[index].as_ref().is_some_and(|helper| helper.orders.send(order).is_ok());
        assert!(taken, "a thread of an engine ends with it");
        self.in_flight += 1;
        Ok(())
    }
}

fn serve(mut caller: Caller<'static>, orders: &Receiver<Order>, results: &Sender<(u32, i64)>) {
    for Order { slot, op, done, place, bytes } in orders {
        // SAFETY: the place is that of a slot in flight, which nobody else touches until its result is sent; the arena
        // outlives the thread.
        let buffer = unsafe { std::slice::from_raw_parts_mut(place, bytes) };
        let result = caller.perform(buffer, &op, done);
        if results.send((slot, result)).is_err() {
            return;
        }
    }
}

impl Engine for Offload<'_> {
    const SYNCHRONOUS: bool = false;

    crate::contract::belongings!(RealClock);

    /// Syncs and discards are done at once: what follows them must find them done.
    fn queue(&mut self, slot: Slot<Self>, op: &Op, done: u32) -> Queued<Self> {
        if !matches!(op.kind, OpKind::Read | OpKind::Write) {
            let result = self.own.perform(self.arena.buffer(&slot), op, done);
            return Queued::Done(Completion { slot, result });
        }
        let place = self.arena.address(slot.index());
        let bytes = self.arena.stride();
        self.staged.push_back(Order { slot: slot.into_number(), op: *op, done, place, bytes });
        Queued::Staged
    }

    fn submit(&mut self) -> Result<usize, EngineError> {
        let mut count = 0;
        while let Some(order) = self.staged.pop_front() {
            self.hand_over(order)?;
            count += 1;
        }
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
        let min = min.min(max).min(self.in_flight);
        let patience_ns = timeout.map_or(u64::MAX, |timeout| u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX));
        let deadline_ns = self.clock.now_ns().saturating_add(patience_ns);
        let mut count = 0;
        while count < max {
            let result = match self.results.try_recv() {
                Ok(result) => result,
                Err(_) if count >= min => break,
                Err(_) => {
                    let left_ns = deadline_ns.saturating_sub(self.clock.now_ns());
                    match self.results.recv_timeout(Duration::from_nanos(left_ns)) {
                        Ok(result) => result,
                        Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
                    }
                }
            };
            self.in_flight -= 1;
            append(completions, 1, || Completion { slot: Slot::returned(result.0), result: result.1 });
            count += 1;
        }
        Ok(count)
    }

    fn ways(&self) -> Vec<&'static str> {
        vec!["offload-threads"]
    }

    /// A call that has begun runs to its end.
    fn cancel(&mut self) -> Result<(), EngineError> {
        Ok(())
    }
}

impl Drop for Offload<'_> {
    fn drop(&mut self) {
        for Helper { orders, thread } in self.threads.drain(..).flatten() {
            drop(orders);
            // One that panicked has said so already.
            let _ = thread.join();
        }
    }
}
