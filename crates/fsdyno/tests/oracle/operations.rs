//! Tests engines whose requests are operations on names, or change the space of a file; and the one that transfers
//! through a pipe.

use crate::case::shared_command::shared_commands;
use crate::case::{Case, cases, line};
use crate::left_behind::Depth;

/// One operation for each of four files.
fn names(words: &str) -> Case {
    line("--name=a --nrfiles=4 --filesize=4k").words(words)
}

/// 16 requests of 4 KiB.
fn space(words: &str) -> Case {
    line("--name=a --filename=data --size=64k").words(words)
}

/// 16 requests of 4 KiB, whose blocks are exchanged.
fn exchanged(words: &str) -> Case {
    line("--name=a --filename=data --filesize=64k --size=64k --ioengine=e4defrag --donorname=donor").words(words)
}

cases! {
    created: names("--ioengine=filecreate").counts().depths().report().terse(3).left(Depth::Contents);
    created_and_counted_as_writes: names("--ioengine=filecreate --rw=write").counts().report().left(Depth::Sizes);
    created_by_a_mix: names("--ioengine=filecreate --rw=randrw --filesize=16k").counts().report();
    created_twice: names("--ioengine=filecreate --loops=2").counts().report();
    created_for_a_time: names("--ioengine=filecreate --time_based --runtime=1 --rate_iops=40").left(Depth::Names);
    cut_by_reads: space("--ioengine=ftruncate --rw=read").differs("ioengine=ftruncate with reads", 1);
    cut_and_synced: space("--ioengine=ftruncate --rw=write --fsync=4").differs("ioengine=falloc or ftruncate with fsync", 0);
    deleted_though_it_was_there: line("--name=a --filename=data --ioengine=filedelete --size=4k").file("data", "what was there")
        .differs("ioengine=filedelete, filerename or dirdelete", 1);
    deleted_twice: names("--ioengine=filedelete --loops=2").left(Depth::Names);
    exchanged_by_reads: exchanged("--rw=randread --inplace=1").left(Depth::Sizes);
}

shared_commands! {
    created_with_one_open: names("--ioengine=filecreate --openfiles=1 --filesize=16k").counts().report();
    created_where_they_are: names("--ioengine=filecreate").file("a.0.1", "what was there").left(Depth::Contents);
    created_and_unlinked: names("--ioengine=filecreate --unlink=1").left(Depth::Names);
    created_by_clones: names("--ioengine=filecreate --numjobs=3 --group_reporting").counts().report().left(Depth::Names);
    without_total_latency: names("--ioengine=filecreate --disable_lat=1").report();
    without_completion_latency: names("--ioengine=filecreate --disable_clat=1");
    without_a_clock: names("--ioengine=filecreate --gtod_reduce=1").report();
    looked_up: names("--ioengine=filestat").counts().report().left(Depth::Sizes);
    looked_up_by_lstat: names("--ioengine=filestat --stat_type=lstat --loops=3").counts();
    looked_up_by_statx: names("--ioengine=filestat --stat_type=statx").counts();
    looked_up_at_random: names("--ioengine=filestat --filesize=16k --file_service_type=random --io_size=256k").counts().report();
    looked_up_by_trims: names("--ioengine=filestat --rw=trim").counts().report();
    looked_up_twice_only: names("--ioengine=filestat --number_ios=2").counts();
    deleted: names("--ioengine=filedelete").counts().report().left(Depth::Names);
    deleted_and_counted_as_writes: names("--ioengine=filedelete --rw=randwrite").counts().left(Depth::Names);
    reserved_behind_the_end: space("--ioengine=falloc --rw=read").counts().report().left(Depth::Sizes);
    reserved: space("--ioengine=falloc --rw=write").counts().depths().report().left(Depth::Contents);
    reserved_by_a_mix: space("--ioengine=falloc --rw=randrw").counts().report();
    punched: space("--ioengine=falloc --rw=trim").counts().report().left(Depth::Contents);
    cut: space("--ioengine=ftruncate --rw=write").counts().depths().report().left(Depth::Contents);
    exchanged_in_place: exchanged("--rw=write --inplace=1").counts().depths().report().left(Depth::Sizes);
    exchanged_at_random: exchanged("--rw=randwrite --bs=16k").counts().report().left(Depth::Sizes);
    spliced: space("--ioengine=splice --rw=read").counts().depths().report();
    spliced_into_a_file: space("--ioengine=splice --rw=write --bs=16k --buffer_pattern=0xdeadbeef").counts().report().left(Depth::Contents);
    spliced_in_parts: space("--ioengine=splice --rw=write --size=1m --bs=256k --zero_buffers").counts().left(Depth::Contents);
    spliced_directly: space("--ioengine=splice --rw=randrw --direct=1").counts();
    spliced_and_verified: space("--ioengine=splice --rw=randwrite --verify=crc32c --verify_state_save=0").counts().report();
}
