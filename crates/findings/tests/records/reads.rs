//! Tests reads that did not come from the device.

use fsdyno_results::evidence::{DirectIo, FileState, RecordedFact, StorageClass};
use fsdyno_results::{Access, Severity};

use crate::scene::*;

#[test]
fn a_cold_buffered_read_is_silent() {
    let mut record = on_disk(vec![reader("job")]);
    look(&mut record, 0, [4 * GIB, 0], [4 * GIB + 20 * MIB, MIB]);
    assert_eq!(fsdyno_findings::of_run(&record), []);
}

#[test]
fn a_warm_one_is_the_page_cache() {
    let mut record = on_disk(vec![reader("job")]);
    look(&mut record, 0, [4 * GIB, 0], [204 * MIB, 0]);
    assert_eq!(found(&record), invalid("page-cache"));
    let finding = one(&record, "page-cache");
    assert_eq!(finding.job.as_deref(), Some("job"));
    assert_eq!(finding.cause, "4.0 GiB read by the job, 204 MiB by vda: 95 % came from the page cache");
    assert_eq!(finding.next, "add --direct=1");
    assert!(finding.numbers.iter().any(|number| number.name == "bytes read by the device" && number.unit == "B"));
}

#[test]
fn a_part_from_the_page_cache_needs_care() {
    let mut record = on_disk(vec![reader("job")]);
    look(&mut record, 0, [4 * GIB, 0], [3 * GIB, 0]);
    assert_eq!(found(&record), caution("page-cache"));
}

#[test]
fn memory_filesystems_and_simulated_jobs_have_no_page_cache() {
    let mut memory = on(StorageClass::Memory, vec![reader("job")]);
    look(&mut memory, 0, [4 * GIB, 0], [0, 0]);
    assert_eq!(found(&memory), caution("memory-storage"));

    let mut simulated = reader("job");
    simulated.setup.engine = "null".into();
    let mut record = on_disk(vec![simulated]);
    look(&mut record, 0, [4 * GIB, 0], [0, 0]);
    assert_eq!(fsdyno_findings::of_run(&record), []);
}

#[test]
fn bytes_are_compared_however_short_the_run() {
    let short = |mut job: fsdyno_results::JobRecord| {
        (job.directions.read.bytes, job.directions.read.ios, job.directions.read.runtime_ms) = (512 * MIB, 512, 38);
        job.plan.span_bytes = Some(512 * MIB);
        job
    };
    let mut warm = on_disk(vec![short(reader("job"))]);
    look(&mut warm, 0, [512 * MIB, 0], [0, 0]);
    assert_eq!(found_in_a_moment(&warm), invalid("page-cache"));
    assert_eq!(one(&warm, "too-short").severity, Severity::Caution);
    warm.jobs[0].setup.latency_target_ns = 1;
    assert_eq!(
        one(&warm, "too-short").next,
        "add --latency_window=10s",
        "what is reported of a search is its last window"
    );
    warm.jobs[0].setup.latency_target_ns = 0;
    let mut cached = on_disk(vec![short(direct(reader("job")))]);
    look(&mut cached, 0, [512 * MIB, 0], [0, 0]);
    assert_eq!(found_in_a_moment(&cached), invalid("direct-not-honoured"));
    // Honest twins, and runs that are too short to tell.
    for job in [short(reader("job")), short(direct(reader("job")))] {
        let mut record = on_disk(vec![job]);
        look(&mut record, 0, [512 * MIB, 0], [512 * MIB, 0]);
        assert_eq!(found_in_a_moment(&record), []);
    }
    let mut little = on_disk(vec![short(reader("job"))]);
    look(&mut little, 0, [200 << 10, 0], [0, 0]);
    assert_eq!(found_in_a_moment(&little), []);
}

