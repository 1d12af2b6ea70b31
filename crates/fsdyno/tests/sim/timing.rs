//! Latency, rates and ends of runs.

use crate::run::{assert_close, simulate};

/// The middle of the histogram's bucket that holds 800,000 ns: 97 x 8192 + 4096.
const BUCKET_OF_800_US: u64 = 798_720;

#[test]
fn one_at_a_time() {
    let ran = simulate("--iodepth=1");
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    ran.assert_latency("clat_ns", (100_000, 100_000.0, 100_000, 1000));
    ran.assert_latency("lat_ns", (100_000, 100_000.0, 100_000, 1000));
    assert_close(ran.float("read/clat_ns/stddev"), 0.0, "stddev");
    assert_eq!(ran.integer("read/total_ios"), 1000);
    assert_eq!(ran.integer("read/io_bytes"), 4_096_000);
    assert_eq!(ran.integer("read/runtime"), 100);
    assert_close(ran.float("read/iops"), 10_000.0, "iops");
    assert_eq!(ran.integer("read/bw_bytes"), 40_960_000);
    assert_eq!(ran.integer("read/bw"), 40_000);
}

#[test]
fn a_queue_of_eight_before_one_server() {
    // The first eight wait 100, 200, ... 800 us; from then on each finds seven before it.
    let ran = simulate("--iodepth=8");
    let mean = (3_600_000.0 + 992.0 * 800_000.0) / 1000.0;
    ran.assert_latency("lat_ns", (100_000, mean, 800_000, 1000));
    assert_eq!(ran.integer("read/runtime"), 100);
    assert_close(ran.float("read/iops"), 10_000.0, "iops");
    assert_eq!(ran.integer("read/clat_ns/percentile/50.000000"), BUCKET_OF_800_US);
    // 800 us lie in the bucket from 750 to 1000 us, all of the last 993.
    assert_close(ran.float("latency_us/1000"), 99.3, "share of the bucket below 1 ms");
}

#[test]
fn a_queue_of_eight_before_four_servers() {
    // The first four take 100 us, all others 200 us; four end every 100 us.
    let ran = simulate("--iodepth=8 --sim_channels=4");
    ran.assert_latency("lat_ns", (100_000, (4.0 * 100_000.0 + 996.0 * 200_000.0) / 1000.0, 200_000, 1000));
    assert_eq!(ran.integer("read/runtime"), 25);
    assert_close(ran.float("read/iops"), 40_000.0, "iops");
}

#[test]
fn a_device_whose_queue_is_short_serves_as_fast() {
    let ran = simulate("--iodepth=8 --sim_queue=4");
    assert_eq!(ran.integer("read/total_ios"), 1000);
    assert_eq!(ran.integer("read/runtime"), 100);
}

#[test]
fn the_runtime_runs_on_the_virtual_clock() {
    let ran = simulate("--time_based --runtime=60");
    assert_eq!(ran.integer("read/total_ios"), 600_000);
    assert_eq!(ran.integer("read/runtime"), 60_000);
    assert_close(ran.float("read/iops"), 10_000.0, "iops");
}

#[test]
fn the_ramp_is_not_counted() {
    let ran = simulate("--time_based --runtime=10 --ramp_time=5");
    assert_eq!(ran.integer("read/runtime"), 10_000);
    // The request that comes back as the ramp ends belongs to the ramp.
    assert_eq!(ran.integer("read/total_ios"), 100_000);
    ran.assert_latency("lat_ns", (100_000, 100_000.0, 100_000, 100_000));
}

#[test]
fn samples_are_taken_every_half_second() {
    let ran = simulate("--time_based --runtime=10");
    // The request that ends as a window closes belongs to the next one: 4,999 in the first, 5,000 in all others.
    assert_eq!(ran.integer("read/bw_samples"), 20);
    assert_eq!((ran.integer("read/bw_min"), ran.integer("read/bw_max")), (39_992, 40_000));
    assert_close(ran.float("read/bw_mean"), 39_999.6, "mean of the samples");
    assert_close(ran.float("read/iops_mean"), 9_999.9, "mean of the samples");
}

#[test]
fn batches_are_seen_in_the_histograms() {
    let ran = simulate("--iodepth=16 --iodepth_batch=8 --iodepth_batch_complete_min=8");
    assert_close(ran.float("iodepth_submit/8"), 100.0, "submissions of eight");
    // The last eight are waited for one by one, so that each has its own time.
    assert_close(ran.float("iodepth_complete/8"), 100.0 * 124.0 / 132.0, "completions of eight");
    assert_eq!(ran.integer("read/total_ios"), 1000);
}

#[test]
fn single_submissions_are_seen_in_the_histograms() {
    let ran = simulate("--iodepth=16");
    assert_close(ran.float("iodepth_submit/4"), 100.0, "submissions of one to four");
    assert_close(ran.float("iodepth_complete/4"), 100.0, "completions of one to four");
}

#[test]
fn clones_have_clocks_of_their_own() {
    let ran = simulate("--numjobs=3 --group_reporting");
    assert_eq!(ran.integer("read/total_ios"), 3000);
    assert_eq!(ran.integer("read/runtime"), 100);
    assert_close(ran.float("read/iops"), 30_000.0, "iops of the group");
    ran.assert_latency("lat_ns", (100_000, 100_000.0, 100_000, 3000));
}

#[test]
fn a_mix_shares_the_device() {
    let ran = simulate("--rw=randrw --rwmixread=75");
    let (reads, writes) = (ran.integer("read/total_ios"), ran.integer("write/total_ios"));
    assert_eq!(reads + writes, 1000);
    assert!((700..=800).contains(&reads), "{reads} reads of 1000 at 75 %");
    assert_eq!(ran.integer("write/lat_ns/max"), 100_000);
    assert_eq!(ran.integer("read/runtime"), 100);
}
