//! Tests errors, short transfers and a pause, on a FUSE filesystem that can be controlled.

use std::path::Path;

use crate::document::Row;
use crate::lab;
use crate::program::{RunResult, UserFiles, clean, fio, measure, replace_after};

/// Removes every fault.
const WELL: &str =
    "read-eio 0 write-eio 0 fsync-eio 0 close-eio 0 short-read 0 short-write 0 enospc-after 0 delay-us 0";

/// A fault on the fio face.
struct Case {
    fault: &'static str,
    /// The words for lab-fault.
    set: &'static str,
    /// The job's words.
    words: &'static str,
    /// Words of the message that names it; empty: no message is expected.
    message: &'static str,
    status: i32,
}

/// An existing file of a megabyte.
const DATA: &str = "data";

const CASES: &[Case] = &[
    Case {
        fault: "EIO of the 100th read",
        set: "read-eio 100",
        words: "--name=a --filename=data --rw=read --bs=4k --size=1m",
        message: "Input/output error",
        status: 1,
    },
    Case {
        fault: "EIO of the 100th write",
        set: "write-eio 100",
        words: "--name=a --filename=new --rw=write --bs=4k --size=1m --fallocate=none",
        message: "Input/output error",
        status: 1,
    },
    Case {
        fault: "EIO of the 100th read",
        set: "read-eio 100",
        words: "--name=a --filename=data --rw=randread --bs=4k --size=1m --ioengine=io_uring --iodepth=8",
        message: "Input/output error",
        status: 1,
    },
    Case {
        fault: "EIO of the 100th read",
        set: "read-eio 100",
        words: "--name=a --filename=data --rw=randread --bs=4k --size=1m --ioengine=libaio --iodepth=8 --direct=1",
        message: "Input/output error",
        status: 1,
    },
    Case {
        fault: "EIO of the 100th read, which the job is to survive",
        set: "read-eio 100",
        words: "--name=a --filename=data --rw=read --bs=4k --size=1m --continue_on_error=read",
        message: "",
        status: 0,
    },
    Case {
        fault: "EIO of the 3rd fsync",
        set: "fsync-eio 3",
        words: "--name=a --filename=new --rw=write --bs=4k --size=1m --fallocate=none --fsync=8",
        message: "Input/output error",
        status: 1,
    },
    Case {
        fault: "EIO of the fsync at the end",
        set: "fsync-eio 1",
        words: "--name=a --filename=new --rw=write --bs=4k --size=1m --fallocate=none --end_fsync=1",
        message: "Input/output error",
        status: 1,
    },
    Case {
        fault: "EIO of close after the layout",
        set: "close-eio 1",
        words: "--name=a --filename=new --rw=write --bs=4k --size=1m --fallocate=none",
        message: "Input/output error",
        status: 1,
    },
    Case {
        fault: "EIO of close after the run",
        set: "close-eio 2",
        words: "--name=a --filename=new --rw=write --bs=4k --size=1m --fallocate=none",
        message: "Input/output error",
        status: 1,
    },
    Case {
        fault: "the 100th read brings half of its bytes",
        set: "short-read 100",
        words: "--name=a --filename=data --rw=read --bs=4k --size=1m",
        message: "",
        status: 0,
    },
    Case {
        fault: "the 100th write takes half of its bytes",
        set: "short-write 100",
        words: "--name=a --filename=new --rw=write --bs=4k --size=1m --fallocate=none",
        message: "",
        status: 0,
    },
    Case {
        fault: "no answer for 3 s",
        set: "hang-ms 3000",
        words: "--name=a --filename=data --rw=read --bs=4k --size=1m",
        message: "",
        status: 0,
    },
    Case {
        fault: "ENOSPC after 256 KiB of the run",
        set: "enospc-after 262144",
        words: "--name=a --filename=new --rw=write --bs=4k --size=1m --fallocate=none",
        message: "No space left",
        status: 1,
    },
    Case {
        fault: "ENOSPC after 2 MiB of the layout",
        set: "enospc-after 2097152",
        words: "--name=a --filename=new --rw=read --bs=4k --size=8m --fallocate=none",
        message: "fio: cannot",
        status: 1,
    },
    Case {
        fault: "EIO of the first write of the layout",
        set: "write-eio 1",
        words: "--name=a --filename=new --rw=read --bs=4k --size=8m",
        message: "fio: cannot",
        status: 1,
    },
];

