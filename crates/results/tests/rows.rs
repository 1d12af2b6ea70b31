//! From workers to report rows, and records saved and read again.

use results::{
    JobError, JobRecord, JobSetup, Latency, RunRecord, SCHEMA_VERSION, SavedRecordError, SurvivedErrors,
    UnifiedReporting,
};

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
    let rows = run(vec![
        worker("alone", 0, false),
        worker("first", 0, true),
        hidden,
        worker("second", 0, true),
        worker("other", 1, true),
    ])
    .report_rows();
    let seen: Vec<_> = rows.iter().map(|row| (row.name.as_str(), row.group, row.members)).collect();
    assert_eq!(seen, [("alone", 0, 1), ("first", 0, 2), ("other", 1, 1)]);
}

#[test]
fn a_row_adds_its_members() {
    let mut first = worker("first", 0, true);
    first.pid = 10;
    first.options = vec![("rw".into(), "read".into())];
    first.started_ms = Some(500);
    first.read.bytes = 4096;
    first.read.ios = 1;
    first.read.runtime_ms = 100;
    first.read.bandwidth_samples.record(40, 500);
    first.read.clat = Latency::with_histogram();
    first.read.clat.record(1000);
    first.depth_levels[0] = 1;
    first.count_latency_class(1000);
    first.job_runtime_ms = 110;
    first.final_sync_ns = Some(5);

    let mut second = first.clone();
    second.name = "second".into();
    second.pid = 11;
    second.options = vec![("rw".into(), "write".into())];
    second.started_ms = Some(400);
    second.read.runtime_ms = 300;
    second.error = Some(JobError { code: 28, function: "io_u error".into(), text: "No space left on device".into() });
    second.survived_errors = Some(SurvivedErrors { total: 2, first: 5 });
    second.final_sync_ns = Some(9);

    let row = &run(vec![first, second]).report_rows()[0];
    assert_eq!((row.name.as_str(), row.pid, row.members), ("first", 10, 2));
    assert_eq!(row.options, [("rw".to_owned(), "write".to_owned())]);
    assert_eq!((row.read.bytes, row.read.ios, row.read.runtime_ms), (8192, 2, 300));
    assert_eq!((row.read.bandwidth_samples.min, row.read.bandwidth_samples.count), (80, 2));
    assert_eq!(row.read.clat.moments.count, 2);
    assert_eq!((row.started_ms, row.job_runtime_ms, row.final_sync_ns), (Some(400), 220, Some(9)));
    assert_eq!((row.depth_levels[0], row.latency_us_counts[0]), (2, 2));
    assert_eq!(row.error.as_ref().map(|error| error.code), Some(28));
    assert_eq!(row.survived_errors, Some(SurvivedErrors { total: 2, first: 5 }));
}

#[test]
fn mixed_adds_directions_and_keeps_the_longest_runtime() {
    let mut job = worker("mx", 0, false);
    job.setup.unified = UnifiedReporting::Mixed;
    (job.read.bytes, job.read.ios, job.read.runtime_ms) = (4_071_424, 994, 60);
    (job.write.bytes, job.write.ios, job.write.runtime_ms) = (4_317_184, 1054, 59);
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

#[test]
fn a_saved_run_comes_back_the_same() {
    let mut job = worker("j", 0, false);
    job.read.clat = Latency::with_histogram();
    (0..1000).for_each(|value| job.read.clat.record(value * value));
    job.read.bandwidth_samples.record(7, 500);
    job.read.bandwidth_samples.mean = 0.1 + 0.2;
    let run = run(vec![job]);
    assert_eq!(RunRecord::from_json(&run.to_json()).unwrap(), run);
}

#[test]
fn a_newer_or_damaged_record_is_refused_with_a_reason() {
    // A newer record need not even have today's fields.
    let newer = format!("{{\"schema\": {}}}", SCHEMA_VERSION + 1);
    let error = RunRecord::from_json(&newer).unwrap_err();
    assert!(matches!(error, SavedRecordError::Newer { found } if found == SCHEMA_VERSION + 1));
    assert!(error.to_string().contains("newer"), "{error}");
    let error = RunRecord::from_json("{\"jobs\": []}").unwrap_err();
    assert!(error.to_string().contains("not a run record: missing field `schema`"), "{error}");
}

#[test]
fn a_record_of_the_format_before_is_read() {
    let run = run(vec![worker("a", 0, false)]);
    let before = run
        .to_json()
        .replace(&format!("\"schema\":{SCHEMA_VERSION}"), "\"schema\":3")
        .replace("\"synchronous\":", "\"random\":false,\"synchronous\":");
    assert!(before.contains("\"random\"") && before.contains("\"schema\":3"), "{before}");
    let read = RunRecord::from_json(&before).unwrap();
    assert_eq!(RunRecord { schema: SCHEMA_VERSION, ..read }, run);
}
