//! Tests caches on the client's side of a network.

use fsdyno_results::evidence::*;
use fsdyno_results::{JobRecord, PhaseRecord, RunRecord, Severity};

use crate::scene::*;

pub(crate) fn share(class: StorageClass, link_bits_per_s: Option<u64>, job: fsdyno_results::JobRecord) -> RunRecord {
    let mut record = on(class, vec![job]);
    record.nodes[0].storages[0].server = Some(ServerIdentity {
        address: "192.0.2.1:2049".into(),
        interface: RecordedFact::Value("eth0".into()),
        link_bits_per_s: link_bits_per_s.map_or(RecordedFact::NotVisible("speed is -1".into()), RecordedFact::Value),
        ..ServerIdentity::default()
    });
    record
}

/// Sets the counters: the jobs moved `application`, the wire carried `wire`.
pub(crate) fn crossed(record: &mut RunRecord, application: [u64; 2], wire: [u64; 2]) {
    look(record, 0, application, [0, 0]);
    let ledger = record.nodes[0].ledger.as_mut().unwrap();
    for sample in &mut ledger.samples {
        sample.devices = RecordedFact::Value(Vec::new());
        sample.wire = RecordedFact::Value(WireCounters {
            witness: "nfs mountstats".into(),
            exclusive: true,
            ..WireCounters::default()
        });
    }
    if let RecordedFact::Value(counters) = &mut last(record).wire {
        counters.bytes = wire.into();
    }
}

#[test]
fn nfs_reads_from_this_clients_memory() {
    let mut record = share(StorageClass::Network, None, reader("job"));
    crossed(&mut record, [4 * GIB, 0], [0, 0]);
    assert_eq!(found(&record), invalid("nfs-data-cache"));
    let mut record = share(StorageClass::Network, None, reader("job"));
    crossed(&mut record, [4 * GIB, 0], [4 * GIB + 30 * MIB, 0]);
    assert_eq!(found(&record), [], "all of it was sent");
    assert_eq!(one(&record, "fits-in-memory").severity, Severity::Info, "of the server");
    let mut record = share(StorageClass::Network, None, direct(reader("job")));
    crossed(&mut record, [4 * GIB, 0], [GIB, 0]);
    assert_eq!(found(&record), invalid("direct-not-honoured"));
}

/// The engines whose requests are stat calls move no bytes, but are judged as well.
#[test]
fn stat_calls_of_an_engine() {
    let stats = |requests: u64| {
        let mut job = reader("job");
        job.setup.engine = "filestat".into();
        (job.directions.read.bytes, job.directions.read.ios) = (0, 45_000);
        let mut record = share(StorageClass::Network, None, job);
        crossed(&mut record, [0, 0], [0, 0]);
        let operation = NfsOperation { name: "GETATTR".into(), ..NfsOperation::default() };
        for (sample, operations) in record.nodes[0].ledger.as_mut().unwrap().samples.iter_mut().zip([7, 7 + requests]) {
            let RecordedFact::Value(wire) = &mut sample.wire else { unreachable!() };
            wire.nfs_asked_bytes = Some([0, 0].into());
            wire.nfs_operations = vec![NfsOperation { operations, ..operation.clone() }];
            wire.nfs_operations.retain(|operation| operation.operations > 7);
        }
        found(&record)
    };
    assert_eq!(stats(0), caution("attribute-cache"));
    assert_eq!(stats(201), caution("attribute-cache"));
    assert_eq!(stats(45_000), []);
}

#[test]
fn bytes_need_no_time_to_be_compared() {
    let mut short = reader("job");
    (short.directions.read.bytes, short.directions.read.ios, short.directions.read.runtime_ms) = (64 * MIB, 64, 57);
    let mut record = share(StorageClass::Network, None, short);
    crossed(&mut record, [64 * MIB, 0], [0, 0]);
    let both = [invalid("nfs-data-cache"), vec![("too-short".to_string(), Severity::Caution)]].concat();
    assert_eq!(found(&record), both, "64 MiB in 57 ms");
    record.jobs[0].error =
        Some(fsdyno_results::JobError { code: 5, function: "io_u error".into(), text: "EIO".into() });
    assert!(found(&record).iter().all(|(id, _)| id != "nfs-data-cache"), "nobody knows what a failed read moved");
}

