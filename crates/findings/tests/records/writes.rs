//! Tests writes that the storage had not received.

use fsdyno_results::Severity;
use fsdyno_results::evidence::{
    DeviceCounters, DevicePlace, FileState, Image, Layer, LayerCounters, LayerKind, RecordedFact, StorageClass,
};

use crate::scene::*;

fn dirty(record: &mut fsdyno_results::RunRecord, bytes: u64) {
    if let RecordedFact::Value(cache) = &mut last(record).cache {
        cache.dirty_bytes = Some(bytes);
    }
}

#[test]
fn writes_that_stopped_in_memory() {
    let mut record = on_disk(vec![writer("job")]);
    look(&mut record, 0, [0, 4 * GIB], [0, 0]);
    dirty(&mut record, 4 * GIB);
    assert_eq!(found(&record), invalid("writes-in-memory"));
    let finding = one(&record, "writes-in-memory");
    assert!(finding.cause.contains("100 % (4.0 GiB) of 4.0 GiB written"), "{}", finding.cause);
    assert!(finding.next.contains("--end_fsync=1"));
}

/// Pages that were dirty before are dirty after, with other bytes.
#[test]
fn writes_over_what_is_dirty() {
    let write = |before: u64, device: u64, after: u64| {
        let mut record = on_disk(vec![writer("job")]);
        look(&mut record, 0, [0, 4 * GIB], [0, device]);
        if let RecordedFact::Value(cache) = &mut record.nodes[0].ledger.as_mut().unwrap().samples[0].cache {
            cache.dirty_bytes = Some(before);
        }
        dirty(&mut record, after);
        found(&record)
    };
    assert_eq!(write(4 * GIB, 0, 4 * GIB), invalid("writes-in-memory"));
    assert_eq!(write(4 * GIB, 4 * GIB, 4 * GIB), [], "the device took them, and others' are dirty still");
    assert_eq!(write(4 * GIB, 0, 0), [], "nothing is dirty");
}

/// Blocks that were written twice between two syncs reached the device once: the device's counter proves nothing.
#[test]
fn syncs_now_and_then_leave_the_rest() {
    let mut job = writer("job");
    job.plan.sync_every_writes = 100;
    let mut record = on_disk(vec![job]);
    look(&mut record, 0, [0, 4 * GIB], [0, GIB]);
    dirty(&mut record, GIB);
    assert_eq!(found(&record), caution("writes-in-memory"));
    dirty(&mut record, 64 * MIB);
    assert_eq!(found(&record), []);
    last(&mut record).cache = RecordedFact::NotVisible("EPERM".into());
    assert_eq!(found(&record), []);
}

/// What a verification stored after the clock stopped was in memory when it stopped.
#[test]
fn a_verification_hides_no_writes_in_memory() {
    let written = |unstored: Option<u64>| {
        let mut job = writer("job");
        job.unstored_bytes = unstored;
        let mut record = on_disk(vec![job]);
        look(&mut record, 0, [GIB, 4 * GIB], [GIB, 4 * GIB]);
        found(&record)
    };
    assert_eq!(written(Some(4 * GIB)), invalid("writes-in-memory"));
    assert_eq!(written(Some(100 * MIB)), []);
    assert_eq!(written(None), []);
}

#[test]
fn writes_of_a_moment_are_judged_by_their_bytes() {
    let mut short = writer("job");
    (short.directions.write.bytes, short.directions.write.ios, short.directions.write.runtime_ms) =
        (256 * MIB, 256, 123);
    let mut record = on_disk(vec![short.clone()]);
    look(&mut record, 0, [0, 256 * MIB], [0, 0]);
    dirty(&mut record, 256 * MIB);
    assert_eq!(found_in_a_moment(&record), invalid("writes-in-memory"));
    short.plan.end_sync = true;
    let mut record = on_disk(vec![short]);
    look(&mut record, 0, [0, 256 * MIB], [0, 256 * MIB]);
    assert_eq!(found_in_a_moment(&record), []);
}

#[test]
fn without_the_page_counts_the_device_tells() {
    let mut record = on_disk(vec![writer("job")]);
    look(&mut record, 0, [0, 4 * GIB], [0, 3 * GIB]);
    last(&mut record).cache = RecordedFact::NotVisible("EPERM".into());
    assert_eq!(found(&record), caution("writes-in-memory"));
    assert!(one(&record, "writes-in-memory").cause.contains("vda took 3.0 GiB"));
}

