//! Tests that values are read as fio reads them, or refused with fio's reading: texts around the edges of each kind of
//! value go through both parsers. Each class of difference is a row of `fsdyno_job::differences`. `FSDYNO_READINGS` is
//! the number of texts of each kind.

use std::collections::BTreeSet;

use crate::differences::chosen;
use crate::drawn_texts::{self, KINDS};
use crate::parsers::{self, Depth, Reading, Written};

/// Number of texts of each kind.
fn texts() -> usize {
    std::env::var("FSDYNO_READINGS").ok().and_then(|number| number.parse().ok()).unwrap_or(40)
}

/// Our message where we refuse what fio reads, and the row of the difference.
#[rustfmt::skip]
const REFUSED: &[(&str, &str)] = &[
    ("fractions are not numbers here", "size=1.5g"),
    ("unknown unit of time", "runtime=10sec"),
    ("a time in hexadecimal", "runtime=1.5s"),
    ("a time is a whole number", "runtime=1.5s"),
    ("a blank before a time", "size= 64k"),
    ("the time is too long", "nrfiles=4294967297"),
    ("a hexadecimal number takes no unit", "size=4x, 0x1k"),
    ("a blank before", "size= 64k"),
    ("unknown unit", "size=4x, 0x1k"),
    ("one number only", "bs=4k,8k,16k,32k"),
    ("a percentage has no meaning here", "number_ios=5%"),
    ("a percentage is a whole number right before the %", "size=50.5%"),
    ("nothing may follow the % of", "size=50.5%"),
    ("% is more than 100 %", "size=200%"),
    ("a negative number has no meaning here", "size=-1"),
    ("a time cannot be negative", "size=-1"),
    ("min value out of range: -", "size=-1"),
    ("min value out of range: 0", "filesize=0-4k"),
    ("max value out of range", "nrfiles=4294967297"),
    ("larger than 2^", "nrfiles=4294967297"),
    ("this is a switch", "direct=1k"),
    ("this is no range", "bs=4k-16k"),
    ("a range has two ends", "filesize=4k-"),
    ("there are three directions", "bs=4k,8k,16k,32k"),
    ("not a number", "filesize=4k-"),
    ("not a time", "filesize=4k-"),
    ("value out of range", "percentile_list=50:199"),
    ("not a floating point value", "percentile_list=50,99"),
    ("the maximum is", "percentile_list=50:199"),
    ("the percentages add up to", "bssplit=4k/50:8k/30"),
    ("is not a percentage", "bssplit=4k/x"),
    ("is not a valid block size", "bssplit=4k/x"),
    ("a count is a whole number", "rw=randread:4k"),
    ("not a count", "rw=randread:4k"),
    ("at least one I/O", "file_service_type=random:0"),
    ("nothing may follow", "rw=randread:x"),
    ("is none of wait_before", "sync_file_range=write:x"),
    ("valid values", "rw=read,write"),
    ("is not a CPU number", "cpus_allowed=foo"),
    ("no CPU number", "cpus_allowed=foo"),
    ("both ends for hexadecimal", "filesize=4k-"),
    ("is not an error number", "ignore_error=-5"),
    ("more than three lists", "ignore_error=-5"),
    ("zipf theta must be", "random_distribution=zipf:0"),
];

/// What the two read differently: a part of the text, and the row of the difference.
const OTHERWISE: &[(&str, &str)] =
    &[("//", "size=65536.0"), ("%", "rwmixread=70%"), ("s-", "startdelay=5s-10s"), ("-1", "flow=-1")];

/// What only fio refuses, as the beginning of option and text, and the row of the difference.
const TAKEN: &[(&str, &str)] =
    &[("verify=none", "verify=none"), ("sync_file_range=write ", "verify=none"), ("ignore_error=", "verify=none")];

