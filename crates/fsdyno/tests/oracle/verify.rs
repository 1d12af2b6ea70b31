//! Tests that written blocks are verified, and that each tool verifies what the other wrote.

use crate::case::shared_command::shared_commands;
use crate::case::{Case, cases, line};
use crate::document;
use crate::left_behind::Depth;
use crate::tools::{self, FIO, OURS, Tool};

/// 16 writes of 4 KiB.
fn job(words: &str) -> Case {
    line("--name=a --filename=data --size=64k --verify_state_save=0").words(words)
}

/// Written, damaged in the third and the fifth block, then read. Eight bytes are damaged, as the written data is
/// random.
const DAMAGED: &str = "\"$@\" --rw=write --do_verify=0 --output=written >/dev/null || exit 99
for at in 9000 20000; do printf X-damage | dd of=data bs=1 seek=$at conv=notrunc status=none; done
exec \"$@\" --rw=read";

/// A block that was never written.
static WITHOUT_HEADERS: [u8; 64 << 10] = [0; 64 << 10];

/// A mismatch of the third block.
const THIRD_BLOCK: &str =
    "verify failed at file data offset 8192, length 4096 (requested block: offset=8192, length=4096, flags=8)";

cases! {
    written_and_read_back: job("--rw=write --verify=crc32c").counts().depths().report().terse(3).left(Depth::Sizes);
    at_random: job("--rw=randwrite --verify=md5").counts().report();
    with_a_queue: job("--rw=randwrite --verify=crc32c --ioengine=libaio --direct=1 --iodepth=8 --size=256k").counts();
    a_mix: job("--rw=randrw --verify=xxhash --size=256k").counts().report();
    verify_only_of_a_reader: job("--rw=read --verify=crc32c --verify_only").shell("\"$@\" --rw=write --output=written >/dev/null && exec \"$@\"").counts();
    the_runtime_is_for_writing: job("--rw=write --verify=crc32c --rate_iops=1000 --time_based --runtime=1").says("fio: verification read phase will never start because write phase uses all of runtime");
    read_and_checked: job("--rw=read --verify=crc32c").file("data", WITHOUT_HEADERS).counts().report().says("verify: bad magic header 0, wanted acca at file data offset 0, length 4096 (requested block: offset=0, length=4096)");
    damage_ends_the_job: job("--verify=crc32c").shell(DAMAGED).counts().says(THIRD_BLOCK).says("       Expected CRC: ").says("       Received CRC: ");
    damage_is_counted: job("--verify=crc32c --continue_on_error=verify").shell(DAMAGED).counts().says(THIRD_BLOCK);
    damage_that_threads_find_ends_the_job: job("--verify=crc32c --verify_async=2").shell(DAMAGED);
    damage_that_threads_find_is_counted: job("--verify=crc32c --verify_async=2 --continue_on_error=verify").shell(DAMAGED).counts()
        .says("verify failed at file data offset 8192, length 4096").says("verify failed at file data offset 16384, length 4096");
    damage_is_fatal: job("--verify=crc32c --continue_on_error=verify --verify_fatal=1").shell(DAMAGED).counts();
    damage_in_a_pattern: job("--verify=pattern --verify_pattern=0xab").shell(DAMAGED).counts().says("fio: got pattern '58', wanted 'ab'. Bad bits 6").says("fio: bad pattern block offset 808");
    a_pattern_with_the_offset_too_often: job("--rw=write --verify=pattern --verify_pattern=%o%o%o%o%o%o%o%o%o").says("fio: failed parsing verify_pattern=%o%o%o%o%o%o%o%o%o");
    a_pattern_from_a_file: of_a_file("--rw=write --verify=pattern", "--verify_pattern='words'%o7").counts().left(Depth::Contents);
    content_from_a_file: of_a_file("--rw=write", "--buffer_pattern='words'17").counts().left(Depth::Contents);
    a_pattern_from_no_file: of_a_file("--rw=write", "--buffer_pattern='none'").says("fio: failed parsing buffer_pattern='none'");
    damage_is_dumped: job("--verify=crc32c --continue_on_error=verify --verify_dump=1").shell(DAMAGED).counts().left(Depth::Names).says("       received data dumped as data.8192.received").says("       expected data dumped as data.16384.expected");
    damage_is_dumped_elsewhere: job("--verify=md5 --verify_dump=1 --aux-path=dumps").shell(DAMAGED_WITH_A_PLACE).left(Depth::Names);
    damage_is_dumped_nowhere: job("--verify=crc32c --verify_dump=1 --aux-path=none").shell(DAMAGED).left(Depth::Names).says("open verify buf file: No such file or directory");
    headers_are_dumped: job("--rw=read --verify=crc32c --verify_dump=1").file("data", WITHOUT_HEADERS).left(Depth::Contents).says("       hdr_fail data dumped as data.0.hdr_fail");
    a_state_is_left: state("--rw=write").counts().left(Depth::Sizes);
    a_state_of_a_queue_is_left: state("--rw=randwrite --ioengine=libaio --iodepth=4 --do_verify=0 --name=b").left(Depth::Sizes);
    a_state_is_left_elsewhere: state("--rw=write --aux-path=states").shell("mkdir states && exec \"$@\"").left(Depth::Sizes);
    a_state_without_a_file: line("--name=a --ioengine=null --size=64k --rw=write --verify=crc32c").left(Depth::Sizes);
    a_state_has_no_place: state("--rw=write --aux-path=none").counts().says("fio: state file: none/local-a-0-verify.state (for_write=1)");
    an_interval_that_is_too_small: job("--rw=write --verify=crc32c --verify_interval=40");
}

