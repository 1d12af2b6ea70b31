//! The bench on which an engine is tested: files, a worker's slots, and the steps that all checks share.

use std::path::PathBuf;
use std::time::Duration;

use fsdyno_engine::{
    Completion, Engine, EngineSetup, EngineSetupError, EngineVisitor, Names, Queued, Slot, Slots, with_engine,
};
use fsdyno_job::{EngineName, EngineOptions, Memory};
use fsdyno_os::clock::RealClock;
use fsdyno_os::files::{Advice, FileAccess, OpenFile, OpenMode};
use fsdyno_workload::{Op, OpKind};

/// Bytes of a block.
pub(crate) const BLOCK: u64 = 8192;
/// Number of whole blocks of the file.
pub(crate) const BLOCKS: u64 = 64;
/// Bytes after the last whole block.
pub(crate) const TAIL: u64 = 100;

/// The engine under test and its mode.
#[derive(Clone, Debug)]
pub(crate) struct Spec {
    pub(crate) name: EngineName,
    pub(crate) options: EngineOptions,
    pub(crate) depth: u32,
    /// Whether files must be opened with direct=1 (polled completions).
    pub(crate) direct: bool,
    /// Whether threads make the calls.
    pub(crate) offload: bool,
    /// Whether to test the engine of any Unix instead of this system's.
    #[cfg(unix)]
    pub(crate) posix: bool,
}

impl Spec {
    pub(crate) fn new(name: EngineName, depth: u32) -> Spec {
        Spec {
            name,
            options: EngineOptions::default(),
            depth,
            direct: false,
            offload: false,
            #[cfg(unix)]
            posix: false,
        }
    }

    pub(crate) fn with(mut self, set: impl FnOnce(&mut EngineOptions)) -> Spec {
        set(&mut self.options);
        self
    }

    /// Whether the engine stores what is written (`null` and `sim` do not).
    pub(crate) fn stores(&self) -> bool {
        self.name.moves_data()
    }
}

/// A file of known content, opened for reading and writing, and again for reading only.
pub(crate) struct TestFile {
    _directory: tempfile::TempDir,
    pub(crate) path: PathBuf,
    pub(crate) files: Vec<OpenFile>,
}

/// Number of the file that is open for reading only; file 0 is the same file, open for reading and writing.
pub(crate) const READ_ONLY: u32 = 1;

/// The byte at each offset of a fresh file.
pub(crate) fn fresh(offset: u64) -> u8 {
    (offset % 251) as u8
}

impl TestFile {
    pub(crate) fn new(direct: bool) -> Result<TestFile, String> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("ground");
        let content: Vec<u8> = (0..BLOCKS * BLOCK + TAIL).map(fresh).collect();
        std::fs::write(&path, content).unwrap();
        let open = |access| {
            let mode = OpenMode { direct, ..OpenMode::buffered(access) };
            OpenFile::open(&path, mode).map_err(|error| error.to_string())
        };
        let files = vec![open(FileAccess::ReadWrite)?, open(FileAccess::Read)?];
        Ok(TestFile { _directory: directory, path, files })
    }

    pub(crate) fn setup<'a>(&'a self, spec: &Spec) -> EngineSetup<'a> {
        EngineSetup {
            name: spec.name,
            files: &self.files,
            names: Names::NONE,
            depth: spec.depth,
            block_bytes_max: BLOCK,
            memory_align: 0,
            memory: Memory::Anonymous,
            sync_range_flags: 2,
            offload: spec.offload,
            populated: false,
            discards_alone: true,
            advice: Advice::Random,
            options: spec.options.clone(),
            clock: RealClock::shared(),
        }
    }

    /// Makes the engine; `Err` is a reason to skip (this machine does not have it). Any other error fails the test.
    pub(crate) fn with<V: EngineVisitor>(&self, spec: &Spec, visitor: V) -> Result<V::Output, String> {
        let setup = self.setup(spec);
        #[cfg(unix)]
        let made =
            if spec.posix { fsdyno_engine::unix::with_engine(&setup, visitor) } else { with_engine(&setup, visitor) };
        #[cfg(not(unix))]
        let made = with_engine(&setup, visitor);
        made.map_err(|error| match error {
            EngineSetupError::Refused { .. } | EngineSetupError::Option { .. } => error.to_string(),
            error => panic!("{spec:?}: {error}"),
        })
    }
}

