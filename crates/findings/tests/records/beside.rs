//! Tests the scenes with a neighbour that reads or writes the same device, the same file, or the device below: findings
//! remain, and honest runs still have none.

use fsdyno_results::evidence::*;
use fsdyno_results::{JobRecord, RunRecord, Severity};

use crate::scene::*;

/// The neighbour's reads and writes, bytes.
const NEIGHBOURS: [[u64; 2]; 3] = [[6 * GIB, 0], [0, 6 * GIB], [6 * GIB, 6 * GIB]];

/// Sets the counters: the jobs moved `application`, the storage `own` for them, and `others` for the neighbour.
fn beside(record: &mut RunRecord, application: [u64; 2], own: [u64; 2], others: [u64; 2]) {
    look(record, 0, application, [own[0] + others[0], own[1] + others[1]]);
    if let RecordedFact::Value(process) = &mut last(record).process {
        process.storage_bytes = [own[0], application[1]].into();
    }
}

/// The findings without those on the neighbour itself.
fn but_for_the_neighbour(record: &RunRecord) -> Vec<(String, Severity)> {
    found(record).into_iter().filter(|(id, _)| id != "foreign-load").collect()
}

#[test]
fn cached_reads_stay_cached_reads() {
    for others in NEIGHBOURS {
        let read = |job: JobRecord, own: u64| {
            let mut record = on_disk(vec![job]);
            beside(&mut record, [4 * GIB, 0], [own, 0], others);
            record
        };
        let warm = read(reader("job"), 0);
        assert_eq!(but_for_the_neighbour(&warm), invalid("page-cache"), "{others:?}");
        assert_eq!(but_for_the_neighbour(&read(direct(reader("job")), 0)), invalid("direct-not-honoured"));
        for job in [reader("job"), direct(reader("job"))] {
            assert_eq!(but_for_the_neighbour(&read(job, 4 * GIB)), [], "the honest twin");
        }
        let cause = one(&read(reader("job"), 0), "page-cache").cause;
        let witness = if others[0] > 0 { "vda for this process" } else { "vda" };
        assert!(cause.contains(&format!("0 B by {witness}:")), "{cause}");
    }
}

/// The device reads ahead for a neighbour: the run finds these pages in the cache.
#[test]
fn a_neighbour_that_reads_the_same_file_ahead() {
    let mut record = on_disk(vec![reader("job")]);
    beside(&mut record, [4 * GIB, 0], [0, 0], [4 * GIB, 0]);
    assert_eq!(but_for_the_neighbour(&record), invalid("page-cache"), "the device read no more than the job");
}

#[test]
fn holes_stay_holes() {
    let state = FileState { size_bytes: 4 * GIB, written_bytes: Some(0), ..FileState::default() };
    let mut record = on_disk(vec![direct(reader("job"))]);
    beside(&mut record, [4 * GIB, 0], [0, 0], [6 * GIB, 0]);
    file(&mut record, "/data/job", state);
    assert_eq!(but_for_the_neighbour(&record), invalid("unwritten-data"));
    let mut written = on_disk(vec![direct(reader("job"))]);
    beside(&mut written, [4 * GIB, 0], [4 * GIB, 0], [6 * GIB, 0]);
    file(&mut written, "/data/job", FileState { written_bytes: Some(4 * GIB), ..state });
    assert_eq!(but_for_the_neighbour(&written), []);
}

#[test]
fn compressed_files_stay_compressed() {
    let state = FileState { size_bytes: 4 * GIB, encoded_bytes: Some(4 * GIB), ..FileState::default() };
    let mut record = on_disk(vec![direct(reader("job"))]);
    beside(&mut record, [4 * GIB, 0], [GIB, 0], [6 * GIB, 0]);
    file(&mut record, "/data/job", state);
    assert_eq!(but_for_the_neighbour(&record), invalid("compressible-data"));
}