#[test]
fn fio_face() {
    lab::inside("fuse::fio_face", "fuse", || {
        let place = lab::target();
        let precious = UserFiles::put(&place);
        std::fs::write(place.join(DATA), vec![7; 1 << 20]).expect("the place is writable");
        lab::run("lab-fault", "direct-io 1");
        CASES.iter().map(|case| row(case, &place, &precious)).collect()
    });
}

fn row(case: &Case, place: &Path, precious: &UserFiles) -> Row {
    lab::run("lab-fault", case.set);
    let ran = fio(place, case.words).finish();
    lab::run("lab-fault", WELL);
    assert_eq!(ran.status, case.status, "{}: {}{}", case.fault, ran.stdout, ran.stderr);
    let message = if case.message.is_empty() { "–".to_owned() } else { ran.message(case.message) };
    // Requests in flight together fail in any order.
    let message = if case.words.contains("iodepth") {
        replace_after(&message, "offset=", "N", |letter| letter.is_ascii_digit())
    } else {
        message
    };
    let row = Row {
        fault: case.fault.to_owned(),
        asked: format!("`fio {}`", case.words),
        status: ran.status.to_string(),
        message,
        kept: partial_result(&ran),
        left: left(precious),
    };
    assert!(std::fs::read(place.join(DATA)).expect("it is still there") == vec![7; 1 << 20], "the data was touched");
    let _ = std::fs::remove_file(place.join("new"));
    row
}

/// Checks that the job's file has the size that was asked for.
fn left(precious: &UserFiles) -> String {
    match precious.and_else().as_str() {
        "`data`" => "nothing".to_owned(),
        "`data`, `new`" => "its file".to_owned(),
        other => panic!("who made {other}?"),
    }
}

/// The record's content on short transfers, errors that were continued after and the longest wait.
fn partial_result(ran: &RunResult) -> String {
    let job = &ran.record.as_ref().expect("a record is kept")["jobs"][0];
    let moved = &job["directions"];
    let short: u64 = ["read", "write"].iter().filter_map(|direction| moved[direction]["short_ios"].as_u64()).sum();
    let bytes: u64 = ["read", "write"].iter().filter_map(|direction| moved[direction]["bytes"].as_u64()).sum();
    let seconds = moved["read"]["clat"]["moments"]["max"].as_u64().unwrap_or_default() / 1_000_000_000;
    let survived = job["survived_errors"]["total"].as_u64().unwrap_or_default();
    let mut kept = ran.partial_result();
    if short > 0 {
        assert_eq!(bytes, 1 << 20, "the rest of the request follows");
        kept.push_str(&format!(", {short} short I/O, all bytes"));
    }
    if survived > 0 {
        kept.push_str(&format!(", {survived} survived error"));
    }
    if seconds > 0 {
        kept.push_str(&format!(", a maximum of {seconds} s"));
    }
    kept
}

#[test]
fn guided_face() {
    lab::inside("fuse::guided_face", "fuse", || {
        let place = lab::target();
        let precious = UserFiles::put(&place);
        lab::run("lab-fault", "direct-io 1");
        let faults = [
            ("EIO of the 50th read", "read-eio 50", "Input/output error"),
            ("EIO of the 5th write", "write-eio 5", "Input/output error"),
            ("ENOSPC after 4 MiB", "enospc-after 4194304", "No space left"),
            ("EIO of the fsync after the first test", "fsync-eio 2", "Input/output error"),
        ];
        let rows = faults.map(|(fault, set, message)| {
            lab::run("lab-fault", set);
            let ran = measure(&place).finish();
            lab::run("lab-fault", WELL);
            assert_eq!(ran.status, 1, "{fault}: {}{}", ran.stdout, ran.stderr);
            assert!(ran.stdout.contains("fuse.faultfs on faultfs"), "the answer is printed: {}", ran.stdout);
            let message = replace_after(&ran.message(message), "offset=", "N", |letter| letter.is_ascii_digit());
            let kept = ran.partial_result();
            let left = precious.and_else();
            assert_eq!(left, "nothing");
            assert!(clean(&place).stdout.contains("no fsdyno files are left"));
            let asked = "`measure --quick`".to_owned();
            Row { fault: fault.to_owned(), asked, status: ran.status.to_string(), message, kept, left }
        });
        rows.to_vec()
    });
}
