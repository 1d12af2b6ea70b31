//! Verification in the loop: a block that was read is checked before its buffer is used again.

use fsdyno_engine::{Engine, Slot};
use fsdyno_os::errno::EILSEQ;
use fsdyno_os::files::{FileKind, page_cache_of};
use fsdyno_workload::Op;

use super::{Drive, Ended, Failure, LoopParts, Step};
use crate::verification::{MismatchedBlock, Verification};

/// Largest number of failed writes that are remembered; further ones would be reported as mismatches.
const FAILED_MAX: usize = 1 << 20;

impl<E: Engine> Drive<'_, E> {
    /// Checks a block that was read. `number`: the write that it reads back.
    #[cold]
    pub(super) fn verify(&mut self, slot: &Slot<E>, op: &Op, number: u64) -> Step {
        if self.parts.progress.failed_writes.contains(&(op.file, op.offset)) {
            return Ok(());
        }
        let Drive { engine, parts: LoopParts { governor, .. }, .. } = self;
        let Some(verification) = governor.as_mut().and_then(|governor| governor.verification.as_mut()) else {
            return Ok(());
        };
        let found = verification.check(&mut engine.buffer(slot)[..op.length as usize], op, number);
        if found.is_empty() { Ok(()) } else { self.parts.mismatched(&found, E::SYNCHRONOUS) }
    }
}

impl LoopParts<'_> {
    /// Handles blocks with wrong content: `Ok` if the job continues.
    #[cold]
    fn mismatched(&mut self, found: &[MismatchedBlock], synchronous: bool) -> Step {
        let LoopParts { governor, survival, used, .. } = self;
        let Some(verification) = governor.as_mut().and_then(|governor| governor.verification.as_mut()) else {
            return Ok(());
        };
        for found in found {
            verification.note(found, used);
            let listed = &survival.policy.ignored[2];
            let survived = survival.policy.on_verify && (listed.is_empty() || listed.contains(&EILSEQ));
            if survival.policy.on_verify {
                survival.count(EILSEQ);
            }
            match (survived, verification.fatal) {
                (true, false) => {}
                (true, true) => return Err(Box::new(Ended::Finished)),
                (false, _) => {
                    let function = if synchronous { "io_u_sync_complete" } else { "io_u_queued_complete" };
                    return Err(Box::new(Ended::Failed(Failure { code: EILSEQ, function, op: None, detail: None })));
                }
            }
        }
        Ok(())
    }

    /// Waits until all blocks of the phase have been checked.
    pub(super) fn await_checks(&mut self, ended: Ended, synchronous: bool) -> Ended {
        let verification = self.governor.as_ref().and_then(|governor| governor.verification.as_ref());
        let found = verification.map(Verification::await_all).unwrap_or_default();
        match self.mismatched(&found, synchronous) {
            Err(failed) if !matches!(ended, Ended::Failed(_)) => *failed,
            _ => ended,
        }
    }

    /// Remembers a failed write that the job survives: the content of its block is not known.
    pub(super) fn note_failed_write(&mut self, op: &Op) {
        if self.progress.failed_writes.len() < FAILED_MAX {
            self.progress.failed_writes.push((op.file, op.offset));
        }
    }

    /// File and offset of writes that failed.
    pub fn failed_writes(&self) -> Vec<(u32, u64)> {
        self.progress.failed_writes.clone()
    }

    /// Number of writes that ended, with or without error, the ramp included.
    pub fn writes_issued(&self) -> u64 {
        self.totals().ios.write + self.progress.failed_writes.len() as u64
    }

    /// Bytes of the files that are only in memory; `None`: not visible.
    pub fn unstored_bytes(&self) -> Option<u64> {
        let mut sum = Some(0u64);
        let looked = self.files.each(&mut |_, file| {
            let pages = page_cache_of(file).ok();
            let dirty = pages.and_then(|pages| Some(pages.dirty_bytes?.saturating_add(pages.writeback_bytes?)));
            sum = sum.zip(dirty).map(|(sum, more)| sum.saturating_add(more));
            Ok(())
        });
        sum.filter(|_| looked.is_ok())
    }

    /// Syncs the files and drops their cached pages, so that reads come from the storage.
    pub fn sync_and_drop_caches(&self) -> Result<(), Failure> {
        self.files.each(&mut |number, file| {
            if file.kind() == FileKind::CharacterDevice {
                // Commands pass every cache of the kernel.
                return Ok(());
            }
            file.sync().map_err(|error| Failure::of_file("fsync", &error))?;
            if let Some(used) = self.used.get(number) {
                // Dropping is only advice: where it is not possible, the cache answers for the storage, as in fio.
                let _ = file.drop_cache(used.start, used.length);
            }
            Ok(())
        })
    }
}
