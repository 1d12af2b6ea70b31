//! Tests the loop for synchronous engines on special files with known answers: /dev/zero serves, /dev/null has nothing
//! to read, /dev/full takes nothing. Times are real, so only counts are compared.
#![forbid(unsafe_code)]

mod conducted;

use std::sync::Arc;

use fsdyno_results::JobRecord;
use fsdyno_run::{Control, Observer, View};

const ENGINES: [&str; 5] = ["sync", "psync", "vsync", "pvsync", "pvsync2"];

const EIO: i32 = 5;
const EINVAL: i32 = 22;
const ENOSPC: i32 = 28;

#[derive(Default)]
struct Listener {
    messages: Vec<String>,
    control: Arc<Control>,
    stop_when_busy: bool,
}

impl Observer for Listener {
    fn message(&mut self, text: &str) {
        self.messages.push(text.to_owned());
    }

    fn watch(&mut self, view: &View<'_>) {
        if self.stop_when_busy && view.cells[0].published().ios.iter().any(|(_, ios)| *ios > 0) {
            self.control.stop_by_signal(15);
        }
    }
}

/// Runs 16 requests of 4 KiB, unless the words say otherwise; returns record and messages.
fn run_with(words: &str, mut listener: Listener) -> (JobRecord, Vec<String>) {
    let jobs = conducted::jobs(&format!("--name=a --bs=4k --size=64k {words}"));
    let mut record = conducted::conduct(&jobs, Arc::clone(&listener.control), &mut listener);
    (record.jobs.remove(0), listener.messages)
}

fn run(words: &str) -> (JobRecord, Vec<String>) {
    run_with(words, Listener::default())
}

#[track_caller]
fn assert_failed(job: &JobRecord, code: i32, function: &str) {
    let error = job.error.as_ref().expect("the job failed");
    assert_eq!((error.code, error.function.as_str()), (code, function));
}