shared_commands! {
    a_sequential_mix: job("--rw=rw --verify=crc64 --size=256k").counts();
    without_reading_back: job("--rw=write --verify=sha1 --do_verify=0").counts().report();
    twice: job("--rw=randwrite --verify=crc16 --loops=2").counts();
    several_sizes: job("--rw=write --verify=crc32c --bssplit=4k/50:8k/50 --size=256k").counts();
    a_pattern: job("--rw=write --verify=pattern --verify_pattern=0xdeadbeef").counts();
    several_files: line("--name=a --nrfiles=4 --size=64k --rw=randwrite --verify=crc32 --verify_state_save=0").counts();
    written_over_without_a_map: job("--rw=randwrite --norandommap --verify=crc32c --randrepeat=0 --randseed=7").counts();
    written_over_by_holes: job("--rw=write:4k --verify=md5").counts();
    drawn_sizes_in_order: job("--rw=write --verify=crc32c --bsrange=4k-16k --size=256k").counts();
    files_that_end_before_the_size_start_over: line("--name=a --filename=data --size=66000 --rw=rw:12k --verify=pattern --verify_pattern=0xdeadbeef --verify_state_save=0").counts();
    writes_that_end_before_the_size_start_over: line("--name=a --filename=data --size=200000 --rw=write:12k --verify=crc32c --verify_state_save=0").counts();
    among_the_writes_that_end_before_the_size: line("--name=a --filename=data --size=66000 --rw=write:12k --verify=crc32c --verify_backlog=2 --verify_state_save=0").counts();
    no_check: job("--rw=write --verify=null").counts();
    in_a_group: job("--rw=write --verify=crc32c --numjobs=2 --group_reporting --filename_format=f.$jobnum").counts();
    checked_by_threads: job("--rw=randwrite --verify=md5 --verify_async=2").counts().report();
    among_the_writes: job("--rw=write --verify=crc32c --verify_backlog=4").counts().depths().report();
    among_the_writes_some: job("--rw=randwrite --verify=md5 --verify_backlog=4 --verify_backlog_batch=2").counts();
    among_the_writes_more_than_there_are: job("--rw=write --verify=crc32c --verify_backlog=4 --verify_backlog_batch=6").counts();
    among_the_writes_of_a_mix: job("--rw=rw --verify=crc32c --size=256k --verify_backlog=3").counts().report();
    among_the_writes_with_a_queue: job("--rw=randwrite --verify=crc32c --ioengine=libaio --iodepth=8 --size=256k --verify_backlog=16").counts();
    among_the_writes_of_loops: job("--rw=write --verify=crc32c --size=20k --loops=2 --verify_backlog=4").counts();
    among_the_writes_that_are_limited: job("--rw=randwrite --verify=crc32c --verify_backlog=2 --number_ios=6").counts();
    among_the_writes_not_at_all: job("--rw=write --verify=crc32c --verify_backlog=4 --do_verify=0").counts();
    among_the_writes_with_syncs: job("--rw=write --verify=crc32c --verify_backlog=4 --fsync=3").counts();
    a_pattern_alone: job("--rw=write --verify_pattern=0xdeadbeef").counts();
    a_pattern_with_the_offset: job("--rw=write --verify=pattern '--verify_pattern=\"ab\"%o0xff'").counts().left(Depth::Contents);
}

/// A job that saves its state, as is the default.
fn state(words: &str) -> Case {
    line("--name=a --filename=data --size=64k --verify=crc32c").words(words)
}

/// A pattern that names a file in single quotes.
fn of_a_file(words: &str, pattern: &str) -> Case {
    let mut case = job(words).file("words", "seven words of a file\n");
    case.words.push(pattern.to_owned());
    case
}

