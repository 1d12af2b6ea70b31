//! The frame of the guided face: what is kept, what is left, what is refused.

use std::fs;

use results::Question;
use testkit::{Place, Ran, Running, wait_until};

fn place() -> Place {
    Place::with(&["data"])
}

const MEASURE: &str = "measure data --size=16m --store store";

fn measure(place: &Place, more: &str) -> Ran {
    place.run(&format!("{MEASURE} --quick {more}"))
}

fn is_empty(place: &Place) -> bool {
    place.names("data").is_empty()
}

#[test]
fn a_measurement_is_printed_kept_and_leaves_nothing() {
    let place = place();
    let Ran { stdout, stderr, .. } = measure(&place, "").good();
    assert!(is_empty(&place));
    for words in [
        "\nwrite + fdatasync ",
        "random 4k, deep",
        "\ntrust  ",
        "\nrand-read        32 ",
        "IOPS = concurrency / mean latency",
        "Throughput = IOPS x block size",
        "a file of 16 MiB",
    ] {
        assert!(stdout.contains(words), "{stdout}");
    }
    assert!(stdout.lines().all(|line| line.chars().count() <= 80 || line.contains('/')), "{stdout}");
    assert!(stderr.contains("[10/10]"), "without a terminal each step leaves a line: {stderr}");
    let kept = place.studies("store");
    assert_eq!(kept.len(), 1);
    assert_eq!((kept[0].question, kept[0].rows.len(), kept[0].complete), (Question::Measure, 10, true));
    assert_eq!(place.run("show last --store store").stdout, stdout, "a kept run prints the same");
    let listed = place.run("runs --store store").stdout;
    assert!(listed.contains(&kept[0].id), "{listed}");
}

#[test]
fn the_sums_of_the_sentences_are_those_of_the_table() {
    let place = place();
    let study = measure(&place, "--json").study();
    let read = study.rows.iter().find(|row| row.pattern == "seq-read-64k").unwrap();
    let figures = read.figures().unwrap();
    // Requests are counted when they are issued, bytes when they have come back: those in flight at either end differ.
    let apart = (figures.total.bytes / 65536).abs_diff(figures.total.operations);
    assert!(apart <= 2 * 32, "{figures:?}");
    let product = figures.total.operations as f64 / figures.total.iops * figures.total.bytes_per_s;
    assert!((figures.total.bytes as f64 / product - 1.0).abs() < 0.001, "{figures:?}");
    let begins = |sentence: usize, words| study.sentences[sentence].starts_with(words);
    assert!(begins(0, "IOPS = ") && begins(1, "Throughput = ") && begins(2, "No network"), "{:?}", study.sentences);
    // Each row can be run again by itself.
    assert!(study.rows.iter().all(|row| row.command.iter().any(|word| word.starts_with("--rw="))));
}

#[test]
fn runs_are_repeated_and_tests_chosen() {
    let place = place();
    let words = "measure data --size=16m --no-store --json -q --runs=3 --runtime=1 --only=sync-latency,read-latency";
    let study = place.run(&format!("{words} --engine=psync --buffered")).study();
    let tests: Vec<(&str, u32)> = study.rows.iter().map(|row| (row.pattern.as_str(), row.round)).collect();
    let one_run = |round| [("fill", round), ("read-latency", round), ("sync-latency", round)];
    assert_eq!(tests, [one_run(0), one_run(1), one_run(2)].concat());
    let has = |row: &results::Row, word: &str| row.command.iter().any(|known| known == word);
    assert!(study.rows.iter().all(|row| has(row, "--ioengine=psync") && has(row, "--direct=0")));
    assert!(study.rows[2].figures().unwrap().sync.is_some(), "each write is followed by an fdatasync");
    let summary = present::Headline::of(&study);
    assert_eq!(summary.tests.iter().map(|test| test.runs).collect::<Vec<_>>(), [3, 3]);
    assert!(summary.tests[0].intervals.iops.is_some(), "{summary:?}");
}

