//! The facts, the same on every operating system.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use crate::DeviceUse;
use fsdyno_results::evidence::{BlockDevice, DeviceNumber, DirectIo, Mount, Space};

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
    pub host: fsdyno_results::Host,
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
            host: fsdyno_results::Host::default(),
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

/// Where the data of a path lie. Links are followed: two paths with the same place have the same storage.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DataPlace {
    /// The kernel's number of the mount; `None`: a device, or not visible.
    pub mount: Option<u64>,
    /// Device number that the file shows, or of a device its own. Files of an overlay show which of its filesystems has
    /// them.
    pub device: DeviceNumber,
    /// The branch of a mergerfs that has the file.
    pub branch: Option<PathBuf>,
}

/// Facts of one path.
#[derive(Clone, Debug, PartialEq)]
pub struct PathFacts {
    /// Where its data lie, or would lie; `None`: the system does not tell.
    pub place: Option<DataPlace>,
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
    /// Who uses what stands there; `None`: nobody asked, as no job is to change it.
    pub device_use: Option<DeviceUse>,
}

impl Default for PathFacts {
    /// A missing file in an existing directory, about which nothing else is known.
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

/// The process that answers for a FUSE mount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FuseDaemon {
    /// Its number.
    pub pid: u32,
    /// Its program and words, secrets blanked.
    pub command_line: Vec<String>,
}

/// What the system allows this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Open files (RLIMIT_NOFILE, soft); `Ok(None)`: no limit.
    pub open_files: Fact<Option<u64>>,
    /// What the soft limit of open files may be raised to; `Ok(None)`: no limit.
    pub open_files_hard: Fact<Option<u64>>,
    /// Descriptors that are open now, those of files and all others.
    pub descriptors: Fact<u64>,
    /// Bytes of locked memory (RLIMIT_MEMLOCK, soft); `Ok(None)`: no limit.
    pub locked_memory_bytes: Fact<Option<u64>>,
    /// Requests of libaio that the system allows in all (fs.aio-max-nr).
    pub aio_max_requests: Fact<u64>,
    /// Requests of libaio reserved now (fs.aio-nr).
    pub aio_reserved_requests: Fact<u64>,
    /// kernel.io_uring_disabled: 0 for all, 1 for a group only, 2 for nobody. Kernels before 6.6 do not have it.
    pub io_uring_disabled: Fact<u32>,
    /// Whether a thread may take another group, and another user (CAP_SETGID, CAP_SETUID).
    pub other_identities: Fact<[bool; 2]>,
    /// NUMA nodes with their processors.
    pub nodes: Fact<Vec<(u32, Vec<u32>)>>,
    /// Memory limit of the control group, bytes; `Ok(None)`: no limit.
    pub cgroup_memory_bytes: Fact<Option<u64>>,
}

impl Default for Limits {
    /// Nothing known.
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

/// What a processor has done since the machine was started, in ticks of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessorTime {
    /// Its number.
    pub number: u32,
    /// Nothing to do, waiting for I/O included.
    pub idle: u64,
    /// All of them.
    pub all: u64,
}
