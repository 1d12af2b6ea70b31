//! Tests rates that change during a test, on a disk whose limit the test changes: T14, T15, T16, T25, T26. The disk is
//! in memory, where no other load of the machine reaches it.

use std::process::{Child, Command};

use fsdyno_results::Severity;

use crate::bench::{Bench, Run};
use testkit::shell;
use testkit::stack::{inside_beside_others, place};
use testkit::word;

/// Size of the files, MiB.
const FILE_MIB: u64 = 64;

/// Findings that a steady rate must not have.
const UNSTEADY: [&str; 5] = ["burst", "drift", "too-noisy", "lazy-blocks", "host-cache"];

/// A disk, and a file on it that is not cached.
struct Disk {
    bench: Bench,
    file: String,
}

impl Disk {
    fn new() -> Disk {
        let file = word(&place("LAB_LOCAL").join("file")).to_owned();
        shell(&format!("dd if=/dev/urandom of={file} bs=1M count={FILE_MIB} conv=fsync status=none"));
        Disk { bench: Bench::new(), file }
    }

    /// Direct reads for this number of seconds, while a shell line runs.
    #[track_caller]
    fn reads(&self, access: &str, seconds: u32, meanwhile: &str) -> Run {
        let mut beside = beside(meanwhile);
        let run = self.bench.fio(&format!(
            "--name=job --filename={} --rw={access} --bs=64k --size={FILE_MIB}m --direct=1 --ioengine=libaio \
             --iodepth=4 --time_based --runtime={seconds}",
            self.file
        ));
        assert!(beside.wait().expect("it ends").success(), "{meanwhile}");
        run
    }
}

fn beside(line: &str) -> Child {
    Command::new("bash").args(["-c", line]).spawn().expect("bash is there")
}

/// A control group's limit determines the rate; without it there is no finding. A constant limit is no unsteady rate.
#[test]
fn a_limit_that_stays() {
    inside_beside_others("series::a_limit_that_stays", "throttle --in-memory --size-mb 256", || {
        let disk = Disk::new();
        disk.reads("randread", 2, "").silent(&["throttled"]);
        shell("lab-throttle read-bps=10000000");
        let limited = disk.reads("randread", 11, "");
        let finding = limited.caution("throttled");
        assert!(finding.cause.contains("of the control group's limit"), "{}", finding.cause);
        limited.silent(&UNSTEADY);
        // Requests are limited as well, above the device.
        shell("lab-throttle read-bps=0 read-iops=300");
        let limited = disk.reads("randread", 4, "");
        let cause = &limited.caution("throttled").cause;
        assert!(cause.contains("riops=300"), "{cause}");
        let limit = fsdyno_findings::limits::of_run(&limited.record).expect("it is visible");
        assert_eq!(limit.limiter, fsdyno_findings::limits::Limiter::IoThrottle, "{limit:?}");
    });
}

/// A limit that is set during the test is not an exhausted burst credit.
#[test]
fn a_limit_that_is_set_meanwhile() {
    inside_beside_others(
        "series::a_limit_that_is_set_meanwhile",
        "throttle --in-memory --size-mb 256 --read-bps 40000000",
        || {
            let run = Disk::new().reads("randread", 13, "sleep 6; lab-throttle read-bps=10000000");
            let cause = &run.caution("throttled").cause;
            assert!(cause.contains("a control group limit set during the run"), "{cause}");
            run.silent(&["burst", "drift", "too-noisy"]);
        },
    );
}

/// Fast at first, as with burst credit: the disk itself becomes slower.
#[test]
fn a_burst() {
    inside_beside_others("series::a_burst", "dm", || {
        shell("lab-disk delay 10");
        let run = Disk::new().reads("randread", 13, "sleep 6; lab-disk delay 40");
        let finding = run.caution("burst");
        assert!(finding.cause.contains("the fast part came from burst credit"), "{}", finding.cause);
        run.silent(&["drift", "too-noisy"]);
    });
}

/// A rate that has not settled; here it rises, as with a cache that fills.
#[test]
fn a_drift() {
    inside_beside_others("series::a_drift", "throttle --in-memory --size-mb 256 --read-bps 16000000", || {
        let steps = "for step in $(seq 12); do sleep 1; lab-throttle read-bps=$((16000000 + step * 1500000)); done";
        let run = Disk::new().reads("randread", 12, steps);
        let finding = run.caution("drift");
        assert!(finding.cause.contains("the rate rose by"), "{}", finding.cause);
    });
}

/// Neighbours that come and go.
#[test]
fn noise() {
    inside_beside_others("series::noise", "throttle --in-memory --size-mb 256 --read-bps 30000000", || {
        let weather = "for second in $(seq 4); do sleep 1.1; lab-throttle read-bps=2000000; sleep 1.1; lab-throttle \
                       read-bps=30000000; done";
        let run = Disk::new().reads("randread", 8, weather);
        run.caution("too-noisy");
        run.silent(&["burst", "drift"]);
    });
}

/// A slow first pass and a fast second one, on an existing file: as with a volume that fetches its blocks from a
/// snapshot. The finding is likely, and never more than a caution.
#[test]
fn a_first_read_that_fetches() {
    inside_beside_others(
        "series::a_first_read_that_fetches",
        "throttle --in-memory --size-mb 256 --read-bps 11184810",
        || {
            let run = Disk::new().reads("read", 12, "sleep 6.3; lab-throttle read-bps=44739240");
            let finding = run.caution("lazy-blocks");
            assert!(finding.cause.contains("likely"), "{}", finding.cause);
            run.silent(&["drift", "too-noisy"]);
        },
    );
}

/// A run that ends before anything settles, and one that does not.
#[test]
fn a_short_run() {
    inside_beside_others("series::a_short_run", "ext4 --size-mb 256", || {
        let disk = Disk::new();
        let short = disk.bench.fio(&format!("--name=job --filename={} --rw=read --bs=64k --size=1m", disk.file));
        assert_eq!(short.finding("too-short").map(|finding| finding.severity), Some(Severity::Caution));
        disk.reads("randread", 2, "").silent(&["too-short"]);
    });
}