/// The same as [`DAMAGED`], with a directory for dumps.
const DAMAGED_WITH_A_PLACE: &str = "mkdir dumps; \"$@\" --rw=write --do_verify=0 --output=written >/dev/null || exit 99
printf X-damage | dd of=data bs=1 seek=9000 conv=notrunc status=none; exec \"$@\" --rw=read";

/// A run of these jobs, each with a file of its own, which holds what is given, and with these words. One run, because
/// the start of a tool takes longer than what it does here.
fn jobs_of(jobs: &[&str], words: &str, contents: &[Vec<u8>]) -> Case {
    let job = |(number, job)| {
        format!("--name=j{number} --filename=data{number} --size=64k --verify_state_save=0 {job} {words} ")
    };
    let mut case = line(&jobs.iter().enumerate().map(job).collect::<String>());
    let names = (0..).map(|number| &*format!("data{number}").leak());
    case.files.extend(names.zip(contents.iter().cloned()));
    case
}

/// One tool writes and the other verifies; then the data of each job is damaged and verified again.
#[track_caller]
fn each_reads_the_other(jobs: &[&str]) {
    let Some(fio) = FIO.as_ref() else {
        testkit::skip("fio is not installed");
        return;
    };
    let pairs: [(&Tool, &Tool); 2] = [(fio, &OURS), (&OURS, fio)];
    for (writer, reader) in pairs {
        let written = tools::run(writer, &jobs_of(jobs, "--rw=randwrite --do_verify=0", &[]), &[]);
        assert_eq!(written.status, Some(0), "{}: {}", writer.name, written.stderr);
        let file = |number| written.directory.path().join(format!("data{number}"));
        let mut contents: Vec<Vec<u8>> =
            (0..jobs.len()).map(|number| std::fs::read(file(number)).expect("it was written")).collect();
        let errors = |contents: &[Vec<u8>]| {
            let ran = tools::run(reader, &jobs_of(jobs, "--rw=read", contents), &["--output-format=json".to_owned()]);
            let document = document::parse_only_document(document::skip_to_document(&ran.stdout).unwrap_or_default());
            let document = document.unwrap_or_else(|error| panic!("{error}: {}{}", ran.stdout, ran.stderr));
            let is_error = |job: &document::Node| job.at("error") != Some(&document::Node::Integer(0));
            let failed: Vec<bool> = document.jobs().iter().map(is_error).collect();
            assert_eq!(ran.status, Some(failed.iter().filter(|failed| **failed).count() as i32), "{}", ran.stderr);
            jobs.iter().copied().zip(failed).collect::<Vec<_>>()
        };
        let none = jobs.iter().map(|job| (*job, false)).collect::<Vec<_>>();
        assert_eq!(errors(&contents), none, "{} of what {} wrote", reader.name, writer.name);
        contents.iter_mut().for_each(|content| content[9000] ^= 1);
        let seen = jobs.iter().map(|job| (*job, !job.contains("meta"))).collect::<Vec<_>>();
        assert_eq!(errors(&contents), seen, "{} of damage in what {} wrote", reader.name, writer.name);
    }
}

