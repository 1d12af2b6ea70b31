//! Finds out what a device contains, by signatures in its bytes and by what udev has found with libblkid.

use std::fs::File;
use std::io::{Result, Seek, SeekFrom};

use rustix::fs::{Advice, fadvise};

use super::super::{Look, block, read_text};
use crate::signature::{Ends, signature_of};
use fsdyno_results::evidence::DeviceNumber;

/// The content of the device; `None`: nothing that we or udev know.
pub(super) fn held(look: &Look, mut device: &File, number: DeviceNumber) -> Result<Option<String>> {
    let size = device.seek(SeekFrom::End(0))?;
    device.rewind()?;
    let ends = Ends::read(device, Some(size))?;
    // The pages are dropped, so that a job that reads finds no page in memory that it did not read itself. This is
    // advice; a failure does no harm.
    let _ = fadvise(device, 0, None, Advice::DontNeed);
    Ok(signature_of(&ends).map(str::to_owned).or_else(|| known_to_udev(look, number)))
}

/// udev runs libblkid on each device that appears and each that was written, and stores the result in a small file.
/// Its list of signatures is longer than ours, and no program has to be started.
fn known_to_udev(look: &Look, number: DeviceNumber) -> Option<String> {
    let text = read_text(&look.udev.join(format!("b{number}"))).ok()?;
    let value = |key: &str| text.lines().find_map(|line| line.strip_prefix("E:")?.strip_prefix(key)?.strip_prefix('='));
    // A partition inherits the partition table of its disk from udev.
    let is_disk = || block::directory(look, number).is_some_and(|found| !found.join("partition").exists());
    let table = || value("ID_PART_TABLE_TYPE").filter(|_| is_disk());
    let name = value("ID_FS_TYPE").or_else(|| value("ID_FS_AMBIVALENT")).or_else(table)?;
    Some(format!("{name}, as udev knows"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::block::fixture;

    #[test]
    fn what_udev_knows_is_read() {
        let mut tree = fixture::tree();
        tree.look.udev = tree.root.path().join("udev");
        std::fs::create_dir(&tree.look.udev).unwrap();
        let known = |minor: u32, text: &str| {
            std::fs::write(tree.look.udev.join(format!("b8:{minor}")), text).unwrap();
            known_to_udev(&tree.look, DeviceNumber { major: 8, minor })
        };
        let member = "S:disk/by-id/x\nE:ID_FS_VERSION=5\nE:ID_FS_TYPE=drbdmanage_control_volume\n";
        assert_eq!(known(16, member).as_deref(), Some("drbdmanage_control_volume, as udev knows"));
        let disk = "E:ID_PART_TABLE_TYPE=dasd\nE:ID_SERIAL=1\n";
        assert_eq!(known(0, disk).as_deref(), Some("dasd, as udev knows"));
        assert_eq!(known(1, disk), None, "the table is the disk's");
        assert_eq!(known(0, "E:ID_SERIAL=1\n"), None);
        assert_eq!(known_to_udev(&tree.look, DeviceNumber { major: 9, minor: 0 }), None, "no such file");
    }
}
