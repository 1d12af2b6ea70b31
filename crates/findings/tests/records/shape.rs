//! Tests requests that arrived in another shape, and blocks that were never written.

use fsdyno_results::evidence::{DeviceCounters, DevicePlace, Image, Layer, LayerCounters, LayerKind, StorageClass};
use fsdyno_results::{JobRecord, Severity};

use crate::scene::*;

#[test]
fn requests_cut_on_the_way() {
    let mut job = direct(reader("job"));
    job.setup.block_sizes = fsdyno_results::PerDirection::all((1 << 20, 1 << 20));
    let mut record = on_disk(vec![job]);
    look(&mut record, 0, [4 * GIB, 0], [4 * GIB, 0]);
    vda(&mut record).done.operations = [4 * GIB / (512 << 10), 0].into();
    assert_eq!(one(&record, "request-size").severity, Severity::Info);
    vda(&mut record).done.operations = [4 * GIB / (1 << 20), 0].into();
    assert_eq!(fsdyno_findings::of_run(&record), []);
    // In small pieces, although the device takes larger ones.
    vda(&mut record).done.operations = [4 * GIB / (16 << 10), 0].into();
    if let fsdyno_results::evidence::RecordedFact::Value(devices) = &mut record.nodes[0].storages[0].devices {
        devices[0].max_request_bytes = Some(1 << 20);
    }
    assert_eq!(found(&record), caution("request-size"));
}

fn layer(kind: LayerKind, name: &str, what: &str) -> Layer {
    Layer { kind, name: name.into(), what: (!what.is_empty()).then(|| what.into()), ..Layer::default() }
}

/// A loop device over a file on a filesystem on sda.
fn looped(name: &str, image: Option<Image>) -> Layer {
    let file_system =
        Layer { below: vec![layer(LayerKind::Disk, "sda", "")], ..layer(LayerKind::Filesystem, "ext4", "") };
    Layer { image, below: vec![file_system], ..layer(LayerKind::Loop, name, "") }
}

/// A loop device with direct I/O on a filesystem on a loop device whose file is in the page cache.
#[test]
fn a_page_cache_two_levels_down() {
    let read = |upper: u64, lower: u64, disk: u64| {
        let mut record = on(StorageClass::Device, vec![direct(reader("job"))]);
        let file_system = Layer { below: vec![looped("loop0", None)], ..layer(LayerKind::Filesystem, "ext4", "") };
        record.nodes[0].storages[0].layers =
            vec![Layer { below: vec![file_system], ..layer(LayerKind::Loop, "vda", "") }];
        look(&mut record, 0, [4 * GIB, 0], [upper, 0]);
        for (sample, counts) in record.nodes[0].ledger.as_mut().unwrap().samples.iter_mut().zip([false, true]) {
            let counters = |name: &str, read: u64| DeviceCounters {
                name: name.into(),
                place: DevicePlace::BelowFile,
                done: LayerCounters { bytes: [if counts { read } else { 0 }, 0].into(), ..LayerCounters::default() },
                ..DeviceCounters::default()
            };
            sample.stacked_devices = vec![counters("loop0", lower), counters("sda", disk)];
        }
        record
    };
    assert_eq!(found(&read(4 * GIB, 4 * GIB, 4 * GIB)), []);
    assert_eq!(found(&read(4 * GIB, 4 * GIB, MIB)), invalid("host-cache"));
    let cause = one(&read(4 * GIB, 4 * GIB, MIB), "host-cache").cause;
    assert!(
        cause.starts_with("loop0 delivered 4.0 GiB, of which the device below its file (sda) read 1.0 MiB"),
        "{cause}"
    );
    assert!(one(&read(4 * GIB, MIB, MIB), "host-cache").cause.starts_with("vda delivered"));
}

