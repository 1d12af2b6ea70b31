//! Verification in the loop: a block that was read is checked before its buffer is used again.

use engine::errno::EILSEQ;
use engine::files::FileError;
use engine::{Engine, Slot};
use job::Direction;
use workload::Op;

use super::{Account, Drive, Ended, Failure, Parts};
use crate::verification::Verification;

/// Failed writes whose places are remembered; more of them would be told as mismatches.
const FAILED_MAX: usize = 1 << 20;

impl<'run, E: Engine, A: Account> Drive<'run, E, A> {
    /// Checks a block that was read. `number`: of the write that it reads back.
    #[cold]
    pub(super) fn verify(&mut self, slot: &Slot<E>, op: &Op, number: u64) -> Result<(), Ended> {
        if self.failed_writes.contains(&(op.file, op.offset)) {
            return Ok(());
        }
        let Parts { engine, governor, survival, used, .. } = &mut self.parts;
        let Some(verification) = governor.as_mut().and_then(|governor| governor.verification.as_mut()) else {
            return Ok(());
        };
        let buffer = &mut engine.buffer(slot)[..op.length as usize];
        let Err(mismatch) = verification.check(buffer, op, number) else { return Ok(()) };
        verification.note(&mismatch, buffer, op, used);
        let listed = &survival.policy.ignored[2];
        let survived = survival.policy.on_verify && (listed.is_empty() || listed.contains(&EILSEQ));
        if survival.policy.on_verify {
            survival.count(EILSEQ);
        }
        match (survived, verification.fatal) {
            (true, false) => Ok(()),
            (true, true) => Err(Ended::Finished),
            (false, _) => {
                let function = if E::SYNCHRONOUS { "io_u_sync_complete" } else { "io_u_queued_complete" };
                Err(Ended::Failed(Failure { code: EILSEQ, function, op: None, detail: None }))
            }
        }
    }

    /// A write failed and the job goes on: what is at its place now is not known.
    pub(super) fn note_failed_write(&mut self, op: &Op) {
        if self.failed_writes.len() < FAILED_MAX {
            self.failed_writes.push((op.file, op.offset));
        }
    }

    /// File and offset of writes that failed.
    pub(crate) fn failed_writes(&self) -> Vec<(u32, u64)> {
        self.failed_writes.clone()
    }

    /// Writes that ended one way or the other, the ramp's included.
    pub(crate) fn writes_issued(&self) -> u64 {
        self.totals().ios.write + self.failed_writes.len() as u64
    }

    /// Transfers of the measured part.
    pub(crate) fn completed(&self, direction: Direction) -> u64 {
        self.parts.recorder.completed(direction)
    }

    /// What was checked, to be told.
    pub(crate) fn take_verification(&mut self) -> Option<Verification> {
        self.parts.governor.as_mut()?.verification.take()
    }

    /// Has the files stored and their cached pages dropped, so that reads find what the storage kept.
    pub(crate) fn sync_and_drop_caches(&self) -> Result<(), FileError> {
        for (file, used) in self.parts.files.iter().zip(self.parts.used) {
            file.sync()?;
            // Advice: a cache that cannot be dropped answers for the storage, as with fio.
            let _ = file.drop_cache(used.start, used.length);
        }
        Ok(())
    }

    /// The loop once more, with what `change` makes of the parts.
    pub(crate) fn next_phase(self, change: impl FnOnce(&mut Parts<'run, E, A>)) -> Self {
        let before_measuring = self.before_measuring;
        let mut parts = self.into_parts();
        if E::SYNCHRONOUS {
            // Its only one went with the request that ended the phase.
            parts.slots.reclaim();
        }
        change(&mut parts);
        Drive { before_measuring, ..Drive::new(parts) }
    }
}
