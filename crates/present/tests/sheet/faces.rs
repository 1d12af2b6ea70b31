//! Compares all forms of one study: each figure is the same, under the same name.

use fsdyno_present::tables::text;
use fsdyno_present::{Headline, TestFigures};
use fsdyno_results::{Finding, JobError, Question, Row, Severity, Study, test_name};
use fsdyno_text::quantity::{latency, number};
use serde_json::Value;

use crate::one_figure::visible;
use crate::{fixture, odd};

/// A study of `measure` with the figures of a comparison's rows.
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
    // Cells are separated by several blanks, words of sentences by one.
    let begins = |line: &&str| {
        let has_cells = line.contains("  ") || line.starts_with('|');
        has_cells && line.trim_start_matches("| ").split_whitespace().next() == Some(name)
    };
    table.lines().find(begins).unwrap_or_else(|| panic!("no {name} in {table}"))
}

/// The figures in words.
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
    let terminal = fsdyno_present::tables::text(&study, 120);
    let markdown = fsdyno_present::tables::markdown(&study);
    let sheet = fsdyno_present::sheet::html(std::slice::from_ref(&study), &Default::default()).replace('\u{a0}', " ");
    let csv = fsdyno_present::export::csv(&study);
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
    // The tiles show the figures of the headline.
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
    let sheet = fsdyno_present::sheet::html(std::slice::from_ref(&study), &Default::default());
    let exported = fsdyno_present::export::markdown(&study);
    let sheet = flowing(&visible(&sheet));
    for face in [fsdyno_present::tables::text(&study, 400), fsdyno_present::tables::markdown(&study), exported, sheet] {
        assert_eq!(face.matches(sentence).count(), 1, "{face}");
        assert_eq!(face.matches("I/O threads waited 27 %").count(), 0, "{face}");
    }
}

/// Two places with the same finding in different tests, with different figures and next steps.
fn found_on_two_places() -> Study {
    let mut study = fixture::comparison();
    study.rows.iter_mut().for_each(|row| row.findings.clear());
    for run in study.rows.iter_mut().filter_map(|row| row.run.as_mut()) {
        run.findings.clear();
    }
    let of = |row: &Row| (row.target, row.pattern.clone());
    for row in study.rows.iter_mut().filter(|row| row.round == 0) {
        let (waited, next) = match of(row) {
            (0, _) => (20, "stop the other processes"),
            (1, pattern) if pattern == "randread" => (41, "use fewer jobs"),
            _ => continue,
        };
        let cause = format!("CPU contention: I/O threads waited {waited} % of the time");
        row.findings.push(Finding::new("cpu-starved", Severity::Caution, &cause, next));
    }
    study
}

#[test]
fn a_finding_of_several_places_stands_once_with_the_places() {
    let mut study = found_on_two_places();
    let rounds = study.rows.iter().map(|row| row.round + 1).max().unwrap();
    let seen = format!(
        "local (all 5 tests), nfs (randread), 6 of {} runs: CPU contention: I/O threads waited 20 to 41 % of the time",
        6 * rounds
    );
    let next = "local: stop the other processes; nfs: use fewer jobs";
    let sheet = |study: &Study| fsdyno_present::sheet::html(std::slice::from_ref(study), &Default::default());
    for face in [
        text(&study, 400),
        fsdyno_present::tables::markdown(&study),
        fsdyno_present::export::markdown(&study),
        flowing(&visible(&sheet(&study))),
    ] {
        assert_eq!(face.matches(&seen).count(), 1, "{seen}: {face}");
        assert_eq!((face.matches(next).count(), face.matches("I/O threads waited 41").count()), (1, 0), "{face}");
    }
    // The marks of both places link to the same card.
    let page = sheet(&study);
    let ids: Vec<&str> = page.split(" id=\"").skip(1).filter_map(|part| part.split('"').next()).collect();
    for anchor in ["finding-0-cpu-starved", "finding-1-cpu-starved"] {
        assert_eq!(ids.iter().filter(|id| id.ends_with(anchor)).count(), 1, "{anchor}: {ids:?}");
    }
    study.rows.iter_mut().flat_map(|row| &mut row.findings).for_each(|finding| finding.next = "stop it".into());
    assert!(text(&study, 400).contains("next: stop it\n    fsdyno explain cpu-starved\n"), "{}", text(&study, 400));
}