/// Where the kernel does not charge the reader, only the device's counter is left, which includes others' bytes.
#[test]
fn where_the_device_alone_counts_it_is_not_visible() {
    let read = |change: fn(&mut RunRecord), others: u64| {
        let mut record = on_disk(vec![queued(reader("job"), "io_uring", 8)]);
        beside(&mut record, [4 * GIB, 0], [0, 0], [others, 0]);
        change(&mut record);
        record
    };
    let changes: [fn(&mut RunRecord); 3] = [
        |record| last(record).process = RecordedFact::NotVisible("no /proc/self/io".into()),
        |record| record.nodes[0].host.kernel = Some("Linux 5.10.0-30-amd64".into()),
        |record| {
            if let RecordedFact::Value(mount) = &mut record.nodes[0].storages[0].mount {
                mount.fstype = "zfs".into();
            }
        },
    ];
    for change in changes {
        let shared = read(change, 6 * GIB);
        assert!(found(&shared).contains(&caution("not-visible")[0]), "{:?}", found(&shared));
        let finding = one(&shared, "not-visible");
        assert!(finding.cause.contains("others used vda too"), "{}", finding.cause);
        assert!(finding.next.contains("when it is idle"));
        assert!(found(&read(change, 0)).contains(&invalid("page-cache")[0]), "the device is an upper bound");
        let honest = read(change, 4 * GIB);
        assert!(
            found(&honest).iter().all(|(id, _)| id != "not-visible" && id != "page-cache"),
            "nobody else was there"
        );
    }
    let newer: fn(&mut RunRecord) = |record| record.nodes[0].host.kernel = Some("Linux 6.1.0-9".into());
    assert!(found(&read(newer, 6 * GIB)).contains(&invalid("page-cache")[0]), "its threads are the process's");
}

#[test]
fn the_run_s_own_control_group_tells_what_arrived() {
    let write = |group: Option<u64>, own: u64, others: u64| {
        let mut job = writer("job");
        job.plan.end_sync = true;
        let mut record = on_disk(vec![job]);
        beside(&mut record, [0, 4 * GIB], [0, own], [0, others]);
        for sample in &mut record.nodes[0].ledger.as_mut().unwrap().samples {
            // As on an overlay, whose files have no pages of their own.
            sample.cache = RecordedFact::NotVisible("an overlay".into());
            let bytes = if sample.moment == Moment::End { group } else { group.and(Some(0)) };
            sample.group = bytes.map(|bytes| [0, bytes].into());
        }
        record
    };
    assert_eq!(found(&write(Some(4 * GIB), 4 * GIB, 900 * GIB)), [], "all of it arrived");
    assert_eq!(found(&write(Some(0), 0, 900 * GIB)), invalid("sync-ignored"));
    assert_eq!(found(&write(None, 0, 900 * GIB)), caution("not-visible"), "the device took more than this run wrote");
    assert_eq!(found(&write(None, 0, 0)), invalid("sync-ignored"));
    assert_eq!(found(&write(None, 4 * GIB, 0)), []);
    let cause = one(&write(Some(MIB), MIB, 6 * GIB), "sync-ignored").cause;
    assert!(cause.contains("vda for this control group got 1.0 MiB"), "{cause}");
}

#[test]
fn writes_beside_a_writer() {
    let write = |end_sync: bool, dirty: u64| {
        let mut job = writer("job");
        job.plan.end_sync = end_sync;
        let mut record = on_disk(vec![job]);
        beside(&mut record, [0, 4 * GIB], [0, 4 * GIB], [0, 12 * GIB]);
        if let RecordedFact::Value(cache) = &mut last(&mut record).cache {
            cache.dirty_bytes = Some(dirty);
        }
        record
    };
    assert_eq!(found(&write(true, 0)), [], "no page of its files is dirty: they are among what the device took");
    assert_eq!(found(&write(true, 4 * GIB)), caution("not-visible"), "its own, or of others in the same file");
    assert_eq!(found(&write(false, 0)), []);
    assert_eq!(found(&write(false, 4 * GIB)), invalid("writes-in-memory"));
}