/// One cause has one name at each depth of a sweep, and a run that moved hardly anything is not called ok.
#[test]
fn few_bytes_have_the_word_of_many() {
    let read = |bytes: u64, delivered: u64| {
        let mut job = direct(reader("job"));
        (job.directions.read.bytes, job.directions.read.ios) = (bytes, 64.max(bytes >> 12));
        job.plan.span_bytes = Some(4 * GIB);
        let mut record = on_disk(vec![job]);
        look(&mut record, 0, [bytes, 0], [delivered, 0]);
        found(&record)
    };
    for bytes in [300 << 10, 2 * MIB, 4 * MIB, GIB] {
        assert_eq!(read(bytes, 0), invalid("direct-not-honoured"), "{bytes}");
        assert_eq!(read(bytes, bytes), [], "{bytes}");
    }
    assert_eq!(read(64 << 10, 64 << 10), caution("not-visible"));
}

/// Direct reads are judged like those through the page cache.
#[test]
fn a_part_of_direct_reads_from_a_cache() {
    let read = |delivered: u64| {
        let mut record = on_disk(vec![direct(reader("job"))]);
        look(&mut record, 0, [4 * GIB, 0], [delivered, 0]);
        found(&record)
    };
    assert_eq!(read(4 * GIB - 200 * MIB), []);
    assert_eq!(read(3 * GIB), caution("direct-not-honoured"));
    assert_eq!(read(2 * GIB), invalid("direct-not-honoured"));
}

#[test]
fn a_run_that_failed_is_not_judged() {
    let mut record = on_disk(vec![direct(reader("job"))]);
    look(&mut record, 0, [4 * GIB, 0], [4 * GIB, 0]);
    assert_eq!(found(&record), []);
    let text = "No space left on device".into();
    record.jobs[0].error = Some(fsdyno_results::JobError { code: 28, function: "io_u error".into(), text });
    assert_eq!(found(&record), invalid("run-failed"));
    let cause = one(&record, "run-failed").cause;
    assert_eq!(cause, "not judged: the run failed (io_u error: No space left on device)");
}

#[test]
fn a_layer_that_is_not_visible_is_neither_a_fault_nor_ok() {
    let mut record = on_disk(vec![reader("job")]);
    look(&mut record, 0, [4 * GIB, 0], [0, 0]);
    last(&mut record).devices = RecordedFact::NotVisible("no diskstats".into());
    assert_eq!(found(&record), caution("not-visible"));
    assert_eq!(one(&record, "not-visible").cause, "not visible whether reads came from the storage: no diskstats");
    // A few blocks would not show it either.
    record.jobs[0].directions.read.bytes = MIB / 8;
    let cause = one(&record, "not-visible").cause;
    assert!(cause.ends_with("128 KiB are no more than readahead and metadata move"), "{cause}");
    let record = on_disk(vec![reader("job")]);
    assert_eq!(fsdyno_findings::of_run(&record), [], "nobody looked");
}

#[test]
fn neighbours_without_a_storage_hide_nothing() {
    let mut simulated = reader("other");
    simulated.setup.engine = "sim".into();
    let in_memory = reader("memory");
    for neighbour in [simulated, in_memory] {
        let run = |device: u64| {
            let mut record = on_disk(vec![neighbour.clone(), reader("job")]);
            let mut memory = record.nodes[0].storages[0].clone();
            (memory.asked_path, memory.class) = ("/data/memory".into(), StorageClass::Memory);
            memory.mount = RecordedFact::NotVisible("nobody looked".into());
            record.nodes[0].storages.push(memory);
            record.jobs[0].plan.files = vec!["/data/memory".into()];
            look(&mut record, 0, [8 * GIB, 0], [device, 0]);
            record
        };
        let apart = |record: &fsdyno_results::RunRecord| {
            let of_memory = |id: &str| ["jobs-overlap", "memory-storage"].contains(&id);
            found(record).into_iter().filter(|(id, _)| !of_memory(id)).collect::<Vec<_>>()
        };
        let cold = run(4 * GIB);
        assert_eq!(apart(&cold), [], "its own 4 GiB were delivered");
        let warm = run(0);
        assert_eq!(apart(&warm), invalid("page-cache"));
        assert_eq!(one(&warm, "page-cache").job.as_deref(), Some("job"));
        assert!(one(&warm, "page-cache").cause.starts_with("4.0 GiB read by the job, 0 B by vda"));
    }
}

