//! The sentences with figures in them.

use std::sync::Arc;

use results::evidence::{Storage, StorageClass};
use results::{Histogram, Latency, Moments, Question, Target};

use super::super::rule;
use super::*;
use crate::study::{Caller, StudyRun, planned_row};
use crate::watch::Unwatched;

/// A phase in which each operation took so long.
fn phase(name: &str, operations: u64, each_ns: u64) -> PhaseRecord {
    let mut moments = Moments::default();
    let mut counts = vec![0; results::BUCKETS];
    (0..operations).for_each(|_| moments.record(each_ns));
    counts[results::bucket_of(each_ns)] = operations;
    PhaseRecord {
        name: name.into(),
        operations,
        elapsed_ns: operations * each_ns,
        latency: Latency { moments, histogram: Some(Histogram::from_counts(counts)) },
        ..PhaseRecord::default()
    }
}

fn study(phases: &[(&str, u64, u64)], published: bool) -> Study {
    let row = |(name, operations, each_ns): &(&str, u64, u64)| results::Row {
        phase: Some(phase(name, *operations, *each_ns)),
        ..planned_row(0, name, name, 0, Vec::new())
    };
    let control = Arc::new(run::Control::default());
    let caller = Caller { version: "test", command: Vec::new(), control, watcher: &mut Unwatched };
    let mut study = StudyRun::begin(Question::SmallFiles, &[], caller).finish();
    study.rows = phases.iter().map(row).collect();
    rule::judge(&mut study, published);
    study
}

fn mount(fstype: &str) -> Mount {
    Mount { fstype: fstype.into(), ..Mount::default() }
}

#[test]
fn on_a_disk_and_what_the_loops_would_add() {
    let phases = [("write", 1001, 23_000), ("read", 1001, 8_000), ("fsync-file", 1001, 4_000_000)];
    let sentences = of(&study(&phases, true), Some(&mount("ext4")), Some([17_000_000, 3_260_000_000]));
    insta::assert_snapshot!(sentences.join("\n"));
}

#[test]
fn of_the_literal_loops() {
    let phases = [
        ("write", 1001, 23_000),
        ("read", 1001, 8_000),
        ("shell-write", 1001, 40_000),
        ("shell-read", 1001, 3_300_000),
    ];
    let storage = Storage { class: StorageClass::Memory, ..Storage::default() };
    let study = Study { targets: vec![Target { storage, ..Target::default() }], ..study(&phases, true) };
    let sentences = of(&study, Some(&mount("tmpfs")), Some([17_000_000, 3_260_000_000]));
    insta::assert_snapshot!(sentences.join("\n"));
}

#[test]
fn of_other_files_on_object_storage() {
    let phases =
        [("write", 50, 72_900_000), ("read", 50, 4_000_000), ("create", 26, 123_000_000), ("unlink", 50, 9_000_000)];
    let sentences = of(&study(&phases, false), Some(&mount("fuse.s3fs")), None);
    insta::assert_snapshot!(sentences.join("\n"));
}

#[test]
fn files_within_the_metadata_are_not_called_cold() {
    let phases = [("write", 1001, 23_000), ("read", 1001, 8_000), ("open-read", 1001, 3_000)];
    let mut study = study(&phases, true);
    let said =
        |study: &Study| of(study, Some(&mount("btrfs")), None).concat().contains("open+read is not of the device");
    assert!(!said(&study));
    study.rows[2].phase.as_mut().unwrap().cache = Some(HOT_INLINE.into());
    assert!(said(&study));
}
