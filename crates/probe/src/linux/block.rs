//! Reads block devices from /sys/dev/block and /sys/block.

use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::{Look, read_number, read_text};
use crate::ZonedDevice;
use fsdyno_results::evidence::{BlockDevice, DeviceNumber, Mount};
use fsdyno_stats::sort;

/// Deeper stacks are cut; this only bounds the walk.
const STACK_DEPTH_MAX: usize = 8;

/// The device of a number. `None`: no device has it (memory and network filesystems have such numbers).
pub(super) fn device(look: &Look, number: DeviceNumber) -> Option<BlockDevice> {
    device_in(&directory(look, number)?, STACK_DEPTH_MAX)
}

/// The directory of a device or partition in /sys.
pub(super) fn directory(look: &Look, number: DeviceNumber) -> Option<PathBuf> {
    look.sys.join("dev/block").join(number.to_string()).canonicalize().ok()
}

/// The node in /dev of a block device.
pub(crate) fn device_of(number: DeviceNumber) -> Option<PathBuf> {
    let node = Path::new("/dev").join(directory(&Look::new(), number)?.file_name()?);
    node.metadata().is_ok_and(|found| found.file_type().is_block_device()).then_some(node)
}

/// The device number of a directory in /sys.
pub(super) fn number_in(directory: &Path) -> Option<DeviceNumber> {
    read_text(&directory.join("dev")).ok()?.trim().parse().ok()
}

/// The directory of the whole disk: a partition's parent.
pub(super) fn disk_directory(directory: &Path) -> &Path {
    match directory.parent() {
        Some(parent) if directory.join("partition").exists() => parent,
        _ => directory,
    }
}

fn device_in(directory: &Path, depth: usize) -> Option<BlockDevice> {
    let disk = disk_directory(directory);
    let queue = disk.join("queue");
    Some(BlockDevice {
        name: name_of(disk)?,
        partition: if disk == directory { None } else { name_of(directory) },
        size_bytes: size_bytes(directory),
        rotational: read_number::<u8>(&queue.join("rotational")).ok().map(|flag| flag != 0),
        scheduler: read_text(&queue.join("scheduler")).ok().map(|text| active_scheduler(&text)),
        queue_requests: read_number(&queue.join("nr_requests")).ok(),
        logical_block_bytes: read_number(&queue.join("logical_block_size")).ok(),
        physical_block_bytes: read_number(&queue.join("physical_block_size")).ok(),
        write_cache: read_text(&queue.join("write_cache")).ok(),
        model: read_text(&disk.join("device/model"))
            .ok()
            .map(|text| text.trim().to_string())
            .filter(|model| !model.is_empty()),
        max_request_bytes: read_number::<u64>(&queue.join("max_sectors_kb")).ok().and_then(|kib| kib.checked_mul(1024)),
        slaves: slaves(disk, depth),
    })
}

fn slaves(disk: &Path, depth: usize) -> Vec<BlockDevice> {
    if depth == 0 {
        return Vec::new();
    }
    let mut slaves: Vec<BlockDevice> = Vec::new();
    for directory in links_in(&disk.join("slaves")) {
        let Some(slave) = device_in(&directory, depth - 1) else { continue };
        // Two partitions of one disk count as one disk.
        if slaves.iter().all(|other| other.name != slave.name) {
            slaves.push(slave);
        }
    }
    slaves
}

/// The targets of the links in a directory of /sys, ordered by name; none for a missing directory.
pub(super) fn links_in(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten();
    let mut links: Vec<PathBuf> = entries.filter_map(|entry| entry.ok()?.path().canonicalize().ok()).collect();
    sort::by(&mut links, Ord::cmp);
    links
}

/// The last part of a path: the kernel's name of a device. /sys writes a slash in it as `!`.
pub(super) fn name_of(directory: &Path) -> Option<String> {
    Some(directory.file_name()?.to_string_lossy().replace('!', "/"))
}

/// Size of a device. The kernel counts in 512-byte sectors, whatever the block size of the device is.
pub(super) fn size_bytes(directory: &Path) -> Option<u64> {
    read_number::<u64>(&directory.join("size")).ok()?.checked_mul(512)
}

