use fsdyno_results::{Histogram, JobSetup, LatencySlice, PerDirection, RunRecord};
use fsdyno_stats::samples_needed;

use super::*;
use crate::metric::Metric;

/// A run of one job; tests set the fields that they need.
pub(crate) fn row(job: JobRecord) -> Row {
    let mut run = RunRecord::new("test", 0);
    run.jobs = vec![job];
    Row { run: Some(run), ..fsdyno_guide::study::planned_row(0, "p/t", "a test", 0, Vec::new()) }
}

/// A job that has done nothing.
pub(crate) fn job(name: &str) -> JobRecord {
    JobRecord::new(name, 1, JobSetup::default())
}

fn metric(name: &str) -> Metric {
    Metric::parse(name).unwrap()
}

fn of(rows: &[Row], name: &str) -> Estimate {
    estimate(&rows.iter().collect::<Vec<_>>(), metric(name)).unwrap()
}

/// The jobs as runs one after the other.
fn rounds(jobs: impl IntoIterator<Item = JobRecord>) -> Vec<Row> {
    (0..).zip(jobs).map(|(round, job)| Row { round, ..row(job) }).collect()
}

/// The verdict by the variation within the runs.
fn within(found: &Estimate, limit: f64) -> Verdict {
    match &found.within {
        Spread::Known(interval) => interval.judge(Bound::AtMost, limit),
        Spread::Unknown(_) => Verdict::Inconclusive,
        Spread::Percentile(none) => none.judge(Bound::AtMost, limit),
    }
}

/// Latencies of `count` syncs, of which `slow` take 20 ms and the others 1 ms.
fn synced(count: u64, slow: u64) -> JobRecord {
    let mut job = job("wal");
    job.sync.lat = Latency::with_histogram();
    (0..count).for_each(|index| job.sync.lat.record(if index < slow { 20_000_000 } else { 1_000_000 }));
    job.sync.ios = count;
    job
}

/// Writes at these rates in windows of 100 ms.
fn written(rates: &[u64]) -> JobRecord {
    let mut job = job("w");
    for (index, rate) in rates.iter().enumerate() {
        job.directions.write.iops_samples.record(*rate, 100 * (index as u64 + 1));
        job.directions.write.ios += rate / 10;
    }
    job.directions.write.bytes = job.directions.write.ios * 4096;
    job.directions.write.runtime_ms = rates.len() as u64 * 100;
    job
}

#[test]
fn a_percentile_has_its_binomial_interval() {
    // Of 10,029 syncs 60 are slow: p99 and its whole interval are fast. With 100 slow ones it is undecided.
    let judge = |slow: [u64; 3]| {
        let found = of(&rounds(slow.map(|slow| synced(3343, slow))), "sync.lat.p99");
        found.judge(Bound::AtMost, 10e6)
    };
    assert_eq!(judge([20, 20, 20]), Verdict::Pass);
    assert_eq!(judge([34, 33, 33]), Verdict::Inconclusive);
    assert_eq!(judge([47, 47, 46]), Verdict::Fail);
}

#[test]
fn the_edge_of_the_binomial_interval_is_exact() {
    // The largest number of slow syncs that passes: P(B <= 10,029 - 1 - slow ...) by the statistic's own ranks.
    let verdicts: Vec<Verdict> =
        (60..140).map(|slow| within(&of(&[row(synced(10_029, slow))], "sync.lat.p99"), 10e6)).collect();
    let passes = 60 + verdicts.iter().take_while(|verdict| **verdict == Verdict::Pass).count();
    let fails = 140 - verdicts.iter().rev().take_while(|verdict| **verdict == Verdict::Fail).count();
    // 100.29 are expected, the standard deviation is 9.96: 1.96 deviations on each side.
    assert_eq!((passes, fails), (81, 121));
}

#[test]
fn too_few_values_decide_nothing_but_a_certain_failure() {
    let needed = samples_needed(99.0, 0.95).unwrap();
    let of = |count, slow| of(&[row(synced(count, slow))], "sync.lat.p99");
    assert_eq!(within(&of(needed - 1, 0), 10e6), Verdict::Inconclusive);
    assert_eq!(within(&of(needed, 0), 10e6), Verdict::Pass);
    assert_eq!(within(&of(100, 100), 10e6), Verdict::Fail);
    // One run, and the limit is less than twice the interval away.
    assert_eq!(of(100, 100).judge(Bound::AtMost, 10.1e6), Verdict::Inconclusive);
    assert_eq!(of(100, 100).judge(Bound::AtMost, 9e6), Verdict::Fail);
    assert!(of(90, 90).basis.starts_with("90 values"), "a count is whole: {}", of(90, 90).basis);
}

#[test]
fn runs_are_merged_and_percentiles_not_averaged() {
    // Two runs of 400; all slow syncs are in the first. The average of both p99 would be 10.5 ms.
    let found = of(&[row(synced(400, 7)), row(synced(400, 0))], "sync.lat.p99");
    assert_eq!(found.basis, "800 values");
    assert!(found.value < 1.1e6, "{found:?}");
}

#[test]
fn a_rate_has_the_bootstrap_interval_of_its_windows() {
    let steady = of(&[row(written(&[1000; 20]))], "write.iops");
    assert_eq!((steady.value, steady.basis.as_str()), (1000.0, "20 windows"));
    assert_eq!(steady.spread, Spread::Known(Interval { low: 1000.0, high: 1000.0, confidence: 0.95 }));
    let rates: Vec<u64> = (0..40).map(|index| if index % 2 == 0 { 800 } else { 1200 }).collect();
    let Spread::Known(interval) = of(&[row(written(&rates))], "write.iops").spread else { panic!() };
    assert!(interval.low < 1000.0 && interval.high > 1000.0 && interval.low > 800.0, "{interval:?}");
    assert_eq!(of(&[row(written(&[1000; 20]))], "write.bytes_per_s").value, 4_096_000.0);
}

