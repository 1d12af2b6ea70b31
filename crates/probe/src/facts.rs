//! The facts that planning needs, which are the same on every operating system.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::DeviceUse;
use fsdyno_os::nvme::Namespace;
use fsdyno_results::evidence::{BlockDevice, DeviceNumber, DirectIo, Mount, Space};

/// A fact that somebody looked for: its value, or why it is not visible.
pub type Fact<T> = Result<T, NotVisible>;

/// Why a fact is not visible.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not visible: {place}: {reason}")]
pub struct NotVisible {
    /// Where it was looked for: a file or a system call.
    pub place: String,
    /// The system's answer, or what was missing.
    pub reason: String,
}

impl NotVisible {
    /// Not visible at `place`, for `reason`.
    pub fn new(place: impl fmt::Display, reason: impl fmt::Display) -> NotVisible {
        NotVisible { place: place.to_string(), reason: reason.to_string() }
    }

    /// The state of facts that nobody looked for, such as those that a test leaves out.
    pub fn not_looked() -> NotVisible {
        NotVisible::new("probe", "nobody looked")
    }
}

/// All that planning knows about the machine and the files. It is a plain value, because planning makes no system
/// call.
#[derive(Clone, Debug, PartialEq)]
pub struct HostFacts {
    /// Facts of each path, by the spelling in which it was asked for. Paths with equal facts share them: a job may have a
    /// million files.
    pub paths: BTreeMap<Arc<Path>, Arc<PathFacts>>,
    /// Kernel, processors, memory.
    pub host: fsdyno_results::Host,
    /// Size of a memory page, bytes.
    pub page_bytes: u64,
    /// What the system allows this process.
    pub limits: Limits,
}

impl HostFacts {
    /// Facts of one path; `None`: nobody asked for it.
    pub fn path(&self, path: &Path) -> Option<&PathFacts> {
        self.paths.get(path).map(Arc::as_ref)
    }

    /// The path as the facts hold it, so that others need not keep a copy; `None`: nobody asked for it.
    pub fn held(&self, path: &Path) -> Option<&Arc<Path>> {
        self.paths.get_key_value(path).map(|(held, _)| held)
    }
}

impl Default for HostFacts {
    /// Nothing is known, and pages have 4,096 bytes.
    fn default() -> Self {
        HostFacts {
            paths: BTreeMap::new(),
            host: fsdyno_results::Host::default(),
            page_bytes: 4096,
            limits: Limits::default(),
        }
    }
}

/// The kind of file at a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FileKind {
    /// Nothing exists there; it may be created.
    #[default]
    Missing,
    /// A regular file.
    Regular,
    /// A directory.
    Directory,
    /// A disk, a partition, a volume.
    BlockDevice,
    /// `/dev/null` and similar devices.
    CharacterDevice,
    /// A pipe or a socket.
    Other,
    /// stat(2) failed with this errno, for another reason than a missing file.
    Unreachable(i32),
}

/// The place where the data of a path lie. Links are followed: two paths with the same place have the same storage.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DataPlace {
    /// The kernel's number of the mount; `None`: a device, or not visible.
    pub mount: Option<u64>,
    /// Device number that the file shows; for a device, its own number. Files of an overlay show the number of the
    /// filesystem that has them.
    pub device: DeviceNumber,
    /// The branch of a mergerfs that has the file.
    pub branch: Option<PathBuf>,
}

/// The zones of a block device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZonedDevice {
    /// Bytes from one zone to the next.
    pub zone_bytes: u64,
    /// Number of zones that may be partly written at a time; 0: no limit.
    pub open_max: u32,
}

/// Facts of one path.
#[derive(Clone, Debug, PartialEq)]
pub struct PathFacts {
    /// The place of its data, or of the data that would be written; `None`: not visible.
    pub place: Option<DataPlace>,
    /// Kind of the file there.
    pub kind: FileKind,
    /// Length of a regular file, capacity of a block device, in bytes.
    pub size_bytes: Option<u64>,
    /// Bytes that the filesystem has allocated for a regular file; for a sparse file less than the size.
    pub allocated_bytes: Option<u64>,
    /// Whether the directory that contains it, or would contain it, exists.
    pub parent_exists: bool,
    /// The mount that the path is on; for a device, the mount of its node in `/dev`.
    pub mount: Fact<Mount>,
    /// Space of this filesystem; devices have none.
    pub space: Fact<Space>,
    /// What direct I/O needs for this file; `None`: the kernel does not report it (before 6.1, or no such file).
    pub direct_io: Option<DirectIo>,
    /// The whole disks behind it; none for memory and network filesystems.
    pub devices: Fact<Vec<BlockDevice>>,
    /// The zones of a zoned block device; `None`: it has none, or they are not visible.
    pub zones: Option<ZonedDevice>,
    /// How the blocks of an NVMe namespace are formatted, for its character device; `None`: it is none, or does not say.
    pub namespace: Option<Namespace>,
    /// The users of the device or file; `None`: nobody asked, because no job will change it.
    pub device_use: Option<DeviceUse>,
}

