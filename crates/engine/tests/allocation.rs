//! Tests that no engine allocates after its setup: allocations during queueing, submitting and reaping are counted. Also
//! tests that requests leave no secret in memory that is freed.
#![expect(unsafe_code, reason = "a global allocator that counts is an unsafe trait")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use fsdyno_engine::{Engine, EngineSetup, EngineSetupError, EngineVisitor, Names, Queued, Slots, with_engine};
use fsdyno_job::{EngineName, EngineOptions, Memory};
use fsdyno_os::clock::{Clock, RealClock};
use fsdyno_os::files::{Advice, FileAccess, OpenFile, OpenMode};
use fsdyno_workload::{Op, OpKind};

/// Counts the allocations of each thread, and its freed blocks that hold a secret. To grow a block is to allocate another one
/// and to free it (the trait's own `realloc`).
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    /// Whether freed blocks are read.
    static READS_FREED: Cell<bool> = const { Cell::new(false) };
    static FREED_WITH_SECRET: Cell<u64> = const { Cell::new(0) };
}

/// The secret of the tests, and its base64.
const SECRETS: [&[u8]; 2] = [b"a-secret-token-", b"YS1zZWNyZXQtdG9rZW4t"];

fn holds_secret(bytes: &[u8]) -> bool {
    SECRETS.iter().any(|secret| bytes.windows(secret.len()).any(|part| part == *secret))
}

// SAFETY: every call is passed on to the system's allocator with the caller's layout; the counters need no memory and no drop.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, address: *mut u8, layout: Layout) {
        if READS_FREED.get() {
            // SAFETY: the block is the caller's until it is freed below, and all of its bytes were set when it was allocated.
            let bytes = unsafe { std::slice::from_raw_parts(address, layout.size()) };
            FREED_WITH_SECRET.set(FREED_WITH_SECRET.get() + u64::from(holds_secret(bytes)));
        }
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(address, layout) }
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

#[test]
fn the_counter_counts() {
    let before = ALLOCATIONS.get();
    drop(std::hint::black_box(vec![0u8; 1000]));
    assert_eq!(ALLOCATIONS.get() - before, 1);
}

/// Requests to a server of objects.
#[cfg(all(target_os = "linux", feature = "object"))]
mod objects {
    use fsdyno_job::{ObjectDialect, ObjectOptions, Secret, Tls};
    use fsdyno_object::{Credentials, Endpoint, Method, ObjectRequest, Requests, SecretBytes};
    use testkit::{ObjectServer, ServerBehaviour};

    use super::*;

    /// Answers how many allocations a thousand requests to a server made.
    struct ThousandRequests;

    impl EngineVisitor for ThousandRequests {
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

    /// Allocations of a thousand requests of 4 KiB with these options.
    fn allocations_of_requests(object: ObjectOptions) -> u64 {
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
        with_engine(&setup, ThousandRequests).expect("the server is there")
    }

    fn options(host: String, dialect: ObjectDialect) -> ObjectOptions {
        let (key_id, key) = ("id".to_owned(), Secret::new("secret".to_owned()));
        ObjectOptions { host, dialect, key_id, key, ..ObjectOptions::default() }
    }

    #[test]
    fn requests_to_a_server_allocate_nothing() {
        let server = ObjectServer::start(ServerBehaviour::Honest);
        for dialect in [ObjectDialect::WebDav, ObjectDialect::Swift, ObjectDialect::S3] {
            assert_eq!(allocations_of_requests(options(server.host(), dialect)), 0, "{dialect:?}");
        }
    }

    /// rustls puts each record that it sends or receives into memory of its own, and fits its receive buffer to it. The engine
    /// adds nothing to that: one allocation more in each second request would be too much.
    #[test]
    fn requests_over_tls_allocate_for_records_alone() {
        let directory = tempfile::tempdir().unwrap();
        let server = ObjectServer::start_encrypted(ServerBehaviour::Honest, directory.path());
        let Some(server) = server else { return };
        for dialect in [ObjectDialect::WebDav, ObjectDialect::S3] {
            let options = ObjectOptions { tls: Tls::Unchecked, ..options(server.host(), dialect) };
            let allocations = allocations_of_requests(options);
            println!("{dialect:?} over TLS: {allocations} allocations for 1,000 requests");
            assert!((1..=OF_RECORDS).contains(&allocations), "{dialect:?}: {allocations}");
        }
    }

    /// Allocations of rustls for the records of a thousand requests and answers: 3,267 by WebDAV.
    const OF_RECORDS: u64 = 3_500;

    /// Secrets that are longer than each buffer's first room.
    #[test]
    fn requests_leave_no_secret_in_freed_memory() {
        let secret = || Secret::new("a-secret-token-".repeat(2000));
        let endpoint = Endpoint::parse("h", false).unwrap();
        READS_FREED.set(true);
        for dialect in [ObjectDialect::WebDav, ObjectDialect::Swift, ObjectDialect::S3] {
            let mut options = options("h".to_owned(), dialect);
            // A name of two letters, so that the base64 of the password begins with that of the secret.
            (options.user, options.password) = ("us".to_owned(), secret());
            (options.swift_token, options.customer_key) = (secret(), secret());
            let key = Credentials { key_id: "id".to_owned(), secret: secret(), token: secret() };
            let mut requests = Requests::new(&options, &endpoint, Some(key));
            let mut head = SecretBytes::default();
            for method in [Method::Put, Method::Get] {
                let request = ObjectRequest { method, path: "/b/k", offset: 0, length: 1, body: b"" };
                requests.write_head(&mut head, &request, 0);
                assert!(holds_secret(&head), "{dialect:?}");
            }
            drop((requests, head, options));
            assert_eq!(FREED_WITH_SECRET.get(), 0, "{dialect:?}");
        }
        drop(std::hint::black_box(SECRETS[0].to_vec()));
        assert_eq!(FREED_WITH_SECRET.get(), 1, "what is left is seen");
        READS_FREED.set(false);
    }
}
