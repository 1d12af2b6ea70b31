//! A loop as its worker sees it, of whichever engine: before, between and after its phases.

use fsdyno_engine::{Engine, EngineSetup, EngineSetupError, EngineVisitor, Slots, with_engine};
use fsdyno_os::clock::Clock;
use fsdyno_workload::Content;

use super::{Drive, Ended, Lost, Parts};

/// The engine of a worker before its first request, of whichever type.
pub trait Equipment {
    /// Its calls wait for their requests.
    fn is_synchronous(&self) -> bool;
    /// Now, on the worker's clock.
    fn now_ns(&self) -> u64;
    /// Waits on the worker's clock; wakes early when signalled.
    fn sleep_until_ns(&self, deadline_ns: u64);
    /// Fills the buffers, in the order in which they are taken.
    fn fill_buffers(&mut self, content: &mut Content);
}

/// One worker's loop, whatever its engine: for what comes before, between and after its phases.
pub trait Loop<'run> {
    /// The calls of its engine wait for their requests.
    fn is_synchronous(&self) -> bool;
    /// Runs the I/O phase to its end and drains it.
    fn run(&mut self) -> Ended;
    /// Begins anew with what was changed in the parts; nothing is in flight.
    fn next_phase(&mut self);
    /// What it works with.
    fn parts(&mut self) -> &mut Parts<'run>;
    /// Now, on the worker's clock.
    fn now_ns(&self) -> u64;
    /// Requests that never completed.
    fn lost(&self) -> Option<&Lost>;
    /// How the engine and the loop depart from the plain use of system calls, for the record.
    fn ways(&self) -> Vec<&'static str>;
}

/// A worker around its loop.
pub trait Worker<'run> {
    /// The engine is ready: waits for the start, and says what the loop works with. `None`: the worker does not begin.
    fn begin(&mut self, engine: &mut dyn Equipment) -> Option<Box<Parts<'run>>>;
    /// Runs the loop, and takes from it what is to be recorded.
    fn work(&mut self, work: &mut dyn Loop<'run>);
}

/// Makes the engine on the calling thread, and has the worker work with it.
pub fn drive<'run>(setup: &EngineSetup<'_>, worker: &mut dyn Worker<'run>) -> Result<(), EngineSetupError> {
    with_engine(setup, Start(worker))
}

struct Start<'worker, 'run>(&'worker mut dyn Worker<'run>);

impl EngineVisitor for Start<'_, '_> {
    type Output = ();

    // Inlined, all engines would share one frame, and every worker's stack would hold room for the loop of each.
    #[inline(never)]
    fn visit<E: Engine>(self, engine: E, slots: Slots<E>) {
        let mut equipped = Equipped { engine, slots };
        let Some(parts) = self.0.begin(&mut equipped) else { return };
        let mut drive = boxed(equipped, parts);
        self.0.work(&mut *drive);
        let Drive { engine, lost, .. } = *drive;
        if lost.is_some() {
            // Its end would wait for them once more; what it holds is the kernel's until the process ends.
            std::mem::forget(engine);
        }
    }
}

/// Its own frame: what is moved to the heap is on no stack while the worker works.
#[inline(never)]
fn boxed<'run, E: Engine>(equipped: Equipped<E>, parts: Box<Parts<'run>>) -> Box<Drive<'run, E>> {
    Box::new(Drive::new(equipped, *parts))
}

/// An engine and all of its slots.
pub(super) struct Equipped<E> {
    pub(super) engine: E,
    pub(super) slots: Slots<E>,
}

impl<E: Engine> Equipment for Equipped<E> {
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
