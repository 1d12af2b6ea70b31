//! Tests the byte ledger on a real filesystem: the same bytes in all layers, and the files' state before and after.
#![forbid(unsafe_code)]

mod conducted;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use fsdyno_results::RunRecord;
use fsdyno_results::evidence::{FileState, LayerCounters, Ledger, LedgerSample, Moment, RecordedFact};
use fsdyno_run::{Control, Observer};

const MIB: u64 = 1 << 20;

struct Silent;

impl Observer for Silent {}

/// A directory on the filesystem of the build, since /tmp may be in memory.
fn directory() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("the build directory is writable")
}

#[track_caller]
fn run_words(words: &str) -> RunRecord {
    let record = conducted::conduct(&conducted::jobs(words), Arc::new(Control::default()), &mut Silent);
    for job in &record.jobs {
        assert_eq!(job.error, None, "{words}");
    }
    record
}

#[track_caller]
fn ledger(record: &RunRecord) -> &Ledger {
    record.nodes[0].ledger.as_ref().expect("every run has a ledger")
}

/// First and last sample of a stage.
#[track_caller]
fn ends(ledger: &Ledger, stage: u32) -> (&LedgerSample, &LedgerSample) {
    let of_stage: Vec<&LedgerSample> = ledger.samples.iter().filter(|sample| sample.stage == stage).collect();
    let (first, last) = (of_stage[0], of_stage[of_stage.len() - 1]);
    assert_eq!((first.moment, last.moment), (Moment::Begin, Moment::End), "{of_stage:?}");
    (first, last)
}

fn since(begin: LayerCounters, end: LayerCounters) -> LayerCounters {
    LayerCounters { bytes: end.bytes.since(begin.bytes), operations: end.operations.since(begin.operations) }
}

fn application(ledger: &Ledger, stage: u32) -> LayerCounters {
    let (begin, end) = ends(ledger, stage);
    since(begin.application, end.application)
}

/// What the lowest devices did in a stage, or why it is not visible.
fn devices(ledger: &Ledger, stage: u32) -> Result<LayerCounters, String> {
    let (begin, end) = ends(ledger, stage);
    let sum = |sample: &LedgerSample| match &sample.devices {
        RecordedFact::NotVisible(reason) => Err(reason.clone()),
        RecordedFact::Value(devices) if devices.is_empty() => Err("no device is behind the build directory".to_owned()),
        RecordedFact::Value(devices) => {
            Ok(devices.iter().fold(LayerCounters::default(), |sum, device| LayerCounters {
                bytes: sum.bytes.plus(device.done.bytes),
                operations: sum.operations.plus(device.done.operations),
            }))
        }
    };
    Ok(since(sum(begin)?, sum(end)?))
}

/// Writes a file with random data durably, and drops its pages from the cache.
fn written(path: &Path, mib: u64) {
    let path = path.display();
    run_words(&format!("--name=w --filename={path} --rw=write --bs=1m --size={mib}m --end_fsync=1"));
}

#[track_caller]
fn file_of<'l>(ledger: &'l Ledger, path: &Path) -> (&'l RecordedFact<FileState>, &'l RecordedFact<FileState>) {
    let file = ledger.files.iter().find(|file| Path::new(&file.path) == path).expect("the file was looked at");
    (&file.before, &file.after)
}

fn file_in(directory: &tempfile::TempDir) -> PathBuf {
    directory.path().join("file")
}

#[test]
fn a_direct_write_reaches_the_device_and_the_application_counts_exactly() {
    let directory = directory();
    let path = file_in(&directory);
    let words = format!("--name=a --filename={} --rw=write --bs=256k --size=16m --direct=1", path.display());
    let jobs = conducted::jobs(&words);
    let record = conducted::conduct(&jobs, Arc::new(Control::default()), &mut Silent);
    if record.jobs[0].error.is_some() {
        return eprintln!("skipped: no direct I/O here");
    }
    let ledger = ledger(&record);
    assert_eq!(application(ledger, 0), LayerCounters { bytes: [0, 16 * MIB].into(), operations: [0, 64].into() });
    match devices(ledger, 0) {
        Ok(done) => assert!(done.bytes.write >= 16 * MIB, "{done:?}"),
        Err(reason) => eprintln!("skipped: {reason}"),
    }
}

