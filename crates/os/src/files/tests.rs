//! Tests of files: opening, sizes, extents, the page cache, and the messages of errors.

use super::*;
use crate::errno;

fn temporary() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    (directory, path)
}

fn create(path: &Path) -> OpenFile {
    OpenFile::open(path, OpenMode { create: true, ..OpenMode::buffered(FileAccess::ReadWrite) }).unwrap()
}

#[test]
fn a_missing_file_leads_on() {
    let (_directory, path) = temporary();
    let error = OpenFile::open(&path, OpenMode::buffered(FileAccess::Read)).unwrap_err();
    assert_eq!((error.cause, error.code), (FileCause::Missing, errno::ENOENT));
    let text = error.to_string();
    assert!(text.starts_with("cannot open for reading "), "{text}");
    assert!(text.contains("file: No such file or directory"), "{text}");
    assert!(text.contains("check the path"), "{text}");
    let below = path.join("deeper");
    let error = OpenFile::open(&below, OpenMode { create: true, ..OpenMode::buffered(FileAccess::Write) }).unwrap_err();
    assert!(error.to_string().contains("a directory of this path does not exist"), "{error}");
}

#[test]
fn a_directory_is_no_file() {
    let (directory, _path) = temporary();
    let error = OpenFile::open(directory.path(), OpenMode::buffered(FileAccess::Write)).unwrap_err();
    assert_eq!(error.cause, FileCause::Directory);
}

#[test]
fn refused_direct_io_is_named() {
    let mode = OpenMode { direct: true, ..OpenMode::buffered(FileAccess::Read) };
    // Files in /proc refuse O_DIRECT on every kernel.
    let error = OpenFile::open(Path::new("/proc/self/stat"), mode).unwrap_err();
    assert_eq!(error.cause, FileCause::DirectRefused);
    let text = error.to_string();
    assert!(text.contains("looks like your file system does not support direct=1/buffered=0"), "{text}");
    assert!(text.contains("Run with direct=0"), "{text}");
    let buffered = FileError::of_open(Path::new("x"), OpenMode::buffered(FileAccess::Read), errno::EINVAL);
    assert_eq!(buffered.cause, FileCause::Other);
}

#[test]
fn refused_transfers_are_explained() {
    let demand = Some(DirectAlignment { memory: 512, offset: 4096 });
    assert!(error::refused_transfer(demand, 0, 512, 4096).contains("multiples of 4096 bytes, not 512"));
    assert!(error::refused_transfer(demand, 512, 4096, 4096).contains("offsets in multiples of 4096 bytes, not 512"));
    assert!(error::refused_transfer(demand, 0, 4096, 256).contains("iomem_align=512"));
    assert!(error::refused_transfer(demand, 0, 4096, 512).contains("for another reason"));
    assert!(error::refused_transfer(None, 0, 4096, 512).contains("does not report the alignment"));
    let none = Some(DirectAlignment { memory: 0, offset: 0 });
    assert!(error::refused_transfer(none, 0, 4096, 512).contains("does not support direct I/O"));
}

#[test]
fn sizes_follow_truncation_and_allocation() {
    let (_directory, path) = temporary();
    let file = create(&path);
    assert_eq!((file.kind(), file.size().unwrap()), (FileKind::Regular, 0));
    file.allocate(Fallocate::None, 4096).unwrap();
    assert_eq!(file.size().unwrap(), 0);
    file.allocate(Fallocate::Truncate, 10_000).unwrap();
    assert_eq!(file.size().unwrap(), 10_000);
    file.allocate(Fallocate::Posix, 20_000).unwrap();
    assert_eq!(file.size().unwrap(), 20_000);
    for (how, size) in [(Fallocate::Keep, 20_000), (Fallocate::Native, 30_000)] {
        match file.allocate(how, 30_000) {
            Ok(()) => assert_eq!(file.size().unwrap(), size, "{how:?}"),
            Err(error) => assert_eq!(error.cause, FileCause::Unsupported, "{error}"),
        }
    }
    file.truncate(5).unwrap();
    assert_eq!(file.size().unwrap(), 5);
    file.close().unwrap();
}

