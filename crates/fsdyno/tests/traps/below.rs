//! T42: what the files lie on, where names lead elsewhere than they look.

use std::os::unix::fs::symlink;

use fsdyno_results::Severity;
use fsdyno_results::evidence::StorageClass;
use tempfile::TempDir;

use crate::bench::{Bench, FILE_MIB, RunResult};

/// A directory in memory; `None`: there is none here, and the reason is printed.
fn memory() -> Option<TempDir> {
    let memory = tempfile::tempdir_in("/dev/shm").ok();
    if memory.is_none() {
        testkit::skip("no /dev/shm");
    }
    memory
}

fn read(bench: &Bench, names: &str, more: &str) -> RunResult {
    bench.run(&format!("--name=job --filename={names} --rw=randread --bs=64k --size={FILE_MIB}m {more}"))
}

#[track_caller]
fn lies_in_memory(ran: &RunResult) -> bool {
    let is_memory = ran.record.storages().any(|storage| storage.class == StorageClass::Memory);
    if !is_memory {
        testkit::skip("/dev/shm is no memory filesystem");
    }
    is_memory
}

#[test]
fn a_link_that_leads_to_memory() {
    let (Some(bench), Some(memory)) = (Bench::new(), memory()) else { return };
    symlink(memory.path().join("target"), bench.path("link")).expect("a link is made");
    symlink(memory.path(), bench.path("folder")).expect("a link is made");
    // What the link leads to does not exist yet.
    let made = bench.run("--name=job --filename=link --rw=write --bs=1m --size=16m --end_fsync=1");
    if !lies_in_memory(&made) {
        return;
    }
    made.caught("memory-storage", Severity::Caution);
    assert!(made.one("memory-storage").cause.contains("(tmpfs)"), "{}", made.stderr);
    let below = bench.run("--name=job --directory=folder --rw=randread --bs=64k --size=16m");
    below.caught("memory-storage", Severity::Caution);
    let durable = bench.run("--name=job --filename=link --rw=write --bs=64k --size=4m --fsync=1");
    durable.caught("memory-storage", Severity::Invalid);
    assert!(durable.one("memory-storage").cause.contains("no sync makes anything durable"), "{}", durable.stderr);
    bench.file("file");
    symlink("file", bench.path("own")).expect("a link is made");
    read(&bench, "own", "--direct=1").honest("memory-storage");
}

#[test]
fn two_files_of_which_one_is_in_memory() {
    let (Some(bench), Some(memory)) = (Bench::new(), memory()) else { return };
    let other = memory.path().join("other");
    let half = read(&bench, &format!("disk:{}", other.display()), "");
    if !lies_in_memory(&half) {
        return;
    }
    half.caught("memory-storage", Severity::Invalid);
    let cause = &half.one("memory-storage").cause;
    assert!(cause.contains("holds 1 of 2 files, 32.0 MiB of 64.0 MiB"), "{cause}");
    let parts: Vec<_> = half.record.jobs[0].plan.parts.iter().map(|part| (part.files, part.bytes)).collect();
    assert_eq!(parts, [(1, 32 << 20), (1, 32 << 20)]);
    assert_eq!(half.record.storages().count(), 2);
    // Neither is a cache blamed for what no disk has.
    let direct = read(&bench, &format!("disk:{}", other.display()), "--direct=1");
    if direct.record.jobs[0].error.is_none() {
        direct.caught("memory-storage", Severity::Invalid);
        assert!(direct.find("direct-not-honoured").is_none(), "{}", direct.stderr);
    }
    read(&bench, "disk:second", "--direct=1").honest("memory-storage");
}

/// Reading it again and again has nothing to do with the size of memory.
#[test]
fn a_device_that_makes_up_its_data() {
    let Some(bench) = Bench::new() else { return };
    let zeros = bench.run("--name=job --filename=/dev/zero --rw=read --bs=64k --size=64m --time_based --runtime=1");
    zeros.caught("memory-storage", Severity::Caution);
    assert!(zeros.find("fits-in-memory").is_none(), "{}", zeros.stderr);
    assert!(!zeros.stderr.contains("fits-in-memory"), "nor before the run: {}", zeros.stderr);
}

/// Operations on names, too, have a storage.
#[test]
fn names_in_memory() {
    let Some(bench) = Bench::new() else { return };
    let Some(memory) = memory() else { return };
    let words = |at: &str| {
        format!(
            "--name=job --directory={at} --ioengine=filestat --rw=randread --bs=4k --filesize=4k --nrfiles=50 --loops=40"
        )
    };
    let names = bench.run(&words(testkit::word(memory.path())));
    if lies_in_memory(&names) {
        names.one("memory-storage");
    }
    std::fs::create_dir(bench.path("disk")).expect("the place is writable");
    assert!(bench.run(&words("disk")).find("memory-storage").is_none());
}
