//! Tests the exports: valid in their own format, and equal to the study.

use std::collections::{BTreeMap, BTreeSet};

use fsdyno_fio_report::json::documents;
use fsdyno_present::export::{csv, markdown, openmetrics, openmetrics_of_failure};
use fsdyno_results::{Finding, Question, Severity, Study};
use jiff::tz::TimeZone;

use crate::{fixture, odd};

fn all() -> Vec<Study> {
    let mut studies = vec![
        fixture::comparison(),
        odd::nothing(),
        odd::one_bare_row(),
        odd::failed_job(),
        odd::hostile(),
        odd::long_names(),
    ];
    studies.extend([odd::small_files(), odd::check(), odd::sweep(fsdyno_results::Question::Sweep)]);
    studies
}

/// Parses RFC 4180 strictly into records of fields.
fn parse_csv(text: &str) -> Vec<Vec<String>> {
    let mut records = vec![vec![String::new()]];
    let mut characters = text.chars().peekable();
    let mut quoted = false;
    while let Some(character) = characters.next() {
        let record = records.last_mut().expect("a record");
        let field = record.last_mut().expect("a field");
        match character {
            '"' if quoted && characters.peek() == Some(&'"') => {
                field.push('"');
                characters.next();
            }
            '"' if quoted => {
                quoted = false;
                assert!(
                    matches!(characters.peek(), Some(',' | '\n') | None),
                    "a quoted field ends where the field ends"
                );
            }
            '"' => {
                assert!(field.is_empty(), "a quote begins a field");
                quoted = true;
            }
            ',' if !quoted => record.push(String::new()),
            '\n' if !quoted => records.push(vec![String::new()]),
            other => field.push(other),
        }
    }
    assert!(!quoted && records.pop() == Some(vec![String::new()]), "it ends with a line feed");
    records
}

#[test]
fn csv_has_a_line_for_each_round_and_direction() {
    let study = fixture::comparison();
    let records = parse_csv(&csv(&study));
    let column = |name: &str| records[0].iter().position(|known| known == name).expect(name);
    // Four patterns with one direction, one pattern with two.
    assert_eq!(records.len(), 1 + 120 + 24);
    let reads: Vec<&Vec<String>> = records
        .iter()
        .filter(|record| record[column("target")] == "nfs" && record[column("pattern")].starts_with("randread"))
        .collect();
    assert_eq!(reads.len(), 8);
    let row = study.rows.iter().find(|row| row.target == 1 && row.pattern.starts_with("randread")).expect("a row");
    let bytes: u64 = row.run.iter().flat_map(|run| &run.jobs).map(|job| job.directions.read.bytes).sum();
    assert_eq!(reads[0][column("bytes")], bytes.to_string());
    assert_eq!(reads[0][column("mb_per_s")], ((bytes as f64 / 30.0 / 1e3).round() / 1e3).to_string());
    assert_eq!((reads[0][column("round")].as_str(), reads[4][column("round")].as_str()), ("1", "5"));
    assert_eq!(reads[0][column("last_sync_s")], "", "unknown is empty");
}

