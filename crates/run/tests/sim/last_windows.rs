//! Tests the last windows of averaged logs: the sum of lines times windows equals the job's totals, however it ends.

use std::path::Path;

use fsdyno_job::Direction;
use fsdyno_results::JobRecord;

use crate::ran::{RunResult, conduct, jobs, simulate};

/// A job with all averaged logs in windows of 100 ms, at 10,000 I/Os per second on one server.
const LOGGED: &str = "--rw=randrw --write_bw_log=DIR/x --write_iops_log=DIR/x --write_lat_log=DIR/x --write_hist_log=DIR/x \
                      --log_avg_msec=100 --log_hist_msec=100";

/// The numbers in a log's lines.
#[track_caller]
fn lines(directory: &Path, subject: &str) -> Vec<Vec<u64>> {
    let path = directory.join(format!("x_{subject}.1.log"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{subject}: {error}"));
    text.lines().map(|line| line.split(", ").map(|field| field.parse().unwrap()).collect()).collect()
}

/// The sum of lines times windows of one direction, per second, and what rounding may have removed.
fn total(lines: &[Vec<u64>], direction: Direction) -> (u64, u64) {
    let of_direction = lines.iter().filter(|line| line[2] == direction as u64);
    let (mut before_ms, mut sum, mut rounded) = (0, 0, 0);
    for line in of_direction {
        let window_ms = line[0] - before_ms;
        (before_ms, sum, rounded) = (line[0], sum + line[1] * window_ms, rounded + window_ms);
    }
    (sum / 1000, rounded / 1000 + 1)
}

/// Compares the logs with the record of the job.
#[track_caller]
fn assert_whole(directory: &Path, job: &JobRecord, end: &str) {
    let [bandwidth, iops] = ["bw", "iops"].map(|subject| lines(directory, subject));
    let histograms = lines(directory, "clat_hist");
    for direction in [Direction::Read, Direction::Write] {
        let done = &job.directions[direction];
        let ios = done.bytes / 4096;
        for (log, expected) in [(&bandwidth, done.bytes / 1024), (&iops, ios)] {
            let (sum, rounded) = total(log, direction);
            assert!(sum <= expected && expected <= sum + rounded, "{end}: {sum} of {expected} are in the log");
        }
        let counts = histograms.iter().filter(|line| line[1] == direction as u64).flat_map(|line| &line[3..]);
        assert_eq!(counts.sum::<u64>(), ios, "{end}: histograms");
    }
    // The last line of each log contains the last I/O.
    let last_ms = |lines: &[Vec<u64>]| lines.last().map_or(0, |line| line[0]);
    let latencies = ["slat", "clat", "lat"].map(|subject| last_ms(&lines(directory, subject)));
    let counted = [&bandwidth, &iops, &histograms].map(|log| last_ms(log));
    assert!(latencies == [latencies[0]; 3] && counted.iter().all(|ms| latencies[0].abs_diff(*ms) <= 1), "{end}");
    assert!(last_ms(&iops).abs_diff(job.directions.read.runtime_ms) <= 1, "{end}: the log ends with the job");
}

/// Runs with logs and compares them with the record.
#[track_caller]
fn assert_ends_whole(words: &str, run: impl Fn(&str) -> RunResult) {
    let directory = tempfile::tempdir().unwrap();
    let ran = run(&format!("{LOGGED} {words}").replace("DIR", directory.path().to_str().unwrap()));
    assert_whole(directory.path(), ran.job(), words);
}

#[test]
fn nothing_is_missing_whatever_ends_the_job() {
    let ends = [
        "--time_based --runtime=1s",
        "--time_based --runtime=1050ms",
        "--time_based --runtime=999ms --iodepth=8",
        "--time_based --ramp_time=500ms --runtime=730ms",
        "--size=10m --io_size=15m",
        "--size=7m --loops=2 --iodepth=8",
        "--number_ios=3333 --size=1g",
        "--size=40m --sim_faults=error:EIO@4321 --iodepth=8",
        "--size=40m --sim_faults=stall:70ms@4321 --max_latency=50ms",
        "--size=40m --sim_faults=stall:70ms@4321 --iodepth=4",
        "--size=4k",
        "--time_based --runtime=2s --rate_iops=700 --thinktime=90ms --thinktime_blocks=30",
    ];
    for end in ends {
        assert_ends_whole(end, simulate);
    }
}

#[test]
fn nothing_is_missing_when_the_job_is_stopped() {
    for signal in [2, 15] {
        assert_ends_whole("--size=100g --iodepth=8", |words| {
            let stop = |view: &fsdyno_run::View<'_>, control: &fsdyno_run::Control, _: &[fsdyno_results::RunRecord]| {
                if view.cells[0].published().ios.read > 0 {
                    control.stop_by_signal(signal);
                }
            };
            conduct(&jobs(words), Some(&mut { stop }))
        });
    }
}

#[test]
fn a_window_that_ends_with_the_runtime_is_one_line() {
    let directory = tempfile::tempdir().unwrap();
    let words = format!("{LOGGED} --rw=randread --time_based --runtime=1s --iodepth=8");
    simulate(&words.replace("DIR", directory.path().to_str().unwrap()));
    // Drained I/Os belong to the last window. Lines of latencies close with the I/O that reaches their end, as in fio.
    for (subject, expected) in [("bw", 10), ("iops", 10), ("clat_hist", 10), ("clat", 11)] {
        assert_eq!(lines(directory.path(), subject).len(), expected, "{subject}");
    }
}
