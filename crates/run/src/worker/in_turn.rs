//! `openfiles`: opens the files of a worker in turn.

use fsdyno_drive::{Failure, OpenFiles, Opener};
use fsdyno_os::files::OpenFile;

use super::{Refused, open};
use crate::conduct::Shared;
use crate::plan::WorkerPlan;

/// The files of a worker, of which `places` are open.
#[inline(never)]
pub(super) fn open_files<'run>(
    plan: &'run WorkerPlan,
    shared: &'run Shared,
    places: &'run [OpenFile],
) -> OpenFiles<'run> {
    if take_turns(plan, places) {
        OpenFiles::in_turn(places, plan.files.len(), Box::new(InTurn { plan, shared }))
    } else {
        OpenFiles::all(places)
    }
}

/// Whether there are more files than open ones. Engines without file descriptors have none open.
pub(super) fn take_turns(plan: &WorkerPlan, places: &[OpenFile]) -> bool {
    !places.is_empty() && places.len() < plan.files.len()
}

struct InTurn<'run> {
    plan: &'run WorkerPlan,
    shared: &'run Shared,
}

impl Opener for InTurn<'_> {
    fn open(&self, file: usize) -> Result<OpenFile, Failure> {
        open(self.plan, &self.plan.files[file], self.shared).map_err(|refused| {
            let Refused { code, function, message } = refused;
            Failure { code, function, op: None, detail: Some(message) }
        })
    }

    fn leave(&self, open: &OpenFile) -> Result<(), Failure> {
        if !self.plan.job.pattern.access.modifies() {
            return Ok(());
        }
        if self.plan.job.durability.fsync_on_close {
            open.sync().map_err(|error| Failure::of_file("fsync", &error))?;
        }
        open.try_close().map_err(|error| Failure::of_file("close", &error))
    }
}
