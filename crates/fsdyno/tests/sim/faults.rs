//! Tests scripted faults: what breaks, what is counted, the exit status.

use crate::run::{assert_close, simulate};

/// errno of "Input/output error".
const EIO: u64 = 5;

#[test]
fn an_error_ends_the_job() {
    let ran = simulate("--sim_faults=error:EIO@5");
    assert_eq!(ran.status, Some(1));
    assert_eq!(ran.integer("error"), EIO);
    // The four before it were transferred; the fifth was submitted.
    assert_eq!(ran.integer("read/io_bytes"), 4 * 4096);
    assert_eq!(ran.integer("read/total_ios"), 5);
    assert!(ran.stderr.contains("Input/output error"), "{}", ran.stderr);
}

#[test]
fn each_failing_clone_counts_in_the_exit_status() {
    let ran = simulate("--numjobs=3 --sim_faults=error:EIO@5");
    assert_eq!(ran.status, Some(3));
}

#[test]
fn an_error_in_a_deep_queue_drains_it() {
    let ran = simulate("--iodepth=8 --sim_faults=error:EIO@5");
    assert_eq!(ran.status, Some(1));
    assert_eq!(ran.integer("error"), EIO);
}

#[test]
fn errors_can_be_counted_and_survived() {
    let ran = simulate("--continue_on_error=io --sim_faults=error:EIO@5,error:EIO@7");
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    assert_eq!(ran.integer("total_err"), 2);
    assert_eq!(ran.integer("first_error"), EIO);
    assert_eq!(ran.integer("read/total_ios"), 1000);
    assert_eq!(ran.integer("read/io_bytes"), 998 * 4096);
    ran.assert_latency("clat_ns", (100_000, 100_000.0, 100_000, 998));
}

#[test]
fn only_the_named_errors_are_survived() {
    let ran = simulate("--continue_on_error=write --sim_faults=error:EIO@5");
    assert_eq!(ran.status, Some(1));
}

#[test]
fn a_short_transfer_is_continued() {
    let ran = simulate("--sim_faults=short:1024@10");
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    assert_eq!(ran.integer("read/short_ios"), 1);
    assert_eq!(ran.integer("read/io_bytes"), 4_096_000);
    // The rest of it needs the device a second time.
    assert_eq!(ran.integer("read/lat_ns/max"), 200_000);
}

#[test]
fn two_stalls_in_a_thousand_are_seen_at_the_999th_of_a_thousand() {
    let ran = simulate("--sim_faults=stall:50ms@400,stall:50ms@600");
    assert_eq!(ran.integer("read/lat_ns/max"), 50_100_000);
    let (p99, p999) = ("read/clat_ns/percentile/99.000000", "read/clat_ns/percentile/99.900000");
    assert!(ran.integer(p99) < 101_000, "p99 {}", ran.integer(p99));
    assert!((49_700_000..50_500_000).contains(&ran.integer(p999)), "p99.9 {}", ran.integer(p999));
    assert_eq!(ran.integer("read/runtime"), 200);
    assert_close(ran.float("read/clat_ns/mean"), 200_000.0, "mean");
}
