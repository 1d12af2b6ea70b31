//! Tests what ends a job early, and searches: steady states, a latency target, ramps by bytes, jobs that wait for
//! others or end with them, flows.

use fsdyno_results::{JobRecord, RunRecord};
use fsdyno_run::{Control, View};

use crate::ran::{MS, S, US, assert_exact, conduct, jobs, simulate, simulate_one, times};

const ENDLESS: &str = "--time_based --runtime=1000d";

#[test]
fn a_steady_rate_ends_the_job() {
    for (rule, slope, percent) in [
        ("iops:1%", false, true),
        ("iops_slope:1", true, false),
        ("bw:1", false, false),
        ("lat_slope:0.1%", true, true),
    ] {
        for depth in [1, 8] {
            let job = simulate_one(&format!("{ENDLESS} --ss={rule} --ss_dur=3 --iodepth={depth}"));
            let steady = job.steady_state.as_ref().expect("it was asked for");
            assert!(steady.attained, "{rule}: {steady:?}");
            assert_eq!((steady.by_slope, steady.percent, steady.duration_s, steady.intervals), (slope, percent, 3, 3));
            assert_eq!((steady.criterion, steady.value), (Some(0.0), Some(0.0)), "{rule}: {steady:?}");
            assert_eq!((steady.iops.len(), steady.lat_ns.len()), (3, if rule.starts_with("lat") { 3 } else { 0 }));
            for (iops, bandwidth) in steady.iops.iter().zip(&steady.bandwidth) {
                // At depth 8 the first interval has one less: it begins with an empty queue.
                assert!((9_999..=10_000).contains(iops), "{rule} {depth}: {steady:?}");
                assert_eq!(*bandwidth, iops * 4096);
            }
            assert!(job.directions.read.runtime_ms >= 3000);
            assert_eq!(job.directions.read.bytes, job.directions.read.clat.moments.count * 4096);
        }
    }
}

#[test]
fn intervals_are_what_the_device_did_in_them() {
    // A stall of 500 ms in the third second: 5,000 requests less.
    let words = "--time_based --runtime=6 --ss=iops:0.1% --ss_dur=6 --sim_faults=stall:500ms@22000";
    let job = simulate_one(words);
    let steady = job.steady_state.as_ref().unwrap();
    assert_eq!(steady.iops, [10_000, 10_000, 5_000, 10_000, 10_000, 10_000], "each has its own length");
    assert!(!steady.attained, "it ends with its runtime");
    let mean = 55_000.0 / 6.0;
    assert!((steady.criterion.unwrap() - 100.0 * (mean - 5000.0) / mean).abs() < 1e-9, "{steady:?}");
    assert_eq!((job.directions.read.runtime_ms, job.error), (6000, None));
    let job = simulate_one(&words.replace("iops:0.1%", "lat:1ms"));
    let steady = job.steady_state.expect("it was asked for");
    assert_eq!(steady.lat_ns, [100, 100, 200, 100, 100, 100].map(|us| us * US), "the stall is one of 5,000 requests");
    assert!(steady.attained, "200 us are not 1 ms from the mean");
}

#[test]
fn a_run_that_is_too_short_is_not_steady() {
    let job = simulate_one("--time_based --runtime=2500ms --ss=iops:50% --ss_dur=3");
    let steady = job.steady_state.unwrap();
    assert_eq!((steady.attained, steady.criterion, steady.iops.len()), (false, None, 2));
    // The steady state's own ramp of a second comes first.
    let job = simulate_one("--time_based --runtime=2500ms --ss=iops:50% --ss_dur=3 --ss_ramp=1");
    assert_eq!(job.steady_state.unwrap().iops.len(), 1);
    let job = simulate_one("--time_based --runtime=5 --ss=iops:50% --ss_dur=4 --ss_interval=2 --ramp_time=1");
    assert_eq!(job.steady_state.unwrap().iops.len(), 2, "the warm-up of the job is no interval");
}