#[test]
fn every_request_is_counted_once() {
    for engine in ENGINES {
        let (job, messages) = run(&format!("--ioengine={engine} --filename=/dev/zero --rw=randrw"));
        assert_eq!(job.error, None, "{engine}: {messages:?}");
        assert_eq!(
            (
                job.directions.read.ios + job.directions.write.ios,
                job.directions.read.bytes + job.directions.write.bytes
            ),
            (16, 65_536),
            "{engine}"
        );
        for direction in [&job.directions.read, &job.directions.write] {
            assert_eq!(direction.clat.moments.count, direction.ios, "{engine}");
            assert_eq!(direction.lat.moments, direction.clat.moments, "{engine}: start and issue are one moment");
            assert_eq!(direction.slat.moments.count, 0, "{engine}");
        }
        let calls = [0, 16, 0, 0, 0, 0, 0];
        assert_eq!((job.submit_sizes, job.complete_sizes, job.depth_levels[0]), (calls, calls, 16), "{engine}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn offloaded_requests_are_counted_once_and_have_both_latencies() {
    let offloaded = |words: &str| run(&format!("{words} --iodepth=4 --io_submit_mode=offload"));
    for engine in ENGINES {
        let (job, messages) = offloaded(&format!("--ioengine={engine} --filename=/dev/zero --rw=randread"));
        assert_eq!(job.error, None, "{engine}: {messages:?}");
        let read = &job.directions.read;
        assert_eq!((read.ios, read.bytes), (16, 65_536), "{engine}");
        assert_eq!((read.clat.moments.count, read.slat.moments.count), (16, 16), "{engine}");
        assert!(job.engine_ways.contains(&"offload-threads".to_owned()), "{:?}", job.engine_ways);
        assert_eq!(job.depth_levels[2], 13, "{engine}: all but the first three are issued beside three others");
        let (job, _) = offloaded(&format!("--ioengine={engine} --filename=/dev/full --rw=write"));
        assert_failed(&job, ENOSPC, "io_u error");
    }
    let (job, _) = offloaded("--ioengine=psync --filename=/dev/zero --rw=read --rate_iops=100000");
    let response = job.directions.read.response.expect("it has intended starts");
    assert_eq!(response.moments.count, 16);
    assert!(response.moments.sum >= job.directions.read.lat.moments.sum, "a request begins no earlier than intended");
    let (job, _) = offloaded("--ioengine=mmap --filename=/dev/zero --rw=read");
    assert!(!job.engine_ways.contains(&"offload-threads".to_owned()), "a mapping is the worker's own");
}

#[test]
fn the_record_names_the_readings_that_requests_share() {
    let shared = |words: &str| run(words).0.engine_ways.contains(&"shared-readings".to_owned());
    assert!(shared("--ioengine=psync --filename=/dev/zero --rw=read"));
    assert!(!shared("--ioengine=psync --filename=/dev/null --rw=write"));
    assert!(!shared("--ioengine=psync --filename=/dev/zero --rw=read --rate_iops=100000"));
    assert!(!shared("--ioengine=psync --filename=/dev/zero --rw=read --gtod_reduce=1"));
}

#[test]
fn an_error_ends_the_job() {
    for engine in ENGINES {
        let (job, messages) = run(&format!("--ioengine={engine} --filename=/dev/full --rw=write"));
        assert_failed(&job, ENOSPC, "io_u error");
        assert_eq!(
            (job.directions.write.ios, job.directions.write.bytes, job.directions.write.clat.moments.count),
            (1, 0, 0),
            "{engine}"
        );
        let expected = "fio: io_u error on file /dev/full: No space left on device: write offset=0, buflen=4096";
        assert!(messages[0].starts_with(expected), "{messages:?}");
    }
}

#[test]
fn a_full_device_is_the_end_that_fill_device_waits_for() {
    let (job, messages) = run("--filename=/dev/full --rw=write --fill_device=1");
    assert_eq!(job.error, None, "{messages:?}");
    assert_eq!(job.directions.write.bytes, 0);
}

#[test]
fn survived_errors_are_counted_and_not_transferred() {
    for engine in ENGINES {
        let (job, messages) = run(&format!(
            "--ioengine={engine} --filename=/dev/full --rw=write --continue_on_error=io --ignore_error=,ENOSPC"
        ));
        assert_eq!(job.error, None, "{engine}: {messages:?}");
        let survived = job.survived_errors.expect("they are counted");
        assert_eq!((survived.total, survived.first), (16, ENOSPC), "{engine}");
        assert_eq!(
            (job.directions.write.ios, job.directions.write.bytes, job.directions.write.clat.moments.count),
            (16, 0, 0),
            "{engine}"
        );
    }
}

#[test]
fn the_end_of_the_file_is_an_error_that_can_be_survived() {
    for engine in ENGINES {
        let (job, _) = run(&format!("--ioengine={engine} --filename=/dev/null --rw=read"));
        assert_failed(&job, EIO, "full resid");
        assert_eq!((job.directions.read.ios, job.directions.read.bytes), (1, 0), "{engine}");
        let (job, messages) =
            run(&format!("--ioengine={engine} --filename=/dev/null --rw=read --continue_on_error=io"));
        assert_eq!(job.error, None, "{engine}: {messages:?}");
        assert_eq!(job.survived_errors.expect("they are counted").total, 16, "{engine}");
    }
}

#[test]
fn a_sync_that_the_file_does_not_know_fails_the_job() {
    let (job, _) = run("--filename=/dev/zero --rw=write --fsync=4");
    assert_failed(&job, EINVAL, "sync");
    assert_eq!(
        (job.directions.write.ios, job.directions.write.bytes, job.sync.ios, job.sync.lat.moments.count),
        (4, 16_384, 1, 0)
    );
}

#[test]
fn syncs_are_counted_and_timed_by_themselves() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("the build directory is writable");
    let path = directory.path().join("file");
    let (job, messages) = run(&format!("--filename={} --rw=write --fsync=4 --end_fsync=1", path.display()));
    assert_eq!(job.error, None, "{messages:?}");
    assert_eq!((job.directions.write.ios, job.sync.ios, job.sync.lat.moments.count), (16, 3, 3));
    assert!(job.final_sync_ns.is_some() && job.close_ns.is_some());
}

#[test]
fn gtod_reduce_times_one_in_64() {
    let (job, _) = run("--filename=/dev/zero --gtod_reduce=1 --size=25600k");
    assert_eq!((job.directions.read.ios, job.directions.read.clat.moments.count), (6400, 0));
    assert_eq!(job.sampled_latency.expect("the samples are kept").read.moments.count, 100);
}

#[test]
fn paced_requests_have_response_times() {
    let (job, messages) = run("--filename=/dev/zero --rate_iops=100000");
    assert_eq!(job.error, None, "{messages:?}");
    let response = job.directions.read.response.expect("they were intended");
    assert_eq!(response.moments.count, 16);
    assert!(response.moments.sum >= job.directions.read.clat.moments.sum, "nothing starts before it is intended to");
}

#[test]
fn the_runtime_ends_the_job() {
    for words in ["", "--gtod_reduce=1", "--rate_iops=1000"] {
        let (job, messages) = run(&format!("--filename=/dev/zero --time_based --runtime=100ms {words}"));
        assert_eq!(job.error, None, "{messages:?}");
        assert!(job.directions.read.runtime_ms >= 100, "{words}: {} ms", job.directions.read.runtime_ms);
        assert_eq!(job.directions.read.bytes, job.directions.read.ios * 4096, "{words}");
    }
}

#[test]
fn a_stop_ends_the_job() {
    for words in ["", "--gtod_reduce=1", "--rate_iops=1000", "--thinktime=10ms"] {
        let listener = Listener { stop_when_busy: true, ..Listener::default() };
        let (job, messages) = run_with(&format!("--filename=/dev/zero --time_based --runtime=1000d {words}"), listener);
        assert_eq!(job.error, None, "{messages:?}");
        assert_eq!(job.directions.read.bytes, job.directions.read.ios * 4096, "{words}");
    }
}

#[test]
fn a_block_that_was_trimmed_is_written_before_the_job_ends() {
    let ended = |words: &str, stop_when_busy: bool| {
        let words = format!("--ioengine=null --rw=randtrimwrite --size=1g {words}");
        let (job, messages) = run_with(&words, Listener { stop_when_busy, ..Listener::default() });
        assert_eq!(job.error, None, "{messages:?}");
        (job.directions.trim.ios, job.directions.write.ios)
    };
    // The end comes during the think time between the trim and its write.
    let thinks = "--thinktime=1d --thinktime_blocks=1";
    assert_eq!(ended(&format!("{thinks} --time_based --runtime=50ms"), false), (1, 1));
    assert_eq!(ended(thinks, true), (1, 1));
    for words in ["", "--gtod_reduce=1", "--iodepth=4", "--nrfiles=3"] {
        for stop in [false, true] {
            let (trims, writes) = ended(&format!("{words} --time_based --runtime=20ms"), stop);
            assert!(trims > 0 && trims == writes, "{words}: {trims} trims, {writes} writes");
        }
    }
}