#[test]
fn faster_than_the_link() {
    let gigabit = Some(1_000_000_000);
    let mut record = share(StorageClass::Network, gigabit, writer("job"));
    crossed(&mut record, [0, 4 * GIB], [0, 4 * GIB]);
    assert_eq!(found(&record), invalid("above-link-speed"), "429 MB/s over 125 MB/s");
    let mut slower = writer("job");
    slower.directions.write.bytes = GIB;
    let mut record = share(StorageClass::Network, gigabit, slower);
    crossed(&mut record, [0, GIB], [0, GIB]);
    assert_eq!(found(&record), []);
    let mut record = share(StorageClass::Network, None, writer("job"));
    crossed(&mut record, [0, 4 * GIB], [0, 4 * GIB]);
    assert_eq!(found(&record), [], "a link of unknown speed");
}

#[test]
fn the_advice_for_writes_is_not_what_they_did_already() {
    let mut record = share(StorageClass::Fuse, None, writer("job"));
    record.nodes[0].storages[0].fuse = Some(FuseIdentity { kind: Some("s3fs".into()), ..FuseIdentity::default() });
    crossed(&mut record, [0, 4 * GIB], [0, MIB]);
    assert_eq!(one(&record, "fuse-cache").next, "add --end_fsync=1");
    record.jobs[0].plan.end_sync = true;
    assert!(one(&record, "fuse-cache").next.starts_with("write fresh objects, each block once"));
}

#[test]
fn a_fuse_daemons_cache() {
    let mut record = share(StorageClass::Fuse, None, direct(reader("job")));
    record.nodes[0].storages[0].fuse = Some(FuseIdentity {
        kind: Some("s3fs".into()),
        cache: Some("use_cache=/var/cache/s3fs".into()),
        ..FuseIdentity::default()
    });
    crossed(&mut record, [4 * GIB, 0], [MIB, 0]);
    assert_eq!(found(&record), invalid("fuse-cache"));
    assert!(one(&record, "fuse-cache").cause.contains("the local cache of s3fs (use_cache=/var/cache/s3fs)"));

    // The option to leave out is known for this daemon only, and only if its command line names the cache.
    let next = |record: &RunRecord| one(record, "fuse-cache").next;
    let mount =
        fsdyno_results::evidence::Mount { mount_point: "/mnt/s3".into(), ..fsdyno_results::evidence::Mount::default() };
    record.nodes[0].storages[0].mount = RecordedFact::Value(mount);
    assert!(next(&record).starts_with("unmount /mnt/s3 and mount it by s3fs without the option use_cache, or "));
    let mut unnamed = record.clone();
    unnamed.nodes[0].storages[0].fuse.as_mut().unwrap().cache = Some("kernel_cache".into());
    assert!(next(&unnamed).ends_with("or more data than it can cache (--size)"), "{}", next(&unnamed));

    let mut honest = record.clone();
    if let RecordedFact::Value(counters) = &mut last(&mut honest).wire {
        counters.bytes = [4 * GIB, 0].into();
    }
    assert_eq!(found(&honest), []);

    // Others use the interface, too; the daemon's own connections carried nothing.
    let mut shared = honest.clone();
    let connected = |record: &mut RunRecord, bytes: [u64; 2], closed: u64| {
        record.nodes[0].storages[0].fuse.as_mut().unwrap().url = Some("http://192.0.2.1:9000".into());
        for (sample, bytes) in record.nodes[0].ledger.as_mut().unwrap().samples.iter_mut().zip([[0, 0], bytes]) {
            let RecordedFact::Value(wire) = &mut sample.wire else { panic!("a wire") };
            let closed = if bytes == [0, 0] { 0 } else { closed };
            wire.daemon_sockets = RecordedFact::Value(SocketCounters {
                bytes: bytes.into(),
                open: 2,
                closed,
                ..SocketCounters::default()
            });
        }
    };
    connected(&mut shared, [MIB, 1], 0);
    assert_eq!(found(&shared), caution("fuse-cache"), "a short connection would escape: no proof");
    assert!(one(&shared, "fuse-cache").cause.contains("over the network (the daemon's connections)"));
    connected(&mut shared, [4 * GIB, 1], 0);
    assert_eq!(found(&shared), []);
    connected(&mut shared, [MIB, 1], 1);
    assert_eq!(found(&shared), [], "the end of a connection was not seen");
    shared.nodes[0].storages[0].fuse.as_mut().unwrap().url = Some("me@192.0.2.1:/home".into());
    assert_eq!(found(&shared), [], "a helper may carry the data");
}

