//! Properties and counters of disks. The calls need no permission to read the content.

use std::os::windows::io::{AsHandle, OwnedHandle};
use std::path::{Path, PathBuf};

use windows_sys::Win32::Foundation::{ERROR_MORE_DATA, ERROR_NO_MORE_FILES, INVALID_HANDLE_VALUE};
use windows_sys::Win32::Storage::FileSystem::{
    BusTypeFileBackedVirtual, BusTypeNvme, BusTypeRAID, BusTypeSas, BusTypeSata, BusTypeScsi, BusTypeSpaces,
    BusTypeUsb, BusTypeVirtual, BusTypeiScsi, FindFirstVolumeW, FindNextVolumeW, FindVolumeClose,
    GetVolumePathNamesForVolumeNameW, STORAGE_BUS_TYPE,
};
use windows_sys::Win32::System::Ioctl::{
    DEVICE_SEEK_PENALTY_DESCRIPTOR, DISK_EXTENT, DISK_GEOMETRY_EX, DISK_PERFORMANCE, IOCTL_DISK_GET_DRIVE_GEOMETRY_EX,
    IOCTL_DISK_PERFORMANCE, IOCTL_STORAGE_QUERY_PROPERTY, PropertyStandardQuery, STORAGE_ACCESS_ALIGNMENT_DESCRIPTOR,
    STORAGE_PROPERTY_ID, STORAGE_PROPERTY_QUERY, STORAGE_WRITE_CACHE_PROPERTY, StorageAccessAlignmentProperty,
    StorageDeviceProperty, StorageDeviceSeekPenaltyProperty, StorageDeviceWriteCacheProperty, WriteCacheEnableUnknown,
    WriteCacheEnabled,
};

use super::super::{errno, files, native};
use super::text;

/// The request for the disks that a volume lies on.
const VOLUME_DISK_EXTENTS: u32 = 0x0056_0000;

/// Largest number of extents of a volume over several disks; with more, the call fails.
const EXTENTS_MAX: usize = 64;

/// The properties that a disk reports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Disk {
    /// Maker's name.
    pub model: Option<String>,
    /// Capacity.
    pub size_bytes: Option<u64>,
    /// How it is connected: `NVMe`, `SATA`.
    pub bus: Option<&'static str>,
    /// Whether it is a file on another disk: VHD, VHDX.
    pub is_file: bool,
    /// Whether it reports a rotating disk.
    pub rotational: Option<bool>,
    /// Size of an addressed sector, bytes.
    pub logical_sector_bytes: Option<u32>,
    /// Size of a physical sector, bytes.
    pub physical_sector_bytes: Option<u32>,
    /// Its write cache; `None`: not reported.
    pub write_cache: Option<WriteCache>,
}

/// The write cache of a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteCache {
    /// Whether it is used; `None`: not reported.
    pub enabled: Option<bool>,
    /// Whether Windows suppresses flushes, because somebody has set that the disk does not lose power.
    pub flushes_held_back: bool,
}

/// Counters of a disk since Windows began to count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiskCounters {
    /// Bytes read and written.
    pub bytes: [u64; 2],
    /// Requests, in counters of 32 bits.
    pub operations: [u32; 2],
    /// Time of all reads and of all writes, in units of 100 ns.
    pub time: [u64; 2],
    /// Time without a request, then the time of this reading, in units of 100 ns.
    pub idle: u64,
    /// See `idle`.
    pub now: u64,
}

/// A volume and where it is mounted, which may be nowhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MountedVolume {
    /// Its permanent name.
    pub name: String,
    /// Drives and folders where it is mounted.
    pub mounted_at: Vec<PathBuf>,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Extents {
    count: u32,
    extents: [DISK_EXTENT; EXTENTS_MAX],
}

/// Opens a disk or a volume for requests, without permission to its content.
fn opened(name: &str) -> Result<OwnedHandle, i32> {
    files::open_directory(Path::new(name.trim_end_matches('\\')), 0)
}

