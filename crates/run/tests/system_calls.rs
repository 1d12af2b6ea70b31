//! Checks that the drive loop makes no system calls but the engine's: strace lists those of the worker in runs of two
//! lengths, and the difference is the cost of the requests. What other threads call depends on how long a run takes.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, reason = "what is skipped says why, and what was counted is shown")]

mod conducted;

use std::ops::RangeInclusive;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use fsdyno_run::{Control, Observer};

/// The variable with the command line of the traced run; strace runs this program for it.
const WORDS: &str = "TRACED_WORDS";

const SHORT: u64 = 2_000;
const LONG: u64 = 12_000;

/// Allowance per request for system calls that depend on the time: the worker publishes what it has done.
const FOR_THE_TIME: f64 = 0.003;

/// The worker of the only job, as strace names it.
const WORKER: &str = "<worker-1>";

struct Silent;

impl Observer for Silent {}

/// The run that strace watches; without the variable it does nothing.
#[test]
fn the_traced_run() {
    let Ok(words) = std::env::var(WORDS) else { return };
    let record = conducted::conduct(&conducted::jobs(&words), Arc::new(Control::default()), &mut Silent);
    let error = &record.jobs[0].error;
    assert_eq!(*error, None, "{words}");
}

/// Number of system calls of the worker of a run; the reason if strace or the engine is not available.
fn system_calls(words: &str, calls: &Path) -> Result<f64, String> {
    let program = std::env::current_exe().map_err(|error| format!("this program is not found: {error}"))?;
    let traced = Command::new("strace")
        .args(["-f", "--decode-pids=comm", "--signal=none", "-qq", "-s0", "-o"])
        .arg(calls)
        .arg(program)
        .args(["--exact", "the_traced_run", "--nocapture"])
        .env(WORDS, words)
        .output()
        .map_err(|error| format!("strace: {error}"))?;
    if !traced.status.success() {
        let output = [traced.stdout, traced.stderr].concat();
        return Err(format!("the traced run failed:\n{}", String::from_utf8_lossy(&output)));
    }
    let text = std::fs::read_to_string(calls).map_err(|error| format!("strace left no list: {error}"))?;
    // A call that another thread interrupts has two lines.
    let of_worker = text.lines().filter(|line| line.contains(WORKER) && !line.contains(" resumed>")).count();
    if of_worker == 0 { Err("strace names no worker".to_owned()) } else { Ok(of_worker as f64) }
}

/// System calls per request of a job on a cached file; `None`: they cannot be counted here.
fn per_request(words: &str) -> Option<f64> {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("the build directory is writable");
    let (file, calls) = (directory.path().join("file"), directory.path().join("calls"));
    std::fs::write(&file, vec![0u8; 1 << 20]).expect("the build directory is writable");
    let of_run = |ios: u64| {
        let file = file.display();
        let words = format!(
            "--name=a --filename={file} --rw=randread --bs=4k --size=1m --invalidate=0 --io_size={}k {words}",
            ios * 4
        );
        system_calls(&words, &calls)
    };
    match of_run(SHORT).and_then(|short| Ok((short, of_run(LONG)?))) {
        Ok((short, long)) => {
            println!("{words}: {short} system calls for {SHORT} requests, {long} for {LONG}");
            Some((long - short) / (LONG - SHORT) as f64)
        }
        Err(reason) => {
            println!("skipped: {words}: {reason}");
            None
        }
    }
}

#[track_caller]
fn assert_within(words: &str, limits: RangeInclusive<f64>) {
    let Some(calls) = per_request(words) else { return };
    assert!(limits.contains(&calls), "{words}: {calls} system calls per request, {limits:?} are allowed");
}

#[track_caller]
fn assert_at_most(words: &str, limit: f64) {
    assert_within(words, f64::NEG_INFINITY..=limit + FOR_THE_TIME);
}

#[test]
fn the_null_engine_makes_none() {
    assert_at_most("--ioengine=null --iodepth=1", 0.0);
    assert_at_most("--ioengine=null --iodepth=64", 0.0);
}

#[test]
fn governing_a_job_that_never_waits_makes_none_either() {
    assert_at_most("--ioengine=null --iodepth=64 --rate_iops=4000000000 --max_latency=1h", 0.0);
}

#[test]
fn psync_makes_one() {
    assert_within("--ioengine=psync", 1.0 - FOR_THE_TIME..=1.0 + FOR_THE_TIME);
}

#[test]
fn libaio_makes_two_at_most() {
    assert_at_most("--ioengine=libaio --iodepth=1", 2.0);
    assert_at_most("--ioengine=libaio --iodepth=64", 2.0);
    assert_at_most("--ioengine=libaio --iodepth=64 --iodepth_batch=16 --iodepth_batch_complete_min=16", 2.0 / 16.0);
}

#[test]
fn io_uring_makes_one_at_most() {
    assert_at_most("--ioengine=io_uring --iodepth=1", 1.0);
    assert_at_most("--ioengine=io_uring --iodepth=64", 1.0);
    assert_at_most("--ioengine=io_uring --iodepth=64 --iodepth_batch=16 --iodepth_batch_complete_min=16", 1.0 / 16.0);
}