#[test]
fn several_kinds_of_storage_at_once_cannot_be_told_apart() {
    let mut other = reader("other");
    other.plan.files = vec!["/nfs/other".into()];
    let mut record = on_disk(vec![reader("job"), other]);
    let mut share = record.nodes[0].storages[0].clone();
    (share.asked_path, share.class) = ("/nfs/other".into(), StorageClass::Network);
    record.nodes[0].storages.push(share);
    look(&mut record, 0, [8 * GIB, 0], [4 * GIB, 0]);
    let unseen = found(&record).into_iter().filter(|(id, _)| id == "not-visible").count();
    assert_eq!(unseen, 2, "{:?}", found(&record));
}

#[test]
fn each_stage_is_judged_by_its_own_samples() {
    let mut second = reader("warm");
    second.plan.stage = 1;
    second.plan.files = vec!["/data/cold".into()];
    let mut record = on_disk(vec![reader("cold"), second]);
    look(&mut record, 0, [4 * GIB, 0], [4 * GIB, 0]);
    look(&mut record, 1, [4 * GIB, 0], [0, 0]);
    assert_eq!(found(&record), invalid("page-cache"));
    assert_eq!(one(&record, "page-cache").job.as_deref(), Some("warm"));
}

#[test]
fn what_direct_jobs_read_is_not_missing_from_the_buffered_one() {
    let (mut buffered, direct) = (reader("buffered"), direct(reader("direct")));
    // Jobs one after the other would be two stages; here the second starts when the first has ended.
    buffered.started_ms = Some(12_000);
    let mut record = on_disk(vec![buffered, direct]);
    look(&mut record, 0, [8 * GIB, 0], [4 * GIB, 0]);
    assert_eq!(found(&record), invalid("page-cache"), "all of the buffered job's 4 GiB are missing");
    assert_eq!(one(&record, "page-cache").job.as_deref(), Some("buffered"));
    assert!(one(&record, "page-cache").cause.contains("buffered, direct together"));
}

#[test]
fn reads_of_a_verification_are_not_judged() {
    let mut job = writer("job");
    job.plan.end_sync = true;
    job.directions.read = reader("job").directions.read;
    let mut record = on_disk(vec![job]);
    look(&mut record, 0, [4 * GIB, 4 * GIB], [0, 4 * GIB]);
    assert_eq!(fsdyno_findings::of_run(&record), []);
}

