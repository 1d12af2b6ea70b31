//! Tests where reports go, and what happens when they cannot be written.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use crate::program::results;
use testkit::{RunResult, Running, TestDirectory};

const JOB: &str = "--name=a --ioengine=null --size=64k --rw=read";

/// Runs `words` with a full disk as stdout.
fn on_a_full_disk(words: &str) -> RunResult {
    let place = TestDirectory::new();
    let full = File::options().write(true).open("/dev/full").expect("/dev/full is there");
    Running::start_with_stdout(&mut place.command(words), full).finish()
}

#[test]
fn several_formats_come_in_the_order_of_fio() {
    let ran = TestDirectory::new().run(&format!("{JOB} --output-format=normal,json,terse"));
    assert_eq!(ran.status, Some(0));
    let terse = ran.stdout.find("\n3;fio-3.42").expect("a terse line");
    let json = ran.stdout.find("\n{\n").expect("a document");
    let normal = ran.stdout.find("\na: (groupid=0").expect("a report");
    let starting = ran.stdout.find("Starting 1 process").expect("the banner");
    assert!(starting < terse && terse < json && json < normal, "{}", ran.stdout);
}

#[test]
fn a_file_takes_what_stdout_would() {
    let place = TestDirectory::new();
    let ran = place.run(&format!("{JOB} --output=report.txt"));
    assert_eq!((ran.status, ran.stdout.as_str(), ran.stderr.as_str()), (Some(0), "", ""));
    let report = place.read("report.txt");
    assert!(report.starts_with("a: (g=0): rw=read"), "{report}");
    assert!(results(&report).contains("READ: bw="), "{report}");
}

#[test]
fn errors_go_to_stderr_and_to_the_file() {
    let place = TestDirectory::new();
    let ran = place.run(&format!("{JOB} --name=bad --filename=nosuch --ioengine=psync --size=0 --output=report.txt"));
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(1), ""));
    let report = place.read("report.txt");
    let complaint = "bad: you need to specify size";
    assert!(ran.stderr.contains(complaint) && report.contains(complaint), "{}\n{report}", ran.stderr);
    assert!(report.contains("READ: bw="), "the other job is reported: {report}");
}

#[test]
fn a_document_in_a_file_is_not_mixed_with_errors() {
    let place = TestDirectory::new();
    let ran = place.run(&format!(
        "{JOB} --name=bad --filename=nosuch --ioengine=psync --size=0 --output=report.json --output-format=json"
    ));
    assert_eq!(ran.status, Some(1));
    assert!(ran.stderr.contains("bad: you need to specify size"), "{}", ran.stderr);
    let document: serde_json::Value = serde_json::from_str(&place.read("report.json")).expect("one document");
    assert_eq!(document["jobs"][0]["read"]["io_bytes"], 65536);
}

#[test]
fn a_file_that_cannot_be_opened_is_told_before_the_run() {
    let place = TestDirectory::new();
    let ran = place.run("--name=a --size=64k --rw=write --output=no/such/place");
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(1), ""));
    assert!(ran.stderr.contains("output file open error: No such file or directory"), "{}", ran.stderr);
    assert!(ran.stderr.contains("--output=no/such/place"), "{}", ran.stderr);
    assert_eq!(place.names(""), [""; 0], "nothing was run");
}

#[test]
fn a_full_disk_under_the_report_is_told() {
    let place = TestDirectory::new();
    let record = place.path("run.json");
    let words = format!("{JOB} --record={}", record.display());
    for words in
        [JOB.to_owned(), format!("{JOB} --output-format=json"), words, "fio --version".into(), "fio --help".into()]
    {
        let ran = on_a_full_disk(&words);
        assert_eq!(ran.status, Some(1), "{words}");
        assert!(ran.stderr.contains("No space left on device"), "{words}: {}", ran.stderr);
    }
    // The guided face's own status for failures.
    let ran = on_a_full_disk(&format!("report {}", record.display()));
    assert_eq!(ran.status, Some(2));
}

#[test]
fn a_full_disk_under_the_output_file_is_told() {
    let ran = TestDirectory::new().run(&format!("{JOB} --output=/dev/full"));
    assert_eq!(ran.status, Some(1));
    assert!(ran.stderr.contains("No space left on device"), "{}", ran.stderr);
}

#[test]
fn the_record_survives_a_report_that_gets_lost() {
    let place = TestDirectory::new();
    let full = File::options().write(true).open("/dev/full").expect("/dev/full is there");
    let words = format!("{JOB} --record=run.json --output-format=json");
    assert_eq!(Running::start_with_stdout(&mut place.command(&words), full).finish().status, Some(1));
    assert_eq!(place.run("report run.json").status, Some(0));
}

#[test]
fn a_reader_that_goes_away_ends_the_run() {
    let place = TestDirectory::new();
    let words = format!("{JOB} --time_based --runtime=600 --status-interval=100ms");
    let mut child =
        place.command(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
    assert!(line.starts_with("a: (g=0)"), "{line}");
    let output = child.wait_with_output().expect("it ends");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(stderr, "", "nobody needs a message");
    assert!(!output.status.success(), "the report did not get through");
}

#[test]
fn a_reader_of_the_help_may_go_away() {
    let place = TestDirectory::new();
    let mut child = place.command("--cmdhelp=all").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert!(output.status.success());
}

#[test]
fn without_a_stdout_the_report_does_not_get_into_a_data_file() {
    // The first opened file could get the number of the closed stream.
    let place = TestDirectory::new();
    let words = "--name=a --filename=data --size=64k --rw=write --zero_buffers=1";
    let mut command = place.program("sh", "");
    command.arg("-c").arg("exec \"$@\" >&-").arg("sh").arg(testkit::program()).args(words.split_whitespace());
    Running::start(&mut command).finish();
    assert_eq!(std::fs::read(place.path("data")).expect("the data"), vec![0; 65536]);
}
