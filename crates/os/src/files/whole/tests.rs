//! Tests that a file is written completely or not at all, whatever its name stood for before.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt, symlink};

use super::*;
use crate::system::streams::is_own_descriptor;

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_file_is_replaced_and_nothing_else_is_touched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    fs::write(&path, "before").unwrap();
    for planted in ["run.json.part", ".probe-1"] {
        symlink(&path, folder.path().join(planted)).unwrap();
    }
    let file = WholeFile::claim(&path, Readers::Owner).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"before", "a claim writes nothing");
    file.write(b"after").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"after");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(names(folder.path()), [".probe-1", "run.json", "run.json.part"]);
}

#[test]
fn a_file_that_is_replaced_keeps_its_mode_and_its_owner() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    let state = || {
        let metadata = fs::metadata(&path).unwrap();
        (metadata.permissions().mode() & 0o7777, metadata.uid(), metadata.gid())
    };
    fs::write(&path, "before").unwrap();
    let own = state();
    for (mode, readers, kept) in
        [(0o600, Readers::ByUmask, 0o600), (0o4664, Readers::ByUmask, 0o664), (0o644, Readers::Owner, 0o600)]
    {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        write_whole(&path, readers, b"after").unwrap();
        assert_eq!(state(), (kept, own.1, own.2), "{mode:o} {readers:?}");
    }
    if own.1 == 0 {
        std::os::unix::fs::chown(&path, Some(65534), Some(65533)).unwrap();
        write_whole(&path, Readers::Owner, b"root's").unwrap();
        assert_eq!(state(), (0o600, 65534, 65533));
    }
    assert_eq!(names(folder.path()), ["run.json"]);
}

/// The directory of a service, such as that of node_exporter, belongs to its user, who may put a link in its place.
#[test]
fn root_writes_through_no_link_of_another_user() {
    let folder = tempfile::tempdir().unwrap();
    let [target, link] = ["target", "link"].map(|name| folder.path().join(name));
    fs::create_dir(&target).unwrap();
    symlink(&target, &link).unwrap();
    write_whole(&link.join("own.prom"), Readers::ByUmask, b"1").unwrap();
    assert_eq!(names(&target), ["own.prom"], "a link of one's own is followed");
    if fs::metadata(&target).unwrap().uid() != 0 {
        return;
    }
    std::os::unix::fs::lchown(&link, Some(65534), Some(65534)).unwrap();
    let refused = write_whole(&link.join("more.prom"), Readers::ByUmask, b"1").unwrap_err().to_string();
    assert!(refused.contains("link that another user made, and root does not follow it"), "{refused}");
    assert_eq!(names(&target), ["own.prom"]);
    // A directory of that user is written.
    std::os::unix::fs::chown(&target, Some(65534), Some(65534)).unwrap();
    write_whole(&target.join("more.prom"), Readers::ByUmask, b"1").unwrap();
    assert_eq!(names(&target), ["more.prom", "own.prom"]);
}

#[test]
fn what_is_no_regular_file_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let theirs = folder.path().join("theirs");
    fs::write(&theirs, "precious").unwrap();
    symlink(&theirs, folder.path().join("link")).unwrap();
    symlink(folder.path().join("nowhere"), folder.path().join("dangling")).unwrap();
    fs::create_dir(folder.path().join("sub")).unwrap();
    for name in ["link", "dangling", "sub"] {
        let error = write_whole(&folder.path().join(name), Readers::ByUmask, b"x").unwrap_err();
        assert!(error.to_string().contains(name), "{error}");
    }
    assert!(write_whole(&folder.path().join("missing/file"), Readers::ByUmask, b"x").is_err());
    assert!(write_whole(Path::new("/"), Readers::ByUmask, b"x").is_err());
    assert_eq!(fs::read(&theirs).unwrap(), b"precious");
    assert_eq!(names(folder.path()), ["dangling", "link", "sub", "theirs"]);
}

