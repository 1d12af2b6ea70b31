use fsdyno_results::{Finding, Latency};
use fsdyno_stats::median;
use testkit::draw::{Test as Drawn, TestWork, cases, number_after};

use super::*;
use crate::estimate::tests::{job, row};

/// A profile with one synced test and its sound variant; `more` goes into the requirement.
fn profile(more: &str) -> Profile {
    let text = format!(
        r#"name = "mine"
title = "Mine"
about = "About."
applies-to = "anything"
source = "A page"
read = "2026-11"
kind = "vendor-requirement"
confidence = "A"
[[test]]
id = "wal"
title = "synced writes"
origin = "vendor"
words = ["--name=a", "--directory={{dir}}", "--rw=write", "--size=1m", "--fdatasync=1"]
[[test]]
id = "wal-long"
title = "longer"
sound-for = "wal"
words = ["--name=a", "--directory={{dir}}", "--rw=write", "--size=1m", "--fdatasync=1"]
[[requirement]]
id = "it"
title = "a figure"
test = "wal"
{more}
"#
    );
    Profile::read("mine.toml", &text).unwrap()
}

const P99: &str = "metric = \"sync.lat.p99\"\nat-most = 10\nunit = \"ms\"";
const RATE: &str = "metric = \"write.iops\"\nat-least = 100\nunit = \"IOPS\"";

fn synced(count: u64, latency_ns: u64) -> Row {
    let mut job = job("wal");
    job.sync.lat = Latency::with_histogram();
    (0..count).for_each(|_| job.sync.lat.record(latency_ns));
    row(job)
}

fn written(rates: &[u64]) -> Row {
    let mut job = job("w");
    for (index, rate) in rates.iter().enumerate() {
        job.directions.write.iops_samples.record(*rate, 100 * (index as u64 + 1));
        job.directions.write.ios += rate / 10;
    }
    job.directions.write.runtime_ms = rates.len() as u64 * 100;
    row(job)
}

const FACTORS: Factors = Factors { vcpus: Some(4), filesystem_bytes: Some(2 << 40), in_memory: false };

/// The verdict of the profile's requirement on these rows.
fn answer(profile: &Profile, rows: &[Row], tier: Option<&str>) -> VerdictRow {
    answer_of(profile, "wal", rows, tier, None)
}

fn answer_of(profile: &Profile, test: &str, rows: &[Row], tier: Option<&str>, problem: Option<&str>) -> VerdictRow {
    let indices: Vec<usize> = (0..rows.len()).collect();
    let ran = TestRun {
        test: profile.test(test).unwrap(),
        words: &[],
        rows,
        indices: &indices,
        problem,
        reach: "to the device",
        shortened: &[],
        cap_s: 30.0,
    };
    ResolvedRequirement::new(profile, &profile.requirements[0], FACTORS, tier).answer(&ran)
}

#[test]
fn a_figure_within_its_limit_passes_in_the_vendors_unit() {
    let found = answer(&profile(P99), &[synced(1000, 2_000_000)], None);
    assert_eq!(found.verdict, Verdict::Pass);
    assert!((found.measured.unwrap() - 2.0).abs() < 0.02, "{found:?}");
    assert!((found.margin_percent.unwrap() - 80.0).abs() < 0.2, "{found:?}");
    assert_eq!(
        found.reason,
        "1,000 values, to the device; the whole interval meets the limit, by a factor of 2 or more"
    );
    assert_eq!((found.caveats.len(), found.rows.as_slice()), (0, &[0usize][..]));
    assert_eq!(found.requirement.threshold, 10.0);
}

#[test]
fn a_figure_beyond_its_limit_fails() {
    let found = answer(&profile(P99), &[synced(1000, 25_000_000)], None);
    assert_eq!(found.verdict, Verdict::Fail);
    assert!((found.margin_percent.unwrap() + 150.0).abs() < 1.5, "{found:?}");
    let near = answer(&profile(P99), &[synced(1000, 15_000_000)], None);
    assert_eq!(near.verdict, Verdict::Inconclusive);
    assert!(near.reason.starts_with("fewer than 3 runs, and the limit is within a factor of 2 of"), "{}", near.reason);
}

#[test]
fn a_thin_margin_is_told() {
    let runs: Vec<Row> = (0..3).map(|round| Row { round, ..synced(1000, 9_000_000) }).collect();
    let found = answer(&profile(P99), &runs, None);
    assert_eq!((found.verdict, found.caveats), (Verdict::Pass, vec!["the margin is below 20 %".to_string()]));
}