fn disk_name(number: u32) -> String {
    format!(r"\\.\PhysicalDrive{number}")
}

/// The numbers of the disks that a volume or disk lies on. `\\.\C:` and permanent names are accepted.
///
/// # Errors
/// The system's error number: no permission, or no disk below.
pub fn disks_of(volume: &str) -> Result<Vec<u32>, i32> {
    let mut extents = Extents { count: 0, extents: [DISK_EXTENT::default(); EXTENTS_MAX] };
    native::ask(opened(volume)?.as_handle(), VOLUME_DISK_EXTENTS, &(), &mut extents)?;
    let all = extents.extents.get(..extents.count as usize).ok_or(ERROR_MORE_DATA as i32)?;
    let mut numbers: Vec<u32> = all.iter().map(|extent| extent.DiskNumber).collect();
    numbers.sort_unstable();
    numbers.dedup();
    Ok(numbers)
}

/// The disk of this number.
///
/// # Errors
/// The system's error number: it does not exist.
pub fn disk(number: u32) -> Result<Disk, i32> {
    let handle = opened(&disk_name(number))?;
    let geometry = &mut DISK_GEOMETRY_EX::default();
    let size = native::ask(handle.as_handle(), IOCTL_DISK_GET_DRIVE_GEOMETRY_EX, &(), geometry);
    let (model, bus) = identity(&handle);
    let penalty: Option<DEVICE_SEEK_PENALTY_DESCRIPTOR> = property(&handle, StorageDeviceSeekPenaltyProperty);
    let sectors: Option<STORAGE_ACCESS_ALIGNMENT_DESCRIPTOR> = property(&handle, StorageAccessAlignmentProperty);
    let cache: Option<STORAGE_WRITE_CACHE_PROPERTY> = property(&handle, StorageDeviceWriteCacheProperty);
    Ok(Disk {
        model,
        size_bytes: size.ok().map(|_| geometry.DiskSize as u64),
        bus: bus.and_then(bus_name),
        is_file: bus == Some(BusTypeFileBackedVirtual),
        rotational: penalty.map(|penalty| penalty.IncursSeekPenalty),
        logical_sector_bytes: sectors.map(|sectors| sectors.BytesPerLogicalSector).filter(|bytes| *bytes > 0),
        physical_sector_bytes: sectors.map(|sectors| sectors.BytesPerPhysicalSector).filter(|bytes| *bytes > 0),
        write_cache: cache.map(|cache| WriteCache {
            enabled: (cache.WriteCacheEnabled != WriteCacheEnableUnknown)
                .then_some(cache.WriteCacheEnabled == WriteCacheEnabled),
            flushes_held_back: cache.UserDefinedPowerProtection,
        }),
    })
}

/// A property of a disk; for structures of plain numbers.
fn property<T: Copy + Default>(handle: &OwnedHandle, id: STORAGE_PROPERTY_ID) -> Option<T> {
    let query = STORAGE_PROPERTY_QUERY { PropertyId: id, QueryType: PropertyStandardQuery, ..Default::default() };
    let mut found = T::default();
    native::ask(handle.as_handle(), IOCTL_STORAGE_QUERY_PROPERTY, &query, &mut found).ok().map(|_| found)
}

/// Model and bus. Names follow the numbers, at offsets that the numbers give; 0: there is none.
fn identity(handle: &OwnedHandle) -> (Option<String>, Option<STORAGE_BUS_TYPE>) {
    /// Positions in the answer of the offset of the product's name, and of the bus.
    const PRODUCT_AT: usize = 16;
    const BUS_AT: usize = 28;
    let query = STORAGE_PROPERTY_QUERY {
        PropertyId: StorageDeviceProperty,
        QueryType: PropertyStandardQuery,
        ..Default::default()
    };
    let mut bytes = [0u8; 1024];
    let Ok(length) = native::ask(handle.as_handle(), IOCTL_STORAGE_QUERY_PROPERTY, &query, &mut bytes) else {
        return (None, None);
    };
    let answer = bytes.get(..length).unwrap_or_default();
    let number = |at: usize| answer.get(at..at + 4)?.try_into().ok().map(u32::from_le_bytes);
    let name = |at: u32| {
        let name = answer.get(at as usize..).filter(|_| at > 0)?.split(|byte| *byte == 0).next()?;
        Some(String::from_utf8_lossy(name).trim().to_owned()).filter(|name| !name.is_empty())
    };
    (number(PRODUCT_AT).and_then(name), number(BUS_AT).map(|bus| bus as STORAGE_BUS_TYPE))
}

