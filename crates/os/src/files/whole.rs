//! Writing a file whole or not at all: the one function of the program for every file that it writes in one piece.
//!
//! The content goes to a draft of a name that nobody can guess, made new in the same directory, is synced, and takes the
//! target's name at the end, with the mode and the owner of the file that had it before. What stands under that name and is no regular file is not replaced: a pipe, a terminal or a
//! character device is written as it is, all else is refused.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::directory::Directory;
use super::locks::{Lock, try_lock};
use super::{EntryKind, FileCause};
use crate::errno;
use crate::system::fd::AsFd;
use crate::system::{beneath, streams};

/// What drafts' names begin with.
const DRAFT: &str = ".fsdyno-draft-";

/// How often a draft is made again that was removed while it was written.
const TRIES_MAX: u32 = 4;

/// Who may read a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readers {
    /// As the umask says: a file that a person asked for.
    ByUmask,
    /// Its owner alone: what the program keeps for itself.
    Owner,
}

/// Where a file is to be written whole.
#[derive(Clone, Debug)]
pub struct WholeFile {
    path: PathBuf,
    readers: Readers,
    in_place: bool,
}

impl WholeFile {
    /// Sees whether a file can be written under this name, and leaves everything as it is.
    ///
    /// # Errors
    /// When the directory cannot be written, or something stands there that must not be replaced.
    pub fn claim(path: &Path, readers: Readers) -> io::Result<WholeFile> {
        let in_place = match stands_there(path)? {
            Stands::Nothing | Stands::File => {
                Draft::make(path, readers).map(drop)?;
                false
            }
            Stands::Stream => {
                open_stream(path).map(drop)?;
                true
            }
        };
        Ok(WholeFile { path: path.to_owned(), readers, in_place })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A pipe, a terminal, a device: what is written there stays written, so that it is worth one writing only.
    pub fn in_place(&self) -> bool {
        self.in_place
    }

    /// Writes it.
    ///
    /// # Errors
    /// When it cannot be written; then what stood there before stands there still.
    pub fn write(&self, bytes: &[u8]) -> io::Result<()> {
        if self.in_place {
            return open_stream(&self.path)?.write_all(bytes);
        }
        let mut tries = 0;
        loop {
            tries += 1;
            match self.replace(bytes) {
                // Whoever tidies up takes a draft that is not locked yet for a leftover.
                Err(error) if error.kind() == io::ErrorKind::NotFound && tries < TRIES_MAX => {}
                outcome => return outcome,
            }
        }
    }

    fn replace(&self, bytes: &[u8]) -> io::Result<()> {
        // What stood there may have changed since it was claimed.
        match stands_there(&self.path)? {
            Stands::Nothing | Stands::File => {}
            Stands::Stream => return Err(refusal(&self.path, "was replaced by something that is not a regular file")),
        }
        let mut draft = Draft::make(&self.path, self.readers)?;
        draft.file.write_all(bytes)?;
        beneath::take_after(draft.file.as_fd(), draft.directory.as_fd(), Path::new(&draft.target), draft.private);
        draft.file.sync_all()?;
        draft.take_name()
    }
}

/// Writes a file whole or not at all.
///
/// # Errors
/// When it cannot be written; then what stood there before stands there still.
pub fn write_whole(path: &Path, readers: Readers, bytes: &[u8]) -> io::Result<()> {
    WholeFile::claim(path, readers)?.write(bytes)
}

/// A file that grows while it is written: one that is new or empty, a pipe, a terminal, a character device.
///
/// # Errors
/// When it cannot be made, or something stands there that would be lost.
pub fn create_growing(path: &Path) -> io::Result<File> {
    match stands_there(path)? {
        Stands::Stream => open_stream(path),
        Stands::Nothing => OpenOptions::new().append(true).create_new(true).open(path),
        Stands::File => {
            let file = streams::open_file(path)?;
            let metadata = file.metadata()?;
            if metadata.is_file() && metadata.len() == 0 {
                return Ok(file);
            }
            Err(refusal(path, "is not empty, and its content would be lost"))
        }
    }
}

/// Removes the drafts of this user in a directory that nobody writes any more, unless it is only to look; how many there
/// are.
pub fn remove_old_drafts(directory: &Directory, only_look: bool) -> u64 {
    let names = directory.names().unwrap_or_default();
    let drafts = names.iter().filter_map(|name| name.to_str()).filter(|name| is_draft(name));
    let old = drafts.filter(|name| is_old(directory, name));
    old.filter(|name| only_look || directory.remove(Path::new(name)).is_ok()).count() as u64
}

fn is_draft(name: &str) -> bool {
    let number = name.strip_prefix(DRAFT);
    number.is_some_and(|number| number.len() == 16 && number.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

fn is_old(directory: &Directory, name: &str) -> bool {
    let Ok((file, entry)) = directory.open_regular(name) else { return false };
    let ours = beneath::is_ours(&entry) && entry.names == 1;
    ours && try_lock(&file) == Lock::Taken
}

/// What is under a name.
enum Stands {
    Nothing,
    File,
    /// A pipe, a terminal, a socket, a character device, or a descriptor of this process.
    Stream,
}

fn stands_there(path: &Path) -> io::Result<Stands> {
    let metadata = match std::fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound && !path.is_symlink() => return Ok(Stands::Nothing),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(refusal(path, "is a link to nothing"));
        }
        Err(error) => return Err(error),
    };
    let kind = metadata.file_type();
    match () {
        () if kind.is_dir() => Err(refusal(path, "is a directory")),
        () if streams::is_block_device(kind) => Err(refusal(path, "is a block device")),
        () if !kind.is_file() || streams::is_own_descriptor(path) => Ok(Stands::Stream),
        () if path.is_symlink() => Err(refusal(path, "is a link: use the file that it points to")),
        () => Ok(Stands::File),
    }
}

fn refusal(path: &Path, why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("{} {why}", path.display()))
}

