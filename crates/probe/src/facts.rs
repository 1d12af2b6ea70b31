//! The facts, the same on every operating system.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// A fact that was looked for: its value, or why it cannot be seen.
pub type Fact<T> = Result<T, NotVisible>;

/// Why a fact cannot be seen.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not visible: {place}: {reason}")]
pub struct NotVisible {
    /// Where it was looked for: a file or a system call.
    pub place: String,
    /// The system's answer, or what was missing.
    pub reason: String,
}

impl NotVisible {
    /// At `place`, for `reason`.
    pub fn new(place: impl fmt::Display, reason: impl fmt::Display) -> NotVisible {
        NotVisible { place: place.to_string(), reason: reason.to_string() }
    }

    /// Nobody has looked: the state of facts that a test leaves out.
    pub fn not_looked() -> NotVisible {
        NotVisible::new("probe", "nobody looked")
    }
}

/// What planning knows about the machine and the files. A plain value: planning makes no system call.
#[derive(Clone, Debug, PartialEq)]
pub struct HostFacts {
    /// Facts of each path asked for, under the spelling it was asked for.
    pub paths: BTreeMap<PathBuf, PathFacts>,
    /// Kernel, processors, memory.
    pub host: results::Host,
    /// Bytes of a memory page.
    pub page_bytes: u64,
    /// What the system allows this process.
    pub limits: Limits,
}

impl HostFacts {
    /// Facts of one path, if it was asked for.
    pub fn path(&self, path: &Path) -> Option<&PathFacts> {
        self.paths.get(path)
    }
}

impl Default for HostFacts {
    /// Nothing known, and pages of 4,096 bytes.
    fn default() -> Self {
        HostFacts {
            paths: BTreeMap::new(),
            host: results::Host::default(),
            page_bytes: 4096,
            limits: Limits::default(),
        }
    }
}

/// What stands at a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FileKind {
    /// Nothing; it may be created.
    #[default]
    Missing,
    /// A file with bytes of its own.
    Regular,
    /// A directory.
    Directory,
    /// A disk, a partition, a volume.
    BlockDevice,
    /// `/dev/null` and its like.
    CharacterDevice,
    /// A pipe or a socket.
    Other,
    /// stat(2) failed with this errno, and not for want of the file.
    Unreachable(i32),
}

/// Facts of one path.
#[derive(Clone, Debug, PartialEq)]
pub struct PathFacts {
    /// What stands there.
    pub kind: FileKind,
    /// Length of a regular file, capacity of a block device, in bytes.
    pub size_bytes: Option<u64>,
    /// Bytes that the filesystem has allocated for a regular file; less than the size for a sparse one.
    pub allocated_bytes: Option<u64>,
    /// The directory that holds it, or would hold it, exists.
    pub parent_exists: bool,
    /// The mount that the path is on; for a device that of its node in `/dev`.
    pub mount: Fact<Mount>,
    /// Space of that filesystem; devices have none.
    pub space: Fact<Space>,
    /// What direct I/O asks of this file; `None` when the kernel does not say (before 6.1, or no such file).
    pub direct_io: Option<DirectIo>,
    /// The whole disks behind it; none for memory and network filesystems.
    pub devices: Fact<Vec<BlockDevice>>,
    /// Who uses the device; `None` unless the path is a block device.
    pub device_use: Option<DeviceUse>,
}

impl Default for PathFacts {
    /// A missing file in an existing directory, about which nothing else is known.
    fn default() -> Self {
        PathFacts {
            kind: FileKind::Missing,
            size_bytes: None,
            allocated_bytes: None,
            parent_exists: true,
            mount: Err(NotVisible::not_looked()),
            space: Err(NotVisible::not_looked()),
            direct_io: None,
            devices: Err(NotVisible::not_looked()),
            device_use: None,
        }
    }
}

impl PathFacts {
    /// Something stands there.
    pub fn exists(&self) -> bool {
        !matches!(self.kind, FileKind::Missing | FileKind::Unreachable(_))
    }

    /// Filesystem type, when it is visible.
    pub fn fstype(&self) -> Option<&str> {
        self.mount.as_ref().ok().map(|mount| mount.fstype.as_str())
    }

