//! Tests what limits a run over a network, and the attribution of latency between a server and its client.

use fsdyno_findings::limits::{Culprit, Limiter, between, of_run};
use fsdyno_results::evidence::*;
use fsdyno_results::{Access, Finding, Moments, Number, Pace, PerDirection, RunRecord, Severity};

use crate::network::{crossed, share};
use crate::scene::*;

const MS: u64 = 1_000_000;

/// 1,000 direct reads of 64 KiB in ten seconds on an NFS mount. The mount's counters give a request's times in ms; a
/// TCP connect takes 0.2 ms.
fn reads(link_bits_per_s: Option<u64>, latency_ms: u64, queue_ms: u64, round_trip_ms: u64) -> RunRecord {
    let mut job = direct(reader("job"));
    job.directions.read.bytes = 64 * MIB;
    job.directions.read.ios = 1_000;
    job.directions.read.lat.moments = same(latency_ms * MS);
    let mut record = share(StorageClass::Network, link_bits_per_s, job);
    record.nodes[0].storages[0].server.as_mut().unwrap().connect_ns = RecordedFact::Value(MS / 5);
    crossed(&mut record, [64 * MIB, 0], [64 * MIB, 0]);
    if let RecordedFact::Value(counters) = &mut last(&mut record).wire {
        counters.nfs_operations = vec![NfsOperation {
            name: "READ".into(),
            operations: 1_000,
            queue_ms: queue_ms * 1_000,
            round_trip_ms: round_trip_ms * 1_000,
            ..NfsOperation::default()
        }];
    }
    record
}

fn same(value: u64) -> Moments {
    let mut moments = Moments::default();
    (0..100).for_each(|_| moments.record(value));
    moments
}

fn busy(mut record: RunRecord, share: u64) -> RunRecord {
    let samples = &mut record.nodes[0].ledger.as_mut().unwrap().samples;
    samples[0].system = SystemCounters { busy_ms: Some(0), total_ms: Some(0), ..SystemCounters::default() };
    samples[1].system = SystemCounters { busy_ms: Some(share), total_ms: Some(100), ..SystemCounters::default() };
    record
}

fn limiter(record: &RunRecord) -> Option<Limiter> {
    of_run(record).ok().map(|limit| limit.limiter)
}

/// A link that is never filled here, and one that 6.7 MB/s fill.
const GIGABIT: Option<u64> = Some(1_000_000_000);
const FILLED: Option<u64> = Some(60_000_000);

#[test]
fn a_device_that_is_memory() {
    let mut record = on_disk(vec![direct(latencies(queued(reader("job"), "libaio", 32), 2_000, 300_000))]);
    let layer = |name: &str, memory, below| Layer { name: name.into(), memory, below, ..Layer::default() };
    record.nodes[0].storages[0].layers = vec![layer("ext4", false, vec![layer("zram0", true, vec![])])];
    look(&mut record, 0, [4 * GIB, 0], [4 * GIB, 0]);
    vda(&mut record).weighted_ms = 320_000;
    let limit = of_run(&record).unwrap();
    assert_eq!((limit.limiter, limit.evidence.to_string().as_str()), (Limiter::Memory, "ext4 on zram0 is memory"));
}

#[test]
fn a_device_that_works_for_others_is_their_load() {
    let limiter = |foreign: u64| {
        let mut record = on_disk(vec![direct(latencies(queued(reader("job"), "libaio", 32), 2_000, 300_000))]);
        look(&mut record, 0, [4 * GIB, 0], [4 * GIB, 0]);
        vda(&mut record).weighted_ms = 320_000;
        let bytes = |name: &str, value: u64| Number { name: name.into(), value: value as f64, unit: "B".into() };
        let numbers = vec![bytes("foreign bytes", foreign), bytes("bytes of the run", 4 * GIB)];
        let cause = "vda moved much for others";
        record.findings.push(Finding { numbers, ..Finding::new("foreign-load", Severity::Caution, cause, "") });
        of_run(&record).unwrap().limiter
    };
    assert_eq!([limiter(8 * GIB), limiter(GIB)], [Limiter::OtherLoad, Limiter::Device]);
    assert_eq!((Limiter::OtherLoad.finding(), Limiter::Device.finding()), (Some("foreign-load"), None));
}

