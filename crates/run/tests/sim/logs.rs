//! Tests log files with known latencies, to the letter.

use std::path::Path;

use crate::ran::{jobs, simulate};

/// Runs with logs below a new directory, `DIR` in the words; returns its file `name`.
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

/// Three sequential reads of 2 ms each.
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

/// Two seconds of reads of 100 µs, eight in flight on one server: 10,000 IOPS of 800 µs each, except at the beginning.
const WINDOWS: &str = "--iodepth=8 --time_based --runtime=2s --log_avg_msec=500 --write_bw_log=DIR/x \
                       --write_lat_log=DIR/x --write_iops_log=DIR/x";

#[test]
fn windows_have_the_mean_and_the_largest() {
    // The first eight take 100, 200 ... 800 µs, 4,992 take 800: 3,997,200 µs in all. Seven end after the runtime.
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
    // The request that ends with the first window is counted in the second. The seven I/Os that are drained at the end
    // belong to the last window.
    let (bw, iops) = (logged(WINDOWS, "x_bw.1.log"), logged(WINDOWS, "x_iops.1.log"));
    assert_eq!(bw, "500, 39992, 0, 0, 0\n1000, 40000, 0, 0, 0\n1500, 40000, 0, 0, 0\n2000, 40064, 0, 0, 0\n");
    assert_eq!(iops, "500, 9998, 0, 0, 0\n1000, 10000, 0, 0, 0\n1500, 10000, 0, 0, 0\n2000, 10016, 0, 0, 0\n");
    let shorter = logged(&format!("{WINDOWS} --bwavgtime=250"), "x_bw.1.log");
    assert_eq!(shorter.lines().count(), 8, "the shorter of both windows counts");
}

