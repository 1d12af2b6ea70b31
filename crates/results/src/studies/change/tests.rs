//! Tests of the changes between two studies, and of the scatter that earlier studies show.

use fsdyno_job::Access;

use super::*;
use crate::evidence::{Mount, RecordedFact, Storage};
use crate::record::{JobRecord, JobSetup, Latency, RunRecord};
use fsdyno_stats::Histogram;

fn setup() -> JobSetup {
    JobSetup {
        access: Access::named("randread").unwrap(),
        engine: "libaio".into(),
        depth: 32,
        lat_percentiles: true,
        percentiles: Vec::new(),
        ..JobSetup::default()
    }
}

/// A run of one second with this number of 4 KiB reads, all with this latency.
fn run(reads: u64, latency_ns: u64) -> RunRecord {
    let mut job = JobRecord::new("job", 1, setup());
    job.directions.read.ios = reads;
    job.directions.read.bytes = reads * 4096;
    job.directions.read.runtime_ms = 1000;
    let mut histogram = Histogram::new();
    let mut latency = Latency::default();
    for _ in 0..100 {
        histogram.record(latency_ns);
        latency.moments.record(latency_ns);
    }
    latency.histogram = Some(histogram);
    job.directions.read.lat = latency;
    let mut record = RunRecord::new("fio-3.42-test", 0);
    record.jobs.push(job);
    record
}

fn study(rounds: &[(u64, u64)]) -> Study {
    let mut study = Study::of_run(run(1, 1));
    study.complete = true;
    study.rows.clear();
    for (round, (reads, latency_ns)) in rounds.iter().enumerate() {
        let mut of_round = Study::of_run(run(*reads, *latency_ns)).rows.remove(0);
        of_round.pattern = "randread".into();
        of_round.round = round as u32;
        of_round.command = vec!["--rw=randread".into(), format!("--filename=/somewhere/{round}")];
        study.rows.push(of_round);
    }
    study
}

fn invalid() -> crate::Finding {
    crate::Finding::new("page-cache", crate::Severity::Invalid, String::new(), String::new())
}

fn find(found: &[Change], measure: Measure) -> &Change {
    found.iter().find(|change| change.measure == measure).unwrap()
}

const STEADY: [(u64, u64); 6] = [(1000, 64), (1010, 64), (990, 64), (1005, 64), (995, 64), (1002, 64)];

#[test]
fn a_tenth_less_in_quiet_rounds_is_worse() {
    let slower: Vec<(u64, u64)> = STEADY.iter().map(|(reads, ns)| (reads * 9 / 10, ns * 2)).collect();
    let found = changes(&study(&STEADY), &study(&slower), &[]);
    let iops = find(&found, Measure::Iops);
    assert!((iops.percent() + 10.0).abs() < 0.5, "{iops:?}");
    assert_eq!(iops.shown, Significance::Worse);
    assert!(iops.p_value.unwrap() < 0.01);
    let p50 = find(&found, Measure::P50);
    // Percentiles are the upper ends of buckets, which are 1/64 wide here.
    assert!(
        (2.0..=2.04).contains(&p50.ratio) && p50.shown == Significance::Worse,
        "a longer latency is worse: {p50:?}"
    );
    let back = changes(&study(&slower), &study(&STEADY), &[]);
    assert_eq!(find(&back, Measure::Iops).shown, Significance::Better);
}

#[test]
fn the_latency_of_durable_writes_is_that_of_the_sync() {
    let mut study = study(&STEADY[..1]);
    let median = |study: &Study| Digest::of(study).tests[0].figure(Measure::P50);
    let of_reads = median(&study);
    study.rows[0].pattern = crate::test_name::SYNC_LATENCY.into();
    assert!(of_reads.is_some() && median(&study).is_none(), "no sync, no latency");
    study.rows[0].run.as_mut().unwrap().jobs[0].sync.lat = run(1, 5000).jobs[0].directions.read.lat.clone();
    assert!(median(&study) > of_reads.map(|ns| ns * 10.0));
}

#[test]
fn the_same_again_shows_nothing() {
    let mut again = STEADY;
    again.reverse();
    let found = changes(&study(&STEADY), &study(&again), &[]);
    assert_eq!(find(&found, Measure::Iops).shown, Significance::NotShown);
    assert_eq!(find(&found, Measure::Iops).ratio, 1.0);
}

