//! Tests missing resources: threads, memory, a stack, system calls. Whatever is asked for, the program ends by itself
//! with a sentence, and leaves nothing behind.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::program::{RunResult, UserFiles, start_command};

/// Status of `refuse.py` where no filter can be set.
pub(crate) const NO_FILTER: i32 = 77;

/// The commands that are tried: each ends within a second or two if nothing is missing.
const FIO: &str = "--name=a --rw=randrw --bs=4k --size=256k --ioengine=libaio --iodepth=4 --numjobs=3 --filename=data";
const FIO_WITH_LOGS: &str =
    "--name=a --rw=write --bs=4k --size=256k --filename=data --write_lat_log=data --log_avg_msec=10";
const FIO_OFFLOADED: &str =
    "--name=a --rw=read --size=256k --filename=data --ioengine=libaio --iodepth=8 --io_submit_mode=offload";
const MEASURE: &str = "measure . --quick --size=4m --runtime=1 --only=rand-read --no-store";
const SMALL_FILES: &str = "smallfiles . --files=20 --no-store";
const INSPECT: &str = "inspect .";
const DOCTOR: &str = "doctor";

/// Shell words before a command to which these system calls are refused.
pub(crate) fn refusing(calls: &str) -> String {
    format!("exec python3 {}/tests/faults/refuse.py {calls} --", env!("CARGO_MANIFEST_DIR"))
}

/// The limit of a control group.
pub(crate) enum Limit {
    MemoryBytes(u64),
    Processes(u64),
}

/// A control group below this process's own; removed when dropped.
pub(crate) struct Group {
    directory: PathBuf,
}

impl Group {
    /// `Err`: why none can be made here.
    pub(crate) fn limited(limit: Limit) -> Result<Group, String> {
        let groups = std::fs::read_to_string("/proc/self/cgroup").map_err(|error| error.to_string())?;
        let own = |mark: &str| groups.lines().find_map(|line| line.split_once(mark).map(|(_, group)| group.to_owned()));
        let (controller, [old, new], value) = match limit {
            Limit::MemoryBytes(bytes) => ("memory", ["memory.limit_in_bytes", "memory.max"], bytes),
            Limit::Processes(count) => ("pids", ["pids.max"; 2], count),
        };
        let (root, group, file) = match own(&format!(":{controller}:")) {
            Some(group) => (format!("/sys/fs/cgroup/{controller}"), group, old),
            None => ("/sys/fs/cgroup".to_owned(), own("0::").unwrap_or_default(), new),
        };
        let name = format!("faults-{}-{controller}-{value}", std::process::id());
        let directory = Path::new(&root).join(group.trim_start_matches('/')).join(name);
        let because = |error: std::io::Error| format!("no control group can be made: {}: {error}", directory.display());
        std::fs::create_dir(&directory).map_err(because)?;
        let made = Group { directory: directory.clone() };
        std::fs::write(directory.join(file), value.to_string()).map_err(because)?;
        Ok(made)
    }

    /// Shell words that join the group.
    pub(crate) fn join(&self) -> String {
        format!("echo $$ > {}/cgroup.procs", self.directory.display())
    }

    /// Waits until the group is empty: processes end a little after their parent is told.
    fn is_left(&self) {
        let members = || std::fs::read_to_string(self.directory.join("cgroup.procs")).unwrap_or_default();
        testkit::wait_until("the end of all processes", || members().is_empty());
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.directory);
    }
}

/// Runs the command after shell words, and examines its end. `None`: these words cannot be carried out here.
#[track_caller]
fn ends_well(before: &str, words: &str) -> Option<RunResult> {
    let place = testkit::directory();
    let precious = UserFiles::put(place.path());
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{before} {} {words}", testkit::program())]);
    // Ten times this is the longest wait for what does not answer.
    command.env("FSDYNO_PATIENCE", "2").env("RUST_BACKTRACE", "0");
    let ran = start_command(place.path(), testkit::directory(), command).finish();
    if ran.status == NO_FILTER {
        return None;
    }
    let said = format!("{before} fsdyno {words}: status {}\n{}{}", ran.status, ran.stdout, ran.stderr);
    assert!(
        !said.contains("panicked") && !said.contains("RUST_BACKTRACE") && !said.contains("internal error"),
        "{said}"
    );
    assert!(ran.status < 100, "{said}");
    assert!(ran.status == 0 || !ran.stderr.trim().is_empty(), "{said}");
    let left = precious.and_else();
    assert!(!left.contains("fsdyno-work-N") && !left.contains(".fsdyno-draft"), "{left} is left: {said}");
    Some(ran)
}