pub(crate) fn op(kind: OpKind, block: u64) -> Op {
    Op { kind, offset: block * BLOCK, length: BLOCK, file: 0, priority: 0 }
}

/// A worker with its engine.
pub(crate) struct Worker<E> {
    pub(crate) engine: E,
    pub(crate) slots: Slots<E>,
    pub(crate) completions: Vec<Completion<E>>,
    pub(crate) staged: usize,
    /// Which slots the engine has.
    away: Vec<bool>,
}

/// Bound of every wait, so that a hang fails the test; no engine of this test needs that long.
pub(crate) const PATIENCE: Option<Duration> = Some(Duration::from_secs(60));

impl<E: Engine> Worker<E> {
    pub(crate) fn new(engine: E, slots: Slots<E>, depth: u32) -> Worker<E> {
        let completions = Vec::with_capacity(depth as usize);
        Worker { engine, slots, completions, staged: 0, away: vec![false; depth as usize] }
    }

    /// Queues a request; every other slot has a priority of its own (best effort, lowest level). `Err` returns the slot:
    /// the engine is full.
    pub(crate) fn queue(&mut self, slot: Slot<E>, op: &Op, done: u64) -> Result<(), Slot<E>> {
        let index = slot.index();
        self.away[index] = true;
        let op = Op { priority: if index % 2 == 1 { (2 << 13) + 7 } else { 0 }, ..*op };
        match self.engine.queue(slot, &op, done) {
            Queued::Done(completion) => self.completions.push(completion),
            Queued::Staged => {
                assert!(!E::SYNCHRONOUS, "a synchronous engine is done at once");
                self.staged += 1;
            }
            Queued::Full(slot) => {
                assert_eq!(slot.index(), index, "the slot that was refused comes back");
                self.away[index] = false;
                return Err(slot);
            }
        }
        Ok(())
    }

    pub(crate) fn submit(&mut self) {
        while self.staged > 0 {
            self.staged -= self.engine.submit().unwrap();
        }
    }

    /// Takes the completions; each slot may occur once.
    pub(crate) fn take(&mut self) -> Vec<(Slot<E>, i64)> {
        let away = &mut self.away;
        let completions = self.completions.drain(..);
        completions
            .map(|Completion { slot, result }| {
                assert!(std::mem::replace(&mut away[slot.index()], false), "slot {} came back twice", slot.index());
                (slot, result)
            })
            .collect()
    }

    /// Waits for everything in flight.
    pub(crate) fn drain(&mut self) -> Vec<(Slot<E>, i64)> {
        self.submit();
        let mut back = self.take();
        while self.away.contains(&true) {
            let count = self.engine.reap(1, usize::MAX, PATIENCE, &mut self.completions).unwrap();
            assert!(count > 0, "a request did not come back");
            back.extend(self.take());
        }
        back
    }

    /// Carries out one request from start to end.
    pub(crate) fn perform(&mut self, op: &Op, done: u64) -> i64 {
        let slot = self.slots.take().unwrap();
        let (slot, result) = self.perform_in(slot, op, done);
        self.slots.put_back(slot);
        result
    }

    /// The same with this slot.
    pub(crate) fn perform_in(&mut self, slot: Slot<E>, op: &Op, done: u64) -> (Slot<E>, i64) {
        self.queue(slot, op, done).expect("an idle engine has room");
        let mut back = self.drain();
        assert_eq!(back.len(), 1);
        back.remove(0)
    }
}