#[test]
fn noise_hides_a_change_and_one_round_shows_none() {
    let noisy = [(1000, 64), (500, 64), (2000, 64), (700, 64), (1500, 64)];
    let slower: Vec<(u64, u64)> = noisy.iter().map(|(reads, ns)| (reads * 9 / 10, *ns)).collect();
    assert_eq!(find(&changes(&study(&noisy), &study(&slower), &[]), Measure::Iops).shown, Significance::NotShown);
    let one = changes(&study(&STEADY[..1]), &study(&[(500, 64)]), &[]);
    assert_eq!(find(&one, Measure::Iops).shown, Significance::Unknown);
    assert_eq!((find(&one, Measure::Iops).interval, find(&one, Measure::Iops).rounds), (None, (1, 1)));
}

#[test]
fn the_course_of_a_single_run_shows_nothing() {
    let windows = |level: u64| {
        let mut of_one = study(&[(level, 64)]);
        let job = &mut of_one.rows[0].run.as_mut().unwrap().jobs[0];
        job.directions.read.iops_samples.series = (0..40).map(|window| (window * 500, level + window % 2)).collect();
        of_one
    };
    let found = changes(&windows(1000), &windows(900), &[]);
    let iops = find(&found, Measure::Iops);
    assert_eq!(
        (iops.shown, iops.confirmed_percent()),
        (Significance::Unknown, None),
        "even windows do not show that runs are even"
    );
}

#[test]
fn four_rounds_can_show_a_change_and_three_cannot() {
    let slower: Vec<(u64, u64)> = STEADY.iter().map(|(reads, ns)| (reads * 8 / 10, *ns)).collect();
    let of = |rounds: usize| {
        let found = changes(&study(&STEADY[..rounds]), &study(&slower[..rounds]), &[]);
        (find(&found, Measure::Iops).shown, find(&found, Measure::Iops).confirmed_percent().is_some())
    };
    assert_eq!(of(4), (Significance::Worse, true));
    assert_eq!(of(3), (Significance::Unknown, false));
}

#[test]
fn what_is_invalid_confirms_nothing() {
    let slower: Vec<(u64, u64)> = STEADY.iter().map(|(reads, ns)| (reads / 2, *ns)).collect();
    let mut after = study(&slower);
    after.rows[0].findings.push(invalid());
    let found = changes(&study(&STEADY), &after, &[]);
    let iops = find(&found, Measure::Iops);
    assert_eq!((iops.rounds, iops.shown, iops.trust), ((6, 5), Significance::Worse, Trust::Caution), "five are valid");
    after.rows.iter_mut().for_each(|row| row.findings = vec![invalid()]);
    let found = changes(&study(&STEADY), &after, &[]);
    let iops = find(&found, Measure::Iops);
    assert_eq!((iops.shown, iops.trust, iops.confirmed_percent()), (Significance::NotShown, Trust::Invalid, None));
}

#[test]
fn another_filesystem_at_the_same_place_is_an_obstacle() {
    let at = |path: &str, fstype: &str| {
        let mut study = study(&STEADY);
        let identity = Mount { fstype: fstype.into(), ..Mount::default() };
        let storage = Storage { mount: RecordedFact::Value(identity), ..Storage::default() };
        study.targets = vec![crate::Target { name: "nfs".into(), path: path.into(), storage, reference: false }];
        study
    };
    assert_eq!(obstacles(&at("/mnt", "nfs4"), &at("/mnt", "ext4")), ["nfs was nfs4, nfs is ext4"]);
    assert_eq!(obstacles(&at("/mnt", "nfs4"), &at("/mnt", "nfs4")), Vec::<String>::new());
    assert_eq!(obstacles(&at("/mnt", "nfs4"), &at("/data", "ext4")), Vec::<String>::new(), "places may differ");
}

#[test]
fn other_plans_and_machines_are_obstacles() {
    let base = study(&STEADY);
    assert_eq!(obstacles(&base, &study(&STEADY)), Vec::<String>::new(), "places may differ");
    let mut other = study(&STEADY);
    other.host.cpus = Some(8);
    let mut four = base.clone();
    four.host.cpus = Some(4);
    other.rows.iter_mut().for_each(|row| row.command[0] = "--rw=randwrite".into());
    let reasons = obstacles(&four, &other);
    assert_eq!(
        reasons,
        ["`--rw=randread` became `--rw=randwrite` in the plan of randread", "the number of CPUs differs: 4 and 8"]
    );
}

#[test]
fn a_test_that_only_one_of_them_has_is_an_obstacle_both_ways() {
    let few = study(&STEADY);
    let mut more = few.clone();
    more.rows.extend(few.rows.iter().map(|row| crate::Row { pattern: "list".into(), ..row.clone() }));
    for (base, new) in [(&few, &more), (&more, &few)] {
        assert_eq!(obstacles(base, new), ["only one of them has list"]);
    }
}

