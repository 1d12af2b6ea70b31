//! The marker file of a work directory, and the lock on it that is held as long as the run.

use std::fs::File;
use std::io::Read;

use fsdyno_os::files::{Directory, identity_of, try_lock, write_all_at};
use serde::{Deserialize, Serialize};

use super::space::SpaceNeeds;

/// The marker's file name.
pub(crate) const NAME: &str = ".fsdyno-work";

/// The marker's first words, for people who find it.
const WHAT: &str = "fsdyno work directory";

/// Version of the marker's format.
const VERSION: u32 = 1;

/// Length of the file, bytes. It is constant, so that each change is a single write.
const BYTES: usize = 1024;

/// A larger file is no marker, bytes.
pub(crate) const BYTES_MAX: u64 = 4096;

/// Who made a directory, and the space that the run will take.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Marker {
    pub(crate) what: String,
    pub(crate) version: u32,
    /// Process number and host of the maker.
    pub(crate) pid: u32,
    pub(crate) host: String,
    /// The maker's kernel and process namespace: a process number has no meaning elsewhere.
    pub(crate) machine: Option<String>,
    pub(crate) boot: Option<String>,
    pub(crate) pid_namespace: Option<u64>,
    /// When it was made, ms since the epoch.
    pub(crate) made_ms: u64,
    /// The most space that the run takes.
    pub(crate) need: SpaceNeeds,
}

impl Marker {
    pub(crate) fn of_this_process(need: SpaceNeeds) -> Marker {
        let kernel = fsdyno_probe::kernel();
        Marker {
            what: WHAT.to_string(),
            version: VERSION,
            pid: std::process::id(),
            host: fsdyno_probe::host_name().unwrap_or_default(),
            machine: kernel.machine,
            boot: kernel.boot,
            pid_namespace: kernel.pid_namespace,
            made_ms: fsdyno_run::now_ms(),
            need,
        }
    }

    /// The marker as the file's bytes, always of the same length.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec(self).unwrap_or_default();
        bytes.resize(BYTES.max(bytes.len() + 1) - 1, b' ');
        bytes.push(b'\n');
        bytes
    }

    /// Parses a marker; `None`: it is not one of ours.
    pub(crate) fn read(file: &File) -> Option<Marker> {
        let mut text = String::new();
        file.take(BYTES_MAX + 1).read_to_string(&mut text).ok()?;
        let marker: Marker = serde_json::from_str(&text).ok().filter(|_| text.len() as u64 <= BYTES_MAX)?;
        (marker.what == WHAT && marker.version == VERSION).then_some(marker)
    }

    /// Whether this run began before another; the process number decides between equal times.
    pub(crate) fn is_before(&self, other: &Marker) -> bool {
        (self.made_ms, self.pid) < (other.made_ms, other.pid)
    }
}

/// A marker of this process, open and locked.
#[derive(Debug)]
pub(crate) struct LockedMarker {
    file: File,
}

impl LockedMarker {
    /// Marks a directory as ours.
    pub(crate) fn make(directory: &Directory, marker: &Marker) -> std::io::Result<LockedMarker> {
        let file = directory.create_new(NAME).map_err(|error| std::io::Error::from_raw_os_error(error.code))?;
        // Without file locks only the marker's content is left; `clean` then treats an unknown run as in use.
        let _ = try_lock(&file);
        let held = LockedMarker { file };
        held.write(marker)?;
        // The sync is for `clean` after a crash; the marker is useful without it.
        let _ = held.file.sync_all();
        Ok(held)
    }

    pub(crate) fn write(&self, marker: &Marker) -> std::io::Result<()> {
        write_all_at(&self.file, &marker.to_bytes(), 0)
    }

    /// Whether the directory still holds this marker.
    pub(crate) fn is_in(&self, directory: &Directory) -> bool {
        let here = directory.look(NAME.as_ref()).map(|entry| entry.identity).ok();
        here.is_some() && here == identity_of(&self.file).ok()
    }

    /// The user who owns our files here: a server or a mount option may map users.
    pub(crate) fn owner(&self, directory: &Directory) -> Option<u32> {
        directory.look(NAME.as_ref()).ok().map(|entry| entry.owner)
    }
}
