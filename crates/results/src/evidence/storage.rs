//! The identity of a storage: what `inspect` shows, and what decides whether two runs used the same storage.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Layer, Mount, RecordedFact};

/// The storage behind a path, as seen from this machine without any I/O.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Storage {
    /// The path that was asked about.
    pub asked_path: String,
    /// Whether the path exists. `Value(false)` with a resolved path: it could be made below that path, and all other
    /// fields are about that path. `Value(false)` without one: it cannot be made. Not visible: the path or its
    /// filesystem does not answer.
    pub exists: RecordedFact<bool>,
    /// The path without links and dots; for a missing path, the nearest parent that exists.
    pub resolved_path: RecordedFact<String>,
    /// The mount that the path is on.
    pub mount: RecordedFact<Mount>,
    /// Class of the storage.
    pub class: StorageClass,
    /// Space of the filesystem.
    pub space: RecordedFact<Space>,
    /// The filesystem's identifier, hexadecimal, as statfs reports it. `None`: it has none, as NFS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filesystem_id: Option<String>,
    /// Direct I/O on files there, as the kernel reports it; tried only by opening a file.
    pub direct_io: RecordedFact<DirectIo>,
    /// Block devices behind it; empty for memory and network filesystems.
    pub devices: RecordedFact<Vec<BlockDevice>>,
    /// The layers of the storage, beginning with the filesystem or the device. Records before format 7 have
    /// sentences, each as a layer of its own.
    #[serde(default)]
    pub layers: Vec<Layer>,
    /// The reason to think that the filesystem compresses data, such as `compress=zstd:3`. `None`: there is none.
    pub compression: Option<String>,
    /// Facts about an NFS mount.
    pub nfs: Option<NfsIdentity>,
    /// Facts about a FUSE mount.
    pub fuse: Option<FuseIdentity>,
    /// The server of a storage behind a network.
    pub server: Option<ServerIdentity>,
    /// Limits of the control groups of this process on these devices, processors and memory.
    pub cgroup: CgroupIdentity,
    /// Further facts for people, one sentence each: `mounted read-only`, `nobarrier`.
    pub remarks: Vec<String>,
}

/// The class of a storage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StorageClass {
    /// tmpfs, ramfs.
    Memory,
    /// A filesystem on block devices of this machine (which may be virtual disks).
    Block,
    /// NFS, SMB, Ceph: a server behind a network, with a client in the kernel.
    Network,
    /// A daemon of this machine serves the files: s3fs, sshfs, JuiceFS.
    Fuse,
    /// A directory of the machine that runs this virtual machine: virtiofs, 9p.
    HostShare,
    /// Files that the kernel generates, without storage: /proc, /sys.
    Kernel,
    /// A block device itself.
    Device,
    /// The class is not known.
    #[default]
    Unknown,
}

/// Space of a filesystem, bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Space {
    /// Total size, bytes.
    pub total_bytes: u64,
    /// Space that any user can use, bytes.
    pub available_bytes: u64,
}

/// What the kernel says about direct I/O on a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DirectIo {
    /// Direct I/O is not supported.
    Refused,
    /// Direct I/O is supported with these alignments, bytes.
    Aligned {
        /// Alignment of the buffer.
        memory_bytes: u32,
        /// Alignment of offset and length.
        offset_bytes: u32,
    },
}

/// A whole disk and its queue. Facts that the kernel does not show are `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BlockDevice {
    /// Kernel name of the whole disk.
    pub name: String,
    /// The partition that is used, if it is one: `sda2`.
    pub partition: Option<String>,
    /// Maker's name.
    pub model: Option<String>,
    /// Size of the partition, or of the disk if no partition is used, bytes.
    pub size_bytes: Option<u64>,
    /// Whether the driver reports a rotating disk.
    pub rotational: Option<bool>,
    /// Active scheduler.
    pub scheduler: Option<String>,
    /// Number of requests that fit in the queue.
    pub queue_requests: Option<u32>,
    /// Largest request, bytes.
    pub max_request_bytes: Option<u64>,
    /// Logical block, bytes.
    pub logical_block_bytes: Option<u32>,
    /// Physical block, bytes.
    pub physical_block_bytes: Option<u32>,
    /// `write back` or `write through`.
    pub write_cache: Option<String>,
    /// Devices below (dm, md).
    pub slaves: Vec<BlockDevice>,
}

/// An NFS mount.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NfsIdentity {
    /// `3`, `4.1`, `4.2`.
    pub version: Option<String>,
    /// Bytes of the largest read request.
    pub rsize_bytes: Option<u64>,
    /// Bytes of the largest write request.
    pub wsize_bytes: Option<u64>,
    /// Connections.
    pub nconnect: Option<u32>,
    /// `tcp`, `udp`, `rdma`.
    pub transport: Option<String>,
    /// Whether it retries for ever; false: it gives up with an error (`soft`).
    pub hard: Option<bool>,
    /// Whether writes go to the server at once (`sync`).
    pub synchronous: Option<bool>,
    /// Attribute cache times acregmin, acregmax, acdirmin, acdirmax, seconds.
    pub attribute_cache_s: Option<[u64; 4]>,
    /// The mounted directory on the server. `None`: not visible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<NfsRoot>,
}

/// The directory that is mounted. Two mounts have the same directory if both numbers are the same, whatever the
/// server's name is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct NfsRoot {
    /// Inode number.
    pub inode: u64,
    /// Time of its last change by the server's clock, ns since 1970.
    pub changed_ns: u64,
}

/// A FUSE mount.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FuseIdentity {
    /// `s3fs`, `sshfs`.
    pub kind: Option<String>,
    /// The daemon's process.
    pub daemon_pid: RecordedFact<u32>,
    /// Its command line, secrets blanked.
    pub command_line: RecordedFact<Vec<String>>,
    /// The source of its data: `http://…`.
    pub url: Option<String>,
    /// Its local cache, from its command line: `use_cache=/var/cache/s3fs`. `None`: the command line names none.
    pub cache: Option<String>,
}

/// The server behind a network mount.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServerIdentity {
    /// Address and port.
    pub address: String,
    /// Shortest of some TCP connects, ns. It contains a round trip and the work of both kernels, and is not a ping.
    pub connect_ns: RecordedFact<u64>,
    /// Interface towards it.
    pub interface: RecordedFact<String>,
    /// Speed of this interface, bits per second.
    pub link_bits_per_s: RecordedFact<u64>,
}

/// Limits of control groups.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CgroupIdentity {
    /// Memory, bytes; `Value(None)`: no limit.
    pub memory_bytes: RecordedFact<Option<u64>>,
    /// Processors; `Value(None)`: no limit.
    pub cpus: RecordedFact<Option<f64>>,
    /// I/O limits on the storage's devices, in words: `8:0 rbps=1048576`. Empty: there are none.
    pub io: RecordedFact<Vec<String>>,
}
