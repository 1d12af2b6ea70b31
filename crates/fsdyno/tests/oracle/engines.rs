//! Tests the engines, with the same small job.

use crate::case::shared_command::shared_commands;
use crate::case::{Case, Need, cases, line};
use crate::left_behind::Depth;

/// 16 requests of 4 KiB.
fn job(words: &str) -> Case {
    line("--name=a --filename=data --size=64k").words(words)
}

cases! {
    psync: job("--ioengine=psync --rw=randrw --size=1m").report();
    sync: job("--ioengine=sync --rw=write").counts().report();
    pvsync: job("--ioengine=pvsync --rw=read").counts();
    io_uring: job("--ioengine=io_uring --rw=randread --iodepth=8").counts().report().needs(Need::IoUring);
    io_uring_direct: job("--ioengine=io_uring --rw=write --iodepth=8 --direct=1").counts().depths().left(Depth::Sizes).needs(Need::IoUring);
    io_uring_fixed: job("--ioengine=io_uring --rw=randread --iodepth=4 --fixedbufs=1 --registerfiles=1").counts().needs(Need::IoUring);
    priorities_above_100: job("--ioengine=libaio --rw=randread --cmdprio_bssplit=4k/60/2/7:4k/60/3/0").verbatim().says("total percentage for bs: 4096 exceeds 100");
    cpuio: line("--name=a --ioengine=cpuio --cpuload=50 --cpuchunks=20000 --runtime=1").left(Depth::Names);
    cpuio_that_sorts: line("--name=a --ioengine=cpuio --cpuload=20 --cpumode=qsort --runtime=1 --time_based").left(Depth::Names);
    cpuio_without_a_load: line("--name=a --ioengine=cpuio --runtime=1").verbatim().says("cpu thread needs rate (cpuload=)");
    cpuio_beside_io: line("--name=a --ioengine=cpuio --cpuload=20 --cpuchunks=10000 --exit_on_io_done=1 --name=b --ioengine=null --size=256k --rate=256k").left(Depth::Names);
    exec: line("--name=a --ioengine=exec --program=echo --arguments=hello_there --runtime=1 --time_based").left(Depth::Contents);
    exec_with_its_words: line("--name=a --ioengine=exec --program=/bin/echo --arguments=%n:%r --runtime=2 --time_based").left(Depth::Contents);
    exec_without_a_program: line("--name=a --ioengine=exec --runtime=1").verbatim().says("no program is defined, it is mandatory to define one");
    net_without_a_port: line("--name=a --ioengine=net --rw=read --size=4k --listen").verbatim().says("network IO requires port for tcp or udp");
    net_at_random_places: line("--name=a --ioengine=net --rw=randread --size=4k --port=1").verbatim().says("network IO can't be random");
    net_that_nobody_hears: line("--name=a --ioengine=net --rw=write --size=4k --port=9 --hostname=127.0.0.1").verbatim();
    depth_of_a_sync_engine: job("--ioengine=psync --rw=read --iodepth=8").verbatim().says("queue depth will be capped at 1");
    dev_null_read: line("--name=a --filename=/dev/null --size=64k --rw=read");
    dev_null_read_by_libaio: line("--name=a --filename=/dev/null --size=64k --rw=read --ioengine=libaio --iodepth=4").counts();
    dev_null_read_by_io_uring: line("--name=a --filename=/dev/null --size=64k --rw=randread --ioengine=io_uring --iodepth=4").counts().needs(Need::IoUring);
    dev_null_write: line("--name=a --filename=/dev/null --size=64k --rw=write --ioengine=libaio --iodepth=4").counts();
    dev_null_without_a_size: line("--name=a --filename=/dev/null --rw=write").says("you need to specify size");
    dev_zero_read: line("--name=a --filename=/dev/zero --size=64k --rw=randread").counts();
    dev_zero_read_by_libaio: line("--name=a --filename=/dev/zero --size=64k --rw=read --ioengine=libaio --iodepth=4").counts();
    dev_zero_direct: line("--name=a --filename=/dev/zero --size=64k --rw=read --direct=1").verbatim().says("does not support direct=1");
    unknown_engine: job("--ioengine=nosuch --rw=read").says("nosuch");
    direct_of_an_odd_size: job("--ioengine=psync --direct=1 --rw=read --bs=1000");
}

shared_commands! {
    pvsync2: job("--ioengine=pvsync2 --rw=randread").counts();
    mmap_read: job("--ioengine=mmap --rw=randread").counts().report();
    mmap_write: job("--ioengine=mmap --rw=write --zero_buffers").counts().left(Depth::Contents);
    libaio: job("--ioengine=libaio --rw=randread --iodepth=8").counts().report();
    libaio_direct: job("--ioengine=libaio --rw=randwrite --iodepth=8 --direct=1").counts().depths().left(Depth::Sizes);
    priorities: job("--ioengine=libaio --rw=randread --iodepth=8 --size=1m --cmdprio_percentage=30 --cmdprio_class=2 --cmdprio=7").counts().report();
    priorities_by_size: job("--ioengine=libaio --rw=randread --iodepth=8 --size=1m --bssplit=4k/50:8k/50 --cmdprio_bssplit=8k/50/2/7").report();
    one_priority: job("--ioengine=libaio --rw=randread --iodepth=8 --cmdprio_percentage=100 --cmdprio_class=2").counts().report();
    null: line("--name=a --ioengine=null --size=1m --rw=randread").counts().report();
    null_deep: line("--name=a --ioengine=null --size=1m --rw=write --iodepth=16").counts().report().left(Depth::Names);
    batches: job("--ioengine=libaio --rw=read --iodepth=16 --iodepth_batch=8 --iodepth_batch_complete_max=16").counts().report();
    write_hint: job("--rw=write --write_hint=long").counts().left(Depth::Sizes);
    posixaio: job("--ioengine=posixaio --rw=randread --iodepth=8").counts();
    posixaio_writes: job("--ioengine=posixaio --rw=write --iodepth=4 --bs=16k --fsync=2").left(Depth::Sizes);
    buffered: job("--buffered=0 --rw=read").counts();
    memory_by_mmap: job("--rw=write --mem=mmap --iomem_align=4k").counts();
}
