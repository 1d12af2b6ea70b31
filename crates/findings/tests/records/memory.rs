//! Tests files that are in memory, all or some of them.

use fsdyno_results::FilesPart;
use fsdyno_results::evidence::{Layer, LayerKind, RecordedFact, Storage, StorageClass};

use crate::scene::*;

fn layer(kind: LayerKind, name: &str, below: Vec<Layer>) -> Layer {
    Layer { kind, name: name.into(), below, ..Layer::default() }
}

fn tmpfs() -> Layer {
    Layer { memory: true, ..layer(LayerKind::Filesystem, "tmpfs", vec![]) }
}

/// ext4 on a loop device on tmpfs.
fn looped() -> Layer {
    layer(LayerKind::Filesystem, "ext4", vec![layer(LayerKind::Loop, "vda", vec![tmpfs()])])
}

fn part(storage: usize, files: u64, bytes: u64) -> FilesPart {
    FilesPart { storage, files, bytes }
}

#[test]
fn a_loop_device_on_tmpfs_is_memory() {
    let run = |mut job: fsdyno_results::JobRecord, layers: Layer| {
        job.plan.parts = vec![part(0, 1, 4 * GIB)];
        let moved = [job.directions.read.bytes, job.directions.write.bytes];
        let mut record = on_disk(vec![job]);
        record.nodes[0].storages[0].layers = vec![layers];
        look(&mut record, 0, moved, moved);
        record
    };
    let disk = || layer(LayerKind::Filesystem, "ext4", vec![layer(LayerKind::Disk, "vda", vec![])]);
    let mut synced = direct(writer("job"));
    synced.plan.sync_every_writes = 1;
    assert_eq!(found(&run(direct(reader("job")), looped())), caution("memory-storage"));
    assert_eq!(found(&run(synced.clone(), looped())), invalid("memory-storage"));
    let cause = one(&run(synced.clone(), looped()), "memory-storage").cause;
    assert!(cause.contains("(ext4 on vda on tmpfs)") && cause.contains("no sync makes anything durable"), "{cause}");
    assert_eq!(found(&run(direct(reader("job")), disk())), []);
    assert_eq!(found(&run(synced, disk())), []);
    let mirror = layer(LayerKind::Array, "vda", vec![tmpfs(), layer(LayerKind::Disk, "sda", vec![])]);
    let half = run(direct(reader("job")), mirror);
    assert_eq!(found(&half), caution("memory-storage"));
    assert!(one(&half, "memory-storage").cause.starts_with("a part of what the files lie on"));
}

#[test]
fn files_of_which_some_are_in_memory() {
    let run = |parts: [FilesPart; 2], device: u64| {
        let mut job = direct(reader("job"));
        job.plan.parts = parts.into();
        let mut record = on_disk(vec![job]);
        record.nodes[0].storages.push(Storage {
            class: StorageClass::Memory,
            layers: vec![tmpfs()],
            ..Storage::default()
        });
        look(&mut record, 0, [4 * GIB, 0], [device, 0]);
        record
    };
    let half = run([part(0, 1, 2 * GIB), part(1, 1, 2 * GIB)], 2 * GIB);
    assert_eq!(found(&half), invalid("memory-storage"), "and no cache that direct I/O did not bypass");
    let cause = one(&half, "memory-storage").cause;
    assert!(cause.contains("(tmpfs) holds 1 of 2 files, 2.0 GiB of 4.0 GiB"), "{cause}");
    let few = run([part(0, 3, 3 * GIB), part(1, 1, GIB)], 3 * GIB);
    assert_eq!(found(&few), caution("memory-storage"));
    let endless = run([part(0, 1, 0), part(1, 1, 0)], 2 * GIB);
    assert_eq!(found(&endless), invalid("memory-storage"), "files are counted where no length is known");
    assert_eq!(found(&run([part(0, 1, 2 * GIB), part(7, 1, 2 * GIB)], 4 * GIB)), [], "a damaged record");
}

#[test]
fn two_disks_deliver_together() {
    let mut job = direct(reader("job"));
    job.plan.parts = vec![part(0, 1, 2 * GIB), part(1, 1, 2 * GIB)];
    let mut record = on_disk(vec![job]);
    let mut other = disk_storage();
    if let RecordedFact::Value(devices) = &mut other.devices {
        devices[0].name = "sdb".into();
    }
    record.nodes[0].storages.push(other);
    look(&mut record, 0, [4 * GIB, 0], [2 * GIB, 0]);
    for (sample, read) in record.nodes[0].ledger.as_mut().unwrap().samples.iter_mut().zip([0, 2 * GIB]) {
        let RecordedFact::Value(devices) = &mut sample.devices else { panic!() };
        let mut sdb = devices[0].clone();
        sdb.name = "sdb".into();
        sdb.done.bytes = [read, 0].into();
        devices.push(sdb);
        if let RecordedFact::Value(process) = &mut sample.process {
            process.storage_bytes.read *= 2;
        }
    }
    assert_eq!(found(&record), []);
}