/// The zones of a whole disk.
pub(super) fn zones(directory: &Path) -> Option<ZonedDevice> {
    let queue = directory.join("queue");
    let zoned = read_text(&queue.join("zoned")).ok().filter(|model| model.trim() != "none");
    let zone_bytes = read_number::<u64>(&queue.join("chunk_sectors")).ok()?.checked_mul(512)?;
    zoned.filter(|_| zone_bytes > 0)?;
    // A zone that was written and is closed counts as active, not as open. A limit of 0 is none.
    let limit = |name: &str| read_number::<u32>(&queue.join(name)).ok().filter(|limit| *limit > 0);
    let open_max = [limit("max_open_zones"), limit("max_active_zones")].into_iter().flatten().min().unwrap_or(0);
    Some(ZonedDevice { zone_bytes, open_max })
}

/// The device number that files of this filesystem show.
pub(super) fn device_number(path: &Path) -> Option<DeviceNumber> {
    Some(number_of(std::fs::metadata(path).ok()?.dev()))
}

/// The directories in /sys of the devices that a mount names, such as `/dev/sdb2`. btrfs may span more devices than
/// the one that was mounted; bcachefs names all of its devices.
pub(super) fn devices_of_source(look: &Look, mount: &Mount) -> Vec<PathBuf> {
    let names = mount.source.split(':').filter(|name| name.starts_with('/'));
    let numbers = names.filter_map(|name| block_number(Path::new(name)));
    let directories: Vec<PathBuf> = numbers.filter_map(|number| directory(look, number)).collect();
    let members = directories.first().and_then(|directory| btrfs_members(look, directory));
    members.unwrap_or(directories)
}

/// The directories of all devices of the btrfs filesystem that `directory` is part of.
pub(super) fn btrfs_members(look: &Look, directory: &Path) -> Option<Vec<PathBuf>> {
    let filesystems = std::fs::read_dir(look.sys.join("fs/btrfs")).ok()?;
    filesystems
        .filter_map(|entry| Some(links_in(&entry.ok()?.path().join("devices"))))
        .find(|members| members.iter().any(|member| member == directory))
}

/// The number of a block device; `None` for anything else.
pub(super) fn block_number(path: &Path) -> Option<DeviceNumber> {
    let metadata = std::fs::metadata(path).ok()?;
    metadata.file_type().is_block_device().then(|| number_of(metadata.rdev()))
}

/// The number of the block device at a path, or of the disk that the character device there reaches (`/dev/sg0`,
/// `/dev/ng0n1`).
pub(super) fn disk_number(look: &Look, path: &Path) -> Option<DeviceNumber> {
    let metadata = std::fs::metadata(path).ok()?;
    let (kind, number) = (metadata.file_type(), number_of(metadata.rdev()));
    match () {
        () if kind.is_block_device() => Some(number),
        () if kind.is_char_device() => disk_behind(look, number),
        () => None,
    }
}

/// Splits a device number into its two parts.
pub(super) fn number_of(device: u64) -> DeviceNumber {
    DeviceNumber { major: rustix::fs::major(device), minor: rustix::fs::minor(device) }
}

/// The active scheduler of a list such as `none [mq-deadline] kyber`.
fn active_scheduler(text: &str) -> String {
    let bracketed = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    bracketed.map_or(text, |(active, _)| active).to_string()
}

/// The directories of the disks that a character device reaches: the disks of a SCSI device (sg, bsg), or the NVMe
/// namespace of the same number.
pub(super) fn disks_behind(look: &Look, character: DeviceNumber) -> Vec<PathBuf> {
    let Some(directory) = character_directory(look, character) else { return Vec::new() };
    let scsi = std::fs::read_dir(directory.join("device/block")).into_iter().flatten().flatten();
    let mut disks: Vec<PathBuf> = scsi.map(|entry| entry.path()).collect();
    if let Some(namespace) = namespace_name(&directory) {
        disks.push(look.sys.join("class/block").join(format!("nvme{namespace}")));
    }
    disks.retain(|disk| read_text(&disk.join("dev")).is_ok());
    disks
}