/// A latency has the same name, definition and least number of samples in every form.
#[test]
fn a_latency_is_the_same_on_every_face() {
    let mut study = fixture::comparison();
    study.targets.truncate(1);
    study.rows.retain(|row| row.target == 0 && row.round == 0 && row.pattern.starts_with("randread"));
    for (count, has_p99) in [(100_000, true), (256, false)] {
        let run = study.rows[0].run.as_mut().unwrap();
        run.jobs.truncate(1);
        let job = &mut run.jobs[0];
        // clat is set to a third of lat.
        job.directions.read.clat = fixture::latency(100_000.0, 0.1, count);
        job.directions.read.lat = fixture::latency(300_000.0, 0.1, count);
        let total = study.rows[0].figures().unwrap().total;
        let figures = total.latency.unwrap();
        assert_eq!(figures.p99_ns.is_some(), has_p99);
        let records = parse_csv(&csv(&study));
        let column = |name: &str| records[0].iter().position(|known| known == name).expect(name);
        let line = records.iter().find(|record| record[column("direction")] == "read").unwrap();
        let microseconds = |ns: u64| (ns as f64 / 1e3).to_string();
        assert_eq!(line[column("latency_us_p50")], microseconds(figures.p50_ns));
        assert_eq!(line[column("latency_us_p99")], figures.p99_ns.map(microseconds).unwrap_or_default());
        let asked = fsdyno_results::Study { question: fsdyno_results::Question::Measure, ..study.clone() };
        let p50 = fsdyno_text::quantity::latency(figures.p50_ns as f64);
        let page = fsdyno_present::sheet::html(std::slice::from_ref(&asked), &Default::default());
        let terminal = fsdyno_present::tables::text(&asked, 120);
        assert!(terminal.contains(&p50), "{terminal}");
        assert!(page.replace('\u{a0}', " ").contains(&p50), "the sheet has another p50");
        // Small requests are counted: the chart's line equals the tile's figure.
        let rate = fsdyno_text::quantity::number(total.iops);
        assert!(page.contains(&format!("{rate} IOPS in the table.")), "the chart has another rate than {rate}");
        if let Some(p99_ns) = figures.p99_ns {
            assert!(terminal.contains(&fsdyno_text::quantity::latency(p99_ns as f64)), "{terminal}");
        }
    }
}

#[test]
fn csv_is_valid_whatever_the_names() {
    for study in all() {
        let records = parse_csv(&csv(&study));
        assert!(records.iter().all(|record| record.len() == records[0].len()));
    }
    let failed = parse_csv(&csv(&odd::failed_job()));
    assert!(failed.iter().any(|record| record.iter().any(|field| field.contains("No space left"))));
}

#[test]
fn markdown_tables_have_the_same_columns_in_every_line() {
    for study in all() {
        let text = markdown(&study);
        let mut columns: Option<usize> = None;
        for line in text.lines() {
            if !line.starts_with('|') {
                columns = None;
                continue;
            }
            let count = line.replace("\\\\", "").replace("\\|", "").matches('|').count();
            assert_eq!(*columns.get_or_insert(count), count, "{line}");
        }
        // Inside the command's block everything is code.
        let outside: String = text.split("```").step_by(2).collect();
        assert!(!outside.contains("<script") && !outside.contains("<img"));
    }
}

#[test]
fn markdown_says_what_the_sheet_says() {
    let text = markdown(&fixture::comparison());
    for words in [
        "| | local | nfs | s3 |",
        "**517\u{a0}MB/s**",
        "0.21x baseline (0.20–0.21)",
        "**invalid**: fuse-cache",
        "not compared",
        "- **caution** `speed-drop`: local, write: The speed fell by half",
        "Next: mount it again without use\\_cache",
    ] {
        assert!(text.contains(words), "{words}\n{text}");
    }
    let verdicts = markdown(&odd::check());
    assert!(verdicts.contains("| **FAIL** | 99th percentile of fdatasync | 14.0 ms | 10 ms |"), "{verdicts}");
}

