//! Tests when a job ends, and what is counted until then.

use crate::ran::{S, US, assert_exact, simulate_one, times};

#[test]
fn the_runtime_runs_on_the_devices_clock() {
    // 10,000 requests of 100 µs; the last one ends with the runtime and counts.
    let job = simulate_one("--time_based --runtime=1s");
    assert_eq!(
        (job.directions.read.ios, job.directions.read.bytes, job.directions.read.runtime_ms),
        (10_000, 40_960_000, 1000)
    );
    assert_exact(&job.directions.read.clat, times(10_000, 100 * US));
}

#[test]
fn what_is_in_flight_at_the_end_is_drained_and_counted() {
    // Seven are still in the queue when the 10,000th is done; they take 0.7 ms more.
    let job = simulate_one("--time_based --runtime=1s --iodepth=8");
    assert_eq!((job.directions.read.ios, job.directions.read.bytes), (10_007, 10_007 * 4096));
    assert_eq!(job.directions.read.runtime_ms, 1001);
    assert_eq!(job.directions.read.clat.moments.count, 10_007);
}

#[test]
fn a_runtime_without_time_based_only_limits() {
    let job = simulate_one("--runtime=10s");
    assert_eq!((job.directions.read.ios, job.directions.read.runtime_ms), (1000, 100));
    let job = simulate_one("--runtime=50ms");
    assert_eq!((job.directions.read.ios, job.directions.read.runtime_ms), (500, 50));
}

#[test]
fn the_ramp_comes_before_the_runtime_and_leaves_no_trace() {
    // The stall is in the ramp: request 5,000 takes half a second of it.
    let job = simulate_one("--time_based --ramp_time=2s --runtime=1s --sim_faults=stall:500ms@5000");
    assert_eq!((job.directions.read.ios, job.directions.read.runtime_ms), (10_000, 1000));
    assert_eq!(job.directions.read.clat.moments.max, 100 * US);
    assert_eq!(u128::from(job.directions.read.clat.moments.count) * 4096, u128::from(job.directions.read.bytes));
    assert_eq!(job.directions.read.bandwidth_samples.count, 2);
    assert_eq!(job.directions.read.bandwidth_samples.series[0].0, 500, "sample times count from the end of the ramp");
}

#[test]
fn what_the_ramp_did_counts_towards_the_size() {
    // 1,000 requests take 100 ms, of which 60 ms are ramp.
    let job = simulate_one("--ramp_time=60ms");
    assert_eq!((job.directions.read.ios, job.directions.read.runtime_ms), (400, 40));
}

#[test]
fn a_job_that_ends_in_its_ramp_reports_traffic_without_latency() {
    let job = simulate_one("--ramp_time=10s");
    assert_eq!(
        (job.directions.read.ios, job.directions.read.bytes, job.directions.read.runtime_ms),
        (1000, 4_096_000, 100)
    );
    assert_eq!(job.directions.read.clat.moments.count, 0);
    assert_eq!(job.directions.read.bandwidth_samples.count, 0);
}

#[test]
fn a_number_of_ios_ends_the_job() {
    let job = simulate_one("--number_ios=77 --iodepth=8");
    assert_eq!(
        (job.directions.read.ios, job.directions.read.bytes, job.directions.read.runtime_ms),
        (77, 77 * 4096, 8)
    );
}

#[test]
fn loops_repeat_the_job_in_one_report() {
    let job = simulate_one("--loops=3");
    assert_eq!((job.directions.read.ios, job.directions.read.runtime_ms), (3000, 300));
    let job = simulate_one("--loops=3 --number_ios=10");
    assert_eq!(job.directions.read.ios, 30);
}

#[test]
fn io_size_is_transferred_whatever_the_size_is() {
    assert_eq!(simulate_one("--io_size=400k").directions.read.ios, 100);
    assert_eq!(simulate_one("--io_size=10000k").directions.read.ios, 2500);
    assert_eq!(simulate_one("--io_size=10000k --loops=2").directions.read.ios, 5000);
    assert_eq!(simulate_one("--io_size=2000k --loops=3").directions.read.ios, 1500);
}

#[test]
fn a_block_that_does_not_fit_is_left_out() {
    assert_eq!(simulate_one("--size=22k --rw=read").directions.read.bytes, 20_480);
}

#[test]
fn a_start_delay_is_no_part_of_the_runtime() {
    let job = simulate_one("--startdelay=5s");
    assert_eq!((job.directions.read.ios, job.directions.read.runtime_ms), (1000, 100));
    assert_eq!(job.directions.read.clat.moments.sum, u128::from(S / 10));
}
