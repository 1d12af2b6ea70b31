//! What `probe` asks Windows: safe wrappers of calls that only read.

mod activity;
mod disks;
mod identity;
mod network;
mod remote;

use std::ffi::OsString;
use std::mem::size_of;
use std::os::windows::ffi::OsStringExt;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::path::{Path, PathBuf};

use windows_sys::Wdk::System::SystemServices::RtlGetVersion;
use windows_sys::Win32::Foundation::{ERROR_ACCESS_DENIED, ERROR_DIR_NOT_ROOT, WAIT_OBJECT_0};
use windows_sys::Win32::Storage::FileSystem::{
    GetDiskFreeSpaceExW, GetDiskFreeSpaceW, GetDriveTypeW, GetVolumeInformationW, GetVolumeNameForVolumeMountPointW,
    GetVolumePathNameW, SYNCHRONIZE,
};
use windows_sys::Win32::System::SystemInformation::{
    ComputerNameDnsHostname, GetComputerNameExW, GlobalMemoryStatusEx, MEMORYSTATUSEX, OSVERSIONINFOW,
};
use windows_sys::Win32::System::Threading::{GetActiveProcessorCount, OpenProcess, WaitForSingleObject};
use windows_sys::Win32::System::WindowsProgramming::{
    DRIVE_CDROM, DRIVE_FIXED, DRIVE_RAMDISK, DRIVE_REMOTE, DRIVE_REMOVABLE,
};

use super::errno;
use super::native::terminated;

pub use activity::{power_plan, process_bytes, process_time, processor_times, service_runs, system_times};
pub use disks::{Disk, DiskCounters, MountedVolume, WriteCache, disk, disk_counters, disks_of, volumes};
pub use identity::{boot, installation};
pub use network::{Interface, interface_towards, interfaces, rdma};
pub use remote::{Protocol, device_of_drive, protocol_of};

/// Longest path, in characters.
const PATH_CHARACTERS: usize = 32_768;

/// The kind of drive that a volume is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drive {
    /// A fixed drive, by its own report.
    Fixed,
    /// A removable drive.
    Removable,
    /// A drive on a server.
    Remote,
    /// A disc drive.
    Disc,
    /// A drive in memory.
    Memory,
    /// The kind is not known to Windows.
    Unknown,
}

/// A volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Volume {
    /// Where it is mounted: `C:\`, `\\\\server\share\`.
    pub mount_point: PathBuf,
    /// Its permanent name, `\\\\?\Volume{…}\`; `None`: it has none, as on servers.
    pub name: Option<String>,
    /// Its serial number.
    pub serial: u32,
    /// `NTFS`, `ReFS`, `exFAT`.
    pub filesystem: String,
    /// `FILE_READ_ONLY_VOLUME` and the other flags of the filesystem's properties.
    pub flags: u32,
    /// The kind of drive.
    pub drive: Drive,
}

/// The volume that a path is on; the path need not exist.
///
/// # Errors
/// The system's error number.
pub fn volume_of(path: &Path) -> Result<Volume, i32> {
    let mut root = vec![0u16; PATH_CHARACTERS];
    let asked = terminated(path);
    // SAFETY: the path ends with a zero; the call writes at most the number of characters that there is room for.
    if unsafe { GetVolumePathNameW(asked.as_ptr(), root.as_mut_ptr(), root.len() as u32) } == 0 {
        return Err(errno::last());
    }
    // For a long path the root has the same prefix.
    let plain = super::native::plain(Path::new(&text(&root)));
    let mut root = terminated(&plain);
    match about(&root) {
        // A mounted volume without a name, which Wine reports for everything that is mounted on Linux: it counts as a
        // folder of its drive.
        Err(code) if code == ERROR_DIR_NOT_ROOT as i32 && root.len() > 3 && root[1] == u16::from(b':') => {
            root.truncate(3);
            root.push(0);
            about(&root)
        }
        volume => volume,
    }
}

/// The volume that is mounted here; the path ends with a zero.
fn about(root: &[u16]) -> Result<Volume, i32> {
    let (mut filesystem, mut serial, mut flags) = ([0u16; 64], 0, 0);
    // SAFETY: the root ends with a zero, as the call before wrote it; a label is not asked for, and the other results
    // are numbers and a text of the given length.
    let answer = unsafe {
        GetVolumeInformationW(
            root.as_ptr(),
            std::ptr::null_mut(),
            0,
            &raw mut serial,
            std::ptr::null_mut(),
            &raw mut flags,
            filesystem.as_mut_ptr(),
            filesystem.len() as u32,
        )
    };
    if answer == 0 {
        return Err(errno::last());
    }
    let mut name = [0u16; 64];
    // SAFETY: as above.
    let named = unsafe { GetVolumeNameForVolumeMountPointW(root.as_ptr(), name.as_mut_ptr(), name.len() as u32) } != 0;
    // SAFETY: as above.
    let drive = match unsafe { GetDriveTypeW(root.as_ptr()) } {
        DRIVE_FIXED => Drive::Fixed,
        DRIVE_REMOVABLE => Drive::Removable,
        DRIVE_REMOTE => Drive::Remote,
        DRIVE_CDROM => Drive::Disc,
        DRIVE_RAMDISK => Drive::Memory,
        _ => Drive::Unknown,
    };
    Ok(Volume {
        mount_point: PathBuf::from(text(root)),
        name: named.then(|| text(&name).to_string_lossy().into_owned()),
        serial,
        filesystem: text(&filesystem).to_string_lossy().into_owned(),
        flags,
        drive,
    })
}

