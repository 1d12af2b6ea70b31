//! Checks that reports of a run on several nodes have the form of fio's clients (3.42).

use fsdyno_fio_report::{json, normal, terse};
use fsdyno_results::{DirectionRecord, DiskRecord, JobRecord, JobSetup, Latency, RunRecord};
use jiff::tz::TimeZone;
use serde_json::Value;

/// Requests of 4 KiB with these latencies.
fn moved(latencies_ns: &[u64], runtime_ms: u64) -> DirectionRecord {
    let mut clat = Latency::with_histogram();
    latencies_ns.iter().for_each(|latency_ns| clat.record(*latency_ns));
    let ios = latencies_ns.len() as u64;
    DirectionRecord { bytes: ios * 4096, ios, runtime_ms, clat, ..DirectionRecord::default() }
}

fn worker(name: &str, number: u32, group: u32) -> JobRecord {
    let mut job = JobRecord::new(name, number, JobSetup::default());
    (job.group, job.group_reporting, job.started_ms, job.pid) = (group, true, Some(1_795_322_795_124), 8000 + number);
    job.options = vec![("stonewall".into(), String::new())];
    job.job_runtime_ms = 20;
    job
}

/// Two readers as one row, and a writer in a group of its own.
fn client(name: &str, runtime_ms: u64) -> RunRecord {
    let mut run = RunRecord::new("fio-3.42", 1_795_322_793_000);
    run.nodes[0].name = name.into();
    run.nodes[0].disks = vec![DiskRecord { name: "vda".into(), ..DiskRecord::default() }];
    run.global_options = vec![("bs".into(), "4k".into())];
    run.complete = true;
    let mut first = worker("a", 1, 0);
    first.directions.read = moved(&[90_000; 64], runtime_ms);
    first.setup.clones = 2;
    let second = JobRecord { thread_number: 2, clone: 1, ..first.clone() };
    let mut writer = worker("b", 3, 1);
    writer.directions.write = moved(&[2_000, 138_000], 1);
    run.jobs = vec![first, second, writer];
    run
}

fn two() -> RunRecord {
    client("n2", 16).merge(client("n1", 14)).unwrap()
}

#[test]
fn each_client_reports_as_it_would_alone_and_then_all() {
    let report = normal::full(&two(), &TimeZone::UTC);
    let begins = [
        "<n1> a: (g=0): rw=read, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=psync, iodepth=1",
        "<n1> ...",
        "<n1> b: (g=1): rw=read, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=psync, iodepth=1",
        "<n1> Starting 3 processes",
    ];
    assert_eq!(report.lines().take(4).collect::<Vec<_>>(), begins);
    let alone =
        |name: &str, runtime_ms| format!("<{name}> {}", normal::results(&client(name, runtime_ms), &TimeZone::UTC));
    let each = alone("n1", 14) + &alone("n2", 16);
    let (_, all) = report.split_once(&each).unwrap_or_else(|| panic!("{each}\nis not in\n{report}"));
    // 256 reads of 4 KiB in the longer of both runtimes, and 4 writes.
    assert_eq!(
        all,
        "All clients: (groupid=1, jobs=4): err= 0: pid=0: Sun Nov 22 04:46:33 2026\n\
         \x20 read: IOPS=16.0k, BW=62.5Mi (65.5M)(1024KiB/16msec)\n\
         \x20   clat (nsec): min=90000, max=90000, avg=90000.00, stdev= 0.00\n\
         \x20   clat percentiles (nsec):\n\
         \x20    |   1th=[89600],   5th=[89600],  10th=[89600],  20th=[89600],\n\
         \x20    |  30th=[89600],  40th=[89600],  50th=[89600],  60th=[89600],\n\
         \x20    |  70th=[89600],  80th=[89600],  90th=[89600],  95th=[89600],\n\
         \x20    |  99th=[89600], 100th=[89600], 100th=[89600], 100th=[89600],\n\
         \x20    | 100th=[89600]\n\
         \x20 write: IOPS=4000, BW=15.6Mi (16.4M)(16.0KiB/1msec)\n\
         \x20   clat (nsec): min=2000, max=138000, avg=70000.00, stdev=78519.64\n\
         \x20   clat percentiles (usec):\n\
         \x20    |   1th=[    3],   5th=[    3],  10th=[    3],  20th=[    3],\n\
         \x20    |  30th=[    3],  40th=[    3],  50th=[    3],  60th=[  139],\n\
         \x20    |  70th=[  139],  80th=[  139],  90th=[  139],  95th=[  139],\n\
         \x20    |  99th=[  139], 100th=[  139], 100th=[  139], 100th=[  139],\n\
         \x20    | 100th=[  139]\n\
         \x20 cpu          : usr=0.00%, sys=0.00%, ctx=0, majf=0, minf=0\n\
         \x20 IO depths    : 1=0.0%, 2=0.0%, 4=0.0%, 8=0.0%, 16=0.0%, 32=0.0%, >=64=0.0%\n\
         \x20    submit    : 0=0.0%, 4=0.0%, 8=0.0%, 16=0.0%, 32=0.0%, 64=0.0%, >=64=0.0%\n\
         \x20    complete  : 0=0.0%, 4=0.0%, 8=0.0%, 16=0.0%, 32=0.0%, 64=0.0%, >=64=0.0%\n\
         \x20    issued rwts: total=256,4,0,0 short=0,0,0,0 dropped=0,0,0,0\n"
    );
}

