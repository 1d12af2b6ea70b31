//! Requests that arrived in another shape, and blocks that nobody wrote.

use results::evidence::{DeviceCounters, DevicePlace, LayerCounters, StorageClass};
use results::{JobRecord, Severity};

use crate::scene::*;

#[test]
fn requests_cut_on_the_way() {
    let mut job = direct(reader("job"));
    job.setup.block_sizes = results::PerDirection::all((1 << 20, 1 << 20));
    let mut record = on_disk(vec![job]);
    look(&mut record, 0, [4 * GIB, 0], [4 * GIB, 0]);
    vda(&mut record).done.operations = [4 * GIB / (512 << 10), 0].into();
    assert_eq!(one(&record, "request-size").severity, Severity::Info);
    vda(&mut record).done.operations = [4 * GIB / (1 << 20), 0].into();
    assert_eq!(findings::of_run(&record), []);
    // In crumbs, though the device takes more.
    vda(&mut record).done.operations = [4 * GIB / (16 << 10), 0].into();
    if let results::evidence::Seen::Value(devices) = &mut record.nodes[0].storages[0].devices {
        devices[0].max_request_bytes = Some(1 << 20);
    }
    assert_eq!(found(&record), caution("request-size"));
}

#[test]
fn a_loop_devices_file_in_memory() {
    let below = |job: JobRecord, bytes: u64| {
        let moved = [job.directions.read.bytes, job.directions.write.bytes];
        let mut record = on_disk(vec![job]);
        look(&mut record, 0, moved, moved);
        let counters = |bytes: u64| DeviceCounters {
            name: "sda".into(),
            place: DevicePlace::BelowFile,
            done: LayerCounters {
                bytes: moved.map(|moved| if moved > 0 { bytes } else { 0 }).into(),
                ..LayerCounters::default()
            },
            ..DeviceCounters::default()
        };
        let samples = &mut record.nodes[0].ledger.as_mut().unwrap().samples;
        samples[0].stacked_devices = vec![counters(GIB)];
        samples[1].stacked_devices = vec![counters(GIB + bytes)];
        found(&record)
    };
    for job in [direct(reader("job")), direct(writer("job"))] {
        assert_eq!(below(job.clone(), 4 * GIB), []);
        assert_eq!(below(job, GIB), invalid("host-cache"));
    }
    let mut synced = writer("job");
    synced.plan.end_sync = true;
    assert_eq!(below(synced.clone(), 4 * GIB), []);
    assert_eq!(below(synced, GIB), invalid("host-cache"), "the page cache of the file took 3 GiB");
}

#[test]
fn an_image_with_holes() {
    let below = |stack: &str, bytes: u64| {
        let mut record = on(StorageClass::Device, vec![reader("job")]);
        record.nodes[0].storages[0].stack = vec![stack.into()];
        look(&mut record, 0, [4 * GIB, 0], [4 * GIB, 0]);
        for (sample, read) in record.nodes[0].ledger.as_mut().unwrap().samples.iter_mut().zip([0, bytes]) {
            sample.stacked_devices = vec![DeviceCounters {
                name: "sda".into(),
                place: DevicePlace::BelowFile,
                done: LayerCounters { bytes: [read, 0].into(), ..LayerCounters::default() },
                ..DeviceCounters::default()
            }];
        }
        record
    };
    let holes = below("loop0: sparse file /x on ext4 (/dev/sda)", 0);
    assert_eq!(found(&holes), caution("thin-blocks"));
    assert!(one(&holes, "thin-blocks").cause.starts_with("4.0 GiB read of an image with holes (loop0: sparse file /x"));
    assert_eq!(found(&below("loop0: sparse file /x", 4 * GIB)), [], "the part that was written");
    assert_eq!(found(&below("loop0: file /x", 0)), invalid("host-cache"));
}

#[test]
fn readahead_of_random_readers() {
    let mut record = on_disk(vec![reader("job")]);
    look(&mut record, 0, [4 * GIB, 0], [20 * GIB, 0]);
    assert_eq!(one(&record, "request-size").severity, Severity::Info);
    assert_eq!(found(&record), []);
}

#[test]
fn a_thin_volume_that_was_only_read() {
    let mut record = on(StorageClass::Device, vec![direct(reader("job"))]);
    record.nodes[0].storages[0].stack = vec!["dm-3: thin volume data".into()];
    assert_eq!(found(&record), caution("thin-blocks"));
    assert!(one(&record, "thin-blocks").cause.contains("likely"));
    let watched = |stack: &str, delivered: u64| {
        let mut record = on(StorageClass::Device, vec![direct(reader("job"))]);
        record.nodes[0].storages[0].stack = vec![stack.into()];
        record.nodes[0].storages[0].devices = disk_storage().devices;
        look(&mut record, 0, [4 * GIB, 0], [delivered, 0]);
        record
    };
    let missing = watched("dm-3: thin volume data", GIB);
    assert_eq!(found(&missing), caution("thin-blocks"), "and no cache that direct I/O did not bypass");
    assert!(one(&missing, "thin-blocks").cause.contains("only 1.0 GiB delivered"), "{:?}", found(&missing));
    assert_eq!(found(&watched("dm-3: thin volume data", 4 * GIB)), [], "it is all there");
    assert_eq!(
        found(&watched("dm-3: logical volume (LVM) vg-thinkpad", GIB)),
        invalid("direct-not-honoured"),
        "a name makes no thin volume"
    );
    let unknown = "dm-3: device mapper data, of a kind that is not visible (Permission denied)";
    assert_eq!(found(&watched(unknown, GIB)), caution("thin-blocks"));
    assert!(one(&watched(unknown, GIB), "thin-blocks").cause.contains("may be thin"));
    assert_eq!(found(&watched(unknown, 4 * GIB)), []);
    record.nodes[0].storages[0].stack = vec!["dm-3: logical volume (LVM) vg-thinkpad".into()];
    assert_eq!(findings::of_run(&record), []);
}