#[test]
fn a_group_is_steady_together_and_a_job_without_the_rule_runs_on() {
    let ran = simulate(&format!("{ENDLESS} --ss=iops:1% --ss_dur=2 --group_reporting --name=a --numjobs=2"));
    for job in &ran.record.jobs {
        let steady = job.steady_state.as_ref().unwrap();
        assert!(steady.attained && steady.iops.iter().all(|iops| *iops == 20_000), "{steady:?}");
    }
    let ran = simulate("--name=a --time_based --runtime=1000d --ss=iops:1% --ss_dur=2 --name=b --number_ios=500");
    assert!(ran.record.jobs[0].steady_state.as_ref().unwrap().attained);
    assert_eq!((ran.record.jobs[1].directions.read.ios, &ran.record.jobs[1].steady_state), (500, &None));
}

/// A search on a device with one channel and 100 µs per request: at depth d, requests take d times as long.
fn search(words: &str) -> JobRecord {
    simulate_one(&format!("--size=400m --norandommap --iodepth=32 --latency_window=100ms {words}"))
}

#[test]
fn the_depth_that_keeps_a_latency_is_found_and_alone_reported() {
    // The depths 1 2 4 8 (800 µs) 6 7, and 7 once more.
    let job = search("--latency_target=750us --latency_percentile=95");
    assert_eq!(job.latency_depth, 7);
    assert_eq!((job.directions.read.ios, job.directions.read.runtime_ms), (1006, 101), "{:?}", job.directions.read);
    // The last window begins with an empty queue.
    let filling = (1..=7).map(|place| place * 100 * US);
    assert_exact(&job.directions.read.lat, filling.chain(times(999, 700 * US)));
    assert_eq!((job.setup.latency_target_ns, job.setup.latency_window_ns), (750 * US, 100 * MS));
}

#[test]
fn the_largest_depth_is_found_when_it_is_good_enough() {
    let ran = simulate(
        "--size=400m --norandommap --iodepth=16 --latency_window=100ms --latency_target=10ms --latency_percentile=99",
    );
    let job = ran.job();
    assert_eq!((job.latency_depth, &job.error), (16, &None));
    let note = ran.record.notes.iter().find(|note| note.id == "latency-target").expect("what the figures are of");
    let expected = "the figures are of the last window of latency_target, at iodepth 16: 100.00 % of its I/Os kept the \
                    target; depths tried: 1 2 4 8 16";
    assert_eq!(note.text, expected);
}

#[test]
fn a_latency_that_no_depth_keeps_is_said_or_fails_the_job() {
    let ran = simulate("--iodepth=4 --latency_target=50us --latency_window=10ms --latency_percentile=90");
    assert_eq!((ran.job().latency_depth, ran.job().directions.read.ios, &ran.job().error), (1, 1000, &None));
    let note = ran.record.notes.iter().find(|note| note.id == "latency-target").unwrap();
    assert!(note.text.contains("no depth keeps it"), "{}", note.text);
    let ran = simulate("--iodepth=4 --latency_target=50us --latency_window=10ms");
    let error = ran.job().error.as_ref().expect("every request was to keep it");
    assert_eq!((error.code, error.function.as_str()), (110, "max latency exceeded"));
    assert!(ran.messages[0].starts_with("fio: latency of 100000 nsec exceeds specified max (50000 nsec): "));
}

#[test]
fn a_search_that_does_not_end_reports_all() {
    let job = search("--latency_target=750us --latency_percentile=95 --latency_run=1 --time_based --runtime=3");
    assert!((3000..=3001).contains(&job.directions.read.runtime_ms), "{}", job.directions.read.runtime_ms);
    assert!((7..=8).contains(&job.latency_depth), "{}", job.latency_depth);
    let ran = simulate("--iodepth=32 --latency_target=750us --latency_percentile=95 --latency_window=1");
    let note = ran.record.notes.iter().find(|note| note.id == "latency-target").unwrap();
    assert!(note.text.contains("depths tried: 1 2"), "{}", note.text);
}

#[test]
fn a_warm_up_may_go_by_bytes() {
    // 1,000 reads of 4 KiB in 100 µs each; the ramp ends at the first millisecond after 200 of them.
    let job = simulate_one("--ramp_size=800k");
    assert_eq!((job.directions.read.ios, job.directions.read.runtime_ms), (800, 80));
    let job = simulate_one("--ramp_size=800k --time_based --runtime=1");
    assert_eq!(job.directions.read.runtime_ms, 1000, "counted from its end");
    let short = simulate_one("--ramp_size=8m");
    assert_eq!((short.directions.read.ios, short.directions.read.clat.moments.count), (1000, 0), "it ended inside");
}