#[test]
fn a_file_that_was_never_written() {
    let state = FileState {
        size_bytes: 4 * GIB,
        allocated_bytes: 4 * GIB,
        written_bytes: Some(0),
        unwritten_bytes: Some(4 * GIB),
        encoded_bytes: Some(0),
        ..FileState::default()
    };
    let mut record = on_disk(vec![direct(queued(reader("job"), "libaio", 32))]);
    look(&mut record, 0, [20 * GIB, 0], [44 * 1024, 0]);
    file(&mut record, "/data/job", state);
    assert_eq!(found(&record), invalid("unwritten-data"));
    assert!(one(&record, "unwritten-data").cause.starts_with("100 % of the 4.0 GiB in the files were never written"));

    // The buffered twin has the same cause, not the page cache.
    let mut record = on_disk(vec![reader("job")]);
    look(&mut record, 0, [20 * GIB, 0], [44 * 1024, 0]);
    file(&mut record, "/data/job", state);
    assert_eq!(found(&record), invalid("unwritten-data"));

    // The honest twin: written, and delivered.
    let mut record = on_disk(vec![direct(queued(reader("job"), "libaio", 32))]);
    look(&mut record, 0, [20 * GIB, 0], [20 * GIB, 0]);
    file(&mut record, "/data/job", FileState { written_bytes: Some(4 * GIB), unwritten_bytes: Some(0), ..state });
    assert_eq!(fsdyno_findings::of_run(&record), []);

    // A file with very many extents, of which the first were examined: all written.
    let examined = FileState { written_bytes: Some(GIB), examined_bytes: Some(GIB), ..state };
    let mut record = on_disk(vec![direct(reader("job"))]);
    look(&mut record, 0, [4 * GIB, 0], [4 * GIB, 0]);
    last(&mut record).devices = RecordedFact::NotVisible("no diskstats".into());
    file(&mut record, "/data/job", examined);
    assert_eq!(found(&record), caution("not-visible"));

    // A job that reads the hole, 8 % of the file, and its twin that reads the rest.
    let hole = FileState { written_bytes: Some(4 * GIB / 100 * 92), unwritten_bytes: Some(0), ..state };
    let mut part = direct(reader("job"));
    part.plan.span_bytes = Some(256 * MIB);
    for (device, expected) in [(0, invalid("unwritten-data")), (4 * GIB, Vec::new())] {
        let mut record = on_disk(vec![part.clone()]);
        file(&mut record, "/data/job", hole);
        look(&mut record, 0, [4 * GIB, 0], [device, 0]);
        assert_eq!(found(&record), expected);
    }

    // An outdated map of a file whose data came from the device after all.
    let mut record = on_disk(vec![direct(reader("job"))]);
    look(&mut record, 0, [4 * GIB, 0], [4 * GIB, 0]);
    file(&mut record, "/data/job", state);
    assert_eq!(fsdyno_findings::of_run(&record), []);
}

#[test]
fn a_filesystem_that_does_not_tell_extents_is_not_suspected() {
    let mut record = on_disk(vec![direct(reader("job"))]);
    look(&mut record, 0, [4 * GIB, 0], [4 * GIB, 0]);
    file(&mut record, "/data/job", FileState { size_bytes: 4 * GIB, allocated_bytes: 0, ..FileState::default() });
    assert_eq!(fsdyno_findings::of_run(&record), []);
}

#[test]
fn direct_io_that_was_not_direct() {
    let mut record = on_disk(vec![direct(reader("job"))]);
    look(&mut record, 0, [4 * GIB, 0], [100 * MIB, 0]);
    assert_eq!(found(&record), invalid("direct-not-honoured"));

    let mut record = on_disk(vec![direct(reader("job"))]);
    look(&mut record, 0, [4 * GIB, 0], [4 * GIB, 0]);
    assert_eq!(fsdyno_findings::of_run(&record), [], "the honest twin");
    if let RecordedFact::Value(cache) = &mut last(&mut record).cache {
        cache.cached_bytes = 4 * GIB;
    }
    assert_eq!(found(&record), caution("direct-not-honoured"));
    // Eight passes over a small file, all delivered by the device, with its pages cached at the end.
    record.jobs[0].plan.span_bytes = Some(GIB / 2);
    if let RecordedFact::Value(cache) = &mut last(&mut record).cache {
        cache.cached_bytes = GIB / 2;
    }
    assert_eq!(found(&record), []);
}

#[test]
fn compressed_files_are_read_in_fewer_bytes() {
    let state = FileState {
        size_bytes: 4 * GIB,
        allocated_bytes: 4 * GIB,
        written_bytes: Some(4 * GIB),
        unwritten_bytes: Some(0),
        encoded_bytes: Some(4 * GIB),
        ..FileState::default()
    };
    let mut record = on_disk(vec![direct(reader("job"))]);
    look(&mut record, 0, [4 * GIB, 0], [GIB, 0]);
    file(&mut record, "/data/job", state);
    assert_eq!(found(&record), invalid("compressible-data"));
    // Through the page cache: compressed if it was cold and read once, else the page cache.
    let mut record = on_disk(vec![reader("job")]);
    look(&mut record, 0, [4 * GIB, 0], [GIB, 0]);
    file(&mut record, "/data/job", state);
    assert_eq!(found(&record), invalid("compressible-data"));
    let warm = &mut record.nodes[0].ledger.as_mut().unwrap().samples[0].cache;
    if let RecordedFact::Value(cache) = warm {
        cache.cached_bytes = 4 * GIB;
    }
    assert_eq!(found(&record), invalid("page-cache"));
    // Encrypted: encoded in full size.
    let mut record = on_disk(vec![direct(reader("job"))]);
    look(&mut record, 0, [4 * GIB, 0], [4 * GIB, 0]);
    file(&mut record, "/data/job", state);
    assert_eq!(fsdyno_findings::of_run(&record), []);
}

