//! Tests latencies, depths and classes of requests that wait in a queue.

use crate::ran::{MS, US, assert_exact, simulate_one, times};

/// Index of 100 µs (100 to 250), 200 µs, and 800 µs (750 to 1000) in `latency_us_counts`.
const FROM_100_US: usize = 6;
const FROM_750_US: usize = 9;

#[test]
fn one_request_at_a_time_takes_its_service_time() {
    let job = simulate_one("--iodepth=1");
    assert_exact(&job.directions.read.clat, times(1000, 100 * US));
    assert_exact(&job.directions.read.lat, times(1000, 100 * US));
    assert_exact(&job.directions.read.slat, times(1000, 0));
    assert_eq!(
        (job.directions.read.ios, job.directions.read.bytes, job.directions.read.runtime_ms),
        (1000, 4_096_000, 100)
    );
    assert_eq!(job.depth_levels, [1000, 0, 0, 0, 0, 0, 0]);
    assert_eq!(job.latency_us_counts[FROM_100_US], 1000);
    assert_eq!(job.latency_us_counts.iter().sum::<u64>(), 1000);
}

#[test]
fn a_queue_of_eight_before_one_server_waits_for_seven() {
    let job = simulate_one("--iodepth=8");
    let first = (1..=8).map(|place| place * 100 * US);
    assert_exact(&job.directions.read.clat, first.clone().chain(times(992, 800 * US)));
    assert_exact(&job.directions.read.lat, first.chain(times(992, 800 * US)));
    assert_eq!(job.directions.read.clat.moments.sum, 797_200_000);
    assert_eq!(job.directions.read.runtime_ms, 100);
    // The queue fills through 1, 2-3, 4-7; from then on each request is submitted as the eighth.
    assert_eq!(job.depth_levels, [1, 2, 4, 993, 0, 0, 0]);
    assert_eq!(job.submit_sizes, [0, 1000, 0, 0, 0, 0, 0]);
    assert_eq!(job.complete_sizes, [0, 1000, 0, 0, 0, 0, 0]);
    // 100 and 200 µs; 300 and 400; 500, 600 and 700; 800 and up.
    assert_eq!(job.latency_us_counts[FROM_100_US..], [2, 2, 3, 993]);
    assert_eq!(job.latency_us_counts[FROM_750_US], 993);
}

#[test]
fn a_queue_of_eight_before_four_servers_waits_for_one_round() {
    let job = simulate_one("--iodepth=8 --sim_channels=4");
    assert_exact(&job.directions.read.clat, times(4, 100 * US).chain(times(996, 200 * US)));
    assert_eq!(job.directions.read.runtime_ms, 25);
    // Four end at the same time and are reaped together.
    assert_eq!(job.complete_sizes, [0, 250, 0, 0, 0, 0, 0]);
}

#[test]
fn enough_servers_leave_nobody_waiting() {
    let job = simulate_one("--iodepth=64 --sim_channels=64 --size=25600k");
    assert_exact(&job.directions.read.clat, times(6400, 100 * US));
    assert_eq!(job.directions.read.runtime_ms, 10);
    assert_eq!(job.complete_sizes, [0, 0, 0, 0, 0, 100, 0], "64 at a time");
    // 64 slots fill up once, then each request is submitted as the 64th.
    assert_eq!(job.depth_levels, [1, 2, 4, 8, 16, 32, 6337]);
}

#[test]
fn a_device_whose_queue_is_full_holds_the_request_before_its_submission() {
    // Four fit. The fifth is prepared at 0, but accepted only when the first is done, and so on: each later request
    // waits 100 µs outside and 400 µs inside.
    let job = simulate_one("--iodepth=8 --sim_queue=4");
    let first = (1..=4).map(|place| place * 100 * US);
    assert_exact(&job.directions.read.slat, times(4, 0).chain(times(996, 100 * US)));
    assert_exact(&job.directions.read.clat, first.clone().chain(times(996, 400 * US)));
    assert_exact(&job.directions.read.lat, first.chain(times(996, 500 * US)));
    assert_eq!((job.directions.read.ios, job.directions.read.runtime_ms), (1000, 100));
}

