//! Checks that the drive loop does not allocate per request: a worker with several times the requests makes no more
//! allocations.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, reason = "what is skipped says why, and what was counted is shown")]

mod conducted;

use std::sync::Arc;

use fsdyno_job::EngineName;
use fsdyno_os::allocation::CountingAllocator;
use fsdyno_run::{Control, Observer};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// One allocation of the worker for this number of requests is too much. Logs and tables that double their size allocate
/// less often.
const REQUESTS_PER_ALLOCATION: u64 = 1000;

/// Allocations that a worker may make per second: a slice of its course of latencies, and histograms that grow while a busy
/// machine is slow.
const PER_SECOND: u64 = 50;

/// An observer that only keeps what it is told.
#[derive(Default)]
struct Silent(Vec<String>);

impl Observer for Silent {
    fn message(&mut self, text: &str) {
        self.0.push(text.to_owned());
    }
}

/// Number of allocations of the worker of a whole run of `ios` requests, and its length, ms; the reason if the engine is
/// refused on this machine.
fn allocations(words: &str, ios: u64) -> Result<(u64, u64), String> {
    let ends = format!("--size=1m --io_size=100g --number_ios={ios}");
    let jobs = conducted::jobs(&format!("--name=a --bs=4k --invalidate=0 {ends} {words}"));
    let before = ALLOCATOR.of_workers();
    let mut observer = Silent::default();
    let record = conducted::conduct(&jobs, Arc::new(Control::default()), &mut observer);
    let counted = ALLOCATOR.of_workers() - before;
    let job = &record.jobs[0];
    if job.error.as_ref().is_some_and(|error| error.function == "engine") {
        return Err(observer.0.join("; "));
    }
    assert_eq!(job.error, None, "{words}: {:?}", observer.0);
    assert_eq!(job.directions.read.ios + job.directions.write.ios, ios, "{words}");
    assert!(counted > 0, "{words}: a worker allocates before its first request");
    Ok((counted, job.job_runtime_ms))
}

/// Checks that the worker of a run of `longer` requests allocates as often as that of a run of `short`, but for its time.
#[track_caller]
fn assert_no_growth(words: &str, short: u64, longer: u64) {
    match allocations(words, short).and_then(|few| Ok((few, allocations(words, longer)?))) {
        Ok(((few, _), (many, ms))) => {
            println!("{words}: {few} allocations for {short} requests, {many} for {longer} in {ms} ms");
            let growth = (longer - short) / REQUESTS_PER_ALLOCATION + PER_SECOND * ms / 1000;
            assert!(many <= few + growth, "{words}: {few}, then {many} in {ms} ms");
        }
        Err(reason) => println!("skipped: {words}: {reason}"),
    }
}

/// A single test, because the counter includes the workers of all runs of the process.
#[test]
fn the_drive_loop_allocates_nothing_per_request() {
    #[cfg(target_os = "linux")]
    if objects::are_served() {
        return;
    }
    let governed = "--rw=randrw --rate_iops=4000000000 --max_latency=1h";
    let plain = ["--rw=randread", "--rw=randread --gtod_reduce=1", governed];
    let general = ["--rw=randrw --nrfiles=4 --bsrange=1k-4k --norandommap", "--rw=write --fdatasync=3"];
    let serialized = ["--rw=randrw --norandommap --serialize_overlap=1"];
    for pattern in plain.into_iter().chain(general).chain(serialized) {
        assert_no_growth(&format!("--ioengine=null --iodepth=1 {pattern}"), 10_240, 51_200);
        assert_no_growth(&format!("--ioengine=null --iodepth=64 {pattern}"), 10_240, 51_200);
    }
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("the build directory is writable");
    let path = directory.path().join("file");
    std::fs::write(&path, vec![0u8; 1 << 20]).expect("the build directory is writable");
    let log = directory.path().join("log");
    for engine in ["--ioengine=null --iodepth=1", "--ioengine=null --iodepth=64"] {
        let words = format!("{engine} --rw=randread --write_lat_log={}", log.display());
        assert_no_growth(&words, 10_240, 51_200);
        assert_no_growth(&format!("{words} --log_avg_msec=10"), 10_240, 51_200);
    }
    let engines = [EngineName::Psync, EngineName::Libaio, EngineName::IoUring, EngineName::Windowsaio];
    for engine in engines.into_iter().filter(|engine| engine.is_of_this_system()) {
        let engine = format!("--ioengine={} --iodepth=16", engine.name());
        for pattern in plain {
            let words = format!("--filename={} {engine} {pattern}", path.display());
            // The longer the first run is, the fewer latencies are seen for the first time in the second one.
            assert_no_growth(&words, 20_480, 61_440);
        }
    }
    #[cfg(target_os = "linux")]
    objects::are_read_and_written_without_allocations();
}

/// Objects of a server in a process of its own, whose allocations are not counted.
#[cfg(target_os = "linux")]
mod objects {
    use std::io::{BufRead, BufReader, Read};
    use std::process::{Command, Stdio};

    use testkit::{ObjectServer, ServerBehaviour};

    /// The variable of the process that serves.
    const SERVES: &str = "FSDYNO_SERVES_OBJECTS";

    /// The words before the server's address.
    const AT: &str = "objects are served at ";

    pub(crate) fn are_read_and_written_without_allocations() {
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command.args(["--nocapture", "the_drive_loop_allocates_nothing_per_request"]).env(SERVES, "");
        let mut server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it begins");
        // Its harness writes to the end.
        let mut lines = BufReader::new(server.stdout.take().expect("its output")).lines().map_while(Result::ok);
        let host = lines.find_map(|line| Some(line.split_once(AT)?.1.to_owned()));
        let engine = format!("--ioengine=http --http_host={} --filename=/bucket/key", host.expect("an address"));
        for pattern in ["--rw=write", "--rw=randread", "--rw=randread --rate_iops=4000000000"] {
            for dialect in ["webdav", "s3 --http_s3_keyid=AKID --http_s3_key=secret"] {
                let words = format!("{engine} --http_mode={dialect} {pattern}");
                crate::assert_no_growth(&words, 1_024, 10_240);
            }
        }
        drop(server.stdin.take());
        assert!(server.wait().expect("it ends").success());
    }

    /// In the process that the test above starts: serves until its input ends. Whether this is that process.
    pub(crate) fn are_served() -> bool {
        if std::env::var_os(SERVES).is_none() {
            return false;
        }
        let server = ObjectServer::start(ServerBehaviour::Honest);
        println!("{AT}{}", server.host());
        std::io::stdin().read_to_end(&mut Vec::new()).expect("its input");
        true
    }
}
