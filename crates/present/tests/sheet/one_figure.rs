//! Checks that a test has one set of figures. Rounds of all kinds (valid, caution, invalid, failed) are put into a
//! study of each question; the figures are parsed from every form, and must be those of the rounds that count.

use fsdyno_present::export::{csv, markdown, openmetrics};
use fsdyno_present::tables::{Changes, JudgementCommand, history, history_json, runs, screen, text};
use fsdyno_present::{Headline, TestFigures};
use fsdyno_results::{
    Digest, Finding, Interval, JobError, JobRecord, JobSetup, Latency, PhaseRecord, Question, Row, RunRecord, Severity,
    Study, Trust,
};
use fsdyno_text::quantity::{latency, number};
use serde_json::Value;

use crate::fixture;

/// The rounds: IOPS, and the state of each.
pub(crate) const ROUNDS: [(u64, &str); 7] = [
    (1000, "ok"),
    (7310, "invalid"),
    (1100, "caution"),
    (5610, "failed"),
    (7400, "invalid"),
    (1300, "ok"),
    (0, "did nothing"),
];

/// The figures of the rounds that count: the median, and the least and the greatest of three.
const IOPS: f64 = 1100.0;
const BETWEEN: Interval = Interval { low: 1000.0, high: 1300.0, confidence: 0.75 };

/// The figures of all rounds, or of all that did not fail: these must not appear.
const WRONG: [f64; 4] = [3455.0, 1300.0 + 3000.0, 5610.0, 7310.0];

/// Latencies, a fiftieth of which are eight times as long.
pub(crate) fn latencies(kind: &str, times: u64) -> Latency {
    let mut latency = Latency::with_histogram();
    let of_round = times * if matches!(kind, "ok" | "caution") { 100_000 } else { 3_330_000 };
    (0..2000).for_each(|step| latency.record(of_round * if step % 50 == 0 { 8 } else { 1 }));
    latency
}

pub(crate) fn row(question: Question, target: usize, pattern: &str, round: u32, (ios, kind): (u64, &str)) -> Row {
    let error = (kind == "failed").then(|| JobError { code: 5, function: "read".into(), text: "broken".into() });
    let severity = match kind {
        "invalid" => Some(Severity::Invalid),
        "caution" => Some(Severity::Caution),
        _ => None,
    };
    let findings = severity.map(|severity| Finding::new("page-cache", severity, "memory answered", "use --direct=1"));
    let mut row = Row {
        target,
        pattern: pattern.into(),
        title: pattern.into(),
        round,
        findings: findings.into_iter().collect(),
        ..Row::default()
    };
    if question == Question::SmallFiles {
        row.phase = Some(PhaseRecord {
            name: pattern.into(),
            operations: ios,
            elapsed_ns: if ios == 0 { 0 } else { 1_000_000_000 },
            bytes: Some(ios * 4096),
            latency: if ios == 0 { Latency::default() } else { latencies(kind, 1) },
            error,
            ..PhaseRecord::default()
        });
        return row;
    }
    let setup = JobSetup { depth: 4, ..JobSetup::default() };
    let mut job = JobRecord { error, job_runtime_ms: 1000, user_ns: ios * 1000, ..JobRecord::new(pattern, 1, setup) };
    job.directions.read = fsdyno_results::DirectionRecord {
        ios,
        bytes: ios * 4096,
        runtime_ms: 1000,
        lat: if ios == 0 { Latency::default() } else { latencies(kind, 1) },
        ..Default::default()
    };
    job.options = vec![("rate_iops".into(), "1200".into())];
    job.directions.read.response = Some(job.directions.read.lat.clone());
    let mut run = RunRecord::new("fio-3.42-fsdyno", fixture::STARTED_MS);
    run.jobs = vec![job];
    row.run = Some(run);
    row
}

