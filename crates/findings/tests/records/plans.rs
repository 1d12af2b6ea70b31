//! Tests conflicts that are known before the run.

use fsdyno_results::Severity;
use fsdyno_results::evidence::{DeviceNumber, DirectIo, RecordedFact, StorageClass};

use crate::scene::*;

#[test]
fn a_depth_that_cannot_be() {
    let mut sync = reader("job");
    sync.setup.depth = 32;
    assert_eq!(preflight(&on_disk(vec![sync])), caution("depth-not-reached"));
    let buffered = queued(reader("job"), "libaio", 32);
    assert_eq!(preflight(&on_disk(vec![buffered])), caution("depth-not-reached"));
    let in_memory = on(StorageClass::Memory, vec![queued(reader("job"), "libaio", 32)]);
    assert_eq!(preflight(&in_memory), caution("memory-storage"));
    assert_eq!(one(&in_memory, "depth-not-reached").severity, Severity::Info);
    for honest in [direct(queued(reader("job"), "libaio", 32)), queued(reader("job"), "io_uring", 32), reader("job")] {
        assert_eq!(fsdyno_findings::of_plan(&on_disk(vec![honest])), []);
    }
}

#[test]
fn the_run_shows_the_depth() {
    let mut job = latencies(queued(reader("job"), "libaio", 32), 39_900, 1_285_000);
    job.directions.read.ios = 250_000;
    let mut record = on_disk(vec![job]);
    look(&mut record, 0, [4 * GIB, 0], [4 * GIB, 0]);
    vda(&mut record).weighted_ms = 10_000;
    assert_eq!(found(&record), invalid("depth-not-reached"));
    let cause = one(&record, "depth-not-reached").cause;
    assert!(cause.contains("only 1.0 of 32 requests reached vda"), "{cause}");
    assert!(cause.contains("a request took 39.9 µs, not the 1.28 ms of clat"), "{cause}");

    // Without latencies the queue shows it, unless a cache answered: then nothing waited for the device.
    let mut unclocked = record.clone();
    unclocked.jobs[0].directions.read.slat = Default::default();
    unclocked.jobs[0].directions.read.clat = Default::default();
    assert_eq!(found(&unclocked), invalid("depth-not-reached"));
    vda(&mut unclocked).done.bytes = [2 * GIB, 0].into();
    assert_eq!(one(&unclocked, "depth-not-reached").severity, Severity::Caution);
    vda(&mut unclocked).done.bytes = [4 * GIB, 0].into();
    unclocked.jobs[0].plan.direct = Some(true);
    assert_eq!(found(&unclocked), [], "direct, and nobody knows what submitting took");

    // A filesystem that does direct I/O one by one: this is its true speed, but not what was asked for.
    record.jobs[0].plan.direct = Some(true);
    assert_eq!(found(&record), caution("depth-not-reached"));
    // With everything at the control group's limit, the limit is the cause.
    record.nodes[0].storages[0].cgroup.io = RecordedFact::Value(vec!["254:0 rbps=430000000".into()]);
    assert_eq!(found(&record), caution("throttled"));

    let job = direct(latencies(queued(reader("job"), "libaio", 32), 2_000, 358_000));
    let mut record = on_disk(vec![job]);
    look(&mut record, 0, [4 * GIB, 0], [4 * GIB, 0]);
    vda(&mut record).weighted_ms = 258_000;
    assert_eq!(fsdyno_findings::of_run(&record), []);
}

#[test]
fn files_that_fit_in_memory() {
    let mut again = reader("job");
    again.plan.time_based = true;
    assert_eq!(preflight(&on_disk(vec![again.clone()])), caution("fits-in-memory"));
    assert_eq!(preflight(&on_disk(vec![writer("job")])), caution("fits-in-memory"));

    let mut large = again.clone();
    large.plan.span_bytes = Some(60 * GIB);
    let mut synced = writer("job");
    synced.plan.end_sync = true;
    for honest in [reader("read once"), direct(again.clone()), large, synced, direct(writer("job"))] {
        assert_eq!(preflight(&on_disk(vec![honest])), []);
    }
    assert_eq!(preflight(&on(StorageClass::Memory, vec![again.clone()])), caution("memory-storage"));
    let made_up = on(StorageClass::Kernel, vec![again.clone()]);
    assert_eq!(preflight(&made_up), caution("memory-storage"), "/dev/zero is no file that fits in memory");

    // After the run the ledger shows whether memory answered.
    let mut record = on_disk(vec![again.clone()]);
    look(&mut record, 0, [4 * GIB, 0], [4 * GIB, 0]);
    assert_eq!(fsdyno_findings::of_run(&record), []);
    let mut record = on_disk(vec![again.clone()]);
    look(&mut record, 0, [40 * GIB, 0], [4 * GIB, 0]);
    assert_eq!(found(&record), invalid("page-cache"));
    // Without a ledger the plan's finding remains.
    let mut unwatched = on_disk(vec![again]);
    assert_eq!(found(&unwatched), caution("fits-in-memory"));
    assert_eq!(one(&unwatched, "fits-in-memory").next, "add --direct=1");
    unwatched.nodes[0].storages[0].direct_io = RecordedFact::Value(DirectIo::Refused);
    assert!(one(&unwatched, "fits-in-memory").next.contains("read each byte once"), "what can be followed");
}

