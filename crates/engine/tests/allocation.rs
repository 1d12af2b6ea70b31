//! Tests that no engine allocates after its setup: allocations during queueing, submitting and reaping are counted.
#![expect(unsafe_code, reason = "a global allocator that counts is an unsafe trait")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use fsdyno_engine::{Engine, EngineSetup, EngineSetupError, EngineVisitor, Names, Queued, Slots, with_engine};
use fsdyno_job::{EngineName, EngineOptions, Memory};
use fsdyno_os::clock::{Clock, RealClock};
use fsdyno_os::files::{Advice, FileAccess, OpenFile, OpenMode};
use fsdyno_workload::{Op, OpKind};

/// Counts the allocations of each thread.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every call is passed on to the system's allocator unchanged; the counter needs no memory and no drop.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, address: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(address, layout) }
    }

    unsafe fn realloc(&self, address: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.realloc(address, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const DEPTH: u32 = 16;
const BLOCK: u64 = 4096;
const BLOCKS: u64 = 64;

/// Counts the allocations of a thousand rounds at full depth.
struct Rounds {
    depth: u32,
}

impl EngineVisitor for Rounds {
    type Output = u64;

    fn visit<E: Engine>(self, mut engine: E, mut slots: Slots<E>) -> u64 {
        let mut completions = Vec::with_capacity(self.depth as usize);
        let before = ALLOCATIONS.get();
        let mut transferred = 0;
        for round in 0..1000u64 {
            let mut staged = 0;
            while let Some(slot) = slots.take() {
                let index = slot.index() as u64;
                let kind = match (round + index) % 64 {
                    0 => OpKind::DataSync,
                    odd if odd % 2 == 1 => OpKind::Write,
                    _ => OpKind::Read,
                };
                let op = Op { kind, offset: (round + index) % BLOCKS * BLOCK, length: BLOCK, file: 0, priority: 0 };
                engine.buffer(&slot)[0] = round as u8;
                std::hint::black_box(engine.clock().now_ns());
                match engine.queue(slot, &op, 0) {
                    Queued::Done(completion) => completions.push(completion),
                    Queued::Staged => staged += 1,
                    Queued::Full(_) => panic!("room for the whole depth"),
                }
                // A completed synchronous request returns its slot below.
                if E::SYNCHRONOUS {
                    break;
                }
            }
            while staged > 0 {
                staged -= engine.submit().unwrap();
            }
            while slots.in_flight() > completions.len() {
                engine.reap(1, usize::MAX, None, &mut completions).unwrap();
            }
            for completion in completions.drain(..) {
                assert!(completion.result >= 0, "{completion:?}");
                transferred += completion.result;
                slots.put_back(completion.slot);
            }
        }
        assert!(transferred > 900 * BLOCK as i64);
        ALLOCATIONS.get() - before
    }
}

#[test]
fn no_engine_allocates_after_its_setup() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    std::fs::write(&path, vec![0u8; (BLOCKS * BLOCK) as usize]).unwrap();
    let files = [OpenFile::open(&path, OpenMode::buffered(FileAccess::ReadWrite)).unwrap()];
    let fixed = EngineOptions { fixed_buffers: true, registered_files: true, ..EngineOptions::default() };
    let engines = [
        (EngineName::Null, 1),
        (EngineName::Null, DEPTH),
        (EngineName::Sim, DEPTH),
        (EngineName::Sync, 1),
        (EngineName::Psync, 1),
        (EngineName::Pvsync, 1),
        (EngineName::Pvsync2, 1),
        (EngineName::Vsync, 1),
        (EngineName::Mmap, 1),
        (EngineName::Libaio, DEPTH),
        (EngineName::IoUring, DEPTH),
        #[cfg(windows)]
        (EngineName::Windowsaio, DEPTH),
    ];
    for (name, depth) in engines {
        for options in [EngineOptions::default(), fixed.clone()] {
            let setup = EngineSetup {
                name,
                files: &files,
                names: Names::NONE,
                depth,
                block_bytes_max: BLOCK,
                memory_align: 0,
                memory: Memory::Anonymous,
                sync_range_flags: 0,
                offload: false,
                populated: false,
                discards_alone: false,
                advice: Advice::Normal,
                options,
                clock: RealClock::shared(),
            };
            match with_engine(&setup, Rounds { depth }) {
                Ok(allocations) => assert_eq!(allocations, 0, "{name:?}"),
                Err(error @ (EngineSetupError::Refused { .. } | EngineSetupError::Option { .. })) => {
                    println!("skipped {name:?}: {error}");
                }
                Err(error) => panic!("{name:?}: {error}"),
            }
        }
    }
}

/// Answers how many allocations a thousand requests to a server made.
#[cfg(all(target_os = "linux", feature = "object"))]
struct Requests;

#[cfg(all(target_os = "linux", feature = "object"))]
impl EngineVisitor for Requests {
    type Output = u64;

    fn visit<E: Engine>(self, mut engine: E, mut slots: Slots<E>) -> u64 {
        let mut slot = slots.take().expect("a slot");
        let before = ALLOCATIONS.get();
        for round in 0..1000u64 {
            let kind = [OpKind::Write, OpKind::Read, OpKind::Trim, OpKind::Read][round as usize % 4];
            let op = Op { kind, offset: round / 4 % BLOCKS * BLOCK, length: BLOCK, file: 0, priority: 0 };
            loop {
                let Queued::Done(completion) = engine.queue(slot, &op, 0) else { panic!("it waits in the call") };
                slot = completion.slot;
                if completion.result != fsdyno_engine::WAITING {
                    assert_eq!(completion.result, BLOCK as i64);
                    break;
                }
            }
        }
        let allocations = ALLOCATIONS.get() - before;
        let tally = engine.objects().expect("an engine of objects");
        assert_eq!((tally.answers.read, tally.missing.read, tally.reconnects), (500, 250, 0));
        allocations
    }
}

#[cfg(all(target_os = "linux", feature = "object"))]
#[test]
fn requests_to_a_server_allocate_nothing() {
    use fsdyno_job::{ObjectDialect, ObjectOptions, Secret};
    let server = testkit::ObjectServer::start(testkit::ServerBehaviour::Honest);
    for dialect in [ObjectDialect::WebDav, ObjectDialect::Swift, ObjectDialect::S3] {
        let (key_id, key) = ("id".to_owned(), Secret::new("secret".to_owned()));
        let object = ObjectOptions { host: server.host(), dialect, key_id, key, ..ObjectOptions::default() };
        let setup = EngineSetup {
            name: EngineName::Http,
            files: &[],
            names: Names { paths: vec![std::path::Path::new("/bucket/key")], ..Names::NONE },
            depth: 1,
            block_bytes_max: BLOCK,
            memory_align: 0,
            memory: Memory::Anonymous,
            sync_range_flags: 0,
            offload: false,
            populated: false,
            discards_alone: false,
            advice: Advice::Normal,
            options: EngineOptions { object, ..EngineOptions::default() },
            clock: RealClock::shared(),
        };
        assert_eq!(with_engine(&setup, Requests).expect("the server is there"), 0, "{dialect:?}");
    }
}

#[test]
fn the_counter_counts() {
    let before = ALLOCATIONS.get();
    drop(std::hint::black_box(vec![0u8; 1000]));
    assert_eq!(ALLOCATIONS.get() - before, 1);
}
