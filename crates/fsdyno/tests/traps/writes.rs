//! T4: writes that stopped in memory.

use results::Severity;

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
