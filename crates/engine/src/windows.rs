//! The engines of Windows, with the same names as `linux`.

pub(crate) mod control;
mod mmap;
mod positioned;
mod windowsaio;

use fsdyno_job::EngineName;

use crate::choice::{EngineVisitor, equip};
use crate::setup::{EngineSetup, EngineSetupError};

/// Makes an engine of this system and calls `visitor` with it.
pub(crate) fn with_engine<V: EngineVisitor>(
    setup: &EngineSetup<'_>,
    visitor: V,
) -> Result<V::Output, EngineSetupError> {
    match setup.name {
        EngineName::Sync | EngineName::Psync => Ok(equip(setup, visitor, positioned::Positioned::new(setup)?)),
        EngineName::Mmap => Ok(equip(setup, visitor, mmap::Mmap::new(setup)?)),
        EngineName::Windowsaio => Ok(equip(setup, visitor, windowsaio::Windowsaio::new(setup)?)),
        name => Err(of_another_system(name)),
    }
}

/// Whether this engine can be used here and now.
pub(crate) fn availability(name: EngineName) -> Result<(), EngineSetupError> {
    if name.is_of_this_system() { Ok(()) } else { Err(of_another_system(name)) }
}

/// Windows has no io_uring.
pub(crate) fn io_uring_features() -> Result<Vec<&'static str>, EngineSetupError> {
    Err(of_another_system(EngineName::IoUring))
}

fn of_another_system(engine: EngineName) -> EngineSetupError {
    let advice = "use ioengine=windowsaio, or psync".to_owned();
    EngineSetupError::Refused { engine, call: "Windows", code: fsdyno_os::errno::ENOSYS, advice }
}
