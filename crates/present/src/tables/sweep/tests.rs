use fsdyno_results::{
    DirectionRecord, Finding, JobRecord, JobSetup, Latency, PerDirection, Question, Row, RunRecord,
    STUDY_SCHEMA_VERSION, Severity, Study, Target,
};

use crate::tables::{markdown, text};

/// A study of one directory, still without sentences.
pub(in crate::tables) fn study(question: Question) -> Study {
    let target = Target { name: "/data".into(), path: "/data".into(), ..Target::default() };
    Study {
        study_schema: STUDY_SCHEMA_VERSION,
        id: "20261121-171502-sweep-3f2a".into(),
        question,
        version: "fio-3.42-fsdyno".into(),
        command: vec![question.word().into(), "/data".into()],
        started_ms: 1_795_262_548_563,
        ended_ms: 1_795_262_598_563,
        complete: true,
        host: fsdyno_results::Host::default(),
        host_name: None,
        targets: vec![target],
        rows: Vec::new(),
        verdicts: Vec::new(),
        sentences: Vec::new(),
        notes: Vec::new(),
    }
}

/// Latencies around a mean, with a tail.
pub(in crate::tables) fn latencies(mean_ns: u64) -> Latency {
    let mut latency = Latency::with_histogram();
    for step in 0..20_000u64 {
        latency.record(mean_ns * if step % 50 == 0 { 400 } else { 50 + step % 87 } / 100);
    }
    latency
}

/// A row of 4k reads during 5 s.
pub(in crate::tables) fn row(pattern: &str, title: &str, ios: u64, lat: Latency) -> Row {
    let read = DirectionRecord { bytes: ios * 4096, ios, runtime_ms: 5000, lat, ..DirectionRecord::default() };
    let depth = pattern.rsplit_once("-qd").and_then(|(_, depth)| depth.parse().ok()).unwrap_or(1);
    let job = JobRecord {
        directions: PerDirection { read, ..PerDirection::default() },
        job_runtime_ms: 5000,
        ..JobRecord::new(pattern, 1, JobSetup { depth, ..JobSetup::default() })
    };
    let mut run = RunRecord::new("fio-3.42-fsdyno", 1_795_262_548_563);
    run.jobs.push(job);
    Row {
        pattern: pattern.into(),
        title: title.into(),
        command: vec![format!("--name={pattern}")],
        run: Some(run),
        ..Row::default()
    }
}

/// A point of a closed loop with eight servers of 100 µs each.
fn point(block: &str, depth: u32, round: u32) -> Row {
    let served = u64::from(depth.min(8));
    let mean_ns = u64::from(depth) * 100_000 / served;
    let (pattern, title) = (format!("randread-{block}-qd{depth}"), format!("{block} random read, depth {depth}"));
    row(&pattern, &title, served * (49_700 + u64::from(round) * 200), latencies(mean_ns))
}

#[test]
fn a_depth_that_has_not_settled_says_so_in_words() {
    let mut study = sweep();
    for row in study.rows.iter_mut().filter(|row| row.pattern == "randread-4k-qd8" && row.round % 2 == 0) {
        row.run.as_mut().unwrap().jobs[0].directions.read.ios /= 50;
    }
    for (printed, of) in [(text(&study, 80), " not settled "), (markdown(&study), " not settled |")] {
        assert_eq!(printed.matches(of).count(), 1, "{printed}");
        assert_eq!(printed.matches("not settled: the interval is wider than the figure").count(), 1, "{printed}");
    }
    // Narrow terminals lose columns that can be spared, but no lines.
    let narrow = text(&study, 60);
    assert!(narrow.contains("depth") && narrow.contains("\n    8 ") && !narrow.contains("in flight"), "{narrow}");
    assert!(narrow.lines().all(|line| line.chars().count() <= 60), "{narrow}");
}

fn sweep() -> Study {
    let mut study = study(Question::Sweep);
    study.rows.push(row("fill", "writes the file: 1m sequential write, depth 16", 5_000, latencies(1_000_000)));
    let runs = |depth| (0..4).map(move |round| Row { round, ..point("4k", depth, round) });
    study.rows.extend([1, 2, 4, 8, 16, 32, 64].into_iter().flat_map(runs));
    study.rows[10].findings.push(Finding::new(
        "foreign-load",
        Severity::Caution,
        "somebody else used the device: a fifth of its reads were not ours",
        "run it again when the machine is quiet",
    ));
    study.sentences.push("4k random read: the knee is at depth 8: 80,000 IOPS at a mean latency of 100 µs.".into());
    study
}

#[test]
fn the_table_and_the_chart() {
    let text = text(&sweep(), 80);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn in_markdown_the_chart_is_verbatim() {
    let text = markdown(&sweep());
    assert!(text.contains("| depth ") && text.contains("```text\n"), "{text}");
}

#[test]
fn each_kind_of_request_has_a_table_of_its_own() {
    let mut study = sweep();
    study.rows.extend([1, 2].map(|depth| point("64k", depth, 0)));
    let text = text(&study, 80);
    assert!(text.contains("4k random read\n") && text.contains("64k random read\n"), "{text}");
    assert_eq!(text.matches("in flight").count(), 2, "{text}");
}

/// Each connection to an object store carries one request: nothing there is called a depth.
#[test]
fn points_of_an_object_store_are_numbers_of_connections() {
    let mut study = sweep();
    study.rows.remove(0);
    study.rows.extend([1, 2].map(|depth| point("64k", depth, 0)));
    study.sentences.clear();
    for row in &mut study.rows {
        row.title = row.title.replace("depth", "connections");
        row.run.as_mut().unwrap().jobs[0].options = vec![("ioengine".into(), "http".into())];
    }
    let form = super::Form::Text { columns: 80 };
    let pages = [text(&study, 80), crate::tables::screen(&study, 80), super::in_short(&study, form)];
    assert!(pages.iter().all(|page| page.contains("connections") && !page.contains("depth")), "{}", pages.join("\n"));
}

#[test]
fn what_failed_is_told_with_its_reason() {
    let error =
        fsdyno_results::JobError { code: 28, function: "io_u error".into(), text: "No space left on device".into() };
    let mut study = sweep();
    study.rows[4].run.as_mut().unwrap().jobs[0].error = Some(error.clone());
    assert!(text(&study, 80).contains(" 3/4 "), "{}", text(&study, 80));
    study.rows[1..5].iter_mut().for_each(|row| row.run.as_mut().unwrap().jobs[0].error = Some(error.clone()));
    assert!(text(&study, 80).contains("failed:"));
    study.rows.truncate(1);
    study.rows[0].run.as_mut().unwrap().jobs[0].error = Some(error);
    let text = text(&study, 80);
    assert!(text.contains("writes the file: 1m sequential write, depth 16: failed: io_u error: No space"), "{text}");
}