fn study(question: Question, rounds: &[(u64, &str)]) -> Study {
    let mut study = fixture::empty(question);
    let pattern = match question {
        Question::Measure => "rand-read",
        Question::Sweep => "randread-4k-qd4",
        Question::Curve => "randread-4k-load80",
        Question::Scale => "randread-4k-n2",
        Question::SmallFiles => "create",
        _ => "randread",
    };
    let storage = fsdyno_results::evidence::Storage::default;
    study.targets = vec![fixture::target("local", "/data", storage())];
    if question == Question::Compare {
        study.targets.push(fixture::target("nfs", "/mnt/nfs", storage()));
    }
    for target in 0..study.targets.len() {
        let rows = (0..).zip(rounds).map(|(number, round)| row(question, target, pattern, number, *round));
        study.rows.extend(rows);
    }
    if question == Question::Check {
        study.verdicts.push(verdict(&study.rows));
    }
    study
}

/// A verdict as `check` makes it; that it uses the rounds that count is tested there.
pub(crate) fn verdict(rows: &[Row]) -> fsdyno_results::VerdictRow {
    let rounds = fsdyno_results::TestRounds::of_rows(rows);
    let requirement = fsdyno_results::Requirement {
        id: "iops".into(),
        profile: "own".into(),
        profile_title: "Own".into(),
        title: "reads".into(),
        metric: "read.iops".into(),
        bound: fsdyno_results::Bound::AtLeast,
        threshold: 900.0,
        unit: "IOPS".into(),
        derivation: None,
        source: "A page".into(),
        read_on: "November".into(),
        kind: fsdyno_results::RequirementKind::VendorRequirement,
        confidence: fsdyno_results::Confidence::A,
        job: "-".into(),
    };
    fsdyno_results::VerdictRow {
        verdict: fsdyno_results::Verdict::Pass,
        measured: rounds.value(fsdyno_results::Metric::Iops),
        interval: rounds.interval(fsdyno_results::Metric::Iops),
        margin_percent: None,
        reason: "the whole interval meets the limit".into(),
        origin: fsdyno_results::TestOrigin::Vendor,
        caveats: Vec::new(),
        at_least: None,
        cap_s: None,
        rows: (0..rows.len()).collect(),
        requirement,
    }
}

/// Every number in a text, without the commas between thousands.
pub(crate) fn numbers(text: &str) -> Vec<f64> {
    let words = text.split(|letter: char| !(letter.is_ascii_digit() || ".,".contains(letter)));
    words.filter_map(|word| word.trim_matches(['.', ',']).replace(',', "").parse().ok()).collect()
}

/// The document's visible text: without its pictures and its machine-readable parts.
pub(crate) fn visible(html: &str) -> String {
    let mut text = String::new();
    let body = html.split("<body").nth(1).unwrap_or(html);
    // A single round is not a test.
    let mut rest = body.split("Each round as CSV").next().unwrap_or(body);
    while let Some((before, after)) = rest.split_once('<') {
        text.push_str(before);
        let skipped = ["svg", "script", "style"].into_iter().find(|name| after.starts_with(name));
        let end = skipped.map_or_else(|| ">".to_owned(), |name| format!("</{name}>"));
        text.push('\n');
        rest = after.split_once(&end).map_or("", |(_, rest)| rest);
    }
    text.replace('\u{a0}', " ")
}

fn near(one: f64, other: f64) -> bool {
    (one / other - 1.0).abs() < 2e-3
}

/// Checks that the text has the figure to its last printed digit, and none that other rounds would give.
fn says(form: &str, text: &str, figure: f64) {
    let found = numbers(text);
    let shown: f64 = number(figure).replace(',', "").parse().unwrap();
    assert!(found.contains(&shown), "{form} does not say {shown}:\n{text}");
    for wrong in WRONG {
        let scale = [wrong, wrong * 4096.0 / 1e6];
        let has = found.iter().find(|value| scale.iter().any(|wrong| near(**value, *wrong)));
        assert_eq!(has, None, "{form} has a figure of other rounds:\n{text}");
    }
}

fn the_test(study: &Study) -> TestFigures {
    let mut tests = Headline::of(study).tests;
    let json: Value = serde_json::from_str(&Headline::json(study)).unwrap();
    assert_eq!(json["summary"]["tests"][0]["iops"].as_f64(), tests[0].iops, "JSON has what the headline has");
    tests.remove(0)
}

const ALL: [Question; 10] = Question::ALL;

