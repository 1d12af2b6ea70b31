//! What is particular to Windows, with the names of `linux`.

pub(crate) mod beneath;
pub(crate) mod caches;
pub(crate) mod clock;
pub(crate) mod control;
pub(crate) mod errno;
pub(crate) mod errors;
pub(crate) mod extents;
pub(crate) mod fd;
pub(crate) mod files;
pub(crate) mod held_signals;
pub mod machine;
pub(crate) mod mapper;
pub(crate) mod memory;
mod mmap;
pub(crate) mod names;
mod native;
pub(crate) mod pages;
mod positioned;
pub(crate) mod process;
pub(crate) mod process_tree;
pub(crate) mod signals;
mod spelling;
pub(crate) mod streams;
pub(crate) mod terminal;
pub(crate) mod thread;
mod windowsaio;

use job::EngineName;

use crate::choice::{EngineVisitor, equip};
use crate::setup::{EngineSetup, EngineSetupError};

/// Makes an engine of this system and hands it to `visitor`.
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

/// Whether one of them can be had here and now.
pub(crate) fn availability(name: EngineName) -> Result<(), EngineSetupError> {
    if name.is_of_this_system() { Ok(()) } else { Err(of_another_system(name)) }
}

/// Windows has no io_uring.
pub(crate) fn io_uring_features() -> Result<Vec<&'static str>, EngineSetupError> {
    Err(of_another_system(EngineName::IoUring))
}

fn of_another_system(engine: EngineName) -> EngineSetupError {
    let advice = "use ioengine=windowsaio, or psync".to_owned();
    EngineSetupError::Refused { engine, call: "Windows", code: errno::ENOSYS, advice }
}
