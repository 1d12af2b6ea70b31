//! Reads paths and the volumes that they are on.

use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};

use fsdyno_os::files::{FileAccess, FileKind as OpenKind, OpenFile, OpenMode, Reach};
use fsdyno_os::machine::{self, Drive, Volume};
use fsdyno_results::evidence::{
    CgroupIdentity, DeviceNumber, DirectIo, Mount, RecordedFact, ServerIdentity, Space, Storage, StorageClass,
};

use super::{disks, not_there, route};
use crate::drives::{self, Raw};
use crate::server::{self, Endpoint};
use crate::{DeviceUse, Fact, FileKind, NotVisible, PathFacts};

/// Flags of GetVolumeInformation: the volume is read-only; all of it is compressed.
const READ_ONLY_VOLUME: u32 = 0x0008_0000;
const VOLUME_IS_COMPRESSED: u32 = 0x0000_8000;

/// The path, or its nearest parent that exists.
pub(super) fn nearest_existing(path: &Path) -> PathBuf {
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

/// A volume as a mount: its serial number stands for the device number, and its name for the source.
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
    if raw(path).is_some() {
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

/// The raw disk or volume that a path names; `None`: the path names a file.
fn raw(path: &Path) -> Option<Raw> {
    drives::raw(&path.as_os_str().to_string_lossy())
}

/// The numbers of the disks behind a path; none for memory and servers.
pub(super) fn disks_behind(path: &Path) -> Fact<Vec<u32>> {
    let hidden = || NotVisible::new(path.display(), "Windows does not say on which disks it is");
    match raw(path) {
        Some(Raw::Disk(number)) => Ok(vec![number]),
        Some(Raw::Volume(_)) => disks::numbers(&path.to_string_lossy()),
        Some(Raw::Other) => Err(hidden()),
        None => {
            let volume = volume_of(path)?;
            match class(volume.drive) {
                StorageClass::Memory | StorageClass::Network => Ok(Vec::new()),
                _ => disks::numbers(volume.name.as_deref().ok_or_else(hidden)?),
            }
        }
    }
}

fn space(path: &Path) -> Fact<Space> {
    let place = nearest_existing(path);
    let directory = if place.is_dir() { place.as_path() } else { place.parent().unwrap_or(&place) };
    let (total_bytes, available_bytes) = machine::space_of(directory)
        .map_err(|code| NotVisible::new(format!("space of {}", directory.display()), Error::from_raw_os_error(code)))?;
    Ok(Space { total_bytes, available_bytes })
}

/// Direct I/O there: unbuffered I/O needs sectors of the volume, and memory with the same alignment.
fn direct_io(path: &Path) -> Fact<DirectIo> {
    let volume = volume_of(path)?;
    let bytes = machine::sector_bytes(&volume.mount_point).map_err(|code| {
        NotVisible::new(format!("sectors of {}", volume.mount_point.display()), Error::from_raw_os_error(code))
    })?;
    Ok(DirectIo::Aligned { memory_bytes: bytes, offset_bytes: bytes })
}

pub(super) fn path_facts(path: &Path) -> PathFacts {
    let found = Reach::ByPath.look(path);
    let raw = raw(path);
    let kind = match &found {
        _ if raw.is_some() => FileKind::BlockDevice,
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
        place: None,
        kind,
        size_bytes: regular.map(|facts| facts.size_bytes).or_else(|| raw_size(path, raw.as_ref()?)),
        allocated_bytes: regular.map(|facts| facts.allocated_bytes),
        parent_exists: path.parent().is_none_or(|parent| parent.as_os_str().is_empty() || parent.is_dir()),
        mount: mount_of(path),
        space: space(path),
        direct_io: direct_io(path).ok(),
        devices: disks_behind(path).and_then(|numbers| disks::devices(&numbers)),
        zones: None,
        namespace: None,
        device_use: None,
    }
}

/// Who uses a raw disk or volume; a file has no other users.
pub(super) fn device_use(path: &Path) -> DeviceUse {
    let Some(raw) = raw(path) else { return DeviceUse::default() };
    disks::device_use(path, &raw, raw_size(path, &raw))
}

/// The capacity of a raw disk or volume. A disk reports it to every user, a volume only to users who may read it.
fn raw_size(path: &Path, raw: &Raw) -> Option<u64> {
    match raw {
        Raw::Disk(number) => disks::disk(*number).ok()?.size_bytes,
        _ => OpenFile::open(path, OpenMode::buffered(FileAccess::Read)).ok()?.size().ok(),
    }
}

/// The server of a remote drive or path, with its share and protocol. Facts about it that are not visible become
/// remarks.
fn server_of(asked: &Path, place: &Path, remarks: &mut Vec<String>) -> Option<ServerIdentity> {
    if class_of(asked) != StorageClass::Network {
        return None;
    }
    let path = place.to_string_lossy().into_owned();
    let device = path.get(..2).and_then(machine::device_of_drive).unwrap_or_default();
    let (server, share) = drives::named_share(&path).or_else(|| drives::share(&device))?;
    let protocol = machine::protocol_of(place).ok();
    let is_here = protocol.is_some_and(|protocol| protocol.is_here);
    let port = if protocol.is_some_and(|protocol| protocol.name == Some("NFS")) { 2049 } else { 445 };
    let protocol =
        protocol.and_then(|found| found.name.map(|name| format!("{name} {}.{}", found.version[0], found.version[1])));
    remarks.push(format!(
        "share {share} of {server}, {}; counters of the client and leases, by which it may read from its own memory, are \
         not visible: direct=1 goes past that memory",
        protocol.as_deref().unwrap_or("by a protocol that is not visible")
    ));
    let server = route::server(&Endpoint { host: server.to_owned(), port }, is_here);
    remarks.extend(server::remark(&server));
    Some(server)
}

pub(super) fn storage_of(asked: &Path) -> Storage {
    let place = nearest_existing(asked);
    let volume = volume_of(asked);
    let compressed = volume.as_ref().is_ok_and(|volume| volume.flags & VOLUME_IS_COMPRESSED != 0);
    let numbers = disks_behind(asked);
    let mut remarks = disks::remarks(numbers.as_deref().unwrap_or_default());
    if volume.as_ref().is_ok_and(|volume| volume.flags & READ_ONLY_VOLUME != 0) {
        remarks.push("the volume is read-only".to_string());
    }
    if machine::service_runs("WinDefend") == Some(true) {
        remarks.push(
            "Microsoft Defender runs and may scan the test files; whether this directory is excluded is not visible"
                .to_string(),
        );
    }
    if matches!(class_of(asked), StorageClass::Block) {
        remarks.push("whether BitLocker encrypts the volume is not visible".to_string());
    }
    Storage {
        filesystem_id: None,
        asked_path: asked.display().to_string(),
        exists: RecordedFact::Value(asked.exists()),
        resolved_path: RecordedFact::Value(place.display().to_string()),
        class: class_of(asked),
        mount: volume.map(mount).into(),
        space: space(asked).into(),
        direct_io: direct_io(asked).into(),
        devices: numbers.and_then(|numbers| disks::devices(&numbers)).into(),
        layers: Vec::new(),
        compression: compressed.then(|| "the volume is compressed".to_string()),
        nfs: None,
        fuse: None,
        server: server_of(asked, &place, &mut remarks),
        cgroup: CgroupIdentity {
            memory_bytes: RecordedFact::NotVisible(not_there("control groups").to_string()),
            cpus: RecordedFact::NotVisible(not_there("control groups").to_string()),
            io: RecordedFact::NotVisible(not_there("control groups").to_string()),
        },
        remarks,
    }
}
