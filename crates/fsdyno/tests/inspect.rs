//! `fsdyno inspect` on this machine, whatever it is.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn inspect(words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fsdyno"));
    command.arg("inspect").args(words).output().unwrap()
}

/// What it printed; it must have ended with 0 and without a complaint.
fn answered(words: &[&str]) -> String {
    let output = inspect(words);
    assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(0), ""));
    text(&output.stdout)
}

/// What it complained; it must have ended with 2 and printed nothing.
fn refused(words: &[&str]) -> String {
    let output = inspect(words);
    assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(2), ""));
    text(&output.stderr)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn document(path: &Path) -> Value {
    serde_json::from_str(&answered(&["--json", path.to_str().unwrap()])).unwrap()
}

#[test]
fn the_page_is_readable_on_a_terminal() {
    let page = answered(&[env!("CARGO_TARGET_TMPDIR")]);
    assert!(page.starts_with(env!("CARGO_TARGET_TMPDIR")), "{page}");
    for part in ["Place", "mounted at", "space", "direct I/O", "Limits of the control groups", "Machine", "kernel"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let long = page.lines().filter(|line| line.contains(' ') && line.chars().count() > 80);
    // A path without commas cannot be broken.
    let breakable: Vec<_> = long.filter(|line| !line.contains(env!("CARGO_TARGET_TMPDIR"))).collect();
    assert!(breakable.is_empty(), "{breakable:?}");
}

#[test]
fn the_current_directory_is_the_default() {
    assert!(answered(&[]).starts_with(".: "));
}

#[test]
fn nothing_is_left_and_nothing_is_made() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    answered(&[directory.path().to_str().unwrap()]);
    answered(&[directory.path().join("missing").to_str().unwrap()]);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn the_document_agrees_with_the_kernel() {
    let document = document(Path::new("/proc"));
    assert!(document["version"].as_str().is_some_and(|version| version.contains("fsdyno")), "{document:#}");
    let storage = &document["storage"];
    assert_eq!(storage["mount"]["value"]["fstype"], "proc");
    assert_eq!(storage["class"], "kernel");
    let uname = Command::new("uname").arg("-sr").output().unwrap();
    assert_eq!(document["host"]["kernel"], text(&uname.stdout).trim_end());
}

#[test]
fn a_missing_path_is_described_by_its_parent() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let missing = directory.path().join("a/b");
    let found = document(&missing);
    let storage = &found["storage"];
    assert_eq!(storage["exists"]["value"], false);
    assert_eq!(storage["resolved_path"]["value"], directory.path().canonicalize().unwrap().to_str().unwrap());
    assert_eq!(storage["mount"], document(directory.path())["storage"]["mount"]);
    assert!(answered(&[missing.to_str().unwrap()]).contains("does not exist"));
}

#[test]
fn what_cannot_be_a_path_is_refused() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let file = directory.path().join("file");
    std::fs::write(&file, "").unwrap();
    let below = file.join("below");
    for nonsense in [below.to_str().unwrap(), &"n".repeat(300)] {
        let complaint = refused(&[nonsense]);
        assert!(complaint.contains("cannot be a path") && complaint.contains("next:"), "{complaint}");
    }
    assert!(refused(&[""]).contains("PATH"), "an empty variable of a script is no path");
    assert!(refused(&["/", "/"]).contains("unexpected"));
}

#[test]
fn an_expectation_that_is_not_met_is_an_error() {
    assert!(answered(&["/proc", "--expect", "proc"]).contains("proc"));
    let complaint = refused(&["/proc", "--expect", "nfs"]);
    assert!(complaint.contains("/proc should be nfs, but it is proc"), "{complaint}");
    assert!(refused(&["/proc/no/such", "--expect=nfs"]).contains("should be nfs"));
    assert!(refused(&["/proc", "--expect="]).contains("expected"));
}

#[test]
fn a_device_is_described_as_one() {
    let Some(device) = a_block_device() else {
        eprintln!("skipped: /dev has no block device");
        return;
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
