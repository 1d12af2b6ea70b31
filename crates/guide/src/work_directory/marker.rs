//! The file that marks a work directory, and the lock on it that is held for the length of the run.

use std::fs::File;
use std::io::Read;

use fsdyno_os::files::{Directory, identity_of, try_lock, write_all_at};
use serde::{Deserialize, Serialize};

use super::space::SpaceNeeds;

/// Its name.
pub(super) const NAME: &str = ".fsdyno-work";

/// What it says first: a sign for people, too.
const WHAT: &str = "fsdyno work directory";

/// Version of its format.
const VERSION: u32 = 1;

/// Length of the file, bytes, whatever its content: so each change is one write.
const BYTES: usize = 1024;

/// More than this is no marker.
pub(super) const BYTES_MAX: u64 = 4096;

/// Who made a directory, and what it will take.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Marker {
    pub(super) what: String,
    pub(super) version: u32,
    /// The maker's process and host.
    pub(super) pid: u32,
    pub(super) host: String,
    /// The maker's kernel and view of processes; a process number means nothing elsewhere.
    pub(super) machine: Option<String>,
    pub(super) boot: Option<String>,
    pub(super) pid_namespace: Option<u64>,
    /// When, ms since the epoch.
    pub(super) made_ms: u64,
    /// Space that the run takes at most.
    pub(super) need: SpaceNeeds,
}

impl Marker {
    pub(super) fn of_this_process(need: SpaceNeeds) -> Marker {
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

    /// As it stands in the file: always of one length.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec(self).unwrap_or_default();
        bytes.resize(BYTES.max(bytes.len() + 1) - 1, b' ');
        bytes.push(b'\n');
        bytes
    }

    /// Reads one; `None`: it is none of ours.
    pub(super) fn read(file: &File) -> Option<Marker> {
        let mut text = String::new();
        file.take(BYTES_MAX + 1).read_to_string(&mut text).ok()?;
        let marker: Marker = serde_json::from_str(&text).ok().filter(|_| text.len() as u64 <= BYTES_MAX)?;
        (marker.what == WHAT && marker.version == VERSION).then_some(marker)
    }

    /// Whether this comes before another in the order in which runs began.
    pub(super) fn is_before(&self, other: &Marker) -> bool {
        (self.made_ms, self.pid) < (other.made_ms, other.pid)
    }
}

/// A marker of this process, open and locked.
#[derive(Debug)]
pub(super) struct LockedMarker {
    file: File,
}

impl LockedMarker {
    /// Marks a directory as ours.
    pub(super) fn make(directory: &Directory, marker: &Marker) -> std::io::Result<LockedMarker> {
        let file = directory.create_new(NAME).map_err(|error| std::io::Error::from_raw_os_error(error.code))?;
        // A filesystem without locks has the marker's words only; then unknown means in use.
        let _ = try_lock(&file);
        let held = LockedMarker { file };
        held.write(marker)?;
        // For `clean` after a crash; without it the marker still serves all but that.
        let _ = held.file.sync_all();
        Ok(held)
    }

    pub(super) fn write(&self, marker: &Marker) -> std::io::Result<()> {
        write_all_at(&self.file, &marker.to_bytes(), 0)
    }

    /// Whether the directory still has this marker.
    pub(super) fn is_in(&self, directory: &Directory) -> bool {
        let here = directory.look(NAME.as_ref()).map(|entry| entry.identity).ok();
        here.is_some() && here == identity_of(&self.file).ok()
    }

    /// The user whom files of ours belong to here: a server or a mount option may map users.
    pub(super) fn owner(&self, directory: &Directory) -> Option<u32> {
        directory.look(NAME.as_ref()).ok().map(|entry| entry.owner)
    }
}