#[test]
fn the_ramp_is_in_no_log() {
    let words = "--ramp_time=1s --time_based --runtime=1s --write_iops_log=DIR/x";
    let log = logged(&format!("{words} --log_avg_msec=500"), "x_iops.1.log");
    assert_eq!(log, "500, 9998, 0, 0, 0\n1000, 10002, 0, 0, 0\n");
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

/// The lines of a histogram log: time, direction, bytes; and the counts.
#[track_caller]
fn histograms(log: &str) -> Vec<([u64; 3], Vec<u64>)> {
    let numbers = |line: &str| line.split(", ").map(|field| field.parse().unwrap()).collect::<Vec<u64>>();
    let lines = log.lines().map(numbers);
    lines.map(|fields| ([fields[0], fields[1], fields[2]], fields[3..].to_vec())).collect()
}

/// Two seconds of reads of 100 µs, eight in flight on one server.
const HISTOGRAMS: &str = "--iodepth=8 --time_based --runtime=2s --write_hist_log=DIR/x --log_hist_msec=500";

#[test]
fn histograms_are_of_their_window_alone() {
    let log = histograms(&logged(HISTOGRAMS, "x_clat_hist.1.log"));
    let heads: Vec<_> = log.iter().map(|(head, _)| *head).collect();
    let windows = [500, 1000, 1500, 2000].map(|at_ms| [at_ms, 0, 4096]);
    assert_eq!(heads, windows, "what is drained after the runtime is in the last line");
    let bucket = |ns| fsdyno_results::bucket_of(ns);
    // The first eight take 100, 200 ... 800 µs, all others 800. The request that ends with the first window is counted
    // in the second.
    let first = &log[0].1;
    assert_eq!(first.len(), 1856);
    assert!((1..8).all(|hundreds| first[bucket(hundreds * 100_000)] == 1));
    assert_eq!((first[bucket(800_000)], first.iter().sum()), (4992, 4999));
    for (line, drained) in [(1, 0), (2, 0), (3, 8)] {
        let counts = &log[line].1;
        assert_eq!((counts[bucket(800_000)], counts.iter().sum()), (5000 + drained, 5000 + drained));
    }
    let all: u64 = log.iter().flat_map(|(_, counts)| counts).sum();
    let ran = simulate("--iodepth=8 --time_based --runtime=2s");
    assert_eq!(all, ran.record.jobs[0].directions.read.clat.moments.count);
}

#[test]
fn a_histogram_sums_up_neighbours_and_has_a_line_for_each_direction() {
    for coarseness in 0..=6 {
        let words = "--rw=rw --bs=8k --size=80k --sim_service=1ms --write_hist_log=DIR/x --log_hist_msec=1000";
        let log = histograms(&logged(&format!("{words} --log_hist_coarseness={coarseness}"), "x_clat_hist.1.log"));
        assert_eq!(log.len(), 2, "an unfinished window is in the log");
        let total: u64 = log.iter().flat_map(|(_, counts)| counts).sum();
        assert_eq!(total, 10);
        for (direction, (head, counts)) in (0..).zip(&log) {
            assert_eq!(*head, [10, direction, 8192]);
            assert_eq!(counts.len(), 1856 >> coarseness);
            assert_eq!(counts[fsdyno_results::bucket_of(1_000_000) >> coarseness], counts.iter().sum::<u64>());
        }
    }
}

#[test]
fn the_ramp_and_what_is_not_measured_are_in_no_histogram() {
    let ramp = "--ramp_time=1s --time_based --runtime=1s --write_hist_log=DIR/x --log_hist_msec=500";
    let log = histograms(&logged(ramp, "x_clat_hist.1.log"));
    let total: u64 = log.iter().flat_map(|(_, counts)| counts).sum();
    assert_eq!((log[0].0, log[1].0, total), ([500, 0, 4096], [1000, 0, 4096], 10_000));
    for without in ["--disable_clat=1", "--gtod_reduce=1", "--log_hist_msec=0"] {
        assert_eq!(logged(&format!("{HISTOGRAMS} {without}"), "x_clat_hist.1.log"), "", "{without}");
    }
}

#[test]
fn histograms_stand_beside_other_logs_and_change_none() {
    let words = format!("{WINDOWS} --write_hist_log=DIR/x --log_hist_msec=300");
    assert_eq!(logged(&words, "x_bw.1.log"), logged(WINDOWS, "x_bw.1.log"));
    let beside = histograms(&logged(&words, "x_clat_hist.1.log"));
    assert_eq!(beside.iter().map(|(head, _)| head[0]).take(6).collect::<Vec<_>>(), [300, 600, 900, 1200, 1500, 1800]);
}

#[test]
fn issue_times_stand_in_the_logs_of_slat_and_clat() {
    let lines = |issued: [u64; 3]| {
        let [first, second, third] = issued;
        format!(
            "2, 2000000, 0, 4096, 0, 0, {first}\n4, 2000000, 0, 4096, 4096, 0, {second}\n\
             6, 2000000, 0, 4096, 8192, 0, {third}\n"
        )
    };
    let words = format!("{THREE} --log_issue_time=1");
    assert_eq!(logged(&words, "x_clat.1.log"), lines([0, 2_000_000, 4_000_000]));
    assert_eq!(logged(&words, "x_lat.1.log"), lines([0; 3]));
    let slat = logged(&words, "x_slat.1.log");
    assert!(slat.ends_with("6, 0, 0, 4096, 8192, 0, 4000000\n"), "{slat}");
    // The time of a request that waits for a full device is when the device accepted it.
    let waits = "--rw=read --size=8k --iodepth=2 --sim_queue=1 --sim_service=1ms --write_lat_log=DIR/x --log_offset=1";
    let slat = logged(&format!("{waits} --log_issue_time=1"), "x_slat.1.log");
    assert_eq!(slat, "1, 0, 0, 4096, 0, 0, 0\n2, 1000000, 0, 4096, 4096, 0, 1000000\n");
    let windows = logged(&format!("{THREE} --log_issue_time=1 --log_avg_msec=4"), "x_clat.1.log");
    assert_eq!(windows, "4, 2000000, 0, 0, 0, 0, 0\n6, 2000000, 0, 0, 0, 0, 0\n");
}

/// The lines of a compressed log.
#[track_caller]
fn inflated(directory: &Path, name: &str) -> String {
    let mut lines = Vec::new();
    let mut log = std::fs::File::open(directory.join(name)).unwrap();
    fsdyno_run::inflate_log(&mut log, &mut lines).unwrap_or_else(|error| panic!("{name}: {error}"));
    String::from_utf8(lines).unwrap()
}

#[test]
fn compressed_logs_hold_the_same_lines() {
    let many = "--size=40m --rw=randrw --write_lat_log=DIR/x --write_iops_log=DIR/x --write_bw_log=DIR/x";
    let styles = [
        "",
        "--log_offset=1",
        "--log_prio=1",
        "--log_offset=1 --log_issue_time=1",
        "--log_avg_msec=100",
        "--log_avg_msec=100 --log_window_value=both --log_prio=1",
        "--numjobs=2 --per_job_logs=1",
    ];
    for style in styles {
        let plain = tempfile::tempdir().unwrap();
        run_in(plain.path(), &format!("{many} {style}"));
        for chunk in ["", "--log_compression=1k", "--log_compression=512m"] {
            let compressed = tempfile::tempdir().unwrap();
            let words = format!("{many} {style} --log_store_compressed=1 {chunk}");
            run_in(compressed.path(), &words);
            for subject in ["clat", "iops", "bw"] {
                let lines = inflated(compressed.path(), &format!("x_{subject}.1.log.fz"));
                assert!(lines == read(plain.path(), &format!("x_{subject}.1.log")), "{words}: {subject}");
            }
        }
    }
    // Compression only saves memory, which logs do not use here.
    let three = format!("{THREE} --log_compression=4k --log_compression_cpus=0");
    assert_eq!(logged(&three, "x_clat.1.log"), logged(THREE, "x_clat.1.log"));
}

#[test]
fn compressed_files_of_several_jobs_and_runs_follow_each_other() {
    let directory = tempfile::tempdir().unwrap();
    let words = format!(
        "{THREE} --numjobs=2 --per_job_logs=0 --log_store_compressed=1 --write_hist_log=DIR/x \
                         --log_hist_msec=1000"
    );
    (0..2).for_each(|_| run_in(directory.path(), &words));
    let mut lines = Vec::new();
    let log = std::fs::read(directory.path().join("x_lat.log.fz")).unwrap();
    fsdyno_run::inflate_log(&mut log.as_slice(), &mut lines).unwrap();
    assert_eq!(String::from_utf8(lines).unwrap().lines().count(), 12);
    assert_eq!(histograms(&read(directory.path(), "x_clat_hist.log")).len(), 4, "histograms are never compressed");
    let cut = fsdyno_run::inflate_log(&mut &log[..log.len() - 3], &mut Vec::new());
    assert!(matches!(cut, Err(fsdyno_run::InflateError::Damaged)));
}

#[test]
fn times_count_from_the_epoch_of_any_clock() {
    let first = |clock: u32| {
        let words = format!("{THREE} --log_alternate_epoch=1 --log_alternate_epoch_clock_id={clock}");
        let log = logged(&words, "x_iops.1.log");
        let times: Vec<u64> = log.lines().map(|line| line.split(',').next().unwrap().parse().unwrap()).collect();
        assert_eq!([times[1] - times[0], times[2] - times[1]], [2, 2]);
        times[0]
    };
    const YEAR_MS: u64 = 365 * 86_400_000;
    let (monotonic, boot) = (first(1), first(7));
    assert!(first(0) > 50 * YEAR_MS && monotonic < 50 * YEAR_MS && boot >= monotonic);
    assert!(first(1) >= monotonic, "the clock goes on");
    let words = format!("{THREE} --log_alternate_epoch_clock_id=1");
    assert!(logged(&words, "x_iops.1.log").starts_with("2, "), "without the switch no effect");
    let directory = tempfile::tempdir().unwrap();
    let words = THREE.replace("DIR", directory.path().to_str().unwrap());
    let unknown = jobs(&format!("{words} --log_alternate_epoch=1 --log_alternate_epoch_clock_id=77"));
    let sentence = fsdyno_run::claim_logs(&fsdyno_run::plan::plan(&unknown, &Default::default(), 0)).unwrap_err();
    assert!(sentence.contains("log_alternate_epoch_clock_id=77") && sentence.contains("Next step"), "{sentence}");
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
