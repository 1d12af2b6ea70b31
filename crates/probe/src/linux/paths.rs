//! Everything about one path.

use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, StatxFlags};

use super::{Look, block, identity, mounts, processes};
use crate::fuse::{is_fuse, is_fuse_on_device};
use crate::{Fact, FileKind, NotVisible, PathFacts};
use results::evidence::{BlockDevice, DeviceNumber, DirectIo, Mount, Space};

pub(super) fn path_facts(look: &Look, path: &Path) -> PathFacts {
    let metadata = std::fs::metadata(path);
    let kind = match &metadata {
        Ok(metadata) => kind_of(metadata.file_type()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => FileKind::Missing,
        Err(error) => FileKind::Unreachable(error.raw_os_error().unwrap_or(0)),
    };
    let regular = metadata.as_ref().ok().filter(|_| kind == FileKind::Regular);
    let device = metadata.as_ref().ok().filter(|_| kind == FileKind::BlockDevice).map(|m| number_of(m.rdev()));
    PathFacts {
        kind,
        size_bytes: match device {
            Some(number) => block::directory(look, number).and_then(|directory| block::size_bytes(&directory)),
            None => regular.map(MetadataExt::size),
        },
        allocated_bytes: regular.map(|metadata| metadata.blocks() * 512),
        parent_exists: parent_exists(path),
        mount: mounts::mount_of(look, path),
        space: match kind {
            FileKind::BlockDevice | FileKind::CharacterDevice => Err(NotVisible::new(path.display(), "is a device")),
            _ => space(path),
        },
        direct_io: direct_io(path),
        devices: devices_of(look, path),
        device_use: None,
    }
}

/// The whole disks behind a path.
pub(super) fn devices_of(look: &Look, path: &Path) -> Fact<Vec<BlockDevice>> {
    let known = look.sys.join("dev/block");
    if !known.is_dir() {
        return Err(NotVisible::new(known.display(), "no such directory"));
    }
    let existing = mounts::nearest_existing(path);
    let metadata =
        std::fs::metadata(&existing).map_err(|error| NotVisible::new(format!("stat {}", existing.display()), error))?;
    let is_device = metadata.file_type().is_block_device();
    let number = number_of(if is_device { metadata.rdev() } else { metadata.dev() });
    if let Some(known) = look.devices().get(&number) {
        return known.clone();
    }
    let devices = match block::device(look, number) {
        Some(device) => Ok(vec![device]),
        None if is_device => Ok(Vec::new()),
        None => mounts::mount_of(look, &existing).and_then(|mount| devices_of_mount(look, &mount)),
    };
    look.devices().insert(number, devices.clone());
    devices
}

/// For filesystems whose files show an anonymous device number, and where no file answers.
pub(super) fn devices_of_mount(look: &Look, mount: &Mount) -> Fact<Vec<BlockDevice>> {
    match (mount.fstype.as_str(), mount.option("upperdir")) {
        // New data goes to the upper directory, which a container may not see.
        ("overlay", Some(upper)) if Path::new(upper).exists() => devices_of(look, Path::new(upper)),
        ("overlay", Some(upper)) => Err(NotVisible::new(
            upper,
            "the overlay's upper directory is not visible to this \
                                                                process",
        )),
        // The folder that a local daemon (bindfs, gocryptfs) serves is the mount's source.
        (fstype, _) if is_fuse(fstype) && !is_fuse_on_device(fstype) && Path::new(&mount.source).is_absolute() => {
            let own = devices_of_source(look, &mount.source);
            let served = || served_folder(look, mount).and_then(|folder| devices_of(look, folder).ok());
            Ok(if own.is_empty() { served().unwrap_or_default() } else { own })
        }
        _ => Ok(devices_of_source(look, &mount.source)),
    }
}

/// The folder that a FUSE mount names as its source, where its daemon sees the same files as this process.
fn served_folder<'m>(look: &Look, mount: &'m Mount) -> Option<&'m Path> {
    let daemon = identity::fuse_daemon_at(look, &mount.mount_point).ok()?;
    let folder = Path::new(&mount.source);
    let same_files = processes::shares_namespace(look, daemon.pid, "mnt") == Ok(true);
    // Not on the mount itself, which would ask for itself for ever.
    let apart = mounts::mount_of(look, folder).is_ok_and(|below| below.device != mount.device);
    (same_files && apart && folder.is_dir()).then_some(folder)
}