#[test]
fn short_runs_need_several_of_them() {
    let bare = |rates: &[u64]| {
        let job = |rate: &u64| {
            let mut job = written(&[*rate; 10]);
            job.directions.write.iops_samples = fsdyno_results::Samples::default();
            job
        };
        of(&rounds(rates.iter().map(job)), "write.iops")
    };
    let reason = "a rate without windows has an interval from 3 runs on";
    assert_eq!(bare(&[1000]).spread, Spread::Unknown(reason.into()));
    assert_eq!(bare(&[1000]).judge(Bound::AtLeast, 1.0), Verdict::Inconclusive);
    let found = bare(&[900, 1000, 1000, 1000, 1100]);
    assert_eq!(found.basis, "5 runs");
    // Student's t for 99 % and four degrees of freedom: 4.604 times 3.2 % on each side.
    let Spread::Known(interval) = found.spread else { panic!("{found:?}") };
    assert!((interval.low - 862.0).abs() < 5.0 && (interval.high - 1155.0).abs() < 5.0, "{interval:?}");
    assert_eq!(found.judge(Bound::AtLeast, 880.0), Verdict::Inconclusive, "99 % of it");
    assert_eq!(found.judge(Bound::AtLeast, 850.0), Verdict::Pass);
}

#[test]
fn workers_of_a_run_are_added_and_runs_are_not() {
    let mut both = row(written(&[1000; 20]));
    both.run.as_mut().unwrap().jobs.push(written(&[500; 20]));
    assert_eq!(of(std::slice::from_ref(&both), "write.iops").value, 1500.0);
    assert_eq!(of(&[both.clone(), both], "total.iops").value, 1500.0);
}

#[test]
fn a_mean_scatters_as_its_course_does() {
    let mut job = job("r");
    job.directions.read.ios = 1000;
    (0..1000).for_each(|index| job.directions.read.clat.record(if index % 2 == 0 { 1000 } else { 3000 }));
    let Spread::Known(plain) = of(&[row(job.clone())], "read.clat.mean").spread else { panic!() };
    // The standard deviation is 1,000.5: 62 on each side.
    assert!((plain.low - 1938.0).abs() < 1.0 && (plain.high - 2062.0).abs() < 1.0, "{plain:?}");
    // The same values, but half of the run was fast and the other half slow.
    job.latency_series = (0..20)
        .map(|second| LatencySlice { at_ms: second, classes: vec![(if second < 10 { 40 } else { 46 }, 50)] })
        .collect();
    let Spread::Known(uneven) = of(&[row(job)], "read.clat.mean").spread else { panic!() };
    assert!(uneven.low < plain.low - 100.0 && uneven.high > plain.high + 100.0, "{uneven:?}");
}

#[test]
fn sampled_latency_stands_in() {
    let mut job = job("r");
    let mut read = Latency { histogram: Some(Histogram::new()), ..Latency::default() };
    read.record(5000);
    job.sampled_latency = Some(Box::new(PerDirection { read, ..PerDirection::default() }));
    assert_eq!(of(&[row(job)], "read.clat.mean").value, 5000.0);
}

#[test]
fn a_long_test_has_a_course() {
    let mut rates = vec![3000; 700];
    rates.extend([3000; 700]);
    rates.extend([500; 700]);
    let found = of(&[row(written(&rates))], "write.iops");
    let rates_of_thirds = found.rates_of_thirds.unwrap();
    assert_eq!((rates_of_thirds.first, rates_of_thirds.last), (3000.0, 500.0));
    assert_eq!(rates_of_thirds.last_interval.unwrap().judge(Bound::AtLeast, 1000.0), Verdict::Fail);
    assert_eq!(of(&[row(written(&[3000; 1700]))], "write.iops").rates_of_thirds, None, "170 s are too short");
}

#[test]
fn phases_are_judged_by_their_operations() {
    let mut latency = Latency::default();
    (0..1001).for_each(|index| latency.record(if index % 2 == 0 { 9_000_000 } else { 10_900_000 }));
    let phase = PhaseRecord {
        name: "write".into(),
        operations: 1001,
        elapsed_ns: 9_960_000_000,
        threads: 1,
        latency,
        ..PhaseRecord::default()
    };
    let of_phase = |phase: &PhaseRecord| Row {
        phase: Some(phase.clone()),
        ..fsdyno_guide::study::planned_row(0, "p/write", "write", 0, Vec::new())
    };
    let found = of(&[of_phase(&phase)], "small-write.elapsed");
    assert_eq!(found.value, 9.96e9);
    assert_eq!(within(&found, 10e9), Verdict::Inconclusive);
    assert_eq!(within(&found, 10.1e9), Verdict::Pass);
    assert_eq!(found.judge(Bound::AtMost, 10.1e9), Verdict::Inconclusive, "one run");
    let rate = of(&[of_phase(&phase)], "small-write.per_s");
    assert!((rate.value - 1001.0 / 9.96).abs() < 1e-9);
    assert!(estimate(&[&of_phase(&phase)], metric("small-read.elapsed")).unwrap_err().contains("did not run"));
    let failed = of_phase(&PhaseRecord { failures: 2, ..phase });
    assert_eq!(estimate(&[&failed], metric("small-write.elapsed")), Err("2 of its operations failed".into()));
}

#[test]
fn nothing_done_is_no_figure() {
    let idle = row(job("idle"));
    for name in ["read.iops", "write.bytes_per_s", "sync.lat.p99", "read.clat.mean", "read.response.p99"] {
        assert!(estimate(&[&idle], metric(name)).is_err(), "{name}");
    }
}
