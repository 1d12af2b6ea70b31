//! Tests the traps of the machine: CPUs, clocks, limits, neighbours.

use fsdyno_results::Access;
use fsdyno_results::ClockFacts;
use fsdyno_results::Severity;
use fsdyno_results::evidence::{
    FuseIdentity, LedgerSample, MachineEvidence, Moment, RecordedFact, StorageClass, WireCounters,
};

use crate::scene::*;

#[test]
fn a_busy_generator() {
    let mut job = direct(queued(reader("job"), "io_uring", 32));
    job.user_ns = 2_000_000_000;
    job.system_ns = 7_900_000_000;
    let record = on_disk(vec![job.clone()]);
    assert_eq!(found(&record), caution("generator-bound"));
    assert!(one(&record, "generator-bound").next.contains("--numjobs=2"));
    let mut idle = job.clone();
    idle.system_ns = 4_000_000_000;
    assert_eq!(fsdyno_findings::of_run(&on_disk(vec![idle])), []);
    let mut polling = job;
    polling.options = vec![("hipri".into(), "1".into())];
    assert_eq!(fsdyno_findings::of_run(&on_disk(vec![polling])), []);
}

#[test]
fn no_processor_to_run_on() {
    let run = || {
        let mut record = on_disk(vec![direct(reader("job"))]);
        look(&mut record, 0, [4 * GIB, 0], [4 * GIB, 0]);
        let begin = &mut record.nodes[0].ledger.as_mut().unwrap().samples[0].system;
        (begin.steal_ms, begin.total_ms, begin.throttled_us) = (Some(0), Some(0), Some(0));
        let end = &mut last(&mut record).system;
        (end.steal_ms, end.total_ms, end.throttled_us) = (Some(100), Some(20_000), Some(1_000));
        record
    };
    assert_eq!(fsdyno_findings::of_run(&run()), []);
    let mut stolen = run();
    last(&mut stolen).system.steal_ms = Some(6_000);
    assert_eq!(found(&stolen), caution("cpu-starved"));
    let mut throttled = run();
    last(&mut throttled).system.throttled_us = Some(4_000_000);
    assert_eq!(found(&throttled), caution("cpu-starved"));
    assert!(one(&throttled, "cpu-starved").cause.contains("40 % of the time"));
    // Threads that the group's limit throttles wait while others use the CPUs.
    let begin = &mut throttled.nodes[0].ledger.as_mut().unwrap().samples[0].system;
    (begin.busy_ms, begin.throttled_count) = (Some(0), Some(0));
    let end = &mut last(&mut throttled).system;
    (end.busy_ms, end.throttled_count) = (Some(20_000), Some(9));
    throttled.jobs[0].run_queue_wait_ns = Some(10_000_000_000);
    throttled.nodes[0].storages[0].cgroup.cpus = RecordedFact::Value(Some(0.2));
    last(&mut throttled).system.throttled_us = Some(600_000);
    let cause = one(&throttled, "cpu-starved").cause;
    assert!(cause.contains("the control group throttled the run 6 % of the time"), "{cause}");
    assert!(cause.ends_with("; its limit is 0.200 CPUs (cpu.max, or cpu.cfs_quota_us of version 1)"), "{cause}");
    last(&mut throttled).system.throttled_us = Some(300_000);
    let cause = one(&throttled, "cpu-starved").cause;
    let (group, others) = (cause.find("throttled the run 9 times (3 %"), cause.find("other processes"));
    assert!(group.is_some() && group < others, "{cause}");
    let mut waiting = run();
    waiting.jobs[0].run_queue_wait_ns = Some(1_900_000_000);
    assert_eq!(fsdyno_findings::of_run(&waiting), [], "19 % of ten seconds");
    waiting.jobs[0].run_queue_wait_ns = Some(5_000_000_000);
    assert_eq!(found(&waiting), caution("cpu-starved"));
}

