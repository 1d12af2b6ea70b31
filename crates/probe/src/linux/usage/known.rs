//! Users of a device that the kernel lists without opening the device: mounts, swap, and the devices built on it.

use std::path::{Path, PathBuf};

use super::super::{Look, block, mounts, read_number, read_text};
use crate::DeviceUse;
use fsdyno_results::evidence::{DeviceNumber, Mount};
use fsdyno_stats::sort;

/// Options of a filesystem that name further devices: the log and the realtime part of XFS.
const DEVICE_OPTIONS: [&str; 2] = ["logdev", "rtdev"];

/// The known users of a device; it is neither opened nor read.
pub(in crate::linux) fn known_use(look: &Look, number: DeviceNumber) -> DeviceUse {
    let family = family(look, number);
    let swaps = read_text(&look.proc.join("swaps")).unwrap_or_default();
    DeviceUse {
        mounted_at: mounted_at(look, &family),
        swap: swap_paths(&swaps).iter().any(|swap| block::block_number(swap).is_some_and(|n| family.contains(&n))),
        holders: holders(look, &family),
        ..DeviceUse::default()
    }
}

/// The devices whose users also use this one: for a disk its partitions; for a partition its disk and the partitions
/// that share bytes with it.
pub(super) fn family(look: &Look, number: DeviceNumber) -> Vec<DeviceNumber> {
    let mut numbers = vec![number];
    let Some(directory) = block::directory(look, number) else { return numbers };
    let disk = block::disk_directory(&directory);
    let is_disk = disk == directory;
    for entry in std::fs::read_dir(disk).into_iter().flatten().flatten() {
        let partition = entry.path();
        let shares = is_disk || partition != directory && overlap(&partition, &directory);
        if shares && partition.join("partition").exists() {
            numbers.extend(block::number_in(&partition));
        }
    }
    if !is_disk {
        numbers.extend(block::number_in(disk));
    }
    numbers
}

/// Whether two partitions share bytes, as in bootable images.
fn overlap(one: &Path, other: &Path) -> bool {
    let range = |partition: &Path| {
        let start: u64 = read_number(&partition.join("start")).ok()?;
        Some((start, start.saturating_add(read_number(&partition.join("size")).ok()?)))
    };
    matches!((range(one), range(other)), (Some((start, end)), Some((other_start, other_end)))
        if start < other_end && other_start < end)
}

fn mounted_at(look: &Look, family: &[DeviceNumber]) -> Vec<PathBuf> {
    let mounts = mounts::mounts(look).unwrap_or_default();
    let is_of_family = |path: &str| block::block_number(Path::new(path)).is_some_and(|number| family.contains(&number));
    let uses = |mount: &&Mount| {
        family.contains(&mount.device)
            || is_of_family(&mount.source)
            || DEVICE_OPTIONS.iter().filter_map(|option| mount.option(option)).any(is_of_family)
            || mount.fstype == "btrfs" && btrfs_devices(look, mount).any(|number| family.contains(&number))
    };
    mounts.iter().filter(uses).map(|mount| mount.mount_point.clone()).collect()
}

/// The devices of a btrfs mount. Its files show an anonymous number, and its source is only one of several devices.
fn btrfs_devices(look: &Look, mount: &Mount) -> impl Iterator<Item = DeviceNumber> {
    let source = block::block_number(Path::new(&mount.source)).and_then(|number| block::directory(look, number));
    let members = source.and_then(|source| block::btrfs_members(look, &source)).unwrap_or_default();
    members.into_iter().filter_map(|member| block::number_in(&member))
}

/// The first words of the lines of /proc/swaps, without the heading.
fn swap_paths(text: &str) -> Vec<PathBuf> {
    let words = text.lines().skip(1).filter_map(|line| line.split_whitespace().next());
    words.map(|word| mounts::unescape(word.as_bytes()).into()).collect()
}

/// The devices that were built on these: RAID sets, logical volumes, encrypted volumes.
fn holders(look: &Look, family: &[DeviceNumber]) -> Vec<String> {
    let directories = family.iter().filter_map(|number| block::directory(look, *number));
    let mut names: Vec<String> = directories
        .flat_map(|directory| block::links_in(&directory.join("holders")))
        .filter_map(|holder| block::name_of(&holder))
        .collect();
    sort::by(&mut names, Ord::cmp);
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::block::fixture;
    use std::fs;

    const SDA: DeviceNumber = DeviceNumber { major: 8, minor: 0 };
    const SDA1: DeviceNumber = DeviceNumber { major: 8, minor: 1 };
    const SDA2: DeviceNumber = DeviceNumber { major: 8, minor: 2 };

    fn use_of(mountinfo: &str, number: DeviceNumber) -> DeviceUse {
        let tree = fixture::tree();
        fs::write(tree.look.proc.join("self/mountinfo"), mountinfo).unwrap();
        known_use(&tree.look, number)
    }

    #[test]
    fn a_mounted_partition_is_mounted_and_so_is_its_disk() {
        let mountinfo = "27 1 8:1 / /data rw - ext4 /dev/none rw\n";
        assert_eq!(use_of(mountinfo, SDA1).mounted_at, [Path::new("/data")]);
        assert_eq!(use_of(mountinfo, SDA).mounted_at, [Path::new("/data")]);
        assert!(use_of(mountinfo, SDA2).mounted_at.is_empty());
        assert_eq!(use_of(mountinfo, SDA).reason().as_deref(), Some("is mounted at /data"));
    }

    #[test]
    fn a_mounted_disk_is_each_of_its_partitions() {
        let mountinfo = "27 1 8:0 / /data rw - ext4 /dev/none rw\n";
        assert_eq!(use_of(mountinfo, SDA2).mounted_at, [Path::new("/data")]);
    }

    #[test]
    fn partitions_that_share_bytes_are_used_together() {
        let tree = fixture::tree();
        let place = |name: &str, start: &str| {
            fs::write(tree.look.sys.join("devices/sda").join(name).join("start"), start).unwrap();
        };
        place("sda1", "0");
        place("sda2", "2047");
        assert!(family(&tree.look, SDA2).contains(&SDA1));
        place("sda2", "2048");
        assert_eq!(family(&tree.look, SDA2), [SDA2, SDA], "each has 2,048 sectors");
    }

    #[test]
    fn a_member_of_a_raid_set_is_held() {
        assert_eq!(use_of("", SDA2).holders, ["md0"]);
        assert_eq!(use_of("", SDA).holders, ["md0"], "through its partition");
        assert!(use_of("", SDA1).holders.is_empty());
    }

    #[test]
    fn swaps_are_listed_below_the_heading() {
        let text = "Filename\t\tType\t\tSize\n/dev/dm-1    partition 123 0 -2\n/swap\\040file file 1 0 -3\n";
        assert_eq!(swap_paths(text), [Path::new("/dev/dm-1"), Path::new("/swap file")]);
    }
}
