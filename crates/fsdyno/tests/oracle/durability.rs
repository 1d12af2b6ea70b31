//! Tests what makes written data durable, and how it is counted.

use crate::case::shared_command::shared_commands;
use crate::case::{Case, Need, cases, line};
use crate::left_behind::Depth;

/// 16 writes of 4 KiB.
fn job(words: &str) -> Case {
    line("--name=a --filename=data --size=64k --rw=write").words(words)
}

/// The order of writes and syncs is left in a file.
fn in_order(words: &str) -> Case {
    job("--bs=16k --thread --zero_buffers").words(words).shell(ORDER_OF_CALLS).needs(Need::Strace).left(Depth::Contents)
}

const ORDER_OF_CALLS: &str = "strace -f -o calls -e trace=pwrite64,fsync,syncfs \"$@\"; status=$?; \
    grep -oE '(pwrite64|fsync|syncfs)\\(' calls > order; rm calls; exit $status";

cases! {
    fsync_every_four_writes: job("--fsync=4").counts().depths().report();
    fsync_every_write: job("--fsync=1").counts();
    fsync_of_random_writes: job("--rw=randwrite --fsync=8 --size=256k").counts();
    end_fsync_of_each_loop: in_order("--loops=3 --end_fsync=1").counts();
    end_fsync_of_two_files: in_order("--loops=2 --end_fsync=1 --nrfiles=2");
    end_fsync_of_each_pass_of_io_size: in_order("--io_size=192k --end_fsync=1");
    end_fsync_of_random_passes: in_order("--io_size=192k --end_fsync=1 --rw=randwrite");
    end_fsync_of_one_long_pass: in_order("--io_size=192k --end_fsync=1 --rw=randwrite --norandommap");
}

shared_commands! {
    fsync_with_a_queue: job("--fsync=4 --ioengine=libaio --direct=1 --iodepth=8").counts();
    fdatasync_every_write: job("--fdatasync=1").report();
    end_fsync: job("--end_fsync=1").counts().left(Depth::Sizes);
    fsync_on_close: job("--fsync_on_close=1").counts();
    fsync_without_writes: job("--rw=read --fsync=4").counts();
    sync_writes: job("--sync=1").counts();
    dsync_writes: job("--sync=dsync").counts();
    create_fsync_off: job("--rw=read --create_fsync=0").counts();
}
