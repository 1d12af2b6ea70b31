//! Tests paced jobs on the virtual clock.

use crate::run::{assert_close, simulate};

#[test]
fn a_rate_of_requests() {
    // Request n starts at n ms; the last one starts at 99 ms and ends 0.1 ms later.
    let ran = simulate("--rate_iops=1000 --number_ios=100");
    assert_eq!(ran.integer("read/total_ios"), 100);
    assert_eq!(ran.integer("read/runtime"), 100);
    assert_close(ran.float("read/iops"), 1000.0, "iops");
    ran.assert_latency("lat_ns", (100_000, 100_000.0, 100_000, 100));
}

#[test]
fn a_rate_of_bytes() {
    // 4 KiB every 4 ms.
    let ran = simulate("--rate=1000k --number_ios=100");
    assert_eq!(ran.integer("read/runtime"), 397);
}

#[test]
fn a_rate_above_the_device_is_the_device() {
    let ran = simulate("--rate_iops=50000 --iodepth=4");
    assert_eq!(ran.integer("read/runtime"), 100);
    assert_close(ran.float("read/iops"), 10_000.0, "iops");
}

#[test]
fn a_pause_after_each_block() {
    // 100 µs of service and 900 µs of think time, a thousand times.
    let ran = simulate("--thinktime=900");
    assert_eq!(ran.integer("read/total_ios"), 1000);
    assert!((999..=1000).contains(&ran.integer("read/runtime")), "{} ms", ran.integer("read/runtime"));
    assert_eq!(ran.integer("read/lat_ns/max"), 100_000);
}
