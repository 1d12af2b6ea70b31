//! Cached reads, holes and unsynced writes beside somebody who uses the same device or file: the device moves enough bytes,
//! and none of them are the run's.

use std::fs::File;
use std::process::Command;

use fsdyno_results::Severity;
use rustix::fs::{FallocateFlags, fallocate};
use testkit::{Neighbour, word};

use crate::bench::{Bench, FILE_MIB};

/// A file in memory, and another one for the neighbour.
fn warm(bench: &Bench) {
    bench.file("file");
    bench.file("other");
    std::fs::read(bench.path("file")).expect("it is read into the cache");
}

/// Reads for a second.
fn reads(options: &str) -> String {
    format!(
        "--name=job --filename=file --rw=read --bs=1m --size={FILE_MIB}m --invalidate=0 --time_based --runtime=1 {options}"
    )
}

#[test]
fn a_cached_file_beside_a_reader() {
    let Some(bench) = Bench::new() else { return };
    warm(&bench);
    let _neighbour = Neighbour::reading(&bench.path("other"));
    bench.run(&reads("")).caught("page-cache", Severity::Invalid);
    bench.run(&reads("--direct=1")).honest("page-cache");
}

#[test]
fn a_cached_file_beside_a_writer() {
    let Some(bench) = Bench::new() else { return };
    warm(&bench);
    let _neighbour = Neighbour::writing(&bench.path("other"));
    bench.run(&reads("")).caught("page-cache", Severity::Invalid);
    let direct = bench.run(&reads("--direct=1"));
    direct.honest("page-cache");
    assert!(direct.find("not-visible").is_none(), "{:?}", direct.find("not-visible"));
}

/// The neighbour's writes go through the pages that answer the reads, and the device moves bytes of the same file.
#[test]
fn a_cached_file_beside_a_writer_of_the_same_file() {
    let Some(bench) = Bench::new() else { return };
    warm(&bench);
    let _neighbour = Neighbour::rewriting(&bench.path("file"));
    bench.run(&reads("")).caught("page-cache", Severity::Invalid);
    bench.run(&reads("--direct=1")).honest("page-cache");
}

#[test]
fn a_mapped_file_beside_a_reader() {
    let Some(bench) = Bench::new() else { return };
    warm(&bench);
    let _neighbour = Neighbour::reading(&bench.path("other"));
    bench.run(&reads("--ioengine=mmap")).caught("page-cache", Severity::Invalid);
    bench.run(&reads("--direct=1")).honest("page-cache");
}

/// Threads of io_uring are threads of this process.
#[test]
fn a_cached_file_through_io_uring_beside_a_reader() {
    let Some(bench) = Bench::new() else { return };
    warm(&bench);
    let _neighbour = Neighbour::reading(&bench.path("other"));
    let uring = bench.run(&reads("--ioengine=io_uring --iodepth=8"));
    if uring.record.jobs[0].error.is_some() {
        return testkit::skip("no io_uring here");
    }
    uring.caught("page-cache", Severity::Invalid);
    let cold =
        format!("--name=job --filename=file --rw=read --bs=64k --size={FILE_MIB}m --ioengine=io_uring --iodepth=8");
    bench.run(&cold).honest("page-cache");
}

/// The device reads the file once, and for the neighbour.
#[test]
fn a_neighbour_that_reads_the_file_ahead() {
    let Some(bench) = Bench::new() else { return };
    bench.file("file");
    let line = format!("sleep 0.5; timeout 3 dd if={} of=/dev/null bs=1M status=none", word(&bench.path("file")));
    let mut ahead = Command::new("bash").args(["-c", &line]).spawn().expect("bash is there");
    let read = format!("--name=job --filename=file --rw=read --bs=1m --size={FILE_MIB}m --invalidate=0");
    let found = bench.run(&format!("{read} --startdelay=4"));
    if !ahead.wait().expect("it ends").success() {
        return testkit::skip("this disk does not deliver the file within three seconds");
    }
    found.caught("page-cache", Severity::Invalid);
    bench.run(&format!("{read} --direct=1")).honest("page-cache");
}

#[test]
fn holes_beside_others() {
    let Some(bench) = Bench::new() else { return };
    let file = File::create(bench.path("unwritten")).expect("a file is made");
    if let Err(error) = fallocate(&file, FallocateFlags::empty(), 0, FILE_MIB << 20) {
        return testkit::skip(&format!("no fallocate here: {error}"));
    }
    file.sync_all().expect("it is synced");
    warm(&bench);
    let words = |name: &str| {
        format!("--name=job --filename={name} --rw=read --bs=1m --size={FILE_MIB}m --direct=1 --time_based --runtime=1")
    };
    for begin in [Neighbour::reading, Neighbour::writing] {
        let _neighbour = begin(&bench.path("other"));
        bench.run(&words("unwritten")).caught("unwritten-data", Severity::Invalid);
        bench.run(&words("file")).honest("unwritten-data");
    }
}

#[test]
fn an_unsynced_write_beside_others() {
    let Some(bench) = Bench::new() else { return };
    bench.file("other");
    let words = format!("--name=job --filename=new --rw=write --bs=1m --size={FILE_MIB}m");
    for begin in [Neighbour::reading, Neighbour::writing] {
        let _neighbour = begin(&bench.path("other"));
        bench.run(&words).caught("writes-in-memory", Severity::Invalid);
        let synced = bench.run(&format!("{words} --end_fsync=1"));
        synced.honest("writes-in-memory");
        assert!(synced.find("not-visible").is_none(), "{:?}", synced.find("not-visible"));
    }
}