#[test]
fn a_device_whose_queue_is_full() {
    let mut record = on_disk(vec![direct(latencies(queued(reader("job"), "libaio", 32), 2_000, 300_000))]);
    look(&mut record, 0, [4 * GIB, 0], [4 * GIB, 0]);
    vda(&mut record).weighted_ms = 320_000;
    let limit = of_run(&record).unwrap();
    assert_eq!(limit.limiter, Limiter::Device);
    assert_eq!(limit.evidence.to_string(), "the queue of vda held 32.0 of 32 in flight, 305 µs for each");
    vda(&mut record).weighted_ms = 480_000;
    assert_eq!(
        of_run(&record).unwrap().evidence.to_string(),
        "48.0 requests were in the queue of vda (32 from this run; large ones are split, or others use it too), 458 \
         µs for each"
    );
}

/// The device is equally busy with and without the limit: others may use it, or it gets only the group's I/Os.
#[test]
fn a_limit_of_the_control_group_goes_before_the_layers_below() {
    let run = || {
        let mut record = on_disk(vec![direct(latencies(queued(reader("job"), "libaio", 32), 2_000, 300_000))]);
        look(&mut record, 0, [4 * GIB, 0], [4 * GIB, 0]);
        vda(&mut record).weighted_ms = 320_000;
        record
    };
    let mut record = run();
    let group = |record: &mut RunRecord, limit: &str| {
        record.nodes[0].storages[0].cgroup.io = RecordedFact::Value(vec![limit.into()]);
    };
    group(&mut record, "vda (254:0) riops=104000");
    let limit = of_run(&record).unwrap();
    assert_eq!(limit.limiter, Limiter::IoThrottle);
    let evidence = "104,858 I/Os per second, 101 % of what it allows (vda (254:0) riops=104000 in io.max, or blkio.throttle of version 1)";
    assert_eq!(limit.evidence.to_string(), evidence);
    // After a ramp more requests complete than begin: they count as in the table.
    let read = &mut record.jobs[0].directions.read;
    read.clat.moments.count = read.ios;
    read.ios -= 20;
    assert_eq!(of_run(&record).unwrap().evidence.to_string(), evidence);
    group(&mut record, "vda (254:0) riops=300000");
    assert_eq!(limiter(&record), Some(Limiter::Device), "far from it");
    // Each request of the run was split into three for the device.
    vda(&mut record).done.operations.read *= 3;
    let limit = of_run(&record).unwrap();
    assert_eq!(limit.limiter, Limiter::IoThrottle);
    assert!(limit.evidence.to_string().starts_with("314,573 device requests per second, 105 % of"), "{limit:?}");
    assert_eq!(limit.limiter.finding(), Some("throttled"));
    assert!(one(&record, "throttled").cause.starts_with("314,573 device requests per second is 105 %"));
    // The device's requests say nothing about this run where others use it too.
    vda(&mut record).done.bytes.read *= 2;
    assert_ne!(limiter(&record), Some(Limiter::IoThrottle));
    vda(&mut record).done.bytes.read /= 2;
    vda(&mut record).done.operations.read /= 3;
    record.nodes[0].ledger.as_mut().unwrap().io_limits_after =
        RecordedFact::Value(vec!["vda (254:0) rbps=421000000".into()]);
    assert_eq!(limiter(&record), Some(Limiter::Device), "the rate did not fall to it");

    let mut held = busy(run(), 100);
    assert_eq!(limiter(&held), Some(Limiter::Device));
    held.nodes[0].storages[0].cgroup.cpus = RecordedFact::Value(Some(0.2));
    held.nodes[0].ledger.as_mut().unwrap().samples[0].system.throttled_us = Some(0);
    last(&mut held).system.throttled_us = Some(400_000);
    assert_eq!(limiter(&held), Some(Limiter::Device), "4 % of the time");
    last(&mut held).system.throttled_us = Some(8_000_000);
    let limit = of_run(&held).unwrap();
    assert_eq!(limit.limiter, Limiter::CpuQuota);
    let evidence =
        "it throttled the run 80 % of the time; its limit is 0.200 CPUs (cpu.max, or cpu.cfs_quota_us of version 1)";
    assert_eq!(limit.evidence.to_string(), evidence);
}

