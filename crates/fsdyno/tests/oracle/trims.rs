//! Tests trims of a device, and of the null engine, which needs none.

use crate::case::shared_command::shared_commands;
use crate::case::{Case, Need, cases, line, refusal};
use crate::tools::{self, OURS};

/// A job on a loop device of 1 MiB.
fn device(words: &str) -> Case {
    line("--name=a --filename=device --size=256k").words(words).shell(ON_A_DEVICE).needs(Need::LoopDevice)
}

/// The device is removed with the script.
const ON_A_DEVICE: &str = r#"truncate -s 1M image; device=$(losetup --find --show image) || exit 99
trap 'losetup --detach "$device"' EXIT; cp --archive "$device" device; "$@""#;

fn null(words: &str) -> Case {
    line("--name=a --ioengine=null --size=1m").words(words)
}

cases! {
    in_order: device("--rw=trim").counts().depths().report().terse(3).terse(4);
    at_random: device("--rw=randtrim --bs=8k").counts().report();
    each_block_before_its_write: device("--rw=trimwrite").counts().report().terse(3).terse(4).terse(5);
    each_block_before_its_write_at_random: device("--rw=randtrimwrite --loops=2").counts().report();
    read_back: device("--rw=randtrimwrite --verify=crc32c --verify_state_save=0").counts().report();
    nothing_to_read_back: device("--rw=trim --verify=crc32c --verify_state_save=0").counts();
    pvsync2: device("--rw=trimwrite --ioengine=pvsync2").counts().report();
    mmap: device("--rw=trim --ioengine=mmap").counts();
    libaio_direct: device("--rw=trimwrite --ioengine=libaio --iodepth=8 --direct=1").counts().report();
    a_size_of_its_own: device("--rw=trimwrite --bs=4k,4k,8k").counts();
    a_rate_of_its_own: device("--rw=trim --rate_iops=,,500").counts().report();
    several_devices_are_one_direction: null("--rw=trim --nrfiles=3").counts().report().terse(4);
    with_a_queue: null("--rw=randtrim --iodepth=16").counts().report();
    so_many: null("--rw=trimwrite --number_ios=5").counts();
    in_a_group: null("--rw=randtrimwrite --numjobs=3 --group_reporting").counts().report();
    read_only: null("--rw=trim --readonly");
    for_a_time: null("--rw=trimwrite --time_based --runtime=1 --rate_iops=100");
    a_latency_log: null("--rw=trimwrite --size=64k --write_lat_log=log --write_bw_log=log --log_offset=1").counts().left(crate::left_behind::Depth::Names);
    not_only_trims: null("--rw=trim --name=b --rw=randread --name=c --rw=randwrite").counts().report();
}

shared_commands! {
    as_one_direction: null("--rw=trimwrite --unified_rw_reporting=1").counts().report();
    every_latency: null("--rw=trim --iodepth=4 --lat_percentiles=1 --slat_percentiles=1").counts().report();
}

/// The reads, writes and trims that the job submitted, by its report. `None`: skipped.
#[track_caller]
fn issued(case: &Case, status: i32) -> Option<String> {
    for need in [Need::LoopDevice, Need::IoUring] {
        if let Some(reason) = refusal(need) {
            testkit::skip(reason);
            return None;
        }
    }
    let ran = tools::run(&OURS, case, &[]);
    assert_eq!(ran.status, Some(status), "{}\n{}", ran.stdout, ran.stderr);
    let line = ran.stdout.lines().find_map(|line| line.trim().strip_prefix("issued rwts: total="));
    Some(line.and_then(|line| line.split(' ').next()).unwrap_or_default().to_owned())
}

/// fio 3.33 aborts with these options; 3.42 submits the same number.
#[test]
fn some_of_the_written_blocks_are_trimmed_and_read_as_zeroes() {
    let words = "--verify=crc32c --trim_percentage=50 --trim_backlog=4 --number_ios=10";
    for engine in ["psync", "libaio --iodepth=8 --direct=1", "io_uring --iodepth=8", "mmap"] {
        for access in ["write", "randwrite"] {
            let job = device(&format!("{words} --rw={access} --ioengine={engine}"));
            let Some(counts) = issued(&job, 0) else { return };
            assert_eq!(counts, "10,10,5,0", "{engine}");
            assert_eq!(issued(&job.words("--trim_verify_zero=0"), 0).as_deref(), Some("5,10,5,0"), "{engine}");
        }
    }
}

/// Every byte of the range was something else before, and what follows it is unchanged.
const ONLY_ZEROES_AFTER: &str = r#"truncate -s 1M image; device=$(losetup --find --show image) || exit 99
trap 'losetup --detach "$device"' EXIT; cp --archive "$device" device
tr '\0' x </dev/zero | head --bytes=1M >device
"$@" && cmp --bytes=256K device /dev/zero && test "$(tail --bytes=768K device | tr --delete x | wc --bytes)" = 0"#;

#[test]
fn every_engine_trims_what_it_says() {
    for engine in
        ["psync", "sync", "vsync", "libaio --iodepth=4", "io_uring --iodepth=4", "io_uring --iodepth=16 --direct=1"]
    {
        let job = device(&format!("--rw=randtrim --ioengine={engine}")).shell(ONLY_ZEROES_AFTER);
        let Some(counts) = issued(&job, 0) else { return };
        assert_eq!(counts, "0,0,64,0", "{engine}");
    }
}

#[test]
fn a_trimmed_block_is_written_when_the_runtime_ends_before_its_write() {
    // The think time between the two is a day.
    let words = "--rw=randtrimwrite --thinktime=1d --thinktime_blocks=1 --time_based --runtime=100ms";
    for engine in ["psync", "libaio --iodepth=4", "io_uring --iodepth=4"] {
        let Some(counts) = issued(&device(&format!("{words} --ioengine={engine}")), 0) else { return };
        assert_eq!(counts, "0,1,1,0", "{engine}");
    }
}

#[test]
fn a_device_that_holds_a_filesystem_is_not_trimmed() {
    const FORMATTED: &str = r#"truncate -s 4M image; mkfs.ext4 -q image || exit 0; cp image before
device=$(losetup --find --show image) || exit 99; cp --archive "$device" device
"$@"; status=$?; losetup --detach "$device"; cmp image before && exit $status"#;
    for access in ["trim", "randtrim", "trimwrite"] {
        let Some(_) = issued(&device(&format!("--rw={access}")).shell(FORMATTED), 1) else { return };
    }
}
