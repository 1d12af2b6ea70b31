//! The program built for Windows, run under Wine. This shows that calls are used as they should be and that data arrives;
//! it shows nothing of costs, and nothing of alignment, which Wine does not ask for.

mod archive;
mod bench;
mod guards;
mod ledger;
mod orders;
mod paths;
mod questions;
mod reports;

use bench::{built, escaped, wine};
use testkit::{TestDirectory, text};

#[test]
fn the_program_starts_and_says_which_it_is() {
    let Some(wine) = wine() else { return };
    assert!(wine.fsdyno(&["--version"]).starts_with("fsdyno "));
    let engines = wine.fsdyno(&["--enghelp"]);
    let listed: Vec<&str> = engines.lines().skip(1).map(str::trim).collect();
    assert_eq!(listed, ["sync", "psync", "mmap", "windowsaio", "null", "sim"]);
}

#[test]
fn the_null_engine_does_all_that_it_is_asked_for() {
    let Some(wine) = wine() else { return };
    let job = wine.job(&["--name=a", "--ioengine=null", "--size=64m", "--bs=4k", "--rw=randread", "--iodepth=8"]);
    assert_eq!((&job["read"]["total_ios"], &job["error"]), (&16_384.into(), &0.into()));
    // A 0 in a report that nobody counted has a note.
    let report = wine.fsdyno(&["--name=a", "--ioengine=null", "--size=4k"]);
    assert!(report.contains("ctx, majf and minf are not measured"), "{report}");
}

/// What Windows engines have written, this system's program reads back and verifies, and the other way round.
#[test]
fn data_written_there_is_read_here_and_the_other_way_round() {
    let Some(wine) = wine() else { return };
    let place = TestDirectory::new();
    let directory = escaped(place.path("").as_path());
    for engine in ["psync", "sync", "windowsaio", "mmap"] {
        let (engine_word, name) = (format!("--ioengine={engine}"), format!("--name={engine}"));
        let shape = [&name, "--size=4m", "--bs=16k", "--verify=crc32c", "--randseed=7"];
        let there = [&[&directory, &engine_word, "--thread", "--direct=1", "--iodepth=16"], &shape[..]].concat();
        let wrote = wine.job(&[&there[..], &["--rw=randwrite", "--fsync=32"]].concat());
        assert_eq!((&wrote["write"]["total_ios"], &wrote["error"]), (&256.into(), &0.into()), "{engine}");
        let read = place.run(&[&shape[..], &["--ioengine=psync", "--rw=read", "--output-format=json"]].concat()).good();
        assert_eq!(read.document()["jobs"][0]["read"]["total_ios"], 256, "{engine}");
        let read = wine.job(&[&there[..], &["--rw=randread"]].concat());
        assert_eq!((&read["read"]["total_ios"], &read["error"]), (&256.into(), &0.into()), "{engine}");
    }
}

#[test]
fn what_is_not_built_is_refused_with_its_name_and_a_next_step() {
    let Some(wine) = wine() else { return };
    let fsdyno = built("fsdyno", "fsdyno");
    for (words, says) in [
        (&["--ioengine=libaio", "--rw=read"][..], "on Windows use windowsaio, or psync"),
        (&["--ioengine=pvsync", "--rw=read"][..], "Windows has no such calls; use windowsaio, or psync"),
        (&["--ioengine=posixaio", "--rw=read"][..], "on Windows use windowsaio, or psync"),
        (&["--ioengine=io_uring", "--rw=read"][..], "on Windows use windowsaio, or psync"),
        (&["--ioengine=psync", "--rw=write", "--sync_file_range=write:8"][..], "Windows has no sync_file_range"),
        (&["--ioengine=psync", "--rw=randtrim"][..], "trims are for block devices of Linux"),
    ] {
        let place = testkit::directory();
        let ran = wine.run(fsdyno, &[&[escaped(place.path()).as_str(), "--name=a", "--size=1m"], words].concat());
        let said = text(&ran.stdout) + &text(&ran.stderr);
        assert!(!ran.status.success() && said.contains(says), "{words:?}: {said}");
        assert_eq!(testkit::names(place.path()), [""; 0], "nothing was written");
    }
}

#[test]
fn a_command_is_not_timed_and_nothing_is_made() {
    let Some(wine) = wine() else { return };
    let place = testkit::directory();
    let ran = wine.run(built("fsdyno", "fsdyno"), &["time", &bench::windows(place.path()), "--", "cmd"]);
    let said = text(&ran.stdout) + &text(&ran.stderr);
    assert!(ran.status.code() == Some(2) && said.contains("cannot be timed on Windows yet"), "{said}");
    assert!(said.contains("fsdyno compare"), "a next step: {said}");
    assert_eq!(testkit::names(place.path()), [""; 0], "nothing was made");
}

/// Requests cost no allocation: the engines' own counter, and that of whole runs.
#[test]
fn nothing_is_allocated_per_request() {
    let Some(wine) = wine() else { return };
    let engines = built("engine", "allocation");
    let runs = built("run", "allocation");
    for program in [engines, runs] {
        let ran = wine.run(program, &["--show-output"]);
        assert!(ran.status.success(), "{}\n{}", text(&ran.stdout), text(&ran.stderr));
    }
}

/// The kit that all engines pass.
#[test]
fn the_conformance_kit_passes() {
    let Some(wine) = wine() else { return };
    let kit = built("engine", "conformance");
    let ran = wine.run(kit, &["--test-threads=1"]);
    assert!(ran.status.success(), "{}\n{}", text(&ran.stdout), text(&ran.stderr));
}