/// A job on the loop device `loop0`, whose image is on sda. `disk`: what the disk moved; `pages`: the image's pages
/// before and after.
fn on_an_image(job: JobRecord, direct_image: bool, disk: [u64; 2], pages: Option<[CacheCounters; 2]>) -> RunRecord {
    let moved = [job.directions.read.bytes, job.directions.write.bytes];
    let mut record = on_disk(vec![job]);
    let image = Image { direct: Some(direct_image), ..Image::default() };
    let sda = Layer { kind: LayerKind::Disk, name: "sda".into(), ..Layer::default() };
    let lower = Layer { kind: LayerKind::Filesystem, name: "ext4".into(), below: vec![sda], ..Layer::default() };
    let device = Layer {
        kind: LayerKind::Loop,
        name: "vda".into(),
        image: Some(image),
        below: vec![lower.clone()],
        ..Layer::default()
    };
    record.nodes[0].storages[0].layers = vec![Layer { below: vec![device], ..lower }];
    look(&mut record, 0, moved, moved);
    let samples = &mut record.nodes[0].ledger.as_mut().unwrap().samples;
    for (sample, share) in samples.iter_mut().zip([0, 1]) {
        let done = LayerCounters { bytes: disk.map(|bytes| bytes * share).into(), ..LayerCounters::default() };
        let place = DevicePlace::BelowFile;
        sample.stacked_devices = vec![DeviceCounters { name: "sda".into(), place, done, ..DeviceCounters::default() }];
        if let RecordedFact::Value(devices) = &mut sample.devices {
            devices[0].image = pages.map(|pages| pages[share as usize]);
        }
    }
    record
}

fn pages(cached: u64, dirty: u64) -> CacheCounters {
    CacheCounters { cached_bytes: cached, dirty_bytes: Some(dirty), writeback_bytes: Some(0), evicted_bytes: Some(0) }
}

#[test]
fn an_image_in_memory_beside_users_of_its_disk() {
    for others in NEIGHBOURS {
        let warm = on_an_image(direct(reader("job")), false, others, Some([pages(4 * GIB, 0); 2]));
        assert_eq!(but_for_the_neighbour(&warm), invalid("host-cache"), "{others:?}");
        let disk = [4 * GIB + others[0], others[1]];
        let cold = on_an_image(direct(reader("job")), false, disk, Some([pages(0, 0), pages(4 * GIB, 0)]));
        assert_eq!(but_for_the_neighbour(&cold), [], "the honest twin");
        let kept = on_an_image(direct(writer("job")), false, others, Some([pages(0, 0), pages(4 * GIB, 4 * GIB)]));
        assert_eq!(but_for_the_neighbour(&kept), invalid("host-cache"), "{others:?}");
        let stored = on_an_image(direct(writer("job")), true, [others[0], 4 * GIB + others[1]], None);
        assert_eq!(but_for_the_neighbour(&stored), []);
    }
    let hidden = on_an_image(direct(reader("job")), false, [6 * GIB, 0], None);
    assert_eq!(but_for_the_neighbour(&hidden), caution("not-visible"));
    assert!(one(&hidden, "not-visible").cause.contains("others used sda too"));
    assert_eq!(but_for_the_neighbour(&on_an_image(direct(reader("job")), false, [0, 0], None)), invalid("host-cache"));
}

/// What others read from a loop device itself is among its image's pages, and among what the disk below moved.
#[test]
fn an_image_beside_users_of_the_loop_device() {
    let read = |own: u64, others: u64, cached: u64| {
        let mut record = on_an_image(direct(reader("job")), false, [cached, 0], Some([pages(0, 0), pages(cached, 0)]));
        vda(&mut record).done.bytes = [own + others, 0].into();
        if let RecordedFact::Value(process) = &mut last(&mut record).process {
            process.storage_bytes.read = own;
        }
        but_for_the_neighbour(&record)
    };
    assert_eq!(read(4 * GIB, 0, 4 * GIB), []);
    assert_eq!(read(4 * GIB, 6 * GIB, GIB), invalid("host-cache"), "less than half of the run's own");
    assert_eq!(read(4 * GIB, 6 * GIB, 4 * GIB), caution("not-visible"), "the pages may be of either");
    assert_eq!(read(4 * GIB, 6 * GIB, 6 * GIB), caution("not-visible"));
    let direct_image = on_an_image(direct(reader("job")), true, [10 * GIB, 0], None);
    assert_eq!(but_for_the_neighbour(&direct_image), [], "no page cache on the way");
}

