//! Defines storage of known speed, as stacks of the lab, and the jobs that measure it.

/// Length of one run, s.
pub(super) const SECONDS: u32 = 3;

/// One kind of storage.
pub(super) struct Target {
    pub(super) name: &'static str,
    /// The speed that was set, in words.
    pub(super) title: &'static str,
    /// The words for `lab run`.
    pub(super) stack: &'static [&'static str],
    /// A shell command that slows the storage down once the file exists.
    pub(super) slow_down: &'static str,
    /// The words of each job.
    pub(super) jobs: &'static [&'static str],
}

/// The targets. Where requests complete faster than fio reaps them (one at a time by default), fio's latencies include
/// the wait to be reaped and ours do not, as all are reaped at once. `iodepth_batch_complete_max` makes fio do the
/// same.
pub(super) const TARGETS: &[Target] = &[
    Target {
        name: "throttle-iops",
        title: "loop device limited to 500 reads and 400 writes a second",
        stack: &["throttle", "--size-mb", "256"],
        slow_down: "lab-throttle read-iops=500 write-iops=400",
        jobs: &[
            "--rw=randread --bs=4k --ioengine=psync --direct=1",
            "--rw=randread --bs=4k --ioengine=libaio --iodepth=16 --iodepth_batch_complete_max=16 --direct=1",
            "--rw=randwrite --bs=4k --ioengine=libaio --iodepth=4 --iodepth_batch_complete_max=4 --direct=1",
        ],
    },
    Target {
        name: "throttle-bandwidth",
        title: "loop device limited to 20 MiB a second",
        stack: &["throttle", "--size-mb", "256"],
        slow_down: "lab-throttle read-bps=20971520 write-bps=20971520",
        jobs: &[
            "--rw=read --bs=64k --ioengine=libaio --iodepth=4 --direct=1",
            "--rw=write --bs=64k --ioengine=psync --direct=1",
        ],
    },
    Target {
        name: "fuse",
        title: "FUSE daemon that waits 2 ms",
        stack: &["fuse"],
        slow_down: "lab-fault direct-io 1 delay-us 2000",
        jobs: &[
            "--rw=randread --bs=4k --ioengine=psync",
            "--rw=randwrite --bs=4k --ioengine=psync",
            "--rw=randread --bs=4k --ioengine=libaio --iodepth=4 --direct=1",
        ],
    },
    Target {
        name: "dm-delay",
        title: "disk that takes 20 ms longer (device mapper)",
        stack: &["dm"],
        slow_down: "lab-disk delay 20",
        jobs: &[
            "--rw=randread --bs=4k --ioengine=psync --direct=1",
            "--rw=randread --bs=4k --ioengine=libaio --iodepth=8 --direct=1",
        ],
    },
    Target {
        name: "nfs",
        title: "NFS 4.2 over a round trip of 5 ms (netem)",
        stack: &["nfs", "--delay-ms", "5"],
        slow_down: "true",
        jobs: &[
            "--rw=randread --bs=4k --ioengine=psync --direct=1",
            "--rw=randread --bs=4k --ioengine=libaio --iodepth=8 --direct=1",
            "--rw=randwrite --bs=4k --ioengine=psync --direct=1",
        ],
    },
];

/// The script for the stack: it makes the file, then runs both tools in turn, one document per run.
pub(super) fn script(target: &Target, pairs: usize) -> String {
    let mut script = format!(
        "set -eu\ncd \"$LAB_TARGET\"\n\
         \"$FIO\" --name=file --filename=data --size=32m --rw=write --bs=1m --end_fsync=1 --thread --output=/dev/null\n\
         {}\n",
        target.slow_down
    );
    for (number, job) in target.jobs.iter().enumerate() {
        for pair in 0..pairs {
            let mut order = [("fio", "FIO"), ("fsdyno", "FSDYNO")];
            if pair % 2 == 1 {
                order.reverse();
            }
            for (name, variable) in order {
                script.push_str(&format!(
                    "\"${variable}\" --name=a --filename=data --size=32m {job} --thread --time_based \
                     --runtime={SECONDS} --output-format=json --output=\"$RESULTS/{number}-{name}-{pair}.json\" 2>&1 \
                     | grep -v -e caution: -e next: >&2 || true\n"
                ));
            }
        }
    }
    script
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_turns_and_nothing_is_left_out() {
        let target =
            Target { name: "x", title: "x", stack: &[], slow_down: "true", jobs: &["--rw=read", "--rw=write"] };
        let script = script(&target, 2);
        let order: Vec<&str> =
            script.lines().skip(4).map(|line| if line.starts_with("\"$FIO\"") { "fio" } else { "ours" }).collect();
        assert_eq!(order, ["fio", "ours", "ours", "fio", "fio", "ours", "ours", "fio"]);
        assert!(script.contains("1-fsdyno-1.json"));
    }
}