#[test]
fn a_warm_read_leaves_the_device_alone_and_a_cold_one_does_not() {
    let directory = directory();
    let path = file_in(&directory);
    written(&path, 16);
    let read = format!("--filename={} --rw=read --bs=256k --size=16m", path.display());
    let record = run_words(&format!(
        "--name=cold {read} --invalidate=1 --name=warm {read} --invalidate=0 --stonewall --name=last {read} \
         --invalidate=1 --stonewall"
    ));
    let ledger = ledger(&record);
    for stage in 0..3 {
        assert_eq!(
            application(ledger, stage),
            LayerCounters { bytes: [16 * MIB, 0].into(), operations: [64, 0].into() }
        );
    }
    let (before, _) = file_of(ledger, &path);
    let cached = |stage: u32| ends(ledger, stage).0.cache.value().map(|cache| cache.cached_bytes);
    if let (Some(0), Some(warm), Some(cold)) = (cached(0), cached(1), cached(2)) {
        assert_eq!((warm, cold), (16 * MIB, 0), "the pages before the first I/O of a stage");
        assert_eq!(before.value().and_then(|state| state.cached_bytes), Some(0));
    } else {
        return eprintln!("skipped: the pages are not visible, or cannot be dropped: {:?}", ends(ledger, 0).0.cache);
    }
    match (devices(ledger, 0), devices(ledger, 1)) {
        // Others may use the device at the same time, but will hardly read as much.
        (Ok(cold), Ok(warm)) => {
            assert!(cold.bytes.read >= 16 * MIB, "{cold:?}");
            let process = |sample: &LedgerSample| sample.process.value().map(|process| process.storage_bytes.read);
            let (begin, end) = ends(ledger, 1);
            assert_eq!(process(begin), process(end), "nothing was read for us: the device read {warm:?} in all");
        }
        (Err(reason), _) | (_, Err(reason)) => eprintln!("skipped: {reason}"),
    }
}

#[test]
fn a_file_that_was_never_written_says_so() {
    let directory = directory();
    let path = file_in(&directory);
    // Made for a writer that never writes: its space is reserved.
    let reserve =
        format!("--name=a --filename={} --rw=write --size=8m --fallocate=native --create_only=1", path.display());
    run_words(&reserve);
    let record = run_words(&format!("--name=r --filename={} --rw=read --bs=64k --size=8m", path.display()));
    let (before, after) = file_of(ledger(&record), &path);
    let (RecordedFact::Value(before), RecordedFact::Value(after)) = (before, after) else {
        panic!("{before:?} {after:?}")
    };
    assert_eq!((before.size_bytes, after.size_bytes), (8 * MIB, 8 * MIB));
    match (before.unwritten_bytes, before.allocated_bytes) {
        (None, _) | (_, 0) => eprintln!("skipped: no preallocation, or the filesystem tells nothing of extents"),
        (unwritten, _) => {
            assert_eq!((unwritten, before.written_bytes), (Some(8 * MIB), Some(0)));
            assert_eq!(after.unwritten_bytes, Some(8 * MIB), "reading writes nothing");
            assert_eq!(before.examined_bytes, Some(8 * MIB));
        }
    }
    let twice = run_words(&format!(
        "--name=w --filename={path} --rw=write --bs=1m --size=8m --end_fsync=1 --name=r --filename={path} --rw=read \
         --bs=64k --size=8m --stonewall",
        path = path.display()
    ));
    let file = ledger(&twice).files.first().expect("the file was looked at");
    if let Some(unwritten) = before.unwritten_bytes {
        let at = |stage: u32| file.before_stage(stage).value().and_then(|state| state.unwritten_bytes);
        assert_eq!((at(0), at(1)), (Some(unwritten), Some(0)), "the second stage reads what the first wrote");
    }
    written(&path, 8);
    let record = run_words(&format!("--name=r --filename={} --rw=read --bs=64k --size=8m", path.display()));
    let Some(before) = file_of(ledger(&record), &path).0.value() else { panic!("{record:?}") };
    assert!(matches!(before.unwritten_bytes, Some(0) | None), "{before:?}");
    assert!(matches!(before.written_bytes, Some(bytes) if bytes == 8 * MIB) || before.written_bytes.is_none());
}

#[test]
fn what_a_buffered_write_left_in_memory_is_dirty_at_the_end() {
    const HALF_BYTES: u64 = 8 * MIB;
    let directory = directory();
    let path = file_in(&directory);
    let write = format!("--name=a --filename={} --rw=write --bs=256k --size=16m", path.display());
    let left = |record: &RunRecord| {
        let (_, end) = ends(ledger(record), 0);
        let cache = match &end.cache {
            RecordedFact::Value(cache) => cache,
            RecordedFact::NotVisible(reason) => return Err(reason.clone()),
        };
        let dirty = cache.dirty_bytes.zip(cache.writeback_bytes).map(|(dirty, writeback)| dirty + writeback);
        dirty.ok_or_else(|| "this kernel does not tell dirty pages".to_owned())
    };
    let mut unsynced = run_words(&write);
    for _ in 0..2 {
        // The kernel may have begun to write back: on a busy machine more than a half.
        if matches!(left(&unsynced), Ok(1..=HALF_BYTES)) {
            unsynced = run_words(&write);
        }
    }
    let dirty = match left(&unsynced) {
        Err(reason) => return eprintln!("skipped: {reason}"),
        Ok(0) => return eprintln!("skipped: this filesystem keeps no dirty pages"),
        Ok(dirty) => dirty,
    };
    assert!(dirty > HALF_BYTES, "{dirty}");
    let (_, after) = file_of(ledger(&unsynced), &path);
    let after = after.value().expect("the file is there");
    assert_eq!((after.written_bytes, after.unwritten_bytes), (None, None), "its extents are not known yet");
    let synced = run_words(&format!("{write} --end_fsync=1"));
    assert_eq!(left(&synced), Ok(0));
    assert!(synced.jobs[0].final_sync_ns.is_some() && unsynced.jobs[0].final_sync_ns.is_none());
}

