//! Files that a program writes as they grow, a pipe, a terminal, a file to be appended to; and files that it reads.

use std::fs::{File, FileType, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Component, Path};

use rustix::fs::OFlags;

/// Opens a file that is there, to append to it; a link is not followed, and nothing waits.
pub(crate) fn open_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path)
}

/// Opens whatever is there, to append to it. Until [`wait_from_now_on`] nothing waits.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).custom_flags(libc::O_NOCTTY | libc::O_NONBLOCK).open(path)
}

/// Opens a file to read it; a pipe that stands there in its place is not waited for.
pub(crate) fn open_to_read(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(libc::O_NOCTTY | libc::O_NONBLOCK).open(path)
}

/// Writes to it wait for their reader.
pub(crate) fn wait_from_now_on(file: &File) -> io::Result<()> {
    let flags = rustix::fs::fcntl_getfl(file)?;
    Ok(rustix::fs::fcntl_setfl(file, flags - OFlags::NONBLOCK)?)
}

pub(crate) fn is_block_device(kind: FileType) -> bool {
    kind.is_block_device()
}

/// `/dev/stdout`, `/dev/fd/3`: what the caller has opened, whatever it is.
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

/// Connects to a socket that stands there; `None`: it is none.
pub(crate) fn connect(path: &Path) -> io::Result<Option<Box<dyn io::Read>>> {
    if !std::fs::metadata(path)?.file_type().is_socket() {
        return Ok(None);
    }
    Ok(Some(Box::new(std::os::unix::net::UnixStream::connect(path)?)))
}