#[test]
fn no_thread() {
    let before = refusing("threads=EAGAIN");
    for words in [FIO, MEASURE, SMALL_FILES, DOCTOR] {
        let Some(ran) = ends_well(&before, words) else {
            return testkit::skip("no seccomp filter can be set here");
        };
        assert!(words == DOCTOR || ran.status != 0, "{words}: {}{}", ran.stdout, ran.stderr);
    }
    let inspected = ends_well(&before, INSPECT).expect("a filter has been set");
    assert_eq!(inspected.status, 0, "what needs no second thread is answered: {}", inspected.stderr);
}

#[test]
fn some_threads() {
    let mut ended_well = Vec::new();
    for count in [3, 4, 6, 7] {
        let group = match Group::limited(Limit::Processes(count)) {
            Ok(group) => group,
            Err(reason) => return testkit::skip(&reason),
        };
        let before = format!("{}; exec", group.join());
        for words in [FIO_WITH_LOGS, FIO_OFFLOADED, SMALL_FILES, MEASURE] {
            let ran = ends_well(&before, words).expect("no filter is set");
            ended_well.push(ran.status == 0);
            group.is_left();
        }
    }
    assert!(ended_well.contains(&true) && ended_well.contains(&false), "the limits are where threads begin to lack");
}

/// The lowest memory limit at which the program prints its version, KiB; it depends on the build.
fn least_kib() -> u64 {
    let says = |kib: &u64| {
        let line = format!("ulimit -v {kib}; exec {} --version", testkit::program());
        Command::new("sh").args(["-c", &line]).output().is_ok_and(|output| output.status.success())
    };
    (4_000..200_000).step_by(1_000).find(says).expect("a program of less than 200 MB")
}

#[test]
fn little_memory() {
    let least_kib = least_kib();
    let mut ended_well = Vec::new();
    // The program keeps a reserve of 8 MiB if it gets it.
    for more_kib in [1_000, 3_000, 5_000, 9_000, 11_000, 20_000] {
        let before = format!("ulimit -v {}; exec", least_kib + more_kib);
        for words in [FIO, FIO_WITH_LOGS, INSPECT, SMALL_FILES] {
            ended_well.push(ends_well(&before, words).expect("no filter is set").status == 0);
        }
    }
    assert!(ended_well.contains(&true) && ended_well.contains(&false), "{least_kib} KiB: {ended_well:?}");
}

#[test]
fn a_small_stack() {
    for words in [FIO, INSPECT] {
        let ran = ends_well("ulimit -s 64; exec", words).expect("no filter is set");
        assert!(ran.status == 0 || ran.stderr.contains("ulimit -s 1024"), "{}", ran.stderr);
    }
}

#[test]
fn no_usage_and_no_random_numbers() {
    let filters = ["getrusage=EPERM", "getrandom=EPERM", "getrandom=ENOSYS", "getrusage=ENOSYS getrandom=EIO"];
    for filter in filters {
        for words in [FIO, SMALL_FILES, INSPECT] {
            let Some(ran) = ends_well(&refusing(filter), words) else {
                return testkit::skip("no seccomp filter can be set here");
            };
            let lacks = filter.contains("EIO");
            assert_eq!(ran.status == 0, !lacks, "{filter}, {words}: {}", ran.stderr);
            assert_eq!(ran.stderr.contains("random numbers"), lacks, "{filter}, {words}: {}", ran.stderr);
        }
    }
}

#[test]
fn requests_beyond_all_memory() {
    for words in ["--iodepth=2147483647", "--nrfiles=4294967295", "--numjobs=1048576 --nrfiles=1024"] {
        let ran = ends_well("exec", &format!("--name=a --ioengine=null --size=1g {words}")).expect("no filter is set");
        assert_eq!(ran.status, 1, "{words}: {}", ran.stderr);
        assert!(ran.stderr.contains(" of memory"), "{words}: {}", ran.stderr);
    }
}
