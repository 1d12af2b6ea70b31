//! Opens files that grow while they are written (a pipe, a terminal, a file to append to), and files for reading.

use std::fs::{File, FileType, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Component, Path};

use rustix::fs::OFlags;

/// Opens an existing file for appending; links are not followed, and nothing waits.
pub(crate) fn open_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path)
}

/// Opens any existing file for appending. Nothing waits until [`wait_from_now_on`].
pub(crate) fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).custom_flags(libc::O_NOCTTY | libc::O_NONBLOCK).open(path)
}

/// Opens a file for reading; if it is a pipe, it does not wait for the writer.
pub(crate) fn open_to_read(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(libc::O_NOCTTY | libc::O_NONBLOCK).open(path)
}

/// From now on, writes wait for their reader.
pub(crate) fn wait_from_now_on(file: &File) -> io::Result<()> {
    let flags = rustix::fs::fcntl_getfl(file)?;
    Ok(rustix::fs::fcntl_setfl(file, flags - OFlags::NONBLOCK)?)
}

pub(crate) fn is_block_device(kind: FileType) -> bool {
    kind.is_block_device()
}

/// Whether the path is `/dev/stdout`, `/dev/fd/3` or similar: a file that the caller has opened, of any kind.
pub(crate) fn is_own_descriptor(path: &Path) -> bool {
    const LINKS_MAX: u32 = 8;
    let mut at = path.to_owned();
    for _ in 0..LINKS_MAX {
        let mut parts = at.components().rev().skip(1);
        let folder = parts.next();
        let inside = folder == Some(Component::Normal("fd".as_ref()));
        if inside && (at.starts_with("/proc") || at.starts_with("/dev/fd")) {
            return true;
        }
        let Ok(target) = at.read_link() else { return false };
        at = at.parent().map_or(target.clone(), |parent| parent.join(&target));
    }
    false
}

/// Connects to a socket file; `None`: it is not a socket.
pub(crate) fn connect(path: &Path) -> io::Result<Option<Box<dyn io::Read>>> {
    if !std::fs::metadata(path)?.file_type().is_socket() {
        return Ok(None);
    }
    Ok(Some(Box::new(std::os::unix::net::UnixStream::connect(path)?)))
}
