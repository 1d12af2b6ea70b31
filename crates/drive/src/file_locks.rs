//! `lockfile`: jobs of one run take turns on the files that they share. A lock belongs to a file's path and is held
//! from the start of a request to its end.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use fsdyno_job::LockFile;
use fsdyno_workload::Op;

/// The number of requests that read the file, or [`CHANGES`] while one request changes it.
type State = AtomicI32;

const CHANGES: i32 = -1;

/// The locks of a run, one share for each worker, made from the kind of lock and the paths of the worker's files;
/// `None` for a worker without `lockfile`.
pub fn file_locks<'a, P>(workers: impl Iterator<Item = (Option<LockFile>, P)>) -> Vec<Option<LockedFiles>>
where
    P: Iterator<Item = &'a Path>,
{
    let mut all: HashMap<&Path, Arc<State>> = HashMap::new();
    let share = |(kind, paths): (Option<LockFile>, P)| {
        let exclusive = kind? == LockFile::Exclusive;
        let locks = paths.map(|path| (Arc::clone(all.entry(path).or_default()), 0)).collect();
        Some(LockedFiles { exclusive, locks })
    };
    workers.map(share).collect()
}

/// A worker's share of the locks.
#[derive(Debug)]
pub struct LockedFiles {
    exclusive: bool,
    /// By file number: the lock, and how many times this worker holds it.
    locks: Box<[(Arc<State>, u32)]>,
}

impl LockedFiles {
    fn is_shared(&self, op: &Op) -> bool {
        !self.exclusive && op.kind == fsdyno_workload::OpKind::Read
    }

    /// Whether requests of this worker that are in flight prevent it from taking the lock for `op`.
    pub(crate) fn holds_against(&self, op: &Op) -> bool {
        let (lock, held) = &self.locks[op.file as usize];
        *held > 0 && !(self.is_shared(op) && lock.load(Ordering::Relaxed) > 0)
    }

    /// Takes the lock for `op`; returns false if another worker holds it.
    pub(crate) fn take(&mut self, op: &Op) -> bool {
        let shared = self.is_shared(op);
        let (lock, held) = &mut self.locks[op.file as usize];
        let next = |state: i32| match state {
            0 if !shared => Some(CHANGES),
            readers if shared && readers >= 0 => Some(readers + 1),
            _ => None,
        };
        let taken = lock.fetch_update(Ordering::Acquire, Ordering::Relaxed, next).is_ok();
        *held += u32::from(taken);
        taken
    }

    /// Releases the lock of a request that is done.
    pub(crate) fn give_back(&mut self, op: &Op) {
        let (lock, held) = &mut self.locks[op.file as usize];
        if *held > 0 {
            *held -= 1;
            give_back(lock);
        }
    }
}

fn give_back(lock: &State) {
    let next = |state: i32| Some(if state == CHANGES { 0 } else { state - 1 });
    // The closure always gives a new state, so that the update cannot fail.
    let _ = lock.fetch_update(Ordering::Release, Ordering::Relaxed, next);
}

impl Drop for LockedFiles {
    /// Releases the locks of requests that never completed, so that no other worker waits for them.
    fn drop(&mut self) {
        for (lock, held) in &mut self.locks {
            (0..std::mem::take(held)).for_each(|_| give_back(lock));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsdyno_workload::OpKind;

    fn locks(exclusive: bool) -> [LockedFiles; 2] {
        let lock = Arc::new(State::default());
        [(); 2].map(|()| LockedFiles { exclusive, locks: Box::new([(Arc::clone(&lock), 0)]) })
    }

    fn op(kind: OpKind) -> Op {
        Op { kind, offset: 0, length: 4096, file: 0, priority: 0 }
    }

    #[test]
    fn an_exclusive_lock_has_one_holder() {
        let [mut one, mut other] = locks(true);
        let read = op(OpKind::Read);
        assert!(one.take(&read) && !other.take(&read));
        assert!(one.holds_against(&read) && !other.holds_against(&read));
        one.give_back(&read);
        assert!(other.take(&read) && !one.take(&read));
        drop(other);
        assert!(one.take(&read), "a worker that ends releases its locks");
    }

    #[test]
    fn readers_share_and_a_writer_is_alone() {
        let [mut one, mut other] = locks(false);
        let (read, write) = (op(OpKind::Read), op(OpKind::Write));
        assert!(one.take(&read) && other.take(&read) && one.take(&read));
        assert!(!one.holds_against(&read) && one.holds_against(&write));
        assert!(!one.take(&write));
        one.give_back(&read);
        one.give_back(&read);
        assert!(!one.take(&write), "another worker still reads the file");
        other.give_back(&read);
        assert!(one.take(&write) && !other.take(&read) && !other.take(&write));
        one.give_back(&write);
        one.give_back(&write);
        assert!(other.take(&write), "a released lock is not released again");
    }
}
