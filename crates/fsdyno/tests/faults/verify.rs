//! Storage that says a write is done and forgets it: nobody is told but who reads and compares.

use crate::document::Row;
use crate::lab;
use crate::program::{Precious, Ran, fio, replace_after};

const WORDS: &str = "--name=a --filename=data --rw=write --bs=4k --size=1m --verify=crc32c";

fn row(fault: &str, words: &str, ran: &Ran, told: &str) -> Row {
    let numbers = |told: String, mark| replace_after(&told, mark, "N", |letter| letter.is_ascii_digit());
    Row {
        fault: fault.to_owned(),
        asked: format!("`fio {words}`"),
        status: ran.status.to_string(),
        told: ["rand_seed ", "wanted ", "offset ", "offset="].into_iter().fold(ran.told(told), numbers),
        kept: ran.kept(),
        left: "its file".to_owned(),
    }
}

#[test]
fn dropped_writes() {
    lab::inside("verify::dropped_writes", "dm", || {
        let place = lab::target();
        let precious = Precious::put(&place);
        let ran = fio(&place, WORDS).finish();
        assert_eq!(ran.status, 0, "{}{}", ran.stdout, ran.stderr);
        let mut rows = Vec::new();
        let direct = format!("{WORDS} --direct=1 --ioengine=io_uring --iodepth=8");
        let unchecked = "--name=a --filename=data --rw=write --bs=4k --size=1m --direct=1";
        for (words, status, told) in [(WORDS, 1, "bad header"), (direct.as_str(), 1, "bad header"), (unchecked, 0, "")]
        {
            lab::tell("lab-disk", "drop-writes");
            let ran = fio(&place, words).finish();
            lab::tell("lab-disk", "plain");
            assert_eq!(ran.status, status, "{}{}", ran.stdout, ran.stderr);
            let mut row = row("writes are dropped over blocks of an earlier run", words, &ran, told);
            if told.is_empty() {
                row.told = "–".to_owned();
            }
            rows.push(row);
        }
        precious.and_else();
        rows
    });
}
