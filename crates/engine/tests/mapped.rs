//! Tests of mappings whose file changes meanwhile.

use fsdyno_engine::{Engine, EngineSetup, EngineVisitor, Names, Queued, Slots, explain, with_engine};
use fsdyno_job::{EngineName, EngineOptions, Memory};
use fsdyno_os::clock::RealClock;
use fsdyno_os::files::{Advice, FileAccess, OpenFile, OpenMode};
use fsdyno_workload::{Op, OpKind};

const PAGE: u64 = 4096;
const EIO: i64 = 5;

fn op(kind: OpKind, page: u64) -> Op {
    Op { kind, offset: page * PAGE, length: PAGE, file: 0, priority: 0 }
}

fn setup(files: &[OpenFile]) -> EngineSetup<'_> {
    EngineSetup {
        name: EngineName::Mmap,
        files,
        names: Names::NONE,
        depth: 1,
        block_bytes_max: PAGE,
        memory_align: 0,
        memory: Memory::Anonymous,
        sync_range_flags: 0,
        offload: false,
        populated: false,
        discards_alone: false,
        advice: Advice::Normal,
        options: EngineOptions::default(),
        clock: RealClock::shared(),
    }
}

/// Shortens the file between transfers, and extends it again.
struct ShortensFile<'a> {
    file: &'a OpenFile,
}

impl EngineVisitor for ShortensFile<'_> {
    type Output = ();

    fn visit<E: Engine>(self, mut engine: E, mut slots: Slots<E>) {
        let mut slot = slots.take();
        let mut perform = |kind, page| {
            let given = slot.take().expect("it came back");
            let Queued::Done(done) = engine.queue(given, &op(kind, page), 0) else { panic!("it is synchronous") };
            slot = Some(done.slot);
            done.result
        };
        assert_eq!(perform(OpKind::Read, 5), PAGE as i64);
        self.file.truncate(PAGE).unwrap();
        for kind in [OpKind::Read, OpKind::Write, OpKind::Read] {
            assert_eq!(perform(kind, 5), -EIO, "{kind:?}: each access reports the error");
            assert_eq!(perform(OpKind::Read, 0), PAGE as i64, "the rest of the file can be read");
        }
        self.file.truncate(8 * PAGE).unwrap();
        assert_eq!(perform(OpKind::Write, 5), PAGE as i64, "the file's own page is back");
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test may panic where there is no thread")]
fn a_page_that_is_gone_is_an_error_of_its_transfer() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    std::fs::write(&path, vec![7; 8 * PAGE as usize]).unwrap();
    let open = || OpenFile::open(&path, OpenMode::buffered(FileAccess::ReadWrite)).unwrap();
    let transfers = || with_engine(&setup(&[open()]), ShortensFile { file: &open() }).unwrap();
    // Each thread watches its own mappings.
    std::thread::scope(|scope| {
        scope.spawn(transfers).join().unwrap();
        scope.spawn(transfers).join().unwrap();
    });
    let files = [open()];
    files[0].truncate(PAGE).unwrap();
    let message = explain(&setup(&files), &op(OpKind::Read, 5), EIO as i32).unwrap();
    assert!(message.contains("has 4096 bytes now: another program shortened it"), "{message}");
}
