//! `sweep`, `curve` and the live stream of the built program.

use fsdyno_results::{Question, Row};
use serde_json::Value;
use testkit::{RunResult, TestDirectory};

fn place() -> TestDirectory {
    TestDirectory::with(&["data"])
}

/// The question about the directory, with the words after it.
fn ask(place: &TestDirectory, question: &str, words: &[&str]) -> RunResult {
    place.run(&asked(question, words))
}

fn asked<'a>(question: &'a str, words: &[&'a str]) -> Vec<&'a str> {
    [&[question, "data"], words, &["--store", "store"]].concat()
}

const SMALL: [&str; 2] = ["--size=16m", "--runtime=1"];

fn with<'a>(words: &[&'a str]) -> Vec<&'a str> {
    [&SMALL[..], words].concat()
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

/// Sum of a key over all lines of a step.
fn sum(lines: &[Value], step: usize, key: &str) -> u64 {
    let of_step = lines.iter().filter(|line| line["step"] == step);
    // The time of the last line is negative where the last look counted more than the step had.
    of_step.filter_map(|line| line.get(key)?.as_i64()).sum::<i64>() as u64
}

fn operations(row: &Row) -> (u64, u64) {
    // As the record has them, and the stream: issued.
    let jobs = row.run.iter().flat_map(|run| &run.jobs);
    jobs.map(fsdyno_results::JobRecord::mixed).fold((0, 0), |sum, mixed| (sum.0 + mixed.ios, sum.1 + mixed.bytes))
}

#[test]
fn a_sweep_has_a_point_per_depth_and_kind_and_leaves_nothing() {
    let place = place();
    let output = ask(&place, "sweep", &with(&["--iodepth=1..4", "--bs=4k,64k", "--rw=randread", "--json"])).good();
    let stderr = &output.stderr;
    assert!(stderr.contains("6 points, each 4 times for 0.250 s, alternating"), "{stderr}");
    assert!(place.names("data").is_empty());
    let study = output.study();
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
        assert!(job.directions.read.ios > 0 && !job.directions.read.iops_samples.series.is_empty(), "{}", row.pattern);
    }
    let rounds: Vec<u32> = study.repeats(0, "randread-4k-qd2").map(|row| row.round).collect();
    assert_eq!(rounds, [0, 1, 2, 3]);
    assert!(study.notes.iter().any(|note| note.id == "turns" && note.text.contains("4 times")), "{:?}", study.notes);
}

#[test]
fn the_answer_fits_a_terminal() {
    let place = place();
    let RunResult { stdout, stderr, .. } = ask(&place, "sweep", &with(&["--iodepth=1,2,4", "--quiet"]));
    assert_eq!(stderr, "");
    for words in ["4k random read\n", "in flight", "Mean latency (log scale) against IOPS", "└──"] {
        assert!(stdout.contains(words), "{words}: {stdout}");
    }
    let fits = |line: &str| line.chars().count() <= 80 || line.contains('/');
    assert!(stdout.lines().all(fits), "{stdout}");
}

#[test]
fn a_curve_offers_shares_of_the_capacity() {
    let place = place();
    let output = ask(&place, "curve", &with(&["--iodepth=4", "--bs=64k", "--loads=150,20", "--json"])).good();
    assert!(place.names("data").is_empty());
    let study = output.study();
    let patterns: Vec<&str> = study.rows.iter().map(|row| row.pattern.as_str()).collect();
    assert_eq!(patterns, ["fill", "randread-64k-qd4", "randread-64k-load20", "randread-64k-load150"]);
    let capacity = study.rows[1].figures().unwrap().total.iops;
    for (row, load) in study.rows[2..].iter().zip([20.0, 150.0]) {
        let offered: f64 = row.option("rate_iops").unwrap().parse().unwrap();
        assert!((offered - capacity * load / 100.0).abs() <= 1.0, "{offered} of {capacity}");
        assert_eq!(row.option("rate_process"), Some("poisson"));
        let (response, service) = (row.response_times().unwrap(), row.figures().unwrap().total.latency.unwrap());
        assert_eq!(response.count, service.count);
        // A request cannot be done sooner after it was due than after it was begun.
        assert!(response.mean_ns >= service.mean_ns * 0.999, "{response:?} {service:?}");
    }
    assert!(study.sentences[0].contains("A closed loop reached"), "{:?}", study.sentences);
}

#[test]
fn the_differences_of_the_live_stream_add_up_to_the_record() {
    // Turns of a sweep end within a second: only what lasts longer leaves lines in between.
    adds_up("sweep", &["--iodepth=1,2", "--rw=randread,randrw", "--bs=256k", "--runtime=3"], 0);
    adds_up("curve", &["--iodepth=2", "--loads=40,80", "--bs=256k", "--runtime=3"], 3);
}

fn adds_up(question: &str, words: &[&str], lines_min: usize) {
    let place = place();
    let output = ask(&place, question, &[words, &["--size=16m", "--json", "--live", "live.ndjson"]].concat()).good();
    let study = output.study();
    let lines = lines(&place.read("live.ndjson"));
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
        assert_eq!(sum(&lines, step, "read_operations"), job.directions.read.ios, "{}", row.pattern);
        assert_eq!(sum(&lines, step, "write_bytes"), job.directions.write.bytes, "{}", row.pattern);
        assert_eq!(
            sum(&lines, step, "interval_ms"),
            job.directions.read.runtime_ms.max(job.directions.write.runtime_ms),
            "{}",
            row.pattern
        );
        let end = lines.iter().find(|line| line["event"] == "step_end" && line["step"] == step).unwrap();
        assert_eq!((&end["pattern"], &end["total_operations"]), (&row.pattern.clone().into(), &operations.into()));
    }
}

