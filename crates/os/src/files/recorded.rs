//! Logs of recorded I/O: read once from the beginning, then at any offset. The data of a pipe or socket is stored in
//! a file without a name, so that it can be read again.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

use super::unguessable;
use crate::system::fd::AsFd;
use crate::system::files as system;
use crate::system::streams;

/// A log that is read from its beginning to its end.
pub struct RecordedInput {
    from: Box<dyn Read>,
    /// A copy of what was read, if it cannot be read again; otherwise the file itself.
    kept: File,
    keeps: bool,
}

/// A log that can be read at any offset.
#[derive(Debug)]
pub struct RecordedLog(File);

impl RecordedInput {
    /// Opens a file, connects to a socket, or takes the standard input for `-`. It waits for the writer of a pipe.
    ///
    /// # Errors
    /// If it does not exist, or if there is no space for the copy of a stream.
    pub fn open(path: &Path) -> io::Result<RecordedInput> {
        if path == Path::new("-") {
            return RecordedInput::of_stream(Box::new(io::stdin()));
        }
        if let Some(socket) = streams::connect(path)? {
            return RecordedInput::of_stream(socket);
        }
        let file = File::open(path)?;
        match file.metadata()? {
            metadata if metadata.is_file() => {
                let kept = file.try_clone()?;
                Ok(RecordedInput { from: Box::new(file), kept, keeps: false })
            }
            metadata if metadata.is_dir() => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is a directory")),
            _ => RecordedInput::of_stream(Box::new(file)),
        }
    }

    fn of_stream(from: Box<dyn Read>) -> io::Result<RecordedInput> {
        Ok(RecordedInput { from, kept: nameless()?, keeps: true })
    }

    /// The log, for reading it again.
    pub fn into_log(self) -> RecordedLog {
        RecordedLog(self.kept)
    }
}

impl Read for RecordedInput {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let length = self.from.read(into)?;
        if self.keeps {
            self.kept.write_all(&into[..length])?;
        }
        Ok(length)
    }
}

impl RecordedLog {
    /// Reads bytes from `offset` on; 0: the end.
    ///
    /// # Errors
    /// The filesystem's error.
    pub fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize> {
        system::read_full_at(self.0.as_fd(), into, offset).map_err(io::Error::from_raw_os_error)
    }
}

/// Makes a new file in the directory for temporary files and removes its name.
///
/// # Errors
/// If the file cannot be made.
pub fn nameless() -> io::Result<File> {
    let path = std::env::temp_dir().join(format!(".fsdyno-recorded-{:016x}", unguessable()));
    let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test may panic where there is no thread")]
    fn files_pipes_and_sockets_are_read_twice() {
        use std::os::unix::net::UnixListener;
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let text: Vec<u8> = (0..200_000_u32).map(|number| number as u8).collect();
        std::fs::write(path("file"), &text).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, path("pipe"), rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
        let listener = UnixListener::bind(path("socket")).unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| std::fs::write(path("pipe"), &text).unwrap());
            scope.spawn(|| listener.accept().unwrap().0.write_all(&text).unwrap());
            for name in ["file", "pipe", "socket"] {
                let mut input = RecordedInput::open(&path(name)).unwrap();
                let mut first = Vec::new();
                input.read_to_end(&mut first).unwrap();
                let (log, mut again) = (input.into_log(), vec![0; text.len()]);
                let part = text.len() / 2;
                assert_eq!(log.read_at(&mut again[part..], part as u64).unwrap(), text.len() - part);
                assert_eq!(log.read_at(&mut again[..part], 0).unwrap(), part);
                assert!(first == text && again == text, "{name}");
                assert_eq!(log.read_at(&mut again, text.len() as u64).unwrap(), 0);
            }
        });
        assert_eq!(RecordedInput::open(folder.path()).err().unwrap().to_string(), "it is a directory");
        assert!(RecordedInput::open(&path("none")).is_err());
    }
}
