//! Log files of known latencies, to the letter.

use std::path::Path;

use crate::ran::{jobs, simulate};

/// Runs with logs below a new directory, `DIR` in the words; the file `name` of it.
#[track_caller]
fn logged(words: &str, name: &str) -> String {
    let directory = tempfile::tempdir().unwrap();
    run_in(directory.path(), words);
    read(directory.path(), name)
}

#[track_caller]
fn run_in(directory: &Path, words: &str) {
    let ran = simulate(&words.replace("DIR", directory.to_str().unwrap()));
    assert!(ran.record.jobs.iter().all(|job| job.error.is_none()), "{:?}", ran.messages);
    // A busy machine may write more slowly than the virtual device serves.
    assert!(ran.messages.iter().all(|text| text.contains("it waited")), "{:?}", ran.messages);
}

#[track_caller]
fn read(directory: &Path, name: &str) -> String {
    std::fs::read_to_string(directory.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Three sequential reads, served in 2 ms each.
const THREE: &str = "--rw=read --size=12k --sim_service=2ms --log_offset=1 --write_bw_log=DIR/x --write_lat_log=DIR/x \
                     --write_iops_log=DIR/x";

#[test]
fn every_request_has_its_line() {
    let lines = |values: [u64; 3]| {
        let [first, second, third] = values;
        format!("2, {first}, 0, 4096, 0, 0\n4, {second}, 0, 4096, 4096, 0\n6, {third}, 0, 4096, 8192, 0\n")
    };
    // 4,096 bytes in 2 ms are 2,048 thousand bytes per second.
    assert_eq!(logged(THREE, "x_bw.1.log"), lines([2048; 3]));
    assert_eq!(logged(THREE, "x_iops.1.log"), lines([1; 3]));
    assert_eq!(logged(THREE, "x_slat.1.log"), lines([0; 3]));
    assert_eq!(logged(THREE, "x_clat.1.log"), lines([2_000_000; 3]));
    assert_eq!(logged(THREE, "x_lat.1.log"), lines([2_000_000; 3]));
}

#[test]
fn a_trim_has_fio_s_number_in_its_line() {
    let words = "--rw=trimwrite --size=4k --sim_service=2ms --log_offset=1 --write_bw_log=DIR/x --write_lat_log=DIR/x";
    assert_eq!(logged(words, "x_bw.1.log"), "2, 2048, 2, 4096, 0, 0\n4, 2048, 1, 4096, 0, 0\n");
    assert_eq!(logged(words, "x_clat.1.log"), "2, 2000000, 2, 4096, 0, 0\n4, 2000000, 1, 4096, 0, 0\n");
}

#[test]
fn submission_latency_is_the_wait_before_a_full_device() {
    let words = "--rw=read --size=8k --iodepth=2 --sim_queue=1 --sim_service=1ms --write_lat_log=DIR/x";
    assert_eq!(logged(words, "x_slat.1.log"), "1, 0, 0, 4096, 0\n2, 1000000, 0, 4096, 0\n");
    assert_eq!(logged(words, "x_clat.1.log"), "1, 1000000, 0, 4096, 0\n2, 1000000, 0, 4096, 0\n");
    assert_eq!(logged(words, "x_lat.1.log"), "1, 1000000, 0, 4096, 0\n2, 2000000, 0, 4096, 0\n");
}

/// Two seconds of reads of 100 us, eight in flight before one server: 10,000 IOPS of 800 us each, but for the first.
const WINDOWS: &str = "--iodepth=8 --time_based --runtime=2s --log_avg_msec=500 --write_bw_log=DIR/x \
                       --write_lat_log=DIR/x --write_iops_log=DIR/x";

#[test]
fn windows_have_the_mean_and_the_largest() {
    // The first eight take 100, 200 ... 800 us, 4,992 take 800: 3,997,200 us in all. Seven come after the end.
    let clat = logged(WINDOWS, "x_clat.1.log");
    let mean = "500, 799440, 0, 0, 0\n1000, 800000, 0, 0, 0\n1500, 800000, 0, 0, 0\n2000, 800000, 0, 0, 0\n";
    assert_eq!(clat, format!("{mean}2000, 800000, 0, 0, 0\n"));
    let first = |value: &str| {
        let log = logged(&format!("{WINDOWS} --log_offset=1 --log_window_value={value}"), "x_lat.1.log");
        log.lines().next().unwrap().to_owned()
    };
    assert_eq!(first("max"), "500, 800000, 0, 0, 0, 0");
    assert_eq!(first("both"), "500, 799440, 800000, 0, 0, 0, 0");
}

#[test]
fn a_window_closes_with_the_request_that_reaches_its_end() {
    // Five requests end at 1, 2 ... 5 ms; what is left at the end has a line of its own.
    let words = "--rw=read --size=20k --sim_service=1ms --log_avg_msec=2 --write_lat_log=DIR/x";
    let lines = "2, 1000000, 0, 0, 0\n4, 1000000, 0, 0, 0\n5, 1000000, 0, 0, 0\n";
    assert_eq!(logged(words, "x_clat.1.log"), lines);
}

#[test]
fn windows_of_rates_are_those_of_the_samples() {
    // The request that ends with the first window is counted in the second.
    let (bw, iops) = (logged(WINDOWS, "x_bw.1.log"), logged(WINDOWS, "x_iops.1.log"));
    assert_eq!(bw, "500, 39992, 0, 0, 0\n1000, 40000, 0, 0, 0\n1500, 40000, 0, 0, 0\n2000, 40000, 0, 0, 0\n");
    assert_eq!(iops, "500, 9998, 0, 0, 0\n1000, 10000, 0, 0, 0\n1500, 10000, 0, 0, 0\n2000, 10000, 0, 0, 0\n");
    let shorter = logged(&format!("{WINDOWS} --bwavgtime=250"), "x_bw.1.log");
    assert_eq!(shorter.lines().count(), 8, "the shorter of both windows counts");
}

#[test]
fn the_ramp_is_in_no_log() {
    let words = "--ramp_time=1s --time_based --runtime=1s --write_iops_log=DIR/x";
    let log = logged(&format!("{words} --log_avg_msec=500"), "x_iops.1.log");
    assert_eq!(log, "500, 9998, 0, 0, 0\n1000, 10000, 0, 0, 0\n");
    let log = logged(words, "x_iops.1.log");
    assert!(log.starts_with("0, 1, 0, 4096, 0\n"), "{}", &log[..20]);
    assert_eq!(log.lines().count(), 10_000);
}

#[test]
fn a_log_of_more_rows_than_its_chunks_hold_is_whole() {
    let log = logged("--size=400m --rw=read --write_lat_log=DIR/x", "x_clat.1.log");
    assert_eq!(log.lines().count(), 102_400);
    assert_eq!(log.lines().last(), Some("10240, 100000, 0, 4096, 0"));
}

#[test]
fn clones_have_their_files_or_share_one() {
    let directory = tempfile::tempdir().unwrap();
    run_in(directory.path(), &format!("{THREE} --numjobs=2"));
    assert_eq!(read(directory.path(), "x_clat.1.log"), read(directory.path(), "x_clat.2.log"));
    for runs in 1..=2 {
        run_in(directory.path(), &format!("{THREE} --numjobs=2 --per_job_logs=0"));
        assert_eq!(read(directory.path(), "x_clat.log").lines().count(), runs * 6, "later runs add to it");
    }
    run_in(directory.path(), THREE);
    assert_eq!(read(directory.path(), "x_clat.1.log").lines().count(), 3, "a file of one job begins anew");
}

#[test]
fn what_is_not_measured_has_no_file() {
    let directory = tempfile::tempdir().unwrap();
    run_in(directory.path(), &format!("{THREE} --disable_clat=1"));
    assert!(!directory.path().join("x_clat.1.log").exists());
    assert_eq!(read(directory.path(), "x_lat.1.log").lines().count(), 3);
}

#[test]
fn priority_and_epoch() {
    let log = logged(&format!("{THREE} --log_prio=1"), "x_iops.1.log");
    assert!(log.starts_with("2, 1, 0, 4096, 0, 0x0000\n"), "{log}");
    let log = logged(&format!("{THREE} --log_unix_epoch=1"), "x_iops.1.log");
    let times: Vec<u64> = log.lines().map(|line| line.split(',').next().unwrap().parse().unwrap()).collect();
    assert!(times[0] > 1_700_000_000_000, "{log}");
    assert_eq!([times[1] - times[0], times[2] - times[1]], [2, 2]);
}

#[test]
fn a_log_that_cannot_be_written_keeps_the_jobs_from_running() {
    let directory = tempfile::tempdir().unwrap();
    let stem = directory.path().join("missing/x").display().to_string();
    let jobs = jobs(&format!("--numjobs=2 --write_bw_log={stem}"));
    let ran = crate::ran::conduct(&jobs, None);
    assert!(ran.record.jobs.iter().all(|job| job.error.is_some() && job.directions.read.ios == 0));
    let messages = ran.messages.join("\n");
    assert!(messages.contains(&format!("{stem}_bw.1.log")) && messages.contains("Next step"), "{messages}");
}
