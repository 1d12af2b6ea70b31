use std::fs;
use std::os::unix::fs::symlink;

use super::*;
use crate::watch::SilentWatcher;

fn place() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn open(path: &Path) -> WorkDirectory {
    WorkDirectory::open(path, None, SpaceNeeds::default(), &Arc::default()).unwrap()
}

fn names(path: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Makes a directory as a killed run leaves it: with a file, and a marker that nobody locks.
fn leave_behind(parent: &Path, name: &str, change: impl FnOnce(&mut Marker)) -> PathBuf {
    let directory = parent.join(name);
    fs::create_dir(&directory).unwrap();
    fs::write(directory.join("data"), vec![1; 10_000]).unwrap();
    let mut marker = Marker::of_this_process(SpaceNeeds::default());
    change(&mut marker);
    fs::write(directory.join(marker::NAME), marker.to_bytes()).unwrap();
    directory
}

fn cleaned(path: &Path, options: CleanOptions) -> Vec<(String, Outcome)> {
    let name = |left: &LeftoverDirectory| left.directory.file_name().unwrap().to_str().unwrap().to_owned();
    let left = clean(path, options, &mut SilentWatcher).unwrap().left;
    left.into_iter().map(|left| (name(&left), left.outcome)).collect()
}

fn outcome(path: &Path, options: CleanOptions) -> Outcome {
    let mut all = cleaned(path, options);
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0).1
}

#[test]
fn everything_that_was_made_goes_and_nothing_else() {
    let parent = place();
    fs::write(parent.path().join("precious"), "mine").unwrap();
    let outside = parent.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("kept"), "kept").unwrap();
    {
        let work = open(parent.path());
        fs::create_dir_all(work.file("deep/deeper")).unwrap();
        fs::write(work.file("deep/deeper/file"), "x").unwrap();
        symlink(&outside, work.file("link")).unwrap();
        assert_eq!(work.check(), Ok(()));
    }
    assert_eq!(names(parent.path()), ["outside", "precious"]);
    assert_eq!(fs::read_to_string(outside.join("kept")).unwrap(), "kept", "the link was not followed");
}

#[test]
fn emptied_it_is_still_ours() {
    let parent = place();
    let work = open(parent.path());
    fs::write(work.file("data"), "x").unwrap();
    work.empty().unwrap();
    assert_eq!(names(work.directory()), [marker::NAME]);
    assert_eq!(work.check(), Ok(()));
    work.close(false, &mut |_| {}).unwrap();
    assert!(names(parent.path()).is_empty());
}

/// Somebody moves the directory away and puts a link, or a directory of their own, in its place.
#[test]
fn what_is_put_in_its_place_is_not_touched() {
    for link in [true, false] {
        let parent = place();
        let victim = parent.path().join("victim");
        fs::create_dir_all(victim.join("sub")).unwrap();
        fs::write(victim.join("sub/b.txt"), "precious").unwrap();
        let work = open(parent.path());
        let path = work.directory().to_owned();
        fs::write(work.file("data"), "x").unwrap();
        fs::rename(&path, parent.path().join("stolen")).unwrap();
        if link {
            symlink(&victim, &path).unwrap()
        } else {
            fs::rename(&victim, &path).unwrap()
        }
        work.close(false, &mut |_| {}).unwrap();
        assert_eq!(fs::read_to_string(path.join("sub/b.txt")).unwrap(), "precious");
        assert!(!parent.path().join("stolen").exists(), "ours is found where it is now");
    }
}

#[test]
fn a_directory_that_somebody_removed_is_told() {
    let parent = place();
    let work = open(parent.path());
    fs::remove_dir_all(work.directory()).unwrap();
    let lost = work.check().unwrap_err();
    assert!(lost.what.contains("was removed during the run"), "{lost}");
    work.close(false, &mut |_| {}).unwrap();
    // The replacement has a marker of its own, but it is a different directory.
    let work = open(parent.path());
    fs::remove_file(work.file(marker::NAME)).unwrap();
    fs::write(work.file(marker::NAME), Marker::of_this_process(SpaceNeeds::default()).to_bytes()).unwrap();
    assert!(work.check().is_err());
}