#[test]
fn few_values_are_inconclusive_and_say_what_it_takes() {
    let found = answer(&profile(P99), &[synced(100, 1_000_000)], None);
    assert_eq!(found.verdict, Verdict::Inconclusive);
    assert_eq!(found.interval, None);
    assert!(found.reason.contains("it takes 368") && found.reason.contains("the cap is 30 s"), "{}", found.reason);
}

#[test]
fn an_invalid_row_never_passes_or_fails() {
    for latency_ns in [1_000_000, 50_000_000] {
        let mut row = synced(1000, latency_ns);
        row.findings.push(Finding::new(
            "page-cache",
            Severity::Invalid,
            "nothing reached the device",
            "use --direct=1",
        ));
        let found = answer(&profile(P99), &[row], None);
        assert_eq!(found.verdict, Verdict::Inconclusive);
        assert_eq!(found.reason, "the figure cannot be trusted: nothing reached the device");
        assert!(found.measured.is_some());
    }
}

#[test]
fn memory_passes_nothing_that_is_to_last() {
    let in_memory = |profile: &Profile, row: Row| {
        let ran = TestRun {
            test: profile.test("wal").unwrap(),
            words: &[],
            rows: &[row],
            indices: &[0],
            problem: None,
            reach: "memory is the storage",
            shortened: &[],
            cap_s: 30.0,
        };
        let asked =
            ResolvedRequirement::new(profile, &profile.requirements[0], Factors { in_memory: true, ..FACTORS }, None);
        assert!(!asked.undecided(&ran));
        asked.answer(&ran)
    };
    for (profile, row) in [(profile(P99), synced(1000, 1000)), (profile(RATE), written(&[100_000; 20]))] {
        let found = in_memory(&profile, row);
        assert_eq!(found.verdict, Verdict::NotApplicable);
        assert!(found.measured.is_some() && found.reason.starts_with("this storage is memory"), "{}", found.reason);
    }
}

#[test]
fn a_failed_test_is_inconclusive() {
    let found = answer_of(&profile(P99), "wal", &[], None, Some("the test failed: open: No space left on device"));
    assert_eq!((found.verdict, found.measured), (Verdict::Inconclusive, None));
    assert_eq!(found.reason, "the test failed: open: No space left on device");
}

#[test]
fn examples_are_references_and_cannot_fail() {
    let example = profile(&format!("{RATE}\nkind = \"vendor-example\""));
    let found = answer(&example, &[written(&[50; 20])], None);
    assert_eq!(found.verdict, Verdict::Reference);
    assert!(found.reason.starts_with("for comparison, no limit: this storage does not reach it"), "{}", found.reason);
    assert_eq!(found.margin_percent, Some(-50.0));
}

#[test]
fn a_tier_is_judged_when_it_was_asked_for() {
    let tiered = profile(&format!("{RATE}\ntier = \"large\""));
    assert_eq!(answer(&tiered, &[written(&[50; 20])], None).verdict, Verdict::Reference);
    assert_eq!(answer(&tiered, &[written(&[50; 20])], Some("small")).verdict, Verdict::Reference);
    let judged = answer(&tiered, &[written(&[50; 20])], Some("large"));
    assert_eq!((judged.verdict, judged.requirement.title.as_str()), (Verdict::Fail, "a figure (large)"));
}

#[test]
fn limits_scale_with_the_machine_and_the_volume() {
    let derived = |more: &str| {
        let requirement = answer(&profile(&format!("{RATE}\n{more}")), &[written(&[100; 20])], None).requirement;
        (requirement.threshold, requirement.derivation.unwrap_or_default())
    };
    assert_eq!(derived("per = \"vcpu\""), (400.0, "100 IOPS for each of 4 vCPUs".to_string()));
    assert_eq!(derived("per = \"tib\"").0, 200.0);
    assert_eq!(derived("judged-at-percent = 90"), (90.0, "90 % of 100 IOPS".to_string()));
    let (limit, text) = derived("per = \"tib\"\njudged-at-percent = 90");
    assert_eq!((limit, text.as_str()), (180.0, "90 % of 100 IOPS for each of 2 TiB of the filesystem"));
}

