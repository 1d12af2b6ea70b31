//! Compares one hand-written run with everything that a report can show, in every format, with golden files.
//! `INSTA_UPDATE=always cargo test -p fsdyno-fio-report` rewrites the files in `tests/golden`; read the difference
//! before you commit it.

use fsdyno_fio_report::{json, normal, terse};
use fsdyno_results::{
    Access, DirectionRecord, DiskRecord, JobError, JobRecord, JobSetup, Latency, PerDirection, RunRecord,
    SteadyStateMetric, SteadyStateRecord, SurvivedErrors, SyncRecord, UnifiedReporting,
};
use insta::{Settings, assert_snapshot};
use jiff::tz::TimeZone;

/// 1000 latencies from `least_ns` on, each larger than the previous one by a thousandth of it.
fn latency(least_ns: u64) -> Latency {
    let mut latency = Latency::with_histogram();
    (0..1000).for_each(|step| latency.record(least_ns + least_ns * step / 1000));
    latency
}

/// 1000 I/Os of 4 KiB in two seconds.
fn direction(clat_ns: u64, runtime_ms: u64) -> DirectionRecord {
    let mut direction = DirectionRecord {
        bytes: 4_096_000,
        ios: 1000,
        runtime_ms,
        slat: latency(500),
        clat: latency(clat_ns),
        lat: latency(clat_ns + 500),
        ..DirectionRecord::default()
    };
    for (window, value) in [(500, 1990), (1000, 2010), (1500, 2005)] {
        direction.bandwidth_samples.record(value, window);
        direction.iops_samples.record(value / 4, window);
    }
    direction
}

fn options(options: &[(&str, &str)]) -> Vec<(String, String)> {
    options.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
}

/// Two clones that are reported as one row.
fn readers() -> Vec<JobRecord> {
    let setup = JobSetup {
        access: Access::named("randread").unwrap(),
        engine: "libaio".into(),
        depth: 64,
        clones: 2,
        thread: true,
        slat_percentiles: true,
        percentiles: vec![1.0, 50.0, 99.9],
        latency_target_ns: 1_500_000,
        latency_window_ns: 2_000_000_000,
        latency_percentile: 99.9,
        ..JobSetup::default()
    };
    let mut first = JobRecord::new("readers", 1, setup);
    first.group_reporting = true;
    first.pid = 100;
    first.description = Some("say \"hi\"; then\tgo".into());
    first.options = options(&[("rw", "randread"), ("numjobs", "2"), ("numjobs", "2")]);
    first.started_ms = Some(1_795_262_548_206);
    first.directions.read = direction(600_000, 2001);
    first.job_runtime_ms = 2003;
    (first.user_ns, first.system_ns) = (100_150_000, 400_600_000);
    (first.context_switches, first.major_faults, first.minor_faults) = (325, 1, 7);
    first.depth_levels = [1, 2, 4, 8, 16, 32, 937];
    first.submit_sizes[1] = 1000;
    first.complete_sizes = [2, 900, 10, 0, 0, 0, 1];
    (0..1000).for_each(|step| first.count_latency_class(600_000 + 600 * step));
    let mut second = first.clone();
    (second.thread_number, second.clone, second.pid) = (2, 1, 101);
    second.directions.read.runtime_ms = 2000;
    vec![first, second]
}

fn writer() -> JobRecord {
    let setup = JobSetup {
        access: Access::named("write").unwrap(),
        block_sizes: PerDirection { write: (4096, 131_072), ..PerDirection::all((4096, 4096)) },
        ..JobSetup::default()
    };
    let mut job = JobRecord::new("writer", 3, setup);
    (job.group, job.pid) = (1, 103);
    job.started_ms = Some(1_795_262_550_300);
    job.error = Some(JobError { code: 28, function: "io_u error".into(), text: "No space left on device".into() });
    job.directions.write =
        DirectionRecord { slat: Latency::default(), short_ios: 1, dropped_ios: 2, ..direction(3_000_000, 1999) };
    (job.directions.write.clat, job.directions.write.lat) = (latency(90_000_000), latency(90_000_500));
    job.sync = SyncRecord { ios: 125, lat: latency(90) };
    job.job_runtime_ms = 2000;
    job.depth_levels[0] = 1125;
    (job.submit_sizes[1], job.complete_sizes[1]) = (1000, 1000);
    (0..1000).for_each(|step| job.count_latency_class(90_000_000 + 90_000 * step));
    job
}