/// Checks the grammar that OpenMetrics and Prometheus' text format share, as far as it is used: each family once with
/// its lines together, each series once; values are numbers.
pub(crate) fn check_metrics(text: &str) -> BTreeMap<String, String> {
    let lines = text.strip_suffix("# EOF\n").expect("the end is marked");
    let (mut kinds, mut series) = (BTreeMap::new(), BTreeSet::new());
    let mut family = String::new();
    for line in lines.lines() {
        if let Some(words) = line.strip_prefix("# ") {
            let (word, rest) = words.split_once(' ').expect("a word");
            let (name, value) = rest.split_once(' ').expect("a name");
            match word {
                "TYPE" => {
                    assert!(["gauge", "summary"].contains(&value), "{line}");
                    assert!(kinds.insert(name.to_owned(), value.to_owned()).is_none(), "{name} twice");
                    family = name.to_owned();
                }
                "UNIT" => assert!(name == family && name.ends_with(&format!("_{value}")), "{line}"),
                "HELP" => assert!(name == family && !value.contains('\\'), "{line}"),
                other => panic!("{other}"),
            }
            continue;
        }
        let (name_and_labels, value) = line.rsplit_once(' ').expect("a value");
        assert!(value.parse::<f64>().is_ok_and(f64::is_finite), "{line}");
        let name = name_and_labels.split('{').next().unwrap_or_default();
        assert!(
            [&family, &format!("{family}_sum"), &format!("{family}_count")].iter().any(|known| *known == name),
            "{line}"
        );
        check_labels(&name_and_labels[name.len()..]);
        assert!(series.insert(name_and_labels.to_owned()), "twice: {line}");
    }
    kinds
}

/// Checks `{name="value",…}`, or nothing.
fn check_labels(text: &str) {
    let Some(mut rest) = text.strip_prefix('{') else { return assert_eq!(text, "") };
    loop {
        let (name, after) = rest.split_once("=\"").expect("a label");
        assert!(name.chars().all(|character| character.is_ascii_lowercase()), "{name}");
        let mut end = None;
        let mut escaped = false;
        for (index, character) in after.char_indices() {
            match character {
                _ if escaped => {
                    assert!(['\\', '"', 'n'].contains(&character));
                    escaped = false;
                }
                '\\' => escaped = true,
                '"' => {
                    end = Some(index);
                    break;
                }
                _ => assert!(!character.is_control()),
            }
        }
        let after = &after[end.expect("a value ends") + 1..];
        match after.strip_prefix(',') {
            Some(more) => rest = more,
            None => return assert_eq!(after, "}"),
        }
    }
}

#[test]
fn metrics_follow_the_grammar() {
    for study in all() {
        check_metrics(&openmetrics(&study));
    }
    let text = openmetrics(&fixture::comparison());
    let kinds = check_metrics(&text);
    assert_eq!(kinds["fsdyno_latency_seconds"], "summary");
    let path = &fixture::comparison().targets[2].path;
    let labels = format!("question=\"compare\",place=\"{path}\",target=\"s3\",pattern=\"read\"");
    assert!(text.contains(&format!("fsdyno_trust{{{labels}}} 2\n")));
    assert!(text.contains(&format!("fsdyno_latency_seconds{{{labels},direction=\"read\",quantile=\"0.99\"}} 0.0022")));
    assert!(text.contains("fsdyno_verdict") == openmetrics(&odd::check()).contains("fsdyno_missing"));
    assert!(openmetrics(&odd::check()).contains("verdict=\"inconclusive\"} 1"));
}

/// node_exporter reads the files of all services, and drops a series that stands in two of them.
#[test]
fn two_services_have_no_series_in_common() {
    let of = |path: &str, question: Question| {
        let mut study = odd::check();
        study.question = question;
        for target in &mut study.targets {
            path.clone_into(&mut target.path);
        }
        let text = openmetrics(&study);
        let series = text.lines().filter(|line| !line.starts_with('#'));
        series.map(|line| line.rsplit_once(' ').unwrap().0.to_owned()).collect::<BTreeSet<_>>()
    };
    let (one, two, other) =
        (of("/srv/a", Question::Check), of("/srv/b", Question::Check), of("/srv/a", Question::Measure));
    assert!(one.len() > 3 && one.iter().all(|series| series.contains("place=\"/srv/a\"")), "{one:?}");
    assert!(one.is_disjoint(&two) && one.is_disjoint(&other), "{one:?} {two:?} {other:?}");
}