#[test]
fn checksums_are_exchanged() {
    let kinds =
        "crc7 crc16 crc32 crc32c crc32c-intel crc64 md5 sha1 sha256 sha3-224 sha3-256 sha3-384 sha3-512 xxhash meta";
    let jobs: Vec<String> = kinds.split(' ').map(|kind| format!("--verify={kind}")).collect();
    each_reads_the_other(&jobs.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn patterns_and_places_are_exchanged() {
    each_reads_the_other(&[
        "--verify=pattern --verify_pattern=0xdeadbeef",
        "--verify=crc32c --verify_pattern=\"abc\"",
        "--verify=pattern --verify_pattern=%o0xab",
        "--verify_pattern=0xdeadbeef",
        "--verify=crc32c --verify_pattern=\"abc\"%o",
        "--verify=crc32c --verify_offset=100",
        // Without verify_fatal fio reports what it found and ends with status 0.
        "--verify=crc32c --bs=8k --verify_interval=1k --verify_fatal=1",
    ]);
}

/// One tool writes until a script stops it, and the other verifies what was written according to the state.
#[track_caller]
fn each_loads_the_state_of_the_other(words: &str, script: &'static str) {
    let Some(fio) = FIO.as_ref() else {
        testkit::skip("fio is not installed");
        return;
    };
    let pairs: [(&Tool, &Tool); 3] = [(fio, &OURS), (&OURS, fio), (&OURS, &OURS)];
    for (writer, reader) in pairs {
        let written = tools::run(writer, &state(words).words("--rw=write --do_verify=0").shell(script), &[]);
        assert_eq!(written.status, Some(0), "{}: {}", writer.name, written.stderr);
        let file = |name: &str| std::fs::read(written.directory.path().join(name)).expect("it was written");
        let read = |words: &str| {
            let both = ["--verify_state_load=1", "--verify_state_save=0", words].join(" ");
            let case = line("--name=a --filename=data --size=64k --verify=crc32c").words(&both);
            let kept = case.file("data", file("data")).file("local-a-0-verify.state", file("local-a-0-verify.state"));
            tools::run(reader, &kept.words("--size=16m"), &[])
        };
        let issued = |text: &str, column: usize| {
            let line = text.lines().find_map(|line| line.trim().strip_prefix("issued rwts: total="));
            line.and_then(|line| line.split(',').nth(column)).map(str::to_owned)
        };
        let writes = issued(&written.stdout, 1);
        assert!(writes.is_some(), "{}", written.stdout);
        for access in ["--rw=read", "--rw=write --verify_only"] {
            let ran = read(access);
            assert_eq!(ran.status, Some(0), "{words} {access}: {} of {}: {}", reader.name, writer.name, ran.stderr);
            assert_eq!(issued(&ran.stdout, 0), writes, "{words} {access}: {} of {}", reader.name, writer.name);
        }
    }
}

/// The job does not begin: fio's document does not contain it, ours has the error.
#[test]
fn a_state_that_cannot_be_loaded_ends_the_job() {
    let load = || state("--rw=read --verify_state_load=1").file("data", WITHOUT_HEADERS);
    let cases = [
        (
            load(),
            "fio: open state file: No such file or directory\nfio: state file: local-a-0-verify.state (for_write=0)",
        ),
        (load().file("local-a-0-verify.state", [2; 200]), "fio: unsupported (33686018) version in verify state header"),
        (
            load().file("local-a-0-verify.state", [&[3, 0, 0, 0, 0, 0, 0, 0][..], &[0; 30]].concat()),
            "fio: verify state is corrupt",
        ),
    ];
    for (case, message) in cases {
        for tool in FIO.as_ref().into_iter().chain([&*OURS]) {
            let ran = tools::run(tool, &case, &[]);
            assert!(ran.status == Some(1) && ran.stderr.contains(message), "{}: {}", tool.name, ran.stderr);
        }
    }
}

#[test]
fn states_are_exchanged() {
    let to_its_end = "exec \"$@\"";
    for words in ["", "--ioengine=libaio --iodepth=4", "--ioengine=libaio --iodepth=16"] {
        each_loads_the_state_of_the_other(&format!("--size=16m --number_ios=11 {words}"), to_its_end);
    }
}

#[test]
fn states_of_interrupted_jobs_are_exchanged() {
    let interrupted = r#"truncate --size=16M data; "$@" & job=$!
until dd if=data bs=1 skip=81920 count=2 status=none | od -An -tx1 | grep -q 'ca ac'; do
kill -0 $job || exit 99; sleep 0.05; done; kill -TERM $job; wait $job; exit 0"#;
    let words = "--size=16m --rate_iops=300 --ioengine=libaio --iodepth=4";
    each_loads_the_state_of_the_other(words, interrupted);
}

/// Files that fio 3.42 reads.
#[test]
fn only_what_was_synced_is_read_back() {
    for (words, counts) in
        [("--fsync=4", "total=8,11,0,2"), ("--fdatasync=4", "total=8,11,0,2"), ("", "total=0,11,0,0")]
    {
        let words = format!("--rw=write --verify=crc32c --number_ios=11 --verify_policy=fsynced {words}");
        let ran = tools::run(&OURS, &job(&words), &[]);
        assert!(ran.status == Some(0) && ran.stdout.contains(counts), "{words}: {}{}", ran.stdout, ran.stderr);
    }
}

#[test]
fn sha512_is_a_hash_here() {
    let ours = tools::run(&OURS, &job("--verify=sha512").shell(DAMAGED), &[]);
    assert_eq!(ours.status, Some(1), "{}", ours.stderr);
}

/// What fio cannot detect: the blocks are of an earlier run of the same job.
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

/// A read leaves its data in the buffer; the next write still has the job's own content, with each engine.
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

/// Blocks of two runs in one file are all intact; that they are of two runs is reported.
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

/// A truncated file is evidence: it is not laid out again.
#[test]
fn a_file_that_is_too_short_stays_as_it_is() {
    let cut = "\"$@\" --rw=write --do_verify=0 --output=written >/dev/null || exit 99
        truncate -s 40000 data; exec \"$@\" --rw=read";
    let ran = tools::run(&OURS, &job("--verify=crc32c").shell(cut), &[]);
    assert_eq!(ran.status, Some(1), "{}", ran.stderr);
    assert!(ran.stderr.contains("data has 40000 bytes, but 65536 must be checked"), "{}", ran.stderr);
    assert_eq!(std::fs::metadata(ran.directory.path().join("data")).expect("it is there").len(), 40_000);
}