fn mixer() -> JobRecord {
    let setup = JobSetup {
        access: Access::named("rw").unwrap(),
        unified: UnifiedReporting::Both,
        lat_percentiles: true,
        clat_percentiles: false,
        ..JobSetup::default()
    };
    let mut job = JobRecord::new("mixer", 4, setup);
    (job.group, job.pid) = (1, 104);
    job.directions.read = DirectionRecord { slat: Latency::default(), ..direction(50, 2000) };
    job.directions.trim = DirectionRecord { slat: Latency::default(), ..direction(1_000, 1000) };
    job.survived_errors = Some(SurvivedErrors { total: 3, first: 5 });
    job.job_runtime_ms = 2000;
    job.depth_levels[0] = 2000;
    for step in 0..1000 {
        job.count_latency_class(50 + step / 20);
        job.count_latency_class(1_000 + step);
    }
    job.steady_state = Some(SteadyStateRecord {
        metric: SteadyStateMetric::Bandwidth,
        by_slope: true,
        limit: 0.3,
        duration_s: 2,
        attained: false,
        criterion: Some(0.46),
        value: Some(0.25),
        percent: true,
        intervals: 3,
        bandwidth: vec![2_048_000, 2_050_000],
        iops: vec![500, 501],
        lat_ns: Vec::new(),
    });
    job
}

fn disks() -> Vec<DiskRecord> {
    let disk = |name: &str, ios: u64, util_percent: f64| DiskRecord {
        name: name.into(),
        ios: [ios, ios + 1].into(),
        sectors: [8 * ios, 8 * ios + 8].into(),
        merges: [2, 3].into(),
        ticks_ms: [40, 50].into(),
        in_queue_ms: 90,
        util_percent,
        slaves: Vec::new(),
    };
    let (sda, sdb) = (disk("sda", 1000, 40.5), disk("sdb", 1003, 57.85));
    vec![DiskRecord { slaves: vec![sda.clone(), sdb], ..disk("dm-0", 2000, 60.0) }, sda]
}

fn everything() -> RunRecord {
    let mut run = RunRecord::new("fio-3.42-fsdyno-0.1.0", 1_795_262_548_000);
    run.taken_ms = 1_795_262_552_563;
    run.elapsed_s = 4;
    run.complete = true;
    run.global_options = options(&[("ioengine", "libaio"), ("group_reporting", ""), ("directory", "/tmp/a\"b")]);
    run.jobs = readers();
    run.jobs.push(writer());
    run.jobs.push(mixer());
    let mut hidden = writer();
    hidden.name = "hidden".into();
    hidden.setup.shown = false;
    run.jobs.push(hidden);
    let mut idle = JobRecord::new("idle", 6, JobSetup::default());
    (idle.group, idle.eta_s) = (2, Some(17));
    run.jobs.push(idle);
    run.nodes[0].disks = disks();
    run
}

fn in_golden(test: impl FnOnce()) {
    let mut settings = Settings::clone_current();
    settings.set_snapshot_path("golden");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(test);
}

#[test]
fn normal_report() {
    in_golden(|| assert_snapshot!("normal", normal::full(&everything(), &TimeZone::UTC)));
}

#[test]
fn json_report() {
    in_golden(|| assert_snapshot!("json", json::document(&everything(), false, &TimeZone::UTC)));
}

/// The bins would fill pages: one short histogram shows their form.
#[test]
fn json_plus_report() {
    let mut run = RunRecord::new("fio-3.42", 0);
    let mut job = JobRecord::new("j", 1, JobSetup { percentiles: vec![50.0, 100.0], ..JobSetup::default() });
    (job.directions.read.ios, job.directions.read.bytes, job.directions.read.runtime_ms) = (3, 12_288, 1);
    job.directions.read.clat = Latency::with_histogram();
    [100, 100, 1700].into_iter().for_each(|latency_ns| job.directions.read.clat.record(latency_ns));
    run.jobs = vec![job];
    in_golden(|| assert_snapshot!("json-plus", json::document(&run, true, &TimeZone::UTC)));
}