/// The finding depends on who used the CPUs while the workers waited.
#[test]
fn who_had_the_processors() {
    // Ten seconds on two CPUs, all of them used; CPU time of the process, wait of its worker, CPU time of a daemon, ns.
    let waited = |process_ns: u64, worker_ns: u64, daemon_ns: Option<u64>| {
        let mut record = on(StorageClass::Fuse, vec![direct(queued(reader("job"), "libaio", 16))]);
        record.nodes[0].storages[0].fuse = Some(FuseIdentity { kind: Some("s3fs".into()), ..FuseIdentity::default() });
        record.jobs[0].run_queue_wait_ns = Some(5_000_000_000);
        record.jobs[0].system_ns = worker_ns;
        record.nodes[0].host.cpus = Some(2);
        look(&mut record, 0, [4 * GIB, 0], [0, 0]);
        let samples = &mut record.nodes[0].ledger.as_mut().unwrap().samples;
        for (sample, share) in samples.iter_mut().zip([0, 1]) {
            (sample.system.busy_ms, sample.system.total_ms) = (Some(share * 20_000), Some(share * 20_000));
            let wire = WireCounters {
                bytes: [share * 4 * GIB, 0].into(),
                daemon_cpu_ns: daemon_ns.map(|ns| share * ns),
                ..WireCounters::default()
            };
            sample.wire = RecordedFact::Value(wire);
            if let RecordedFact::Value(process) = &mut sample.process {
                process.cpu_ns = share * process_ns;
            }
        }
        record
    };
    const S: u64 = 1_000_000_000;
    let daemon = waited(5 * S, 5 * S, Some(14 * S));
    assert_eq!(one(&daemon, "cpu-starved").severity, Severity::Info);
    assert!(one(&daemon, "cpu-starved").cause.ends_with("the FUSE daemon used 1.4 of 2 CPUs"));
    let busy_itself = waited(9 * S, 8 * S, Some(7 * S));
    assert_eq!(one(&busy_itself, "cpu-starved").severity, Severity::Info, "one worker does not wait for itself");
    let mut pinned = waited(10 * S, 9 * S, None);
    last(&mut pinned).system.busy_ms = Some(10_000);
    assert_eq!(found(&pinned), caution("cpu-starved"), "a second of others explains no five of waiting");
    assert!(!one(&pinned, "cpu-starved").cause.contains("used"));
    let kernel = waited(18 * S, 5 * S, None);
    assert_eq!(one(&kernel, "cpu-starved").severity, Severity::Info);
    assert!(one(&kernel, "cpu-starved").cause.contains("the kernel threads for this run's requests"));
    let others = waited(5 * S, 5 * S, Some(S));
    assert_eq!(found(&others), caution("cpu-starved"));
    assert!(one(&others, "cpu-starved").cause.ends_with("other processes and the kernel used 1.4 of 2 CPUs"));
    // The machine's time was read later than the sample says: 600 ms of two CPUs in a stage of 250 ms.
    let mut short = others.clone();
    short.jobs[0].run_queue_wait_ns = Some(S / 10);
    (short.jobs[0].job_runtime_ms, last(&mut short).at_ms) = (250, 250);
    let system = &mut last(&mut short).system;
    (system.busy_ms, system.total_ms) = (Some(600), Some(600));
    let RecordedFact::Value(process) = &mut last(&mut short).process else { panic!("visible") };
    process.cpu_ns = S / 50;
    last(&mut short).wire = RecordedFact::default();
    let cause = one(&short, "cpu-starved").cause;
    assert!(cause.ends_with("other processes and the kernel used 1.9 of 2 CPUs"), "{cause}");
    short.nodes[0].host.cpus = None;
    assert!(!one(&short, "cpu-starved").cause.contains("used"), "of how many is not known");
    let mut crowd = waited(19 * S, 6 * S, None);
    let worker = crowd.jobs[0].clone();
    crowd.jobs.extend([worker.clone(), worker]);
    assert_eq!(found(&crowd), caution("cpu-starved"));
    assert!(
        one(&crowd, "cpu-starved").cause.contains("this run's own I/O threads used 1.8 of 2 CPUs"),
        "three on two CPUs"
    );
}

#[test]
fn clocks() {
    let clock = |cost_ns, drift_ppm| {
        let mut record = on_disk(vec![direct(reader("job"))]);
        let source = "clock_gettime".to_owned();
        record.nodes[0].host.clock = Some(ClockFacts { source, cost_ns, frequency_hz: None, drift_ppm });
        record
    };
    assert_eq!(fsdyno_findings::of_run(&clock(25.0, Some(20.0))), []);
    assert_eq!(found(&clock(1_500.0, None)), caution("clock"), "two readings of 9.5 us");
    assert_eq!(found(&clock(25.0, Some(-900.0))), caution("clock"));
    assert_eq!(one(&clock(25.0, Some(-900.0)), "clock").job, None, "of the run");
    let mut virtual_time = clock(1_500.0, Some(-900.0));
    virtual_time.nodes[0].host.clock.as_mut().unwrap().source = "virtual".into();
    assert_eq!(fsdyno_findings::of_run(&virtual_time), []);
}

#[test]
fn processors_that_save_power() {
    let mut job = latencies(direct(reader("job")), 0, 90_000);
    job.directions.read.ios = 3_000;
    let mut record = on_disk(vec![job]);
    look(&mut record, 0, [12_000 * 1024, 0], [12_000 * 1024, 0]);
    let govern = |record: &mut fsdyno_results::RunRecord, governor: &str| {
        let machine = MachineEvidence { governor: Some(governor.into()), ..MachineEvidence::default() };
        record.nodes[0].ledger.as_mut().unwrap().machine = machine;
    };
    assert_eq!(fsdyno_findings::of_run(&record), [], "not visible");
    govern(&mut record, "performance");
    assert_eq!(fsdyno_findings::of_run(&record), []);
    govern(&mut record, "powersave");
    assert_eq!(found(&record), caution("power-saving"));
    record.jobs[0].directions.read.ios = 1 << 20;
    assert_eq!(fsdyno_findings::of_run(&record), [], "never idle long enough");
}

