//! Tests the texts of a study written by hand.

use fsdyno_results::evidence::RecordedFact;
use fsdyno_results::{
    Bound, ClockFacts, Confidence, DeviceTraffic, Finding, Histogram, JobError, Latency, Moments, Note,
    PhaseConditions, PhaseRecord, Question, Requirement, RequirementKind, Row, Severity, Study, Target, TestOrigin,
    Trust, Verdict, VerdictRow,
};

use crate::tables::{markdown, summary, text};

/// A latency with each value a thousand times, enough for a 99th percentile.
fn latency(values_us: &[u64]) -> Latency {
    let (mut moments, mut histogram) = (Moments::default(), Histogram::new());
    for value in values_us.iter().flat_map(|value| [value; 1000]) {
        moments.record(value * 1000);
        histogram.record(value * 1000);
    }
    Latency { moments, histogram: Some(histogram) }
}

fn row(pattern: &str, title: &str, phase: Option<PhaseRecord>) -> Row {
    let phase = phase.map(|phase| PhaseRecord { name: pattern.into(), threads: 1, ..phase });
    Row { pattern: pattern.into(), title: title.into(), phase, ..Row::default() }
}

fn done(operations: u64, elapsed_ms: u64, values_us: &[u64], cache: Option<&str>) -> PhaseRecord {
    PhaseRecord {
        operations,
        elapsed_ns: elapsed_ms * 1_000_000,
        latency: latency(values_us),
        cache: cache.map(str::to_string),
        ..PhaseRecord::default()
    }
}

fn verdict(index: usize, verdict: Verdict, measured: f64, margin_percent: Option<f64>, reason: &str) -> VerdictRow {
    VerdictRow {
        requirement: Requirement {
            id: "write-elapsed".into(),
            profile: "gitlab-smallfiles".into(),
            profile_title: String::new(),
            title: "1,001 files of 5 bytes: write".into(),
            metric: "phase.elapsed".into(),
            bound: Bound::AtMost,
            threshold: 10.0,
            unit: "s".into(),
            derivation: None,
            source: "a page".into(),
            read_on: "2026-11".into(),
            kind: RequirementKind::VendorRequirement,
            confidence: Confidence::A,
            job: String::new(),
        },
        verdict,
        measured: Some(measured),
        interval: None,
        margin_percent,
        reason: reason.into(),
        origin: TestOrigin::Equivalent,
        caveats: Vec::new(),
        at_least: None,
        cap_s: None,
        rows: vec![index],
    }
}

fn study() -> Study {
    let mut study = Study::of_run(fsdyno_results::RunRecord::new("v", 0));
    study.question = Question::SmallFiles;
    study.targets = vec![Target { name: "/mnt/git".into(), path: "/mnt/git".into(), ..Target::default() }];
    study.complete = true;
    let write = PhaseRecord { bytes: Some(5005), ..done(1001, 176_000, &[170_000, 171_000, 900_000], None) };
    let read = PhaseRecord { bytes: Some(5000), failures: 1, ..done(1000, 3118, &[3000, 3100, 9000], Some("hot")) };
    let error = JobError { code: 5, function: "close".into(), text: "Input/output error".into() };
    let read = PhaseRecord { error: Some(error), ..read };
    let mut stat = row("stat-hot", "hot stat", Some(done(1001, 2, &[1, 1, 2], Some("hot"))));
    stat.findings.push(Finding::new(
        "attribute-cache",
        Severity::Caution,
        "1,001 operations and 3 requests to the server",
        "run it cold",
    ));
    let cold = PhaseRecord { cache: Some("needs --drop-caches".into()), ..PhaseRecord::default() };
    study.rows = vec![
        row("write", "write", Some(write.clone())),
        row("write-close", "write: its close", Some(done(1001, 176_000, &[150_000, 151_000, 800_000], None))),
        row("read", "read", Some(read)),
        row("shell-read", "read, shell loop", Some(PhaseRecord { latency: Latency::default(), ..write })),
        stat,
        row("stat-cold", "cold stat", Some(cold)),
        row("fsync-directory-only", "create+fsync: its fsync", Some(done(438, 3020, &[6000, 6100, 23_500], None))),
        row("readlink", "readlink", None),
    ];
    study.verdicts = vec![
        verdict(0, Verdict::Fail, 176.0, Some(-1660.0), "176.000 s is not below 10 s"),
        verdict(2, Verdict::Inconclusive, 3.118, None, "1 of 1,001 files failed"),
        verdict(3, Verdict::Fail, 176.0, Some(-1660.0), "176.000 s is not below 10 s"),
    ];
    study.sentences = vec!["1,001 files were written in 176 s.".into()];
    study.notes = vec![Note::new(
        "phase-cut",
        Severity::Caution,
        "stopped at the time limit of 3 s each (--limit): create+fsync of dir after 438 of 1,001",
    )];
    study
}

