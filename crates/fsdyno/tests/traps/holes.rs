//! T1: files with the right size and less data, in each way that a file comes to it.

use std::fs::File;

use fsdyno_results::Severity;
use rustix::fs::{FallocateFlags, fallocate};

use crate::bench::{Bench, FILE_MIB};

/// Reads the file whole.
fn read(name: &str, more: &str) -> String {
    format!("--name=job --filename={name} --rw=read --bs=1m --size={FILE_MIB}m {more}")
}

/// A written file, and then this call on some of its MiB; the filesystem may not know it.
fn changed(bench: &Bench, flags: FallocateFlags, mebibytes: impl Iterator<Item = u64>) -> std::io::Result<()> {
    bench.file("file");
    bench.run(&read("file", "--direct=1")).honest("unwritten-data");
    let file = File::options().read(true).write(true).open(bench.path("file"))?;
    for number in mebibytes {
        fallocate(&file, flags, number << 20, 1 << 20)?;
    }
    file.sync_all()
}

#[test]
fn a_file_that_was_only_made_long() {
    let Some(bench) = Bench::new() else { return };
    let file = File::create(bench.path("long")).expect("a file is made");
    file.set_len(FILE_MIB << 20).expect("it is made long");
    bench.run(&read("long", "")).caught("unwritten-data", Severity::Invalid);
    bench.file("written");
    bench.run(&read("written", "")).honest("unwritten-data");
}

/// The range keeps its place on the device, and what was there is no data any more.
#[test]
fn a_file_that_was_zeroed() {
    let Some(bench) = Bench::new() else { return };
    if let Err(error) = changed(&bench, FallocateFlags::ZERO_RANGE, 0..FILE_MIB) {
        return eprintln!("skipped: nothing is zeroed in place here: {error}");
    }
    bench.run(&read("file", "--direct=1")).caught("unwritten-data", Severity::Invalid);
}

/// As trimmed by a virtual machine, or by a program that keeps images small.
#[test]
fn a_file_with_every_other_part_punched_out() {
    let Some(bench) = Bench::new() else { return };
    let punch = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    if let Err(error) = changed(&bench, punch, (0..FILE_MIB).step_by(2)) {
        return eprintln!("skipped: nothing is punched out here: {error}");
    }
    let holes = bench.run(&read("file", "--direct=1"));
    assert!(holes.one("unwritten-data").severity >= Severity::Caution, "{}", holes.stderr);
    assert!(holes.stderr.contains("50 % of the 64.0 MiB in the files were never written"), "{}", holes.stderr);
}

/// What an interrupted random write leaves: some blocks here and there.
#[test]
fn a_file_that_was_written_here_and_there() {
    let Some(bench) = Bench::new() else { return };
    let words = format!("--name=fill --filename=parts --rw=randwrite --bs=64k --size={FILE_MIB}m --fallocate=none");
    bench.run(&format!("{words} --io_size=16m --end_fsync=1 --findings=off"));
    File::options().write(true).open(bench.path("parts")).and_then(|file| file.set_len(FILE_MIB << 20)).expect("long");
    bench.run(&read("parts", "--direct=1")).caught("unwritten-data", Severity::Invalid);
    bench.run(&format!("{words} --end_fsync=1 --findings=off"));
    bench.run(&read("parts", "--direct=1")).honest("unwritten-data");
}
