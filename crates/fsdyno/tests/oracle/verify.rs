//! Written blocks are read back and checked, and each tool checks what the other wrote.

use crate::case::{Case, cases, line};
use crate::left_behind::Depth;
use crate::tools::{self, FIO, OURS, Tool};

/// 16 writes of 4 KiB.
fn job(words: &str) -> Case {
    line("--name=a --filename=data --size=64k --verify_state_save=0").words(words)
}

/// Written, damaged in the third and the fifth block, then read.
const DAMAGED: &str = "\"$@\" --rw=write --do_verify=0 --output=written >/dev/null || exit 99
for at in 9000 20000; do printf X | dd of=data bs=1 seek=$at conv=notrunc status=none; done
exec \"$@\" --rw=read";

/// A block that nobody wrote.
static WITHOUT_HEADERS: [u8; 64 << 10] = [0; 64 << 10];

/// A mismatch of the third block.
const THIRD_BLOCK: &str =
    "verify failed at file data offset 8192, length 4096 (requested block: offset=8192, length=4096, flags=8)";

cases! {
    written_and_read_back: job("--rw=write --verify=crc32c").counts().depths().report().terse(3).left(Depth::Sizes);
    at_random: job("--rw=randwrite --verify=md5").counts().report();
    with_a_queue: job("--rw=randwrite --verify=crc32c --ioengine=libaio --direct=1 --iodepth=8 --size=256k").counts();
    a_mix: job("--rw=randrw --verify=xxhash --size=256k").counts().report();
    a_sequential_mix: job("--rw=rw --verify=crc64 --size=256k").counts();
    without_reading_back: job("--rw=write --verify=sha1 --do_verify=0").counts().report();
    twice: job("--rw=randwrite --verify=crc16 --loops=2").counts();
    several_sizes: job("--rw=write --verify=crc32c --bssplit=4k/50:8k/50 --size=256k").counts();
    a_pattern: job("--rw=write --verify=pattern --verify_pattern=0xdeadbeef").counts();
    several_files: line("--name=a --nrfiles=4 --size=64k --rw=randwrite --verify=crc32 --verify_state_save=0").counts();
    verify_only_of_a_reader: job("--rw=read --verify=crc32c --verify_only").shell("\"$@\" --rw=write --output=written >/dev/null && exec \"$@\"").counts();
    written_over_without_a_map: job("--rw=randwrite --norandommap --verify=crc32c --randrepeat=0 --randseed=7").counts();
    written_over_by_holes: job("--rw=write:4k --verify=md5").counts();
    drawn_sizes_in_order: job("--rw=write --verify=crc32c --bsrange=4k-16k --size=256k").counts();
    no_check: job("--rw=write --verify=null").counts();
    in_a_group: job("--rw=write --verify=crc32c --numjobs=2 --group_reporting --filename_format=f.'$jobnum'");
    the_runtime_is_for_writing: job("--rw=write --verify=crc32c --time_based --runtime=1").says("fio: verification read phase will never start because write phase uses all of runtime");
    read_and_checked: job("--rw=read --verify=crc32c").file("data", WITHOUT_HEADERS).counts().report().says("verify: bad magic header 0, wanted acca at file data offset 0, length 4096 (requested block: offset=0, length=4096)");
    damage_ends_the_job: job("--verify=crc32c").shell(DAMAGED).counts().says(THIRD_BLOCK).says("       Expected CRC: ").says("       Received CRC: ");
    damage_is_counted: job("--verify=crc32c --continue_on_error=verify").shell(DAMAGED).counts().says(THIRD_BLOCK);
    damage_is_fatal: job("--verify=crc32c --continue_on_error=verify --verify_fatal=1").shell(DAMAGED).counts();
    damage_in_a_pattern: job("--verify=pattern --verify_pattern=0xab").shell(DAMAGED).counts().says("fio: got pattern '58', wanted 'ab'. Bad bits 6").says("fio: bad pattern block offset 808");
    an_interval_that_is_too_small: job("--rw=write --verify=crc32c --verify_interval=40");
}

/// Writes with one tool and has the other check it, then damages it and has it checked again.
#[track_caller]
fn each_reads_the_other(words: &str) {
    let Some(fio) = FIO.as_ref() else {
        testkit::skip("fio is not installed");
        return;
    };
    let pairs: [(&Tool, &Tool); 2] = [(fio, &OURS), (&OURS, fio)];
    for (writer, reader) in pairs {
        let written = tools::run(writer, &job(words).words("--rw=randwrite --do_verify=0"), &[]);
        assert_eq!(written.status, Some(0), "{}: {}", writer.name, written.stderr);
        let data = std::fs::read(written.directory.path().join("data")).expect("it was written");
        let read = |content: Vec<u8>| tools::run(reader, &job(words).words("--rw=read").file("data", content), &[]);
        let whole = read(data.clone());
        assert_eq!(whole.status, Some(0), "{words}: {} of what {} wrote: {}", reader.name, writer.name, whole.stderr);
        let mut damaged = data;
        damaged[9000] ^= 1;
        let ran = read(damaged);
        let sees = if words.contains("meta") { Some(0) } else { Some(1) };
        assert_eq!(ran.status, sees, "{words}: {} of damage in what {} wrote", reader.name, writer.name);
    }
}

#[test]
fn checksums_are_exchanged() {
    let kinds =
        "crc7 crc16 crc32 crc32c crc32c-intel crc64 md5 sha1 sha256 sha3-224 sha3-256 sha3-384 sha3-512 xxhash meta";
    for kind in kinds.split(' ') {
        each_reads_the_other(&format!("--verify={kind}"));
    }
}

