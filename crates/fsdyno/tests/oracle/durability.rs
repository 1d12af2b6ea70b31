//! What makes written data durable, and how it is counted.

use crate::case::{Case, cases, line};
use crate::left_behind::Depth;

/// 16 writes of 4 KiB.
fn job(words: &str) -> Case {
    line("--name=a --filename=data --size=64k --rw=write").words(words)
}

cases! {
    fsync_every_four_writes: job("--fsync=4").counts().depths().report();
    fsync_every_write: job("--fsync=1").counts();
    fsync_of_random_writes: job("--rw=randwrite --fsync=8 --size=256k").counts();
    fsync_with_a_queue: job("--fsync=4 --ioengine=libaio --direct=1 --iodepth=8").counts();
    fdatasync_every_write: job("--fdatasync=1").report();
    end_fsync: job("--end_fsync=1").counts().left(Depth::Sizes);
    fsync_on_close: job("--fsync_on_close=1").counts();
    fsync_without_writes: job("--rw=read --fsync=4").counts();
    sync_writes: job("--sync=1").counts();
    dsync_writes: job("--sync=dsync").counts();
    create_fsync_off: job("--rw=read --create_fsync=0").counts();
}