#[test]
fn every_form_has_the_figures_of_the_rounds_that_count() {
    for question in ALL {
        let study = study(question, &ROUNDS);
        // Each row of a fio command line is a run of its own, and a timed command has only times.
        if matches!(question, Question::Fio | Question::Time) {
            continue;
        }
        let test = the_test(&study);
        assert_eq!((test.iops, test.runs, test.left_out), (Some(IOPS), 3, 4), "{question:?}");
        assert_eq!((test.mb_per_s, test.trust), (Some(4.506), Trust::Caution), "{question:?}");
        assert_eq!(test.intervals.iops, Some(BETWEEN), "{question:?}");
        assert_eq!(test.error, None);
        let found = test.latency_us.unwrap();
        assert_eq!((found.count, found.mean.unwrap().round()), (6000, 114.0), "{question:?}");
        let shows_rate = |text: &str| numbers(text).iter().any(|value| near(*value, IOPS));
        let figure = |text: &str| if shows_rate(text) { IOPS } else { IOPS * 4096.0 / 1e6 };
        // A load of a curve has one round, which the next test covers.
        if question != Question::Curve {
            for (form, text) in [("terminal", screen(&study, 120)), ("wide", text(&study, 120))] {
                says(&format!("{question:?} {form}"), &text, figure(&text));
            }
        }
        let ticket = markdown(&study).replace('\u{a0}', " ");
        says(&format!("{question:?} markdown"), &ticket, IOPS);
        assert!(ticket.contains(&format!("p50 {}", latency(found.p50.unwrap() * 1e3))), "{ticket}");
        let page = visible(&fsdyno_present::sheet::html(std::slice::from_ref(&study), &Default::default()));
        says(&format!("{question:?} sheet"), &page, IOPS);
        of_metrics(question, &openmetrics(&study), &test);
        of_csv(question, &csv(&study));
        of_history(&study, &test);
    }
}

/// The verdicts of `check` have the same digits on the terminal, in Markdown, on the sheet, in JSON and in JUnit.
#[test]
fn an_answer_of_check_has_one_figure() {
    let study = study(Question::Check, &ROUNDS);
    let line = &Headline::of(&study).verdicts[0];
    assert_eq!((line.measured, line.interval), (Some(IOPS), Some(BETWEEN)));
    let cases = fsdyno_present::export::junit::cases(&study);
    let junit = fsdyno_present::export::junit::junit("check", &cases);
    let page = visible(&fsdyno_present::sheet::html(std::slice::from_ref(&study), &Default::default()));
    for (form, text) in [
        ("terminal", screen(&study, 120)),
        ("wide", text(&study, 120)),
        ("markdown", markdown(&study)),
        ("sheet", page),
        ("junit", junit),
    ] {
        says(form, &text.replace('\u{a0}', " "), IOPS);
        // The Markdown for tickets leaves out the interval.
        let ends = [BETWEEN.low, BETWEEN.high].iter().all(|end| numbers(&text).contains(end));
        assert!(ends || form == "markdown", "{form}: {text}");
    }
    // A missing figure is missing in all forms.
    let mut none = study;
    (none.verdicts[0].measured, none.verdicts[0].interval) = (None, None);
    none.verdicts[0].verdict = fsdyno_results::Verdict::Inconclusive;
    none.verdicts[0].reason = "nothing was transferred".into();
    none.rows.clear();
    for text in [
        screen(&none, 120),
        markdown(&none),
        fsdyno_present::export::junit::junit("a", &fsdyno_present::export::junit::cases(&none)),
    ] {
        assert!(text.contains("nothing was transferred") && !numbers(&text).contains(&IOPS), "{text}");
    }
}

