//! T4: writes that stopped in memory.

use fsdyno_results::Severity;

use crate::bench::Bench;

/// Row F, and the same with a sync at the end.
#[test]
fn a_write_without_a_sync() {
    let Some(bench) = Bench::new() else { return };
    // Long enough to be judged on a fast machine too.
    let words = |name: &str| {
        format!("--name=job --filename={name} --rw=write --bs=1m --size=256m --fallocate=none --rate=,600m")
    };
    let lost = bench.run(&words("memory"));
    lost.caught("writes-in-memory", Severity::Invalid);
    assert!(lost.stderr.contains("add --end_fsync=1"), "{}", lost.stderr);
    bench.run(&format!("{} --end_fsync=1", words("disk"))).honest("writes-in-memory");
    bench.run(&format!("{} --direct=1", words("direct"))).honest("writes-in-memory");
}

/// Over in some ten milliseconds, before any of it is on the device.
#[test]
fn a_short_write_without_a_sync() {
    let Some(bench) = Bench::new() else { return };
    let words = |name: &str| format!("--name=job --filename={name} --rw=write --bs=1m --size=64m --fallocate=none");
    bench.run(&words("memory")).caught("writes-in-memory", Severity::Invalid);
    bench.run(&format!("{} --end_fsync=1", words("disk"))).honest("writes-in-memory");
}

/// A quarter of a mebibyte has the word of a gibibyte.
#[test]
fn a_small_write_without_a_sync() {
    let Some(bench) = Bench::new() else { return };
    let words = |name: &str| format!("--name=job --filename={name} --rw=write --bs=4k --size=512k --fallocate=none");
    bench.run(&words("memory")).caught("writes-in-memory", Severity::Invalid);
    bench.run(&format!("{} --end_fsync=1", words("disk"))).honest("writes-in-memory");
}

/// The second section writes the pages again that the first one left dirty: none more of them are.
#[test]
fn a_write_over_what_is_still_in_memory() {
    let Some(bench) = Bench::new() else { return };
    let section = "--rw=write --bs=1m --size=64m --invalidate=0 --filename=file --fallocate=none";
    let both = |last: &str| bench.run(&format!("--name=first {section} --name=second --stonewall {section} {last}"));
    let of_second = |ran: &crate::bench::RunResult| {
        let is_of_second = |finding: &&fsdyno_results::Finding| finding.job.as_deref() == Some("second");
        let ids = ran.record.findings.iter().filter(is_of_second).map(|finding| (finding.id.clone(), finding.severity));
        ids.collect::<Vec<_>>()
    };
    let lost = both("");
    lost.caught("writes-in-memory", Severity::Invalid);
    assert!(of_second(&lost).contains(&("writes-in-memory".to_owned(), Severity::Invalid)), "{:?}", of_second(&lost));
    let stored = of_second(&both("--end_fsync=1"));
    assert!(stored.iter().all(|(id, _)| id != "writes-in-memory"), "{stored:?}");
}

/// The verification stores them, when the clock has stopped.
#[test]
fn writes_that_a_verification_stores() {
    let Some(bench) = Bench::new() else { return };
    let words = |name: &str| {
        format!("--name=job --filename={name} --rw=write --bs=64k --size=64m --fallocate=none --verify=crc32c")
    };
    bench.run(&words("memory")).caught("writes-in-memory", Severity::Invalid);
    bench.run(&format!("{} --end_fsync=1", words("disk"))).honest("writes-in-memory");
    bench.run(&format!("{} --direct=1", words("direct"))).honest("writes-in-memory");
}

/// Requests that the kernel refuses: what came before says nothing.
#[test]
fn a_run_that_fails() {
    let Some(bench) = Bench::new() else { return };
    bench.file("file");
    let words = |bs: u32| format!("--name=job --filename=file --rw=read --bs={bs} --size=1m --direct=1");
    let failed = bench.run(&words(4097));
    let finding = failed.one("run-failed");
    assert_eq!(finding.severity, Severity::Invalid);
    assert!(finding.cause.contains("not judged: the run failed (io_u error: Invalid argument"), "{}", finding.cause);
    assert!(failed.stderr.contains("[run-failed]"), "{}", failed.stderr);
    bench.run(&words(4096)).honest("run-failed");
}
