//! One look at the machine, which caches what it has read.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use fsdyno_results::evidence::{BlockDevice, DeviceNumber, Mount};

use super::usage::{LoopDevice, Writer};
use crate::{DataPlace, DeviceUse, Fact, NotVisible};

/// One look at the machine through /proc and /sys. Mounts, control groups and disks are read once per look and shared
/// by its copies, so that ten thousand files cost little more than one, and all questions of a run are answered from
/// the same state. Tests use trees of their own.
#[derive(Clone, Debug)]
pub struct Look {
    pub(super) proc: PathBuf,
    pub(super) sys: PathBuf,
    /// The device of the device mapper.
    pub(super) mapper: PathBuf,
    /// The directory of device nodes.
    pub(super) dev: PathBuf,
    /// The directory of udev's data about devices.
    pub(super) udev: PathBuf,
    pub(super) seen: Arc<LookCache>,
}

/// What a look has read so far.
#[derive(Debug, Default)]
pub(super) struct LookCache {
    pub(super) mounts: OnceLock<Fact<Vec<Mount>>>,
    /// The text that names the control groups of this process.
    pub(super) groups: OnceLock<Fact<String>>,
    pub(super) devices: Mutex<HashMap<DataPlace, Fact<Vec<BlockDevice>>>>,
    /// The branches of union filesystems, by mount point.
    branches: Mutex<HashMap<PathBuf, Vec<PathBuf>>>,
    /// The users of block devices that a job will change.
    uses: Mutex<HashMap<DeviceNumber, DeviceUse>>,
    pub(super) loops: OnceLock<Vec<LoopDevice>>,
    pub(super) writers: OnceLock<Vec<Writer>>,
}

impl Default for Look {
    fn default() -> Self {
        Look::new()
    }
}

impl Look {
    /// A new look at this machine; nothing is read yet.
    pub fn new() -> Look {
        Look {
            mapper: "/dev/mapper/control".into(),
            dev: "/dev".into(),
            udev: "/run/udev/data".into(),
            ..Look::at("/proc".into(), "/sys".into())
        }
    }

    /// A look at these trees, without device mapper, device nodes and udev.
    pub(super) fn at(proc: PathBuf, sys: PathBuf) -> Look {
        let nowhere = PathBuf::new;
        Look { proc, sys, mapper: nowhere(), dev: nowhere(), udev: nowhere(), seen: Arc::default() }
    }

    pub(super) fn devices(&self) -> MutexGuard<'_, HashMap<DataPlace, Fact<Vec<BlockDevice>>>> {
        self.seen.devices.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn branches(&self) -> MutexGuard<'_, HashMap<PathBuf, Vec<PathBuf>>> {
        self.seen.branches.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn uses(&self) -> MutexGuard<'_, HashMap<DeviceNumber, DeviceUse>> {
        self.seen.uses.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The text of a small file of the kernel, without the newline at its end.
pub(super) fn read_text(path: &Path) -> Fact<String> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).trim_end().to_string()),
        Err(error) => Err(NotVisible::new(path.display(), error)),
    }
}

/// The number in a small file of the kernel.
pub(super) fn read_number<T: std::str::FromStr>(path: &Path) -> Fact<T> {
    let text = read_text(path)?;
    text.trim().parse().map_err(|_| NotVisible::new(path.display(), format!("`{text}` is no number")))
}