/// A daemon that shows folders of this machine. `daemon`: bytes that the storage read for it, and that it wrote to its
/// files.
fn local(job: fsdyno_results::JobRecord, application: [u64; 2], daemon: Option<[u64; 2]>) -> RunRecord {
    let mut record = on(StorageClass::Fuse, vec![job]);
    record.nodes[0].storages[0].fuse = Some(FuseIdentity { kind: Some("bindfs".into()), ..FuseIdentity::default() });
    crossed(&mut record, application, [0, 0]);
    for (sample, share) in record.nodes[0].ledger.as_mut().unwrap().samples.iter_mut().zip([0, 1]) {
        let RecordedFact::Value(wire) = &mut sample.wire else { panic!("a wire") };
        wire.exclusive = false;
        wire.witness = "interfaces eth0, lo".into();
        wire.daemon_storage_bytes = daemon.map(|bytes| bytes.map(|bytes| bytes * share).into());
        wire.daemon_sockets = RecordedFact::Value(SocketCounters::default());
        wire.daemon_helpers = Some(DaemonHelpers { complete: true, ..DaemonHelpers::default() });
    }
    record
}

/// The device below the daemon's folder.
fn over_a_device(mut record: RunRecord, bytes: [u64; 2]) -> RunRecord {
    record.nodes[0].storages[0].devices = disk_storage().devices;
    let samples = &mut record.nodes[0].ledger.as_mut().unwrap().samples;
    for (sample, share) in samples.iter_mut().zip([0, 1]) {
        let mut device = DeviceCounters { name: "vda".into(), ..DeviceCounters::default() };
        device.done.bytes = bytes.map(|bytes| bytes * share).into();
        sample.devices = RecordedFact::Value(vec![device]);
    }
    record
}

#[test]
fn a_daemon_without_a_server_has_no_wire() {
    let read = |daemon| local(reader("job"), [4 * GIB, 0], daemon);
    assert_eq!(found(&read(Some([4 * GIB, 0]))), [], "honest, though no interface carried a byte");
    assert_eq!(found(&read(Some([0, 0]))), invalid("fuse-cache"));
    let cause = one(&read(Some([0, 0])), "fuse-cache").cause;
    assert_eq!(cause, "4.0 GiB read, 0 B read by the storage below: 100 % came from memory of bindfs or of the kernel");
    assert_eq!(found(&read(None)), caution("not-visible"));
    assert_eq!(found(&over_a_device(read(None), [4 * GIB, 0])), []);
    assert_eq!(found(&over_a_device(read(None), [0, 0])), invalid("fuse-cache"));
    let beside_others = over_a_device(read(Some([0, 0])), [2 * GIB, 0]);
    assert_eq!(found(&beside_others), invalid("fuse-cache"), "a neighbour's bytes on the device are not the daemon's");
    assert!(one(&beside_others, "fuse-cache").cause.contains("0 B read by the storage below"));

    let write = |synced: bool, daemon| {
        let mut job = writer("job");
        job.plan.end_sync = synced;
        local(job, [0, 4 * GIB], daemon)
    };
    let written = Some([0, 4 * GIB]);
    for (charged, why) in
        [(written, "they may be dirty below the daemon"), (Some([0, 0]), "they may have been dirty before")]
    {
        assert_eq!(found(&write(true, charged)), caution("not-visible"), "{why}");
        assert_eq!(
            found(&write(false, charged)),
            [caution("fits-in-memory"), caution("not-visible")].concat(),
            "{why}"
        );
    }
    assert_eq!(found(&over_a_device(write(false, written), [0, 4 * GIB])), []);
    assert_eq!(found(&over_a_device(write(false, written), [0, 0])), invalid("writes-in-memory"));
    assert_eq!(found(&over_a_device(write(true, written), [0, 0])), invalid("sync-ignored"));
    assert_eq!(found(&over_a_device(write(true, written), [0, 4 * GIB])), []);
}

#[test]
fn a_daemon_that_nobody_sees() {
    let mut record = share(StorageClass::Fuse, None, reader("job"));
    record.nodes[0].storages[0].server = None;
    record.nodes[0].storages[0].fuse = Some(FuseIdentity {
        kind: Some("s3fs".into()),
        daemon_pid: RecordedFact::NotVisible("/proc: no process fits the mount".into()),
        ..FuseIdentity::default()
    });
    crossed(&mut record, [4 * GIB, 0], [0, 0]);
    for sample in &mut record.nodes[0].ledger.as_mut().unwrap().samples {
        sample.wire = RecordedFact::NotVisible("the network namespace of its daemon is not known".into());
    }
    assert_eq!(found(&record), caution("not-visible"), "warm or cold, nobody can tell");
    assert!(
        one(&record, "not-visible")
            .cause
            .ends_with("not visible whether reads came from the storage: /proc: no process fits the mount")
    );
}

