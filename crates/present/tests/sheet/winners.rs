//! Tests who wins a pattern of a comparison.

use fsdyno_present::tables::{markdown, screen, text};
use fsdyno_results::{Finding, Severity, Study};

use crate::fixture;

/// Random reads at these rates, MB/s: a list of rounds for each place.
fn race(rates: &[&[f64]]) -> Study {
    let mut study = fixture::comparison();
    let row = study.rows.iter().find(|row| row.target == 0 && row.pattern == "randread").unwrap().clone();
    study.targets.truncate(rates.len());
    study.rows.clear();
    study.sentences.clear();
    for (target, rates) in rates.iter().enumerate() {
        for (round, rate) in rates.iter().enumerate() {
            let mut row = row.clone();
            (row.target, row.round) = (target, round as u32);
            let run = row.run.as_mut().unwrap();
            run.jobs.truncate(1);
            let read = &mut run.jobs[0].directions.read;
            (read.runtime_ms, read.bytes, read.ios) = (2000, (rate * 2e6) as u64, (rate * 2e6 / 4096.0) as u64);
            study.rows.push(row);
        }
    }
    study
}

fn against(study: &mut Study, target: usize, id: &str) {
    let (job, numbers) = (None, Vec::new());
    let finding = Finding { job, numbers, ..Finding::new(id, Severity::Caution, "seen", "look") };
    study.rows.iter_mut().filter(|row| row.target == target).for_each(|row| row.findings.push(finding.clone()));
}

#[track_caller]
fn says(study: &Study, words: &str) {
    let text = text(study, 200);
    assert!(text.contains(words), "`{words}` is missing:\n{text}");
}

const EVEN: [f64; 8] = [100.0, 101.0, 99.0, 100.0, 102.0, 98.0, 100.0, 101.0];
const SLOWER: [f64; 8] = [80.0, 81.0, 79.0, 80.0, 82.0, 78.0, 80.0, 81.0];

#[test]
fn the_winner_is_the_one_that_the_pairs_name() {
    says(&race(&[&EVEN, &SLOWER]), "local wins (1.25x)");
    // Local is a tenth faster in eleven rounds of twelve, but has the lower median.
    let nfs: Vec<f64> = (2..=12).map(|step| f64::from(step) * 10.0).chain([1000.0]).collect();
    let local: Vec<f64> = (2..=12).map(|step| f64::from(step) * 11.0).chain([9.0]).collect();
    let study = race(&[&local, &nfs]);
    says(&study, "local wins (1.10x)");
    let sheet = fsdyno_present::sheet::html(std::slice::from_ref(&study), &Default::default());
    for page in [screen(&study, 80), markdown(&study), sheet] {
        assert!(page.contains("x median of the rounds' ratios"), "not the ratio of the medians beside it: {page}");
    }
    says(&race(&[&nfs, &local]), "nfs wins (1.10x)");
}

#[test]
fn what_the_rounds_cannot_show_or_what_is_small_has_no_winner() {
    let mut once = SLOWER;
    once[3] = 120.0;
    says(&race(&[&EVEN, &once]), "no difference shown: ");
    let hair: Vec<f64> = EVEN.iter().map(|rate| rate * 0.99).collect();
    says(&race(&[&EVEN, &hair]), "no difference shown: ");
    says(&race(&[&EVEN[..6], &SLOWER[..6]]), "too few rounds (local 1.25x)");
}

#[test]
fn a_winner_is_ahead_of_all_others() {
    says(&race(&[&EVEN, &SLOWER, &EVEN]), "no difference shown: ");
    let slowest = SLOWER.map(|rate| rate / 2.0);
    says(&race(&[&slowest, &EVEN, &SLOWER]), "nfs wins (1.25x s3)");
}

#[test]
fn what_says_too_little_cannot_win_and_can_lose() {
    for id in ["too-short", "not-visible"] {
        let mut study = race(&[&EVEN, &SLOWER]);
        against(&mut study, 0, id);
        says(&study, "only nfs can win");
        let mut study = race(&[&EVEN, &SLOWER]);
        against(&mut study, 1, id);
        says(&study, "local wins (1.25x)");
    }
}
