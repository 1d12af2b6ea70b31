//! T1, T2, T18: reads that the device did not deliver.

use std::fs::File;

use fsdyno_results::Severity;
use rustix::fs::{FallocateFlags, fallocate};

use crate::bench::{Bench, FILE_MIB};

/// Row A of the measured contrasts, and its honest row B.
#[test]
fn a_file_that_was_allocated_and_never_written() {
    let Some(bench) = Bench::new() else { return };
    let file = File::create(bench.path("unwritten")).expect("a file is made");
    if let Err(error) = fallocate(&file, FallocateFlags::empty(), 0, FILE_MIB << 20) {
        return eprintln!("skipped: no fallocate here: {error}");
    }
    file.sync_all().expect("it is synced");
    let words = |name: &str| {
        format!(
            "--name=job --filename={name} --rw=randread --bs=4k --direct=1 --ioengine=libaio --iodepth=32 \
             --size={FILE_MIB}m --runtime=1 --time_based"
        )
    };
    bench.run(&words("unwritten")).caught("unwritten-data", Severity::Invalid);
    bench.file("written");
    let honest = bench.run(&words("written"));
    honest.honest("unwritten-data");
    honest.honest("depth-not-reached");
}

/// Row D: warm. Its honest twin goes past the cache.
#[test]
fn a_file_that_is_in_the_page_cache() {
    let Some(bench) = Bench::new() else { return };
    bench.file("file");
    let words = format!("--name=job --filename=file --rw=randread --bs=4k --size={FILE_MIB}m --runtime=1 --time_based");
    std::fs::read(bench.path("file")).expect("it is read into the cache");
    let warm = bench.run(&format!("{words} --invalidate=0"));
    warm.caught("page-cache", Severity::Invalid);
    assert!(warm.stderr.contains("came from the page cache"), "{}", warm.stderr);
    bench.run(&format!("{words} --direct=1")).honest("page-cache");
    // Once, cold: every byte comes from the device.
    let cold = format!("--name=job --filename=file --rw=read --bs=64k --size={FILE_MIB}m");
    bench.run(&cold).honest("page-cache");
}

/// Read in a few milliseconds: shares of bytes need no time.
#[test]
fn a_short_read_of_what_was_read_before() {
    let Some(bench) = Bench::new() else { return };
    bench.file("file");
    let words = format!("--name=job --filename=file --rw=read --bs=1m --size={FILE_MIB}m");
    bench.run(&format!("{words} --pre_read=1")).caught("page-cache", Severity::Invalid);
    bench.run(&words).honest("page-cache");
    bench.run(&format!("{words} --direct=1")).honest("direct-not-honoured");
}

/// Row H: four jobs over one file; its honest twin is one job (row I).
#[test]
fn several_jobs_on_one_file() {
    let Some(bench) = Bench::new() else { return };
    bench.file("file");
    let words = format!("--name=job --filename=file --rw=read --bs=1m --size={FILE_MIB}m --group_reporting");
    let shared = bench.run(&format!("{words} --numjobs=4"));
    assert!(shared.stderr.contains("4 jobs read the same bytes"), "said before the run: {}", shared.stderr);
    shared.caught("shared-file", Severity::Invalid);
    bench.run(&words).honest("shared-file");
    let apart = format!("--name=job --directory=. --rw=read --bs=1m --size={}m --numjobs=4", FILE_MIB / 4);
    bench.run(&apart).honest("shared-file");
}

/// A file of zeros' worth of holes that a stage of the same run fills is no trap for the stage after it.
#[test]
fn a_file_that_an_earlier_stage_wrote() {
    let Some(bench) = Bench::new() else { return };
    let both = format!(
        "--filename=new --size={FILE_MIB}m --bs=1m --direct=1 --name=write --rw=write --name=read --rw=read \
         --stonewall"
    );
    bench.run(&both).honest("unwritten-data");
}

/// A job that reads the hole of a file, which is a small part of it; its twin reads the rest.
#[test]
fn the_hole_of_a_file() {
    let Some(bench) = Bench::new() else { return };
    bench.file("file");
    let file = File::options().write(true).open(bench.path("file")).expect("it is there");
    file.set_len((FILE_MIB + 8) << 20).expect("it is made longer");
    file.sync_all().expect("it is synced");
    let words = |offset: u64, size: u64| {
        format!("--name=job --filename=file --rw=read --bs=64k --direct=1 --offset={offset}m --size={size}m")
    };
    bench.run(&words(FILE_MIB, 8)).caught("unwritten-data", Severity::Invalid);
    bench.run(&words(0, FILE_MIB)).honest("unwritten-data");
}

/// A file of a mebibyte that was read before: no depth of a sweep makes few bytes sound.
#[test]
fn a_small_file_that_is_in_the_page_cache() {
    let Some(bench) = Bench::new() else { return };
    let fill = bench.run("--name=fill --filename=file --rw=write --bs=64k --size=1m --end_fsync=1 --findings=off");
    assert_eq!(fill.record.jobs[0].error, None);
    let words = "--name=job --filename=file --rw=randread --bs=4k --size=1m";
    std::fs::read(bench.path("file")).expect("it is read into the cache");
    bench.run(&format!("{words} --invalidate=0")).caught("page-cache", Severity::Invalid);
    bench.run(&format!("{words} --direct=1")).honest("page-cache");
    bench.run(words).honest("page-cache");
}
