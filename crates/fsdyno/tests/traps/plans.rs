//! T3, T11, T19, T26, T30: what the command line itself gives away.

use fsdyno_results::Severity;

use crate::bench::{Bench, FILE_MIB};

/// Row C, and its honest twin with direct I/O.
#[test]
fn libaio_without_direct_io_has_no_depth() {
    let Some(bench) = Bench::new() else { return };
    bench.file("file");
    let words = format!(
        "--name=job --filename=file --rw=randread --bs=4k --ioengine=libaio --iodepth=32 --size={FILE_MIB}m --runtime=1"
    );
    let blocked = bench.run(&words);
    assert!(blocked.stderr.contains("has one request in flight"), "said before the run: {}", blocked.stderr);
    // A neighbour on the device can fill its queue: then it stays a caution.
    let finding = blocked.one("depth-not-reached");
    assert!(finding.severity >= Severity::Caution, "{finding:#?}");
    if finding.severity == Severity::Caution {
        eprintln!("the device was busy for others: {finding:#?}");
    }
    bench.run(&format!("{words} --direct=1")).honest("depth-not-reached");
    // Without latencies the device's queue says it; a neighbour can fill that one too.
    let unclocked = bench.run(&format!("{words} --gtod_reduce=1"));
    let same = unclocked.one("depth-not-reached");
    assert!(same.severity == Severity::Invalid || finding.severity == Severity::Caution, "{same:#?}");
    bench.run(&format!("{words} --gtod_reduce=1 --direct=1")).honest("depth-not-reached");
}

#[test]
fn files_that_fit_in_memory_and_are_read_again() {
    let Some(bench) = Bench::new() else { return };
    bench.file("file");
    let words = format!("--name=job --filename=file --rw=read --bs=64k --size={FILE_MIB}m --runtime=1 --time_based");
    let again = bench.run(&words);
    assert!(again.stderr.contains("[fits-in-memory]"), "{}", again.stderr);
    let direct = bench.run(&format!("{words} --direct=1"));
    direct.honest("fits-in-memory");
}

/// Row K: sections as shipped, and with stonewall.
#[test]
fn sections_that_run_at_the_same_time() {
    let Some(bench) = Bench::new() else { return };
    bench.file("file");
    let sections = |stonewall: &str| {
        format!(
            "--direct=1 --ioengine=libaio --iodepth=16 --bs=4k --runtime=1 --time_based --size={FILE_MIB}m \
             --filename=file --name=read_iops --rw=randread --name=write_iops --rw=randwrite {stonewall}"
        )
    };
    let together = bench.run(&sections(""));
    together.caught("jobs-overlap", Severity::Caution);
    let jobs: Vec<Option<&str>> = together
        .record
        .findings
        .iter()
        .filter(|finding| finding.id == "jobs-overlap")
        .map(|finding| finding.job.as_deref())
        .collect();
    assert_eq!(jobs, [Some("read_iops"), Some("write_iops")], "each of the rows is marked");
    assert_eq!(together.stderr.matches("[jobs-overlap]").count(), 1, "and it is said once");
    bench.run(&sections("--stonewall")).honest("jobs-overlap");
}

/// Row J: the most copied line.
#[test]
fn latency_switched_off() {
    let Some(bench) = Bench::new() else { return };
    let line = |gtod_reduce: u32| {
        format!(
            "--randrepeat=1 --ioengine=libaio --direct=1 --gtod_reduce={gtod_reduce} --name=test --filename=testfile \
             --bs=4k --iodepth=64 --size=16m --readwrite=randrw --rwmixread=75"
        )
    };
    let off = bench.run(&line(1));
    assert_eq!(off.one("latency-off").severity, Severity::Info);
    bench.run(&line(0)).honest("latency-off");
}

/// What duplicates and compresses well, on a device that may do either.
#[test]
fn buffers_of_zeros() {
    let Some(bench) = Bench::new() else { return };
    let words = |more: &str| {
        bench.run(&format!("--name=job --filename=file --rw=write --bs=1m --size=16m --end_fsync=1 {more}"))
    };
    words("--zero_buffers=1").caught("compressible-data", Severity::Caution);
    words("--buffer_pattern=0xdeadbeef").caught("compressible-data", Severity::Caution);
    words("").honest("compressible-data");
}

/// A megabyte is over before anything settles.
#[test]
fn a_run_that_is_over_at_once() {
    let Some(bench) = Bench::new() else { return };
    bench.file("file");
    let words = "--name=job --filename=file --rw=randread --bs=4k --direct=1";
    bench.run(&format!("{words} --size=1m")).caught("too-short", Severity::Caution);
    bench.run(&format!("{words} --size={FILE_MIB}m --time_based --runtime=2")).honest("too-short");
}
