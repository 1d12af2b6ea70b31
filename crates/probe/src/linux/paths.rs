//! Collects all facts about one path.

use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, StatxFlags};

use super::layers::{self, LayerQuery};
use super::{Look, block, mounts};
use crate::{DataPlace, Fact, FileKind, NotVisible, PathFacts};
use fsdyno_os::nvme::Namespace;
use fsdyno_results::evidence::{BlockDevice, DirectIo, Mount, Space};

pub(super) fn path_facts(look: &Look, path: &Path) -> PathFacts {
    let metadata = std::fs::metadata(path);
    let kind = match &metadata {
        Ok(metadata) => kind_of(metadata.file_type()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => FileKind::Missing,
        Err(error) => FileKind::Unreachable(error.raw_os_error().unwrap_or(0)),
    };
    let regular = metadata.as_ref().ok().filter(|_| kind == FileKind::Regular);
    let device = block::disk_number(look, path);
    let existing = mounts::nearest_existing(path);
    let mount = mounts::mount_of(look, &existing);
    let place = data_place(look, &existing, mount.as_ref().ok());
    PathFacts {
        devices: place.clone().and_then(|place| devices_at(look, &existing, place)),
        place: place.ok(),
        mount,
        kind,
        size_bytes: match device {
            Some(number) => block::directory(look, number).and_then(|directory| block::size_bytes(&directory)),
            None => regular.map(MetadataExt::size),
        },
        allocated_bytes: regular.map(|metadata| metadata.blocks() * 512),
        parent_exists: parent_exists(path),
        space: match kind {
            FileKind::BlockDevice | FileKind::CharacterDevice => Err(NotVisible::new(path.display(), "is a device")),
            _ => space(path),
        },
        direct_io: direct_io(path),
        zones: device.and_then(|number| block::zones(&block::directory(look, number)?)),
        namespace: metadata.as_ref().ok().and_then(|metadata| namespace(look, path, metadata)),
        device_use: None,
    }
}

/// What the namespace of an NVMe character device says of itself.
fn namespace(look: &Look, path: &Path, metadata: &std::fs::Metadata) -> Option<Namespace> {
    let is_one = metadata.file_type().is_char_device() && block::is_namespace(look, block::number_of(metadata.rdev()));
    let device = is_one.then(|| std::fs::File::open(path).ok()).flatten()?;
    fsdyno_os::linux::nvme::identify(device.as_fd()).ok()
}

/// The whole disks behind a path.
pub(super) fn devices_of(look: &Look, path: &Path) -> Fact<Vec<BlockDevice>> {
    let existing = mounts::nearest_existing(path);
    let place = data_place(look, &existing, mounts::mount_of(look, &existing).ok().as_ref())?;
    devices_at(look, &existing, place)
}

fn devices_at(look: &Look, existing: &Path, place: DataPlace) -> Fact<Vec<BlockDevice>> {
    if let Some(known) = look.devices().get(&place) {
        return known.clone();
    }
    let layers = layers::of_path(look, LayerQuery { path: existing, writes: false });
    let devices = layers::devices(look, &layers);
    look.devices().insert(place, devices.clone());
    devices
}

/// The place where the data of an existing path lie.
fn data_place(look: &Look, existing: &Path, mount: Option<&Mount>) -> Fact<DataPlace> {
    let metadata =
        std::fs::metadata(existing).map_err(|error| NotVisible::new(format!("stat {}", existing.display()), error))?;
    if let Some(device) = block::disk_number(look, existing) {
        return Ok(DataPlace { mount: None, device, branch: None });
    }
    let branch = mount.and_then(|mount| layers::branch_of(look, mount, existing));
    Ok(DataPlace { mount: mount.and_then(|mount| mount.id), device: block::number_of(metadata.dev()), branch })
}

/// The kind of file at a path, links followed.
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
    // Network filesystems that do not know their size report zero blocks; this does not mean a full disk.
    if stat.f_blocks == 0 {
        return Err(NotVisible::new(format!("statvfs {}", existing.display()), "the filesystem reports no size"));
    }
    let bytes = |blocks: u64| blocks.saturating_mul(stat.f_frsize);
    Ok(Space { total_bytes: bytes(stat.f_blocks), available_bytes: bytes(stat.f_bavail) })
}

/// What the kernel reports about direct I/O on a file; `None`: nothing.
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
    use std::fs;

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
        assert_eq!(missing.mount, facts.mount, "the place of the file to be made");
        assert_eq!(missing.devices, facts.devices);

        assert_eq!(path_facts(&Look::new(), directory.path()).kind, FileKind::Directory);
        let device = path_facts(&Look::new(), Path::new("/dev/null"));
        assert_eq!(device.kind, FileKind::CharacterDevice);
        assert!(device.space.is_err(), "the space of /dev is not the device's");
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
