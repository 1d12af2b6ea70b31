use super::*;
use crate::watch::Unwatched;

fn place() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

#[test]
fn the_directory_goes_with_everything_in_it_and_nothing_else() {
    let parent = place();
    fs::write(parent.path().join("precious"), "mine").unwrap();
    let outside = parent.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("kept"), "kept").unwrap();
    {
        let work = Workplace::open(parent.path(), None, 1 << 20).unwrap();
        fs::create_dir_all(work.file("deep/deeper")).unwrap();
        fs::write(work.file("deep/deeper/file"), "x").unwrap();
        std::os::unix::fs::symlink(&outside, work.file("link")).unwrap();
    }
    let mut left: Vec<_> = fs::read_dir(parent.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["outside", "precious"]);
    assert_eq!(fs::read_to_string(outside.join("kept")).unwrap(), "kept", "the link was not followed");
}

#[test]
fn emptying_keeps_the_marker() {
    let parent = place();
    let work = Workplace::open(parent.path(), None, 0).unwrap();
    fs::write(work.file("data"), "x").unwrap();
    work.empty().unwrap();
    assert!(!work.file("data").exists());
    assert!(work.file(MARKER).exists());
    work.close().unwrap();
    assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
}

#[test]
fn clean_removes_what_a_killed_run_left_and_only_that() {
    let parent = place();
    let work = Workplace::open(parent.path(), None, 0).unwrap();
    fs::write(work.file("data"), vec![1; 10_000]).unwrap();
    let killed = work.directory().to_path_buf();
    std::mem::forget(work);
    let marker = Marker { pid: 4_000_001, ..Marker::of_this_process() };
    fs::write(killed.join(MARKER), serde_json::to_string(&marker).unwrap()).unwrap();

    let foreign = parent.path().join("fsdyno-work-photos");
    fs::create_dir(&foreign).unwrap();
    fs::write(foreign.join("cat.jpg"), "miaow").unwrap();
    let elsewhere = parent.path().join("fsdyno-work-1-0");
    fs::create_dir(&elsewhere).unwrap();
    let marker = Marker { host: "another".into(), ..marker };
    fs::write(elsewhere.join(MARKER), serde_json::to_string(&marker).unwrap()).unwrap();

    let looked = clean(parent.path(), true, false, &mut Unwatched).unwrap();
    assert!(killed.exists(), "looking removes nothing");
    assert!(looked.iter().any(|left| left.outcome == Outcome::Found && left.entries == 2 && left.bytes >= 10_000));

    let cleaned = clean(parent.path(), false, false, &mut Unwatched).unwrap();
    let outcome = |directory: &Path| cleaned.iter().find(|left| left.directory == directory).unwrap().outcome.clone();
    assert_eq!(outcome(&killed), Outcome::Removed);
    assert_eq!(outcome(&foreign), Outcome::NotOurs);
    assert_eq!(outcome(&elsewhere), Outcome::OtherHost("another".into()));
    assert!(!killed.exists() && foreign.join("cat.jpg").exists() && elsewhere.exists());
    clean(parent.path(), false, true, &mut Unwatched).unwrap();
    assert!(!elsewhere.exists());
}

#[test]
fn a_run_that_goes_on_is_left_alone() {
    let parent = place();
    let work = Workplace::open(parent.path(), None, 0).unwrap();
    let marker = Marker { pid: 1, ..Marker::of_this_process() };
    fs::write(work.file(MARKER), serde_json::to_string(&marker).unwrap()).unwrap();
    assert_eq!(clean(parent.path(), false, false, &mut Unwatched).unwrap()[0].outcome, Outcome::InUse(1));
}

#[test]
fn a_place_that_cannot_be_used_is_refused_in_words() {
    let parent = place();
    let missing = Workplace::open(&parent.path().join("no"), None, 0).unwrap_err();
    assert!(missing.what.ends_with("does not exist"), "{}", missing.what);
    fs::write(parent.path().join("file"), "x").unwrap();
    let file = Workplace::open(&parent.path().join("file"), None, 0).unwrap_err();
    assert!(file.what.ends_with("is not a directory"), "{}", file.what);
    let full = Workplace::open(parent.path(), None, 1 << 60).unwrap_err();
    assert!(full.what.contains("beyond 90 %"), "{}", full.what);
    let other = Workplace::open(parent.path(), Some("nfs"), 0).unwrap_err();
    assert!(other.what.contains("was expected to be nfs, but it is"), "{}", other.what);
    assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 1, "a refusal writes nothing");
}

#[test]
fn families_of_filesystems_match() {
    assert!(type_matches("nfs4", "nfs") && type_matches("nfs", "nfs") && type_matches("fuse.s3fs", "s3fs"));
    assert!(type_matches("fuse.s3fs", "fuse") && type_matches("ext4", "ext4"));
    assert!(!type_matches("tmpfs", "nfs") && !type_matches("nfs", "nfs4") && !type_matches("nfsd", "nfs"));
}
