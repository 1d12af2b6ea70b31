//! The one place where an engine is chosen.

use job::EngineName;

use crate::contract::Engine;
use crate::null::{NullQueued, NullSync};
use crate::setup::{EngineSetup, EngineSetupError};
use crate::sim::Sim;
use crate::slot::Slots;
use crate::system;

/// What is done with an engine of whichever type: the drive loop, compiled once per engine.
pub trait EngineVisitor {
    /// What it yields.
    type Output;

    /// Called once with the engine that was asked for and all of its slots.
    fn visit<E: Engine>(self, engine: E, slots: Slots<E>) -> Self::Output;
}

/// Makes the engine on the calling thread (a ring belongs to its thread) and hands it to `visitor`.
pub fn with_engine<V: EngineVisitor>(setup: &EngineSetup<'_>, visitor: V) -> Result<V::Output, EngineSetupError> {
    assert!(setup.depth > 0, "a worker has at least one slot");
    match setup.name {
        EngineName::Null if setup.name.is_synchronous_at(setup.depth) => {
            Ok(equip(setup, visitor, NullSync::new(setup)?))
        }
        EngineName::Null => Ok(equip(setup, visitor, NullQueued::new(setup)?)),
        EngineName::Sync | EngineName::Psync | EngineName::Pvsync | EngineName::Pvsync2 | EngineName::Vsync => {
            Ok(equip(setup, visitor, system::positioned::Positioned::new(setup)?))
        }
        EngineName::Mmap => Ok(equip(setup, visitor, system::mmap::Mmap::new(setup)?)),
        EngineName::Libaio => Ok(equip(setup, visitor, system::aio::Aio::new(setup)?)),
        EngineName::Sim => Ok(equip(setup, visitor, Sim::new(setup)?)),
        EngineName::IoUring => Ok(equip(setup, visitor, system::uring::Uring::new(setup)?)),
    }
}

/// Hands the engine over with its slots, the only ones that there will be.
#[inline(always)]
fn equip<E: Engine, V: EngineVisitor>(setup: &EngineSetup<'_>, visitor: V, engine: E) -> V::Output {
    visitor.visit(engine, Slots::new(setup.depth))
}

/// Whether an engine can be had here and now; the error says why not and what to do.
pub fn availability(name: EngineName) -> Result<(), EngineSetupError> {
    match name {
        EngineName::Libaio => system::aio::availability(),
        EngineName::IoUring => system::uring::features().map(|_| ()),
        _ => Ok(()),
    }
}

/// The features of io_uring that this kernel has and this engine uses, by the kernel's names.
pub fn io_uring_features() -> Result<Vec<&'static str>, EngineSetupError> {
    system::uring::features()
}
