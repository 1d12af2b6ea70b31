//! Tests storage that acknowledges a write and loses it: only reading and comparing shows it.

use crate::document::Row;
use crate::lab;
use crate::program::{RunResult, UserFiles, fio, replace_after};

const WORDS: &str = "--name=a --filename=data --rw=write --bs=4k --size=1m --verify=crc32c";

fn row(fault: &str, words: &str, ran: &RunResult, message: &str) -> Row {
    let numbers = |message: String, mark| replace_after(&message, mark, "N", |letter| letter.is_ascii_digit());
    Row {
        fault: fault.to_owned(),
        asked: format!("`fio {words}`"),
        status: ran.status.to_string(),
        message: ["rand_seed ", "wanted ", "offset ", "offset="].into_iter().fold(ran.message(message), numbers),
        kept: ran.partial_result(),
        left: "its file".to_owned(),
    }
}

#[test]
fn dropped_writes() {
    lab::inside("verify::dropped_writes", "dm", || {
        let place = lab::target();
        let precious = UserFiles::put(&place);
        let ran = fio(&place, WORDS).finish();
        assert_eq!(ran.status, 0, "{}{}", ran.stdout, ran.stderr);
        let mut rows = Vec::new();
        let direct = format!("{WORDS} --direct=1 --ioengine=io_uring --iodepth=8");
        let unchecked = "--name=a --filename=data --rw=write --bs=4k --size=1m --direct=1";
        for (words, status, message) in
            [(WORDS, 1, "bad header"), (direct.as_str(), 1, "bad header"), (unchecked, 0, "")]
        {
            lab::run("lab-disk", "drop-writes");
            let ran = fio(&place, words).finish();
            lab::run("lab-disk", "plain");
            assert_eq!(ran.status, status, "{}{}", ran.stdout, ran.stderr);
            let mut row = row("writes are dropped over blocks of an earlier run", words, &ran, message);
            if message.is_empty() {
                row.message = "–".to_owned();
            }
            rows.push(row);
        }
        precious.and_else();
        rows
    });
}