#[test]
fn a_question_that_failed_exports_that_alone() {
    let text = openmetrics_of_failure(Question::Check, &["/srv/a\"b".to_owned()], 1_500);
    assert_eq!(check_metrics(&text).len(), 2);
    for line in [
        "fsdyno_complete{question=\"check\",place=\"/srv/a\\\"b\"} 0",
        "fsdyno_end_timestamp_seconds{question=\"check\",place=\"/srv/a\\\"b\"} 1.5",
    ] {
        assert!(text.contains(&format!("{line}\n")), "{text}");
    }
}

#[test]
fn each_row_is_a_document_of_its_own() {
    let study = fixture::comparison();
    let each = documents(&study, &TimeZone::UTC);
    assert_eq!(each.len(), 120);
    let names: BTreeSet<&str> = each.iter().map(|document| document.name.as_str()).collect();
    assert_eq!(names.len(), 120);
    assert_eq!(each[1].name, "002-nfs-read-r1.json");
    for document in each {
        let parsed: serde_json::Value = serde_json::from_str(&document.document).expect("JSON");
        assert_eq!(parsed["jobs"].as_array().map(Vec::len), Some(1), "a group is one job");
    }
    for document in documents(&odd::hostile(), &TimeZone::UTC) {
        assert!(document.name.chars().all(|character| character.is_ascii_alphanumeric() || "-_.".contains(character)));
    }
    assert!(documents(&odd::small_files(), &TimeZone::UTC).is_empty());
}

#[test]
fn the_terminals_table_fits_and_says_what_an_interval_is_worth() {
    let mut study = fixture::comparison();
    // A cell with several findings is as narrow as its longest one.
    let found =
        study.rows.iter().flat_map(|row| &row.findings).find(|found| found.severity == Severity::Caution).cloned();
    let found = found.expect("a caution");
    for row in &mut study.rows {
        let named = ["depth-not-reached", "compressible-data"].map(|id| Finding { id: id.into(), ..found.clone() });
        row.findings.extend(named);
    }
    let text = fsdyno_present::tables::text(&study, 80);
    let wide: Vec<&str> = text.lines().filter(|line| line.chars().count() > 80).collect();
    assert_eq!(wide, [""; 0]);
    for words in ["ratio to local", "99 % interval", "scatter %", "not compared", "!! invalid, cannot win"] {
        assert!(text.contains(words), "{words} is missing:\n{text}");
    }
    // Five rounds are fewer than were asked for.
    let mut five = study.clone();
    five.rows.retain(|row| row.round < 5);
    assert!(fsdyno_present::tables::text(&five, 80).contains("94 % interval"));
    let mut one = study;
    one.rows.retain(|row| row.round == 0);
    let text = fsdyno_present::tables::text(&one, 80).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("One round cannot show a difference") && !text.contains(" wins "), "{text}");
}

#[test]
fn cpu_time_below_its_clocks_tick_is_not_zero() {
    let mut study = fixture::comparison();
    let shown = |study: &Study| {
        let text = fsdyno_present::tables::text(study, 80);
        let line =
            |name: &str| text.lines().find(|line| line.trim_start().starts_with(name)).unwrap_or_default().to_owned();
        [line("CPU %"), line("MB per CPU-s")]
            .map(|line| line.split_whitespace().rev().nth(1).unwrap_or_default().to_owned())
    };
    assert!(shown(&study).iter().all(|nfs| nfs.parse::<f64>().is_ok()), "{:?}", shown(&study));
    let row = study.rows.iter_mut().find(|row| row.target == 1 && row.pattern == "read").expect("reads through NFS");
    for job in row.run.iter_mut().flat_map(|run| &mut run.jobs) {
        (job.user_ns, job.system_ns) = (0, 0);
    }
    assert_eq!(shown(&study), ["-", "-"], "one round's is not known, so that the others' would be too much");
    let page = fsdyno_present::sheet::html(&[study], &fsdyno_present::sheet::SheetOptions::default());
    assert!(page.contains("not measured"));
}
