use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use super::*;

const MIB: u64 = 1 << 20;

fn content() -> fsdyno_job::Content {
    fsdyno_job::Content { zero: false, refill: false, scramble: true, pattern: None, compress: None, dedupe: None }
}

/// The layout request of a job that reads.
fn request<'job>(path: &'job Path, bytes_needed: u64, content: &'job fsdyno_job::Content) -> LayoutRequest<'job> {
    LayoutRequest {
        reach: &Reach::ByPath,
        path,
        bytes_needed,
        method: LayoutMethod::Fill,
        fallocate: Fallocate::Native,
        content,
        block_bytes: 4096,
        seed: 7,
        create_fsync: true,
    }
}

fn run(request: &LayoutRequest<'_>) -> Result<LaidOut, LayoutError> {
    let mut watcher = |_| ();
    lay_out(request, &mut Meter::new(request.bytes_needed, &mut watcher), &AtomicBool::new(false))
}

/// A temporary directory on a disk where there is one: the usual one may be in memory.
fn directory() -> tempfile::TempDir {
    tempfile::tempdir_in(".").unwrap()
}

#[test]
fn a_reader_gets_a_file_full_of_data() {
    let directory = directory();
    let path = directory.path().join("new");
    let content = content();
    for fallocate in [Fallocate::Native, Fallocate::None, Fallocate::Keep, Fallocate::Posix, Fallocate::Truncate] {
        let bytes = 3 * MIB + 100;
        let made = run(&LayoutRequest { fallocate, ..request(&path, bytes, &content) }).unwrap();
        assert!(matches!(made, LaidOut::Made { unreserved: None }), "{fallocate:?}: {made:?}");
        let metadata = path.metadata().unwrap();
        assert_eq!(metadata.len(), bytes, "{fallocate:?}");
        assert!(metadata.blocks() * 512 >= bytes, "{fallocate:?}: really there");
        let data = std::fs::read(&path).unwrap();
        assert!(data.chunks(4096).all(|block| block.iter().any(|byte| *byte != 0)), "{fallocate:?}: really written");
        std::fs::remove_file(&path).unwrap();
    }
}

#[test]
fn permissions_are_those_of_a_usual_file_and_a_private_directory() {
    let directory = directory();
    let path = directory.path().join("a/b/file");
    run(&request(&path, 100, &content())).unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o644);
    assert_eq!(mode(&directory.path().join("a")), 0o700);
    assert_eq!(mode(&directory.path().join("a/b")), 0o700);
}

#[test]
fn a_file_that_serves_is_not_touched() {
    let directory = directory();
    let path = directory.path().join("old");
    std::fs::write(&path, b"0123456789").unwrap();
    let before = path.metadata().unwrap();
    assert!(matches!(run(&request(&path, 10, &content())).unwrap(), LaidOut::Untouched));
    let after = path.metadata().unwrap();
    assert_eq!((before.ino(), before.len(), before.mtime_nsec()), (after.ino(), after.len(), after.mtime_nsec()));
}

#[test]
fn a_short_file_is_made_anew() {
    let directory = directory();
    let path = directory.path().join("old");
    std::fs::write(&path, b"0123456789").unwrap();
    let mut held = std::fs::File::open(&path).unwrap();
    run(&request(&path, 11, &content())).unwrap();
    let data = std::fs::read(&path).unwrap();
    assert_eq!(data.len(), 11);
    assert_ne!(&data[..10], b"0123456789", "not extended: replaced");
    let mut old = String::new();
    std::io::Read::read_to_string(&mut held, &mut old).unwrap();
    assert_eq!(old, "0123456789", "who holds the old one keeps it");
}

#[test]
fn a_link_is_followed() {
    let directory = directory();
    let (link, target) = (directory.path().join("link"), directory.path().join("target"));
    symlink("target", &link).unwrap();
    run(&request(&link, 1000, &content())).unwrap();
    assert!(link.is_symlink());
    assert_eq!(target.metadata().unwrap().len(), 1000);
    run(&request(&link, 2000, &content())).unwrap();
    assert!(link.is_symlink());
    assert_eq!(target.metadata().unwrap().len(), 2000);
}

