//! The identity of a storage: what `inspect` shows, and what tells whether two runs used the same storage.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Layer, Mount, Seen};

/// The storage behind a path, as seen from this machine without any I/O.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Storage {
    /// The path that was asked about.
    pub asked_path: String,
    /// Something stands there. `Value(false)` with a resolved path: it could be made below that path, and all else
    /// is about that; without: no such path can be. Not visible: it, or its filesystem, does not answer.
    pub exists: Seen<bool>,
    /// Without links and dots; of a missing path the nearest parent that exists.
    pub resolved_path: Seen<String>,
    /// Where it is mounted, from what, and how.
    pub mount: Seen<Mount>,
    /// What kind of place it is.
    pub class: StorageClass,
    /// Space of the filesystem.
    pub space: Seen<Space>,
    /// Direct I/O on files there: asked of the kernel, not tried beyond opening a file.
    pub direct_io: Seen<DirectIo>,
    /// Block devices behind it; empty for memory and network filesystems.
    pub devices: Seen<Vec<BlockDevice>>,
    /// What the data lie on: the filesystem or the device itself, with all that is below. Records before format 7 have
    /// sentences instead, each as a layer of its own.
    #[serde(default)]
    pub layers: Vec<Layer>,
    /// The filesystem compresses data: what says so, e.g. `compress=zstd:3`. `None`: nothing says so.
    pub compression: Option<String>,
    /// NFS mounts only.
    pub nfs: Option<NfsIdentity>,
    /// FUSE mounts only.
    pub fuse: Option<FuseIdentity>,
    /// Storage behind a network only.
    pub server: Option<ServerIdentity>,
    /// Limits that the control groups of this process set on these devices and on processors and memory.
    pub cgroup: CgroupIdentity,
    /// Whatever else a person should know, one sentence each: `mounted read-only`, `nobarrier`.
    pub remarks: Vec<String>,
}

/// What kind of place a path is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StorageClass {
    /// tmpfs, ramfs.
    Memory,
    /// A filesystem on block devices of this machine (that may be virtual disks).
    Block,
    /// NFS, SMB, Ceph: a server behind a network, through the kernel.
    Network,
    /// A daemon of this machine answers: s3fs, sshfs, JuiceFS.
    Fuse,
    /// A directory of the machine that runs this virtual machine: virtiofs, 9p.
    HostShare,
    /// Files that the kernel makes up, and no storage: /proc, /sys.
    Kernel,
    /// A block device itself.
    Device,
    /// Could not be told.
    #[default]
    Unknown,
}

/// Space of a filesystem, bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Space {
    /// In all.
    pub total_bytes: u64,
    /// For anyone's use.
    pub available_bytes: u64,
}

/// What the kernel says about direct I/O on a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DirectIo {
    /// Not supported.
    Refused,
    /// With these alignments, bytes.
    Aligned {
        /// Of the buffer.
        memory_bytes: u32,
        /// Of offset and length.
        offset_bytes: u32,
    },
}

/// A whole disk and its queue. What the kernel does not show is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BlockDevice {
    /// Kernel name of the whole disk.
    pub name: String,
    /// The partition of it that is used, if it is one: `sda2`.
    pub partition: Option<String>,
    /// Maker's name.
    pub model: Option<String>,
    /// Capacity of the partition or else of the disk, bytes.
    pub size_bytes: Option<u64>,
    /// What the driver says: platters or not.
    pub rotational: Option<bool>,
    /// Active scheduler.
    pub scheduler: Option<String>,
    /// Requests that fit in the queue.
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
    /// Retries for ever; false: gives up with an error (`soft`).
    pub hard: Option<bool>,
    /// Writes go to the server at once (`sync`).
    pub synchronous: Option<bool>,
    /// Attribute cache times acregmin, acregmax, acdirmin, acdirmax, seconds.
    pub attribute_cache_s: Option<[u64; 4]>,
    /// The root of the mount, as the server has it. `None`: it is not visible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<NfsRoot>,
}

/// The directory that is mounted. Two mounts have the same one if both numbers are the same, whatever the server is called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct NfsRoot {
    /// Number of its inode.
    pub inode: u64,
    /// Its last change by the server's clock, ns since 1970.
    pub changed_ns: u64,
}

/// A FUSE mount.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FuseIdentity {
    /// `s3fs`, `sshfs`.
    pub kind: Option<String>,
    /// The daemon's process.
    pub daemon_pid: Seen<u32>,
    /// Its command line, secrets blanked.
    pub command_line: Seen<Vec<String>>,
    /// Where it gets its data: `http://…`.
    pub url: Option<String>,
    /// Its local cache, from its command line: `use_cache=/var/cache/s3fs`. `None`: none named.
    pub cache: Option<String>,
}

/// The server behind a network mount.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServerIdentity {
    /// Address and port.
    pub address: String,
    /// Shortest of some TCP connects, ns. It is a round trip and the two kernels' work, not a ping.
    pub connect_ns: Seen<u64>,
    /// Interface towards it.
    pub interface: Seen<String>,
    /// Its speed, bits per second.
    pub link_bits_per_s: Seen<u64>,
}

/// Limits of control groups.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CgroupIdentity {
    /// Memory, bytes; `Value(None)`: no limit.
    pub memory_bytes: Seen<Option<u64>>,
    /// Processors; `Value(None)`: no limit.
    pub cpus: Seen<Option<f64>>,
    /// I/O limits on the devices in question, in words: `8:0 rbps=1048576`. Empty: none.
    pub io: Seen<Vec<String>>,
}
