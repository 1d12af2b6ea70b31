use fsdyno_results::{Finding, Latency, Question, Row, Severity, Study};

use crate::tables::sweep::tests::{latencies, row, study};
use crate::tables::text;

/// A row with this percentage of 40,000 requests per second.
fn load(percent: u64, achieved_per_s: u64, response: Latency) -> Row {
    let (pattern, title) =
        (format!("randread-4k-load{percent}"), format!("4k random read, {percent} % of the capacity"));
    let mut row = row(&pattern, &title, achieved_per_s * 5, latencies(100_000));
    let job = &mut row.run.as_mut().unwrap().jobs[0];
    job.options.push(("rate_iops".into(), (percent * 400).to_string()));
    job.directions.read.response = Some(response);
    row
}

fn curve() -> Study {
    let mut study = study(Question::Curve);
    let look = |depth: u32, iops: u64| {
        row(&format!("randread-4k-qd{depth}"), &format!("4k random read, depth {depth}"), iops * 5, latencies(100_000))
    };
    study.rows.extend([look(1, 10_000), look(4, 39_000), look(16, 40_000)]);
    study.rows.extend([
        load(10, 4_010, latencies(105_000)),
        load(50, 19_990, latencies(120_000)),
        load(90, 35_900, latencies(400_000)),
        load(120, 40_100, latencies(800_000_000)),
    ]);
    study.sentences.push("At 120 % the storage falls behind.".into());
    study
}

#[test]
fn the_tables_and_the_chart() {
    let text = text(&curve(), 80);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    insta::assert_snapshot!(text);
}

/// Kept up is what the row itself shows: 98 % of what it offered, however few requests that are.
#[test]
fn kept_up_is_an_observation_of_the_row() {
    let last_line = |ios: u64| {
        let mut study = curve();
        let alone = study.rows.len() - 1;
        let job = &mut study.rows[alone].run.as_mut().unwrap().jobs[0];
        job.options = vec![("rate_iops".into(), "60".into())];
        (job.directions.read.ios, job.directions.read.runtime_ms) = (ios, 5000);
        study.rows.drain(3..alone);
        let text = text(&study, 100);
        text.lines().find(|line| line.starts_with("120 %")).unwrap_or_else(|| panic!("{text}")).to_owned()
    };
    assert!(last_line(249).contains(" no "), "83 %: {}", last_line(249));
    assert!(last_line(293).contains(" no ") && last_line(294).contains(" yes "), "{}", last_line(294));
}

#[test]
fn an_invalid_load_is_marked_in_the_charts() {
    let mut study = curve();
    let page = |study: &Study| crate::sheet::html(std::slice::from_ref(study), &Default::default());
    let caption = |study: &Study| {
        let page = page(study);
        let caption = page.split("Response time under load.").nth(1).and_then(|rest| rest.split("</figure>").next());
        caption.unwrap_or_else(|| panic!("{page}")).to_owned()
    };
    assert!(!text(&study, 200).contains("(invalid: ") && !caption(&study).contains("invalid"));
    let last = study.rows.last_mut().expect("it has loads");
    last.findings.push(Finding::new("page-cache", Severity::Invalid, "a cache answered", "look at it"));
    assert!(text(&study, 200).contains("of the capacity (invalid: 120); o is p50"), "{}", text(&study, 200));
    assert!(caption(&study).contains("4k random read, 120 % of the capacity"), "{}", caption(&study));
    let panels = page(&study).matches("badge invalid").count();
    assert!(panels >= 3, "a row, its panel and the load chart: {panels}");
}

#[test]
fn a_study_that_was_stopped_early_shows_what_there_is() {
    let mut study = curve();
    study.rows.truncate(2);
    study.complete = false;
    let text = text(&study, 80);
    assert!(text.contains("Closed loop") && !text.contains("Open loop") && text.contains("Stopped early"), "{text}");
}