/// Others who use the same file fill its page cache.
#[test]
fn pages_that_users_of_the_same_file_brought() {
    let read = |others: [u64; 2], dirty: u64| {
        let mut record = on_disk(vec![direct(reader("job"))]);
        beside(&mut record, [4 * GIB, 0], [4 * GIB, 0], others);
        if let RecordedFact::Value(cache) = &mut last(&mut record).cache {
            (cache.cached_bytes, cache.dirty_bytes) = (4 * GIB, Some(dirty));
        }
        but_for_the_neighbour(&record)
    };
    assert_eq!(read([4 * GIB, 0], 0), []);
    assert_eq!(read([0, 4 * GIB], 0), []);
    assert_eq!(read([0, 0], 4 * GIB), [], "written, and not stored yet");
    assert_eq!(read([0, 0], 0), caution("direct-not-honoured"), "nobody else brought them");
}

/// The share on the sheet is never above 100 %, whatever others moved, and below it for an image in memory.
#[test]
fn what_reached_the_storage_is_the_run_s_own() {
    let share =
        |record: &RunRecord| fsdyno_findings::reached(record, 0, 0).map(|reached| (reached.bytes, reached.witness));
    let read = |own: u64| {
        let mut record = on_disk(vec![reader("job")]);
        beside(&mut record, [4 * GIB, 0], [own, 0], [6 * GIB, 0]);
        share(&record)
    };
    let own = "vda for this process".to_owned();
    assert_eq!(read(GIB), Some(([GIB, 0].into(), own.clone())));
    assert_eq!(read(4 * GIB + MIB), Some(([4 * GIB, 0].into(), own)), "readahead is not the job's");
    let image = |direct_image: bool, disk: u64, pages: [CacheCounters; 2]| {
        share(&on_an_image(direct(reader("job")), direct_image, [disk, 0], Some(pages))).map(|(bytes, _)| bytes.read)
    };
    assert_eq!(image(false, 0, [pages(4 * GIB, 0); 2]), Some(0));
    assert_eq!(image(false, 9 * GIB, [pages(0, 0), pages(GIB, 0)]), Some(GIB));
    assert_eq!(image(true, 9 * GIB, [pages(0, 0); 2]), Some(4 * GIB));
    let shared = on_an_image(direct(reader("job")), false, [9 * GIB, 0], None);
    assert_eq!(share(&shared), None, "nobody can tell");
}

#[test]
fn others_at_every_level_are_named() {
    let disk = |direct_image: bool, disk: [u64; 2]| {
        let pages = (!direct_image).then_some([pages(0, 0), pages(4 * GIB, 0)]);
        on_an_image(direct(reader("job")), direct_image, disk, pages)
    };
    for direct_image in [true, false] {
        let busy = disk(direct_image, [4 * GIB, 2 * GIB]);
        assert_eq!(found(&busy), caution("foreign-load"));
        let cause = one(&busy, "foreign-load").cause;
        assert!(cause.starts_with("sda below vda moved 215 MB/s for others"), "{cause}");
        assert_eq!(found(&disk(direct_image, [4 * GIB, 8 * MIB])), []);
    }
    assert_eq!(found(&disk(true, [9 * GIB, 0])), caution("foreign-load"));
    let writer = |disk| found(&on_an_image(direct(writer("job")), true, disk, None));
    assert_eq!(writer([0, 4 * GIB + 100 * MIB]), [], "the journal of the lower filesystem");
    assert_eq!(writer([0, 6 * GIB]), caution("foreign-load"));
}
