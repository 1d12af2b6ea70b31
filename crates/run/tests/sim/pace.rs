//! Tests paced jobs: rates, think time, limits.

use crate::ran::{MS, S, US, assert_exact, simulate, simulate_one, times};

#[test]
fn requests_start_when_they_are_intended_to() {
    // Request n starts at n ms and takes 100 µs.
    let job = simulate_one("--rate_iops=1000 --number_ios=100");
    assert_exact(&job.directions.read.clat, times(100, 100 * US));
    assert_exact(job.directions.read.response.as_ref().unwrap(), times(100, 100 * US));
    assert_eq!((job.directions.read.ios, job.directions.read.runtime_ms), (100, 100));
}

#[test]
fn a_rate_of_bytes_is_a_rate_of_requests() {
    // 4,096,000 bytes per second are 1,000 blocks.
    let job = simulate_one("--rate=4000k --number_ios=100");
    assert_exact(job.directions.read.response.as_ref().unwrap(), times(100, 100 * US));
    assert_eq!(job.directions.read.runtime_ms, 100);
}

#[test]
fn a_rate_above_the_device_shows_in_the_response_time() {
    // Due every 50 µs, served every 100 µs: request n starts 50 n µs late.
    let job = simulate_one("--rate_iops=20000 --number_ios=100");
    assert_exact(&job.directions.read.clat, times(100, 100 * US));
    assert_exact(job.directions.read.response.as_ref().unwrap(), (0..100).map(|n| 100 * US + n * 50 * US));
}

#[test]
fn the_schedule_begins_anew_when_the_ramp_is_over() {
    // The ramp ends after 1,000 requests, half a ramp behind schedule. Request n after it is 50 n µs late.
    let job = simulate_one("--rate_iops=20000 --ramp_time=100ms --runtime=10ms --time_based");
    assert_exact(job.directions.read.response.as_ref().unwrap(), (0..100).map(|n| 100 * US + n * 50 * US));
}

#[test]
fn paced_jobs_spin_only_where_each_worker_has_a_processor() {
    let spun = |words: &str| {
        let ran = simulate(&format!("--thinktime=100 --number_ios=10 {words}"));
        ran.record.jobs.iter().map(|job| job.spun_ns).collect::<Vec<_>>()
    };
    // The sleeps of a virtual clock are never late, so that the last µs of each wait is spun. Ten waits follow ten requests.
    let alone = spun("");
    assert!(matches!(alone[..], [Some(9_000..=10_000)]), "{alone:?}");
    let crowded = fsdyno_os::thread::processors() + 1;
    assert_eq!(spun(&format!("--numjobs={crowded}")), vec![None; crowded]);
    assert_eq!(simulate_one("").spun_ns, None, "a job without a pace does not spin");
}

#[test]
fn plain_jobs_have_no_response_time() {
    assert_eq!(simulate_one("").directions.read.response, None);
    assert_eq!(simulate_one("--thinktime=100").directions.read.response, None, "nothing is intended");
}

#[test]
fn each_direction_keeps_its_own_rate() {
    let job = simulate_one("--rw=randrw --rate_iops=1000,500 --runtime=1s --time_based");
    assert!((999..=1001).contains(&job.directions.read.ios), "{} reads", job.directions.read.ios);
    assert!((499..=501).contains(&job.directions.write.ios), "{} writes", job.directions.write.ios);
}

#[test]
fn a_mix_of_one_direction_stays_one_under_every_rate() {
    for rate in ["--rate=4m", "--rate_iops=1000", "--rate=4m,1m", "--rate_iops=100,2000", "--rate_iops=,1000", ""] {
        for process in ["", "--rate_process=poisson"] {
            for rw in ["rw", "randrw"] {
                let words = format!("--rw={rw} {rate} {process} --number_ios=100 --iodepth=4");
                let reads = simulate_one(&format!("{words} --rwmixread=100"));
                assert_eq!((reads.directions.read.ios, reads.directions.write.ios), (100, 0), "{words}");
                let writes = simulate_one(&format!("{words} --rwmixwrite=100"));
                assert_eq!((writes.directions.read.ios, writes.directions.write.ios), (0, 100), "{words}");
            }
        }
    }
}

#[test]
fn poisson_arrivals_keep_the_mean_rate() {
    let job = simulate_one("--rate_iops=1000 --rate_process=poisson --iodepth=16 --runtime=100s --time_based");
    // 100,000 arrivals have a standard deviation of 316; the range is five of these.
    assert!((98_400..=101_600).contains(&job.directions.read.ios), "{} reads", job.directions.read.ios);
    assert!(job.directions.read.clat.moments.max > 200 * US, "arrivals come in clusters");
}