#[test]
fn what_is_invalid_is_no_figure_of_the_answer() {
    let mut study = measured();
    study.rows[0].findings[0].severity = Severity::Invalid;
    let headline = Headline::of(&study);
    let sentence = headline.headline.unwrap();
    assert!(!sentence.contains(&number(headline.tests[0].mb_per_s.unwrap())), "{sentence}");
    let text = fsdyno_present::tables::text(&study, 120);
    assert!(text.lines().any(|line| line.starts_with("read ") && line.contains(" invalid ")), "{text}");
    assert!(text.contains("invalid: 3 of 5 tests, 1 of them invalid: CPU contention"), "{text}");
}

/// The words of a form without line breaks and marks.
fn flowing(face: &str) -> String {
    let plain = face.replace("**", "").replace(['|', '\u{a0}', '\\'], " ");
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn each_verdict_is_the_same_on_every_face_and_comes_first() {
    let study = odd::check();
    let headline = Headline::of(&study);
    assert_eq!(headline.verdicts.len(), study.verdicts.len());
    let document: Value = serde_json::from_str(&Headline::json(&study)).unwrap();
    let terminal = fsdyno_present::tables::text(&study, 120);
    let first: Vec<&str> = terminal.lines().skip(2).take(headline.verdicts.len()).collect();
    for (index, (verdict, row)) in headline.verdicts.iter().zip(&study.verdicts).enumerate() {
        let in_json = &document["summary"]["verdicts"][index];
        assert_eq!((&in_json["verdict"], &in_json["measured"]), (&verdict.verdict.into(), &row.measured.into()));
        assert_eq!(in_json["interval"]["low"].as_f64(), row.interval.map(|interval| interval.low));
        assert!(first.iter().any(|line| line.starts_with(&row.requirement.profile)), "{terminal}");
        let figure = row.measured.map(|value| format!("{}: {} {}", verdict.title, number(value), verdict.unit));
        for face in [&terminal, &fsdyno_present::tables::markdown(&study)] {
            assert!(flowing(face).contains(verdict.verdict), "{face}");
            let words = flowing(&figure.clone().unwrap_or_else(|| verdict.reason.clone()));
            assert!(flowing(face).contains(&words), "no {words} in {face}");
        }
    }
}

#[test]
fn a_comparison_has_the_same_figures_and_winners_on_every_face() {
    let study = fixture::comparison();
    let headline = Headline::of(&study);
    let document: Value = serde_json::from_str(&Headline::json(&study)).unwrap();
    let (narrow, wide) = (fsdyno_present::tables::screen(&study, 80), fsdyno_present::tables::text(&study, 80));
    let (markdown, exported) = (fsdyno_present::tables::markdown(&study), fsdyno_present::export::markdown(&study));
    assert_eq!(headline.standings.len(), 5);
    for (index, standing) in headline.standings.iter().enumerate() {
        let in_json = &document["summary"]["standings"][index];
        assert_eq!(in_json["winner"].as_str(), standing.winner.as_deref());
        assert_eq!(in_json["conclusion"], standing.conclusion.as_str());
        for face in [&narrow, &wide, &markdown, &exported] {
            assert!(flowing(face).contains(&standing.conclusion), "{}: {face}", standing.conclusion);
        }
        // The small table has the same figures as the large one.
        for test in headline.tests.iter().filter(|test| test.name == standing.name && test.error.is_none()) {
            let figure = number(test.iops.unwrap());
            let mark = if test.trust == fsdyno_results::Trust::Invalid { "!!" } else { "" };
            let shown = flowing(&format!("{figure} IOPS {mark}"));
            // Lines of the headline above it may begin with a name, too.
            let (_, table) = narrow.split_once("\n\n").unwrap();
            assert!(flowing(line(table, &standing.name)).contains(&shown), "{shown} in {narrow}");
            assert!(wide.contains(&figure), "{figure} in {wide}");
        }
        assert_ne!(standing.winner.as_deref(), Some("s3"), "what is invalid cannot win");
    }
    assert!(!narrow.contains("CPU %  ") && wide.contains("CPU %  ") && markdown.contains("CPU %  "), "{wide}");
    let of = |question: Question| Study { question, ..measured() };
    for study in [of(Question::Sweep), of(Question::Curve)] {
        let advice = "4k random read: use depth 8: 92 % of the most IOPS at 31 % of the latency of depth 64.";
        let study = Study { sentences: vec![format!("{advice} The knee is there.")], ..study };
        assert_eq!(Headline::of(&study).headline.as_deref(), Some(advice));
        let text = fsdyno_present::tables::text(&study, 80);
        assert!(flowing(text.split_once("\n\n").unwrap().1).starts_with(advice), "{text}");
        assert!(text.matches("use depth 8").count() == 1 && text.contains("The knee is there."), "{text}");
    }
}

#[test]
fn a_file_that_could_not_be_written_is_the_answer() {
    let mut study = measured();
    study.rows.truncate(1);
    (study.rows[0].pattern, study.rows[0].findings) = (test_name::FILL.into(), Vec::new());
    let error = JobError { code: 28, function: "write".into(), text: "No space left on device".into() };
    study.rows[0].run.as_mut().unwrap().jobs[0].error = Some(error);
    for question in [Question::Measure, Question::Sweep, Question::Curve] {
        study.question = question;
        let headline = Headline::of(&study);
        let answer = "nothing was measured: the file could not be written: No space left on device (write, errno 28)";
        assert_eq!(headline.headline.as_deref(), Some(answer));
        assert_eq!(headline.next.len(), 1, "{:?}", headline.next);
        assert!(
            headline.next[0].what.starts_with("free some space, or use a smaller file with --size"),
            "{:?}",
            headline.next
        );
        assert!(flowing(&fsdyno_present::tables::text(&study, 80)).contains(answer));
    }
}

#[test]
fn where_little_can_be_trusted_the_answer_says_why() {
    let mut study = measured();
    let findings = study.rows[0].findings.clone();
    for row in &mut study.rows[..4] {
        row.findings = findings.clone();
        row.findings[0].severity = Severity::Invalid;
    }
    let sentence = Headline::of(&study).headline.unwrap();
    assert!(
        sentence.starts_with("a 4k read takes") && sentence.contains("; nothing else can be trusted: CPU"),
        "{sentence}"
    );
    study.rows.truncate(4);
    let sentence = Headline::of(&study).headline.unwrap();
    assert!(sentence.starts_with("no figure can be trusted: CPU contention"), "{sentence}");
}

#[test]
fn a_sweep_without_a_figure_that_counts_has_no_table_of_dashes() {
    let finding = measured().rows[0].findings[0].clone();
    let mut study = odd::sweep(Question::Sweep);
    study.rows.iter_mut().for_each(|row| {
        row.findings = vec![fsdyno_results::Finding { severity: Severity::Invalid, ..finding.clone() }]
    });
    let printed = text(&study, 80);
    assert!(printed.contains("no figure can be trusted: CPU contention"), "{printed}");
    assert!(printed.contains("depth 1, 2, 4, 8, 16, 32 and 64: invalid") && !printed.contains(" - "), "{printed}");
    study.rows[3].findings.clear();
    assert!(text(&study, 80).contains("depth runs"), "one depth is a table");
}

#[test]
fn the_latency_of_a_durable_write_is_that_of_its_sync_everywhere() {
    let mut study = measured();
    let row = &mut study.rows[1];
    (row.pattern, row.round) = (test_name::SYNC_LATENCY.into(), 0);
    let mut sync = fsdyno_results::Latency::with_histogram();
    (0..2000).for_each(|_| sync.record(129_000));
    for job in &mut row.run.as_mut().unwrap().jobs {
        job.sync.lat = sync.clone();
    }
    let row = study.rows[1].clone();
    let test = Headline::of(&study).tests.into_iter().find(|test| test.name == test_name::SYNC_LATENCY).unwrap();
    let p50 = latency(test.latency_us.unwrap().p50.unwrap() * 1e3);
    let step = fsdyno_present::tables::summary(&row);
    assert!(step.contains(&format!("p50 {p50}")), "{step}");
    let digest = fsdyno_results::Digest::of(&study);
    let of_sync = digest.tests.iter().find(|test| test.pattern == test_name::SYNC_LATENCY).unwrap();
    assert_eq!(of_sync.figure(fsdyno_results::Measure::P50).map(latency), Some(p50.clone()));
    // Where a requirement is on the syncs, the latency is that of the syncs, and the sheet says so.
    let study = odd::check();
    let p99 = |study: &Study| Headline::of(study).tests[0].latency_us.unwrap().p99.unwrap();
    let sheet = fsdyno_present::sheet::html(std::slice::from_ref(&study), &Default::default());
    let table = sheet.split("<table class=\"wide\">").nth(1).unwrap().split("</table>").next().unwrap();
    assert!(table.contains("data-label=\"Latency of\">sync</td>"), "{table}");
    assert!(table.replace('\u{a0}', " ").contains(&format!("data-label=\"p99\">{}</td>", latency(p99(&study) * 1e3))));
    let of_writes = Study { verdicts: Vec::new(), ..study.clone() };
    assert_ne!(p99(&of_writes), p99(&study));
    // The same for any other test with syncs.
    let other = Row { pattern: "write".into(), ..row };
    let step = fsdyno_present::tables::summary(&other);
    assert!(step.contains(&format!("sync p50 {p50}")), "{step}");
}

#[test]
fn tests_of_another_tool_stand_side_by_side_under_its_names() {
    let mut study = measured();
    study.rows.truncate(4);
    let [sequential, random] = [test_name::CDM[0], test_name::CDM[2]];
    for (row, name) in study.rows.iter_mut().zip([sequential.read, sequential.write, random.read, random.write]) {
        row.pattern = name.into();
    }
    let headline = Headline::of(&study);
    let sentence = headline.headline.unwrap();
    let [read, write, random_read, random_write] = &headline.tests[..] else { panic!("{sentence}") };
    let moved = |test: &TestFigures| number(test.mb_per_s.unwrap());
    let typical = |test: &TestFigures| test.latency_us.unwrap().p50.unwrap();
    let requests = |test: &TestFigures| {
        format!("({} IOPS, a median of {})", number(test.iops.unwrap()), latency(typical(test) * 1e3))
    };
    assert_eq!(
        sentence,
        format!(
            "SEQ1M Q8T1 reads {} MB/s and writes {} MB/s; RND4K Q32T1 reads {} MB/s {} and writes {} MB/s {}",
            moved(read),
            moved(write),
            moved(random_read),
            requests(random_read),
            moved(random_write),
            requests(random_write),
        )
    );
    let terminal = text(&study, 80);
    let cells = |name: &str| -> Vec<String> {
        let line = terminal.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_else(|| panic!("{terminal}"));
        line.split_whitespace().map(str::to_owned).collect()
    };
    assert_eq!(cells("SEQ1M Q8T1  "), [moved(read), moved(write)]);
    let both = |figure: &dyn Fn(&TestFigures) -> String| [figure(random_read), figure(random_write)];
    let all = [both(&moved), both(&|test| number(test.iops.unwrap())), both(&|test| number(typical(test)))].concat();
    assert_eq!(cells("RND4K Q32T1  "), all);
    let sheet = fsdyno_present::sheet::html(std::slice::from_ref(&study), &Default::default());
    assert_eq!(sheet.matches("class=\"tile-name\"").count(), 4, "a tile for each");
}
