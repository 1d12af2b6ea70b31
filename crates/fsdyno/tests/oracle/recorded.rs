//! Tests recorded I/O: each tool replays what the other one has recorded, with the same calls.

use crate::case::{Case, Need, cases, line};
use crate::left_behind::Depth;

const V3: &str = "fio version 3 iolog\n0 a add\n0 b add\n10 a open\n10 b open\n1000 a write 0 4096\n1500 b write 4096 8192\n\
                  4000 a read 0 4096\n5000 a sync 0 0\n5000 b datasync 0 0\n7000 b close\n7000 a close\n";

const V2: &str = "fio version 2 iolog\na add\nb add\na open\nb open\na write 0 4096\nb write 4096 8192\nb wait 20 0\n\
                  a read 0 4096\na sync 0 0\nb datasync 0 0\na close\nb close\n";

/// The tool's calls, with lengths and offsets, are left in a file.
const CALLS: &str = "strace -f -o calls -e trace=pread64,pwrite64,fsync,fdatasync \"$@\"; status=$?; \
    sed -nE 's/^[0-9]+ +(pread64|pwrite64)\\(.*, (4096|8192|16384), ([0-9]+)\\) .*/\\1 \\2 \\3/p; s/^[0-9]+ +(fsync|fdatasync)\\(.*/\\1/p' \
    calls > order; rm calls; exit $status";

fn replay(log: &str, words: &str) -> Case {
    line("--name=r --read_iolog=log --ioengine=psync --thread --disk_util=0").words(words).file("log", log)
}

fn calls(log: &str, words: &str) -> Case {
    replay(log, words).shell(CALLS).needs(Need::Strace).left(Depth::Sizes)
}

/// fio replays what the tool has recorded: the calls of the replay are those of the record.
const RECORDED: &str = "\"$@\" || exit; mv a first; \
    strace -f -o calls -e trace=pread64,pwrite64,fsync,fdatasync fio --thread --name=r --read_iolog=log >/dev/null || exit; \
    sed -nE 's/^[0-9]+ +(pread64|pwrite64)\\(.*, (4096|8192|16384), ([0-9]+)\\) .*/\\1 \\2 \\3/p; s/^[0-9]+ +(fsync|fdatasync)\\(.*/\\1/p' \
    calls > order; rm calls log";

fn record(words: &str) -> Case {
    let job =
        line("--name=w --filename=a --size=64k --write_iolog=log --ioengine=psync --output=/dev/null").words(words);
    job.shell(RECORDED).needs(Need::Strace).left(Depth::Sizes).verbatim()
}

/// The lines of the log without times.
const LINES: &str = "\"$@\" || exit; sed -E 's/^[0-9]+ //' log > lines; rm log a";
/// The same without those that open and close: fio closes a file before the sync of its loop, and opens it again for it.
const REQUESTS: &str = "\"$@\" || exit; grep -oE '(write|sync) .*' log > lines; rm log a";

fn logged(script: &'static str, words: &str) -> Case {
    let job = line("--name=w --filename=a --size=16k --write_iolog=log --ioengine=psync --output=/dev/null");
    job.words(words).shell(script).left(Depth::Contents).verbatim()
}

/// A trace of blktrace: writes, reads that are merged, a flush, a write of no bytes.
fn traced(swapped: bool) -> Case {
    let file = vec![b'x'; 65536];
    line("--name=r --read_iolog=trace --replay_redirect=a --ioengine=psync --thread --disk_util=0")
        .file("trace", trace(swapped))
        .file("a", file)
        .shell(CALLS)
        .needs(Need::Strace)
        .left(Depth::Sizes)
}

fn trace(swapped: bool) -> Vec<u8> {
    let record = |time: u64, sector: u64, bytes: u32, action: u32| {
        let fields: [&[u8]; 11] = [
            &0x6561_7407_u32.to_le_bytes(),
            &[0; 4],
            &time.to_le_bytes(),
            &sector.to_le_bytes(),
            &bytes.to_le_bytes(),
            &action.to_le_bytes(),
            &[0; 4],
            &(7_u32 << 20 | 1).to_le_bytes(),
            &[0; 4],
            &[0; 2],
            &[0; 2],
        ];
        let in_order = |field: &&[u8]| match swapped {
            true => field.iter().rev().copied().collect::<Vec<u8>>(),
            false => field.to_vec(),
        };
        fields.iter().flat_map(in_order).collect::<Vec<u8>>()
    };
    [
        record(1_000_000, 0, 4096, 0x12_0001),
        record(1_001_000, 0, 4096, 0x82_0008),
        record(3_000_000, 8, 8192, 0x11_0001),
        record(3_000_100, 8, 4096, 0x11_0001),
        record(3_000_200, 24, 4096, 0x11_0002),
        record(4_000_000, 0, 0, 0x16_0001),
        record(5_000_000, 40, 0, 0x12_0001),
        record(6_000_000, 64, 4096, 0x1a_0001),
    ]
    .concat()
}

cases! {
    version_3: calls(V3, "");
    version_2: calls(V2, "");
    version_3_without_pauses: calls(V3, "--replay_no_stall=1");
    version_3_faster: calls(V3, "--replay_time_scale=1000");
    version_3_scaled: calls(V3, "--replay_scale=2");
    version_3_aligned: calls(V3, "--replay_align=8k");
    version_3_redirected: calls(V3, "--replay_redirect=c");
    version_3_in_pieces: calls(V3, "--read_iolog_chunked=1");
    version_3_of_two_clones: line("--name=r --read_iolog=log --disk_util=0 --numjobs=2 --group_reporting").file("log", V3)
        .left(Depth::Sizes).verbatim();
    version_3_with_a_queue: replay(V3, "--ioengine=libaio --iodepth=4").left(Depth::Sizes).verbatim();
    a_log_overrides_a_record: replay(V3, "--write_iolog=other").says("fio: read iolog overrides write_iolog").left(Depth::Sizes);
    an_unknown_skip: replay(V3, "--replay_skip=flush").says("Unknown skip type: flush");
    a_wrong_version: replay("fio version 1 iolog\n0 a add\n", "").verbatim();
    a_missing_log: line("--name=r --read_iolog=missing").verbatim();
    trace_of_blktrace: traced(false);
    trace_of_the_other_order: traced(true);
    recorded_writes: record("--rw=write --fsync=3");
    recorded_sizes: record("--rw=write --bs=16k --end_fsync=1");
    recorded_loops: logged(LINES, "--rw=write --loops=3");
    recorded_passes: logged(LINES, "--rw=write --io_size=40k --unlink_each_loop=1");
    recorded_syncs_of_loops: logged(REQUESTS, "--rw=write --loops=2 --end_fsync=1");
    recorded_rereads: record("--rw=write --bs=8k --fdatasync=2 --verify=crc32c");
}
