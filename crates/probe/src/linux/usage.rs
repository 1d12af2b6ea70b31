//! Whether a block device is in use, and by what.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::{Look, block, mounts, paths, read_text};
use crate::signature::HEAD_BYTES;
use crate::{DeviceUse, Fact, NotVisible, signature_of};
use results::evidence::{DeviceNumber, Mount};
use results::sort;

/// Who uses the device, and what its first blocks say.
pub(super) fn device_use(look: &Look, path: &Path, number: DeviceNumber) -> DeviceUse {
    DeviceUse { signature: signature(path), ..known_use(look, number) }
}

/// What the kernel knows of its users: nothing is read from the device.
pub(super) fn known_use(look: &Look, number: DeviceNumber) -> DeviceUse {
    let family = family(look, number);
    let mounts = mounts::mounts(look).unwrap_or_default();
    let swaps = read_text(&look.proc.join("swaps")).unwrap_or_default();
    DeviceUse {
        mounted_at: mounted_at(mounts, &family),
        swap: swap_paths(&swaps).iter().any(|swap| paths::block_number(swap).is_some_and(|n| family.contains(&n))),
        holders: holders(look, &family),
        signature: Err(NotVisible::not_looked()),
        unseen: None,
    }
}

/// The device's own number and, for a whole disk, those of its partitions: using a part is using the whole.
fn family(look: &Look, number: DeviceNumber) -> Vec<DeviceNumber> {
    let mut numbers = vec![number];
    let Some(directory) = block::directory(look, number) else { return numbers };
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.path().join("partition").exists() {
            numbers.extend(number_in(&entry.path()));
        }
    }
    numbers
}

fn number_in(directory: &Path) -> Option<DeviceNumber> {
    read_text(&directory.join("dev")).ok()?.trim().parse().ok()
}

fn mounted_at(mounts: &[Mount], family: &[DeviceNumber]) -> Vec<PathBuf> {
    // The files of btrfs show an anonymous number; the source tells the device.
    let uses = |mount: &&Mount| {
        family.contains(&mount.device)
            || paths::block_number(Path::new(&mount.source)).is_some_and(|number| family.contains(&number))
    };
    mounts.iter().filter(uses).map(|mount| mount.mount_point.clone()).collect()
}

/// The first words of /proc/swaps below its heading.
fn swap_paths(text: &str) -> Vec<PathBuf> {
    let words = text.lines().skip(1).filter_map(|line| line.split_whitespace().next());
    words.map(|word| mounts::unescape(word.as_bytes()).into()).collect()
}

/// Devices that were built on it: RAID sets, logical volumes, encrypted volumes.
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

fn signature(path: &Path) -> Fact<Option<&'static str>> {
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(HEAD_BYTES as u64).read_to_end(&mut head));
    match read {
        Ok(_) => Ok(signature_of(&head)),
        Err(error) => Err(NotVisible::new(path.display(), error)),
    }
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
        device_use(&tree.look, Path::new("/no/such/device"), number)
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
    fn a_member_of_a_raid_set_is_held() {
        assert_eq!(use_of("", SDA2).holders, ["md0"]);
        assert_eq!(use_of("", SDA).holders, ["md0"], "through its partition");
        assert!(use_of("", SDA1).holders.is_empty());
    }

    #[test]
    fn a_head_that_cannot_be_read_is_not_an_empty_one() {
        assert!(use_of("", SDA1).signature.is_err());
    }

    #[test]
    fn swaps_are_listed_below_the_heading() {
        let text = "Filename\t\tType\t\tSize\n/dev/dm-1    partition 123 0 -2\n/swap\\040file file 1 0 -3\n";
        assert_eq!(swap_paths(text), [Path::new("/dev/dm-1"), Path::new("/swap file")]);
    }

    #[test]
    fn a_signature_is_read_from_the_start() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), b"XFSB and more").unwrap();
        assert_eq!(signature(file.path()), Ok(Some("an xfs filesystem")));
    }
}
