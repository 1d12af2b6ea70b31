//! A device in place of the kernel's queue: it gets the requests as commands.

use std::time::Duration;

use fsdyno_job::EngineName;

use super::abi::{COMMAND_READ, COMMAND_TRIM, COMMAND_WRITE, Event, Iocb};
use crate::buffers::Arena;
use crate::linux::commands::{Done, Request, What};
use crate::linux::nvme::Nvme;
use crate::linux::scsi::Scsi;
use crate::setup::{EngineSetup, EngineSetupError};

/// Devices of one kind.
#[derive(Debug)]
pub(super) enum Device {
    Scsi(Scsi),
    Nvme(Box<Nvme>),
}

impl Device {
    pub(super) fn new(setup: &EngineSetup<'_>, arena: &Arena) -> Result<Device, EngineSetupError> {
        Ok(match setup.name {
            EngineName::Sg => Device::Scsi(Scsi::new(setup)?),
            _ => Device::Nvme(Box::new(Nvme::new(setup, arena)?)),
        })
    }

    /// As [`super::Context::submit`].
    ///
    /// # Safety
    /// As there.
    pub(super) unsafe fn submit(&mut self, requests: &[*const Iocb]) -> Result<usize, i32> {
        // SAFETY: the caller's promise.
        let requests = requests.iter().map(|request| request_of(unsafe { &**request }));
        match self {
            Device::Scsi(scsi) => scsi.submit(requests),
            Device::Nvme(nvme) => nvme.submit(requests),
        }
    }

    /// As [`super::Context::wait`]. `requests`: one for each slot.
    pub(super) fn wait(
        &mut self,
        min: usize,
        events: &mut [Event],
        timeout: Option<Duration>,
        requests: &[Iocb],
    ) -> Result<usize, i32> {
        let (mut count, range) = (0, (min, events.len()));
        let asked = |slot: usize| request_of(&requests[slot]);
        let take = |done: Done| {
            events[count] = Event::of(&requests[done.slot], done.result);
            count += 1;
        };
        match self {
            Device::Scsi(scsi) => scsi.wait(range, timeout, asked, take),
            Device::Nvme(nvme) => nvme.wait(range, timeout, asked, take),
        }?;
        Ok(count)
    }

    pub(super) fn abandon(&mut self) {
        match self {
            Device::Scsi(scsi) => scsi.abandon(),
            Device::Nvme(nvme) => nvme.abandon(),
        }
    }

    pub(super) fn said(&self) -> Option<String> {
        match self {
            Device::Scsi(scsi) => scsi.said(),
            Device::Nvme(nvme) => nvme.said(),
        }
    }
}

fn request_of(request: &Iocb) -> Request {
    Request {
        slot: request.data as usize,
        fd: request.fd.cast_signed(),
        what: match request.command {
            COMMAND_READ => What::Read,
            COMMAND_WRITE => What::Write,
            COMMAND_TRIM => What::Trim,
            _ => What::Sync,
        },
        address: std::ptr::with_exposed_provenance_mut(request.buffer as usize),
        offset: request.offset.cast_unsigned(),
        bytes: request.bytes,
    }
}