#[test]
fn terse_reports() {
    let run = everything();
    in_golden(|| {
        for version in [terse::Version::V2, terse::Version::V3, terse::Version::V4, terse::Version::V5] {
            assert_snapshot!(format!("terse-{version:?}"), terse::lines(&run, version));
        }
    });
}

/// A record that was saved and loaded gives the same reports.
#[test]
fn a_saved_run_reports_the_same() {
    let run = everything();
    let read = RunRecord::from_json(&run.to_json()).unwrap();
    assert_eq!(normal::full(&read, &TimeZone::UTC), normal::full(&run, &TimeZone::UTC));
    assert_eq!(json::document(&read, true, &TimeZone::UTC), json::document(&run, true, &TimeZone::UTC));
}

/// fio's numbers of fields: 121, plus 9 for a disk, 2 for errors that were continued after, and 1 for a description.
#[test]
fn terse_lines_have_the_known_numbers_of_fields() {
    let plain = || {
        let mut run = RunRecord::new("fio-3.42", 0);
        run.jobs = vec![JobRecord::new("j", 1, JobSetup::default())];
        run
    };
    let fields = |run: &RunRecord, version| terse::lines(run, version).split(';').count();
    use terse::Version::{V2, V3, V4, V5};
    assert_eq!([V2, V3, V4, V5].map(|version| fields(&plain(), version)), [161, 121, 162, 180]);

    let mut more = plain();
    more.nodes[0].disks = vec![DiskRecord { name: "vda".into(), ..DiskRecord::default() }];
    assert_eq!([V2, V3].map(|version| fields(&more, version)), [161, 130]);
    more.jobs[0].survived_errors = Some(SurvivedErrors { total: 0, first: 0 });
    more.jobs[0].description = Some("one; field\nand line".into());
    assert_eq!(fields(&more, V3), 133);
    assert_eq!(terse::lines(&more, V3).lines().count(), 1);
}

/// Fields of real lines (with trims and IOPS in version 5) have the same forms as ours.
#[test]
fn terse_fields_have_the_forms_of_real_ones() {
    let path = |name: &str| format!("{}/tests/fio/{name}", env!("CARGO_MANIFEST_DIR"));
    let form = |line: &str| -> Vec<String> {
        // The percentage of a percentile is a part of the form.
        let masked = |field: &str| match field.split_once("%=") {
            Some((percent, _)) => format!("{percent}%=N"),
            None => {
                let decimals = field.trim_end_matches('%').split_once('.').map_or(0, |(_, decimals)| decimals.len());
                let kind = if field.starts_with(|first: char| first.is_ascii_digit()) { "number" } else { "text" };
                format!("{kind}.{decimals}{}", if field.ends_with('%') { "%" } else { "" })
            }
        };
        line.trim_end().split(';').map(masked).collect()
    };
    let mut run = RunRecord::new("fio-3.42-ours", 0);
    let mut job = JobRecord::new("t", 1, JobSetup::default());
    job.directions.read = direction(26_000, 77);
    job.directions.write = direction(2_000, 77);
    run.jobs = vec![job];
    run.nodes[0].disks = vec![DiskRecord { name: "vda".into(), ..DiskRecord::default() }];
    let real = std::fs::read_to_string(path("f-terse3.terse.txt")).unwrap();
    // The two version texts contain points.
    let version_masked = |line: &str| line.replace("fio-3.42-135-gf5344", "fio").replace("fio-3.42-ours", "fio");
    assert_eq!(form(&version_masked(&terse::lines(&run, terse::Version::V3))), form(&version_masked(&real)));
    run.jobs[0].description = Some("hello".into());
    let real = std::fs::read_to_string(path("f-terse5.terse.txt")).unwrap();
    assert_eq!(form(&version_masked(&terse::lines(&run, terse::Version::V5))), form(&version_masked(&real)));
}
