//! Tests where findings and notes appear on the fio face: `--findings` and FSDYNO_FINDINGS.

use serde_json::Value;
use testkit::{RunResult, Running, TestDirectory};

/// A depth that a synchronous engine does not have, sampled latencies, and an option without effect.
const CAUTIONS: &str =
    "--name=a --filename=file --size=4m --rw=randread --ioengine=psync --iodepth=32 --gtod_reduce=1 --max-jobs=9";
/// A line without remarks.
const PLAIN: &str = "--name=a --ioengine=null --size=4m --rw=randread";
const BLOCK: &str = "\nFindings and notes (fsdyno):\n";

fn run(words: &str) -> (TestDirectory, RunResult) {
    let place = TestDirectory::new();
    let ran = place.run(&format!("fio {words}")).good();
    (place, ran)
}

#[test]
fn the_normal_report_ends_with_them() {
    let (_, ran) = run(CAUTIONS);
    assert_eq!(ran.stderr, "");
    let (report, block) = ran.stdout.split_once(BLOCK).unwrap_or_else(|| panic!("no block: {}", ran.stdout));
    assert!(
        report.contains("Run status group 0 (all jobs):") && report.contains("queue depth will be capped"),
        "{report}"
    );
    assert!(block.contains("[depth-not-reached]\n") && block.contains("    next: "), "{block}");
    assert!(block.contains("  note: max-jobs has no effect") && block.contains("one I/O in 64 was timed"), "{block}");
    assert!(block.lines().all(|line| line.starts_with("  ")), "it is the last: {block}");
    let (place, ran) = run(&format!("{CAUTIONS} --output=report"));
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""));
    assert!(place.read("report").contains(BLOCK));
}

#[test]
fn who_looks_for_rows_of_fio_finds_none_of_them() {
    let globals = CAUTIONS.replace("--name=a", "");
    let words = format!("{globals} --name=seqread --numjobs=2 --name=randwrite --rw=randwrite");
    let (_, ran) = run(&words);
    let (_, block) = ran.stdout.split_once(BLOCK).unwrap_or_else(|| panic!("no block: {}", ran.stdout));
    assert!(block.contains("seqread") && block.contains("randwrite"), "{block}");
    for row in ["read:", "write:", "iops", "IOPS", "BW=", "bw=", "lat (", "clat", "slat", "runt=", "READ:", "WRITE:"] {
        assert!(!block.contains(row), "{row} is in {block}");
    }
}

#[test]
fn a_document_has_an_object_where_there_is_a_caution() {
    let (_, ran) = run(&format!("{CAUTIONS} --output-format=json"));
    assert_eq!(ran.stderr, "");
    let own = &ran.document()["fsdyno"];
    assert!(
        own["findings"].as_array().is_some_and(|found| found.iter().any(|one| one["id"] == "depth-not-reached")),
        "{own}"
    );
    assert!(own["notes"].as_array().is_some_and(|notes| !notes.is_empty()), "{own}");
    assert_eq!(own.get("nodes"), None, "evidence is for who asks");
    let (_, ran) = run(&format!("{PLAIN} --output-format=json"));
    assert_eq!((ran.document().get("fsdyno"), ran.stderr.as_str()), (None, ""));
}

#[test]
fn terse_has_none() {
    let (_, ran) = run(&format!("{CAUTIONS} --minimal"));
    assert_eq!((ran.stdout.lines().count(), ran.stderr.as_str()), (1, ""), "{}", ran.stdout);
}

#[test]
fn a_report_of_what_is_done_so_far_has_none() {
    let (_, ran) = run(
        "--name=a --filename=file --size=4m --rw=read --iodepth=32 --time_based --runtime=2 --status-interval=500ms \
         --output-format=json",
    );
    let documents = ran.documents();
    assert!(documents.len() >= 2 && documents[0].get("fsdyno").is_none(), "{}", ran.stdout);
    assert!(documents.last().is_some_and(|last| last["fsdyno"].is_object()), "{}", ran.stdout);
}

#[test]
fn all_are_on_stderr_and_off_are_nowhere() {
    let (_, all) = run(&format!("{CAUTIONS} --findings=all"));
    for part in ["depth will be capped", "max-jobs has no effect", "one I/O in 64 was timed"] {
        assert!(format!("{}{}", all.stdout, all.stderr).contains(part), "no {part}: {}", all.stderr);
    }
    assert!(!all.stdout.contains(BLOCK), "{}", all.stdout);
    let (_, off) = run(&format!("{CAUTIONS} --findings=off"));
    assert!(off.stderr.is_empty() && !off.stdout.contains(BLOCK), "{}{}", off.stdout, off.stderr);
    let (_, off) = run(&format!("{CAUTIONS} --findings=off --output-format=json"));
    assert_eq!((off.document().get("fsdyno"), off.stderr.as_str()), (None, ""));
    let (_, all) = run(&format!("{CAUTIONS} --findings=all --output-format=json"));
    assert_eq!(all.document().get("fsdyno"), None);
    assert!(all.stderr.contains("one I/O in 64 was timed"), "{}", all.stderr);
}

#[test]
fn the_variable_is_the_default_of_the_option() {
    let under = |value: &str, words: &str| {
        let place = TestDirectory::new();
        Running::start(place.command(&format!("fio {CAUTIONS} {words}")).env("FSDYNO_FINDINGS", value)).finish()
    };
    assert!(under("all", "").stderr.contains("max-jobs has no effect"));
    assert_eq!(under("all", "--findings=off").stderr, "");
    assert!(!under("off", "").stdout.contains(BLOCK));
    let refused = under("loud", "");
    assert!(
        refused.status == Some(1) && refused.stderr.contains("loud is none of auto, all, off"),
        "{}",
        refused.stderr
    );
}

/// script(1) gives the program a terminal.
#[test]
fn a_terminal_has_them_at_once() {
    if !testkit::has("script") {
        return;
    }
    let place = TestDirectory::new();
    let line = format!("{} fio {CAUTIONS} --output-format=json --output=report", testkit::program());
    let ran = Running::start(&mut place.program("script", &["-qec", &line, "/dev/null"])).finish();
    assert!(ran.stdout.contains("max-jobs has no effect") && ran.stdout.contains("was timed"), "{}", ran.stdout);
    let document: Value = serde_json::from_str(&place.read("report")).expect("one document");
    assert!(document["fsdyno"].is_object());
}

/// fio's own messages on stderr, or before its report, stay there.
#[test]
fn what_fio_says_is_said_where_fio_says_it() {
    let (_, ran) = run(&format!("{PLAIN} --time_based"));
    assert_eq!(ran.stderr.trim(), "fio: time_based requires a runtime/timeout setting");
    let (_, ran) = run("--name=a --ioengine=psync --filename=file --size=64k --rw=read --iodepth=4 --findings=off");
    assert!(
        ran.stderr.is_empty() && ran.stdout.contains("\nnote: both iodepth >= 1 and synchronous"),
        "{}",
        ran.stdout
    );
}