/// If the group's memory does not hold a file, later passes also come from the device.
#[test]
fn a_memory_limit_that_evicts_the_file() {
    let read = |span: u64, hits: u64| {
        let mut record = on_disk(vec![reader("job")]);
        look(&mut record, 0, [4 * GIB, 0], [4 * GIB, 0]);
        record.jobs[0].plan.span_bytes = Some(span);
        record.nodes[0].storages[0].cgroup.memory_bytes = RecordedFact::Value(Some(256 * MIB));
        let samples = &mut record.nodes[0].ledger.as_mut().unwrap().samples;
        (samples[0].system.memory_limit_hits, samples[1].system.memory_limit_hits) = (Some(3), Some(3 + hits));
        record
    };
    let evicted = read(GIB, 9_000);
    assert_eq!(found(&evicted), caution("memory-limit"));
    let limit = of_run(&evicted).unwrap();
    assert_eq!(limit.limiter, Limiter::MemoryLimit);
    let evidence = "75 % of the bytes read had been evicted; the control group may use 256 MiB (memory.max, memory.high, or \
                    memory.limit_in_bytes of version 1), a limit that it met 9,000 times";
    assert_eq!(limit.evidence.to_string(), evidence);
    assert_eq!(found(&read(4 * GIB, 9_000)), [], "each byte once");
    assert_eq!(found(&read(GIB, 0)), [], "something else took the memory");
    let mut unseen = read(GIB, 9_000);
    last(&mut unseen).system.memory_limit_hits = None;
    assert_eq!(found(&unseen), []);
}

#[test]
fn what_limits_requests_to_a_server() {
    assert_eq!(limiter(&reads(FILLED, 40, 0, 40)), Some(Limiter::Link));
    assert_eq!(limiter(&reads(GIGABIT, 40, 0, 40)), Some(Limiter::Server));
    assert_eq!(limiter(&reads(None, 40, 0, 40)), Some(Limiter::ServerOrLink), "who knows what the link can carry");
    let mut idle = reads(None, 40, 0, 40);
    if let RecordedFact::Value(counters) = &mut last(&mut idle).wire {
        counters.bytes = [MIB, 0].into();
    }
    assert_eq!(limiter(&idle), Some(Limiter::Server), "no link is that slow");
    let mut starved = busy(reads(GIGABIT, 40, 0, 40), 95);
    assert_eq!(limiter(&starved), Some(Limiter::Server), "others are busy, and the run waits for the server");
    (starved.jobs[0].job_runtime_ms, starved.jobs[0].run_queue_wait_ns) = (10_000, Some(3_000 * MS));
    assert_eq!(limiter(&starved), Some(Limiter::ClientProcessor));

    let mut far = reads(GIGABIT, 3, 0, 3);
    far.nodes[0].storages[0].server.as_mut().unwrap().connect_ns = RecordedFact::Value(2 * MS);
    assert_eq!(limiter(&far), Some(Limiter::RoundTrip));
    let evidence = of_run(&far).unwrap().evidence.to_string();
    assert_eq!(
        evidence,
        "a request takes 3.00 ms on the network and in the server, a TCP connect 2.00 ms: most of it on the network"
    );
}

