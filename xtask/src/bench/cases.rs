//! The cases as data: what runs, and the required figures.

use super::case::{Bound, Case, FREE, Kind, Source, Target, at_most, times};

/// Wall time of a run with one I/O, ms.
pub(super) const START: Target = at_most(25.0, 8.0);
/// Wall time of sixteen jobs beyond their runtime, ms.
pub(super) const SIXTEEN_JOBS: Target = at_most(100.0, 30.0);
/// Wall time of a command by `fsdyno time` beyond the command's own, ms.
pub(super) const COMMAND: Target = at_most(2.0, 0.5);
/// Wall time of a layout, compared with fio's.
pub(super) const LAYOUT: Target = times(1.5, 1.5);

/// Batches in both directions, and memory that is pinned in advance.
const BATCHES: &str = "--ioengine=io_uring --rw=randread --iodepth=128 --iodepth_batch_submit=32 \
                       --iodepth_batch_complete_min=32 --fixedbufs=1 --registerfiles=1";

/// All cases. Requests are 4 KiB, with full latency recording and each block once, unless the words say otherwise.
pub(super) const CASES: &[Case] = &[
    Case {
        name: "instructions-qd1",
        title: "null, randread, iodepth 1",
        kind: Kind::Instructions { words: "--rw=randread", target: at_most(108.0, 105.0), recorded_fio: 2155.0 },
    },
    Case {
        name: "instructions-qd64",
        title: "null, randread, iodepth 64",
        kind: Kind::Instructions {
            words: "--rw=randread --iodepth=64",
            target: at_most(208.0, 200.0),
            recorded_fio: 3305.0,
        },
    },
    Case {
        name: "instructions-mix-qd64",
        title: "null, randrw 75/25, iodepth 64",
        kind: Kind::Instructions {
            words: "--rw=randrw --rwmixread=75 --iodepth=64",
            target: at_most(282.0, 270.0),
            recorded_fio: 3409.0,
        },
    },
    Case {
        name: "instructions-reduce-qd64",
        title: "null, randread, iodepth 64, gtod_reduce, norandommap",
        kind: Kind::Instructions {
            words: "--rw=randread --iodepth=64 --gtod_reduce=1 --norandommap",
            target: at_most(112.0, 105.0),
            recorded_fio: 2278.0,
        },
    },
    // The cost of features where they are used. The rows above must not pay for them.
    Case {
        name: "instructions-zipf",
        title: "null, randread, iodepth 64, zipf",
        kind: Kind::Instructions {
            words: "--rw=randread --iodepth=64 --random_distribution=zipf:1.1",
            target: at_most(300.0, 283.0),
            recorded_fio: 3328.0,
        },
    },
    Case {
        name: "instructions-rate",
        title: "null, randread, iodepth 64, a rate beyond reach",
        kind: Kind::Instructions {
            words: "--rw=randread --iodepth=64 --rate_iops=100000000",
            target: at_most(300.0, 285.0),
            recorded_fio: 3552.0,
        },
    },
    Case {
        name: "instructions-thinktime",
        title: "null, randread, iodepth 64, a think time that never comes",
        kind: Kind::Instructions {
            words: "--rw=randread --iodepth=64 --thinktime=1 --thinktime_blocks=100000000",
            target: FREE,
            recorded_fio: 3302.0,
        },
    },
    Case {
        name: "instructions-writes",
        title: "null, randwrite, iodepth 64",
        kind: Kind::Instructions { words: "--rw=randwrite --iodepth=64", target: FREE, recorded_fio: 3438.0 },
    },
    // A fifth of fio's.
    Case {
        name: "instructions-compress",
        title: "null, randwrite, iodepth 64, buffer_compress_percentage=50",
        kind: Kind::Instructions {
            words: "--rw=randwrite --iodepth=64 --buffer_compress_percentage=50",
            target: at_most(1446.0, 1446.0),
            recorded_fio: 7232.0,
        },
    },
    Case {
        name: "instructions-dedupe",
        title: "null, randwrite, iodepth 64, dedupe_percentage=50",
        kind: Kind::Instructions {
            words: "--rw=randwrite --iodepth=64 --dedupe_percentage=50",
            target: at_most(1861.0, 1861.0),
            recorded_fio: 9305.0,
        },
    },
    Case {
        name: "instructions-verify",
        title: "null, randwrite, iodepth 64, verify=crc32c",
        kind: Kind::Instructions {
            words: "--rw=randwrite --iodepth=64 --verify=crc32c --do_verify=0",
            target: at_most(1540.0, 1500.0),
            recorded_fio: 17767.0,
        },
    },
    Case {
        name: "instructions-log",
        title: "null, randread, iodepth 64, write_lat_log of each I/O",
        kind: Kind::Instructions {
            words: "--rw=randread --iodepth=64 --write_lat_log=log",
            target: at_most(900.0, 865.0),
            recorded_fio: 10_492.0,
        },
    },
    Case {
        name: "instructions-logs",
        title: "null, randread, iodepth 64, write_lat_log, write_bw_log and write_iops_log of each I/O",
        kind: Kind::Instructions {
            words: "--rw=randread --iodepth=64 --write_lat_log=log --write_bw_log=log --write_iops_log=log",
            target: at_most(1300.0, 1240.0),
            recorded_fio: 15_438.0,
        },
    },
    Case {
        name: "instructions-record",
        title: "null, randread, iodepth 64, write_iolog",
        kind: Kind::Instructions {
            words: "--rw=randread --iodepth=64 --write_iolog=recorded",
            target: at_most(2689.0, 1000.0),
            recorded_fio: 8067.0,
        },
    },
    Case {
        name: "instructions-replay",
        title: "null, replay of reads at recorded moments, iodepth 64",
        kind: Kind::Instructions {
            words: "--iodepth=64 --read_iolog=replayed",
            target: at_most(2192.0, 1200.0),
            recorded_fio: 6576.0,
        },
    },
    Case {
        name: "instructions-bssplit",
        title: "null, randread, iodepth 64, bssplit of two sizes",
        kind: Kind::Instructions {
            words: "--rw=randread --iodepth=64 --bssplit=4k/50:8k/50",
            target: at_most(400.0, 380.0),
            recorded_fio: 3526.0,
        },
    },
    Case {
        name: "instructions-normal",
        title: "null, randread, iodepth 64, normal",
        kind: Kind::Instructions {
            words: "--rw=randread --iodepth=64 --random_distribution=normal:50",
            target: at_most(390.0, 367.0),
            recorded_fio: 3464.0,
        },
    },
    Case {
        name: "instructions-zoned",
        title: "null, randread, iodepth 64, two zones",
        kind: Kind::Instructions {
            words: "--rw=randread --iodepth=64 --random_distribution=zoned:50/10:50/90",
            target: at_most(350.0, 332.0),
            recorded_fio: 3154.0,
        },
    },
    Case {
        name: "instructions-priorities",
        title: "page-cached file, libaio, iodepth 64, cmdprio_percentage=25",
        kind: Kind::Option {
            words: "--ioengine=libaio --rw=randread --iodepth=64",
            more: "--cmdprio_percentage=25 --cmdprio_class=2 --cmdprio=3",
            target: at_most(1.1, 1.05),
        },
    },
    Case {
        name: "instructions-priorities-by-size",
        title: "page-cached file, libaio, iodepth 64, cmdprio_bssplit=4k/25",
        kind: Kind::Option {
            words: "--ioengine=libaio --rw=randread --iodepth=64",
            more: "--cmdprio_bssplit=4k/25/2/3",
            target: at_most(1.1, 1.05),
        },
    },
    Case { name: "depths", title: "instructions per I/O at several iodepths", kind: Kind::Depths },
    Case {
        name: "allocations-qd64",
        title: "null, randread, iodepth 64",
        kind: Kind::Allocations { words: "--rw=randread --iodepth=64", target: at_most(0.001, 0.0001) },
    },
    Case {
        name: "syscalls-null",
        title: "null, randread, iodepth 64",
        kind: Kind::SystemCalls {
            source: Source::Nothing,
            words: "--ioengine=null --iodepth=64",
            target: at_most(0.01, 0.001),
        },
    },
    Case {
        name: "syscalls-psync",
        title: "page-cached file, psync, iodepth 1",
        kind: Kind::SystemCalls { source: Source::Cached, words: "--ioengine=psync", target: at_most(1.01, 1.001) },
    },
    Case {
        name: "syscalls-libaio",
        title: "page-cached file, libaio, iodepth 64",
        kind: Kind::SystemCalls {
            source: Source::Cached,
            words: "--ioengine=libaio --iodepth=64",
            target: at_most(2.01, 1.01),
        },
    },
    Case {
        name: "syscalls-io_uring",
        title: "page-cached file, io_uring, iodepth 64",
        kind: Kind::SystemCalls {
            source: Source::Cached,
            words: "--ioengine=io_uring --iodepth=64",
            target: at_most(2.01, 1.01),
        },
    },
    Case {
        name: "syscalls-io_uring-batches",
        title: "page-cached file, io_uring, iodepth 128, batches of 32, fixed buffers",
        kind: Kind::SystemCalls { source: Source::Cached, words: BATCHES, target: at_most(0.04, 0.032) },
    },
    Case {
        name: "cpu-null-qd1",
        title: "null, randread, iodepth 1",
        kind: Kind::Job {
            source: Source::Nothing,
            words: "--ioengine=null --rw=randread",
            cpu: times(8.0, 14.0),
            user: FREE,
            iops: FREE,
        },
    },
    Case {
        name: "cpu-null-qd64",
        title: "null, randread, iodepth 64",
        kind: Kind::Job {
            source: Source::Nothing,
            words: "--ioengine=null --rw=randread --iodepth=64",
            cpu: times(8.0, 14.0),
            user: FREE,
            iops: FREE,
        },
    },
    Case {
        name: "cpu-cached-psync",
        title: "page-cached file, psync, iodepth 1",
        kind: Kind::Job {
            source: Source::Cached,
            words: "--ioengine=psync --rw=randread",
            cpu: times(1.25, 1.37),
            user: times(3.0, 6.0),
            iops: FREE,
        },
    },
    Case {
        name: "cpu-cached-libaio",
        title: "page-cached file, libaio, iodepth 64",
        kind: Kind::Job {
            source: Source::Cached,
            words: "--ioengine=libaio --rw=randread --iodepth=64",
            cpu: times(1.45, 1.9),
            user: times(3.0, 6.0),
            iops: FREE,
        },
    },
    Case {
        name: "cpu-cached-io_uring",
        title: "page-cached file, io_uring, iodepth 64",
        kind: Kind::Job {
            source: Source::Cached,
            words: "--ioengine=io_uring --rw=randread --iodepth=64",
            cpu: times(1.25, 1.45),
            user: times(3.0, 6.0),
            iops: FREE,
        },
    },
    Case {
        name: "cpu-direct-libaio",
        title: "O_DIRECT file, libaio, iodepth 64",
        kind: Kind::Job {
            source: Source::Direct,
            words: "--ioengine=libaio --rw=randread --iodepth=64",
            cpu: times(1.15, 1.3),
            user: times(3.0, 6.0),
            iops: times(0.97, 1.0),
        },
    },
    Case {
        name: "cpu-direct-io_uring",
        title: "O_DIRECT file, io_uring, iodepth 64",
        kind: Kind::Job {
            source: Source::Direct,
            words: "--ioengine=io_uring --rw=randread --iodepth=64",
            cpu: times(1.15, 1.3),
            user: times(3.0, 6.0),
            iops: times(0.97, 1.0),
        },
    },
    Case {
        name: "cpu-direct-io_uring-batches",
        title: "O_DIRECT file, io_uring, iodepth 128, batches of 32, fixed buffers",
        kind: Kind::Job {
            source: Source::Direct,
            words: BATCHES,
            cpu: times(1.25, 1.45),
            user: FREE,
            iops: times(0.97, 1.0),
        },
    },
    Case {
        name: "http-get-4k",
        title: "server in memory, http, GET of 4 KiB",
        kind: Kind::Job {
            source: Source::Server,
            words: "--rw=randread",
            cpu: Target { must: Bound::AtMost(20_000.0), aim: Bound::Times(2.0) },
            user: FREE,
            iops: FREE,
        },
    },
    Case {
        name: "http-put-4k",
        title: "server in memory, http, PUT of 4 KiB",
        kind: Kind::Job { source: Source::Server, words: "--rw=write", cpu: times(2.0, 3.0), user: FREE, iops: FREE },
    },
    Case {
        name: "http-get-1m",
        title: "server in memory, http, GET of 1 MiB",
        kind: Kind::Job {
            source: Source::Server,
            words: "--rw=randread --bs=1m",
            cpu: times(1.0, 1.2),
            user: FREE,
            iops: FREE,
        },
    },
    Case {
        name: "http-put-1m",
        title: "server in memory, http, PUT of 1 MiB",
        kind: Kind::Job {
            source: Source::Server,
            words: "--rw=write --bs=1m",
            cpu: times(1.0, 1.2),
            user: FREE,
            iops: FREE,
        },
    },
    Case {
        name: "instructions-http-get",
        title: "server in memory, http, GET of 4 KiB",
        kind: Kind::HttpInstructions { words: "--rw=randread", target: at_most(52_000.0, 45_000.0) },
    },
    Case {
        name: "syscalls-http-get",
        title: "server in memory, http, GET of 4 KiB",
        // One call sends the request, one receives the answer.
        kind: Kind::SystemCalls { source: Source::Server, words: "", target: at_most(2.1, 2.05) },
    },
    Case {
        name: "floor-cached-io_uring",
        title: "page-cached file, io_uring, iodepth 64, beside a bare ring",
        kind: Kind::Floor { source: Source::Cached, target: at_most(1.08, 1.04) },
    },
    Case {
        name: "floor-direct-io_uring",
        title: "O_DIRECT file, io_uring, iodepth 64, beside a bare ring",
        kind: Kind::Floor { source: Source::Direct, target: at_most(1.08, 1.04) },
    },
    Case {
        name: "floor-http-get",
        title: "server in memory, http, GET of 4 KiB, beside a bare loop of the same calls",
        kind: Kind::Floor { source: Source::Server, target: at_most(1.25, 1.15) },
    },
    Case {
        name: "cpu-paced-64-jobs",
        title: "page-cached file, psync, 64 jobs of 1,000 IOPS each",
        kind: Kind::Job {
            source: Source::Cached,
            words: "--ioengine=psync --rw=randread --numjobs=64 --rate_iops=1000",
            cpu: times(0.84, 1.0),
            user: FREE,
            iops: FREE,
        },
    },
    Case {
        name: "gaps-thinktime-50us",
        title: "null, thinktime=50",
        kind: Kind::Gaps {
            words: "--thinktime=50",
            quantiles: &[(50.0, at_most(55.0, 52.0)), (99.0, at_most(70.0, 60.0))],
        },
    },
    Case {
        name: "gaps-thinktime-1ms",
        title: "null, thinktime=1000",
        kind: Kind::Gaps { words: "--thinktime=1000", quantiles: &[(50.0, at_most(1010.0, 1005.0))] },
    },
    Case {
        name: "gaps-rate-20k",
        title: "null, rate_iops=20000",
        kind: Kind::Gaps { words: "--rate_iops=20000", quantiles: &[(95.0, at_most(60.0, 55.0))] },
    },
    Case {
        name: "cpu-sequential-64k",
        title: "page-cached file, psync, 64k sequential",
        kind: Kind::Job {
            source: Source::Cached,
            words: "--ioengine=psync --rw=read --bs=64k",
            cpu: times(1.0, 1.05),
            user: FREE,
            iops: FREE,
        },
    },
    Case {
        name: "cpu-sequential-64k-pages",
        title: "page-cached file, psync, 64k sequential, buffers that begin with a page",
        kind: Kind::Job {
            source: Source::Cached,
            words: "--ioengine=psync --rw=read --bs=64k --iomem_align=4k",
            cpu: times(1.0, 1.05),
            user: FREE,
            iops: FREE,
        },
    },
    Case { name: "start", title: "start to exit, one job, one I/O", kind: Kind::Start },
    Case {
        name: "sixteen-jobs",
        title: "16 jobs of the null engine, wall beyond the runtime",
        kind: Kind::SixteenJobs,
    },
    Case {
        name: "memory-one-job",
        title: "one job of 1 GiB",
        kind: Kind::Memory { words: "--size=1g", target: at_most(6.0, 3.0) },
    },
    Case {
        name: "memory-8t",
        title: "one job of 8 TiB, random map",
        kind: Kind::Memory { words: "--size=8t", target: at_most(6.0, 3.0) },
    },
    Case {
        name: "memory-16-jobs",
        title: "16 jobs of 1 TiB, random map",
        kind: Kind::Memory { words: "--size=1t --numjobs=16", target: at_most(16.0, 4.0) },
    },
    Case {
        name: "memory-files",
        title: "20,000 files of filecreate",
        kind: Kind::Memory {
            words: "--ioengine=filecreate --nrfiles=20000 --filesize=4k --size=80m --number_ios=20000 --openfiles=1 \
                    --fallocate=none --unlink=1",
            target: at_most(16.0, 16.0),
        },
    },
    Case {
        name: "memory-replay",
        title: "replay of a log of 5,000,000 lines",
        kind: Kind::Memory {
            words: "--iodepth=64 --read_iolog=replayed --replay_no_stall=1",
            target: at_most(8.0, 6.0),
        },
    },
    Case {
        name: "memory-sections",
        title: "5,000 sections of a job file, parsed",
        kind: Kind::Memory { words: "--parse-only sections.fio", target: at_most(8.0, 8.0) },
    },
    Case {
        name: "jobs-4096",
        title: "4,096 jobs of the null engine",
        kind: Kind::ManyJobs {
            jobs: 4096,
            wall: at_most(5.0, 2.5),
            memory: at_most(600.0, 300.0),
            recorded_fio: "minutes",
        },
    },
    Case {
        name: "jobs-10000",
        title: "10,000 jobs of the null engine",
        kind: Kind::ManyJobs {
            jobs: 10_000,
            wall: at_most(12.0, 6.0),
            memory: at_most(600.0, 300.0),
            recorded_fio: "refused",
        },
    },
    Case {
        name: "files-create",
        title: "filecreate of 100,000 files",
        kind: Kind::Files { words: "--ioengine=filecreate --unlink=1", target: times(1.0, 2.0) },
    },
    Case {
        name: "files-stat",
        title: "filestat of 100,000 files",
        kind: Kind::Files { words: "--ioengine=filestat --unlink=1", target: times(1.0, 2.0) },
    },
    Case {
        name: "files-delete",
        title: "filedelete of 100,000 files",
        kind: Kind::Files { words: "--ioengine=filedelete", target: times(1.0, 2.0) },
    },
    Case {
        name: "files-layout",
        title: "layout of 100,000 files",
        kind: Kind::Files { words: "--ioengine=psync --rw=read --create_only=1", target: times(1.0, 2.0) },
    },
    Case {
        name: "files-phases",
        title: "smallfiles, beside bare system calls",
        kind: Kind::Phases { target: at_most(1.05, 1.02) },
    },
    Case {
        name: "two-jobs-null",
        title: "null, randread, iodepth 64, two jobs on two CPUs",
        kind: Kind::TwoJobs {
            source: Source::Nothing,
            words: "--ioengine=null --rw=randread --iodepth=64",
            target: at_most(1.025, 1.01),
        },
    },
    Case {
        name: "two-jobs-cached",
        title: "page-cached file, psync, two jobs on two CPUs",
        kind: Kind::TwoJobs {
            source: Source::Cached,
            words: "--ioengine=psync --rw=randread",
            target: at_most(1.025, 1.01),
        },
    },
    Case { name: "command", title: "fsdyno time of /bin/true, beside fork, exec and wait", kind: Kind::Command },
    Case { name: "layout", title: "layout of a file for a job that reads with bs=4k", kind: Kind::Layout },
];