#[test]
fn what_is_no_file_is_left_alone() {
    let content = content();
    assert!(matches!(run(&request(Path::new("/dev/null"), 1000, &content)).unwrap(), LaidOut::Untouched));
    let directory = directory();
    let error = run(&request(directory.path(), 1000, &content)).unwrap_err();
    assert_eq!(error.function(), "unlink");
    assert!(directory.path().is_dir());
}

#[test]
fn a_writer_gets_space_but_no_data() {
    let directory = directory();
    let path = directory.path().join("new");
    let content = content();
    let cases = [
        (Fallocate::None, 0, false),
        (Fallocate::Native, MIB, true),
        (Fallocate::Posix, MIB, true),
        (Fallocate::Keep, 0, true),
        (Fallocate::Truncate, MIB, false),
    ];
    for (fallocate, length, reserved) in cases {
        let request = LayoutRequest { method: LayoutMethod::Reserve, fallocate, ..request(&path, MIB, &content) };
        match run(&request).unwrap() {
            LaidOut::Made { unreserved: None } => {}
            other => {
                eprintln!("skipped: this file system does not reserve space ({fallocate:?}: {other:?})");
                return;
            }
        }
        let metadata = path.metadata().unwrap();
        assert_eq!(metadata.len(), length, "{fallocate:?}");
        assert_eq!(metadata.blocks() * 512 >= MIB, reserved, "{fallocate:?}");
        std::fs::remove_file(&path).unwrap();
    }
}

/// No filesystem holds a file of this size.
const TOO_MUCH: u64 = i64::MAX as u64 - 1;

#[test]
fn a_reservation_that_fails_is_told_and_the_writer_goes_on() {
    let directory = directory();
    let path = directory.path().join("new");
    let content = content();
    let request = LayoutRequest { method: LayoutMethod::Reserve, ..request(&path, TOO_MUCH, &content) };
    let LaidOut::Made { unreserved: Some(error) } = run(&request).unwrap() else { panic!("a limit is missing") };
    if error.cause == FileCause::Unsupported {
        eprintln!("skipped: this file system does not reserve space");
        return;
    }
    assert_eq!(error.cause, FileCause::NoSpace, "{error}");
    assert!(path.exists());

    let error = run(&LayoutRequest { fallocate: Fallocate::Keep, ..request }).unwrap_err();
    assert_eq!(error.function(), "fallocate", "asked for by name, so it must be had");
    assert!(!path.exists());
}

#[test]
fn a_disk_that_is_too_small_is_found_first_and_left_clean() {
    let directory = directory();
    let path = directory.path().join("new");
    let content = content();
    let stop = AtomicBool::new(false);
    // Stops at the first chunk: on a filesystem that does not reserve space the test must not fill it.
    let mut watcher = |_| stop.store(true, Ordering::Relaxed);
    let error =
        lay_out(&request(&path, TOO_MUCH, &content), &mut Meter::new(TOO_MUCH, &mut watcher), &stop).unwrap_err();
    assert!(!path.exists());
    if matches!(error, LayoutError::Interrupted { .. }) {
        eprintln!("skipped: this file system does not reserve space");
        return;
    }
    assert_eq!(error.function(), "write");
    assert!([27, 28].contains(&error.code()), "EFBIG or ENOSPC: {error}");
    assert!(!stop.into_inner(), "nothing was written");
}

#[test]
fn a_layout_that_is_stopped_leaves_nothing() {
    let directory = directory();
    let path = directory.path().join("new");
    let content = content();
    let stop = AtomicBool::new(false);
    let mut lengths = Vec::new();
    let mut watcher = |progress: Progress| {
        lengths.push((progress.bytes_done, path.metadata().unwrap().len()));
        stop.store(progress.bytes_done >= 3 * MIB, Ordering::Relaxed);
    };
    let request = request(&path, 64 * MIB, &content);
    let error = lay_out(&request, &mut Meter::new(64 * MIB, &mut watcher), &stop).unwrap_err();
    assert!(matches!(error, LayoutError::Interrupted { .. }), "{error}");
    assert!(!path.exists());
    assert_eq!(lengths, [(MIB, MIB), (2 * MIB, 2 * MIB), (3 * MIB, 3 * MIB)], "never longer than what is written");
}