/// Sources such as `/dev/sdb2`; btrfs may span more devices than the one it was mounted by.
fn devices_of_source(look: &Look, source: &str) -> Vec<BlockDevice> {
    let Some(number) = block_number(Path::new(source)) else { return Vec::new() };
    let Some(directory) = block::directory(look, number) else { return Vec::new() };
    let members = btrfs_members(look, &directory).unwrap_or_else(|| vec![directory]);
    let mut devices: Vec<BlockDevice> = Vec::new();
    for member in members {
        let Some(device) = block::number_in(&member).and_then(|number| block::device(look, number)) else { continue };
        if devices.iter().all(|other| other.name != device.name) {
            devices.push(device);
        }
    }
    devices
}

/// The directories of all devices of the btrfs filesystem that `directory` is part of.
pub(super) fn btrfs_members(look: &Look, directory: &Path) -> Option<Vec<std::path::PathBuf>> {
    let filesystems = std::fs::read_dir(look.sys.join("fs/btrfs")).ok()?;
    filesystems
        .filter_map(|entry| Some(block::links_in(&entry.ok()?.path().join("devices"))))
        .find(|members| members.iter().any(|member| member == directory))
}

/// The number of a block device; `None` for anything else.
pub(super) fn block_number(path: &Path) -> Option<DeviceNumber> {
    let metadata = std::fs::metadata(path).ok()?;
    metadata.file_type().is_block_device().then(|| number_of(metadata.rdev()))
}

/// A device number in its two parts.
pub(super) fn number_of(device: u64) -> DeviceNumber {
    DeviceNumber { major: rustix::fs::major(device), minor: rustix::fs::minor(device) }
}

/// What stands at a path, links followed.
pub(super) fn kind_of(kind: std::fs::FileType) -> FileKind {
    match kind {
        kind if kind.is_file() => FileKind::Regular,
        kind if kind.is_dir() => FileKind::Directory,
        kind if kind.is_block_device() => FileKind::BlockDevice,
        kind if kind.is_char_device() => FileKind::CharacterDevice,
        _ => FileKind::Other,
    }
}

fn parent_exists(path: &Path) -> bool {
    match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => true,
        Some(parent) => parent.is_dir(),
        None => true,
    }
}

/// Space of the filesystem that the path is on, or would be on.
pub(super) fn space(path: &Path) -> Fact<Space> {
    let existing = mounts::nearest_existing(path);
    let stat = rustix::fs::statvfs(&existing)
        .map_err(|error| NotVisible::new(format!("statvfs {}", existing.display()), error))?;
    // Network filesystems that cannot know answer zero blocks; that is not a full disk.
    if stat.f_blocks == 0 {
        return Err(NotVisible::new(format!("statvfs {}", existing.display()), "the filesystem reports no size"));
    }
    let bytes = |blocks: u64| blocks.saturating_mul(stat.f_frsize);
    Ok(Space { total_bytes: bytes(stat.f_blocks), available_bytes: bytes(stat.f_bavail) })
}