#[test]
fn a_limit_that_was_reached() {
    let limited = |limit: &str| {
        let mut record = on_disk(vec![direct(reader("job"))]);
        record.nodes[0].storages[0].cgroup.io = RecordedFact::Value(vec![limit.into()]);
        found(&record)
    };
    // 429 MB/s were reached.
    assert_eq!(limited("254:0 rbps=429496729 wbps=1000"), caution("throttled"));
    assert_eq!(limited("254:0 riops=110000"), caution("throttled"));
    assert_eq!(limited("254:0 rbps=4294967290"), []);
    assert_eq!(limited("254:0 rbps=max"), []);
}

#[test]
fn others_on_the_device() {
    let mut record = on_disk(vec![direct(reader("job"))]);
    look(&mut record, 0, [4 * GIB, 0], [4 * GIB, 2 * MIB]);
    assert_eq!(fsdyno_findings::of_run(&record), [], "some metadata");
    vda(&mut record).done.bytes.read += GIB;
    assert_eq!(found(&record), caution("foreign-load"));
    // 1 GiB, and the metadata, in 10 s.
    let cause = one(&record, "foreign-load").cause;
    assert_eq!(cause, "vda moved 108 MB/s for others, besides this run's 429 MB/s");
    // The first 4 s are a warm-up, in which others moved all but this of the 1 GiB.
    let measured = |foreign: u64| {
        let mut record = record.clone();
        record.jobs[0].plan.ramp_ms = 4000;
        let mut warm = LedgerSample { at_ms: 4000, moment: Moment::During, ..last(&mut record).clone() };
        if let (RecordedFact::Value(devices), RecordedFact::Value(process)) = (&mut warm.devices, &mut warm.process) {
            devices[0].done.bytes.read -= 2 * GIB + foreign;
            process.storage_bytes.read -= 2 * GIB;
        }
        record.nodes[0].ledger.as_mut().unwrap().samples.insert(1, warm);
        fsdyno_findings::of_run(&record).into_iter().map(|finding| finding.cause).collect::<Vec<_>>()
    };
    assert_eq!(measured(300 * MIB), ["vda moved 52.4 MB/s for others, besides this run's 429 MB/s"]);
    assert_eq!(measured(0), [""; 0], "its figures are without them");

    let mut record = on_disk(vec![direct(reader("job"))]);
    look(&mut record, 0, [4 * GIB, 0], [4 * GIB, 2 * GIB]);
    assert_eq!(found(&record), caution("foreign-load"), "writes while nothing was written");
    record.jobs[0].plan.laid_out = true;
    assert_eq!(fsdyno_findings::of_run(&record), [], "they can be the layout's");

    let mut record = on_disk(vec![direct(reader("job"))]);
    look(&mut record, 0, [4 * GIB, 0], [4 * GIB, 0]);
    record.nodes[0].ledger.as_mut().unwrap().machine.foreign_bytes_per_s =
        RecordedFact::Value([80.0 * MIB as f64, 0.0].into());
    assert_eq!(found(&record), caution("foreign-load"));
    record.nodes[0].ledger.as_mut().unwrap().machine.foreign_bytes_per_s =
        RecordedFact::Value([10.0 * MIB as f64, 0.0].into());
    assert_eq!(fsdyno_findings::of_run(&record), []);
}

#[test]
fn too_short_is_a_caution() {
    let mut job = direct(reader("job"));
    job.directions.read.runtime_ms = 900;
    let all = fsdyno_findings::of_run(&on_disk(vec![job]));
    assert_eq!((all.len(), all[0].id.as_str(), all[0].severity), (1, "too-short", Severity::Caution));
    assert!(all[0].cause.starts_with("1,048,576 I/Os in 900 ms"), "{}", all[0].cause);
}

#[test]
fn a_short_run_of_trims_is_short_too() {
    let mut job = direct(reader("job"));
    job.setup.access = Access::named("trim").unwrap();
    job.directions.trim = std::mem::take(&mut job.directions.read);
    assert_eq!(fsdyno_findings::of_run(&on_disk(vec![job.clone()])), [], "nothing of the bytes that a device moves");
    job.directions.trim.runtime_ms = 900;
    let all = fsdyno_findings::of_run(&on_disk(vec![job]));
    assert_eq!((all.len(), all[0].id.as_str()), (1, "too-short"));
}