#[test]
fn a_slow_request_delays_no_other_in_a_queue() {
    // The first takes 5.1 ms; the others have a server each.
    let job = simulate_one("--rate_iops=1000 --iodepth=8 --sim_channels=8 --number_ios=20 --sim_faults=stall:5ms@1");
    assert_exact(&job.directions.read.clat, times(19, 100 * US).chain([5100 * US]));
    assert_exact(job.directions.read.response.as_ref().unwrap(), times(19, 100 * US).chain([5100 * US]));
}

#[test]
fn a_pause_follows_each_group_of_blocks() {
    // 250 groups of four blocks, and 249 pauses.
    let job = simulate_one("--thinktime=9600 --thinktime_blocks=4");
    assert_exact(&job.directions.read.clat, times(1000, 100 * US));
    assert_eq!(job.directions.read.runtime_ms, (250 * 400 * US + 249 * 9600 * US).div_ceil(MS));
}

#[test]
fn the_spinning_part_is_part_of_the_pause() {
    let job = simulate_one("--thinktime=9600 --thinktime_spin=5000 --thinktime_blocks=4");
    assert_eq!(job.directions.read.runtime_ms, (250 * 400 * US + 249 * 9600 * US).div_ceil(MS));
}

#[test]
fn a_queue_is_drained_before_a_pause() {
    // 32 services of 0.1 ms and three pauses, whatever is counted.
    let queue = "--iodepth=8 --thinktime=10000 --thinktime_blocks=8 --number_ios=32";
    let job = simulate_one(queue);
    assert_eq!((job.directions.read.ios, job.directions.read.runtime_ms), (32, 34));
    // Fifteen are submitted until eight are done; after each pause the queue fills up and one more is enough.
    let filling = || (1..=8).map(|place| place * 100 * US);
    let expected = filling().chain(times(7, 800 * US)).chain(filling()).chain(filling()).chain([100 * US]);
    assert_exact(&job.directions.read.clat, expected);
}

#[test]
fn a_pause_may_follow_each_group_of_issues() {
    let job = simulate_one(
        "--iodepth=8 --thinktime=10000 --thinktime_blocks=8 --thinktime_blocks_type=issue --number_ios=32",
    );
    assert_eq!((job.directions.read.ios, job.directions.read.runtime_ms), (32, 34));
    let group = |_| (1..=8).map(|place| place * 100 * US);
    assert_exact(&job.directions.read.clat, (0..4).flat_map(group));
}

/// Sum of the delays with which the requests of a rate of 20 per second begin: request n is due at 50 n ms, and takes a
/// microsecond.
fn late_ms(words: &str, ios: u64) -> u64 {
    let job = simulate_one(&format!("--rate_iops=20 --sim_service=1us --thinktime=300ms {words} --number_ios={ios}"));
    (job.directions.read.response.as_ref().expect("it is paced").moments.sum / u128::from(MS)) as u64
}

#[test]
fn a_rate_catches_up_after_a_pause_unless_it_is_not_to() {
    // As in fio 3.42: 0.00 to 0.20, then five at 0.50, five at 0.80. Each time they are 250, 200, 150, 100, 50 ms late,
    // and from the second pause on by what was left of the first.
    assert_eq!(late_ms("--thinktime_blocks=5", 10), 250 + 200 + 150 + 100 + 50);
    assert_eq!(late_ms("--thinktime_blocks=5", 15), 750 + 300 + 250 + 200 + 150 + 100);
    // 0.00 to 0.20, 0.50 to 0.70, 1.00 to 1.20: the schedule waits with the job.
    assert_eq!(late_ms("--thinktime_blocks=5 --rate_ignore_thinktime=1", 15), 0);
    let job = simulate_one(
        "--rate_iops=20 --sim_service=1us --thinktime=300ms --thinktime_blocks=5 --rate_ignore_thinktime=1 --number_ios=15",
    );
    assert_eq!(job.directions.read.runtime_ms, 1201);
}

#[test]
fn a_pause_may_come_by_the_clock() {
    // 0.00 to 0.20, six at 0.50, then on schedule to the pause at 0.70 or, when that is a moment too early, at 0.75.
    assert_eq!(late_ms("--thinktime_iotime=200ms", 11), 250 + 200 + 150 + 100 + 50);
    // An explicit number of blocks counts as well: three are done before 200 ms are over.
    let job = |words: &str| simulate_one(&format!("--sim_service=50ms --thinktime=300ms --number_ios=9 {words}"));
    assert_eq!(job("--thinktime_iotime=200ms --thinktime_blocks=3").directions.read.runtime_ms, 9 * 50 + 2 * 300);
    assert_eq!(job("--thinktime_iotime=200ms --thinktime_blocks=9").directions.read.runtime_ms, 9 * 50 + 2 * 300);
    assert_eq!(job("--thinktime_iotime=200ms").directions.read.runtime_ms, 9 * 50 + 2 * 300);
    assert_eq!(job("--thinktime_iotime=1").directions.read.runtime_ms, 9 * 50);
}

