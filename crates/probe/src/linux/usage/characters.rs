//! Character devices that reach a disk without its block device: `/dev/sg0`, `/dev/ng0n1`, `/dev/bsg/0:0:0:0`.

use super::super::{Look, block};
use super::{LOOPS_MAX, of_number};
use crate::{DeviceUse, NotVisible};
use fsdyno_results::evidence::DeviceNumber;

/// Who uses the disks that a character device reaches. If the kernel does not tell where it leads, it may be
/// anything: a tape, a flash chip, memory.
pub(super) fn device_use(look: &Look, number: DeviceNumber) -> DeviceUse {
    if is_stream(number) {
        return DeviceUse::default();
    }
    let disks = block::disks_behind(look, number);
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

/// Whether the device stores nothing: null, zero, full, random, urandom, and terminals.
fn is_stream(number: DeviceNumber) -> bool {
    matches!((number.major, number.minor), (1, 3 | 5 | 7 | 8 | 9) | (4 | 5, _) | (136..=143, _))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::block::fixture;
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::Path;

    /// The reason for a character device of this number; `fill` makes its directory.
    fn reason(name: &str, number: (u32, u32), fill: impl Fn(&Path, &Path)) -> Option<String> {
        let tree = fixture::tree();
        fs::write(tree.look.proc.join("self/mountinfo"), "27 1 8:1 / /data rw - ext4 /dev/none rw\n").unwrap();
        let (sys, directory) = (&tree.look.sys, tree.look.sys.join("devices").join(name));
        fs::create_dir_all(&directory).unwrap();
        fill(sys, &directory);
        let number = DeviceNumber { major: number.0, minor: number.1 };
        fs::create_dir_all(sys.join("dev/char")).unwrap();
        symlink(&directory, sys.join("dev/char").join(number.to_string())).unwrap();
        device_use(&tree.look, number).reason()
    }

    fn over(disk: &'static str) -> impl Fn(&Path, &Path) {
        move |sys, directory| {
            fs::create_dir_all(directory.join("device/block")).unwrap();
            symlink(sys.join("devices").join(disk), directory.join("device/block").join(disk)).unwrap();
        }
    }

    #[test]
    fn a_way_past_the_block_device_is_as_the_disk() {
        assert_eq!(reason("sg0", (21, 0), over("sda")).as_deref(), Some("leads to sda, which is mounted at /data"));
        assert_eq!(reason("sg1", (21, 1), over("dm-0")), None, "nobody uses that");
        let namespace = |sys: &Path, _: &Path| {
            fs::create_dir_all(sys.join("class/block")).unwrap();
            symlink(sys.join("devices/sdb"), sys.join("class/block/nvme0n1")).unwrap();
        };
        let found = reason("ng0n1", (237, 0), namespace);
        assert_eq!(found.as_deref(), Some("leads to nvme0n1, which is part of md0"));
    }

    #[test]
    fn one_disk_stands_behind_a_character_device() {
        let tree = fixture::tree();
        let sys = &tree.look.sys;
        let find = |minor, fill: &dyn Fn(&Path, &Path)| {
            let directory = sys.join(format!("devices/sg{minor}"));
            fs::create_dir_all(&directory).unwrap();
            fill(sys, &directory);
            fs::create_dir_all(sys.join("dev/char")).unwrap();
            symlink(&directory, sys.join(format!("dev/char/21:{minor}"))).unwrap();
            block::disk_behind(&tree.look, DeviceNumber { major: 21, minor })
        };
        assert_eq!(find(0, &over("sdb")), Some(DeviceNumber { major: 8, minor: 16 }));
        assert_eq!(find(1, &|_, _| {}), None, "a tape has no disk");
    }

    #[test]
    fn what_leads_nowhere_may_be_anything() {
        assert!(
            reason("nst0", (9, 128), |_, _| {}).unwrap().starts_with("may be in use (not visible: a character device")
        );
        for harmless in [(1, 3), (1, 5), (5, 0), (136, 7)] {
            assert_eq!(reason("x", harmless, |_, _| {}), None, "{harmless:?}");
        }
        assert!(reason("mem", (1, 1), |_, _| {}).is_some());
    }
}