    /// Whether the mount takes writes, when that is visible.
    pub fn mount_writable(&self) -> Option<bool> {
        self.mount.as_ref().ok().map(|mount| !mount.read_only())
    }
}

/// A device number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DeviceNumber {
    /// The driver's part. 0: no real device stands behind the filesystem.
    pub major: u32,
    /// The driver's own counting.
    pub minor: u32,
}

impl fmt::Display for DeviceNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}

/// A mounted filesystem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// The kernel's number for the mount.
    pub id: u64,
    /// Device number that its files show.
    pub device: DeviceNumber,
    /// Directory of the filesystem that was mounted; not `/` for bind mounts and subvolumes.
    pub root: PathBuf,
    /// Where it is mounted.
    pub mount_point: PathBuf,
    /// `ext4`, `nfs4`, `fuse.s3fs`, ...
    pub fstype: String,
    /// Device, server path or label that was mounted.
    pub source: String,
    /// Options of the mount, comma-separated as the kernel lists them.
    pub options: String,
    /// Options of the filesystem, likewise.
    pub super_options: String,
}

impl Mount {
    /// Writes are refused.
    pub fn read_only(&self) -> bool {
        self.option("ro").is_some()
    }

    /// Value of an option of the mount or its filesystem; empty for one without a value.
    pub fn option(&self, name: &str) -> Option<&str> {
        let all = self.options.split(',').chain(self.super_options.split(','));
        all.map(|word| word.split_once('=').unwrap_or((word, ""))).find(|(key, _)| *key == name).map(|(_, value)| value)
    }
}

/// The kernel that a process runs on, and the processes that it sees: enough to tell whether a process number of another
/// time or place means anything here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kernel {
    /// Name of the installation; `None`: it has none, as in most containers.
    pub machine: Option<String>,
    /// Name of the kernel's boot, the same in all its containers; `None`: not visible.
    pub boot: Option<String>,
    /// Inode of the namespace of process numbers; `None`: not visible.
    pub pid_namespace: Option<u64>,
}

/// Space of a filesystem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space {
    /// Bytes in all.
    pub total_bytes: u64,
    /// Bytes that are free, with those reserved for the superuser.
    pub free_bytes: u64,
    /// Bytes that anyone may use.
    pub available_bytes: u64,
}

/// What the kernel says about direct I/O on one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DirectIo {
    /// Not on this file.
    Refused,
    /// With these alignments.
    Aligned {
        /// Addresses of buffers are multiples of this many bytes.
        memory_bytes: u32,
        /// Offsets and lengths are multiples of this many bytes.
        offset_bytes: u32,
    },
}

/// A whole disk and its queue. What the kernel does not show is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockDevice {
    /// Kernel name: `sda`, `nvme0n1`, `dm-0`.
    pub name: String,
    /// The partition that was asked about, if it was one: `sda2`.
    pub partition: Option<String>,
    /// Capacity of the partition or else of the disk, bytes.
    pub size_bytes: Option<u64>,
    /// Platters that turn, or what the driver claims about them.
    pub rotational: Option<bool>,
    /// Active I/O scheduler.
    pub scheduler: Option<String>,
    /// Requests that fit in its queue.
    pub queue_requests: Option<u32>,
    /// Smallest addressable unit, bytes.
    pub logical_block_bytes: Option<u32>,
    /// Smallest unit that is written without reading first, bytes.
    pub physical_block_bytes: Option<u32>,
    /// `write back` or `write through`.
    pub write_cache: Option<String>,
    /// Maker's name of the device.
    pub model: Option<String>,
    /// File behind a loop device.
    pub backing_file: Option<PathBuf>,
    /// Devices below (dm, md).
    pub slaves: Vec<BlockDevice>,
}

/// The process that answers for a FUSE mount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FuseDaemon {
    /// Its number.
    pub pid: u32,
    /// Its program and words, secrets blanked.
    pub command_line: Vec<String>,
}