impl Default for PathFacts {
    /// A missing file in an existing directory; nothing else is known.
    fn default() -> Self {
        PathFacts {
            place: None,
            kind: FileKind::Missing,
            size_bytes: None,
            allocated_bytes: None,
            parent_exists: true,
            mount: Err(NotVisible::not_looked()),
            space: Err(NotVisible::not_looked()),
            direct_io: None,
            devices: Err(NotVisible::not_looked()),
            zones: None,
            namespace: None,
            device_use: None,
        }
    }
}

impl PathFacts {
    /// Whether something exists there.
    pub fn exists(&self) -> bool {
        !matches!(self.kind, FileKind::Missing | FileKind::Unreachable(_))
    }

    /// Filesystem type; `None`: not visible.
    pub fn fstype(&self) -> Option<&str> {
        self.mount.as_ref().ok().map(|mount| mount.fstype.as_str())
    }

    /// Whether the mount accepts writes; `None`: not visible.
    pub fn mount_writable(&self) -> Option<bool> {
        self.mount.as_ref().ok().map(|mount| !mount.read_only())
    }
}

/// The kernel that a process runs on, and the set of processes that it sees. This decides whether a process number of
/// another time or place has a meaning here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kernel {
    /// Identifier of the installation; `None`: it has none, as in most containers.
    pub machine: Option<String>,
    /// Identifier of the kernel's boot, the same in all its containers; `None`: not visible.
    pub boot: Option<String>,
    /// Inode of the process-number namespace; `None`: not visible.
    pub pid_namespace: Option<u64>,
}

/// The daemon process of a FUSE mount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FuseDaemon {
    /// Process number.
    pub pid: u32,
    /// Its command line, secrets blanked.
    pub command_line: Vec<String>,
}

/// Limits that the system sets for this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Open files (RLIMIT_NOFILE, soft); `Ok(None)`: no limit.
    pub open_files: Fact<Option<u64>>,
    /// Hard limit of open files, up to which the soft limit may be raised; `Ok(None)`: no limit.
    pub open_files_hard: Fact<Option<u64>>,
    /// Number of open descriptors now, of files and all others.
    pub descriptors: Fact<u64>,
    /// Bytes of locked memory (RLIMIT_MEMLOCK, soft); `Ok(None)`: no limit.
    pub locked_memory_bytes: Fact<Option<u64>>,
    /// Number of libaio requests that the whole system allows (fs.aio-max-nr).
    pub aio_max_requests: Fact<u64>,
    /// Number of libaio requests that are reserved now (fs.aio-nr).
    pub aio_reserved_requests: Fact<u64>,
    /// kernel.io_uring_disabled: 0 for all users, 1 for one group only, 2 for nobody. Kernels before 6.6 do not have
    /// it.
    pub io_uring_disabled: Fact<u32>,
    /// Whether a thread may change its group, and its user (CAP_SETGID, CAP_SETUID).
    pub other_identities: Fact<[bool; 2]>,
    /// NUMA nodes with their processors.
    pub nodes: Fact<Vec<(u32, Vec<u32>)>>,
    /// Memory limit of the control group, bytes; `Ok(None)`: no limit.
    pub cgroup_memory_bytes: Fact<Option<u64>>,
}

impl Default for Limits {
    /// Nothing is known.
    fn default() -> Self {
        Limits {
            open_files: Err(NotVisible::not_looked()),
            open_files_hard: Err(NotVisible::not_looked()),
            descriptors: Err(NotVisible::not_looked()),
            locked_memory_bytes: Err(NotVisible::not_looked()),
            aio_max_requests: Err(NotVisible::not_looked()),
            aio_reserved_requests: Err(NotVisible::not_looked()),
            io_uring_disabled: Err(NotVisible::not_looked()),
            other_identities: Err(NotVisible::not_looked()),
            nodes: Err(NotVisible::not_looked()),
            cgroup_memory_bytes: Err(NotVisible::not_looked()),
        }
    }
}

/// Time of a processor since the boot, in ticks of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessorTime {
    /// Number of the processor.
    pub number: u32,
    /// Ticks without work, including waits for I/O.
    pub idle: u64,
    /// All ticks.
    pub all: u64,
}
