//! Writes a file completely or not at all. No other code of the program writes a file in one piece.
//!
//! The content goes to a draft with a name that nobody can guess, which is created in the same directory and synced.
//! At the end it gets the name of the target, with the mode and the owner of the file that had the name before. A
//! file that is not a regular file is not replaced: a pipe, a terminal or a character device is written as it is, any
//! other is refused.

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

/// Beginning of the names of drafts.
const DRAFT: &str = ".fsdyno-draft-";

/// How often a draft is made again if it was removed while it was written.
const TRIES_MAX: u32 = 4;

/// Who may read the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readers {
    /// As the umask says, for a file that the user asked for.
    ByUmask,
    /// Only its owner, for files that the program keeps for itself.
    Owner,
}

/// A file that will be written completely or not at all.
#[derive(Clone, Debug)]
pub struct WholeFile {
    path: PathBuf,
    readers: Readers,
    in_place: bool,
}

impl WholeFile {
    /// Checks whether a file of this name can be written, and changes nothing.
    ///
    /// # Errors
    /// If the directory cannot be written, or if a file of this name must not be replaced.
    pub fn claim(path: &Path, readers: Readers) -> io::Result<WholeFile> {
        let in_place = match stands_there(path)? {
            NameKind::Nothing | NameKind::File => {
                Draft::make(path, readers).map(drop)?;
                false
            }
            NameKind::Stream => {
                open_stream(path).map(drop)?;
                true
            }
        };
        Ok(WholeFile { path: path.to_owned(), readers, in_place })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it is a pipe, a terminal or a device. There, written data cannot be replaced, so that it should be
    /// written only once.
    pub fn in_place(&self) -> bool {
        self.in_place
    }

    /// Writes the file.
    ///
    /// # Errors
    /// If it cannot be written; then the earlier file is unchanged.
    pub fn write(&self, bytes: &[u8]) -> io::Result<()> {
        if self.in_place {
            return open_stream(&self.path)?.write_all(bytes);
        }
        let mut tries = 0;
        loop {
            tries += 1;
            match self.replace(bytes) {
                // A clean-up of another process takes a draft that is not locked yet for an old one.
                Err(error) if error.kind() == io::ErrorKind::NotFound && tries < TRIES_MAX => {}
                outcome => return outcome,
            }
        }
    }

    fn replace(&self, bytes: &[u8]) -> io::Result<()> {
        // The file of this name may have changed since the claim.
        match stands_there(&self.path)? {
            NameKind::Nothing | NameKind::File => {}
            NameKind::Stream => {
                return Err(refusal(&self.path, "was replaced by something that is not a regular file"));
            }
        }
        let mut draft = Draft::make(&self.path, self.readers)?;
        draft.file.write_all(bytes)?;
        beneath::take_after(draft.file.as_fd(), draft.directory.as_fd(), Path::new(&draft.target), draft.private);
        draft.file.sync_all()?;
        draft.take_name()
    }
}

/// Writes a file completely or not at all.
///
/// # Errors
/// If it cannot be written; then the earlier file is unchanged.
pub fn write_whole(path: &Path, readers: Readers, bytes: &[u8]) -> io::Result<()> {
    WholeFile::claim(path, readers)?.write(bytes)
}

/// Opens a file that grows while it is written: a new or empty file, a pipe, a terminal, a character device.
///
/// # Errors
/// If it cannot be made, or if a file of this name would be lost.
pub fn create_growing(path: &Path) -> io::Result<File> {
    match stands_there(path)? {
        NameKind::Stream => open_stream(path),
        NameKind::Nothing => OpenOptions::new().append(true).create_new(true).open(path),
        NameKind::File => {
            let file = streams::open_file(path)?;
            let metadata = file.metadata()?;
            if metadata.is_file() && metadata.len() == 0 {
                return Ok(file);
            }
            Err(refusal(path, "is not empty, and its content would be lost"))
        }
    }
}

/// Removes drafts of this user in a directory that no process writes any more; with `only_look` it only counts them.
/// Returns their number.
pub fn remove_old_drafts(directory: &Directory, only_look: bool) -> u64 {
    let names = directory.names().unwrap_or_default();
    let drafts = names.iter().filter_map(|name| name.to_str()).filter(|name| is_draft(name));
    let old = drafts.filter(|name| is_old(directory, name));
    old.filter(|name| only_look || directory.remove(Path::new(name)).is_ok()).count() as u64
}

/// The name of a file that stands for a moment and is locked meanwhile. [`remove_old_drafts`] removes what a kill leaves of it.
pub fn draft_name(number: u64) -> String {
    format!("{DRAFT}{number:016x}")
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

/// The kind of file under a name.
enum NameKind {
    Nothing,
    File,
    /// A pipe, a terminal, a socket, a character device, or a descriptor of this process.
    Stream,
}

fn stands_there(path: &Path) -> io::Result<NameKind> {
    let metadata = match std::fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound && !path.is_symlink() => return Ok(NameKind::Nothing),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(refusal(path, "is a link to nothing"));
        }
        Err(error) => return Err(error),
    };
    let kind = metadata.file_type();
    match () {
        () if kind.is_dir() => Err(refusal(path, "is a directory")),
        () if streams::is_block_device(kind) => Err(refusal(path, "is a block device")),
        () if !kind.is_file() || streams::is_own_descriptor(path) => Ok(NameKind::Stream),
        () if path.is_symlink() => Err(refusal(path, "is a link: use the file that it points to")),
        () => Ok(NameKind::File),
    }
}