#[test]
fn synced_direct_and_long_writes_are_silent() {
    let mut synced = writer("job");
    synced.plan.end_sync = true;
    let mut each = writer("job");
    each.plan.sync_every_writes = 1;
    let mut synchronous = writer("job");
    synchronous.plan.synchronous = true;
    for job in [synced, each, synchronous, direct(writer("job"))] {
        let mut record = on_disk(vec![job]);
        look(&mut record, 0, [0, 4 * GIB], [0, 4 * GIB]);
        assert_eq!(fsdyno_findings::of_run(&record), []);
    }
    // Ten times as much as is dirty at the end.
    let mut record = on_disk(vec![writer("job")]);
    look(&mut record, 0, [0, 100 * GIB], [0, 95 * GIB]);
    dirty(&mut record, 5 * GIB);
    assert_eq!(fsdyno_findings::of_run(&record), []);
    let mut memory = on(StorageClass::Memory, vec![writer("job")]);
    look(&mut memory, 0, [0, 4 * GIB], [0, 0]);
    dirty(&mut memory, 4 * GIB);
    assert_eq!(found(&memory), caution("memory-storage"));
}

#[test]
fn a_close_that_does_the_work() {
    let mut job = writer("job");
    job.close_ns = Some(30_000_000_000);
    let record = on(StorageClass::Network, vec![job.clone()]);
    assert_eq!(found(&record), invalid("writes-in-memory"), "three times the run's own");
    let finding = one(&record, "writes-in-memory");
    assert!(finding.cause.contains("107 MB/s with it") && finding.next.contains("--end_fsync=1"));
    job.close_ns = Some(5_000_000_000);
    assert_eq!(found(&on(StorageClass::Network, vec![job.clone()])), caution("writes-in-memory"));
    job.plan.end_sync = true;
    assert_eq!(found(&on(StorageClass::Network, vec![job.clone()])), [], "nothing was left to store");
    let daemon = on(StorageClass::Fuse, vec![job.clone()]);
    assert!(
        one(&daemon, "writes-in-memory").next.contains("this daemon stores at the close"),
        "some store at the close alone"
    );
    job.close_ns = Some(1_000_000);
    assert_eq!(fsdyno_findings::of_run(&on(StorageClass::Fuse, vec![job])), []);
}

#[test]
fn compressed_writes() {
    let state = FileState {
        size_bytes: 4 * GIB,
        allocated_bytes: 4 * GIB,
        encoded_bytes: Some(4 * GIB),
        written_bytes: Some(4 * GIB),
        ..FileState::default()
    };
    let mut job = writer("job");
    job.plan.end_sync = true;
    job.plan.uniform_data = true;
    let mut record = on_disk(vec![job.clone()]);
    record.nodes[0].storages[0].compression = Some("compress=zstd:3".into());
    assert_eq!(preflight(&record), caution("compressible-data"));
    look(&mut record, 0, [0, 4 * GIB], [0, GIB]);
    file(&mut record, "/data/job", state);
    assert_eq!(found(&record), invalid("compressible-data"));

    // Preallocated blocks are never compressed: only a layer below can still shrink them.
    let mut record = on_disk(vec![job.clone()]);
    record.nodes[0].storages[0].compression = Some("compress=zstd:3".into());
    look(&mut record, 0, [0, 4 * GIB], [0, 4 * GIB]);
    file(&mut record, "/data/job", FileState { encoded_bytes: Some(0), ..state });
    assert!(one(&record, "compressible-data").cause.contains("storage that compresses or deduplicates"));

    // Random data on the same filesystem.
    job.plan.uniform_data = false;
    let mut record = on_disk(vec![job]);
    record.nodes[0].storages[0].compression = Some("compress=zstd:3".into());
    look(&mut record, 0, [0, 4 * GIB], [0, 4 * GIB]);
    file(&mut record, "/data/job", FileState { encoded_bytes: Some(0), ..state });
    assert_eq!(fsdyno_findings::of_run(&record), []);
}

#[test]
fn a_sync_that_stored_nothing() {
    let synced = |device: u64| {
        let mut job = writer("job");
        job.plan.end_sync = true;
        let mut record = on_disk(vec![job]);
        look(&mut record, 0, [0, 4 * GIB], [0, device]);
        record
    };
    assert_eq!(found(&synced(0)), invalid("sync-ignored"));
    assert_eq!(found(&synced(4 * GIB)), []);
    let mut volatile = synced(0);
    if let RecordedFact::Value(mount) = &mut volatile.nodes[0].storages[0].mount {
        mount.options.push("volatile".into());
    }
    assert!(one(&volatile, "sync-ignored").cause.contains("100 % of it (the overlay is mounted volatile)"));
    // The same 512 MiB repeatedly, synced once at the end; and random blocks, many of which repeat.
    let mut again = synced(600 * MIB);
    again.jobs[0].plan.span_bytes = Some(512 * MIB);
    assert_eq!(found(&again), []);
    let mut random = synced(100 * MIB);
    random.jobs[0].setup.access.random = true;
    assert_eq!(found(&random), []);
    // Each write is synced: each must have arrived.
    random.jobs[0].plan.sync_every_writes = 1;
    assert_eq!(found(&random), invalid("sync-ignored"));
}

