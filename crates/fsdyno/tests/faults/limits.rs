//! Tests what the system does not allow: memory, open files, asynchronous requests, io_uring.

use std::path::Path;
use std::process::Command;

use crate::document::{self, Row};
use crate::lab;
use crate::program::{RunResult, UserFiles, fio, replace_after, start_command};
use crate::scarce::{Group, Limit, NO_FILTER, refusing};

/// Runs the fio face after `before`, shell words.
fn behind(place: &Path, before: &str, words: &str) -> RunResult {
    let folder = testkit::directory();
    let record = folder.path().join("record");
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("{before} {} {words} --record={}", testkit::program(), record.display()));
    start_command(place, folder, command).finish()
}

fn row(fault: &str, words: &str, ran: &RunResult, message: &str, left: String) -> Row {
    Row {
        fault: fault.to_owned(),
        asked: format!("`fio {words}`"),
        status: ran.status.to_string(),
        message: ["this machine has ", "may open ", "a.0."].iter().fold(ran.message(message), |message, mark| {
            replace_after(&message, mark, "N", |letter| letter.is_ascii_digit() || letter == '.')
        }),
        kept: ran.partial_result(),
        left,
    }
}

#[test]
fn of_a_process() {
    let place = testkit::directory();
    let place = place.path();
    let precious = UserFiles::put(place);
    std::fs::write(place.join("data"), vec![7; 1 << 20]).expect("the place is writable");
    let large = "--name=a --filename=data --rw=read --bs=1g --size=1g --ioengine=io_uring --iodepth=1024 --numjobs=8";
    let limited = "--name=a --filename=data --rw=read --bs=1m --size=1m --ioengine=io_uring --iodepth=4096";
    let files = "--name=a --rw=write --bs=4k --size=1m --nrfiles=100";
    let large_file = "--name=a --filename=a.0.0 --rw=write --bs=4k --size=1m --fallocate=none";
    let endless = "--name=a --filename=data --rw=read --bs=4k --size=1m --time_based --runtime=600";
    let refused = "--name=a --filename=data --rw=read --bs=4k --size=1m --ioengine=io_uring";
    let refuse = refusing("io_uring_setup=EPERM");
    let cases = [
        ("buffers beyond the machine's memory", large, "exec", "requests in flight need"),
        ("buffers beyond `ulimit -v`", limited, "ulimit -v 3000000; exec", "Cannot allocate memory"),
        ("more files than `ulimit -n`", files, "ulimit -n 64; exec", "its limit is 64"),
        ("a file beyond `ulimit -f`", large_file, "ulimit -f 128; exec", "File too large"),
        ("processor time (`ulimit -t`) runs out", endless, "ulimit -t 3; exec", "terminating on signal"),
        ("io_uring is refused (seccomp)", refused, refuse.as_str(), "io_uring_setup"),
    ];
    let mut rows = Vec::new();
    for (fault, words, before, message) in cases {
        let ran = behind(place, before, words);
        if ran.status == NO_FILTER {
            return testkit::skip("no seccomp filter can be set here");
        }
        assert!(matches!(ran.status, 1 | 128), "{fault}: {}{}", ran.stdout, ran.stderr);
        let left = if precious.and_else() == "`data`" { "nothing" } else { "its files" };
        for entry in std::fs::read_dir(place).expect("the place is readable").flatten() {
            if entry.file_name().to_string_lossy().starts_with("a.0.") {
                std::fs::remove_file(entry.path()).expect("it can be removed");
            }
        }
        rows.push(row(fault, words, &ran, message, left.to_owned()));
    }
    document::compare("limits::of_a_process", rows);
}

/// Number of the files of the job `a` that `sh` leaves in its directory.
fn files_of_a(place: &Path) -> usize {
    let entries = std::fs::read_dir(place).expect("the place is readable").flatten();
    entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("a.0.")).count()
}