#[test]
fn data_survives_sync_and_cache_drop() {
    let (_directory, path) = temporary();
    let file = create(&path);
    let data: Vec<u8> = (0..9000u32).map(|i| (i % 251) as u8).collect();
    file.write_all_at(&data, 100).unwrap();
    file.sync_data().unwrap();
    file.sync_range(0, 0, 2).unwrap();
    file.sync().unwrap();
    file.sync_filesystem().unwrap();
    for advice in [Advice::Normal, Advice::Random, Advice::Sequential, Advice::NoReuse, Advice::DontNeed] {
        file.advise(advice, 0, 0).unwrap();
    }
    file.drop_cache(0, 0).unwrap();
    let mut back = vec![0; 10_000];
    assert_eq!(file.read_full_at(&mut back, 100).unwrap(), 9000);
    assert_eq!(back[..9000], data[..]);
    file.close().unwrap();
    remove(&path).unwrap();
    assert_eq!(remove(&path).unwrap_err().cause, FileCause::Missing);
}

#[test]
fn close_reports_what_the_system_says() {
    // /dev/full answers writes with ENOSPC; the close itself succeeds.
    let file = OpenFile::open(Path::new("/dev/full"), OpenMode::buffered(FileAccess::Write)).unwrap();
    assert_eq!(file.kind(), FileKind::CharacterDevice);
    let error = file.write_all_at(b"x", 0).unwrap_err();
    assert_eq!(error.cause, FileCause::NoSpace);
    assert!(error.to_string().contains("df -h"), "{error}");
    file.close().unwrap();
}

/// A directory on a filesystem with extents: the build directory, because /tmp may be in memory.
fn on_disk() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir_in(std::env::current_exe().unwrap().parent().unwrap()).unwrap();
    let path = directory.path().join("file");
    (directory, path)
}

#[test]
fn extents_tell_written_from_reserved_from_missing() {
    const MIB: u64 = 1 << 20;
    let (_directory, path) = on_disk();
    let file = create(&path);
    match file.allocate(Fallocate::Native, 4 * MIB) {
        Err(error) if error.cause == FileCause::Unsupported => return eprintln!("skipped: {error}"),
        outcome => outcome.unwrap(),
    }
    file.truncate(8 * MIB).unwrap();
    let reserved = match extents_of(&file, 8 * MIB, true) {
        Ok(extents) => extents,
        Err(error) => return eprintln!("skipped: {error}"),
    };
    assert_eq!((reserved.written_bytes, reserved.unwritten_bytes, reserved.examined_bytes), (0, 4 * MIB, 8 * MIB));
    file.write_all_at(&vec![5; MIB as usize], MIB).unwrap();
    let flushed = extents_of(&file, 8 * MIB, true).unwrap();
    assert_eq!((flushed.written_bytes, flushed.unwritten_bytes, flushed.delayed_bytes), (MIB, 3 * MIB, 0));
    assert!(file.allocated().unwrap() >= 4 * MIB && file.size().unwrap() == 8 * MIB);
}

#[test]
fn a_file_in_many_pieces_is_added_up_over_several_calls() {
    const BLOCK: u64 = 64 << 10;
    let (_directory, path) = on_disk();
    let file = create(&path);
    for piece in 0..600 {
        file.write_all_at(&[1; 4096], piece * BLOCK).unwrap();
    }
    match extents_of(&file, 600 * BLOCK, true) {
        // The blocks of the filesystem may be larger than the written parts.
        Ok(extents) => {
            assert_eq!(extents.count, 600);
            assert!((600 * 4096..600 * BLOCK).contains(&extents.written_bytes), "{extents:?}");
        }
        Err(error) => eprintln!("skipped: {error}"),
    }
}

#[test]
fn pages_of_a_file_are_counted_and_go_away() {
    let (_directory, path) = on_disk();
    let file = create(&path);
    file.write_all_at(&[1; 65536], 0).unwrap();
    let dirty = page_cache_of(&file).unwrap();
    assert_eq!(dirty.cached_bytes, 65536);
    file.sync().unwrap();
    let clean = page_cache_of(&file).unwrap();
    assert!(matches!(clean.dirty_bytes, Some(0) | None), "{clean:?}");
    file.drop_cache(0, 0).unwrap();
    let dropped = page_cache_of(&file).unwrap();
    // Filesystems in memory keep the pages.
    assert!([0, 65536].contains(&dropped.cached_bytes), "{dropped:?}");
}
