//! The traits between a worker and its loop, whatever the engine, and the function that makes the engine and the
//! loop.

use fsdyno_engine::{Engine, EngineSetup, EngineSetupError, EngineVisitor, ObjectTally, Slots, with_engine};
use fsdyno_os::clock::Clock;
use fsdyno_workload::Content;

use super::{AbandonedRequests, Drive, Ended, LoopParts};

/// An engine before its first request, whatever its type.
pub trait Equipment {
    /// Whether its calls wait for their requests.
    fn is_synchronous(&self) -> bool;
    /// The current time on the worker's clock.
    fn now_ns(&self) -> u64;
    /// Waits until the time on the worker's clock; a signal ends the wait early.
    fn sleep_until_ns(&self, deadline_ns: u64);
    /// Fills the buffers, in the order in which the loop takes them.
    fn fill_buffers(&mut self, content: &mut Content);
}

/// One worker's loop, whatever its engine.
pub trait Loop<'run> {
    /// Whether the calls of its engine wait for their requests.
    fn is_synchronous(&self) -> bool;
    /// Runs the I/O phase to its end and drains it.
    fn run(&mut self) -> Ended;
    /// Prepares the next phase, after the caller has changed the parts; nothing is in flight.
    fn next_phase(&mut self);
    /// Lets the same phase go on, after its end, by this number of requests.
    fn go_on(&mut self, requests: u64);
    /// The parts that the loop works with.
    fn parts(&mut self) -> &mut LoopParts<'run>;
    /// The current time on the worker's clock.
    fn now_ns(&self) -> u64;
    /// Requests that never completed.
    fn lost(&self) -> Option<&AbandonedRequests>;
    /// Words for the record about how the engine and the loop differ from the plain use of system calls.
    fn ways(&self) -> Vec<&'static str>;
    /// What the device said about the latest request that failed; `None`: it said nothing.
    fn said(&self) -> Option<String>;
    /// The counts and times of the answers of an object server; `None` if the engine asks no such server.
    fn objects(&mut self) -> Option<&ObjectTally>;
}

/// The code of a worker around its loop.
pub trait Worker<'run> {
    /// Called when the engine is ready: waits for the start and returns the parts of the loop. `None`: the worker
    /// does not begin.
    fn begin(&mut self, engine: &mut dyn Equipment) -> Option<Box<LoopParts<'run>>>;
    /// Runs the loop and takes the results from it.
    fn work(&mut self, work: &mut dyn Loop<'run>);
}

/// Makes the engine on the calling thread and runs the worker with it.
pub fn drive<'run>(setup: &EngineSetup<'_>, worker: &mut dyn Worker<'run>) -> Result<(), EngineSetupError> {
    with_engine(setup, Start(worker))
}

struct Start<'worker, 'run>(&'worker mut dyn Worker<'run>);

impl EngineVisitor for Start<'_, '_> {
    type Output = ();

    // Must not be inlined: all engines would share one frame, and every worker's stack would hold the loops of all of
    // them.
    #[inline(never)]
    fn visit<E: Engine>(self, engine: E, slots: Slots<E>) {
        let mut equipped = EngineWithSlots { engine, slots };
        let Some(parts) = self.0.begin(&mut equipped) else { return };
        let mut drive = boxed(equipped, parts);
        self.0.work(&mut *drive);
        let Drive { engine, lost, .. } = *drive;
        if lost.is_some() {
            // Dropping the engine would wait for the lost requests again; the kernel keeps its resources until the
            // process ends.
            std::mem::forget(engine);
        }
    }
}

/// Has a frame of its own, so that what is moved to the heap does not stay on the stack while the worker runs.
#[inline(never)]
fn boxed<'run, E: Engine>(equipped: EngineWithSlots<E>, parts: Box<LoopParts<'run>>) -> Box<Drive<'run, E>> {
    Box::new(Drive::new(equipped, *parts))
}

/// An engine and all of its slots.
pub(super) struct EngineWithSlots<E> {
    pub(super) engine: E,
    pub(super) slots: Slots<E>,
}

impl<E: Engine> Equipment for EngineWithSlots<E> {
    fn is_synchronous(&self) -> bool {
        E::SYNCHRONOUS
    }

    fn now_ns(&self) -> u64 {
        self.engine.clock().now_ns()
    }

    fn sleep_until_ns(&self, deadline_ns: u64) {
        self.engine.clock().sleep_until_ns(deadline_ns);
    }

    fn fill_buffers(&mut self, content: &mut Content) {
        for slot in self.slots.free().iter().rev() {
            content.fill(self.engine.buffer(slot));
        }
    }
}