#[test]
fn on_standard_output_the_stream_is_alone() {
    let place = place();
    let RunResult { stdout, stderr, .. } =
        ask(&place, "measure", &["--quick", "--only=rand-read,seq-read", "--size=16m", "--live", "-"]).good();
    assert_eq!(lines(&stdout).iter().filter(|line| line["event"] == "step_end").count(), 3);
    // The steps and the answer.
    assert!(stderr.contains("4k random read, depth 32") && stderr.contains("\ntrust  "), "{stderr}");
}

#[test]
fn an_interrupt_keeps_the_points_there_are_and_leaves_nothing() {
    for question in ["sweep", "curve"] {
        let place = place();
        let words = ["--size=16m", "--runtime=20", "--live", "live.ndjson"];
        let mut running = place.start(&asked(question, &words));
        // The file is filled, and the first point has begun.
        let begun =
            || place.path("live.ndjson").exists() && place.read("live.ndjson").matches("step_begin").count() > 1;
        running.wait_until("the first point", |_| begun());
        running.signal("INT");
        assert_eq!(running.finish().status, Some(130), "{question}");
        assert!(place.names("data").is_empty(), "{question}");
        let kept = place.studies("store");
        assert!(!kept[0].complete && kept[0].rows.len() >= 2, "{question}: {} rows", kept[0].rows.len());
        let lines = lines(&place.read("live.ndjson"));
        assert_eq!(lines.last().unwrap()["complete"], false, "{question}");
    }
}

#[test]
fn what_cannot_be_asked_is_refused_with_its_reason() {
    let place = place();
    let cases: [(&str, &[&str], &str); 12] = [
        ("sweep", &["--iodepth=8..2"], "the range 8..2 is empty"),
        ("sweep", &["--iodepth=0"], "depth 0 has no request in flight"),
        ("sweep", &["--iodepth=5..7"], "no power of two lies in 5..7"),
        ("sweep", &["--iodepth=many"], "`many` is no depth"),
        ("sweep", &["--rw=randraed"], "randread"),
        ("sweep", &["--bs=4x"], "4x"),
        ("sweep", &["--runtime=0"], "`0` is no value of --runtime"),
        ("sweep", &["--bs=16m", "--size=16m"], "fewer than 4 blocks of 16m"),
        ("curve", &["--rw=randrw"], "both reads and writes"),
        ("curve", &["--loads=0"], "`0` is no value of --loads"),
        ("curve", &["--expect=nfs"], "should be nfs"),
        ("sweep", &["--live", "."], "cannot write the live stream"),
    ];
    for (question, words, reason) in cases {
        ask(&place, question, words).refused(reason);
    }
    // Who asks for a document gets one, which says what was refused.
    let refused = ask(&place, "sweep", &["--live=-", "--json"]);
    let document = refused.document();
    assert_eq!((refused.status, document["summary"]["headline"].is_null()), (Some(2), true), "{document}");
    assert_eq!(document["summary"]["error"]["sentence"], "--json and --live - both need standard output");
    assert!(place.names("data").is_empty(), "a refusal writes nothing");
}

#[test]
fn a_scale_of_one_node_is_answered_and_more_are_refused_with_a_line() {
    let place = place();
    let output = ask(&place, "scale", &with(&["--nodes=1", "--json"])).good();
    assert!(place.names("data").is_empty());
    let study = output.study();
    assert_eq!((study.question, study.complete), (Question::Scale, true));
    let patterns: Vec<&str> = study.rows.iter().map(|row| row.pattern.as_str()).collect();
    assert_eq!(patterns, [&["fill"][..], &["read-1m-n1"; 4]].concat());
    let sentence = &study.sentences[0];
    assert!(sentence.starts_with("1m sequential read: 1 node gets ") && sentence.contains("--nodes"), "{sentence}");
    let refused = ask(&place, "scale", &with(&["--nodes=1,4"]));
    assert_eq!(refused.status, Some(2));
    assert!(refused.stderr.contains("4 nodes are needed, and this run has 1 node"), "{}", refused.stderr);
    assert!(refused.stderr.contains("mpirun -n 4 --hostfile HOSTS fsdyno scale /"), "{}", refused.stderr);
    assert!(place.names("data").is_empty());
    // More nodes would not help a place that is not there.
    for words in [&["--nodes=1,4"][..], &["--like", "io500"]] {
        let nowhere = place.run(&[&["scale", "nothere"], words].concat());
        assert_eq!(nowhere.status, Some(2));
        let stderr = &nowhere.stderr;
        assert!(stderr.contains("/nothere does not exist") && !stderr.contains("mpirun"), "{stderr}");
    }
    // A terminal and the sheet show it too.
    let shown = place.run(&["show", "last", "--store", "store"]).good().stdout;
    assert!(shown.contains("per node") && shown.contains("1m sequential read"), "{shown}");
    place.run(&["report", "last", "--store", "store", "-o", "sheet.html"]).good();
}
