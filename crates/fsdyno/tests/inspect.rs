//! Tests `fsdyno inspect` on this machine, whatever it is.

use std::path::Path;

use serde_json::Value;
use testkit::{RunResult, TestDirectory, word};

fn inspect(words: &[&str]) -> RunResult {
    TestDirectory::new().run(&[&["inspect"], words].concat())
}

/// Its output; it must end with status 0 and an empty stderr.
#[track_caller]
fn answered(words: &[&str]) -> String {
    let ran = inspect(words).good();
    assert_eq!(ran.stderr, "");
    ran.stdout
}

fn document(path: &Path) -> Value {
    inspect(&["--json", word(path)]).document()
}

#[test]
fn the_page_is_readable_on_a_terminal() {
    let disk = testkit::word(testkit::workspace());
    let page = answered(&[disk]);
    assert!(page.starts_with(disk), "{page}");
    for part in ["Place", "mounted at", "space", "direct I/O", "Limits of the control groups", "Machine", "kernel"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let long = page.lines().filter(|line| line.contains(' ') && line.chars().count() > 80);
    // A path without commas cannot be broken.
    let breakable: Vec<_> = long.filter(|line| !line.contains(disk)).collect();
    assert!(breakable.is_empty(), "{breakable:?}");
}

#[test]
fn the_current_directory_is_the_default() {
    assert!(answered(&[]).starts_with(".: "));
}

#[test]
fn nothing_is_left_and_nothing_is_made() {
    let place = TestDirectory::new();
    answered(&[&place.word("")]);
    answered(&[&place.word("missing")]);
    assert!(place.names("").is_empty());
}

#[test]
fn the_document_agrees_with_the_kernel() {
    let document = document(Path::new("/proc"));
    assert!(document["version"].as_str().is_some_and(|version| version.contains("fsdyno")), "{document:#}");
    let storage = &document["storage"];
    assert_eq!(storage["mount"]["value"]["fstype"], "proc");
    assert_eq!(storage["class"], "kernel");
    assert_eq!(document["host"]["kernel"], testkit::shell("uname -sr").trim_end());
}

#[test]
fn a_missing_path_is_described_by_its_parent() {
    let place = TestDirectory::new();
    let missing = place.path("a/b");
    let found = document(&missing);
    let storage = &found["storage"];
    assert_eq!(storage["exists"]["value"], false);
    assert_eq!(storage["resolved_path"]["value"], place.path("").canonicalize().unwrap().to_str().unwrap());
    assert_eq!(storage["mount"], document(&place.path(""))["storage"]["mount"]);
    assert!(answered(&[word(&missing)]).contains("does not exist"));
}

#[test]
fn what_cannot_be_a_path_is_refused() {
    let place = TestDirectory::new();
    place.write("file", "");
    for nonsense in [place.word("file/below"), "n".repeat(300)] {
        let complaint = inspect(&[&nonsense]).refused("cannot be a path");
        assert!(complaint.contains("next:"), "{complaint}");
    }
    // An empty variable of a script is no path.
    inspect(&[""]).refused("PATH");
    inspect(&["/", "/"]).refused("`/` is a word too many for inspect");
}

#[test]
fn an_expectation_that_is_not_met_is_an_error() {
    assert!(answered(&["/proc", "--expect", "proc"]).contains("proc"));
    inspect(&["/proc", "--expect", "nfs"]).refused("/proc should be nfs, but it is proc");
    inspect(&["/proc/no/such", "--expect=nfs"]).refused("should be nfs");
    inspect(&["/proc", "--expect="]).refused("--expect <FSTYPE> needs a value");
}

#[test]
fn a_device_is_described_as_one() {
    let Some(device) = a_block_device() else {
        return testkit::skip("/dev has no block device");
    };
    let document = document(&device);
    assert_eq!(document["storage"]["class"], "device");
    assert!(document["storage"]["mount"]["not_visible"].as_str().is_some_and(|reason| reason.contains("is a device")));
}

fn a_block_device() -> Option<std::path::PathBuf> {
    use std::os::unix::fs::FileTypeExt;
    let mut entries = std::fs::read_dir("/dev").ok()?.flatten();
    entries.find(|entry| entry.file_type().is_ok_and(|kind| kind.is_block_device())).map(|entry| entry.path())
}
