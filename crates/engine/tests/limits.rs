//! Tests of what engines refuse, and of their end when the device does not answer.

use std::path::Path;
use std::time::Duration;

use fsdyno_engine::{
    Engine, EngineSetup, EngineVisitor, Names, Queued, Slots, availability, io_uring_features, with_engine,
};
use fsdyno_job::{EngineName, EngineOptions, Memory};
use fsdyno_os::clock::RealClock;
use fsdyno_os::files::{Advice, FileAccess, OpenFile, OpenMode};
use fsdyno_workload::{Op, OpKind};
use rustix::fs::{CWD, FileType, Mode};
use rustix::io::Errno;

fn setup<'a>(name: EngineName, files: &'a [OpenFile], options: EngineOptions) -> EngineSetup<'a> {
    EngineSetup {
        name,
        files,
        names: Names::NONE,
        depth: 4,
        block_bytes_max: 4096,
        memory_align: 0,
        memory: Memory::Anonymous,
        sync_range_flags: 0,
        offload: false,
        populated: false,
        discards_alone: false,
        advice: Advice::Normal,
        options,
        clock: RealClock::shared(),
    }
}

struct Nothing;

impl EngineVisitor for Nothing {
    type Output = ();

    fn visit<E: Engine>(self, _: E, _: Slots<E>) {}
}

fn refusal(name: EngineName, files: &[OpenFile], options: EngineOptions) -> String {
    with_engine(&setup(name, files, options), Nothing).expect_err("it cannot serve").to_string()
}

fn open(path: &Path, access: FileAccess) -> [OpenFile; 1] {
    [OpenFile::open(path, OpenMode::buffered(access)).unwrap()]
}

#[test]
fn files_that_cannot_be_mapped_lead_on() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    std::fs::write(&path, b"").unwrap();
    let text = refusal(EngineName::Mmap, &open(&path, FileAccess::Read), EngineOptions::default());
    assert!(text.contains("ioengine=mmap") && text.contains("empty file") && text.contains("size="), "{text}");
    std::fs::write(&path, b"content").unwrap();
    let text = refusal(EngineName::Mmap, &open(&path, FileAccess::Write), EngineOptions::default());
    assert!(text.contains("for reading and writing"), "{text}");
}

#[test]
fn io_uring_options_that_exclude_each_other_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    std::fs::write(&path, b"content").unwrap();
    let files = open(&path, FileAccess::Read);
    let text = |options| refusal(EngineName::IoUring, &files, options);
    let buffered = text(EngineOptions { hipri: true, ..EngineOptions::default() });
    assert!(buffered.contains("hipri") && buffered.contains("direct=1"), "{buffered}");
    let bound = text(EngineOptions { sqthread_poll_cpu: Some(0), ..EngineOptions::default() });
    assert!(bound.contains("sqthread_poll=1"), "{bound}");
    let vectored = EngineOptions { fixed_buffers: true, nonvectored: Some(false), ..EngineOptions::default() };
    assert!(text(vectored).contains("nonvectored"));
    let atomic = EngineOptions { fixed_buffers: true, atomic: true, ..EngineOptions::default() };
    assert!(text(atomic).contains("atomically"));
    if availability(EngineName::IoUring).is_ok() {
        let absent = EngineOptions { sqthread_poll: true, sqthread_poll_cpu: Some(60_000), ..EngineOptions::default() };
        assert!(text(absent).contains("sqthread_poll_cpu"));
    }
}

#[test]
fn failures_are_explained_by_what_was_asked_for() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    std::fs::write(&path, b"content").unwrap();
    let files = open(&path, FileAccess::Read);
    let op = Op { kind: OpKind::Read, offset: 0, length: 4096, file: 0, priority: 0 };
    let text = |name, options: EngineOptions, errno: Errno| {
        fsdyno_engine::explain(&setup(name, &files, options), &op, errno.raw_os_error())
    };
    let polled = EngineOptions { hipri: true, ..EngineOptions::default() };
    assert!(text(EngineName::IoUring, polled, Errno::OPNOTSUPP).unwrap().contains("poll_queues"));
    let uncached = EngineOptions { uncached: true, ..EngineOptions::default() };
    assert!(text(EngineName::Pvsync2, uncached, Errno::OPNOTSUPP).unwrap().contains("uncached"));
    let nowait = EngineOptions { nowait: true, ..EngineOptions::default() };
    assert!(text(EngineName::Libaio, nowait, Errno::AGAIN).unwrap().contains("nowait"));
    assert!(text(EngineName::Mmap, EngineOptions::default(), Errno::FBIG).unwrap().contains("full size"));
    assert_eq!(text(EngineName::Psync, EngineOptions::default(), Errno::INVAL), None, "buffered I/O needs no advice");
    let direct = OpenMode { direct: true, ..OpenMode::buffered(FileAccess::Read) };
    if let Ok(file) = OpenFile::open(&path, direct) {
        let files = [file];
        let setup = setup(EngineName::Psync, &files, EngineOptions::default());
        let text = fsdyno_engine::explain(&setup, &Op { length: 100, ..op }, Errno::INVAL.raw_os_error()).unwrap();
        assert!(text.contains("direct=0"), "{text}");
    }
}

