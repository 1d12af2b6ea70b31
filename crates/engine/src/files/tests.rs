use super::*;

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
    assert_eq!((error.cause, error.code), (FileCause::Missing, libc::ENOENT));
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
    // proc files refuse O_DIRECT on every kernel.
    let error = OpenFile::open(Path::new("/proc/self/stat"), mode).unwrap_err();
    assert_eq!(error.cause, FileCause::DirectRefused);
    let text = error.to_string();
    assert!(text.contains("looks like your file system does not support direct=1/buffered=0"), "{text}");
    assert!(text.contains("run with direct=0"), "{text}");
    let buffered = FileError::of_open(Path::new("x"), OpenMode::buffered(FileAccess::Read), libc::EINVAL);
    assert_eq!(buffered.cause, FileCause::Other);
}

#[test]
fn refused_transfers_are_explained() {
    let demand = Some(DirectAlignment { memory: 512, offset: 4096 });
    assert!(error::refused_transfer(demand, 0, 512, 4096).contains("multiples of 4096 bytes, not 512"));
    assert!(error::refused_transfer(demand, 512, 4096, 4096).contains("offsets in multiples of 4096 bytes, not 512"));
    assert!(error::refused_transfer(demand, 0, 4096, 256).contains("iomem_align=512"));
    assert!(error::refused_transfer(demand, 0, 4096, 512).contains("reason of its own"));
    assert!(error::refused_transfer(None, 0, 4096, 512).contains("does not say"));
    let none = Some(DirectAlignment { memory: 0, offset: 0 });
    assert!(error::refused_transfer(none, 0, 4096, 512).contains("takes no direct I/O"));
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
    // /dev/full takes writes with ENOSPC; the close itself succeeds.
    let file = OpenFile::open(Path::new("/dev/full"), OpenMode::buffered(FileAccess::Write)).unwrap();
    assert_eq!(file.kind(), FileKind::CharacterDevice);
    let error = file.write_all_at(b"x", 0).unwrap_err();
    assert_eq!(error.cause, FileCause::NoSpace);
    assert!(error.to_string().contains("df -h"), "{error}");
    file.close().unwrap();
}
