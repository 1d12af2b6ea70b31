//! Character devices by which a disk is reached past its block device: `/dev/sg0`, `/dev/ng0n1`, `/dev/bsg/0:0:0:0`.

use std::path::{Path, PathBuf};

use super::super::{Look, block, read_text};
use super::{LOOPS_MAX, of_number};
use crate::{DeviceUse, NotVisible};
use results::evidence::DeviceNumber;

/// Who uses the disks that a character device leads to. One of which the kernel does not say where it leads may be
/// anything: a tape, a flash chip, memory.
pub(super) fn device_use(look: &Look, number: DeviceNumber) -> DeviceUse {
    if is_stream(number) {
        return DeviceUse::default();
    }
    let directory = look.sys.join("dev/char").join(number.to_string()).canonicalize();
    let disks = directory.map(|directory| disks_of(look, &directory)).unwrap_or_default();
    if disks.is_empty() {
        let reason = NotVisible::new("a character device", "what it leads to is not known");
        return DeviceUse { unseen: Some(reason), ..DeviceUse::default() };
    }
    let used = disks.iter().find_map(|directory| {
        let reason = of_number(look, block::number_in(directory)?, LOOPS_MAX).reason()?;
        Some(format!("leads to {}, which {reason}", block::name_of(directory)?))
    });
    DeviceUse { through: used, ..DeviceUse::default() }
}

/// Whether it keeps nothing: null, zero, full, random and urandom, and terminals.
fn is_stream(number: DeviceNumber) -> bool {
    matches!((number.major, number.minor), (1, 3 | 5 | 7 | 8 | 9) | (4 | 5, _) | (136..=143, _))
}

/// The directories of the disks behind the directory of a character device: those of a SCSI device (sg, bsg), and the
/// namespace of the same number for one of NVMe.
fn disks_of(look: &Look, directory: &Path) -> Vec<PathBuf> {
    let scsi = std::fs::read_dir(directory.join("device/block")).into_iter().flatten().flatten();
    let mut disks: Vec<PathBuf> = scsi.map(|entry| entry.path()).collect();
    let name = directory.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if let Some(namespace) = name.strip_prefix("ng") {
        disks.push(look.sys.join("class/block").join(format!("nvme{namespace}")));
    }
    disks.retain(|disk| read_text(&disk.join("dev")).is_ok());
    disks
}
