//! Tests of the sentences, with figures.

use std::sync::Arc;

use fsdyno_results::evidence::{Storage, StorageClass};
use fsdyno_results::{Histogram, Latency, Moments, PhaseRecord, Question, Target, Trust};
use testkit::draw::{Draw, Test as Drawn, TestWork, cases, number_after, numbers, printed, time_after, unexplained};

use super::super::rule;
use super::*;
use crate::study::{Caller, StudyRun, planned_row};
use crate::watch::SilentWatcher;

/// A phase whose operations took `each_ns` each.
fn phase(name: &str, operations: u64, each_ns: u64) -> PhaseRecord {
    let mut moments = Moments::default();
    let mut counts = vec![0; fsdyno_results::BUCKETS];
    (0..operations).for_each(|_| moments.record(each_ns));
    counts[fsdyno_results::bucket_of(each_ns)] = operations;
    PhaseRecord {
        name: name.into(),
        operations,
        elapsed_ns: operations * each_ns,
        latency: Latency { moments, histogram: Some(Histogram::from_counts(counts)) },
        ..PhaseRecord::default()
    }
}

fn study(phases: &[(&str, u64, u64)], published: bool) -> Study {
    let row = |(name, operations, each_ns): &(&str, u64, u64)| fsdyno_results::Row {
        phase: Some(phase(name, *operations, *each_ns)),
        ..planned_row(0, name, name, 0, Vec::new())
    };
    let control = Arc::new(fsdyno_run::Control::default());
    let caller = Caller { version: "test", command: Vec::new(), control, watcher: &mut SilentWatcher };
    let mut study = StudyRun::begin(Question::SmallFiles, &[], caller).finish();
    study.rows = phases.iter().map(row).collect();
    rule::judge(&mut study, published);
    study
}

fn mount(fstype: &str) -> Mount {
    Mount { fstype: fstype.into(), ..Mount::default() }
}

#[test]
fn on_a_disk_and_what_the_loops_would_add() {
    let phases = [("write", 1001, 23_000), ("read", 1001, 8_000), ("fsync-file", 1001, 4_000_000)];
    let sentences = of(&study(&phases, true), Some(&mount("ext4")), Some([17_000_000, 3_260_000_000]));
    insta::assert_snapshot!(sentences.join("\n"));
}

#[test]
fn of_the_literal_loops() {
    let phases = [
        ("write", 1001, 23_000),
        ("read", 1001, 8_000),
        ("shell-write", 1001, 40_000),
        ("shell-read", 1001, 3_300_000),
    ];
    let storage = Storage { class: StorageClass::Memory, ..Storage::default() };
    let study = Study { targets: vec![Target { storage, ..Target::default() }], ..study(&phases, true) };
    let sentences = of(&study, Some(&mount("tmpfs")), Some([17_000_000, 3_260_000_000]));
    insta::assert_snapshot!(sentences.join("\n"));
}

#[test]
fn of_other_files_on_object_storage() {
    let phases =
        [("write", 50, 72_900_000), ("read", 50, 4_000_000), ("create", 26, 123_000_000), ("unlink", 50, 9_000_000)];
    let sentences = of(&study(&phases, false), Some(&mount("fuse.s3fs")), None);
    insta::assert_snapshot!(sentences.join("\n"));
}

#[test]
fn files_within_the_metadata_are_not_called_cold() {
    let phases = [("write", 1001, 23_000), ("read", 1001, 8_000), ("open-read", 1001, 3_000)];
    let mut study = study(&phases, true);
    let said =
        |study: &Study| of(study, Some(&mount("btrfs")), None).concat().contains("open+read is not of the device");
    assert!(!said(&study));
    study.rows[2].phase.as_mut().unwrap().cache = Some(HOT_INLINE.into());
    assert!(said(&study));
}

const PHASES: [&str; 6] = ["write", "read", "fsync-file", "create", "stat-cold", "unlink"];

fn drawn(draw: &mut Draw) -> Study {
    let mut study = study(&[], true);
    let rounds = draw.one_of(&[1, 2, 3]);
    for pattern in PHASES {
        let per_s = draw.one_of(&[40.0, 99.0, 101.0, 900.0, 12_000.0]);
        let test = Drawn { target: 0, pattern, does: TestWork::Phase, depth: 1, block_bytes: 5, rounds, per_s };
        study.rows.extend(draw.rounds(&test));
    }
    rule::judge(&mut study, true);
    study
}

/// The passes of a phase that count, selected independently.
fn counting<'s>(study: &'s Study, pattern: &str) -> Vec<&'s PhaseRecord> {
    let rows = study.rows.iter().filter(|row| row.pattern == pattern && row.trust() < Trust::Invalid);
    rows.filter_map(|row| row.phase.as_ref()).filter(|phase| phase.operations > 0 && phase.error.is_none()).collect()
}

fn median_by_hand(values: impl Iterator<Item = f64>) -> Option<f64> {
    median(&values.collect::<Vec<_>>())
}

/// Numbers of others: what is published of s3fs, and the rule with the day on which it was read.
const WORDS: [&str; 4] = ["s3fs", "5.7 creates and 24 removals", "below 10 s", "(read 2026-11"];

/// Each figure that the sentences may have: files and passes, rates, and how many times as long a sync takes.
fn known(study: &Study) -> Vec<f64> {
    let of = |pattern: &&str| {
        let passes = counting(study, pattern);
        let files = passes.iter().map(|phase| phase.operations as f64).fold(0.0, f64::max);
        let whole = passes.iter().filter(|phase| phase.operations as f64 == files).count();
        let rate = median_by_hand(passes.iter().filter_map(|phase| phase.rate_per_s()));
        [Some(files), Some(whole as f64), rate]
    };
    let median_ns = |pattern| latencies(study, pattern).shown(50.0).map(|ns| ns as f64);
    let times = median_ns("fsync-file").zip(median_ns("write")).map(|(synced, write)| synced / write);
    PHASES.iter().flat_map(of).flatten().chain(times).collect()
}

