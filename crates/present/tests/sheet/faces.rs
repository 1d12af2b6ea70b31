//! One study in all forms: each figure is the same, under the same name.

use present::{Headline, TestFigures};
use results::quantity::{latency, number};
use results::{Finding, Question, Row, Severity, Study, test_name};
use serde_json::Value;

use crate::fixture;

/// What `measure` asks, with the figures of a comparison's rows.
fn measured() -> Study {
    let mut study = fixture::comparison();
    study.question = Question::Measure;
    study.targets.truncate(1);
    let of = |pattern: &str, name: &str, title: &str| {
        let found = study.rows.iter().find(|row| row.target == 0 && row.round == 0 && row.pattern == pattern);
        Row { pattern: name.into(), title: title.into(), findings: Vec::new(), ..found.expect(pattern).clone() }
    };
    study.rows = vec![
        of("read", test_name::SEQ_READ, "1m sequential read, depth 16"),
        of("write", test_name::SEQ_WRITE, "1m sequential write, depth 16"),
        of("randread", test_name::RAND_READ, "4k random read, depth 32"),
        of("randwrite", test_name::RAND_WRITE, "4k random write, depth 32"),
        of("randread", test_name::READ_LATENCY, "4k random read, depth 1"),
    ];
    for (row, waited) in study.rows.iter_mut().zip([27, 41, 20]) {
        row.findings.push(Finding {
            id: "cpu-starved".into(),
            severity: Severity::Caution,
            node: None,
            job: None,
            numbers: Vec::new(),
            cause: format!("CPU contention: I/O threads waited {waited} % of the time"),
            next: "stop the other processes".into(),
        });
    }
    study
}

/// The line of a table for a test.
fn line<'a>(table: &'a str, name: &str) -> &'a str {
    let begins = |line: &&str| line.trim_start_matches("| ").split_whitespace().next() == Some(name);
    table.lines().find(begins).unwrap_or_else(|| panic!("no {name} in {table}"))
}

/// The figures in the words of people.
fn words(test: &TestFigures) -> Vec<String> {
    let found = test.latency_us.expect("a latency");
    let times = [found.mean, found.p50, found.p99].into_iter().flatten().map(|us| latency(us * 1e3));
    [test.mb_per_s, test.iops].into_iter().flatten().map(number).chain(times).collect()
}

#[test]
fn each_figure_is_the_same_on_every_face() {
    let study = measured();
    let headline = Headline::of(&study);
    let document: Value = serde_json::from_str(&Headline::json(&study)).unwrap();
    let terminal = present::tables::text(&study, 120);
    let markdown = present::tables::markdown(&study);
    let sheet = present::sheet::html(std::slice::from_ref(&study), &Default::default()).replace('\u{a0}', " ");
    let csv = present::export::csv(&study);
    let columns: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    assert_eq!(headline.tests.len(), 5);
    for (index, test) in headline.tests.iter().enumerate() {
        for figure in words(test) {
            for table in [&terminal, &markdown] {
                assert!(line(table, &test.name).contains(&figure), "{}: no {figure} in {table}", test.name);
            }
        }
        let in_json = &document["summary"]["tests"][index];
        assert_eq!(in_json["name"], test.name.as_str());
        let in_csv: Vec<&str> =
            csv.lines().map(|line| line.split(',').collect::<Vec<_>>()).find(|row| row[3] == test.name).unwrap();
        let cell = |name: &str| in_csv[columns.iter().position(|column| *column == name).expect(name)];
        let found = test.latency_us.unwrap();
        for (name, value) in [("mb_per_s", test.mb_per_s), ("iops", test.iops), ("cpu_percent", test.cpu_percent)] {
            assert_eq!(in_json[name].as_f64(), value, "{name} of {}", test.name);
            assert_eq!(cell(name), value.map(|value| value.to_string()).unwrap_or_default(), "{name} of {}", test.name);
        }
        for (name, value) in [("mean", found.mean), ("p50", found.p50), ("p99", found.p99)] {
            assert_eq!(in_json["latency_us"][name].as_f64(), value);
            assert_eq!(cell(&format!("latency_us_{name}")), value.map(|value| value.to_string()).unwrap_or_default());
        }
    }
    let sentence = headline.headline.expect("an answer");
    for face in [&terminal.replace('\n', " "), &markdown, &sheet] {
        assert!(face.contains(&sentence), "{face}");
    }
    assert_eq!(document["summary"]["headline"], sentence.as_str());
    // The tiles have the figures of the sentence.
    let tiles = sheet.split("class=\"tile-value\">").skip(1).map(|tile| tile.split("</span>").next().unwrap());
    let tiles: Vec<String> = tiles.map(|tile| tile.replace("<small>", "").replace("</small>", "")).collect();
    assert_eq!(tiles.len(), 5);
    assert!(tiles.iter().all(|tile| sentence.contains(tile.as_str())), "{tiles:?} in {sentence}");
}

#[test]
fn the_summary_is_the_first_key_and_the_study_can_be_read_again() {
    let study = measured();
    let text = Headline::json(&study);
    assert!(text.starts_with("{\"summary\":{\"headline\":\""), "{}", &text[..80]);
    assert_eq!(Study::from_json(&text).unwrap(), study);
}

#[test]
fn a_finding_stands_once_with_its_tests_and_the_range_of_its_figures() {
    let study = measured();
    let sentence =
        "3 of 5 tests (seq-read, seq-write, rand-read): CPU contention: I/O threads waited 20 to 41 % of the time";
    let sheet = present::sheet::html(std::slice::from_ref(&study), &Default::default());
    let exported = present::export::markdown(&study);
    for face in [present::tables::text(&study, 400), present::tables::markdown(&study), exported, sheet] {
        assert_eq!(face.matches(sentence).count(), 1, "{face}");
        assert_eq!(face.matches("I/O threads waited 27 %").count(), 0, "{face}");
    }
}

#[test]
fn what_is_invalid_is_no_figure_of_the_answer() {
    let mut study = measured();
    study.rows[0].findings[0].severity = Severity::Invalid;
    let headline = Headline::of(&study);
    let sentence = headline.headline.unwrap();
    assert!(!sentence.contains(&number(headline.tests[0].mb_per_s.unwrap())), "{sentence}");
    let text = present::tables::text(&study, 120);
    assert!(text.lines().any(|line| line.starts_with("read ") && line.contains(" invalid ")), "{text}");
    assert!(text.contains("invalid: 1 of 5 tests: CPU contention"), "{text}");
}
