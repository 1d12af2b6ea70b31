//! The one place where an engine is chosen.

use fsdyno_job::EngineName;

use crate::contract::Engine;
use crate::null::{NullQueued, NullSync};
use crate::setup::{EngineSetup, EngineSetupError};
use crate::sim::Sim;
use crate::slot::Slots;
use crate::system;

/// Code that works with an engine of any type: the drive loop, compiled once per engine.
pub trait EngineVisitor {
    /// The result of [`EngineVisitor::visit`].
    type Output;

    /// Called once with the engine that was asked for and all of its slots.
    fn visit<E: Engine>(self, engine: E, slots: Slots<E>) -> Self::Output;
}

/// Makes the engine on the calling thread (a ring belongs to its thread) and calls `visitor` with it.
pub fn with_engine<V: EngineVisitor>(setup: &EngineSetup<'_>, visitor: V) -> Result<V::Output, EngineSetupError> {
    assert!(setup.depth > 0, "a worker has at least one slot");
    match setup.name {
        EngineName::Null if setup.name.is_synchronous_at(setup.depth) => {
            Ok(equip(setup, visitor, NullSync::new(setup)?))
        }
        EngineName::Null => Ok(equip(setup, visitor, NullQueued::new(setup)?)),
        EngineName::Sim => Ok(equip(setup, visitor, Sim::new(setup)?)),
        _ => system::with_engine(setup, visitor),
    }
}

/// Calls the visitor with the engine and all of its slots. No other slots are ever made for it.
#[inline(always)]
pub(crate) fn equip<E: Engine, V: EngineVisitor>(setup: &EngineSetup<'_>, visitor: V, engine: E) -> V::Output {
    visitor.visit(engine, Slots::new(setup.depth))
}

/// Whether the engine can be used here and now; the error says why not and what to do.
pub fn availability(name: EngineName) -> Result<(), EngineSetupError> {
    if name.is_diskless() { Ok(()) } else { system::availability(name) }
}

/// The features of io_uring that this kernel has and this engine uses, by the kernel's names.
pub fn io_uring_features() -> Result<Vec<&'static str>, EngineSetupError> {
    system::io_uring_features()
}
