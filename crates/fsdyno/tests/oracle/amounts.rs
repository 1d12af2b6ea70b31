//! Tests amounts: sizes, counts, loops, offsets, block sizes and mixes, where the words determine every number.

use crate::case::shared_command::shared_commands;
use crate::case::{Case, cases, line};
use crate::left_behind::Depth;

/// A small sequential job over 64 KiB.
fn job(words: &str) -> Case {
    line("--name=a --filename=data --size=64k").words(words)
}

cases! {
    read_to_the_end: job("--rw=read").counts().left(Depth::Sizes);
    write_to_the_end: job("--rw=write").counts().left(Depth::Sizes);
    randread_touches_each_block: job("--rw=randread").counts();
    size_below_the_block: job("--rw=read --size=2k").says("2048 < 4096");
    bs_for_each_direction: job("--rw=rw --bs=4k,8k --number_ios=12").verbatim();
    clones_reported_each: line("--name=a --size=16k --rw=randread --numjobs=3 --thread").counts().report().terse(3);
    kb_base: line("--kb_base=1000 --name=a --filename=data --rw=write --size=64kib --bs=4kib").counts().left(Depth::Sizes).report();
    runtime_with_units: job("--rw=read --runtime=1s").counts();
    runtime_ends_a_job: job("--rw=read --time_based --runtime=200ms").left(Depth::Sizes);
    ramp_then_runtime: job("--rw=randread --time_based --runtime=300ms --ramp_time=300ms").report();
    time_based_without_runtime: job("--rw=read --time_based").counts().says("time_based requires a runtime");
    rate: job("--rw=read --rate=320k").counts();
    rate_iops: job("--rw=randread --rate_iops=100 --number_ios=16").counts().report();
    rate_of_each_direction: job("--rw=randrw --rate_iops=200,100 --size=128k").report();
    thinktime: job("--rw=read --thinktime=1000 --thinktime_blocks=4").counts();
    thinktime_by_the_clock: job("--rw=read --thinktime=10ms --thinktime_iotime=5ms").counts();
    thinktime_by_clock_and_blocks: job("--rw=read --thinktime=1ms --thinktime_iotime=5 --thinktime_blocks=4").counts();
    thinktime_under_a_rate: job("--rw=read --rate_iops=200 --thinktime=30ms --thinktime_blocks=4 --rate_ignore_thinktime=1").counts();
    startdelay: job("--rw=read --startdelay=300ms").counts();
}

shared_commands! {
    randwrite_touches_each_block: job("--rw=randwrite --zero_buffers").counts().left(Depth::Contents);
    size_is_not_a_multiple: job("--rw=read --size=66000 --bs=4k").counts().left(Depth::Sizes);
    size_in_percent: job("--rw=read --size=50%").file("data", vec![1; 65536]).counts().left(Depth::Contents);
    size_in_percent_of_whole_blocks: job("--rw=randread --norandommap --bs=3k --size=50%").file("data", vec![1; 65536]).counts();
    io_size_in_percent_of_the_files: job("--rw=read --filesize=128k --io_size=50%").counts();
    size_of_the_file: line("--name=a --filename=data --rw=read").file("data", vec![1; 40960]).counts().left(Depth::Contents);
    number_ios: job("--rw=write --number_ios=5").counts().left(Depth::Sizes);
    number_ios_of_each_clone: job("--rw=randread --number_ios=3 --numjobs=3").counts();
    loops: job("--rw=write --loops=3").counts().left(Depth::Sizes);
    loops_of_random_reads: job("--rw=randread --loops=2").counts();
    io_size_above: job("--rw=read --io_size=160k").counts();
    io_size_below: job("--rw=write --io_size=20k").counts().left(Depth::Sizes);
    io_size_above_random: job("--rw=randwrite --io_size=100k").counts().left(Depth::Sizes);
    offset: job("--rw=write --offset=32k --fallocate=none").counts().left(Depth::Sizes);
    offset_of_a_longer_file: job("--rw=read --offset=16k --size=16k").file("data", vec![1; 65536]).counts().left(Depth::Contents);
    offset_increment: job("--rw=write --offset_increment=64k --numjobs=3 --zero_buffers").counts().left(Depth::Contents);
    file_is_longer: job("--rw=write --size=16k --zero_buffers").file("data", vec![1; 65536]).counts().left(Depth::Contents);
    file_is_shorter: job("--rw=write --size=64k --zero_buffers").file("data", vec![1; 4096]).counts().left(Depth::Contents);
    bs_of_reads: job("--rw=read --bs=16k,4k").counts();
    bs_of_writes: job("--rw=write --bs=16k,4k").counts().left(Depth::Sizes);
    bs_odd: job("--rw=write --bs=1000 --size=10000").counts().left(Depth::Sizes);
    bsrange_of_one_size: job("--rw=write --bsrange=8k-8k").counts();
    bsrange: line("--name=a --filename=data --size=1m --rw=randread --bsrange=4k-16k").report();
    bssplit: line("--name=a --filename=data --size=1m --rw=randwrite --bssplit=4k/50:8k/30:16k").report().left(Depth::Sizes);
    rwmix_of_reads_alone: job("--rw=randrw --rwmixread=100").counts();
    rwmix_of_writes_alone: job("--rw=randrw --rwmixwrite=100").counts();
    rw_sequential_mix: job("--rw=rw --size=1m").report();
    clones_share_a_file: job("--rw=write --numjobs=4").counts().left(Depth::Sizes);
    clones_own_files: line("--name=a --size=16k --rw=write --numjobs=4").counts().left(Depth::Sizes);
    clones_reported_as_a_group: line("--name=a --size=16k --rw=randread --numjobs=4 --group_reporting --thread").counts().report();
    softrandommap_of_a_map_that_is_too_large: line("--name=a --ioengine=null --rw=randread --bsrange=512-1k --size=100t --number_ios=100 --softrandommap=1");
    norandommap: job("--rw=randread --norandommap").counts();
    percentage_random: job("--rw=randread --percentage_random=50 --size=256k").counts();
    hexadecimal_and_suffixes: job("--rw=read --bs=0x2000 --size=64K").counts();
    kib_is_a_thousand: job("--rw=write --size=40KiB --bs=4KiB").counts().left(Depth::Sizes);
    unit_base_bits: job("--rw=read --unit_base=1").report();
    sequential_with_a_step: job("--rw=read:4k --size=64k").counts();
    random_in_strides: job("--rw=randread:4").counts();
}
