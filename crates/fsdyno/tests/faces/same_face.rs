//! Tests that three names have one face.

use testkit::{RunResult, Running, TestDirectory};

/// Runs `words` under each name of the fio face.
fn under_each_name(words: &str) -> Vec<(&'static str, RunResult)> {
    let place = TestDirectory::new();
    std::os::unix::fs::symlink(testkit::program(), place.path("fio")).expect("a link is made");
    let run = |mut command: std::process::Command| Running::start(&mut command).finish();
    let link = place.path("fio").to_string_lossy().into_owned();
    vec![
        ("no word", run(place.command(words))),
        ("the word fio", run(place.command(&format!("fio {words}")))),
        ("a link called fio", run(place.program(&link, words))),
    ]
}

#[track_caller]
fn assert_same(words: &str) {
    let ran = under_each_name(words);
    for (name, other) in &ran[1..] {
        let first = &ran[0].1;
        assert_eq!(
            (first.status, &first.stdout, &first.stderr),
            (other.status, &other.stdout, &other.stderr),
            "{words}: {name}"
        );
    }
}

#[test]
fn what_is_printed_without_a_run_is_the_same() {
    for words in ["--help --version", "--cmdhelp=bs", "--enghelp", "--name=a --iodepth=x", "nosuch.fio"] {
        assert_same(words);
    }
    // The program uses its own name, unless the fio face was named.
    for words in ["--version", "--help", ""] {
        let ran = under_each_name(words);
        let [(_, own), (_, word), (_, link)] = &ran[..] else { panic!("three names") };
        assert_eq!((word.status, &word.stdout, &word.stderr), (link.status, &link.stdout, &link.stderr), "{words}");
        assert!(format!("{}{}", own.stdout, own.stderr).contains("fsdyno"), "{own:?}");
        assert_ne!((&own.stdout, &own.stderr), (&link.stdout, &link.stderr), "{words}");
    }
}

#[test]
fn a_run_is_the_same() {
    // On a virtual clock all figures are determined.
    let words = "--name=a --ioengine=sim --sim_service=100us --size=400k --rw=randread --output-format=json";
    let ran = under_each_name(words);
    let reads: Vec<_> = ran.iter().map(|(_, ran)| ran.document()["jobs"][0]["read"].clone()).collect();
    assert_eq!(reads[0]["total_ios"], 100);
    assert_eq!(reads[0], reads[1]);
    assert_eq!(reads[0], reads[2]);
}

#[test]
fn a_link_called_fio_knows_no_question() {
    // fio would read a job file of that name.
    let ran = under_each_name("report");
    assert!(ran[2].1.stderr.contains("unable to open 'report' job file"), "{:?}", ran[2]);
    assert!(ran[0].1.stderr.contains("next: `fsdyno help report` shows all"), "{:?}", ran[0]);
}
