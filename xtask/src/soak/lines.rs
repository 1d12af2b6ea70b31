//! The honest command lines, and the storage that they run on.

/// One kind of storage.
pub(super) struct Target {
    pub(super) name: &'static str,
    /// The words for `lab run`; empty: the filesystem of the temporary folder.
    pub(super) stack: &'static [&'static str],
    /// Ids of findings that are right there, because of how the stack is made or of how the filesystem works.
    pub(super) right: &'static [&'static str],
}

/// Findings that are right on btrfs: direct writes of files with checksums go through the page cache, one after another
/// (recent Linux), and random writes fragment a file, so that later reads are split.
const BTRFS: &[&str] = &["depth-not-reached", "request-size"];

const fn target(name: &'static str, stack: &'static [&'static str]) -> Target {
    Target { name, stack, right: &[] }
}

pub(super) const TARGETS: &[Target] = &[
    // The files are in memory, and a sync of them stores nothing.
    Target { name: "tmpfs", stack: &["tmpfs", "--size-mb", "1024"], right: &["memory-storage"] },
    target("ext4", &["ext4"]),
    target("xfs", &["xfs"]),
    Target { name: "btrfs", stack: &["btrfs"], right: BTRFS },
    Target { name: "btrfs-zstd", stack: &["btrfs", "--compress", "zstd"], right: BTRFS },
    target("overlay", &["overlay"]),
    Target {
        name: "throttle",
        stack: &["throttle", "--read-bps", "80000000", "--write-bps", "80000000"],
        right: &["throttled"],
    },
    target("fuse", &["fuse"]),
    target("disk", &[]),
];

/// Shell commands that a stack needs before the first line: otherwise the daemon's own page cache answers, and every
/// run is rightly called invalid.
fn preparation(target: &Target) -> &'static str {
    if target.name == "fuse" { "lab-fault uncached 1" } else { "true" }
}

/// Lines of the fio face as a careful person writes them: with direct I/O, or through the cache once and cold, or
/// synced; jobs on their own files or one after another. `data` is the file that the first line writes.
pub(super) const LINES: &[&str] = &[
    "--filename=data --rw=write --bs=1m --size=96m --end_fsync=1",
    "--filename=data --rw=write --bs=128k --size=96m --direct=1 --ioengine=io_uring --iodepth=8",
    "--filename=data --rw=randread --bs=4k --size=96m --direct=1 --ioengine=io_uring --iodepth=32 --time_based --runtime=2",
    "--filename=data --rw=randread --bs=4k --size=96m --direct=1 --ioengine=libaio --iodepth=16 --time_based --runtime=2",
    "--filename=data --rw=randread --bs=4k --size=96m --direct=1 --ioengine=psync --time_based --runtime=2",
    "--filename=data --rw=read --bs=1m --size=96m --direct=1 --ioengine=libaio --iodepth=8 --time_based --runtime=2",
    "--filename=data --rw=read --bs=4k --size=96m --direct=1 --time_based --runtime=1",
    "--filename=data --rw=read --bs=64k --size=96m",
    "--filename=data --rw=randread --bs=16k --size=48m --fadvise_hint=random",
    "--filename=data --rw=randwrite --bs=4k --size=96m --direct=1 --ioengine=libaio --iodepth=16 --time_based --runtime=2",
    "--filename=data --rw=randwrite --bs=4k --size=16m --fdatasync=1 --time_based --runtime=2",
    "--filename=data --rw=write --bs=64k --size=16m --sync=1",
    "--filename=data --rw=randrw --rwmixread=70 --bs=8k --size=96m --direct=1 --ioengine=io_uring --iodepth=16 \
     --time_based --runtime=2",
    "--filename=data --rw=randread --bs=4k --size=96m --direct=1 --rate_iops=500 --time_based --runtime=2",
    "--filename=data --rw=randrw --bssplit=4k/50:64k/50 --size=96m --direct=1 --ioengine=libaio --iodepth=4 \
     --time_based --runtime=1",
    "--filename=data --rw=randread --bs=512k --size=96m --direct=1 --ioengine=libaio --iodepth=4 --time_based --runtime=1",
    "--directory=. --numjobs=4 --rw=write --bs=256k --size=16m --end_fsync=1 --group_reporting",
    "--directory=. --numjobs=4 --rw=read --bs=256k --size=16m --group_reporting",
    "--directory=. --numjobs=2 --rw=randread --bs=16k --size=16m --direct=1 --ioengine=io_uring --iodepth=32 \
     --time_based --runtime=2 --group_reporting",
    "--filename=data --rw=read --bs=64k --size=48m --direct=1 --name=then --filename=data --rw=write --bs=64k --size=48m \
     --direct=1 --stonewall",
    "--filename=checked --rw=write --bs=32k --size=16m --verify=crc32c --do_verify=1 --direct=1",
    "--filename=data --rw=randwrite --bs=16k --size=96m --direct=1 --ioengine=io_uring --iodepth=4 --time_based --runtime=1",
    "--filename=data --rw=read --bs=256k --size=96m --direct=1 --ioengine=io_uring --iodepth=4 --time_based --runtime=1",
    "--filename=data --rw=randrw --rwmixread=50 --bs=16k --size=32m --direct=1 --fdatasync=4 --time_based --runtime=1",
    "--filename=data --rw=write --bs=128k --size=96m --direct=1 --ioengine=libaio --iodepth=2 --time_based --runtime=1",
    // Long enough for all findings on rates over time.
    "--filename=data --rw=randread --bs=16k --size=96m --direct=1 --ioengine=libaio --iodepth=8 --time_based --runtime=12",
];

/// The question of the guided face.
const QUESTION: &str = "measure \"$LAB_TARGET\" --quick --size=32m";

/// The script for the stack, with `rounds` rounds: a record for each line, a study for the question. Failures are
/// printed and leave no file.
pub(super) fn script(target: &Target, rounds: usize) -> String {
    let mut script = format!("set -u\ncd \"$LAB_TARGET\"\n{}\n", preparation(target));
    for round in 0..rounds {
        for (number, line) in LINES.iter().enumerate() {
            script += &format!(
                "\"$FSDYNO\" fio --name=job{round}n{number} {line} --findings=off --output=/dev/null \
                 --record=\"$RESULTS/{round}-{number}.json\" || echo 'failed: {line}' >&2\n"
            );
            script += &format!("rm -f job{round}n{number}.* then.* checked\n");
        }
        script += &format!(
            "XDG_DATA_HOME=\"$RESULTS\" \"$FSDYNO\" {QUESTION} --json --quiet > \"$RESULTS/{round}-study.json\" \
             || echo 'failed: {QUESTION}' >&2\n"
        );
    }
    script
}