#[test]
fn a_link_planted_after_the_claim_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (path, theirs) = (folder.path().join("run.json"), folder.path().join("theirs"));
    fs::write(&theirs, "precious").unwrap();
    let file = WholeFile::claim(&path, Readers::ByUmask).unwrap();
    symlink(&theirs, &path).unwrap();
    assert!(file.write(b"x").is_err());
    assert_eq!(fs::read(&theirs).unwrap(), b"precious");
}

#[test]
fn devices_and_pipes_are_written_as_they_are() {
    let null = WholeFile::claim(Path::new("/dev/null"), Readers::ByUmask).unwrap();
    assert!(null.in_place());
    null.write(b"x").unwrap();
    assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());

    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("fifo");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    assert!(WholeFile::claim(&fifo, Readers::ByUmask).is_err(), "a pipe that nobody reads would let us wait");
    let reader = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(&fifo).unwrap();
    write_whole(&fifo, Readers::ByUmask, b"record").unwrap();
    assert_eq!(io::read_to_string(reader).unwrap(), "record");
    assert_eq!(names(folder.path()), ["fifo"]);
}

#[test]
fn descriptors_of_the_caller_are_streams() {
    assert!(is_own_descriptor(Path::new("/dev/stdout")) || !Path::new("/dev/stdout").is_symlink());
    assert!(is_own_descriptor(Path::new("/dev/fd/1")));
    assert!(is_own_descriptor(Path::new("/proc/self/fd/1")));
    assert!(!is_own_descriptor(Path::new("/tmp/fd/1")) && !is_own_descriptor(Path::new("/etc/passwd")));
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test may panic where there is no thread")]
fn many_writers_of_one_file_do_not_meet() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    std::thread::scope(|scope| {
        for letter in [b'a', b'b', b'c', b'd'] {
            let path = &path;
            scope.spawn(move || {
                for _ in 0..20 {
                    write_whole(path, Readers::ByUmask, &[letter; 1000]).unwrap();
                }
            });
        }
    });
    let content = fs::read(&path).unwrap();
    assert!(content.len() == 1000 && content.iter().all(|byte| *byte == content[0]));
    assert_eq!(names(folder.path()), ["run.json"]);
}

#[test]
fn only_old_drafts_of_ours_are_tidied_up() {
    let folder = tempfile::tempdir().unwrap();
    let directory = Directory::open(folder.path()).unwrap();
    let draft = Draft::make(&folder.path().join("run.json"), Readers::Owner).unwrap();
    fs::write(folder.path().join(".fsdyno-draft-0123456789abcdef"), "half").unwrap();
    for other in [".fsdyno-draft-notes", "fsdyno-draft-0123456789abcdef"] {
        fs::write(folder.path().join(other), "theirs").unwrap();
    }
    fs::write(folder.path().join("precious"), "theirs").unwrap();
    fs::hard_link(folder.path().join("precious"), folder.path().join(".fsdyno-draft-fedcba9876543210")).unwrap();
    assert_eq!(remove_old_drafts(&directory, true), 1);
    assert_eq!(names(folder.path()).len(), 6, "looking removes nothing");
    assert_eq!(remove_old_drafts(&directory, false), 1);
    drop(draft);
    assert_eq!(
        names(folder.path()),
        [".fsdyno-draft-fedcba9876543210", ".fsdyno-draft-notes", "fsdyno-draft-0123456789abcdef", "precious"]
    );
}

#[test]
fn what_grows_begins_empty() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("live.ndjson");
    create_growing(&path).unwrap().write_all(b"line\n").unwrap();
    let error = create_growing(&path).unwrap_err();
    assert!(error.to_string().contains("is not empty"), "{error}");
    assert_eq!(fs::read(&path).unwrap(), b"line\n");
    fs::write(&path, "").unwrap();
    assert!(create_growing(&path).is_ok() && create_growing(Path::new("/dev/null")).is_ok());
    symlink(&path, folder.path().join("link")).unwrap();
    assert!(create_growing(&folder.path().join("link")).is_err());
}