#[test]
fn the_text_of_a_slow_mount_that_fails_in_part() {
    insta::assert_snapshot!(text(&study(), 80), @r#"
    /mnt/git

    FAIL          1,001 files of 5 bytes: write: 176 s, at most 10 s
    INCONCLUSIVE  1,001 files of 5 bytes: write: 3.12 s, at most 10 s; 1 of 1,001
                  files failed
    FAIL          1,001 files of 5 bytes: write: 176 s, at most 10 s

    trust  invalid: 1 of 5 tests failed; 1 of 5 tests: stat calls that never left
           the client; nothing was examined of 4 of 5 tests

    next: run it cold
        fsdyno explain attribute-cache
    next: charts and all details
        fsdyno report fio-0 -o sheet.html

    read: 1 of 1,001 files failed.

    phase       ops/s     p50     p99 failed cache
    write        5.69  171 ms  902 ms      0 not examined
    read          321 3.10 ms 8.98 ms      1 hot, invalid
    hot stat  500,500 1.00 µs 2.01 µs      0 attribute cache, caution
    cold stat       -       -       -      - needs --drop-caches
    readlink        -       -       -      - did not run

    read: 1 failed, the first with close: Input/output error

    caution: hot stat: 1,001 operations and 3 requests to the server
      next: run it cold
        fsdyno explain attribute-cache

    note: stopped at the time limit of 3 s each (--limit): create+fsync of dir after
    438 of 1,001
    "#);
}

#[test]
fn the_same_in_markdown() {
    insta::assert_snapshot!(markdown(&study()), @r#"
    **/mnt/git**

    - **FAIL** 1,001 files of 5 bytes: write: 176 s, at most 10 s
    - **INCONCLUSIVE** 1,001 files of 5 bytes: write: 3.12 s, at most 10 s; 1 of 1,001 files failed
    - **FAIL** 1,001 files of 5 bytes: write: 176 s, at most 10 s

    - **trust** invalid: 1 of 5 tests failed; 1 of 5 tests: stat calls that never left the client; nothing was examined of 4 of 5 tests
    - **next** run it cold: fsdyno explain attribute-cache
    - **next** charts and all details: fsdyno report fio-0 -o sheet.html

    read: 1 of 1,001 files failed.


    | phase                   |   ops/s |     p50 |     p99 | failed | cache                    |
    |-------------------------|---------|---------|---------|--------|--------------------------|
    | write                   |    5.69 |  171 ms |  902 ms |      0 | not examined             |
    | write: its close        |    5.69 |  152 ms |  801 ms |      0 | not examined             |
    | read                    |     321 | 3.10 ms | 8.98 ms |      1 | hot, invalid             |
    | hot stat                | 500,500 | 1.00 µs | 2.01 µs |      0 | attribute cache, caution |
    | cold stat               |       - |       - |       - |      - | needs --drop-caches      |
    | create+fsync: its fsync |     145 | 6.13 ms | 23.5 ms |      0 | not examined             |
    | readlink                |       - |       - |       - |      - | did not run              |

    read: 1 failed, the first with close: Input/output error


    - caution: hot stat: 1,001 operations and 3 requests to the server. Next: run it cold

    note: stopped at the time limit of 3 s each (--limit): create+fsync of dir after 438 of 1,001
    "#);
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let wide: Vec<String> =
        text(&study(), 80).lines().filter(|line| line.chars().count() > 80).map(str::to_string).collect();
    assert!(wide.is_empty(), "{wide:?}");
}

#[test]
fn a_phase_in_a_few_words() {
    let rows = study().rows;
    let words: Vec<String> = [0, 2, 5, 7].iter().map(|index| summary(&rows[*index])).collect();
    insta::assert_snapshot!(words.join("\n"), @r#"
    5.69 ops/s, p50 171 ms, p99 902 ms, not examined
    1 of 1,001 failed: close: Input/output error, 321 ops/s, p50 3.10 ms, p99 8.98 ms, invalid
    did not run: needs --drop-caches
    did not run
    "#);
}

/// A pass in which everything was visible but foreign load.
fn seen(round: u32, name: &str, elapsed_ms: u64) -> Row {
    let conditions = PhaseConditions {
        run_queue_wait_ns: Some(0),
        device: RecordedFact::Value(DeviceTraffic::default()),
        ..PhaseConditions::default()
    };
    let pass = PhaseRecord { conditions: Some(conditions), ..done(1000, elapsed_ms, &[8, 10, 12], None) };
    Row { round, ..row(name, name, Some(pass)) }
}

#[test]
fn the_passes_of_a_phase_are_one_line_with_their_median_and_spread() {
    let mut study = study();
    study.verdicts.clear();
    study.notes.clear();
    study.host.clock = Some(ClockFacts { source: "tsc".into(), cost_ns: 20.0, frequency_hz: None, drift_ppm: None });
    study.rows = vec![
        seen(0, "write", 10),
        seen(0, "create", 10),
        seen(1, "write", 20),
        seen(1, "create", 10),
        seen(2, "write", 25),
        seen(2, "create", 10),
    ];
    let text = text(&study, 80);
    assert!(text.contains("ok: nothing was found against the figures; not visible: foreign load"), "{text}");
    let line =
        |name: &str| text.lines().find(|line| line.starts_with(name)).unwrap().split_whitespace().collect::<Vec<_>>();
    // Rates between 40,000 and 100,000 operations per second.
    assert_eq!(line("write")[1..4], ["50,000", "120", "%"]);
    assert_eq!(line("create")[1..4], ["100,000", "0", "%"]);
    // The sheet and JSON show the same, as one function makes it.
    assert!(crate::Headline::json(&study).contains(r#""not_visible":["foreign load"]"#));
    assert!(markdown(&study).contains("not visible: foreign load"));
    assert!(
        crate::sheet::html(std::slice::from_ref(&study), &Default::default()).contains("not visible: foreign load")
    );
    // Two passes of a single phase show no variation.
    study.rows.pop();
    let headline = crate::Headline::of(&study);
    assert_eq!(headline.trust.not_visible, ["variation (1 of 2 tests)", "foreign load"]);
}

#[test]
fn what_nobody_looked_at_is_not_ok() {
    let mut study = study();
    study.rows = vec![row("write", "write", Some(done(1001, 10, &[10, 10, 10], None)))];
    let headline = crate::Headline::of(&study);
    assert_eq!((headline.trust.trust, headline.tests[0].trust), (Trust::Caution, Trust::Caution));
    assert_eq!(headline.trust.why, ["nothing was examined"]);
    study.rows.clear();
    assert_eq!(crate::Headline::of(&study).trust.words(), "caution: nothing was measured");
    study.rows = vec![seen(0, "write", 10)];
    assert_eq!(crate::Headline::of(&study).trust.trust, Trust::Ok);
    // A phase that did not run is not an ok test.
    let cold = PhaseRecord { cache: Some("needs --drop-caches".into()), ..PhaseRecord::default() };
    study.rows.push(row("stat-cold", "cold stat", Some(cold)));
    let names = crate::Headline::of(&study).tests.into_iter().map(|test| test.name).collect::<Vec<_>>();
    assert_eq!(names, ["write"]);
    assert!(crate::export::markdown(&study).contains("| **cold stat** | not run |"));
    for text in [crate::export::csv(&study), crate::export::openmetrics(&study)] {
        assert!(!text.contains("stat-cold"), "{text}");
    }
}

/// Names are whole and aligned, marks follow rates, and columns without values are left out.
#[test]
fn phases_on_a_screen() {
    let mut study = study();
    let conditions = seen(0, "write", 10).phase.and_then(|phase| phase.conditions);
    let phase = PhaseRecord { conditions, ..done(30, 10, &[], None) };
    let few = |name: &str, title: &str| row(name, title, Some(phase.clone()));
    study.rows = vec![few("write", "write"), few("rename", "rename"), few("fsync-directory", "create+fsync of dir")];
    study.rows.push(few("mkdir", "mkdir"));
    study.rows[2].findings.push(Finding::new("too-noisy", Severity::Caution, "it varied", "run again"));
    let shown = |study: &Study| super::in_short(study, super::Form::Text { columns: 60 }).replace('\u{a0}', " ");
    insta::assert_snapshot!(shown(&study));
    study.rows[0] = row("write", "write", Some(done(3000, 10, &[170, 180], None)));
    assert!(shown(&study).lines().next().is_some_and(|head| head.matches("p99").count() == 2), "{}", shown(&study));
    // Where 99th percentiles have no room, two phases stand beside each other all the same.
    study.rows[1].title = "rename in one dir".into();
    let narrow = shown(&study);
    assert_eq!((narrow.lines().count(), narrow.matches("p99").count()), (4, 0), "{narrow}");
}

/// The trust counts the phases that the screen shows: a part of one has its findings, and is no test of its own.
#[test]
fn a_part_of_a_phase_is_not_counted() {
    let noisy = || Finding::new("too-noisy", Severity::Caution, "3 passes made between 1 and 9", "run again");
    let mut study = study();
    study.verdicts.clear();
    study.rows = ["write", "write-close", "create"]
        .map(|name| row(name, name, Some(done(1000, 100, &[10, 20], None))))
        .into_iter()
        .map(|row| Row { findings: if row.pattern == "create" { vec![] } else { vec![noisy()] }, ..row })
        .collect();
    let screen = crate::tables::screen(&study, 80);
    assert!(screen.contains("1 of 2 tests: ") && !screen.contains("close"), "{screen}");
    let found = crate::Headline::of(&study).findings;
    assert_eq!((&found[0].tests[..], found[0].of_tests), (&["write".to_owned()][..], 2));
    study.rows.iter_mut().for_each(|row| {
        row.phase.as_mut().unwrap().error =
            Some(JobError { code: 28, function: "write".into(), text: "No space left".into() })
    });
    study.rows[1].phase.as_mut().unwrap().error = None;
    assert!(crate::tables::text(&study, 80).contains("nothing was measured: all 2 tests failed"));
}
