//! Trims of a device, and of the null engine, which needs none.

use crate::case::{Case, Need, cases, line};

/// A job on a loop device of 1 MiB.
fn device(words: &str) -> Case {
    line("--name=a --filename=device --size=256k").words(words).shell(ON_A_DEVICE).needs(Need::LoopDevice)
}

/// The device ends with the script.
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
    as_one_direction: null("--rw=trimwrite --unified_rw_reporting=1").counts().report();
    not_only_trims: null("--rw=trim --name=b --rw=randread --name=c --rw=randwrite").counts().report();
    for_a_time: null("--rw=trimwrite --time_based --runtime=1 --rate_iops=100");
    read_only: null("--rw=trim --readonly");
    every_latency: null("--rw=trim --iodepth=4 --lat_percentiles=1 --slat_percentiles=1").counts().report();
    a_latency_log: null("--rw=trimwrite --size=64k --write_lat_log=log --write_bw_log=log --log_offset=1").counts().left(crate::left_behind::Depth::Names);
}