#[test]
fn quiet_shows_nothing_and_no_store_keeps_nothing() {
    let place = place();
    assert_eq!(place.run("measure data --quick --size=16m --quiet --no-store").good().stderr, "");
    assert_eq!(place.names(""), ["data"]);
}

#[test]
fn markdown_is_a_table_for_a_ticket() {
    let place = place();
    let stdout = measure(&place, "--markdown").stdout;
    assert!(stdout.contains("| test ") && stdout.contains("|---"), "{stdout}");
}

#[test]
fn an_interrupt_ends_it_with_what_there_is_and_nothing_left() {
    let place = place();
    let mut running = place.start(MEASURE);
    running.wait_until("a directory", |_| !is_empty(&place));
    running.signal("INT");
    assert_eq!(running.finish().status, Some(130));
    assert!(is_empty(&place));
    let kept = place.studies("store");
    assert!(!kept[0].complete);
}

#[test]
fn clean_removes_what_a_killed_run_left() {
    let place = place();
    place.write("data/mine", "mine");
    let mut running = place.start(MEASURE);
    let marked =
        || fs::read_dir(place.path("data")).unwrap().flatten().any(|entry| entry.path().join(".fsdyno-work").exists());
    running.wait_until("a marked directory", |_| marked());
    let busy = place.run("clean data").stdout;
    assert!(busy.contains("still uses it"), "{busy}");
    let kept = |name: &String| name.ends_with(".json");
    running.wait_until("a study", |_| place.path("store").is_dir() && place.names("store").iter().any(kept));
    running.signal("KILL");
    running.finish();
    assert_eq!(place.names("data").len(), 2);
    let kept = place.studies("store");
    assert!(!kept[0].complete && !kept[0].rows.is_empty(), "what it had found by then is kept");
    // The process that did the work dies a moment after the one that was killed.
    wait_until("the removal", || place.run("clean data").good().stdout.contains(": removed"));
    assert_eq!(place.read("data/mine"), "mine");
    assert_eq!(place.names("data"), ["mine"]);
    let again = place.run("clean data").stdout;
    assert!(again.starts_with("no fsdyno files are left"), "{again}");
}

#[test]
fn what_cannot_be_measured_is_refused_with_status_2() {
    let place = place();
    place.write("data/file", "x");
    place.write("store-is-a-file", "x");
    let cases: [(&str, &str); 10] = [
        ("measure data/missing", "does not exist"),
        ("measure data/file", "is not a directory"),
        ("measure /proc --no-store", "kernel filesystem"),
        ("measure data --expect nfs --no-store", "should be nfs, but it is"),
        ("measure data --size 4x", "powers of 1,024"),
        ("measure data --only seq-raed", "seq-read"),
        ("measure data --engine null", "use one of"),
        ("measure data --size 1048576t --no-store", "below the limit of 90 %"),
        ("measure data --store store-is-a-file", "cannot save runs in"),
        ("show nothing --no-such-option", "unexpected argument"),
    ];
    for (words, reason) in cases {
        place.run(words).refused(reason);
    }
    assert_eq!(place.names("data"), ["file"], "a refusal writes nothing");
}

#[test]
fn a_directory_with_a_colon_and_blanks_works() {
    let place = place();
    fs::create_dir(place.path("data/a:b c")).unwrap();
    place.run(&["measure", "data/a:b c", "--quick", "--size=16m", "--no-store", "-q"]).good();
    assert!(place.names("data/a:b c").is_empty());
}

#[test]
fn without_a_home_the_answer_is_printed_and_not_kept() {
    let place = place();
    let mut command = place.command("measure data --quick --size=16m");
    let ran = Running::start(command.env_remove("HOME").env_remove("XDG_DATA_HOME")).finish().good();
    let stderr = ran.stderr;
    assert!(stderr.contains("neither XDG_DATA_HOME nor HOME is set; this run is not saved"), "{stderr}");
    assert!(!stderr.contains("saved as") && !ran.stdout.is_empty(), "{stderr}");
    assert_eq!(place.names(""), ["data"]);
}