#[test]
fn a_look_a_second_and_two_per_stage() {
    let directory = directory();
    let path = file_in(&directory);
    let path = path.display();
    let record = run_words(&format!(
        "--name=a --filename={path} --rw=write --bs=4k --size=1m --runtime=2 --time_based --rate_iops=100 \
         --name=b --filename={path} --rw=read --bs=4k --size=4k --stonewall"
    ));
    let ledger = ledger(&record);
    let of_stage =
        |stage: u32| -> Vec<&LedgerSample> { ledger.samples.iter().filter(|sample| sample.stage == stage).collect() };
    ends(ledger, 0);
    ends(ledger, 1);
    let during = of_stage(0).len() - 2;
    // A busy machine may lose a sample, or prolong the two seconds; the samples stay a second apart.
    let seconds = record.jobs[0].directions.write.runtime_ms.div_ceil(1000) as usize + 1;
    assert!((1..=seconds).contains(&during) || ledger.missed > 0, "{during} looks in at most {seconds} s");
    assert!(ledger.samples.is_sorted_by_key(|sample| sample.at_ms));
    assert!(ledger.cost_ns > 0);
    assert_eq!(ledger.samples[0].at_ms, 0);
    assert_eq!(application(ledger, 1).operations, [1, 0].into());
}

#[test]
fn a_run_without_files_has_no_ledger() {
    assert_eq!(run_words("--name=a --ioengine=null --size=4k").nodes[0].ledger, None);
}

#[test]
fn many_files_are_not_all_looked_at() {
    let directory = directory();
    let words = format!(
        "--name=a --directory={} --nrfiles=40 --numjobs=8 --rw=write --bs=4k --size=160k",
        directory.path().display()
    );
    let record = run_words(&words);
    let ledger = ledger(&record);
    assert_eq!((ledger.files.len(), ledger.files_left_out), (64, 8 * 40 - 64));
    assert_eq!((record.jobs[0].plan.files.len(), record.jobs[0].plan.file_count), (16, 40));
    let first = &record.jobs[7].plan.files[0];
    assert!(ledger.files.iter().any(|file| file.path == *first), "each worker has its share");
}

#[test]
fn a_file_that_the_run_removes_is_seen_to_the_end() {
    let directory = directory();
    let path = file_in(&directory);
    let record = run_words(&format!("--name=a --filename={} --rw=write --size=1m --unlink=1", path.display()));
    let (_, after) = file_of(ledger(&record), &path);
    assert_eq!(after.value().map(|state| state.size_bytes), Some(MIB));
    assert!(!path.exists());
}

#[test]
fn latency_is_told_second_by_second_and_adds_up() {
    let record = run_words("--name=a --ioengine=null --size=1g --runtime=2 --time_based --rate_iops=2000 --numjobs=2");
    for job in &record.jobs {
        let counted: u64 = job.latency_series.iter().flat_map(|slice| &slice.classes).map(|(_, count)| count).sum();
        assert_eq!(counted, job.directions.read.clat.moments.count);
        assert!(job.latency_series.is_sorted_by_key(|slice| slice.at_ms) && !job.latency_series.is_empty());
    }
    let many = run_words("--name=a --ioengine=null --size=4k --numjobs=65");
    assert!(many.jobs.iter().all(|job| job.latency_series.is_empty()), "too many workers");
}

#[test]
fn the_record_keeps_it_all_and_an_old_record_has_none() {
    let directory = directory();
    let record = run_words(&format!("--name=a --filename={} --rw=write --size=64k", file_in(&directory).display()));
    assert!(record.nodes[0].ledger.is_some());
    let text = record.to_json();
    let again = RunRecord::from_json(&text).expect("it was just written");
    assert_eq!(again.nodes[0].ledger, record.nodes[0].ledger);
    assert_eq!(again.jobs[0].plan, record.jobs[0].plan);
    let mut old: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    old["nodes"][0].as_object_mut().expect("a node is an object").remove("ledger");
    let old = RunRecord::from_json(&old.to_string()).expect("records from before the ledger still load");
    assert_eq!(old.nodes[0].ledger, None);
}