fn refusal(path: &Path, why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("{} {why}", path.display()))
}

fn open_stream(path: &Path) -> io::Result<File> {
    // Without a reader, opening a pipe would wait for ever.
    let file = streams::open(path)?;
    let kind = file.metadata()?.file_type();
    if streams::is_block_device(kind) || kind.is_dir() || (kind.is_file() && !streams::is_own_descriptor(path)) {
        return Err(refusal(path, "was replaced while it was opened"));
    }
    streams::wait_from_now_on(&file)?;
    Ok(file)
}

/// A file that does not have its name yet; dropping it removes it.
struct Draft {
    directory: Directory,
    name: String,
    target: OsString,
    file: File,
    /// Whether only its owner may read it.
    private: bool,
    finished: bool,
}

impl Draft {
    fn make(target: &Path, readers: Readers) -> io::Result<Draft> {
        let name = target.file_name().ok_or_else(|| refusal(target, "is not a file name"))?.to_owned();
        let parent = target.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let directory = Directory::open_of_file(parent).map_err(|code| match code {
            errno::ELOOP if parent.is_symlink() => {
                refusal(parent, "is a link that another user made, and root does not follow it: name its target")
            }
            code => io::Error::from_raw_os_error(code),
        })?;
        if directory.look(Path::new(&name)).is_ok_and(|entry| entry.kind != EntryKind::Regular) {
            return Err(refusal(target, "is not a regular file"));
        }
        let (private, replaces) = (readers == Readers::Owner, directory.look(Path::new(&name)).is_ok());
        let mode = if private || replaces { 0o600 } else { 0o666 };
        let mut tries = 0;
        let (draft, file) = loop {
            tries += 1;
            let draft = draft_name(unguessable());
            match directory.create_with_mode(&draft, mode) {
                Ok(file) => break (draft, file),
                Err(error) if error.code == errno::EEXIST && tries < TRIES_MAX => {}
                Err(error) => return Err(io::Error::from_raw_os_error(error.code)),
            }
        };
        // The lock protects it from clean-ups of other processes; without support for locks it is not protected.
        let _ = try_lock(&file);
        Ok(Draft { directory, name: draft, target: name, file, private, finished: false })
    }

    /// Gives the draft the name of the file.
    fn take_name(mut self) -> io::Result<()> {
        let renamed = self.directory.rename(&self.name, Path::new(&self.target));
        renamed.map_err(|error| match error.cause {
            FileCause::Missing => io::Error::from(io::ErrorKind::NotFound),
            _ => io::Error::from_raw_os_error(error.code),
        })?;
        self.finished = true;
        // The name is durable when the directory is. Some filesystems cannot sync directories; an error of the
        // storage is reported.
        match crate::system::files::sync(self.directory.as_fd()) {
            Err(code @ (errno::EIO | errno::ENOSPC | errno::EDQUOT)) => Err(io::Error::from_raw_os_error(code)),
            _ => Ok(()),
        }
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.finished {
            // The failure that led here is reported, not one of this removal.
            let _ = self.directory.remove(Path::new(&self.name));
        }
    }
}

/// A number that nobody can guess: the standard library seeds its hashers with random numbers of the system.
pub fn unguessable() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    std::collections::hash_map::RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests;