fn open_stream(path: &Path) -> io::Result<File> {
    // Without a reader a pipe would let us wait for ever.
    let file = streams::open(path)?;
    let kind = file.metadata()?.file_type();
    if streams::is_block_device(kind) || kind.is_dir() || (kind.is_file() && !streams::is_own_descriptor(path)) {
        return Err(refusal(path, "was replaced while it was opened"));
    }
    streams::wait_from_now_on(&file)?;
    Ok(file)
}

/// A file that has not its name yet; dropping it removes it.
struct Draft {
    directory: Directory,
    name: String,
    target: OsString,
    file: File,
    /// Only its owner may read it.
    private: bool,
    finished: bool,
}

impl Draft {
    fn make(target: &Path, readers: Readers) -> io::Result<Draft> {
        let name = target.file_name().ok_or_else(|| refusal(target, "is not a file name"))?.to_owned();
        let parent = target.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let directory = Directory::open(parent).map_err(|error| io::Error::from_raw_os_error(error.code))?;
        if directory.look(Path::new(&name)).is_ok_and(|entry| entry.kind != EntryKind::Regular) {
            return Err(refusal(target, "is not a regular file"));
        }
        let (private, replaces) = (readers == Readers::Owner, directory.look(Path::new(&name)).is_ok());
        let mode = if private || replaces { 0o600 } else { 0o666 };
        let mut tries = 0;
        let (draft, file) = loop {
            tries += 1;
            let draft = format!("{DRAFT}{:016x}", unguessable());
            match directory.create_with_mode(&draft, mode) {
                Ok(file) => break (draft, file),
                Err(error) if error.code == errno::EEXIST && tries < TRIES_MAX => {}
                Err(error) => return Err(io::Error::from_raw_os_error(error.code)),
            }
        };
        // For whoever tidies up; without locks it is left to them.
        let _ = try_lock(&file);
        Ok(Draft { directory, name: draft, target: name, file, private, finished: false })
    }

    /// The draft becomes the file.
    fn take_name(mut self) -> io::Result<()> {
        let renamed = self.directory.rename(&self.name, Path::new(&self.target));
        renamed.map_err(|error| match error.cause {
            FileCause::Missing => io::Error::from(io::ErrorKind::NotFound),
            _ => io::Error::from_raw_os_error(error.code),
        })?;
        self.finished = true;
        // The name lasts when the directory does. Some filesystems cannot sync directories; what a storage answers that
        // fails is another matter.
        match crate::system::files::sync(self.directory.as_fd()) {
            Err(code @ (errno::EIO | errno::ENOSPC | errno::EDQUOT)) => Err(io::Error::from_raw_os_error(code)),
            _ => Ok(()),
        }
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.finished {
            // The failure that led here is the one to tell.
            let _ = self.directory.remove(Path::new(&self.name));
        }
    }
}

/// A number that nobody can guess: the standard library seeds its hashers from the system.
pub fn unguessable() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    std::collections::hash_map::RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests;