fn keys(object: &Value) -> Vec<&str> {
    object.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn client_stats_have_the_keys_of_fios() {
    let document: Value = serde_json::from_str(&json::document(&two(), true, &TimeZone::UTC)).unwrap();
    assert_eq!(keys(&document), ["fio version", "timestamp", "time", "global options", "client_stats", "disk_util"]);
    let given = document["global options"].as_array().unwrap();
    assert_eq!(given.iter().map(keys).collect::<Vec<_>>(), [["hostname", "port", "bs"]; 2]);
    let stats = document["client_stats"].as_array().unwrap();
    let names: Vec<_> = stats.iter().map(|entry| [&entry["hostname"], &entry["jobname"], &entry["groupid"]]).collect();
    let rows = [("n1", "a", 0), ("n1", "b", 1), ("n2", "a", 0), ("n2", "b", 1), ("n2", "All clients", 1)];
    assert_eq!(serde_json::json!(names), serde_json::json!(rows));
    let shares = ["iodepth_level", "iodepth_submit", "iodepth_complete", "latency_ns", "latency_us", "latency_ms"];
    let before = ["jobname", "groupid", "job_start", "error"];
    let moved = ["read", "write", "trim", "sync", "job_runtime", "usr_cpu", "sys_cpu", "ctx", "majf", "minf"];
    let target = [
        "latency_depth",
        "latency_target",
        "latency_target_ns",
        "latency_percentile",
        "latency_window",
        "latency_window_us",
    ];
    let of_row = [&before[..], &["job options"], &moved, &shares, &target, &["hostname", "port"]].concat();
    let of_all = [&before[..], &moved, &shares, &["hostname", "port"]].concat();
    assert_eq!((keys(&stats[0]), keys(&stats[4])), (of_row, of_all));
    assert_eq!((&stats[4]["job_start"], &stats[4]["read"]["total_ios"]), (&0.into(), &256.into()));
    assert_eq!(stats[4]["write"]["clat_ns"]["bins"]["138240"], 2);
    let disks = document["disk_util"].as_array().unwrap();
    assert_eq!(disks.iter().map(|disk| disk["hostname"].as_str().unwrap()).collect::<Vec<_>>(), ["n1", "n2"]);
}

#[test]
fn terse_lines_have_disks_of_their_own() {
    let lines = terse::lines(&two(), terse::Version::V3);
    let form: Vec<(usize, &str)> =
        lines.lines().map(|line| (line.split(';').count(), line.split(';').nth(2).unwrap_or_default())).collect();
    let client = [(1, ""), (121, "a"), (121, "b"), (10, "0")];
    assert_eq!(form, [&client[..], &client, &[(121, "All clients")]].concat());
    assert!(lines.contains("\n;vda;0;0;0;0;0;0;0;0.00%\n"), "{lines}");
}

#[test]
fn one_row_of_one_client_needs_no_sum_and_one_machine_has_no_clients() {
    let mut one = client("n1", 14);
    let alone = normal::results(&one, &TimeZone::UTC);
    assert!(!alone.contains("All clients") && alone.starts_with("\na: (groupid=0, jobs=2)"), "{alone}");
    one.jobs.truncate(1);
    let mut other = client("n2", 16);
    other.jobs.clear();
    assert!(!normal::results(&one.merge(other).unwrap(), &TimeZone::UTC).contains("All clients"));
}
