//! One look at the machine.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::{BlockDevice, DeviceNumber, Fact, Mount, NotVisible};

/// One look at the machine through the kernel's two views. Mounts and disks are read once per look, so that ten
/// thousand files cost little more than one. Tests bring trees of their own.
#[derive(Debug)]
pub(crate) struct Look {
    pub(super) proc: PathBuf,
    pub(super) sys: PathBuf,
    /// Where the device mapper is asked.
    pub(super) mapper: PathBuf,
    pub(super) mounts: OnceCell<Fact<Vec<Mount>>>,
    pub(super) devices: RefCell<HashMap<DeviceNumber, Fact<Vec<BlockDevice>>>>,
}

impl Look {
    pub(crate) fn new() -> Look {
        Look { mapper: "/dev/mapper/control".into(), ..Look::at("/proc".into(), "/sys".into()) }
    }

    /// Without a device mapper.
    pub(super) fn at(proc: PathBuf, sys: PathBuf) -> Look {
        Look { proc, sys, mapper: PathBuf::new(), mounts: OnceCell::new(), devices: RefCell::default() }
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