#[test]
fn patterns_and_places_are_exchanged() {
    each_reads_the_other("--verify=pattern --verify_pattern=0xdeadbeef");
    each_reads_the_other("--verify=crc32c --verify_pattern=\"abc\"");
    each_reads_the_other("--verify=crc32c --verify_offset=100");
    // Without verify_fatal fio says what it found and ends well all the same.
    each_reads_the_other("--verify=crc32c --bs=8k --verify_interval=1k --verify_fatal=1");
}

#[test]
fn sha512_is_a_hash_here() {
    let ours = tools::run(&OURS, &job("--verify=sha512").shell(DAMAGED), &[]);
    assert_eq!(ours.status, Some(1), "{}", ours.stderr);
}

/// What fio cannot tell: the blocks are those of the same job run before.
#[test]
fn an_earlier_run_is_told_from_this_one() {
    let lost = "\"$@\" --do_verify=0 --output=written >/dev/null && cp data kept && \"$@\" --do_verify=0 --output=written >/dev/null && cp kept data && exec \"$@\" --verify_only";
    let again = tools::run(&OURS, &job("--rw=randwrite --verify=crc32c").shell(lost), &[]);
    assert_eq!(again.status, Some(0), "another run's blocks are whole: {}", again.stderr);
    // strace answers the writes itself, so that none reaches the file.
    let dropped = "\"$@\" --do_verify=0 --output=written >/dev/null || exit 99
        exec strace -f -o /dev/null -e trace=pwrite64 -e inject=pwrite64:retval=4096 \"$@\"";
    let probe = line("--version").shell("strace -o /dev/null -e inject=fsync:error=EIO true && exec \"$@\"");
    if tools::run(&OURS, &probe, &[]).status != Some(0) {
        testkit::skip("strace is not installed or not allowed");
        return;
    }
    let ran = tools::run(&OURS, &job("--rw=randwrite --verify=crc32c").shell(dropped), &[]);
    assert_eq!(ran.status, Some(1), "{}", ran.stderr);
    assert!(ran.stderr.contains("verify: bad header rand_seed "), "{}", ran.stderr);
    assert!(ran.stderr.contains("a block of an earlier run"), "{}", ran.stderr);
}

/// A read leaves its data in the buffer; what is written next is the job's own content all the same, with each engine.
#[test]
fn a_mix_writes_what_was_asked_for() {
    for engine in ["psync", "sync", "pvsync2", "mmap", "libaio --iodepth=4", "io_uring --iodepth=4"] {
        for rw in ["rw", "randrw --bssplit=4k/50:16k/50"] {
            let words = format!(
                "--rw={rw} --size=256k --ioengine={engine} --verify=pattern --verify_pattern=0xdeadbeef --runtime=20"
            );
            let ran = tools::run(&OURS, &job(&words), &[]);
            if ran.stderr.contains("io_uring") && ran.stderr.contains("not permitted") {
                testkit::skip("this machine refuses io_uring");
                continue;
            }
            assert_eq!(ran.status, Some(0), "{words}: {}", ran.stderr);
            let ran =
                tools::run(&OURS, &job(&format!("{words} --do_verify=0 --verify=0 --buffer_pattern=0xdeadbeef")), &[]);
            let data = std::fs::read(ran.directory.path().join("data")).expect("it was written");
            let ours = data.chunks(4096).filter(|block| block.chunks(4).all(|word| word == [0xde, 0xad, 0xbe, 0xef]));
            assert_eq!(ours.count() * 4096, data.len(), "{words}: the layout has the pattern too");
        }
    }
}

/// Blocks of two runs in one file are all whole; that they are of two runs is told.
#[test]
fn blocks_of_two_runs_are_told() {
    let two = "\"$@\" --rw=write --do_verify=0 --output=written >/dev/null || exit 99
        \"$@\" --rw=write --do_verify=0 --number_ios=5 --output=written >/dev/null || exit 99
        exec \"$@\" --rw=read";
    for words in ["--verify=crc32c", "--verify=md5 --verify_offset=100", "--verify=meta --bs=8k --verify_interval=4k"] {
        let ran = tools::run(&OURS, &job(words).shell(two), &[]);
        assert_eq!(ran.status, Some(0), "{words}: {}", ran.stderr);
        assert!(ran.stdout.contains("data has blocks of several runs: "), "{words}: {}", ran.stderr);
        let once = "\"$@\" --rw=write --do_verify=0 --output=written >/dev/null && exec \"$@\" --rw=read";
        let ran = tools::run(&OURS, &job(words).shell(once), &[]);
        assert!(ran.status == Some(0) && !ran.stdout.contains("several runs"), "{words}: {}", ran.stderr);
    }
}

/// A file that was cut off is evidence: it is not laid out again.
#[test]
fn a_file_that_is_too_short_stays_as_it_is() {
    let cut = "\"$@\" --rw=write --do_verify=0 --output=written >/dev/null || exit 99
        truncate -s 40000 data; exec \"$@\" --rw=read";
    let ran = tools::run(&OURS, &job("--verify=crc32c").shell(cut), &[]);
    assert_eq!(ran.status, Some(1), "{}", ran.stderr);
    assert!(ran.stderr.contains("data has 40000 bytes, but 65536 must be checked"), "{}", ran.stderr);
    assert_eq!(std::fs::metadata(ran.directory.path().join("data")).expect("it is there").len(), 40_000);
}
