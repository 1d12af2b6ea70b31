//! Tests of the report rows that are made of workers.

use fsdyno_results::{JobError, JobRecord, JobSetup, Latency, RunRecord, SurvivedErrors, UnifiedReporting};

fn worker(name: &str, group: u32, group_reporting: bool) -> JobRecord {
    let mut job = JobRecord::new(name, 1, JobSetup::default());
    job.group = group;
    job.group_reporting = group_reporting;
    job
}

fn run(jobs: Vec<JobRecord>) -> RunRecord {
    let mut run = RunRecord::new("fio-3.42", 1_795_262_548_000);
    run.jobs = jobs;
    run
}

#[test]
fn only_neighbours_of_one_group_that_ask_for_it_become_one_row() {
    let mut hidden = worker("hidden", 0, true);
    hidden.setup.shown = false;
    let run = run(vec![
        worker("alone", 0, false),
        worker("first", 0, true),
        hidden,
        worker("second", 0, true),
        worker("other", 1, true),
    ]);
    let rows = run.report_rows();
    let seen: Vec<_> = rows.iter().map(|row| (row.name.as_str(), row.group, row.members)).collect();
    assert_eq!(seen, [("alone", 0, 1), ("first", 0, 2), ("other", 1, 1)]);
}

#[test]
fn a_row_adds_its_members() {
    let mut first = worker("first", 0, true);
    first.pid = 10;
    first.options = vec![("rw".into(), "read".into()), ("bs".into(), "4k".into()), ("direct".into(), "1".into())];
    first.started_ms = Some(500);
    first.directions.read.bytes = 4096;
    first.directions.read.ios = 1;
    first.directions.read.runtime_ms = 100;
    first.directions.read.bandwidth_samples.record(40, 500);
    first.directions.read.clat = Latency::with_histogram();
    first.directions.read.clat.record(1000);
    first.depth_levels[0] = 1;
    first.count_latency_class(1000);
    first.job_runtime_ms = 110;
    first.final_sync_ns = Some(5);

    let mut second = first.clone();
    second.name = "second".into();
    second.pid = 11;
    second.options = vec![("bs".into(), "4k".into()), ("rw".into(), "write".into())];
    second.started_ms = Some(400);
    second.directions.read.runtime_ms = 300;
    second.error = Some(JobError { code: 28, function: "io_u error".into(), text: "No space left on device".into() });
    second.survived_errors = Some(SurvivedErrors { total: 2, first: 5 });
    second.final_sync_ns = Some(9);

    let run = run(vec![first, second]);
    let row = &run.report_rows()[0];
    assert_eq!((row.name.as_str(), row.pid, row.members), ("first", 10, 2));
    assert_eq!(row.options, [("bs".to_owned(), "4k".to_owned())], "options that all members have");
    assert_eq!((row.directions.read.bytes, row.directions.read.ios, row.directions.read.runtime_ms), (8192, 2, 300));
    assert_eq!((row.directions.read.bandwidth_samples.min, row.directions.read.bandwidth_samples.count), (80, 2));
    assert_eq!(row.directions.read.clat.moments.count, 2);
    assert_eq!((row.started_ms, row.job_runtime_ms, row.final_sync_ns), (Some(400), 220, Some(9)));
    assert_eq!((row.depth_levels[0], row.latency_us_counts[0]), (2, 2));
    assert_eq!(row.error.as_ref().map(|error| error.code), Some(28));
    assert_eq!(row.survived_errors, Some(SurvivedErrors { total: 2, first: 5 }));
}

#[test]
fn mixed_adds_directions_and_keeps_the_longest_runtime() {
    let mut job = worker("mx", 0, false);
    job.setup.unified = UnifiedReporting::Mixed;
    (job.directions.read.bytes, job.directions.read.ios, job.directions.read.runtime_ms) = (4_071_424, 994, 60);
    (job.directions.write.bytes, job.directions.write.ios, job.directions.write.runtime_ms) = (4_317_184, 1054, 59);
    let mixed = job.mixed();
    assert_eq!((mixed.bytes, mixed.ios, mixed.runtime_ms, mixed.bandwidth()), (8_388_608, 2048, 60, 139_810_133));
}

#[test]
fn latency_classes_have_exclusive_upper_bounds() {
    let mut job = worker("j", 0, false);
    for latency_ns in [0, 1, 2, 999, 1000, 1999, 2000, 999_999, 1_000_000, 1_999_999_999, 2_000_000_000, u64::MAX] {
        job.count_latency_class(latency_ns);
    }
    assert_eq!(job.latency_ns_counts, [2, 1, 0, 0, 0, 0, 0, 0, 0, 1]);
    assert_eq!(job.latency_us_counts, [2, 1, 0, 0, 0, 0, 0, 0, 0, 1]);
    assert_eq!(job.latency_ms_counts, [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2]);
}