/// The forms that people read, with plain blanks.
pub(crate) fn forms_for_people(study: &Study) -> [(&'static str, String); 4] {
    let page = visible(&fsdyno_present::sheet::html(std::slice::from_ref(study), &Default::default()));
    let forms =
        [("terminal", screen(study, 120)), ("wide", text(study, 120)), ("markdown", markdown(study)), ("sheet", page)];
    forms.map(|(form, text)| (form, text.replace('\u{a0}', " ")))
}

/// Each load of a curve is a row: it has the same digits on the terminal, in Markdown, on the sheet and in JSON, and
/// the same words for missing figures.
#[test]
fn a_load_of_a_curve_has_one_set_of_figures() {
    let mut study = fixture::empty(Question::Curve);
    study.targets = vec![fixture::target("local", "/data", fsdyno_results::evidence::Storage::default())];
    for (index, round) in [(1_234, "ok"), (2_345, "caution"), (3_456, "invalid")].into_iter().enumerate() {
        let pattern = format!("randread-4k-load{}", 20 * (index + 1));
        study.rows.push(row(Question::Curve, 0, &pattern, 0, round));
    }
    let tests = Headline::of(&study).tests;
    for (form, text) in forms_for_people(&study) {
        for (test, percent) in tests.iter().zip([20, 40, 60]) {
            let found = test.latency_us.unwrap();
            let words =
                [number(test.iops.unwrap()), latency(found.p50.unwrap() * 1e3), latency(found.p99.unwrap() * 1e3)];
            for shown in &words {
                assert!(text.contains(shown.as_str()), "{form} does not say {shown} of {percent} %:\n{text}");
            }
        }
        assert!(text.contains("invalid"), "{form}:\n{text}");
    }
}

/// Times of a command come from the rounds that count, in each form.
#[test]
fn a_command_has_one_set_of_times() {
    let mut study = fixture::empty(Question::Time);
    study.targets = vec![fixture::target("local", "/data", fsdyno_results::evidence::Storage::default())];
    let rounds = [(2_000, "ok"), (7_310, "invalid"), (2_500, "caution"), (5_610, "failed"), (3_100, "ok")];
    for (round, (wall_ms, kind)) in (0..).zip(rounds) {
        let mut row = row(Question::SmallFiles, 0, "tar", round, (1, kind));
        let phase = row.phase.as_mut().unwrap();
        (phase.elapsed_ns, phase.cpu_ns, phase.bytes) = (wall_ms * 1_000_000, 470_000_000, None);
        phase.operations = u64::from(kind != "failed");
        row.tree = Some(fsdyno_results::TreeRecord::default());
        study.rows.push(row);
    }
    let found = Headline::of(&study);
    let (time, test) = (&found.times[0], &found.tests[0]);
    let wall = time.wall_s.unwrap();
    assert_eq!((wall.median, wall.least, wall.most, time.runs), (2.5, 2.0, 3.1, 3));
    assert_eq!((test.wall_s, test.runs, test.left_out), (Some(2.5), 3, 2));
    for (form, text) in forms_for_people(&study) {
        for shown in ["2.50 s", "2.00 s", "3.10 s"] {
            assert!(text.contains(shown), "{form} does not say {shown}:\n{text}");
        }
        assert!(!text.contains("7.31 s") && !text.contains("5.61 s"), "{form} has another round:\n{text}");
    }
}

fn of_metrics(question: Question, text: &str, test: &TestFigures) {
    let value = |name: &str, label: &str| -> Option<f64> {
        let line = text.lines().find(|line| line.starts_with(&format!("{name}{{")) && line.contains(label))?;
        line.rsplit_once(' ')?.1.parse().ok()
    };
    assert_eq!(value("fsdyno_operations_per_second", ""), Some(IOPS), "{question:?}\n{text}");
    assert_eq!(value("fsdyno_throughput_bytes_per_second", ""), Some(IOPS * 4096.0));
    assert_eq!(value("fsdyno_rounds", ""), Some(test.runs as f64));
    assert_eq!(value("fsdyno_trust", ""), Some(1.0));
    let p50_us = value("fsdyno_latency_seconds", "quantile=\"0.5\"").unwrap() * 1e6;
    assert!((p50_us - test.latency_us.unwrap().p50.unwrap()).abs() < 1e-3, "{text}");
}

/// Checks that each CSV line is a round, and that the median of those that count is the figure.
fn of_csv(question: Question, text: &str) {
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let heads = lines.next().unwrap();
    let column = |name: &str| heads.iter().position(|head| *head == name).expect(name);
    let (trust, iops, target) = (column("trust"), column("iops"), column("target"));
    let counted = lines.filter(|line| line[target].starts_with("local") && line[trust] != "invalid");
    let rates: Vec<f64> = counted.filter_map(|line| line[iops].parse().ok()).filter(|rate| *rate > 0.0).collect();
    assert_eq!(fsdyno_stats::median(&rates), Some(IOPS), "{question:?}\n{text}");
}

fn of_history(study: &Study, test: &TestFigures) {
    let digest = Digest::of(study);
    let told: Value = serde_json::from_str(&history_json(std::slice::from_ref(&digest))).unwrap();
    let of_test = &told["runs"][0]["tests"][0];
    assert_eq!(of_test["figures"]["iops"].as_f64(), test.iops);
    assert_eq!(of_test["figures"]["p50"].as_f64().map(|ns| ns / 1e3), test.latency_us.unwrap().p50);
    assert_eq!(of_test["figures"]["p99"].as_f64().map(|ns| ns / 1e3), test.latency_us.unwrap().p99);
    assert_eq!((&of_test["rounds"], of_test["trust"].as_str()), (&Value::from(3), Some("caution")));
    says("history", &history(std::slice::from_ref(&digest), 120), IOPS);
    let listed = runs(std::slice::from_ref(&digest), &Default::default(), 200);
    says("runs", &listed, IOPS);
    assert!(listed.trim_end().ends_with(" failed"), "{listed}");
    let changes = fsdyno_results::changes(study, study, &[]);
    let shown = Changes {
        found: &changes,
        base: "a".into(),
        new: "b".into(),
        obstacles: &[],
        next: JudgementCommand::KeptRuns("fsdyno history".into()),
        wide: true,
    };
    let told: Value = serde_json::from_str(&shown.json()).unwrap();
    let of_iops = told["changes"].as_array().unwrap().iter().find(|change| change["figure"] == "iops").unwrap();
    assert_eq!((of_iops["base"].as_f64(), of_iops["new"].as_f64()), (test.iops, test.iops));
    says("diff", &shown.text(120), IOPS);
}

#[test]
fn where_no_round_counts_each_form_says_that_the_figure_is_invalid() {
    let rounds = [(7310, "invalid"), (7310, "invalid"), (7310, "invalid")];
    for question in ALL {
        let study = study(question, &rounds);
        let test = the_test(&study);
        assert_eq!((test.iops, test.trust), (Some(7310.0), Trust::Invalid), "{question:?}");
        for text in [
            text(&study, 120),
            markdown(&study),
            visible(&fsdyno_present::sheet::html(std::slice::from_ref(&study), &Default::default())),
        ] {
            assert!(text.contains("invalid"), "{question:?}\n{text}");
        }
        assert!(openmetrics(&study).lines().any(|line| line.starts_with("fsdyno_trust{") && line.ends_with(" 2")));
        let digest = Digest::of(&study);
        assert_eq!(digest.tests[0].trust, Trust::Invalid);
        let listed = runs(&[digest], &Default::default(), 200);
        let is_bare = !listed.contains("7,310") && listed.contains("no valid figure");
        assert!(is_bare && listed.contains("invalid"), "{question:?}\n{listed}");
    }
}

#[test]
fn iops_times_block_size_is_the_rate_of_every_row() {
    // After the ramp four requests more completed than were submitted.
    let mut study = study(Question::Measure, &[(1000, "ok")]);
    let read = &mut study.rows[0].run.as_mut().unwrap().jobs[0].directions.read;
    (read.ios, read.bytes) = (20, 24 * 1_048_576);
    (read.clat, read.lat) = (Latency::with_histogram(), Latency::with_histogram());
    (0..24).for_each(|_| [&mut read.clat, &mut read.lat].into_iter().for_each(|latency| latency.record(1_000_000)));
    let test = the_test(&study);
    assert_eq!((test.iops, test.mb_per_s), (Some(24.0), Some(25.166)));
    let basis = test.iops.unwrap() * 1.048_576 / test.mb_per_s.unwrap();
    assert!((basis - 1.0).abs() < 0.005, "{basis}");
}