#[test]
fn a_depth_beyond_the_kernels_limit_names_the_sysctl() {
    let beyond = EngineSetup { depth: 1 << 24, ..setup(EngineName::Libaio, &[], EngineOptions::default()) };
    let text = with_engine(&beyond, Nothing).expect_err("no kernel allows this depth").to_string();
    assert!(text.contains("iodepth=16777216"), "{text}");
    assert!(text.contains("fs.aio-max-nr") || text.contains("seccomp") || text.contains("lower"), "{text}");
}

#[test]
fn engines_without_prerequisites_are_always_there() {
    for name in [EngineName::Null, EngineName::Sim, EngineName::Psync, EngineName::Mmap] {
        assert!(availability(name).is_ok());
    }
    match io_uring_features() {
        Ok(names) => assert!(names.contains(&"READ"), "{names:?}"),
        Err(error) => {
            assert!(availability(EngineName::IoUring).is_err());
            assert!(error.to_string().contains("ioengine=libaio"), "{error}");
        }
    }
}

/// Reads from a pipe that nobody writes to, so that requests never complete by themselves.
struct Unanswered {
    cancel: bool,
}

impl EngineVisitor for Unanswered {
    type Output = ();

    fn visit<E: Engine>(self, mut engine: E, mut slots: Slots<E>) {
        let op = Op { kind: OpKind::Read, offset: 0, length: 4096, file: 0, priority: 0 };
        let mut completions = Vec::with_capacity(4);
        while let Some(slot) = slots.take() {
            assert!(matches!(engine.queue(slot, &op, 0), Queued::Staged));
        }
        assert_eq!(engine.submit().unwrap(), 4);
        let timeout = Some(Duration::from_millis(1));
        assert_eq!(engine.reap(0, 4, None, &mut completions).unwrap(), 0);
        assert_eq!(engine.reap(1, 4, timeout, &mut completions).unwrap(), 0, "the timeout ends the wait");
        if !self.cancel {
            // The engine is dropped with four requests in flight; its drop must return.
            return;
        }
        engine.cancel().unwrap();
        while completions.len() < 4 {
            assert!(engine.reap(1, 4, None, &mut completions).unwrap() > 0);
        }
        for completion in completions {
            assert_eq!(completion.result, -i64::from(Errno::CANCELED.raw_os_error()));
        }
    }
}

#[test]
fn io_uring_ends_requests_that_nobody_answers() {
    // Cancelling all requests needs Linux 6.0. The features do not name it, but the single issuer is of the same
    // version.
    match io_uring_features() {
        Ok(names) if names.contains(&"SINGLE_ISSUER") => {}
        Ok(_) => return println!("skipped: this kernel is older than 6.0"),
        Err(reason) => return println!("skipped: {reason}"),
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("pipe");
    rustix::fs::mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let files = open(&path, FileAccess::ReadWrite);
    for options in [
        EngineOptions::default(),
        EngineOptions { nonvectored: Some(false), ..EngineOptions::default() },
        EngineOptions { sqthread_poll: true, ..EngineOptions::default() },
    ] {
        for cancel in [true, false] {
            with_engine(&setup(EngineName::IoUring, &files, options.clone()), Unanswered { cancel }).unwrap();
        }
    }
}

/// One polled read.
struct OneRead;

impl EngineVisitor for OneRead {
    type Output = i64;

    fn visit<E: Engine>(self, mut engine: E, mut slots: Slots<E>) -> i64 {
        let mut completions = Vec::with_capacity(4);
        let op = Op { kind: OpKind::Read, offset: 0, length: 4096, file: 0, priority: 0 };
        assert!(matches!(engine.queue(slots.take().unwrap(), &op, 0), Queued::Staged));
        engine.submit().unwrap();
        engine.reap(1, 4, None, &mut completions).unwrap();
        completions[0].result
    }
}

#[test]
fn polled_completions_come_or_say_that_the_device_cannot() {
    if let Err(reason) = availability(EngineName::IoUring) {
        return println!("skipped: {reason}");
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    std::fs::write(&path, vec![1u8; 1 << 16]).unwrap();
    let direct = OpenMode { direct: true, ..OpenMode::buffered(FileAccess::Read) };
    let files = match OpenFile::open(&path, direct) {
        Ok(file) => [file],
        Err(reason) => return println!("skipped: {reason}"),
    };
    let options = EngineOptions { hipri: true, ..EngineOptions::default() };
    let result = with_engine(&setup(EngineName::IoUring, &files, options), OneRead).unwrap();
    assert!(result == 4096 || result == -i64::from(Errno::OPNOTSUPP.raw_os_error()), "{result}");
}

#[test]
#[should_panic(expected = "larger than its buffer")]
fn a_request_beyond_the_buffer_is_a_bug_that_stops() {
    struct TooLarge;
    impl EngineVisitor for TooLarge {
        type Output = ();
        fn visit<E: Engine>(self, mut engine: E, mut slots: Slots<E>) {
            let op = Op { kind: OpKind::Read, offset: 0, length: 1 << 20, file: 0, priority: 0 };
            engine.queue(slots.take().unwrap(), &op, 0);
        }
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    std::fs::write(&path, b"content").unwrap();
    let files = open(&path, FileAccess::Read);
    let name = if availability(EngineName::Libaio).is_ok() { EngineName::Libaio } else { EngineName::IoUring };
    with_engine(&setup(name, &files, EngineOptions::default()), TooLarge).unwrap();
}