#[test]
fn a_loop_devices_file_in_memory() {
    let below = |job: JobRecord, bytes: u64| {
        let moved = [job.directions.read.bytes, job.directions.write.bytes];
        let mut record = on_disk(vec![job]);
        record.nodes[0].storages[0].layers = vec![looped("vda", None)];
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
    let image = |allocated: u64, written: Option<u64>| Image {
        path: "/x".into(),
        size_bytes: Some(4 * GIB),
        allocated_bytes: Some(allocated),
        written_bytes: written,
        direct: None,
    };
    let below = |image: Image, bytes: u64| {
        let mut record = on(StorageClass::Device, vec![reader("job")]);
        record.nodes[0].storages[0].layers = vec![looped("vda", Some(image))];
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
    let holes = below(image(MIB, Some(MIB)), 0);
    assert_eq!(found(&holes), caution("thin-blocks"));
    let cause = one(&holes, "thin-blocks").cause;
    assert!(cause.starts_with("4.0 GiB read of an image with holes (vda: file /x, sparse)"), "{cause}");
    let unwritten = below(image(4 * GIB, Some(MIB)), 0);
    assert_eq!(found(&unwritten), caution("thin-blocks"), "and no page cache that has what nobody wrote");
    assert!(one(&unwritten, "thin-blocks").cause.contains("allocated but not written"));
    assert_eq!(found(&below(image(MIB, None), 4 * GIB)), [], "the part that was written");
    assert_eq!(found(&below(image(4 * GIB, Some(4 * GIB)), 0)), invalid("host-cache"));
    assert_eq!(found(&below(image(4 * GIB, None), 0)), invalid("host-cache"), "not visible is not unwritten");
    // The image is complete; its filesystem is on another image, whose holes are other blocks.
    let mut inside = below(image(4 * GIB, Some(4 * GIB)), 0);
    let mut filesystem = layer(LayerKind::Filesystem, "ext4", "");
    filesystem.below = vec![looped("loop1", Some(image(MIB, Some(MIB))))];
    inside.nodes[0].storages[0].layers[0].below = vec![filesystem];
    assert!(found(&inside).iter().all(|(id, _)| *id != "thin-blocks"), "{:?}", found(&inside));
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
    record.nodes[0].storages[0].layers = vec![layer(LayerKind::Thin, "dm-3", "thin volume data")];
    assert_eq!(found(&record), caution("thin-blocks"));
    assert!(one(&record, "thin-blocks").cause.contains("likely"));
    let watched = |kind: LayerKind, what: &str, delivered: u64| {
        let mut record = on(StorageClass::Device, vec![direct(reader("job"))]);
        record.nodes[0].storages[0].layers = vec![layer(kind, "dm-3", what)];
        record.nodes[0].storages[0].devices = disk_storage().devices;
        look(&mut record, 0, [4 * GIB, 0], [delivered, 0]);
        record
    };
    let missing = watched(LayerKind::Thin, "thin volume data", GIB);
    assert_eq!(found(&missing), caution("thin-blocks"), "and no cache that direct I/O did not bypass");
    assert!(one(&missing, "thin-blocks").cause.contains("only 1.0 GiB delivered"), "{:?}", found(&missing));
    assert_eq!(found(&watched(LayerKind::Thin, "thin volume data", 4 * GIB)), [], "it is all there");
    assert_eq!(
        found(&watched(LayerKind::Mapped, "logical volume (LVM) vg-thinkpad", GIB)),
        invalid("direct-not-honoured"),
        "a name makes no thin volume"
    );
    let unknown = |delivered| {
        watched(
            LayerKind::MaybeThin,
            "device mapper data, of a kind that is not visible (Permission denied)",
            delivered,
        )
    };
    assert_eq!(found(&unknown(GIB)), caution("thin-blocks"));
    assert!(one(&unknown(GIB), "thin-blocks").cause.contains("may be thin"));
    assert_eq!(found(&unknown(4 * GIB)), []);
    record.nodes[0].storages[0].layers = vec![layer(LayerKind::Mapped, "dm-3", "logical volume (LVM) vg-thinkpad")];
    assert_eq!(fsdyno_findings::of_run(&record), []);
}