/// The latencies of the passes that count.
fn latencies(study: &Study, pattern: &str) -> Latency {
    let mut all = Latency::default();
    counting(study, pattern).iter().for_each(|phase| all.merge(&phase.latency));
    all
}

/// What all files took, medians and means of operations, ns.
fn times_ns(study: &Study) -> Vec<f64> {
    let of = |pattern: &&str| {
        let passes = counting(study, pattern);
        let most = passes.iter().map(|phase| phase.operations).max();
        let whole = passes.iter().filter(|phase| Some(phase.operations) == most);
        let all = latencies(study, pattern);
        let took = median_by_hand(whole.map(|phase| phase.elapsed_ns as f64));
        [took, all.shown(50.0).map(|ns| ns as f64), all.moments.mean()]
    };
    PHASES.iter().flat_map(of).flatten().collect()
}

/// Checks that the mean is shown where it is at least three times the median, or at most a third of it.
#[track_caller]
fn mean_stands_beside(part: &str, median: f64, mean: f64) {
    let shown = time_after(part, "(mean ");
    assert_eq!(shown.is_some(), mean >= 3.0 * median || median >= 3.0 * mean, "{mean} and {median}: {part}");
    assert!(shown.is_none_or(|shown| printed(shown, mean)), "{mean}: {part}");
}

#[test]
fn no_sentence_denies_its_table() {
    for (case, mut draw) in cases(60) {
        let study = drawn(&mut draw);
        let text = of(&study, Some(&mount("fuse.s3fs")), None).join("\n");
        let told = || format!("case {case}: {text}\n{:?}", study.verdicts);
        for (words, pattern) in [(" written in ", "write"), (" read back in ", "read")] {
            let Some(shown) = time_after(&text, words) else { continue };
            let passes = counting(&study, pattern);
            let most = passes.iter().map(|phase| phase.operations).max().unwrap_or_else(|| panic!("{}", told()));
            let whole = passes.iter().filter(|phase| phase.operations == most);
            let took = median_by_hand(whole.map(|phase| phase.elapsed_ns as f64)).unwrap();
            assert!(printed(shown, took), "{took}: {}", told());
            let before = text.split(words).next().unwrap();
            assert_eq!(numbers(before).last().map(|files| *files as u64), Some(most), "{}", told());
            let verdict = study.verdicts.iter().find(|verdict| verdict.requirement.id.starts_with(pattern)).unwrap();
            if matches!(verdict.verdict, Verdict::Pass | Verdict::Fail) {
                assert!((verdict.measured.unwrap() * 1e9 / took - 1.0).abs() < 1e-9, "two figures: {}", told());
            }
        }
        for verdict in &study.verdicts {
            let limit = verdict.requirement.threshold;
            let passes = verdict.verdict == Verdict::Pass;
            if passes || verdict.verdict == Verdict::Fail {
                let measured = verdict.measured.unwrap();
                assert!((measured < limit) == passes, "{}", told());
                assert!(
                    (verdict.margin_percent.unwrap() - (1.0 - measured / limit) * 100.0).abs() < 1e-9,
                    "{}",
                    told()
                );
                let all = study.rows.iter().filter(|row| verdict.requirement.id == format!("{}-elapsed", row.pattern));
                assert!(
                    all.filter(|row| row.trust() < Trust::Invalid).count() > 0,
                    "an invalid one decides: {}",
                    told()
                );
            }
        }
        let both = |pattern: &str| {
            let mut all = Latency::default();
            counting(&study, pattern).iter().for_each(|phase| all.merge(&phase.latency));
            (all.shown(50.0).unwrap() as f64, all.moments.mean().unwrap())
        };
        if let Some(shown) = time_after(&text, "Without a sync a file takes a median of ") {
            let ((write, write_mean), (synced, synced_mean)) = (both("write"), both("fsync-file"));
            let of_synced = time_after(&text, "with fsync a median of ").unwrap();
            assert!(printed(shown, write) && printed(of_synced, synced), "{}", told());
            let (before, after) = text.split_once(", with fsync ").unwrap();
            mean_stands_beside(before.rsplit("a median of ").next().unwrap(), write, write_mean);
            mean_stands_beside(after, synced, synced_mean);
            let times = numbers(text.split(" times as long").next().unwrap());
            assert!(printed(*times.last().unwrap(), synced / write), "{}", told());
        }
        let rate =
            |pattern: &str| median_by_hand(counting(&study, pattern).iter().filter_map(|phase| phase.rate_per_s()));
        if let Some(shown) = number_after(&text, "here it was ") {
            assert!(printed(shown, rate("create").unwrap()), "{}", told());
        }
        let strange = unexplained(&text, &WORDS, &known(&study), &times_ns(&study));
        assert!(strange.is_empty(), "{strange:?}: {}", told());
        let together = of_nodes(&study, 2, true).unwrap_or_default();
        let strange = unexplained(&together, &[], &[&known(&study)[..], &[2.0]].concat(), &[]);
        assert!(strange.is_empty(), "{strange:?}: {together}\n{}", told());
        for (words, pattern) in
            [(" files created", "create"), (" of another's files asked", "stat-cold"), (" removed", "unlink")]
        {
            let Some((before, _)) = together.split_once(words) else { continue };
            let shown = *numbers(before).last().unwrap();
            assert!(printed(shown, rate(pattern).unwrap_or_else(|| panic!("{}", told()))), "{together}\n{}", told());
        }
    }
}