/// The characters before the first zero.
fn text(characters: &[u16]) -> OsString {
    let end = characters.iter().position(|character| *character == 0).unwrap_or(characters.len());
    OsString::from_wide(&characters[..end])
}

/// Bytes of the filesystem of an existing directory: in total, and for this user with its quota.
///
/// # Errors
/// The system's error number.
pub fn space_of(directory: &Path) -> Result<(u64, u64), i32> {
    let directory = terminated(directory);
    let (mut available, mut total) = (0, 0);
    // SAFETY: the path ends with a zero, and the call writes two numbers.
    let answer =
        unsafe { GetDiskFreeSpaceExW(directory.as_ptr(), &raw mut available, &raw mut total, std::ptr::null_mut()) };
    if answer == 0 { Err(errno::last()) } else { Ok((total, available)) }
}

/// Size of a logical sector of the volume that is mounted there, bytes; direct I/O uses multiples of it.
///
/// # Errors
/// The system's error number.
pub fn sector_bytes(mount_point: &Path) -> Result<u32, i32> {
    let root = terminated(mount_point);
    let [mut per_cluster, mut bytes, mut free, mut clusters] = [0u32; 4];
    // SAFETY: the path ends with a zero, and the call writes four numbers.
    let answer = unsafe {
        GetDiskFreeSpaceW(root.as_ptr(), &raw mut per_cluster, &raw mut bytes, &raw mut free, &raw mut clusters)
    };
    if answer == 0 { Err(errno::last()) } else { Ok(bytes) }
}

/// Memory, bytes: in total, and what programs can get without paging.
pub fn memory() -> Option<(u64, u64)> {
    let mut status = MEMORYSTATUSEX { dwLength: size_of::<MEMORYSTATUSEX>() as u32, ..MEMORYSTATUSEX::default() };
    // SAFETY: the call fills the structure, which contains its own size.
    let answer = unsafe { GlobalMemoryStatusEx(&raw mut status) };
    (answer != 0).then_some((status.ullTotalPhys, status.ullAvailPhys))
}

/// Size of a memory page, bytes.
pub fn page_bytes() -> usize {
    super::memory::page_bytes()
}

/// Number of processors of all groups.
pub fn processors() -> Option<u32> {
    const ALL_GROUPS: u16 = 0xffff;
    // SAFETY: the call takes and returns a number.
    Some(unsafe { GetActiveProcessorCount(ALL_GROUPS) }).filter(|count| *count > 0)
}

/// `Windows 10.0.19045`.
pub fn version() -> Option<String> {
    let mut info =
        OSVERSIONINFOW { dwOSVersionInfoSize: size_of::<OSVERSIONINFOW>() as u32, ..OSVERSIONINFOW::default() };
    // SAFETY: the call fills the structure, which contains its own size.
    let status = unsafe { RtlGetVersion(&raw mut info) };
    let OSVERSIONINFOW { dwMajorVersion: major, dwMinorVersion: minor, dwBuildNumber: build, .. } = info;
    (status >= 0).then(|| format!("Windows {major}.{minor}.{build}"))
}

/// The machine's own name.
pub fn name() -> Option<String> {
    let mut name = [0u16; 256];
    let mut length = name.len() as u32;
    // SAFETY: the call writes at most the number of characters that it is told there is room for.
    let answer = unsafe { GetComputerNameExW(ComputerNameDnsHostname, name.as_mut_ptr(), &raw mut length) };
    (answer != 0).then(|| text(&name).to_string_lossy().into_owned()).filter(|name| !name.is_empty())
}

/// Stands for this user, where other systems have a number.
pub fn user() -> u32 {
    super::beneath::USER
}

/// Whether a process exists and has not ended; `None`: not visible.
pub fn runs(pid: u32) -> Option<bool> {
    // SAFETY: the call takes three numbers.
    let handle = unsafe { OpenProcess(SYNCHRONIZE, 0, pid) };
    if handle.is_null() {
        return if errno::last() as u32 == ERROR_ACCESS_DENIED { None } else { Some(false) };
    }
    // SAFETY: the call succeeded, so this is a new handle, which nobody else has.
    let handle = unsafe { OwnedHandle::from_raw_handle(handle) };
    // SAFETY: the handle is open; the call does not wait.
    Some(unsafe { WaitForSingleObject(handle.as_raw_handle(), 0) } != WAIT_OBJECT_0)
}
