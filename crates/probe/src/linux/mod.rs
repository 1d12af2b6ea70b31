//! Linux: /proc, /sys and a few system calls.

mod block;
mod cgroups;
mod counters;
mod identity;
mod ledger;
mod limits;
mod machine;
pub(crate) use machine::{host_name, user};
mod mounts;
mod paths;
mod processes;
mod usage;
mod waiting;

pub use counters::DiskWatch;
pub use ledger::{Meters, Reading, wait_of_this_thread_ns};
pub use waiting::Waiting;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use results::evidence::{Storage, WireCounters};

use crate::{Fact, FuseDaemon, Kernel, Limits, NotVisible, PathFacts};
use results::evidence::{BlockDevice, DeviceNumber, Mount};

/// One look at the machine through the kernel's two views. Mounts, control groups and disks are read once per look and
/// shared by its copies, so that ten thousand files cost little more than one, and all that a run asks is answered from
/// the same state. Tests bring trees of their own.
#[derive(Clone, Debug)]
pub struct Look {
    proc: PathBuf,
    sys: PathBuf,
    /// Where the device mapper is asked.
    mapper: PathBuf,
    seen: Arc<Seen>,
}

/// What a look has read so far.
#[derive(Debug, Default)]
struct Seen {
    mounts: OnceLock<Fact<Vec<Mount>>>,
    /// The text that names the control groups of this process.
    groups: OnceLock<Fact<String>>,
    devices: Mutex<HashMap<DeviceNumber, Fact<Vec<BlockDevice>>>>,
}

impl Default for Look {
    fn default() -> Self {
        Look::new()
    }
}

impl Look {
    /// A new look at this machine; nothing is read yet.
    pub fn new() -> Look {
        Look { mapper: "/dev/mapper/control".into(), ..Look::at("/proc".into(), "/sys".into()) }
    }

    /// Without a device mapper.
    fn at(proc: PathBuf, sys: PathBuf) -> Look {
        Look { proc, sys, mapper: PathBuf::new(), seen: Arc::default() }
    }

    fn devices(&self) -> MutexGuard<'_, HashMap<DeviceNumber, Fact<Vec<BlockDevice>>>> {
        self.seen.devices.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The mount that a path is on. The path may be missing: its nearest existing parent counts.
    pub fn mount_of(&self, path: &Path) -> Fact<Mount> {
        mounts::mount_of(self, path)
    }

    pub(crate) fn mount_by_name(&self, path: &Path) -> Fact<Mount> {
        mounts::mount_by_name(self, path)
    }

    pub(crate) fn pending_signal(&self, among: &[i32]) -> Option<i32> {
        waiting::pending_signal(self, among)
    }

    pub(crate) fn waiting_of(&self, thread: u32) -> Fact<Waiting> {
        waiting::waiting_of(self, thread)
    }

    /// Everything about one path.
    pub fn path_facts(&self, path: &Path) -> PathFacts {
        paths::path_facts(self, path)
    }

    pub(crate) fn host(&self) -> results::Host {
        machine::host(self)
    }

    pub(crate) fn available_memory_bytes(&self) -> Option<u64> {
        ledger::available_memory_bytes(self)
    }

    pub(crate) fn limits(&self) -> Limits {
        limits::limits(self)
    }

    /// The storage behind a path: see [`storage_of`](crate::storage_of).
    pub fn storage_of(&self, path: &Path) -> Storage {
        identity::storage(self, path)
    }

    pub(crate) fn nfs_mount_statistics(&self, mount_point: &Path) -> Fact<WireCounters> {
        identity::nfs_mount_statistics(self, mount_point)
    }

    pub(crate) fn fuse_daemon_of(&self, mount_point: &Path) -> Fact<FuseDaemon> {
        identity::fuse_daemon_at(self, mount_point)
    }

    pub(crate) fn kernel(&self) -> Kernel {
        processes::kernel(self)
    }

    pub(crate) fn runs(&self, pid: u32) -> Option<bool> {
        processes::runs(self, pid)
    }

    pub(crate) fn open_and_locked(&self, name: &str) -> Vec<(u32, PathBuf)> {
        processes::open_and_locked(self, name)
    }

    pub(crate) fn page_bytes(&self) -> u64 {
        rustix::param::page_size() as u64
    }
}

/// Text of a small file of the kernel, without the newline at its end.
fn read_text(path: &Path) -> Fact<String> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).trim_end().to_string()),
        Err(error) => Err(NotVisible::new(path.display(), error)),
    }
}

/// A number in a small file of the kernel.
fn read_number<T: std::str::FromStr>(path: &Path) -> Fact<T> {
    let text = read_text(path)?;
    text.trim().parse().map_err(|_| NotVisible::new(path.display(), format!("`{text}` is no number")))
}