#[test]
fn drawn_values_are_read_as_by_fio_or_refused_with_what_fio_reads() {
    let mut met = BTreeSet::new();
    let mut wrong = Vec::new();
    let drawn =
        KINDS.iter().enumerate().map(|(seed, kind)| (drawn_texts::draw(kind, seed as u64, texts()), kind.depth()));
    for (drawn, depth) in drawn.chain([(drawn_texts::named(), Depth::Numbers)]) {
        let Some(fio) = parsers::fio(&drawn, depth) else {
            testkit::skip("fio is not installed");
            return;
        };
        for (written, fio) in drawn.iter().zip(&fio) {
            let ours = parsers::ours(written).0;
            if let Err(what) = compare(written, fio, &ours, &mut met) {
                wrong.push(format!("{}={:?}: {what}\n  fio: {fio:?}\n  ours: {ours:?}", written.option, written.text));
            }
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
    let all = || REFUSED.iter().chain(OTHERWISE).chain(TAKEN);
    let unmet: Vec<&str> = all().map(|(phrase, _)| *phrase).filter(|phrase| !met.contains(phrase)).collect();
    assert!(unmet.is_empty(), "no text meets {unmet:?}: the class is not there any more, or nothing draws it");
    for (_, row) in all() {
        chosen(row);
    }
}

fn compare(
    written: &Written,
    fio: &Reading,
    ours: &Reading,
    met: &mut BTreeSet<&'static str>,
) -> Result<(), &'static str> {
    match (fio, ours) {
        (Reading::Refused(_), Reading::Refused(_)) => Ok(()),
        (Reading::Refused(_), Reading::Read(_)) => {
            let text = format!("{}={}", written.option, written.text);
            let row = TAKEN.iter().find(|(begin, _)| text.starts_with(begin)).ok_or("fio refuses it")?;
            met.insert(row.0);
            Ok(())
        }
        (Reading::Read(fio), Reading::Read(ours)) if same_numbers(written.option, fio, ours) => Ok(()),
        (Reading::Read(_), Reading::Read(_)) => {
            let row = OTHERWISE.iter().find(|(holds, _)| written.text.contains(holds)).ok_or("another value")?;
            met.insert(row.0);
            Ok(())
        }
        (Reading::Read(numbers), Reading::Refused(why)) => {
            if let Some(claim) = claimed(why)
                && !numbers.is_empty()
                && !numbers.contains(&claim)
            {
                return Err("fio reads something else than ours says");
            }
            let row = REFUSED.iter().find(|(says, _)| why.contains(says)).ok_or("refused without a known reason")?;
            met.insert(row.0);
            Ok(())
        }
    }
}

/// Directions that are not given are missing in fio's list, and a switch is on with any number but 0.
fn same_numbers(option: &str, fio: &[String], ours: &[String]) -> bool {
    let switch = ["thread", "time_based"].contains(&option);
    let number = |text: &String| match text.as_str() {
        "-" | "0" => "0".to_owned(),
        _ if switch => "1".to_owned(),
        other => other.to_owned(),
    };
    let numbers = |list: &[String]| {
        let mut numbers: Vec<String> = list.iter().map(number).collect();
        // Ours puts the smaller end of a range first.
        if ["filesize", "startdelay"].contains(&option) {
            numbers.sort();
        }
        numbers
    };
    numbers(fio) == numbers(ours)
}

/// The number that fio prints, if our message says correctly what fio would read.
fn claimed(why: &str) -> Option<String> {
    let claim = why.split("fio would read ").nth(1)?;
    let (number, unit) = claim.split_once(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or((claim, ""));
    let number: i128 = number.parse().ok()?;
    if unit.contains("one for each direction") {
        return None;
    }
    let factor = if unit.starts_with("s\n") { 1_000_000 } else { 1 };
    Some(((number * factor) as u64).to_string())
}

/// fio fills blocks of each file with the pattern of its job.
#[test]
fn drawn_patterns_are_the_bytes_that_fio_writes() {
    const LENGTH: usize = 64;
    let mut wrong = Vec::new();
    for written in drawn_texts::patterns(1, texts() / 2) {
        let Some(bytes) = parsers::bytes_by_fio(&written, LENGTH) else {
            testkit::skip("fio is not installed");
            return;
        };
        let pattern = parsers::ours(&written).1.and_then(|request| request.jobs[0].content.pattern.clone());
        let ours: Option<Vec<u8>> = pattern.map(|pattern| pattern.iter().copied().cycle().take(LENGTH).collect());
        // fio takes blanks at the end for another number.
        if bytes != ours && !written.text.starts_with(' ') && !written.text.ends_with(char::is_whitespace) {
            wrong.push(format!("{:?}\n  fio: {bytes:x?}\n  ours: {ours:x?}", written.text));
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}