#[test]
fn a_scale_that_is_not_visible_leaves_it_open() {
    let scaled = profile(&format!("{RATE}\nper = \"vcpu\""));
    let rows = [written(&[100; 20])];
    let ran = TestRun {
        test: scaled.test("wal").unwrap(),
        words: &[],
        rows: &rows,
        indices: &[0],
        problem: None,
        reach: "",
        shortened: &[],
        cap_s: 30.0,
    };
    let asked = ResolvedRequirement::new(&scaled, &scaled.requirements[0], Factors::default(), None);
    let found = asked.answer(&ran);
    assert_eq!((found.verdict, found.reason.as_str()), (Verdict::Inconclusive, "the number of vCPUs is not visible"));
    assert!(!asked.undecided(&ran), "running on cannot help");
}

#[test]
fn a_rate_that_does_not_last_is_judged_by_its_end() {
    let rates: Vec<u64> = (0..2100).map(|window| if window < 1400 { 300 } else { 50 }).collect();
    let found = answer(&profile(RATE), &[written(&rates)], None);
    assert_eq!(found.verdict, Verdict::Fail, "on the whole it is above the limit");
    assert!(found.measured.unwrap() > 200.0);
    assert_eq!(
        found.caveats,
        ["the rate fell by 83.3 %, from 300 in the first third to 50.0 IOPS in the last: the last third is judged"]
    );
}

#[test]
fn undecided_is_what_more_running_may_decide() {
    let rates: Vec<u64> = (0..20).map(|window| if window % 2 == 0 { 60 } else { 140 }).collect();
    let undecided = |more: &str| {
        let profile = profile(more);
        let rows = [written(&rates)];
        let ran = TestRun {
            test: profile.test("wal").unwrap(),
            words: &[],
            rows: &rows,
            indices: &[0],
            problem: None,
            reach: "",
            shortened: &[],
            cap_s: 30.0,
        };
        ResolvedRequirement::new(&profile, &profile.requirements[0], FACTORS, None).undecided(&ran)
    };
    assert!(undecided(RATE));
    assert!(!undecided(&RATE.replace("100", "10")));
    assert!(!undecided(&format!("{RATE}\nkind = \"our-band\"")), "a reference needs no decision");
}

#[test]
fn variants_that_disagree_decide_nothing() {
    let profile = profile(P99);
    let mut answers = vec![
        answer(&profile, &[synced(1000, 1_000_000)], None),
        answer_of(&profile, "wal-long", &[synced(1000, 50_000_000)], None, None),
    ];
    compare_variants(&mut answers);
    for answer in &answers {
        assert_eq!(answer.verdict, Verdict::Inconclusive);
        assert!(
            answer.reason.starts_with("the vendor's line says PASS with 1.00 ms, its sound variant FAIL"),
            "{answer:?}"
        );
        assert!(answer.caveats[0].contains("the whole interval m"), "{answer:?}");
    }
    assert_eq!((answers[1].requirement.id.as_str(), answers[1].origin), ("it/wal-long", TestOrigin::Sound));
    let mut agreeing = vec![
        answer(&profile, &[synced(1000, 1_000_000)], None),
        answer_of(&profile, "wal-long", &[synced(1000, 1_000_000)], None, None),
    ];
    compare_variants(&mut agreeing);
    assert!(agreeing.iter().all(|answer| answer.verdict == Verdict::Pass && answer.caveats.is_empty()));
}

#[test]
fn gates_say_what_was_found_and_why_it_matters() {
    let text = "name = \"g\"\ntitle = \"G\"\nabout = \"-\"\napplies-to = \"-\"\nsource = \"A page\"\nread = \"2026-11\"\n\
                kind = \"vendor-requirement\"\nconfidence = \"A\"\n[[gate]]\nid = \"local\"\ntitle = \"a local filesystem\"\n\
                not-on = [\"nfs\"]\nbecause = \"NFS is not supported\"\n";
    let profile = Profile::read("g.toml", text).unwrap();
    let row = |outcome| gate_row(&profile, &profile.gates[0], &outcome);
    let broken = row(Outcome::Broken("this is nfs4".into()));
    assert_eq!((broken.verdict, broken.reason.as_str()), (Verdict::Fail, "this is nfs4: NFS is not supported"));
    assert_eq!(row(Outcome::Holds("this is ext4".into())).reason, "this is ext4");
    assert_eq!(row(Outcome::Unknown("not visible".into())).verdict, Verdict::Inconclusive);
}