#[test]
fn openfiles_keeps_a_job_within_its_limit() {
    for engine in [
        "psync",
        "sync",
        "libaio --iodepth=16 --iodepth_batch=8",
        "io_uring --iodepth=16 --iodepth_batch=8 --direct=1",
        "mmap",
    ] {
        let place = testkit::directory();
        let job = format!("--name=a --nrfiles=120 --filesize=12k --bs=4k --openfiles=5 --ioengine={engine}");
        // Laid out, written in another order than it is verified, verified; then laid out anew and read.
        for words in
            ["--rw=randwrite --overwrite=1 --verify=crc32c --file_service_type=random", "--rw=randread --unlink=1"]
        {
            let ran = behind(place.path(), "ulimit -n 40; exec", &format!("{job} {words}"));
            if ran.status != 0 && ran.stderr.contains("ioengine=") {
                testkit::skip(&format!("{engine}: {}", ran.stderr));
                break;
            }
            assert_eq!(ran.status, 0, "{engine}: {}{}", ran.stdout, ran.stderr);
            let left = if words.contains("unlink") { 0 } else { 120 };
            assert_eq!(files_of_a(place.path()), left, "{engine}: {words}");
        }
    }
}

#[test]
fn more_files_than_the_limit_are_refused_before_the_first_and_a_soft_limit_is_raised() {
    let place = testkit::directory();
    let job = "--name=a --rw=write --nrfiles=120 --filesize=4k --bs=4k";
    let ran = behind(place.path(), "ulimit -n 64; exec", job);
    assert_eq!((ran.status, files_of_a(place.path())), (1, 0), "{}{}", ran.stdout, ran.stderr);
    for part in ["the jobs open 120 files at the same time", "its limit is 64", "--openfiles="] {
        assert!(ran.stderr.contains(part), "{part}: {}", ran.stderr);
    }
    let advice = ran.stderr.split_once("use ").and_then(|(_, rest)| rest.split_once(',')).expect("the next step").0;
    let ran = behind(place.path(), "ulimit -n 64; exec", &format!("{job} {advice}"));
    assert_eq!((ran.status, files_of_a(place.path())), (0, 120), "{advice} is no help: {}", ran.stderr);
    let ran = behind(place.path(), "ulimit -Sn 64; exec", job);
    assert_eq!(ran.status, 0, "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn of_a_control_group() {
    let group = match Group::limited(Limit::MemoryBytes(256 << 20)) {
        Ok(group) => group,
        Err(reason) => return testkit::skip(&reason),
    };
    let place = testkit::directory();
    let precious = UserFiles::put(place.path());
    std::fs::write(place.path().join("data"), vec![7; 1 << 20]).expect("the place is writable");
    let before = format!("{}; exec", group.join());
    let words = "--name=a --filename=data --rw=read --bs=1m --size=1m --ioengine=io_uring --iodepth=512";
    let ran = behind(place.path(), &before, words);
    assert_eq!(ran.status, 1, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(precious.and_else(), "`data`");
    let refused = row("buffers beyond 256 MiB of a control group", words, &ran, "control group", "nothing".into());
    let words = "--name=a --filename=data --rw=read --bs=1m --size=1m --ioengine=io_uring --iodepth=128";
    assert_eq!(behind(place.path(), &before, words).status, 0, "buffers below the limit are used");
    document::compare("limits::of_a_control_group", vec![refused]);
}

#[test]
fn of_the_system() {
    lab::inside("limits::of_the_system", "dm", || {
        let place = lab::target();
        let precious = UserFiles::put(&place);
        std::fs::write("/proc/sys/fs/aio-max-nr", "64").expect("the guest has limits of its own");
        let words =
            "--name=a --filename=data --rw=randread --bs=4k --size=1m --direct=1 --ioengine=libaio --iodepth=1024";
        let ran = fio(&place, words).finish();
        assert_eq!(ran.status, 1, "{}{}", ran.stdout, ran.stderr);
        precious.and_else();
        vec![row("`fs.aio-max-nr` is exhausted", words, &ran, "aio-max-nr", "its file".into())]
    });
}