#[test]
fn a_killed_run_is_cleaned_up_and_others_are_not() {
    let parent = place();
    let path = parent.path();
    leave_behind(path, "fsdyno-work-1-killed", |_| ());
    leave_behind(path, "fsdyno-work-2-elsewhere", |marker| {
        (marker.host, marker.machine, marker.boot) = ("another".into(), Some("m".into()), Some("b".into()));
    });
    // The same name on another machine: only boot id and installation differ.
    leave_behind(path, "fsdyno-work-3-twin", |marker| {
        (marker.machine, marker.boot) = (Some("m".into()), Some("b".into()));
    });
    leave_behind(path, "fsdyno-work-4-nameless", |marker| (marker.machine, marker.boot) = (None, Some("b".into())));
    fs::create_dir(path.join("fsdyno-work-5-photos")).unwrap();
    fs::write(path.join("fsdyno-work-5-photos/cat.jpg"), "miaow").unwrap();
    fs::create_dir(path.join("fsdyno-work-6-unmarked")).unwrap();
    fs::create_dir(path.join("fsdyno-work-7-halfmarked")).unwrap();
    fs::write(path.join("fsdyno-work-7-halfmarked").join(marker::NAME), "").unwrap();

    let look = CleanOptions { only_look: true, ..CleanOptions::default() };
    let found = clean(path, look, &mut SilentWatcher).unwrap().left;
    assert_eq!((found.len(), names(path).len()), (7, 7), "looking removes nothing");
    assert!(
        matches!(found[0], LeftoverDirectory { weight: Some((2, 10_000..)), outcome: Outcome::Found, .. }),
        "{:?}",
        found[0]
    );

    let all: Vec<Outcome> = cleaned(path, CleanOptions::default()).into_iter().map(|(_, outcome)| outcome).collect();
    let host = fsdyno_probe::host_name().unwrap_or_default();
    let elsewhere = |name: &str| Outcome::OtherHost(name.to_owned());
    let removed = Outcome::Removed;
    assert_eq!(
        all,
        [
            removed.clone(),
            elsewhere("another"),
            elsewhere(&host),
            elsewhere(&host),
            Outcome::NotOurs,
            removed.clone(),
            removed
        ]
    );
    clean(path, CleanOptions { others: true, ..CleanOptions::default() }, &mut SilentWatcher).unwrap();
    assert_eq!(names(path), ["fsdyno-work-5-photos"]);
    assert!(path.join("fsdyno-work-5-photos/cat.jpg").exists());
}

#[test]
fn a_run_before_the_machine_was_started_again_is_over() {
    let parent = place();
    if fsdyno_probe::kernel().machine.is_none() {
        println!("skipped: this machine has no /etc/machine-id");
        return;
    }
    leave_behind(parent.path(), "fsdyno-work-1-0", |marker| marker.boot = Some("before".into()));
    assert_eq!(outcome(parent.path(), CleanOptions::default()), Outcome::Removed);
}

/// A lock shows that the run goes on, even where its process number means nothing (another process namespace).
#[test]
fn a_run_that_goes_on_is_left_alone() {
    let parent = place();
    let work = open(parent.path());
    let gone = Marker { pid: 4_000_000_001, pid_namespace: Some(1), ..work.marker() };
    work.held.as_ref().unwrap().write(&gone).unwrap();
    for options in [CleanOptions::default(), CleanOptions { others: true, any_owner: true, ..CleanOptions::default() }]
    {
        assert_eq!(outcome(parent.path(), options), Outcome::InUse(gone.pid));
    }
    assert_eq!(work.check(), Ok(()));
}

#[test]
fn what_only_looks_like_a_marker_is_none() {
    let parent = place();
    let path = parent.path();
    let victim = path.join("victim");
    fs::write(&victim, "precious").unwrap();
    let forged = |name: &str| {
        let directory = path.join(name);
        fs::create_dir(&directory).unwrap();
        fs::write(directory.join("data"), "x").unwrap();
        directory.join(marker::NAME)
    };
    let marker = Marker::of_this_process(SpaceNeeds::default()).to_bytes();
    fs::write(path.join("a marker elsewhere"), &marker).unwrap();
    symlink(path.join("a marker elsewhere"), forged("fsdyno-work-link")).unwrap();
    symlink("/dev/zero", forged("fsdyno-work-zero")).unwrap();
    let fifo = forged("fsdyno-work-fifo");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    fs::create_dir(forged("fsdyno-work-directory")).unwrap();
    fs::hard_link(path.join("a marker elsewhere"), forged("fsdyno-work-hard")).unwrap();
    fs::write(forged("fsdyno-work-json"), "{\"pid\":1}").unwrap();
    fs::write(forged("fsdyno-work-text"), "yes, remove it all").unwrap();
    let text = String::from_utf8(marker.clone()).unwrap();
    fs::write(forged("fsdyno-work-version"), text.replace("\"version\":1", "\"version\":9")).unwrap();
    fs::write(forged("fsdyno-work-long"), [marker, vec![b' '; 9000]].concat()).unwrap();
    // A device needs root.
    let made = rustix::fs::mknodat(
        rustix::fs::CWD,
        forged("fsdyno-work-device"),
        rustix::fs::FileType::CharacterDevice,
        mode,
        rustix::fs::makedev(1, 5),
    );
    if made.is_err() {
        println!("a device as a marker is left out: only root makes devices");
    }
    for (name, outcome) in cleaned(path, CleanOptions { others: true, ..CleanOptions::default() }) {
        assert_eq!(outcome, Outcome::NotOurs, "{name}");
        assert!(path.join(&name).join("data").exists(), "{name}");
    }
}

