//! Tests that what the chosen differences of the language say about fio is true. That ours differs is tested in
//! `chosen` and `readings`.

use std::ops::RangeInclusive;

use fsdyno_job::differences::of_language;

use crate::claims::{ios, run, run_with};
use crate::parsers::{self, Depth, Reading, Written};
use crate::tools::FIO;

/// The beginning of a row, and whether fio does what the row says.
type Try = (&'static str, fn() -> bool);

/// Whether a job with these words runs to its end.
fn runs(words: &str) -> bool {
    ios(words).is_some_and(|ios| ios > 0)
}

/// Runs 8 MiB with these block sizes: the number of requests shows how many had which size.
fn split_in(words: &str, requests: RangeInclusive<u64>) -> bool {
    ios(&format!("--size=8m --bssplit={words}")).is_some_and(|ios| requests.contains(&ios))
}

/// Number of random reads whose offset does not follow the previous one.
fn jumps(access: &str) -> usize {
    let ran = run(&format!("--name=a --filename=f --size=256k --write_bw_log=l --log_offset=1 --rw={access}"));
    let log = std::fs::read_to_string(ran.directory.path().join("l_bw.1.log")).unwrap_or_default();
    let offsets: Vec<u64> = log.lines().filter_map(|line| line.split(", ").nth(4)?.parse().ok()).collect();
    offsets.windows(2).filter(|pair| pair[1] != pair[0] + 4096).count()
}

/// Whether the values are those that fio has with a null engine and a job file.
fn file_says(jobs: &str, said: &str) -> bool {
    run_with("--output-format=normal,json jobs", jobs).said.contains(said)
}

#[rustfmt::skip]
const TRIES: &[Try] = &[
    ("rwmixread=70%", || ios("--rw=randrw --rwmixread=70%") == Some(16)),
    ("description= text", || file_says("[a]\nioengine=null\nsize=4k\ndescription= text\n", "\" text\"")),
    ("bs=4k,8k,16k,32k", || ios("--number_ios=5,6") == Some(5) && ios("--size=64k,32k") == Some(8) && runs("--bs=4k,8k,16k,32k")),
    ("filesize=0-4k", || run("--parse-only --name=a --filesize=0-4k").status == Some(0)),
    ("nrfiles=4294967297", || {
        let ran = run("--name=a --nrfiles=4294967297 --size=8k --rw=write");
        ran.holds("a.0.0") && !ran.holds("a.0.1")
    }),
    ("size=4ki under", || ios("--kb_base=1000 --bs=1 --size=4ki") == Some(4000)),
    ("flow=-1", || ios("--flow=-1") == Some(16)),
    ("size=200%", || run("--parse-only --name=a --size=200%").status == Some(0)),
    ("bssplit=4k/50:8k/30", || split_in("4k/50:8k/30", 1480..=1620)),
    ("bssplit=4k/50:8k/60", || split_in("4k/50:8k/60", 1300..=1480)),
    ("bssplit=4k/x", || ["4k/x:8k/50", "4k/-5:8k/50", "0/100"].iter().all(|split| split_in(split, 1..=5000))),
    ("rw=read,write", || runs("--rw=read,write") && runs("--continue_on_error=read,write")),
    ("rw=randread:x", || runs("--rw=randread:x") && run("--name=a --ioengine=null:x --size=4k").status == Some(0)),
    ("rw=randread:4k", || jumps("randread:4k") == jumps("randread:4") && jumps("randread:4") < jumps("randread")),
    ("file_service_type=random:0", || runs("--file_service_type=random:0") && runs("--file_service_type=roundrobin:")),
    ("sync_file_range=write:x", || runs("--sync_file_range=write:x") && runs("--sync_file_range=write,bogus")),
    ("random_distribution=zipf:0", || runs("--rw=randread --random_distribution=zipf:0")),
    ("verify=none", || run("--parse-only --name=a --verify=none").status == Some(1)),
    ("cpus_allowed=foo", || runs("--cpus_allowed=foo")),
    ("ignore_error=-5", || runs("--ignore_error=-5") && runs("--ignore_error=5x")),
    ("-foo", || run("--name=a --ioengine=null --size=4k -iodepht=4").said.contains("odepht=4")),
    ("--direct --size=4k", || run("--name=a --direct --size=4k").said.contains("direct=--size=4k")),
    ("filename before directory", || run("--name=a --filename=f --directory=/proc --size=4k --rw=write").holds("f")),
    ("[name without", || file_says("[abc\nioengine=null\nsize=4k\n", "ab: (g=0)")),
    ("include of a file", || run_with("--parse-only jobs", "[a]\nioengine=null\nsize=4k\ninclude nosuch\n").status == Some(0)),
    ("size=${UNSET}", || file_says("[a]\nioengine=null\nsize=${FSDYNO_NOT_SET}\n", "failed parsing size=${FSDYNO_NOT_SET}")),
    ("--eta=bogus", || runs("--eta=bogus")),
    ("--readonly after the --name", || {
        let words = "--name=a --filename=f --size=4k --rw=write --name=b --filename=f --rw=read --readonly";
        !run("--name=a --filename=f --size=4k --rw=write --readonly").holds("f") && run(words).holds("f")
    }),
    ("--showcmd with jobs", || run("--name=a --ioengine=null --size=4k --showcmd").said.trim().is_empty()),
    ("--showcmd with blanks", || file_says("[a]\nioengine=null\nsize=4k\n", "") && {
        run_with("--showcmd jobs", "[a]\nfilename=a b\n").said.contains("--filename=a b ")
    }),
];

/// The beginning of a row, an option with a text, and the numbers that fio reads.
type Read = (&'static str, (&'static str, &'static str), &'static [&'static str]);

#[rustfmt::skip]
const READ: &[Read] = &[
    ("size=1.5g", ("size", "1.5g"), &["1"]),
    ("size=4x", ("size", "4x"), &["4"]),
    ("size=4x", ("size", "0x1k"), &["1"]),
    ("size=4x", ("size", "4kbs"), &["4096"]),
    ("size=4x", ("size", "50x"), &["80"]),
    ("number_ios=5%", ("number_ios", "5%"), &["18446744073709551610"]),
    ("size=50.5%", ("size", "50.5%"), &["50"]),
    ("size=50.5%", ("size", " 50%"), &["50"]),
    ("size=50.5%", ("size", "50%x"), &["18446744073709551565"]),
    ("size=65536.0", ("size", "65536.0"), &["65536"]),
    ("size=65536.0", ("fsync", "10 // text"), &["10"]),
    ("runtime=10sec", ("runtime", "10sec"), &["10"]),
    ("runtime=10sec", ("runtime", "1min"), &["1"]),
    ("runtime=10sec", ("runtime", "1h30m"), &["1"]),
    ("runtime=1.5s", ("runtime", "1.5s"), &["1000000"]),
    ("runtime=1.5s", ("runtime", "0x10"), &["16"]),
    ("startdelay=5s-10s", ("startdelay", "5s-10s"), &["5", "10000000"]),
    ("bwavgtime=1s", ("bwavgtime", "1s"), &["1"]),
    ("size= 64k", ("size", " 64k"), &["64"]),
    ("iodepth= 4", ("iodepth", " 4"), &["4"]),
    ("bs=4k-16k", ("bs", "4k-16k"), &["4096", "16384"]),
    ("bs=4k-16k", ("bs", "4k:16k"), &["4096", "16384"]),
    ("filesize=4k-", ("filesize", "4k-"), &["4096", "-"]),
    ("filesize=4k-", ("filesize", "-4k"), &["18446744073709547520", "4096"]),
    ("filesize=4k-", ("filesize", "4096-0x2000"), &["16534", "8192"]),
    ("filesize=4k-", ("number_ios", "0x"), &["0"]),
    ("nrfiles=4294967297", ("size", "16384p"), &["0"]),
    ("direct=1k", ("direct", "1k"), &["1"]),
    ("direct=1k", ("thread", "1x"), &["1"]),
    ("size=4KiB", ("size", "4KiB"), &["4000"]),
    ("size=-1", ("size", "-1"), &["18446744073709551615", "1"]),
    ("percentile_list=50,99", ("percentile_list", "50,99"), &["50.000000"]),
    ("percentile_list=50:199", ("percentile_list", "50:199"), &["50.000000"]),
];

/// The rows whose text fio reads otherwise.
fn misread() -> Vec<&'static str> {
    let all: Vec<Written> =
        READ.iter().map(|(_, (option, text), _)| Written { option, text: (*text).to_owned() }).collect();
    let readings = parsers::fio(&all, Depth::Numbers).expect("looked at before");
    let is_so = |numbers: &[&str], reading: &Reading| matches!(reading, Reading::Read(read) if read == numbers);
    let both = READ.iter().zip(&readings);
    both.filter(|((.., numbers), reading)| !is_so(numbers, reading)).map(|((row, ..), _)| *row).collect()
}

/// Rows that are tested elsewhere, or cannot be tested with 3.33.
const ELSEWHERE: &[&str] = &[
    // The table of operations, engines and files.
    "ioengine=",
    "exec_prerun",
    // The tests of control groups.
    "cgroup",
    "uid, gid",
    "mem=mmap:FILE",
    "hugepage-size",
    // It takes fio ten seconds.
    "numjobs=0",
    // bc is not installed everywhere.
    "8*$pagesize",
    // Streams: the cases of refusals compare both.
    "list of valid values",
    "several errors",
    "options that are not built",
];

#[test]
fn each_chosen_difference_of_the_language_is_one() {
    if FIO.is_none() {
        testkit::skip("fio is not installed");
        return;
    }
    let untrue = TRIES.iter().filter(|(_, is_so)| !is_so()).map(|(row, _)| *row);
    let wrong: Vec<&str> = untrue.chain(misread()).collect();
    assert!(wrong.is_empty(), "fio does otherwise: {wrong:#?}");
    let tried = || TRIES.iter().map(|(row, _)| *row).chain(READ.iter().map(|(row, ..)| *row));
    let known = || tried().chain(ELSEWHERE.iter().copied());
    let rows = || of_language().iter().map(|difference| difference.written);
    let untried: Vec<&str> = rows().filter(|row| !known().any(|known| row.starts_with(known))).collect();
    assert!(untried.is_empty(), "nothing tries what fio does: {untried:#?}");
    let gone: Vec<&str> = known().filter(|known| !rows().any(|row| row.starts_with(known))).collect();
    assert!(gone.is_empty(), "no row begins so any more: {gone:#?}");
}
