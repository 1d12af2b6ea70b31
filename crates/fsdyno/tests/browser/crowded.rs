//! Adds to a study what a busy machine and an unusual mount add.

use fsdyno_results::{Finding, Severity, Study};

use crate::fixture;

/// The study with up to `kinds` of the findings below on each row, with notes, remarks, mount options, and long names
/// and paths.
pub(crate) fn crowded(mut study: Study, kinds: usize) -> Study {
    for target in &mut study.targets {
        let path = format!("/srv/kubernetes/pods/9f1c52c4-7f0e-4c7b-b8a1-5be0c9c39f1d/volumes/{}", target.name);
        let long = "lowerdir=/var/lib/layers/l/2Y7ZQJ:/var/lib/layers/l/5W3K,upperdir=/var/lib/layers/9f1c52c4/diff";
        let options = ["rw", "relatime", "discard", "resv_strict", "resuid=65534", "resgid=65534", long];
        (target.name, target.path) = (format!("{} of the third rack", target.name), path.clone());
        if let fsdyno_results::evidence::RecordedFact::Value(mount) = &mut target.storage.mount {
            mount.mount_point = path.into();
            mount.options.extend(options.map(str::to_owned));
        }
        target
            .storage
            .remarks
            .push("the container runtime stacks this filesystem on another, and that on a loop device".into());
    }
    for (index, row) in study.rows.iter_mut().enumerate() {
        let found = CROWD.iter().take(kinds).enumerate().filter(|(kind, _)| !(index + kind).is_multiple_of(4));
        let finding = |(_, (id, seen, next)): (usize, &(&str, &str, &str))| {
            Finding::new(*id, Severity::Caution, seen.replace('#', &(31 + 7 * index % 59).to_string()), *next)
        };
        row.findings.extend(found.map(finding));
    }
    let note = |number: usize| {
        let text =
            "the page cache could not be dropped for lack of privilege, so that files which are new were read instead";
        fixture::note(&format!("note-{number}"), Severity::Info, &format!("{text} ({number} of 6 places)"))
    };
    study.notes.extend((1..=6).map(note));
    let sentence = |test: usize| {
        format!(
            "Test {test}: IOPS = concurrency / mean latency: 32 requests in flight / 428 µs = 74,844 IOPS; measured 67,806 (91 % \
             of it: the rest of the time requests waited for submission). One read at a time gives 10,372 IOPS."
        )
    };
    study.sentences.extend((1..=4).map(sentence));
    study
}

/// Id, cause (`#`: a figure), and next step.
const CROWD: [(&str, &str, &str); 12] = [
    (
        "cpu-starved",
        "I/O threads waited for a CPU # % of the time (results suffer from 20 % on); other processes and the kernel used 1.# of 2 CPUs",
        "stop the other processes, and run again",
    ),
    (
        "foreign-load",
        "vda moved # MB/s for others, besides this run's 147 MB/s",
        "find who else uses the device (iotop), and run again when it is idle",
    ),
    (
        "depth-not-reached",
        "depth 32 was asked, and at # % of submissions no more than 8 requests were in flight",
        "use an engine that queues (--engine=io_uring), or read the figure as that of depth 8",
    ),
    (
        "generator-bound",
        "the CPUs that submitted were busy for # % of the time: the storage may be faster than this",
        "use more jobs or larger blocks, and run again",
    ),
    (
        "clock",
        "the clock costs # ns a reading and drifts by 48 ppm",
        "use the clock source tsc (clocksource=tsc), where the machine has it",
    ),
    (
        "request-size",
        "block size 1.0 MiB, but the device got # KiB per request on average",
        "look at the file's extents (filefrag -v) and at the device's largest request",
    ),
    ("too-short", "# requests in 1.0 s: too few for the percentiles that were asked", "run for longer: --runtime=30"),
    (
        "too-noisy",
        "the throughput varied by # % around its mean",
        "repeat with --runs=9, and look at the course of the rounds",
    ),
    (
        "drift",
        "the last third was # % slower than the first",
        "run for longer until the throughput settles: --runtime=300",
    ),
    (
        "throttled",
        "the control group's CPU limit stopped the run for # ms",
        "run outside the control group, or raise cpu.max",
    ),
    (
        "burst",
        "the first 2.# s were twice as fast as the rest: credits of a volume were spent",
        "run for longer than the credits last: --runtime=600",
    ),
    (
        "host-cache",
        "reads at # µs are faster than the device can be: the host of this virtual machine holds them in its memory",
        "use files larger than the host's memory, or set cache=none for the disk",
    ),
];