#[test]
fn a_stopped_layout_through_a_link_leaves_an_empty_target() {
    let directory = directory();
    let link = directory.path().join("link");
    symlink("target", &link).unwrap();
    let content = content();
    let error = lay_out(&request(&link, MIB, &content), &mut Meter::new(MIB, &mut |_| ()), &AtomicBool::new(true));
    assert!(error.is_err());
    assert_eq!(link.metadata().unwrap().len(), 0);
}

#[test]
fn directories_that_cannot_be_made_are_named() {
    let directory = directory();
    std::fs::write(directory.path().join("file"), "x").unwrap();
    let path = directory.path().join("file/below/new");
    let error = run(&request(&path, 10, &content())).unwrap_err();
    assert_eq!((error.function(), error.code()), ("mkdir", 20));
    assert!(error.to_string().contains("file/below"), "{error}");
}

#[test]
fn several_windows_are_written_behind() {
    let directory = directory();
    let path = directory.path().join("new");
    let content = fsdyno_job::Content { pattern: Some(b"pattern!".to_vec()), ..content() };
    let bytes = 100 * MIB + 5;
    run(&request(&path, bytes, &content)).unwrap();
    let data = std::fs::read(&path).unwrap();
    assert_eq!(data.len() as u64, bytes);
    assert!(data.chunks(8).all(|piece| *piece == b"pattern!"[..piece.len()]));
}

#[test]
fn no_two_blocks_are_alike() {
    let directory = directory();
    let path = directory.path().join("new");
    run(&request(&path, 3 * MIB, &content())).unwrap();
    let data = std::fs::read(&path).unwrap();
    let blocks: std::collections::HashSet<&[u8]> = data.chunks(512).collect();
    assert_eq!(blocks.len() as u64, 3 * MIB / 512);
}

#[test]
fn a_pattern_begins_anew_with_each_block_whatever_its_size() {
    let directory = directory();
    let path = directory.path().join("new");
    let content = fsdyno_job::Content { pattern: Some(b"0123456789".to_vec()), ..content() };
    for block_bytes in [4_u64, 700_001, 1_500_003] {
        let bytes = block_bytes * 2 + 3;
        run(&LayoutRequest { block_bytes, ..request(&path, bytes, &content) }).unwrap();
        let data = std::fs::read(&path).unwrap();
        for block in data.chunks(block_bytes as usize) {
            assert!(block.iter().zip((b'0'..=b'9').cycle()).all(|(byte, expected)| *byte == expected), "{block_bytes}");
        }
        std::fs::remove_file(&path).unwrap();
    }
}

#[test]
fn the_parts_of_all_ranks_are_the_file_when_the_rest_is_there() {
    let directory = directory();
    let path = directory.path().join("shared");
    let content = content();
    for bytes in [1, MIB, 3 * MIB + 100, 10 * MIB] {
        let request = request(&path, bytes, &content);
        let mut watcher = |_| ();
        let mut meter = Meter::new(bytes, &mut watcher);
        let mut fill = |range| fill_range(&request, range, &mut meter, &AtomicBool::new(false)).unwrap();
        assert!(make_empty(&request).unwrap());
        let mut end = 0;
        for number in [0, 1, 2] {
            let range = LayoutPart { number, of: 3 }.range(&request);
            assert_eq!(std::mem::replace(&mut end, range.end), range.start);
            fill(range);
        }
        assert!(path.metadata().unwrap().len() < bytes, "it is seen as incomplete");
        assert!(has_all_parts(&request, end) && !has_all_parts(&request, end + 1));
        let rest = LayoutPart { number: 0, of: 3 }.rest(&request);
        assert_eq!((rest.start, rest.end), (end, bytes));
        fill(rest);
        assert!(!make_empty(&request).unwrap(), "it serves");
        let data = std::fs::read(&path).unwrap();
        let blocks: std::collections::HashSet<&[u8]> = data.chunks(4096).collect();
        assert_eq!((data.len() as u64, blocks.len() as u64), (bytes, bytes.div_ceil(4096)), "no block is there twice");
        take_back(&request);
        assert!(!path.exists());
    }
}