fn character_directory(look: &Look, character: DeviceNumber) -> Option<PathBuf> {
    look.sys.join("dev/char").join(character.to_string()).canonicalize().ok()
}

/// What the name of an NVMe namespace has behind `ng`; `None`: the directory is that of another device.
fn namespace_name(directory: &Path) -> Option<&str> {
    directory.file_name()?.to_str()?.strip_prefix("ng")
}

/// Whether a character device is an NVMe namespace.
pub(super) fn is_namespace(look: &Look, character: DeviceNumber) -> bool {
    character_directory(look, character).is_some_and(|directory| namespace_name(&directory).is_some())
}

/// The disk that a character device reaches, if it reaches exactly one.
pub(super) fn disk_behind(look: &Look, character: DeviceNumber) -> Option<DeviceNumber> {
    let [disk] = &disks_behind(look, character)[..] else { return None };
    number_in(disk)
}

#[cfg(test)]
pub(super) mod fixture {
    //! A tree like /sys: disks sda (with sda1 and sda2) and sdb, md0 over sda2 and sdb, dm-0 over md0, loop0.

    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    pub(in crate::linux) struct Tree {
        pub(in crate::linux) look: Look,
        pub(in crate::linux) root: tempfile::TempDir,
    }

    /// A writable mount with these options that lies on no disk.
    pub(in crate::linux) fn mount(fstype: &str, mount_point: &str, source: &str, options: &str) -> Mount {
        Mount {
            id: Some(1),
            device: DeviceNumber { major: 0, minor: 50 },
            root: Some("/".into()),
            mount_point: mount_point.into(),
            fstype: fstype.into(),
            source: source.into(),
            options: ["rw"].into_iter().chain(options.split(',')).map(str::to_owned).collect(),
        }
    }

    fn disk(sys: &Path, name: &str, number: &str, sectors: u64) -> PathBuf {
        let directory = sys.join("devices").join(name);
        fs::create_dir_all(directory.join("queue")).unwrap();
        fs::create_dir_all(directory.join("slaves")).unwrap();
        fs::create_dir_all(directory.join("holders")).unwrap();
        fs::write(directory.join("size"), format!("{sectors}\n")).unwrap();
        fs::write(directory.join("queue/rotational"), "1\n").unwrap();
        fs::write(directory.join("queue/scheduler"), "none [mq-deadline] kyber\n").unwrap();
        fs::write(directory.join("queue/nr_requests"), "256\n").unwrap();
        fs::write(directory.join("queue/logical_block_size"), "512\n").unwrap();
        link(sys, &directory, number);
        directory
    }

    fn partition(sys: &Path, disk: &Path, name: &str, number: &str) -> PathBuf {
        let directory = disk.join(name);
        fs::create_dir_all(directory.join("holders")).unwrap();
        fs::write(directory.join("partition"), "1\n").unwrap();
        fs::write(directory.join("size"), "2048\n").unwrap();
        link(sys, &directory, number);
        directory
    }

    fn link(sys: &Path, directory: &Path, number: &str) {
        fs::write(directory.join("dev"), number).unwrap();
        fs::create_dir_all(sys.join("dev/block")).unwrap();
        symlink(directory, sys.join("dev/block").join(number)).unwrap();
    }

    fn stack(upper: &Path, lower: &Path) {
        let lower_name = lower.file_name().unwrap();
        let upper_name = upper.file_name().unwrap();
        symlink(lower, upper.join("slaves").join(lower_name)).unwrap();
        symlink(upper, lower.join("holders").join(upper_name)).unwrap();
    }

