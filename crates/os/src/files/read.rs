//! Reads whole files. No other code of the program reads a file in one piece. The size is limited: a file with more
//! bytes than a caller can use is refused. Where a file is expected, it never waits for a pipe.

use std::fs::{File, Metadata};
use std::io::{Error, ErrorKind, Read, Result};
use std::path::Path;

use crate::system::{files, streams};

/// Largest size of a small file: configuration, profiles, names of runs, patterns, states.
pub const SMALL_FILE_BYTES_MAX: u64 = 16 << 20;

/// Changes when the content of a file changes: its length, its times of change, its inode.
pub type Stamp = [u64; 4];

/// The content of a regular file, links followed. No other kind of file is opened, because opening a device can have
/// effects.
///
/// # Errors
/// If it does not exist, is not a regular file, or is longer.
pub fn read_whole(path: &Path, bytes_max: u64) -> Result<Vec<u8>> {
    stamp_of(path)?;
    let file = streams::open_to_read(path)?;
    let metadata = file.metadata()?;
    // The file may have been replaced since the first look.
    regular(&metadata)?;
    if metadata.len() > bytes_max {
        return Err(too_long(bytes_max));
    }
    read_at_most(file, bytes_max)
}

/// The content as text.
///
/// # Errors
/// See [`read_whole`]; also if it is not UTF-8.
pub fn read_text(path: &Path, bytes_max: u64) -> Result<String> {
    text(read_whole(path, bytes_max)?)
}

/// The content of a file or pipe that the user named, read once. It waits for the writer of a pipe.
///
/// # Errors
/// If it cannot be read, or is longer: a device may never end.
pub fn read_stream(path: &Path, bytes_max: u64) -> Result<Vec<u8>> {
    read_at_most(File::open(path)?, bytes_max)
}

/// All bytes of a source.
///
/// # Errors
/// If reading fails, or if there are more than `bytes_max` bytes.
pub fn read_at_most(from: impl Read, bytes_max: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(bytes_max + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max { Err(too_long(bytes_max)) } else { Ok(bytes) }
}

/// Bytes as text.
///
/// # Errors
/// If they are not UTF-8.
pub fn text(bytes: Vec<u8>) -> Result<String> {
    String::from_utf8(bytes).map_err(|_| Error::new(ErrorKind::InvalidData, "it is not valid UTF-8"))
}

/// The stamp of a regular file, links followed.
///
/// # Errors
/// If it does not exist, or is not a regular file.
pub fn stamp_of(path: &Path) -> Result<Stamp> {
    let metadata = std::fs::metadata(path)?;
    regular(&metadata).map(|()| files::stamp(&metadata))
}

fn regular(metadata: &Metadata) -> Result<()> {
    match () {
        () if metadata.is_file() => Ok(()),
        () if metadata.is_dir() => Err(Error::new(ErrorKind::InvalidInput, "it is a directory")),
        () => Err(Error::new(ErrorKind::InvalidInput, "it is not a regular file")),
    }
}

fn too_long(bytes_max: u64) -> Error {
    Error::new(ErrorKind::FileTooLarge, format!("it holds more than {bytes_max} bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_of_a_length_that_can_be_used_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("file"), [7; 100]).unwrap();
        std::os::unix::fs::symlink("file", path("link")).unwrap();
        for name in ["file", "link"] {
            assert_eq!(read_whole(&path(name), 100).unwrap(), [7; 100]);
            assert_eq!(read_whole(&path(name), 99).unwrap_err().to_string(), "it holds more than 99 bytes");
        }
        File::create(path("sparse")).unwrap().set_len(3 << 30).unwrap();
        assert!(read_whole(&path("sparse"), 1 << 30).unwrap_err().to_string().contains("more than 1073741824 bytes"));
        rustix::fs::mkfifoat(rustix::fs::CWD, path("pipe"), rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
        std::os::unix::fs::symlink("/dev/zero", path("zero")).unwrap();
        std::os::unix::fs::symlink("pipe", path("to-pipe")).unwrap();
        for name in ["pipe", "to-pipe", "zero"] {
            assert_eq!(read_whole(&path(name), 100).unwrap_err().to_string(), "it is not a regular file", "{name}");
        }
        assert_eq!(read_whole(folder.path(), 100).unwrap_err().to_string(), "it is a directory");
        assert_eq!(read_whole(&path("none"), 100).unwrap_err().kind(), ErrorKind::NotFound);
    }

    #[test]
    fn a_stream_without_an_end_is_refused() {
        assert!(read_stream(Path::new("/dev/zero"), 99).unwrap_err().to_string().contains("more than 99 bytes"));
        assert!(read_stream(Path::new("/dev/null"), 99).unwrap().is_empty());
        assert_eq!(read_at_most(&[7; 100][..], 100).unwrap(), [7; 100]);
    }

    #[test]
    fn another_content_has_another_stamp() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        super::super::write_whole(&path, super::super::Readers::Owner, b"one").unwrap();
        let stamp = stamp_of(&path).unwrap();
        assert_eq!(stamp_of(&path).unwrap(), stamp);
        super::super::write_whole(&path, super::super::Readers::Owner, b"two").unwrap();
        assert_ne!(stamp_of(&path).unwrap(), stamp, "as long, and written within a tick of the clock");
    }
}
