//! Tests the lines that people copy from vendor pages (cases A, C and D), with small sizes and short times.

use crate::case::{cases, line};
use crate::left_behind::Depth;

/// Case A without its size and pattern.
const A: &str =
    "--randrepeat=1 --ioengine=libaio --direct=1 --gtod_reduce=1 --name=test --filename=testfile --bs=4k --iodepth=64";

/// Case C: the pattern and the job's name differ from line to line.
fn case_c(pattern: &str) -> crate::case::Case {
    line("-filename=perf.txt").words(&format!(
        "-rw={pattern} -direct=1 -iodepth 32 -thread -ioengine=libaio -bs=4k -size=1M -numjobs=8 -group_reporting \
         -runtime=200ms -time_base -name=/root/fio_result_{pattern}.txt"
    ))
}

/// Case D: the three lines of a vendor's page differ in pattern, block size, depth and clones.
fn case_d(pattern: &str) -> crate::case::Case {
    line("--name=nv --size=4m --fallocate=none --direct=1 --runtime=200ms --time_based --ramp_time=100ms --directory=. --ioengine=libaio")
        .words(pattern)
}

cases! {
    a_the_line: line(A).words("--size=4M --readwrite=randrw --rwmixread=75").counts().depths().report().terse(3).left(Depth::Sizes);
    a_with_latency: line(A).words("--size=4M --readwrite=randrw --rwmixread=75 --gtod_reduce=0").counts().report();
    a_randread: line(A).words("--size=4M --readwrite=randread").counts().report();
    a_randwrite: line(A).words("--size=4M --readwrite=randwrite").counts().report().left(Depth::Sizes);
    a_file_is_there: line(A).words("--size=64k --readwrite=randread").file("testfile", vec![7; 65536]).counts().left(Depth::Contents);
    c_read: case_c("read").report().left(Depth::Sizes);
    c_write: case_c("write").left(Depth::Sizes);
    c_randread: case_c("randread").terse(3);
    c_randwrite: case_c("randwrite").left(Depth::Sizes);
    c_randrw: case_c("randrw").report();
    d_latency: case_d("--rw=randwrite --bs=4k --iodepth=1").report().left(Depth::Names);
    d_iops: case_d("--rw=randread --bs=4k --iodepth=32").left(Depth::Sizes);
    d_throughput: case_d("--rw=read --bs=64k --iodepth=32 --numjobs=16 --size=256k").report().left(Depth::Sizes);
    etcd_guide: line("--rw=write --ioengine=sync --fdatasync=1 --directory=. --size=92k --bs=2300 --name=mytest").report().left(Depth::Sizes);
    kubernetes_guide: line("--randrepeat=0 --verify=0 --ioengine=libaio --direct=1 --gtod_reduce=1 --name=read_iops --filename=fiotest --bs=4K --iodepth=64 --size=1M --readwrite=randread --time_based --ramp_time=200ms --runtime=200ms").report();
}
