//! `sweep`, `curve` and the live stream of the built program.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use results::{Question, Row, Study};
use serde_json::Value;

/// A directory on the filesystem of the build, and a store.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        fs::create_dir(folder.path().join("data")).unwrap();
        Place { folder }
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn file(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    /// The question about the directory, with the words after it.
    fn command(&self, question: &str, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fsdyno"));
        command.arg(question).arg(self.data()).args(words).args(["--store", &self.file("store")]);
        command
    }

    fn ask(&self, question: &str, words: &[&str]) -> Output {
        self.command(question, words).output().unwrap()
    }

    fn kept(&self) -> Vec<Study> {
        let entries = fs::read_dir(self.file("store")).unwrap().map(|entry| entry.unwrap().path());
        entries.map(|path| Study::from_json(&fs::read_to_string(path).unwrap()).unwrap()).collect()
    }
}

const SMALL: [&str; 2] = ["--size=16m", "--runtime=1"];

fn with<'a>(words: &[&'a str]) -> Vec<&'a str> {
    [&SMALL[..], words].concat()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn is_empty(directory: &Path) -> bool {
    fs::read_dir(directory).unwrap().next().is_none()
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

/// Sum of a key over all lines of a step.
fn sum(lines: &[Value], step: usize, key: &str) -> u64 {
    lines.iter().filter(|line| line["step"] == step).filter_map(|line| line.get(key)?.as_u64()).sum()
}

fn operations(row: &Row) -> (u64, u64) {
    let total = row.figures().unwrap().total;
    (total.operations, total.bytes)
}

#[test]
fn a_sweep_has_a_point_per_depth_and_kind_and_leaves_nothing() {
    let place = Place::new();
    let output = place.ask("sweep", &with(&["--iodepth=1..4", "--bs=4k,64k", "--rw=randread", "--json"]));
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(stderr.contains("6 points, each 4 times for 0.250 s, in turns"), "{stderr}");
    assert!(is_empty(&place.data()));
    let study = Study::from_json(&text(&output.stdout)).unwrap();
    assert_eq!((study.question, study.complete, study.sentences.len()), (Question::Sweep, true, 2));
    let patterns: Vec<&str> = study.rows.iter().map(|row| row.pattern.as_str()).collect();
    // Forth, back, and from the next point on forth and back again.
    let turns = [[1, 2, 4], [4, 2, 1], [2, 4, 1], [1, 4, 2]].concat();
    let of_block = |block| turns.iter().map(move |depth| format!("randread-{block}-qd{depth}"));
    let wanted = ["4k", "64k"].into_iter().flat_map(of_block);
    assert_eq!(patterns, std::iter::once("fill".to_string()).chain(wanted).collect::<Vec<_>>());
    for row in &study.rows[1..] {
        let job = &row.run.as_ref().unwrap().jobs[0];
        assert_eq!(row.numbered("qd").unwrap().1, job.setup.depth);
        assert!(job.read.ios > 0 && !job.read.iops_samples.series.is_empty(), "{}", row.pattern);
    }
    let rounds: Vec<u32> = study.repeats(0, "randread-4k-qd2").map(|row| row.round).collect();
    assert_eq!(rounds, [0, 1, 2, 3]);
    assert!(study.notes.iter().any(|note| note.id == "turns" && note.text.contains("4 times")), "{:?}", study.notes);
}

#[test]
fn the_answer_fits_a_terminal() {
    let place = Place::new();
    let output = place.ask("sweep", &with(&["--iodepth=1,2,4", "--quiet"]));
    let stdout = text(&output.stdout);
    assert_eq!(text(&output.stderr), "");
    for words in ["4k random read\n", "in flight", "Mean latency (log scale) against IOPS", "└──"] {
        assert!(stdout.contains(words), "{words}: {stdout}");
    }
    let fits = |line: &str| line.chars().count() <= 80 || line.contains('/');
    assert!(stdout.lines().all(fits), "{stdout}");
}

#[test]
fn a_curve_offers_shares_of_the_capacity() {
    let place = Place::new();
    let output = place.ask("curve", &with(&["--iodepth=4", "--loads=150,20", "--json"]));
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(is_empty(&place.data()));
    let study = Study::from_json(&text(&output.stdout)).unwrap();
    let patterns: Vec<&str> = study.rows.iter().map(|row| row.pattern.as_str()).collect();
    assert_eq!(patterns, ["fill", "randread-4k-qd4", "randread-4k-load20", "randread-4k-load150"]);
    let capacity = study.rows[1].figures().unwrap().total.iops;
    for (row, load) in study.rows[2..].iter().zip([20.0, 150.0]) {
        let offered: f64 = row.option("rate_iops").unwrap().parse().unwrap();
        assert!((offered - capacity * load / 100.0).abs() <= 1.0, "{offered} of {capacity}");
        assert_eq!(row.option("rate_process"), Some("poisson"));
        let (response, service) = (row.response().unwrap(), row.figures().unwrap().total.latency.unwrap());
        assert_eq!(response.count, service.count);
        // A request cannot be done sooner after it was due than after it was begun.
        assert!(response.mean_ns >= service.mean_ns * 0.999, "{response:?} {service:?}");
    }
    assert!(study.sentences[0].contains("a closed loop reached"), "{:?}", study.sentences);
}

#[test]
fn the_differences_of_the_live_stream_add_up_to_the_record() {
    // Turns of a sweep end within a second: only what lasts longer leaves lines in between.
    adds_up("sweep", &["--iodepth=1,2", "--rw=randread,randrw", "--runtime=3"], 0);
    adds_up("curve", &["--iodepth=2", "--loads=40,80", "--runtime=3"], 3);
}

fn adds_up(question: &str, words: &[&str], lines_min: usize) {
    let place = Place::new();
    let live = place.file("live.ndjson");
    let output = place.ask(question, &[words, &["--size=16m", "--json", "--live", &live]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let study = Study::from_json(&text(&output.stdout)).unwrap();
    let lines = lines(&fs::read_to_string(&live).unwrap());
    assert_eq!(lines.first().unwrap()["event"], "open");
    let close = lines.last().unwrap();
    assert_eq!((close["event"].as_str(), close["study"].as_str()), (Some("close"), Some(study.id.as_str())));
    let running = lines.iter().filter(|line| line["event"] == "progress" && line["phase"] == "running");
    assert!(running.count() >= lines_min, "seconds of measuring leave lines");
    for (row, step) in study.rows.iter().zip(1..) {
        let (operations, bytes) = operations(row);
        let job = &row.run.as_ref().unwrap().jobs[0];
        assert_eq!(sum(&lines, step, "operations"), operations, "{}", row.pattern);
        assert_eq!(sum(&lines, step, "bytes"), bytes, "{}", row.pattern);
        assert_eq!(sum(&lines, step, "read_operations"), job.read.ios, "{}", row.pattern);
        assert_eq!(sum(&lines, step, "write_bytes"), job.write.bytes, "{}", row.pattern);
        assert_eq!(sum(&lines, step, "interval_ms"), job.read.runtime_ms.max(job.write.runtime_ms), "{}", row.pattern);
        let end = lines.iter().find(|line| line["event"] == "step_end" && line["step"] == step).unwrap();
        assert_eq!((&end["pattern"], &end["total_operations"]), (&row.pattern.clone().into(), &operations.into()));
    }
}

#[test]
fn on_standard_output_the_stream_is_alone() {
    let place = Place::new();
    let output = place.ask("measure", &["--quick", "--size=16m", "--live", "-"]);
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert_eq!(lines(&stdout).iter().filter(|line| line["event"] == "step_end").count(), 8);
    assert!(stderr.contains("4k random read, depth 32") && stderr.contains("IOPS = concurrency / latency"), "{stderr}");
}

#[test]
fn an_interrupt_keeps_the_points_there_are_and_leaves_nothing() {
    for question in ["sweep", "curve"] {
        let place = Place::new();
        let live = place.file("live.ndjson");
        let words = ["--size=16m", "--runtime=20", "--live", &live];
        let mut child = place.command(question, &words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // The file is filled, and the first point has begun.
        wait_until(|| fs::read_to_string(&live).is_ok_and(|text| text.matches("step_begin").count() > 1));
        let pid = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130), "{question}");
        assert!(is_empty(&place.data()), "{question}");
        let kept = place.kept();
        assert!(!kept[0].complete && kept[0].rows.len() >= 2, "{question}: {} rows", kept[0].rows.len());
        let lines = lines(&fs::read_to_string(&live).unwrap());
        assert_eq!(lines.last().unwrap()["complete"], false, "{question}");
    }
}

#[test]
fn what_cannot_be_asked_is_refused_with_its_reason() {
    let place = Place::new();
    let folder = place.file("");
    let cases: [(&str, &[&str], &str); 13] = [
        ("sweep", &["--iodepth=8..2"], "the range 8..2 is empty"),
        ("sweep", &["--iodepth=0"], "depth 0 has no request in flight"),
        ("sweep", &["--iodepth=5..7"], "no power of two lies in 5..7"),
        ("sweep", &["--iodepth=many"], "`many` is no depth"),
        ("sweep", &["--rw=randraed"], "randread"),
        ("sweep", &["--bs=4x"], "4x"),
        ("sweep", &["--runtime=0"], "0 is not in"),
        ("sweep", &["--bs=16m", "--size=16m"], "fewer than 4 blocks of 16m"),
        ("curve", &["--rw=randrw"], "both reads and writes"),
        ("curve", &["--loads=0"], "0 is not in"),
        ("curve", &["--expect=nfs"], "should be nfs"),
        ("sweep", &["--live=-", "--json"], "both need standard output"),
        ("sweep", &["--live", &folder], "cannot write the live stream"),
    ];
    for (question, words, reason) in cases {
        let output = place.ask(question, words);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {stderr}");
        assert!(stderr.contains(reason), "{words:?}: {stderr}");
        assert_eq!(text(&output.stdout), "", "{words:?}");
    }
    assert!(is_empty(&place.data()), "a refusal writes nothing");
}

/// Waits for something that another process does.
fn wait_until(mut done: impl FnMut() -> bool) {
    for _ in 0..6000 {
        if done() {
            return;
        }
        // A test may wait; the program itself has a clock for that.
        let _ = rustix::thread::nanosleep(&rustix::thread::Timespec { tv_sec: 0, tv_nsec: 10_000_000 });
    }
    panic!("it never happened");
}