#[test]
fn the_distributions_that_are_asked_for_are_kept() {
    let job = simulate_one("--iodepth=8 --sim_queue=4 --lat_percentiles=1 --slat_percentiles=1");
    assert_eq!(job.directions.read.lat.histogram.as_ref().unwrap().count(), 1000);
    assert_eq!(job.directions.read.slat.histogram.as_ref().unwrap().count(), 1000);
    let plain = simulate_one("--iodepth=8 --sim_queue=4");
    assert_eq!((plain.directions.read.lat.histogram, plain.directions.read.slat.histogram), (None, None));
    assert!(plain.directions.read.clat.histogram.is_some());
}

#[test]
fn what_is_switched_off_is_not_in_the_record() {
    let job = simulate_one("--disable_clat=1");
    assert_eq!(job.directions.read.clat.moments.count, 0);
    assert_eq!(job.directions.read.lat.moments.count, 1000);
    let job = simulate_one("--disable_lat=1 --disable_slat=1");
    assert_eq!((job.directions.read.lat.moments.count, job.directions.read.slat.moments.count), (0, 0));
    assert_eq!(job.directions.read.clat.moments.count, 1000);
}

#[test]
fn gtod_reduce_times_one_in_64() {
    let job = simulate_one("--gtod_reduce=1 --size=25600k");
    assert_eq!(job.directions.read.ios, 6400);
    assert_eq!(job.timed_one_in, 64);
    assert_eq!(
        (
            job.directions.read.clat.moments.count,
            job.directions.read.lat.moments.count,
            job.directions.read.slat.moments.count
        ),
        (0, 0, 0)
    );
    assert_exact(&job.sampled_latency.expect("the samples are kept").read, times(100, 100 * US));
    assert_eq!(job.latency_us_counts.iter().sum::<u64>(), 0, "the classes are of all I/Os or of none");
}

#[test]
fn gtod_reduce_times_one_in_64_of_a_queue_too() {
    let job = simulate_one("--gtod_reduce=1 --size=25600k --iodepth=8");
    let sampled = &job.sampled_latency.expect("the samples are kept").read;
    assert_eq!(sampled.moments.count, 100);
    // The queue is full except at the beginning.
    assert_eq!(sampled.moments.max, 800 * US);
    assert!(sampled.moments.sum > 98 * u128::from(800 * US));
}

#[test]
fn directions_are_kept_apart() {
    let job = simulate_one("--rw=randrw --rwmixread=75 --iodepth=1");
    assert_eq!(job.directions.read.ios + job.directions.write.ios, 1000);
    assert_exact(&job.directions.read.clat, times(job.directions.read.ios as usize, 100 * US));
    assert_exact(&job.directions.write.clat, times(job.directions.write.ios as usize, 100 * US));
    assert_eq!(job.directions.trim, Default::default());
    assert_eq!(
        (job.directions.read.runtime_ms, job.directions.write.runtime_ms),
        (100, 100),
        "the whole phase for each"
    );
}

#[test]
fn windows_of_half_a_second_give_samples() {
    let job = simulate_one("--time_based --runtime=2s");
    // 5,000 I/Os of 4 KiB in each window; the request that ends with the runtime is in none.
    let samples = &job.directions.read.bandwidth_samples;
    assert_eq!((samples.min, samples.max, samples.count), (39_992, 40_000, 4));
    assert_eq!(samples.series.iter().map(|(at_ms, _)| *at_ms).collect::<Vec<_>>(), [500, 1000, 1500, 2000]);
    assert_eq!(job.directions.read.iops_samples.count, 4);
}

#[test]
fn other_windows_can_be_asked_for() {
    let job = simulate_one("--time_based --runtime=2s --bwavgtime=250 --iopsavgtime=1000");
    assert_eq!((job.directions.read.bandwidth_samples.count, job.directions.read.iops_samples.count), (8, 2));
}

#[test]
fn the_clock_of_each_clone_is_its_own() {
    let ran = crate::ran::simulate("--numjobs=3");
    for job in &ran.record.jobs {
        assert_exact(&job.directions.read.clat, times(1000, 100 * US));
        assert_eq!(job.directions.read.runtime_ms * MS, 100 * MS);
    }
    assert_eq!(
        ran.record.jobs.iter().map(|job| (job.thread_number, job.clone)).collect::<Vec<_>>(),
        [(1, 0), (2, 2), (3, 1)]
    );
}