/// Syncs of a job, and flushes that its device completed meanwhile.
#[test]
fn a_sync_has_the_device_flush() {
    let synced = |flushes: Option<u64>, cache: &str| {
        let mut job = direct(writer("job"));
        job.plan.sync_every_writes = 1;
        (0..8_000).for_each(|_| job.sync.lat.moments.record(1_000));
        let mut record = on_disk(vec![job]);
        look(&mut record, 0, [0, 4 * GIB], [0, 4 * GIB]);
        let RecordedFact::Value(devices) = &mut record.nodes[0].storages[0].devices else { unreachable!() };
        devices[0].write_cache = Some(cache.into());
        for sample in &mut record.nodes[0].ledger.as_mut().unwrap().samples {
            let RecordedFact::Value(devices) = &mut sample.devices else { unreachable!() };
            devices[0].flushes = flushes.map(|_| 5);
        }
        vda(&mut record).flushes = flushes.map(|flushes| 5 + flushes);
        record
    };
    let without = synced(Some(0), "write back");
    assert_eq!(found(&without), invalid("sync-not-flushed"));
    let cause = one(&without, "sync-not-flushed").cause;
    assert!(cause.starts_with("8,000 syncs, and vda got 0 flushes"), "{cause}");
    assert_eq!(found(&synced(Some(8_000), "write back")), []);
    assert_eq!(found(&synced(None, "write back")), [], "the device counts none");
    // The device is a loop device, and its flushes end there.
    let below = |flushes: Option<u64>| {
        let mut record = synced(Some(8_000), "write back");
        let disk = Layer { kind: LayerKind::Disk, name: "sda".into(), ..Layer::default() };
        let image = Some(Image { path: "/disk/image".into(), direct: Some(true), ..Image::default() });
        let kind = LayerKind::Loop;
        record.nodes[0].storages[0].layers =
            vec![Layer { kind, name: "vda".into(), image, below: vec![disk], ..Layer::default() }];
        for (sample, grown) in record.nodes[0].ledger.as_mut().unwrap().samples.iter_mut().zip([Some(0), flushes]) {
            let done = LayerCounters { bytes: [0, 4 * GIB].into(), ..LayerCounters::default() };
            let done = if sample.application.bytes.write > 0 { done } else { LayerCounters::default() };
            let place = DevicePlace::BelowFile;
            let flushes = flushes.and(grown);
            sample.stacked_devices =
                vec![DeviceCounters { name: "sda".into(), place, done, flushes, ..DeviceCounters::default() }];
        }
        record
    };
    assert_eq!(found(&below(Some(12))), invalid("sync-not-flushed"));
    let finding = one(&below(Some(12)), "sync-not-flushed");
    assert!(finding.cause.starts_with("vda got 8,000 flushes, and sda below its file 12"), "{}", finding.cause);
    assert!(finding.next.starts_with("fsdyno inspect /disk/image"), "{}", finding.next);
    assert_eq!(found(&below(Some(8_000))), []);
    assert_eq!(found(&below(None)), [], "nobody counts there");
    let through = synced(Some(0), "write through");
    assert_eq!(found(&through), []);
    assert_eq!(one(&through, "sync-not-flushed").severity, Severity::Info);
}

/// The first write to a block that copies share is not in place, except where the filesystem never writes in place.
#[test]
fn writes_to_blocks_that_are_shared() {
    let written = |shared: u64, filesystem: &str| {
        let mut job = writer("job");
        job.plan.end_sync = true;
        let mut record = on_disk(vec![job]);
        let named = Layer { kind: LayerKind::Filesystem, name: filesystem.into(), ..Layer::default() };
        record.nodes[0].storages[0].layers = vec![named];
        look(&mut record, 0, [0, 4 * GIB], [0, 4 * GIB]);
        let state = FileState { size_bytes: 4 * GIB, written_bytes: Some(4 * GIB), ..FileState::default() };
        file(&mut record, "/data/job", FileState { shared_bytes: Some(shared), ..state });
        record
    };
    let all = written(4 * GIB, "xfs");
    assert_eq!(found(&all), caution("shared-extents"));
    assert!(one(&all, "shared-extents").cause.starts_with("4.0 GiB of the 4.0 GiB that are written"));
    assert_eq!(found(&written(GIB, "xfs")), caution("shared-extents"));
    assert_eq!(found(&written(100 * MIB, "xfs")), []);
    assert_eq!(found(&written(4 * GIB, "btrfs")), []);
}