#[test]
fn a_group_warms_up_together() {
    let ran =
        simulate("--group_reporting --ramp_size=4m --time_based --runtime=1 --name=a --numjobs=2 --name=b --iodepth=4");
    for job in &ran.record.jobs {
        assert!((1000..=1001).contains(&job.directions.read.runtime_ms), "{}", job.directions.read.runtime_ms);
        assert_eq!(job.directions.read.bytes, job.directions.read.clat.moments.count * 4096);
    }
    let request = "--group_reporting --name=a --ramp_size=4m --name=b --ramp_size=8m";
    let refused = std::panic::catch_unwind(|| simulate(request));
    assert!(refused.is_err(), "one group has one warm-up");
}

#[test]
fn a_job_may_wait_for_another() {
    let ran = simulate(&format!(
        "--name=a --numjobs=2 --name=b {ENDLESS} --name=c --wait_for=a --number_ios=7 --name=d --wait_for=c --exitall"
    ));
    let jobs: Vec<(&str, u32, u64)> =
        ran.record.jobs.iter().map(|job| (job.name.as_str(), job.group, job.directions.read.ios)).collect();
    assert_eq!((jobs[0], jobs[1], jobs[3], jobs[4]), (("a", 0, 1000), ("a", 0, 1000), ("c", 0, 7), ("d", 0, 1000)));
    assert!(jobs[2].2 > 0, "it did not wait");
    let started = |index: usize| ran.record.jobs[index].started_ms.expect("it started");
    assert!(started(0) <= started(3) && started(3) <= started(4));
}

#[test]
fn a_job_whose_predecessor_fails_runs_and_one_that_is_to_end_does_not() {
    let ran = simulate("--name=a --sim_faults=error:EIO@5 --name=b --wait_for=a");
    assert_eq!(ran.record.jobs[1].directions.read.ios, 1000);
    let ran = simulate("--name=a --exitall --name=b --wait_for=a --name=c --wait_for=b --name=d --stonewall");
    let ios: Vec<u64> = ran.record.jobs.iter().map(|job| job.directions.read.ios).collect();
    assert_eq!(ios, [1000, 0, 0, 1000], "the group ended with its first");
}

/// Whether jobs finish: one that ends others with it, one in another group, one behind a stonewall.
fn ended_with(what: &str) -> [bool; 3] {
    let ran = simulate(&format!(
        "--name=a --exitall --exit_what={what} --name=b --new_group --time_based --runtime=200s --name=c --stonewall"
    ));
    let [a, b, c] = &ran.record.jobs[..] else { panic!("three jobs") };
    assert!([a, b, c].iter().all(|job| job.error.is_none()));
    [a.directions.read.ios == 1000, b.directions.read.runtime_ms == 200_000, c.directions.read.ios == 1000]
}

#[test]
fn a_job_ends_its_group_or_what_runs_or_all() {
    assert_eq!(ended_with("group"), [true, true, true]);
    assert_eq!(ended_with("stonewall"), [true, false, true]);
    assert_eq!(ended_with("all"), [true, false, false]);
}

#[test]
fn jobs_of_a_flow_keep_their_weights() {
    let mut watch = |view: &View<'_>, control: &Control, _: &[RunRecord]| {
        if view.cells[1].published().ios.read > 20_000 {
            control.stop();
        }
    };
    let ran = conduct(&jobs(&format!("{ENDLESS} --name=a --flow=8 --name=b --flow=1")), Some(&mut watch));
    let [a, b] = &ran.record.jobs[..] else { panic!("two jobs") };
    let ratio = a.directions.read.ios as f64 / b.directions.read.ios as f64;
    // Each sees the order within 50 ms of its own time; then the other one is free.
    assert!((7.5..8.5).contains(&ratio), "{} and {}", a.directions.read.ios, b.directions.read.ios);
    assert!(a.plan.paced && b.plan.paced);
    // Others do not take part, and the remaining one runs to its end.
    let ran = simulate(
        "--name=a --flow=1 --number_ios=100 --name=b --flow=1 --flow_sleep=100 --iodepth=4 --name=c --name=d --flow=1 --flow_id=2",
    );
    let ios: Vec<u64> = ran.record.jobs.iter().map(|job| job.directions.read.ios).collect();
    assert_eq!(ios, [100, 1000, 1000, 1000]);
    assert!(ran.record.elapsed_s < S, "it came to an end");
}