/// A server may answer a write from its memory, and write to its disk when the client commits.
#[test]
fn a_slow_disk_shows_in_the_commits_of_writes() {
    let mut record = reads(GIGABIT, 40, 0, 0);
    let sides = &mut record.jobs[0].directions;
    (sides.write, sides.read) = (sides.read.clone(), sides.write.clone());
    record.jobs[0].setup.access = Access::named("randwrite").unwrap();
    let operation = |name: &str, operations: u64, round_trip_ms: u64| NfsOperation {
        name: name.into(),
        operations,
        round_trip_ms,
        ..NfsOperation::default()
    };
    let mut with = |operations: Vec<NfsOperation>| {
        if let RecordedFact::Value(counters) = &mut last(&mut record).wire {
            (counters.bytes, counters.nfs_operations) = ([0, 64 * MIB].into(), operations);
        }
        of_run(&record).unwrap()
    };
    assert_eq!(with(vec![operation("WRITE", 1_000, 300)]).limiter, Limiter::RoundTrip);
    let limit = with(vec![operation("WRITE", 1_000, 300), operation("COMMIT", 500, 40_000)]);
    assert_eq!(limit.limiter, Limiter::Server);
    assert_eq!(
        limit.evidence.to_string(),
        "a WRITE with its share of COMMITs takes 40.3 ms on the network and in the server, a TCP connect 200 µs: most of \
         it in the server"
    );
}

/// With a disk of 160 ms per request a short run makes only a few requests.
#[test]
fn a_few_requests_that_the_mount_timed_are_enough() {
    let of = |ios: u64| {
        let mut record = reads(GIGABIT, 160, 0, 160);
        record.jobs[0].directions.read.ios = ios;
        record.jobs[0].directions.read.bytes = ios * 4096;
        if let RecordedFact::Value(counters) = &mut last(&mut record).wire {
            counters.nfs_operations[0].operations = ios;
        }
        record
    };
    assert_eq!(limiter(&of(8)), Some(Limiter::Server));
    assert_eq!(of_run(&of(2)).unwrap_err(), "the run did too little I/O");
    assert_eq!(limiter(&busy(of(8), 99)), Some(Limiter::Server), "the processors had other things to do");
}

#[test]
fn what_is_not_visible_has_a_reason() {
    let why = |class| {
        let mut record = on(class, vec![direct(reader("job"))]);
        look(&mut record, 0, [4 * GIB, 0], [4 * GIB, 0]);
        of_run(&record).unwrap_err()
    };
    assert_eq!(why(StorageClass::Fuse), "a FUSE daemon does not report what its requests wait for");
    assert_eq!(why(StorageClass::Block), "no visible layer reached its limit");
    assert_eq!(why(StorageClass::HostShare), "no layer below the job is visible");
    let mut paced = on_disk(vec![direct(reader("job"))]);
    paced.jobs[0].plan.paced = true;
    assert_eq!(of_run(&paced).unwrap_err(), "the job's own rate limit or think time set the pace");
    let done = paced.jobs[0].directions.read.iops();
    let mut rated = |rate: f64| {
        paced.jobs[0].options = vec![("rate_iops".into(), rate.to_string())];
        of_run(&paced).map(|limit| limit.limiter)
    };
    assert_eq!(rated(done), Ok(Limiter::Rate));
    assert!(rated(done * 2.0).is_err(), "half of its rate came back: something else held it");
}

#[test]
fn a_pace_of_the_job_is_its_limit_where_it_was_kept() {
    let mut paced = on_disk(vec![direct(latencies(queued(reader("job"), "libaio", 32), 2_000, 300_000))]);
    look(&mut paced, 0, [4 * GIB, 0], [4 * GIB, 0]);
    vda(&mut paced).weighted_ms = 320_000;
    let read = paced.jobs[0].directions.read.clone();
    let bytes_per_s = read.bytes * 1000 / read.runtime_ms;
    let mut limit = |pace: Pace| {
        (paced.jobs[0].plan.paced, paced.jobs[0].plan.pace) = (true, Some(pace));
        of_run(&paced).map(|limit| (limit.limiter, limit.evidence.to_string()))
    };
    let rated = |rate: u64| Pace {
        bytes_per_s: PerDirection { read: Some(rate), ..PerDirection::default() },
        ..Pace::default()
    };
    let (limiter, shown) = limit(rated(bytes_per_s)).unwrap();
    assert!(limiter == Limiter::Rate && shown.contains("MB/s that it asks for"), "{shown}");
    assert_eq!(limit(rated(bytes_per_s * 2)).unwrap().0, Limiter::Device, "half came back: the device held it");
    let each_ns = read.runtime_ms * 1_000_000 / read.ios;
    let thinks = |share: u64| Pace { think_ns: each_ns * share / 100, think_ios: 1, ..Pace::default() };
    let (limiter, shown) = limit(thinks(80)).unwrap();
    assert!(limiter == Limiter::ThinkTime && shown.ends_with(" of the time"), "{shown}");
    assert_eq!(limit(thinks(10)).unwrap().0, Limiter::Device);
}

