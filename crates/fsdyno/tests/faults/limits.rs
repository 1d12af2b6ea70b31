//! What the system does not allow: memory, open files, asynchronous requests, io_uring.

use std::path::Path;
use std::process::Command;

use crate::document::{self, Row};
use crate::lab;
use crate::program::{Precious, Ran, fio, replace_after, start_command};

fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("the build directory is writable")
}

/// Runs fio's face behind `before`, words of a shell.
fn behind(place: &Path, before: &str, words: &str) -> Ran {
    let folder = folder();
    let record = folder.path().join("record");
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("{before} {} {words} --record={}", env!("CARGO_BIN_EXE_fsdyno"), record.display()));
    start_command(place, folder, command).finish()
}

fn row(fault: &str, words: &str, ran: &Ran, told: &str, left: String) -> Row {
    Row {
        fault: fault.to_owned(),
        asked: format!("`fio {words}`"),
        status: ran.status.to_string(),
        told: ["this machine has ", "a.0."].iter().fold(ran.told(told), |told, mark| {
            replace_after(&told, mark, "N", |letter| letter.is_ascii_digit() || letter == '.')
        }),
        kept: ran.kept(),
        left,
    }
}

#[test]
fn of_a_process() {
    let place = folder();
    let place = place.path();
    let precious = Precious::put(place);
    std::fs::write(place.join("data"), vec![7; 1 << 20]).expect("the place is writable");
    let large = "--name=a --filename=data --rw=read --bs=1g --size=1g --ioengine=io_uring --iodepth=1024 --numjobs=8";
    let limited = "--name=a --filename=data --rw=read --bs=1m --size=1m --ioengine=io_uring --iodepth=4096";
    let files = "--name=a --rw=write --bs=4k --size=1m --nrfiles=100";
    let refused = "--name=a --filename=data --rw=read --bs=4k --size=1m --ioengine=io_uring";
    let refuse = format!("exec python3 {}/tests/faults/refuse_io_uring.py", env!("CARGO_MANIFEST_DIR"));
    let cases = [
        ("buffers beyond the machine's memory", large, "exec", "GiB of memory"),
        ("buffers beyond `ulimit -v`", limited, "ulimit -v 3000000; exec", "Cannot allocate memory"),
        ("more files than `ulimit -n`", files, "ulimit -n 64; exec", "Too many open files"),
        ("io_uring is refused (seccomp)", refused, refuse.as_str(), "io_uring_setup"),
    ];
    let mut rows = Vec::new();
    for (fault, words, before, told) in cases {
        let ran = behind(place, before, words);
        if ran.status == 77 {
            println!("skipped: no seccomp filter can be set here");
            return;
        }
        assert_eq!(ran.status, 1, "{fault}: {}{}", ran.stdout, ran.stderr);
        let left = if precious.and_else() == "`data`" { "nothing" } else { "its files" };
        for entry in std::fs::read_dir(place).expect("the place is readable").flatten() {
            if entry.file_name().to_string_lossy().starts_with("a.0.") {
                std::fs::remove_file(entry.path()).expect("it can be removed");
            }
        }
        rows.push(row(fault, words, &ran, told, left.to_owned()));
    }
    document::hold("limits::of_a_process", rows);
}

#[test]
fn of_the_system() {
    lab::inside("limits::of_the_system", &["dm"], || {
        let place = lab::target();
        let precious = Precious::put(&place);
        std::fs::write("/proc/sys/fs/aio-max-nr", "64").expect("the guest has limits of its own");
        let words =
            "--name=a --filename=data --rw=randread --bs=4k --size=1m --direct=1 --ioengine=libaio --iodepth=1024";
        let ran = fio(&place, words).finish();
        assert_eq!(ran.status, 1, "{}{}", ran.stdout, ran.stderr);
        precious.and_else();
        vec![row("`fs.aio-max-nr` is exhausted", words, &ran, "aio-max-nr", "its file".into())]
    });
}