fn bus_name(bus: STORAGE_BUS_TYPE) -> Option<&'static str> {
    const NAMES: &[(STORAGE_BUS_TYPE, &str)] = &[
        (BusTypeNvme, "NVMe"),
        (BusTypeSata, "SATA"),
        (BusTypeSas, "SAS"),
        (BusTypeScsi, "SCSI"),
        (BusTypeiScsi, "iSCSI"),
        (BusTypeUsb, "USB"),
        (BusTypeRAID, "RAID"),
        (BusTypeSpaces, "Storage Spaces"),
        (BusTypeVirtual, "virtual disk"),
        (BusTypeFileBackedVirtual, "virtual disk in a file"),
    ];
    NAMES.iter().find(|(number, _)| *number == bus).map(|(_, name)| *name)
}

/// The counters of a disk.
///
/// # Errors
/// The system's error number: Windows does not count; `diskperf -y` changes that.
pub fn disk_counters(number: u32) -> Result<DiskCounters, i32> {
    let mut found = DISK_PERFORMANCE::default();
    native::ask(opened(&disk_name(number))?.as_handle(), IOCTL_DISK_PERFORMANCE, &(), &mut found)?;
    Ok(DiskCounters {
        bytes: [found.BytesRead as u64, found.BytesWritten as u64],
        operations: [found.ReadCount, found.WriteCount],
        time: [found.ReadTime as u64, found.WriteTime as u64],
        idle: found.IdleTime as u64,
        now: found.QueryTime as u64,
    })
}

/// All volumes of this machine.
///
/// # Errors
/// The system's error number.
pub fn volumes() -> Result<Vec<MountedVolume>, i32> {
    let mut name = [0u16; 64];
    // SAFETY: the call writes at most the number of characters that there is room for.
    let search = unsafe { FindFirstVolumeW(name.as_mut_ptr(), name.len() as u32) };
    if search == INVALID_HANDLE_VALUE {
        return Err(errno::last());
    }
    let mut volumes = Vec::new();
    let outcome = loop {
        volumes.push(MountedVolume {
            name: text(&name).to_string_lossy().into_owned(),
            mounted_at: mount_points(&name).unwrap_or_default(),
        });
        // SAFETY: the search is open, and the name has room as above.
        if unsafe { FindNextVolumeW(search, name.as_mut_ptr(), name.len() as u32) } == 0 {
            break errno::last();
        }
    };
    // SAFETY: the search is open, and not used any more.
    unsafe { FindVolumeClose(search) };
    if outcome == ERROR_NO_MORE_FILES as i32 { Ok(volumes) } else { Err(outcome) }
}

/// Where a volume of this name, which ends with a zero, is mounted.
fn mount_points(name: &[u16]) -> Option<Vec<PathBuf>> {
    let mut points = vec![0u16; 4096];
    let mut length = 0;
    // SAFETY: the name ends with a zero, and the call writes at most the number of characters that there is room for.
    let answer = unsafe {
        GetVolumePathNamesForVolumeNameW(name.as_ptr(), points.as_mut_ptr(), points.len() as u32, &raw mut length)
    };
    let all = points.split(|character| *character == 0).take_while(|point| !point.is_empty());
    (answer != 0).then(|| all.map(|point| PathBuf::from(text(point))).collect())
}