#[test]
fn a_control_group_can_have_less_memory() {
    let mut again = reader("job");
    again.plan.time_based = true;
    let mut record = on_disk(vec![again]);
    record.nodes[0].storages[0].cgroup.memory_bytes = RecordedFact::Value(Some(GIB));
    assert_eq!(preflight(&record), []);
}

#[test]
fn uniform_buffers() {
    let mut zeros = direct(writer("job"));
    zeros.plan.uniform_data = true;
    let mut half = direct(writer("job"));
    half.plan.compressible_percent = Some(50);
    for job in [zeros, half] {
        assert_eq!(preflight(&on_disk(vec![job.clone()])), caution("compressible-data"));
        assert_eq!(preflight(&on(StorageClass::Memory, vec![job])), caution("memory-storage"));
    }
    let mut reads = direct(reader("job"));
    reads.plan.uniform_data = true;
    assert_eq!(preflight(&on_disk(vec![reads,])), []);
}

#[test]
fn several_jobs_on_one_file_or_beside_each_other() {
    let mut shared = reader("job");
    shared.setup.access.random = false;
    let record = on_disk(vec![shared.clone(), shared.clone()]);
    assert_eq!(preflight(&record), caution("shared-file"), "once per job, not per clone");
    let random = direct(reader("job"));
    assert_eq!(fsdyno_findings::of_plan(&on_disk(vec![random.clone(), random])), [], "as databases do");
    let direct_ones = on_disk(vec![direct(shared.clone()), direct(shared.clone())]);
    assert_eq!(preflight(&direct_ones), []);
    assert_eq!(fsdyno_findings::of_plan(&direct_ones)[0].severity, Severity::Info);
    let network = on(StorageClass::Network, vec![direct(shared.clone()), direct(shared)]);
    assert_eq!(preflight(&network), caution("shared-file"));
}

#[test]
fn sections_without_stonewall() {
    let (one_job, other) = (direct(reader("read_iops")), direct(writer("write_iops")));
    let record = on_disk(vec![one_job.clone(), other.clone()]);
    let both = preflight(&record);
    assert_eq!(both, [caution("jobs-overlap"), caution("jobs-overlap")].concat());
    assert!(
        fsdyno_findings::of_plan(&record)[0]
            .cause
            .starts_with("read_iops and write_iops run at the same time on /data")
    );
    assert_eq!(found(&record), both);

    let mut in_turn = other.clone();
    in_turn.plan.stage = 1;
    assert_eq!(preflight(&on_disk(vec![one_job.clone(), in_turn])), []);

    // Separated by a start delay.
    let mut later = other.clone();
    later.started_ms = Some(20_000);
    assert_eq!(found(&on_disk(vec![one_job.clone(), later])), []);

    // On another storage.
    let mut elsewhere = other;
    elsewhere.plan.files = vec!["/other/file".into()];
    let mut record = on_disk(vec![one_job, elsewhere]);
    let mut storage = disk_storage();
    if let RecordedFact::Value(mount) = &mut storage.mount {
        mount.mount_point = "/other".into();
        mount.device = DeviceNumber { major: 8, minor: 1 };
    }
    record.nodes[0].storages.push(storage);
    assert_eq!(preflight(&record), []);
}

#[test]
fn latency_switched_off() {
    let mut job = direct(reader("job"));
    job.timed_one_in = 64;
    let record = on_disk(vec![job]);
    assert_eq!(preflight(&record), [], "the rates stand");
    assert_eq!(fsdyno_findings::of_plan(&record)[0].id, "latency-off");
    assert_eq!(one(&record, "latency-off").severity, Severity::Info);
}