/// squashfs does not list the extents of its files, and has no direct I/O.
#[test]
fn files_of_a_compressed_image() {
    let state = FileState { size_bytes: 4 * GIB, ..FileState::default() };
    let read = |device: u64, cached: u64| {
        let mut record = on_disk(vec![reader("job")]);
        record.nodes[0].storages[0].compression = Some("squashfs".into());
        record.nodes[0].storages[0].direct_io = RecordedFact::Value(DirectIo::Refused);
        look(&mut record, 0, [4 * GIB, 0], [device, 0]);
        file(&mut record, "/data/job", state);
        if let RecordedFact::Value(cache) = &mut record.nodes[0].ledger.as_mut().unwrap().samples[0].cache {
            cache.cached_bytes = cached;
        }
        record
    };
    assert_eq!(found(&read(GIB, 0)), invalid("compressible-data"));
    assert!(one(&read(GIB, 0), "compressible-data").next.starts_with("read files that do not compress"));
    assert_eq!(found(&read(4 * GIB, 0)), [], "they did not shrink");
    assert_eq!(found(&read(GIB, 4 * GIB)), invalid("page-cache"));
    let next = one(&read(GIB, 4 * GIB), "page-cache").next;
    assert!(next.contains("no direct I/O") && !next.contains("--direct"), "{next}");
}

#[test]
fn several_jobs_on_one_file() {
    let clone = |number: u32| {
        let mut job = reader("job");
        job.thread_number = number;
        job.setup.access = Access::named("read").unwrap();
        job.plan.span_bytes = Some(512 * MIB);
        job.plan.io_bytes = Some(512 * MIB);
        job.directions.read.bytes = 512 * MIB;
        job
    };
    let mut record = on_disk((1..=4).map(clone).collect());
    look(&mut record, 0, [2048 * MIB, 0], [512 * MIB, 0]);
    assert_eq!(found(&record), invalid("shared-file"));
    let finding = one(&record, "shared-file");
    assert_eq!(finding.cause, "4 jobs read 2.0 GiB together, vda delivered 512 MiB: the same bytes 4.0 times");

    // Warm: the cache is the larger cause.
    let mut record = on_disk((1..=4).map(clone).collect());
    look(&mut record, 0, [2048 * MIB, 0], [0, 0]);
    assert!(found(&record).contains(&("page-cache".to_owned(), Severity::Invalid)));

    // A file for each: no finding.
    let mut apart: Vec<_> = (1..=4).map(clone).collect();
    apart.iter_mut().zip(0..).for_each(|(job, n)| job.plan.files = vec![format!("/data/job.{n}")]);
    let mut record = on_disk(apart);
    look(&mut record, 0, [2048 * MIB, 0], [2048 * MIB, 0]);
    assert_eq!(fsdyno_findings::of_run(&record), []);

    // A part for each: no finding.
    let mut parts: Vec<_> = (1..=4).map(clone).collect();
    parts.iter_mut().zip(0..).for_each(|(job, n)| job.plan.offset_bytes = n * 512 * MIB);
    let mut record = on_disk(parts);
    look(&mut record, 0, [2048 * MIB, 0], [2048 * MIB, 0]);
    assert_eq!(fsdyno_findings::of_run(&record), []);

    // Direct: each read reached the device; at most an information.
    let mut record = on_disk((1..=4).map(clone).map(direct).collect());
    look(&mut record, 0, [2048 * MIB, 0], [2048 * MIB, 0]);
    assert_eq!(found(&record), []);
}