#[test]
fn attributes_from_the_cache() {
    let operations = |count: u64| WireCounters {
        nfs_operations: vec![NfsOperation { name: "GETATTR".into(), operations: count, ..NfsOperation::default() }],
        ..WireCounters::default()
    };
    let phase = |cache: &str| PhaseRecord {
        name: "stat-cold".into(),
        operations: 1_000,
        cache: Some(cache.into()),
        ..PhaseRecord::default()
    };
    let severity = |phase: &PhaseRecord, requests: u64| {
        fsdyno_findings::of_phase(phase, &operations(7), &operations(7 + requests))
            .first()
            .map(|finding| finding.severity)
    };
    assert_eq!(severity(&phase("cold"), 3), Some(Severity::Caution));
    assert_eq!(severity(&phase("hot"), 3), Some(Severity::Info));
    assert_eq!(severity(&phase("cold"), 1_000), None);
    let create = PhaseRecord { name: "create".into(), ..phase("cold") };
    assert_eq!(severity(&create, 3), None);
}

/// A mount's counters include all of its users: if others use it, and not all requested bytes crossed the network, the
/// missing bytes may be the run's.
#[test]
fn others_on_the_same_mount() {
    let moved = |job: JobRecord, asked: [u64; 2], wire_bytes: [u64; 2]| {
        let own = [job.directions.read.bytes, job.directions.write.bytes];
        let mut record = share(StorageClass::Network, None, job);
        crossed(&mut record, own, wire_bytes);
        for (sample, share) in record.nodes[0].ledger.as_mut().unwrap().samples.iter_mut().zip([0, 1]) {
            // As in a kernel that does not count pages.
            sample.cache = RecordedFact::NotVisible("no cachestat".into());
            let RecordedFact::Value(wire) = &mut sample.wire else { unreachable!() };
            wire.nfs_asked_bytes = Some(asked.map(|bytes| bytes * share).into());
        }
        record
    };
    let read = |asked, crossed| moved(reader("job"), [asked, 0], [crossed, 0]);
    assert_eq!(found(&read(4 * GIB, 4 * GIB)), [], "alone");
    assert_eq!(found(&read(10 * GIB, 0)), invalid("nfs-data-cache"), "the neighbour's came from memory, too");
    let hidden = read(10 * GIB, 6 * GIB);
    assert_eq!(found(&hidden), caution("not-visible"), "the neighbour's bytes look like those of the run");
    assert!(one(&hidden, "not-visible").cause.ends_with("not all requested bytes crossed the network"));
    assert!(one(&hidden, "not-visible").next.contains("the mount"));
    assert_eq!(found(&read(10 * GIB, 10 * GIB)), [], "all that anybody asked for has crossed");
    assert_eq!(found(&read(4 * GIB, 20 * GIB)), caution("not-visible"), "others read through a mapping");
    let write = |asked, crossed| moved(writer("job"), [0, asked], [0, crossed]);
    assert_eq!(found(&write(4 * GIB, 0)), invalid("writes-in-memory"));
    assert_eq!(found(&write(10 * GIB, 6 * GIB)), caution("not-visible"));
    assert_eq!(found(&write(10 * GIB, 10 * GIB)), []);
}

/// Another reader of the same file fills its page cache.
#[test]
fn pages_that_others_read_are_no_cache_of_the_run() {
    let read = |asked: u64| {
        let mut record = share(StorageClass::Network, None, direct(reader("job")));
        crossed(&mut record, [4 * GIB, 0], [8 * GIB, 0]);
        let samples = &mut record.nodes[0].ledger.as_mut().unwrap().samples;
        let RecordedFact::Value(wire) = &mut samples[0].wire else { unreachable!() };
        wire.nfs_asked_bytes = Some([0, 0].into());
        let RecordedFact::Value(wire) = &mut samples[1].wire else { unreachable!() };
        wire.nfs_asked_bytes = Some([asked, 0].into());
        if let RecordedFact::Value(cache) = &mut samples[1].cache {
            cache.cached_bytes = 4 * GIB;
        }
        found(&record)
    };
    assert_eq!(read(8 * GIB), []);
    assert!(read(4 * GIB).contains(&caution("direct-not-honoured")[0]), "nobody else read");
}

/// A daemon reads for all users of its mount.
#[test]
fn others_on_the_mount_of_a_daemon() {
    let read = |daemon: u64| {
        let mut job = reader("job");
        job.setup.access = fsdyno_results::Access::named("read").unwrap();
        found(&local(job, [4 * GIB, 0], Some([daemon, 0])))
    };
    assert_eq!(read(0), invalid("fuse-cache"));
    assert_eq!(read(4 * GIB), []);
    assert_eq!(read(6 * GIB), caution("not-visible"), "all of it may have been the neighbour's");
}