    pub(in crate::linux) fn tree() -> Tree {
        let root = tempfile::tempdir().unwrap();
        let sys = root.path().canonicalize().unwrap().join("sys");
        let sda = disk(&sys, "sda", "8:0", 1_000_000);
        partition(&sys, &sda, "sda1", "8:1");
        let sda2 = partition(&sys, &sda, "sda2", "8:2");
        let sdb = disk(&sys, "sdb", "8:16", 2_000_000);
        let md0 = disk(&sys, "md0", "9:0", 3000);
        let dm0 = disk(&sys, "dm-0", "253:0", 2000);
        stack(&md0, &sda2);
        stack(&md0, &sdb);
        stack(&dm0, &md0);
        let loop0 = disk(&sys, "loop0", "7:0", 8);
        fs::create_dir(loop0.join("loop")).unwrap();
        fs::write(loop0.join("loop/backing_file"), "/images/disk one\n").unwrap();
        let proc = root.path().join("proc");
        fs::create_dir_all(proc.join("self")).unwrap();
        Tree { look: Look::at(proc, sys), root }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(major: u32, minor: u32) -> DeviceNumber {
        DeviceNumber { major, minor }
    }

    #[test]
    fn a_disk_and_its_queue() {
        let tree = fixture::tree();
        let sdb = device(&tree.look, number(8, 16)).unwrap();
        assert_eq!(sdb.name, "sdb");
        assert_eq!(sdb.partition, None);
        assert_eq!(sdb.size_bytes, Some(1_024_000_000));
        assert_eq!(sdb.rotational, Some(true));
        assert_eq!(sdb.scheduler.as_deref(), Some("mq-deadline"));
        assert_eq!(sdb.queue_requests, Some(256));
        assert_eq!(sdb.logical_block_bytes, Some(512));
        assert_eq!(sdb.physical_block_bytes, None, "not shown is not 0");
        assert!(sdb.slaves.is_empty());
    }

    #[test]
    fn a_partition_is_on_its_disk() {
        let tree = fixture::tree();
        let sda1 = device(&tree.look, number(8, 1)).unwrap();
        assert_eq!((sda1.name.as_str(), sda1.partition.as_deref()), ("sda", Some("sda1")));
        assert_eq!(sda1.size_bytes, Some(1_048_576), "the size of the partition");
        assert_eq!(sda1.queue_requests, Some(256), "the disk's");
    }

    #[test]
    fn a_stack_shows_what_is_below() {
        let tree = fixture::tree();
        let dm0 = device(&tree.look, number(253, 0)).unwrap();
        assert_eq!(dm0.name, "dm-0");
        let md0 = &dm0.slaves[0];
        assert_eq!(md0.name, "md0");
        let below: Vec<_> = md0.slaves.iter().map(|disk| (disk.name.as_str(), disk.partition.as_deref())).collect();
        assert_eq!(below, [("sda", Some("sda2")), ("sdb", None)]);
    }

    #[test]
    fn the_largest_request_is_shown_or_not_known() {
        let tree = fixture::tree();
        std::fs::write(tree.look.sys.join("devices/dm-0/queue/max_sectors_kb"), "1280\n").unwrap();
        let found = device(&tree.look, number(253, 0)).unwrap();
        assert_eq!(found.max_request_bytes, Some(1_310_720));
        assert_eq!(found.slaves[0].max_request_bytes, None, "not shown is not 0");
    }

    #[test]
    fn no_device_behind_an_anonymous_number() {
        assert_eq!(device(&fixture::tree().look, number(0, 44)), None);
    }

    #[test]
    fn schedulers() {
        assert_eq!(active_scheduler("[none] mq-deadline"), "none");
        assert_eq!(active_scheduler("none"), "none");
    }

    #[test]
    fn all_members_of_a_btrfs_are_found() {
        let tree = fixture::tree();
        let devices = tree.look.sys.join("fs/btrfs/0b7c-uuid/devices");
        std::fs::create_dir_all(&devices).unwrap();
        std::fs::create_dir_all(tree.look.sys.join("fs/btrfs/features")).unwrap();
        for (link, target) in [("sda1", "devices/sda/sda1"), ("sdb", "devices/sdb")] {
            std::os::unix::fs::symlink(tree.look.sys.join(target), devices.join(link)).unwrap();
        }
        let sdb = tree.look.sys.join("devices/sdb");
        assert_eq!(btrfs_members(&tree.look, &sdb).unwrap().len(), 2);
        let loop0 = tree.look.sys.join("devices/loop0");
        assert_eq!(btrfs_members(&tree.look, &loop0), None, "not part of a btrfs filesystem");
    }
}
