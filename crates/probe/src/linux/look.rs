//! One look at the machine.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use results::evidence::{BlockDevice, DeviceNumber, Mount};

use crate::{Fact, NotVisible};

/// One look at the machine through the kernel's two views. Mounts, control groups and disks are read once per look and
/// shared by its copies, so that ten thousand files cost little more than one, and all that a run asks is answered from
/// the same state. Tests bring trees of their own.
#[derive(Clone, Debug)]
pub struct Look {
    pub(super) proc: PathBuf,
    pub(super) sys: PathBuf,
    /// Where the device mapper is asked.
    pub(super) mapper: PathBuf,
    pub(super) seen: Arc<Seen>,
}

/// What a look has read so far.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) mounts: OnceLock<Fact<Vec<Mount>>>,
    /// The text that names the control groups of this process.
    pub(super) groups: OnceLock<Fact<String>>,
    pub(super) devices: Mutex<HashMap<DeviceNumber, Fact<Vec<BlockDevice>>>>,
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
    pub(super) fn at(proc: PathBuf, sys: PathBuf) -> Look {
        Look { proc, sys, mapper: PathBuf::new(), seen: Arc::default() }
    }

    pub(super) fn devices(&self) -> MutexGuard<'_, HashMap<DeviceNumber, Fact<Vec<BlockDevice>>>> {
        self.seen.devices.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Text of a small file of the kernel, without the newline at its end.
pub(super) fn read_text(path: &Path) -> Fact<String> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).trim_end().to_string()),
        Err(error) => Err(NotVisible::new(path.display(), error)),
    }
}

/// A number in a small file of the kernel.
pub(super) fn read_number<T: std::str::FromStr>(path: &Path) -> Fact<T> {
    let text = read_text(path)?;
    text.trim().parse().map_err(|_| NotVisible::new(path.display(), format!("`{text}` is no number")))
}
