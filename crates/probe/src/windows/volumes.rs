//! Paths and the volumes that they are on.

use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};

use engine::files::{FileKind as OpenKind, Reach};
use engine::machine::{self, Drive, Volume};
use results::evidence::{CgroupIdentity, DeviceNumber, DirectIo, Mount, Seen, Space, Storage, StorageClass};

use super::{not_read, not_there};
use crate::{Fact, FileKind, NotVisible, PathFacts};

/// Flags of GetVolumeInformation: nothing can be written, and all is compressed.
const READ_ONLY_VOLUME: u32 = 0x0008_0000;
const VOLUME_IS_COMPRESSED: u32 = 0x0000_8000;

/// Names of raw disks and volumes begin so.
const DEVICE_PREFIX: &str = r"\\.\";

/// The path, or its nearest parent that exists.
fn nearest_existing(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let existing = path.ancestors().find(|candidate| candidate.exists());
    existing.map_or_else(|| path.clone(), Path::to_owned)
}

fn volume_of(path: &Path) -> Fact<Volume> {
    let place = nearest_existing(path);
    machine::volume_of(&place)
        .map_err(|code| NotVisible::new(format!("volume of {}", place.display()), Error::from_raw_os_error(code)))
}

pub(super) fn mount_of(path: &Path) -> Fact<Mount> {
    volume_of(path).map(mount)
}

/// A volume in the words that all systems share: its serial number stands for the device, and its name for the source.
fn mount(volume: Volume) -> Mount {
    let has = |flag| volume.flags & flag != 0;
    let mut options = vec![if has(READ_ONLY_VOLUME) { "ro" } else { "rw" }.to_string()];
    if has(VOLUME_IS_COMPRESSED) {
        options.push("compressed".to_string());
    }
    Mount {
        id: None,
        device: DeviceNumber { major: volume.serial >> 16, minor: volume.serial & 0xffff },
        root: None,
        source: volume.name.unwrap_or_else(|| volume.mount_point.display().to_string()),
        mount_point: volume.mount_point,
        fstype: volume.filesystem,
        options,
    }
}

pub(super) fn class_of(path: &Path) -> StorageClass {
    if is_device(path) {
        return StorageClass::Device;
    }
    volume_of(path).map_or(StorageClass::Unknown, |volume| class(volume.drive))
}

fn class(drive: Drive) -> StorageClass {
    match drive {
        Drive::Fixed | Drive::Removable | Drive::Disc => StorageClass::Block,
        Drive::Remote => StorageClass::Network,
        Drive::Memory => StorageClass::Memory,
        Drive::Unknown => StorageClass::Unknown,
    }
}

fn is_device(path: &Path) -> bool {
    path.as_os_str().to_string_lossy().starts_with(DEVICE_PREFIX)
}

fn space(path: &Path) -> Fact<Space> {
    let place = nearest_existing(path);
    let directory = if place.is_dir() { place.as_path() } else { place.parent().unwrap_or(&place) };
    let (total_bytes, available_bytes) = machine::space_of(directory)
        .map_err(|code| NotVisible::new(format!("space of {}", directory.display()), Error::from_raw_os_error(code)))?;
    Ok(Space { total_bytes, available_bytes })
}

/// Unbuffered I/O goes in sectors of the volume, from memory that is aligned as they are.
fn direct_io(path: &Path) -> Fact<DirectIo> {
    let volume = volume_of(path)?;
    let bytes = machine::sector_bytes(&volume.mount_point).map_err(|code| {
        NotVisible::new(format!("sectors of {}", volume.mount_point.display()), Error::from_raw_os_error(code))
    })?;
    Ok(DirectIo::Aligned { memory_bytes: bytes, offset_bytes: bytes })
}

pub(super) fn path_facts(path: &Path) -> PathFacts {
    let found = Reach::ByPath.look(path);
    let kind = match &found {
        _ if is_device(path) => FileKind::BlockDevice,
        Ok(facts) => match facts.kind {
            None => FileKind::Directory,
            Some(OpenKind::Regular) => FileKind::Regular,
            Some(OpenKind::BlockDevice) => FileKind::BlockDevice,
            Some(OpenKind::CharacterDevice) => FileKind::CharacterDevice,
            Some(OpenKind::Other) => FileKind::Other,
        },
        Err(error) if Error::from_raw_os_error(error.code).kind() == ErrorKind::NotFound => FileKind::Missing,
        Err(error) => FileKind::Unreachable(error.code),
    };
    let regular = found.ok().filter(|_| kind == FileKind::Regular);
    PathFacts {
        kind,
        size_bytes: regular.map(|facts| facts.size_bytes),
        allocated_bytes: regular.map(|facts| facts.allocated_bytes),
        parent_exists: path.parent().is_none_or(|parent| parent.as_os_str().is_empty() || parent.is_dir()),
        mount: mount_of(path),
        space: space(path),
        direct_io: direct_io(path).ok(),
        devices: Err(not_read("the disks behind a volume")),
        device_use: None,
    }
}

pub(super) fn storage_of(asked: &Path) -> Storage {
    let place = nearest_existing(asked);
    let volume = volume_of(asked);
    let compressed = volume.as_ref().is_ok_and(|volume| volume.flags & VOLUME_IS_COMPRESSED != 0);
    let mut remarks = Vec::new();
    if volume.as_ref().is_ok_and(|volume| volume.flags & READ_ONLY_VOLUME != 0) {
        remarks.push("the volume is read-only".to_string());
    }
    Storage {
        asked_path: asked.display().to_string(),
        exists: Seen::Value(asked.exists()),
        resolved_path: Seen::Value(place.display().to_string()),
        class: class_of(asked),
        mount: volume.map(mount).into(),
        space: space(asked).into(),
        direct_io: direct_io(asked).into(),
        devices: Seen::NotVisible(not_read("the disks behind a volume").to_string()),
        stack: Vec::new(),
        compression: compressed.then(|| "the volume is compressed".to_string()),
        nfs: None,
        fuse: None,
        server: None,
        cgroup: CgroupIdentity {
            memory_bytes: Seen::NotVisible(not_there("control groups").to_string()),
            cpus: Seen::NotVisible(not_there("control groups").to_string()),
            io: Seen::NotVisible(not_there("control groups").to_string()),
        },
        remarks,
    }
}