/// Exchanges a directory, while it is cleaned, for a link to another's files and back, repeatedly: each night
/// `cargo xtask sentences` sets `FSDYNO_CASES` to 5,000.
#[test]
#[expect(clippy::disallowed_methods, reason = "a test may panic where there is no thread")]
fn an_exchange_while_it_is_cleaned_leads_nowhere() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let parent = place();
    let path = parent.path();
    let victim = path.join("victim");
    fs::create_dir(&victim).unwrap();
    fs::write(victim.join("file"), "precious").unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                for entry in fs::read_dir(path).unwrap().flatten() {
                    let (sub, aside) = (entry.path().join("sub"), path.join("aside"));
                    if fs::rename(&sub, &aside).is_ok() {
                        let _ = symlink(&victim, &sub);
                        let _ = fs::remove_file(&sub);
                        let _ = fs::rename(&aside, &sub);
                    }
                }
            }
        });
        let _ends = testkit::Ends(&stop);
        for (round, _) in testkit::draw::cases(60) {
            let directory = leave_behind(path, &format!("fsdyno-work-{round}"), |_| ());
            // The other thread may have moved it already.
            let _ = fs::create_dir(directory.join("sub"));
            for file in 0..5 {
                let _ = fs::write(directory.join(format!("sub/bait{file}")), "bait");
            }
            clean(path, CleanOptions::default(), &mut SilentWatcher).unwrap();
            assert_eq!(fs::read(victim.join("file")).unwrap(), b"precious", "round {round}");
        }
    });
}

/// Somebody puts their own directory in the place of ours before it is marked: the owner shows it.
#[test]
fn a_directory_of_another_user_is_not_taken_for_ours() {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: a second user needs root");
        return;
    }
    let parent = place();
    let directory = Directory::open(parent.path()).unwrap();
    let held = LockedMarker::make(&directory, &Marker::of_this_process(SpaceNeeds::default())).unwrap();
    check_owner(&directory, &held).unwrap();
    std::os::unix::fs::chown(parent.path(), Some(54_321), None).unwrap();
    fs::write(parent.path().join("theirs"), "precious").unwrap();
    let refused = check_owner(&directory, &held).unwrap_err();
    assert!(refused.what.ends_with("was replaced while it was made"), "{refused}");
    assert_eq!(names(parent.path()), ["theirs"]);
}

#[test]
fn drafts_are_told() {
    let parent = place();
    fs::write(parent.path().join(".fsdyno-draft-0123456789abcdef"), "half").unwrap();
    let look = CleanOptions { only_look: true, ..CleanOptions::default() };
    for (options, left) in [(look, 1), (CleanOptions::default(), 0)] {
        assert_eq!(clean(parent.path(), options, &mut SilentWatcher).unwrap().drafts, 1);
        assert_eq!(names(parent.path()).len(), left);
    }
}

#[test]
fn claims_of_runs_on_one_filesystem_add_up() {
    let parent = place();
    let space = Directory::open(parent.path()).unwrap().space().unwrap();
    let usable = usable_bytes(parent.path()).unwrap();
    let most = SpaceNeeds::bytes(usable / 3 * 2);
    let control = Arc::default();
    let first = WorkDirectory::open(parent.path(), None, most, &control).unwrap();
    let second = WorkDirectory::open(parent.path(), None, most, &control).unwrap_err();
    assert!(second.what.contains("other runs there have reserved"), "{second}");
    assert_eq!(names(parent.path()).len(), 1, "a refusal leaves nothing");
    assert!(first.reserve_space(most).is_ok(), "its own claim is not in its way");
    assert!(first.reserve_space(SpaceNeeds::bytes(space.total_bytes)).is_err());
    first.reserve_space(SpaceNeeds::default()).unwrap();
    let again = WorkDirectory::open(parent.path(), None, most, &control).unwrap();
    drop((first, again));
    assert!(names(parent.path()).is_empty());
}

#[test]
fn a_place_that_cannot_be_used_is_refused_in_words() {
    let parent = place();
    let open = |path: &Path, expected: Option<&str>, bytes: u64| {
        WorkDirectory::open(path, expected, SpaceNeeds::bytes(bytes), &Arc::default()).unwrap_err()
    };
    let missing = open(&parent.path().join("no"), None, 0);
    assert!(missing.what.ends_with("does not exist"), "{}", missing.what);
    fs::write(parent.path().join("file"), "x").unwrap();
    let file = open(&parent.path().join("file"), None, 0);
    assert!(file.what.ends_with("is not a directory"), "{}", file.what);
    let full = open(parent.path(), None, 1 << 60);
    assert!(full.what.contains("below the limit of 90 %"), "{}", full.what);
    let other = open(parent.path(), Some("nfs"), 0);
    assert!(other.what.contains("should be nfs, but it is"), "{}", other.what);
    assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 1, "a refusal writes nothing");
}

#[test]
fn families_of_filesystems_match() {
    assert!(type_matches("nfs4", "nfs") && type_matches("nfs", "nfs") && type_matches("fuse.s3fs", "s3fs"));
    assert!(type_matches("fuse.s3fs", "fuse") && type_matches("ext4", "ext4"));
    assert!(!type_matches("tmpfs", "nfs") && !type_matches("nfs", "nfs4") && !type_matches("nfsd", "nfs"));
}
