//! `verify_async`: threads that check blocks while the worker continues to read.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use fsdyno_workload::{Expected, Mismatch, Op, Seal};

/// Stack of a checking thread, bytes; it only checks.
const STACK_BYTES: usize = 128 * 1024;

/// Largest number of waiting blocks per thread; a worker that is further ahead waits.
const BLOCKS_MAX: usize = 4;

/// A mismatch with its block.
#[derive(Debug)]
pub(crate) struct MismatchedBlock {
    pub(crate) mismatch: Mismatch,
    /// The block as the check left it.
    pub(crate) buffer: Vec<u8>,
    pub(crate) op: Op,
}

/// The checking threads of one worker.
#[derive(Debug)]
pub(super) struct Checkers {
    desk: Arc<SharedLists>,
    threads: Vec<JoinHandle<()>>,
}

/// The lists that the worker and the threads share.
#[derive(Debug, Default)]
struct SharedLists {
    lists: Mutex<Lists>,
    /// Signals that there is a block, or the end.
    asked: Condvar,
    /// Signals that a block has been checked.
    answered: Condvar,
}

#[derive(Debug, Default)]
struct Lists {
    blocks: VecDeque<(Vec<u8>, Op, Expected)>,
    /// Number of blocks that threads are checking.
    at_work: usize,
    found: Vec<MismatchedBlock>,
    /// Empty buffers for reuse.
    spare: Vec<Vec<u8>>,
    ended: bool,
}

impl SharedLists {
    fn lists(&self) -> MutexGuard<'_, Lists> {
        // A thread that panicked has reported it already; the lists are consistent between any two statements.
        self.lists.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_while(&self, condition: impl Fn(&Lists) -> bool) -> MutexGuard<'_, Lists> {
        let waited = self.answered.wait_while(self.lists(), |lists| condition(lists));
        waited.unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks block after block until the end.
    fn check(&self, seal: &mut Seal) {
        let mut lists = self.lists();
        loop {
            let Some((mut buffer, op, expected)) = lists.blocks.pop_front() else {
                if lists.ended {
                    return;
                }
                lists = self.asked.wait(lists).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            lists.at_work += 1;
            drop(lists);
            let checked = seal.check(&mut buffer, op.offset, expected);
            lists = self.lists();
            lists.at_work -= 1;
            match checked {
                Ok(()) => lists.spare.push(buffer),
                Err(mismatch) => lists.found.push(MismatchedBlock { mismatch, buffer, op }),
            }
            self.answered.notify_one();
        }
    }
}

impl Checkers {
    /// Starts as many of the threads as the system allows. `None`: no thread could start, so the worker checks.
    pub(super) fn start(seal: &Seal, count: u32, processors: &[u32]) -> Option<Checkers> {
        let mut checkers = Checkers { desk: Arc::default(), threads: Vec::new() };
        for _ in 0..count {
            let (desk, mut seal, processors) = (Arc::clone(&checkers.desk), seal.clone(), processors.to_vec());
            let started = fsdyno_os::thread::begin("verify", STACK_BYTES, move || {
                if !processors.is_empty() {
                    // Processors that do not exist were refused before; where binding is forbidden, the thread runs
                    // on any.
                    let _ = fsdyno_os::thread::set_affinity(&processors);
                }
                desk.check(&mut seal);
            });
            match started {
                Ok(thread) => checkers.threads.push(thread),
                Err(_) => break,
            }
        }
        Some(checkers).filter(|checkers| !checkers.threads.is_empty())
    }

    /// Queues a copy of the block; returns the mismatches found so far.
    pub(super) fn hand_over(&self, block: &[u8], op: &Op, expected: Expected) -> Vec<MismatchedBlock> {
        let waiting_max = self.threads.len() * BLOCKS_MAX;
        let mut buffer =
            self.desk.wait_while(|lists| lists.blocks.len() >= waiting_max).spare.pop().unwrap_or_default();
        buffer.clear();
        buffer.extend_from_slice(block);
        let mut lists = self.desk.lists();
        lists.blocks.push_back((buffer, *op, expected));
        let found = std::mem::take(&mut lists.found);
        drop(lists);
        self.desk.asked.notify_one();
        found
    }

    /// Waits until all blocks are checked; returns the mismatches.
    pub(super) fn await_all(&self) -> Vec<MismatchedBlock> {
        let mut lists = self.desk.wait_while(|lists| lists.at_work > 0 || !lists.blocks.is_empty());
        std::mem::take(&mut lists.found)
    }
}

impl Drop for Checkers {
    fn drop(&mut self) {
        let mut lists = self.desk.lists();
        lists.ended = true;
        // Nobody needs the remaining blocks.
        lists.blocks.clear();
        drop(lists);
        self.desk.asked.notify_all();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsdyno_workload::OpKind;

    const BLOCK: usize = 512;

    fn seal() -> Seal {
        let verify = fsdyno_job::Verify { kind: fsdyno_job::VerifyKind::Crc32c, ..fsdyno_job::Verify::default() };
        Seal::new(&verify, &fsdyno_job::Job::default().content, None, 1, 7)
    }

    fn op(number: u64) -> Op {
        Op { offset: number * BLOCK as u64, length: BLOCK as u64, file: 0, kind: OpKind::Read, priority: 0 }
    }

    #[test]
    fn each_damaged_block_is_found_and_no_other() {
        let checkers = Checkers::start(&seal(), 3, &[]).unwrap();
        let mut found = Vec::new();
        for number in 0..100 {
            let mut block = [number as u8; BLOCK];
            seal().seal(&mut block, op(number).offset, number);
            block[BLOCK - 1] ^= u8::from(number % 10 == 3);
            found.extend(checkers.hand_over(&block, &op(number), Expected::WriteOfThisRun(number)));
        }
        found.extend(checkers.await_all());
        let mut damaged: Vec<u64> = found.iter().map(|found| found.op.offset / BLOCK as u64).collect();
        damaged.sort_unstable();
        assert_eq!(damaged, (0..100).filter(|number| number % 10 == 3).collect::<Vec<_>>());
        assert!(found.iter().all(|found| found.buffer.len() == BLOCK && found.mismatch.offset == found.op.offset));
        assert!(checkers.await_all().is_empty(), "each mismatch is reported once");
    }
}