/// Checks for random runs that each verdict agrees with them by arithmetic. FSDYNO_CASES=5000 draws more.
#[test]
fn no_answer_denies_its_runs() {
    for (case, mut draw) in cases(60) {
        let (is_rate, at_most) = (draw.below(2) == 0, draw.below(2) == 0);
        let metric = if is_rate { "write.iops" } else { "sync.lat.p99" };
        let side = if at_most { "at-most" } else { "at-least" };
        let (limit, unit) = (draw.one_of(&[5, 20, 100, 1000]), if is_rate { "IOPS" } else { "ms" });
        let profile = profile(&format!("metric = \"{metric}\"\n{side} = {limit}\nunit = \"{unit}\""));
        let (rounds, per_s) = (draw.one_of(&[1, 2, 3, 6]), draw.one_of(&[3.0, 30.0, 90.0, 110.0, 400.0, 3000.0]));
        let does = TestWork::SyncedWrite;
        let test = Drawn { target: 0, pattern: "wal", does, depth: 1, block_bytes: 4096, rounds, per_s };
        let rows = draw.rounds(&test);
        let found = answer(&profile, &rows, None);
        let told = || format!("case {case}: {side} {limit} {unit}: {found:?}");
        let good = |value: f64| if at_most { value <= f64::from(limit) } else { value >= f64::from(limit) };
        let invalid = |row: &&Row| row.trust() == Trust::Invalid;
        let counted = || rows.iter().filter(|row| !invalid(row) && row.first_error().is_none());
        let each: Vec<f64> = counted()
            .filter_map(|row| {
                let job = &row.run.as_ref()?.jobs[0];
                let p99 = || Some(job.sync.lat.percentile(99.0)? as f64 / 1e6);
                if is_rate { Some(job.directions.write.ios as f64 / 2.0).filter(|rate| *rate > 0.0) } else { p99() }
            })
            .collect();
        if let (Some(measured), false) = (found.measured, each.is_empty()) {
            let mut all = Latency::default();
            counted().for_each(|row| all.merge(&row.run.as_ref().unwrap().jobs[0].sync.lat));
            let by_hand = if is_rate { median(&each).unwrap() } else { all.percentile(99.0).unwrap() as f64 / 1e6 };
            assert!((measured / by_hand - 1.0).abs() < 1e-9, "{by_hand} by hand: {}", told());
            let interval = found.interval;
            assert!(interval.is_none_or(|interval| interval.contains(measured)), "{}", told());
        }
        let (reason, interval) = (&found.reason, found.interval);
        match found.verdict {
            Verdict::Pass | Verdict::Fail => {
                let passes = found.verdict == Verdict::Pass;
                let doubtful = |row: &Row| invalid(&row) || row.first_error().is_some();
                assert!(!rows.iter().any(doubtful), "an invalid run decides: {}", told());
                let measured = found.measured.unwrap();
                assert_eq!(good(measured), passes, "{}", told());
                let margin = (measured / f64::from(limit) - 1.0) * if at_most { -100.0 } else { 100.0 };
                assert!((found.margin_percent.unwrap() - margin).abs() < 1e-6, "{}", told());
                if reason.contains("each of the") {
                    assert_eq!(number_after(reason, "each of the "), Some(each.len() as f64), "{}", told());
                    assert!(each.iter().all(|value| good(*value) == passes), "{}", told());
                    assert!(each.iter().all(|value| (value / f64::from(limit) - 1.0).abs() > 0.5), "{}", told());
                } else if reason.contains("the whole interval") {
                    let ends = interval.unwrap();
                    assert!(good(ends.low) == passes && good(ends.high) == passes, "{}", told());
                } else {
                    let least = found.at_least.unwrap().value;
                    let in_words = number_after(reason, "; it is at least ").unwrap();
                    assert!((in_words / least - 1.0).abs() < 0.01, "{}", told());
                    assert!(least <= measured * 1.01 && interval.is_none(), "{}", told());
                    assert_eq!((good(least), passes), (!at_most, !at_most), "{}", told());
                }
                let scarce =
                    !is_rate && counted().map(|row| row.run.as_ref().unwrap().jobs[0].sync.ios).sum::<u64>() < 1000;
                assert_eq!(found.caveats.iter().any(|text| text.contains("fewer than ten lie")), scarce, "{}", told());
            }
            _ if reason.contains("cannot be trusted") => {
                let mut rows = rows.iter();
                assert!(rows.any(|row| invalid(&row) || row.first_error().is_some()), "{}", told());
            }
            _ if reason.contains("the limit lies inside the interval") => {
                assert!(interval.unwrap().contains(f64::from(limit)), "{}", told());
            }
            _ => assert_eq!(found.verdict, Verdict::Inconclusive, "{}", told()),
        }
    }
}