/// Earlier studies with these IOPS, all within an hour.
fn earlier_studies(levels: &[u64]) -> Vec<Study> {
    let of = |(hour, percent): (usize, &u64)| {
        let rounds: Vec<(u64, u64)> = STEADY.iter().map(|(reads, ns)| (reads * percent / 100, *ns)).collect();
        Study { started_ms: hour as u64, ..study(&rounds) }
    };
    levels.iter().enumerate().map(of).collect()
}

fn digests(studies: &[Study]) -> Vec<Digest> {
    studies.iter().map(Digest::of).collect()
}

/// The change in IOPS, judged by the studies in `kept`.
fn found_after(kept: &[Study], base: &Study, new: &Study) -> Change {
    let kept = digests(kept);
    find(&changes(base, new, &earlier(&Digest::of(base), &Digest::of(new), &kept)), Measure::Iops).clone()
}

/// The base, and a study that is a tenth slower, both after all studies in `kept`.
fn a_tenth_slower() -> (Study, Study) {
    let slower: Vec<(u64, u64)> = STEADY.iter().map(|(reads, ns)| (reads * 9 / 10, *ns)).collect();
    (Study { started_ms: 100, ..study(&STEADY) }, Study { started_ms: 200, ..study(&slower) })
}

#[test]
fn what_scatters_from_study_to_study_hides_a_change() {
    let (base, new) = a_tenth_slower();
    let with = |levels: &[u64]| found_after(&earlier_studies(levels), &base, &new);
    let (quiet, wild) = (with(&[100, 101, 99, 100]), with(&[100, 110, 92, 105]));
    assert_eq!((quiet.shown, wild.shown), (Significance::Worse, Significance::NotShown), "{quiet:?} {wild:?}");
    assert!(matches!(quiet.scatter, Scatter::RecordedFact { studies: 5, .. }), "four and the base: {quiet:?}");
    assert_eq!(with(&[100, 110]).scatter, Scatter::Assumed, "two are too few");
    let unknown = with(&[]);
    assert_eq!(unknown.scatter, Scatter::Assumed);
    let width = |change: &Change| change.interval.map(|interval| interval.high / interval.low);
    assert!(width(&quiet) < width(&unknown) && width(&unknown) < width(&wild));
}

#[test]
fn without_a_history_a_small_change_is_not_shown() {
    let less: Vec<(u64, u64)> = STEADY.iter().map(|(reads, ns)| (reads * 95 / 100, *ns)).collect();
    let found = changes(&study(&STEADY), &study(&less), &[]);
    let iops = find(&found, Measure::Iops);
    assert!(iops.p_value.unwrap() < 0.05, "the rounds differ");
    assert_eq!(iops.shown, Significance::NotShown, "and so do days");
}

#[test]
fn a_history_is_of_whole_sound_studies_of_the_same_thing_before_both() {
    let (base, new) = a_tenth_slower();
    let ids = |kept: &[Study]| {
        let kept = digests(kept);
        let found = earlier(&Digest::of(&base), &Digest::of(&new), &kept);
        found.iter().map(|study| study.started_ms).collect::<Vec<_>>()
    };
    let mut kept = earlier_studies(&[100; 6]);
    assert_eq!(ids(&kept), [0, 1, 2, 3, 4, 5]);
    kept[0].complete = false;
    kept[1].started_ms = 150;
    kept[2].targets[0].path = "/elsewhere".into();
    kept[3].host_name = Some("other".into());
    kept[4].rows[0].command.push("--direct=1".into());
    assert_eq!(ids(&kept), [5], "stopped, between both, another place, another machine, another plan");
    kept.extend([base.clone(), new.clone()]);
    assert_eq!(ids(&kept), [5], "they are not their own history");
}

#[test]
fn invalid_rounds_and_longer_studies_tell_no_scatter() {
    let (base, new) = a_tenth_slower();
    let mut kept = earlier_studies(&[100, 102, 98, 101]);
    let seen = |kept: &[Study]| match found_after(kept, &base, &new).scatter {
        Scatter::RecordedFact { studies, .. } => studies,
        Scatter::Assumed => 0,
    };
    assert_eq!(seen(&kept), 5);
    kept[0].rows[0].findings.push(invalid());
    assert_eq!(seen(&kept), 5, "the other rounds count");
    kept[0].rows.iter_mut().for_each(|row| row.findings = vec![invalid()]);
    assert_eq!(seen(&kept), 4);
    let more = crate::Row { round: 6, ..kept[1].rows[0].clone() };
    kept[1].rows.push(more);
    assert_eq!(seen(&kept), 0, "a study of more rounds than the base scatters less");
}
