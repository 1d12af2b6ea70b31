//! T31: the directory of a question is removed while the question is asked.

use std::path::Path;
use std::process::{Command, Stdio};

use engine::clock::{Clock, RealClock};
use results::{Severity, Study};

/// Asks, with `meanwhile` done again and again to the directory of the question; the study as it was kept.
fn measured(meanwhile: impl Fn(&Path)) -> Study {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (data, store) = (folder.path().join("data"), folder.path().join("store"));
    std::fs::create_dir(&data).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_fsdyno"));
    command.args(["measure", "--quick", "--size=16m", "--store"]).arg(&store).arg(&data);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let clock = RealClock::shared();
    while child.try_wait().unwrap().is_none() {
        for entry in std::fs::read_dir(&data).unwrap().flatten() {
            meanwhile(&entry.path());
        }
        clock.sleep_until_ns(clock.now_ns() + 10_000_000);
    }
    let kept = std::fs::read_dir(&store).unwrap().flatten().map(|entry| entry.path()).next();
    Study::from_json(&std::fs::read_to_string(kept.unwrap()).unwrap()).unwrap()
}

#[test]
fn a_removed_directory_is_caught() {
    let lost = measured(|work| {
        if work.join("measure.dat").exists() {
            let _ = std::fs::remove_dir_all(work);
        }
    });
    let last = lost.rows.last().unwrap();
    let found = last.findings.iter().find(|finding| finding.id == "directory-lost");
    assert_eq!(found.map(|finding| finding.severity), Some(Severity::Invalid), "{:?}", last.findings);
    assert!(!lost.complete);
}

#[test]
fn a_directory_that_is_looked_at_is_not() {
    let whole = measured(|work| drop(std::fs::read_dir(work).map(Iterator::count)));
    assert!(whole.complete);
    assert!(whole.rows.iter().flat_map(|row| &row.findings).all(|finding| finding.id != "directory-lost"));
}