#[test]
fn a_queue_is_the_clients_own_only_before_a_quick_way() {
    let mut quick = reads(GIGABIT, 12, 10, 1);
    quick.nodes[0].storages[0].server.as_mut().unwrap().connect_ns = RecordedFact::Value(MS);
    assert_eq!(limiter(&quick), Some(Limiter::ClientQueue));
    assert_eq!(limiter(&reads(GIGABIT, 1_000, 800, 200)), Some(Limiter::Server), "it waits for what takes 200 ms each");
}

/// The same reads on the server itself.
fn on_the_server(latency_ms: u64) -> RunRecord {
    let mut job = direct(reader("job"));
    job.directions.read.lat.moments = same(latency_ms * MS);
    on_disk(vec![job])
}

#[test]
fn server_and_client_apart() {
    let culprit = |server: &RunRecord, client: &RunRecord| between(server, client).unwrap().culprit;
    let (quick, slow) = (on_the_server(4), on_the_server(35));
    assert_eq!(culprit(&quick, &reads(FILLED, 40, 0, 40)), Some(Culprit::Link), "by its speed");
    assert_eq!(culprit(&quick, &reads(None, 40, 0, 39)), Some(Culprit::Link), "by the time on the network");
    assert_eq!(culprit(&quick, &reads(None, 1_000, 800, 200)), Some(Culprit::Link), "the queue waits for it");
    assert_eq!(culprit(&slow, &reads(GIGABIT, 40, 0, 39)), Some(Culprit::Server));
    assert_eq!(culprit(&slow, &busy(reads(GIGABIT, 40, 0, 39), 99)), Some(Culprit::Server), "whatever else is busy");
    assert_eq!(culprit(&quick, &busy(reads(GIGABIT, 40, 0, 5), 99)), Some(Culprit::Client));
    let found = between(&quick, &reads(GIGABIT, 40, 0, 12)).unwrap();
    assert_eq!(found.culprit, None);
    assert!(found.sentence.ends_with("The limit is unknown: no part takes most of the time."), "{}", found.sentence);
}

#[test]
fn a_write_that_waits_for_its_sync_takes_as_long_as_both() {
    let synced = |run: RunRecord, sync_us: u64| {
        let mut run = run;
        let job = &mut run.jobs[0];
        job.setup.access = Access::named("write").unwrap();
        job.plan.sync_every_writes = 1;
        std::mem::swap(&mut job.directions.read, &mut job.directions.write);
        (0..100).for_each(|_| job.sync.lat.record(sync_us * 1000));
        run
    };
    let found = between(&synced(on_the_server(4), 1_000), &synced(reads(None, 40, 0, 39), 5_000)).unwrap();
    let without = between(&on_the_server(4), &reads(None, 40, 0, 39)).unwrap();
    assert_eq!((found.server_ns, found.client_ns), (without.server_ns + 1e6, without.client_ns + 5e6));
    assert!(found.sentence.starts_with("A write with its sync takes "), "{}", found.sentence);
}

#[test]
fn writes_that_were_not_safe_on_the_server_prove_nothing_about_the_link() {
    let written = |synchronous: bool| {
        let mut server = on_the_server(4);
        let job = &mut server.jobs[0];
        job.setup.access = Access::named("write").unwrap();
        job.plan.synchronous = synchronous;
        std::mem::swap(&mut job.directions.read, &mut job.directions.write);
        server
    };
    let client = reads(None, 40, 0, 39);
    let found = between(&written(false), &client).unwrap();
    assert_eq!(found.culprit, None);
    assert!(found.sentence.contains("--sync=dsync"), "{}", found.sentence);
    assert_eq!(between(&written(true), &client).unwrap().culprit, Some(Culprit::Link));
}