#[test]
fn cycles_take_no_time_of_the_device() {
    let job = simulate_one("--thinkcycles=1000");
    assert_exact(&job.directions.read.clat, times(1000, 100 * US));
    assert!(job.plan.paced, "it could do more");
}

#[test]
fn syncs_are_no_blocks_to_think_after() {
    for kind in ["complete", "issue"] {
        let words = format!(
            "--rw=write --fsync=1 --thinktime=9600 --thinktime_blocks=4 --thinktime_blocks_type={kind} --number_ios=8"
        );
        // Eight writes, seven syncs, one pause.
        assert_eq!(
            simulate_one(&words).directions.write.runtime_ms,
            (15 * 100 * US + 9600 * US).div_ceil(MS),
            "{kind}"
        );
    }
}

#[test]
fn a_request_slower_than_the_limit_fails_the_job() {
    let ran = simulate("--max_latency=500ms --sim_faults=stall:1s@5");
    let job = ran.job();
    let error = job.error.as_ref().unwrap();
    assert_eq!((error.code, error.function.as_str()), (110, "max latency exceeded"));
    assert_eq!((job.directions.read.ios, job.directions.read.bytes), (5, 5 * 4096));
    let expected = "fio: latency of 1000100000 nsec exceeds specified max (500000000 nsec): ";
    assert!(ran.messages[0].starts_with(expected), "{:?}", ran.messages);
    assert_eq!(job.directions.read.clat.moments.max, S + 100 * US, "the slow one is in the figures");
}

#[test]
fn a_request_as_slow_as_the_limit_passes() {
    assert_eq!(simulate_one("--max_latency=100us").directions.read.ios, 1000);
    assert_eq!(simulate_one("--max_latency=800us --iodepth=8").directions.read.ios, 1000);
    assert!(simulate("--max_latency=799us --iodepth=8").job().error.is_some());
}

#[test]
fn a_job_below_its_minimum_rate_fails() {
    let ran = simulate("--rate_iops_min=20000 --time_based --runtime=10s");
    let error = ran.job().error.as_ref().unwrap();
    assert_eq!((error.code, error.function.as_str()), (5, "check_min_rate"));
    assert!(ran.messages[0].starts_with("sim: rate_iops_min=20000 not met, got "), "{:?}", ran.messages);
    // The first two seconds are not judged.
    assert!((2000..=3100).contains(&ran.job().directions.read.runtime_ms), "{}", ran.job().directions.read.runtime_ms);
    let ran = simulate("--rate_min=50m --time_based --runtime=10s");
    assert!(ran.messages[0].starts_with("sim: rate_min=52428800B/s not met, got "), "{:?}", ran.messages);
    // However far apart the requests are: 409 B/s.
    let ran = simulate("--rate_min=1024 --thinktime=10s --time_based --runtime=60s");
    assert_eq!(ran.messages[0], "sim: rate_min=1024B/s not met, got 409B/s");
}

#[test]
fn a_job_above_its_minimum_rate_runs_on() {
    let job = simulate_one("--rate_iops_min=9000 --time_based --runtime=10s");
    assert_eq!(job.directions.read.runtime_ms, 10_000);
    let job = simulate_one("--rate_min=30m --time_based --runtime=10s");
    assert_eq!(job.directions.read.runtime_ms, 10_000);
    // The window in which the ramp ends begins again.
    let job = simulate_one("--rate_iops_min=9000 --rate_cycle=5000 --ramp_time=3s --time_based --runtime=10s");
    assert_eq!(job.directions.read.runtime_ms, 10_000);
    let job = simulate_one("--rw=randrw --rate_iops_min=4000 --time_based --runtime=10s");
    assert_eq!(job.directions.read.runtime_ms, 10_000);
    // One request each 3.3 s: most windows of a second have none.
    let job = simulate_one("--rate=1250 --rate_min=1024 --time_based --runtime=30s");
    assert_eq!(job.directions.read.ios, 10);
}

#[test]
fn the_latency_of_a_paced_job_counts_from_its_real_start() {
    // A stall of 10 ms delays the ten requests after it: their service time is normal, their response time is not.
    let job = simulate_one("--rate_iops=1000 --number_ios=30 --sim_faults=stall:10ms@10");
    assert_exact(&job.directions.read.clat, times(29, 100 * US).chain([10_100 * US]));
    // Request 10 is due at 9 ms and ends at 19.1 ms; the next ones start there, one after the other.
    let mut free_ns = 0;
    let response = (0..30).map(|n| {
        let service = if n == 9 { 10_100 * US } else { 100 * US };
        free_ns = free_ns.max(n * MS) + service;
        free_ns - n * MS
    });
    assert_exact(job.directions.read.response.as_ref().unwrap(), response);
}