/// What the kernel says about direct I/O on a file; `None`: nothing.
pub(super) fn direct_io(path: &Path) -> Option<DirectIo> {
    let stat = rustix::fs::statx(CWD, path, AtFlags::empty(), StatxFlags::DIOALIGN).ok()?;
    if stat.stx_mask & StatxFlags::DIOALIGN.bits() == 0 {
        return None;
    }
    match (stat.stx_dio_mem_align, stat.stx_dio_offset_align) {
        (0, _) | (_, 0) => Some(DirectIo::Refused),
        (memory_bytes, offset_bytes) => Some(DirectIo::Aligned { memory_bytes, offset_bytes }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::block::fixture;
    use std::fs;

    #[test]
    fn all_members_of_a_btrfs_are_found() {
        let tree = fixture::tree();
        let devices = tree.look.sys.join("fs/btrfs/0b7c-uuid/devices");
        fs::create_dir_all(&devices).unwrap();
        fs::create_dir_all(tree.look.sys.join("fs/btrfs/features")).unwrap();
        for (link, target) in [("sda1", "devices/sda/sda1"), ("sdb", "devices/sdb")] {
            std::os::unix::fs::symlink(tree.look.sys.join(target), devices.join(link)).unwrap();
        }
        let sdb = tree.look.sys.join("devices/sdb");
        assert_eq!(btrfs_members(&tree.look, &sdb).unwrap().len(), 2);
        let loop0 = tree.look.sys.join("devices/loop0");
        assert_eq!(btrfs_members(&tree.look, &loop0), None, "not part of any");
    }

    #[test]
    fn an_overlay_whose_upper_directory_is_hidden_is_not_visible() {
        let tree = fixture::tree();
        let mut mount = mounts::mount_of(&Look::new(), Path::new("/proc")).unwrap();
        mount.fstype = "overlay".into();
        mount.options = vec!["rw".into(), "upperdir=/no/such/place".into()];
        assert!(devices_of_mount(&tree.look, &mount).is_err());
        mount.fstype = "nfs4".into();
        mount.source = "server:/export".into();
        assert_eq!(devices_of_mount(&tree.look, &mount), Ok(vec![]));
    }

    #[test]
    fn without_sys_the_disks_are_not_visible() {
        let look = Look::at("/proc".into(), "/nowhere".into());
        assert!(devices_of(&look, Path::new("/")).is_err());
    }

    #[test]
    fn a_file_a_directory_and_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("file");
        fs::write(&file, vec![1; 10_000]).unwrap();
        let facts = path_facts(&Look::new(), &file);
        assert_eq!((facts.kind, facts.size_bytes), (FileKind::Regular, Some(10_000)));
        assert!(facts.exists() && facts.parent_exists);
        assert_eq!(facts.mount_writable(), Some(true));
        let space = facts.space.unwrap();
        assert!(space.available_bytes <= space.total_bytes);

        let missing = path_facts(&Look::new(), &directory.path().join("a/b"));
        assert_eq!((missing.kind, missing.size_bytes), (FileKind::Missing, None));
        assert!(!missing.parent_exists && !missing.exists());
        assert_eq!(missing.mount, facts.mount, "the place where it would be");
        assert_eq!(missing.devices, facts.devices);

        assert_eq!(path_facts(&Look::new(), directory.path()).kind, FileKind::Directory);
        let device = path_facts(&Look::new(), Path::new("/dev/null"));
        assert_eq!(device.kind, FileKind::CharacterDevice);
        assert!(device.space.is_err(), "the room in /dev is not the device's");
        let below = path_facts(&Look::new(), &file.join("x"));
        assert_eq!(below.kind, FileKind::Unreachable(20), "ENOTDIR");
    }

    #[test]
    fn a_sparse_file_has_less_than_its_size() {
        let directory = tempfile::tempdir_in(".").unwrap();
        let path = directory.path().join("sparse");
        fs::File::create(&path).unwrap().set_len(1 << 30).unwrap();
        let facts = path_facts(&Look::new(), &path);
        assert_eq!(facts.size_bytes, Some(1 << 30));
        assert!(facts.allocated_bytes.unwrap() < 1 << 20);
    }

    #[test]
    fn a_link_counts_as_its_target() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("file"), "12345").unwrap();
        std::os::unix::fs::symlink("file", directory.path().join("link")).unwrap();
        let facts = path_facts(&Look::new(), &directory.path().join("link"));
        assert_eq!((facts.kind, facts.size_bytes), (FileKind::Regular, Some(5)));
    }
}