/// Who uses a block device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceUse {
    /// Mount points of the device and of its partitions.
    pub mounted_at: Vec<PathBuf>,
    /// Swap space of this system.
    pub swap: bool,
    /// Devices built on it (dm, md).
    pub holders: Vec<String>,
    /// What the first blocks say it holds: a filesystem, a volume, a partition table.
    pub signature: Fact<Option<&'static str>>,
}

impl DeviceUse {
    /// Something lives on the device, as the end of a sentence that begins with its name. `None`: nothing seen.
    pub fn reason(&self) -> Option<String> {
        if let Some(place) = self.mounted_at.first() {
            return Some(format!("is mounted at {}", place.display()));
        }
        if self.swap {
            return Some("is swap space in use".to_string());
        }
        if !self.holders.is_empty() {
            return Some(format!("is part of {}", self.holders.join(", ")));
        }
        match &self.signature {
            Ok(Some(name)) => Some(format!("holds {name}")),
            _ => None,
        }
    }
}

/// What the system allows this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Open files (RLIMIT_NOFILE, soft); `Ok(None)`: no limit.
    pub open_files: Fact<Option<u64>>,
    /// What the soft limit of open files may be raised to; `Ok(None)`: no limit.
    pub open_files_hard: Fact<Option<u64>>,
    /// Bytes of locked memory (RLIMIT_MEMLOCK, soft); `Ok(None)`: no limit.
    pub locked_memory_bytes: Fact<Option<u64>>,
    /// Requests of libaio that the system allows in all (fs.aio-max-nr).
    pub aio_max_requests: Fact<u64>,
    /// Requests of libaio reserved now (fs.aio-nr).
    pub aio_reserved_requests: Fact<u64>,
    /// kernel.io_uring_disabled: 0 for all, 1 for a group only, 2 for nobody. Kernels before 6.6 do not have it.
    pub io_uring_disabled: Fact<u32>,
    /// Memory limit of the control group, bytes; `Ok(None)`: no limit.
    pub cgroup_memory_bytes: Fact<Option<u64>>,
}

impl Default for Limits {
    /// Nothing known.
    fn default() -> Self {
        Limits {
            open_files: Err(NotVisible::not_looked()),
            open_files_hard: Err(NotVisible::not_looked()),
            locked_memory_bytes: Err(NotVisible::not_looked()),
            aio_max_requests: Err(NotVisible::not_looked()),
            aio_reserved_requests: Err(NotVisible::not_looked()),
            io_uring_disabled: Err(NotVisible::not_looked()),
            cgroup_memory_bytes: Err(NotVisible::not_looked()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mount(options: &str, super_options: &str) -> Mount {
        Mount {
            id: 1,
            device: DeviceNumber { major: 8, minor: 1 },
            root: "/".into(),
            mount_point: "/".into(),
            fstype: "ext4".into(),
            source: "/dev/sda1".into(),
            options: options.into(),
            super_options: super_options.into(),
        }
    }

    #[test]
    fn options_of_mount_and_filesystem_are_found() {
        let mount = mount("rw,noatime", "rw,upperdir=/a,discard");
        assert_eq!(mount.option("noatime"), Some(""));
        assert_eq!(mount.option("upperdir"), Some("/a"));
        assert_eq!(mount.option("upper"), None);
        assert!(!mount.read_only());
    }

    #[test]
    fn read_only_mount_or_filesystem() {
        assert!(mount("ro", "rw").read_only());
        assert!(mount("rw", "ro,errors=continue").read_only());
        assert!(!mount("rw", "errors=remount-ro").read_only());
    }

    #[test]
    fn the_first_use_is_named() {
        let nothing = DeviceUse { mounted_at: vec![], swap: false, holders: vec![], signature: Ok(None) };
        assert_eq!(nothing.reason(), None);
        let held = DeviceUse { holders: vec!["dm-0".into(), "md1".into()], ..nothing.clone() };
        assert_eq!(held.reason().as_deref(), Some("is part of dm-0, md1"));
        let signed = DeviceUse { signature: Ok(Some("an xfs filesystem")), ..nothing };
        assert_eq!(signed.reason().as_deref(), Some("holds an xfs filesystem"));
    }
}
