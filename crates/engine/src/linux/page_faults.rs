//! `page_fault`: copies from and to memory of the worker. The kernel gives each page when it is first touched.

use fsdyno_job::Memory;
use fsdyno_os::errno::EINVAL;
use fsdyno_workload::Op;

use crate::buffers::{Arena, ArenaError, ArenaShape};
use crate::slot::{Slot, Slots};

/// The memory, all of which is the place of one slot.
#[derive(Debug)]
pub(super) struct PageFaults {
    memory: Arena,
    whole: Slot<()>,
    bytes: u64,
}

impl PageFaults {
    /// Maps the memory; no page of it is touched.
    pub(super) fn new(bytes: u64) -> Result<PageFaults, ArenaError> {
        let shape = ArenaShape { depth: 1, block_bytes_max: bytes, align: 0, memory: Memory::Anonymous };
        let whole = Slots::new(1).take().expect("one slot");
        Ok(PageFaults { memory: Arena::new(&shape)?, whole, bytes })
    }

    /// Copies a part of the memory into `place`, or `place` into it. Returns bytes or the negated errno.
    pub(super) fn copy(&mut self, place: &mut [u8], op: &Op, done: u64, read: bool) -> i64 {
        let begin = op.offset + done;
        if begin + place.len() as u64 > self.bytes {
            return -i64::from(EINVAL);
        }
        let pages = &mut self.memory.buffer(&self.whole)[begin as usize..][..place.len()];
        if read {
            place.copy_from_slice(pages);
        } else {
            pages.copy_from_slice(place);
        }
        place.len() as i64
    }
}
