//! The engines of Linux. Another system has a folder with the same names.

pub(crate) mod aio;
mod bus;
mod commands;
pub(crate) mod control;
mod exchanged;
pub(crate) mod mmap;
mod network;
mod nvme;
#[cfg(feature = "object")]
pub(crate) mod objects;
mod operations;
mod page_faults;
pub(crate) mod positioned;
mod scsi;
mod space;
mod spliced;
pub(crate) mod uring;
mod vsock;
mod work;

use fsdyno_job::EngineName;

use crate::choice::{EngineVisitor, equip};
use crate::setup::{EngineSetup, EngineSetupError};

/// Makes an engine of this system and calls `visitor` with it.
pub(crate) fn with_engine<V: EngineVisitor>(
    setup: &EngineSetup<'_>,
    visitor: V,
) -> Result<V::Output, EngineSetupError> {
    if setup.offload {
        // Offloaded requests use the loop of `libaio`; a loop of their own would be the same amount of code again.
        return Ok(equip(setup, visitor, aio::Aio::new(setup)?));
    }
    match setup.name {
        EngineName::Mmap => Ok(equip(setup, visitor, mmap::Mmap::new(setup)?)),
        EngineName::Libaio => Ok(equip(setup, visitor, aio::Aio::new(setup)?)),
        EngineName::IoUring => Ok(equip(setup, visitor, uring::Uring::new(setup)?)),
        EngineName::Posixaio => match uring::Uring::new(setup) {
            Ok(engine) => Ok(equip(setup, visitor, engine)),
            Err(_) => Ok(equip(setup, visitor, aio::Aio::new(setup)?)),
        },
        EngineName::IoUringCmd => Ok(equip(setup, visitor, aio::Aio::new(setup)?)),
        EngineName::Sg if setup.depth > 1 => Ok(equip(setup, visitor, aio::Aio::new(setup)?)),
        EngineName::Null | EngineName::Sim => unreachable!("every system has these"),
        EngineName::Windowsaio => unreachable!("it is refused when the job is read"),
        _ => Ok(equip(setup, visitor, positioned::Positioned::new(setup)?)),
    }
}

/// Whether this engine can be used here and now.
pub(crate) fn availability(name: EngineName) -> Result<(), EngineSetupError> {
    match name {
        EngineName::Libaio => aio::availability(),
        EngineName::IoUring | EngineName::IoUringCmd => uring::features().map(|_| ()),
        EngineName::Posixaio => uring::features().map(|_| ()).or_else(|_| aio::availability()),
        _ => Ok(()),
    }
}

/// The features of io_uring that this kernel has and this engine uses, by the kernel's names.
pub(crate) fn io_uring_features() -> Result<Vec<&'static str>, EngineSetupError> {
    uring::features()
}
