//! Tests that there is no coordinated omission: the effect of a stall on requests that had to wait is recorded.

use crate::ran::{MS, S, US, assert_exact, simulate_one};

const IOS: u64 = 100_000;

/// Latency and response time of each request, if one is due every 125 µs (80 % of the capacity at a service time of 100
/// µs) and request `stalled` takes a second longer.
fn arithmetic(stalled: u64) -> (Vec<u64>, Vec<u64>) {
    let mut free_ns = 0;
    (0..IOS)
        .map(|number| {
            let intended_ns = number * 125 * US;
            let start_ns = intended_ns.max(free_ns);
            free_ns = start_ns + 100 * US + if number + 1 == stalled { S } else { 0 };
            (free_ns - start_ns, free_ns - intended_ns)
        })
        .unzip()
}

#[test]
fn a_stall_of_a_second_is_in_the_response_time_and_not_in_the_service_time() {
    let job = simulate_one(&format!("--rate_iops=8000 --io_size={}k --sim_faults=stall:1s@20000", IOS * 4));
    let (service_ns, response_ns) = arithmetic(20_000);
    assert_exact(&job.directions.read.clat, service_ns);
    let response = job.directions.read.response.as_ref().expect("a paced job has response times");
    assert_exact(response, response_ns);
    // 8,000 requests fall due in that second, and four more seconds pass until the device has caught up.
    let (response_p999, service_p999) =
        (response.percentile(99.9).unwrap(), job.directions.read.clat.percentile(99.9).unwrap());
    assert!(response_p999 > 990 * MS, "{response_p999}");
    assert!(service_p999 < 101 * US, "{service_p999}");
}

#[test]
fn without_a_stall_both_are_the_same() {
    let job = simulate_one("--rate_iops=8000");
    assert_eq!(job.directions.read.response.as_ref(), Some(&job.directions.read.clat));
}

#[test]
fn a_stall_is_seen_with_poisson_arrivals_too() {
    let words = format!("--rate_iops=8000 --rate_process=poisson --io_size={}k --sim_faults=stall:1s@20000", IOS * 4);
    let job = simulate_one(&words);
    let response = job.directions.read.response.as_ref().unwrap();
    assert!(response.percentile(99.9).unwrap() > 900 * MS);
    assert!(job.directions.read.clat.percentile(99.9).unwrap() < 101 * US);
}

#[test]
fn the_ramp_leaves_no_response_times_behind() {
    // The device has caught up long before the ramp ends.
    let job = simulate_one("--rate_iops=8000 --time_based --ramp_time=10s --runtime=2s --sim_faults=stall:1s@10");
    let response = job.directions.read.response.as_ref().unwrap();
    assert_eq!((response.moments.min, response.moments.max), (100 * US, 100 * US));
    assert_eq!(response.moments.count, job.directions.read.clat.moments.count);
}
