//! The byte ledger: the same bytes counted in five layers. All counters grow from the run's first sample on, so that
//! the difference of two samples is what happened between them. A layer that cannot be read is not visible, with the
//! reason, and never 0.

use std::collections::BTreeMap;

use fsdyno_job::ReadWrite;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Seen;

/// Counters of all layers through a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ledger {
    /// At the beginning and end of each stage, and each second.
    pub samples: Vec<LedgerSample>,
    /// What the run's files were before its first I/O and after its last; the first 64 of many.
    pub files: Vec<FileEvidence>,
    /// Files of the run that are not among them: their pages are not in the samples either.
    #[serde(default)]
    pub files_left_out: u64,
    /// Looks that were due while the one before had not come back: a hung mount, a machine without a free processor.
    #[serde(default)]
    pub missed: u64,
    /// Limits of the control groups on the devices when the last stage ended, as the storage's control group has
    /// them before the run: somebody may have set them meanwhile.
    #[serde(default)]
    pub io_limits_after: Seen<Vec<String>>,
    /// Cost of taking the samples: CPU time of the sampler, ns.
    pub cost_ns: u64,
    /// What the machine was like.
    pub machine: MachineEvidence,
}

/// One look at all layers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LedgerSample {
    /// ms since the first stage began.
    pub at_ms: u64,
    /// The stage that runs (stages are what `stonewall` divides a run into), counted from 0.
    pub stage: u32,
    /// Taken at a stage's beginning, in it, or at its end.
    pub moment: Moment,
    /// Our own count, read and write, the ramp included.
    pub application: LayerCounters,
    /// This process.
    pub process: Seen<ProcessCounters>,
    /// Pages of our files.
    pub cache: Seen<CacheCounters>,
    /// Leaf block devices behind the files; none for files in memory or behind a network.
    pub devices: Seen<Vec<DeviceCounters>>,
    /// Other devices of the same stack: each says where it stands. Their bytes are the same bytes once more.
    #[serde(default)]
    pub stacked_devices: Vec<DeviceCounters>,
    /// What the leaf devices moved for the control group of this process; `None`: others run in it, or nobody counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<ReadWrite<u64>>,
    /// What crossed the network for network mounts.
    pub wire: Seen<WireCounters>,
    /// The whole machine.
    pub system: SystemCounters,
}

/// When a sample was taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Moment {
    /// Before the stage's first I/O.
    Begin,
    /// While it ran.
    #[default]
    During,
    /// After its last I/O, the syncs at the end and the closes: what is dirty now nobody waited for.
    End,
}

/// Bytes and operations, `[read, write]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LayerCounters {
    /// Bytes.
    pub bytes: ReadWrite<u64>,
    /// Operations.
    pub operations: ReadWrite<u64>,
}

/// This process, from `/proc/self/io` and its clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProcessCounters {
    /// Bytes that read and write calls moved; the kernel counts neither libaio nor io_uring here.
    pub call_bytes: ReadWrite<u64>,
    /// Bytes that block storage was asked for on our behalf (network and FUSE mounts: do not rely on it). Reads count when
    /// they are submitted, buffered writes when a page gets dirty, direct ones when they are submitted.
    pub storage_bytes: ReadWrite<u64>,
    /// User and system CPU time, ns.
    pub cpu_ns: u64,
}

/// Pages of the stage's files, as far as they are among the ledger's; or of the file behind a loop device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CacheCounters {
    /// Bytes cached now.
    pub cached_bytes: u64,
    /// Bytes dirty now; `None`: mincore does not tell.
    pub dirty_bytes: Option<u64>,
    /// Bytes under write-back now; `None` likewise.
    pub writeback_bytes: Option<u64>,
    /// Bytes that were cached and are not now, as far as the kernel remembers; `None` likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evicted_bytes: Option<u64>,
}

/// A block device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceCounters {
    /// Kernel name.
    pub name: String,
    /// Where it stands in the stack.
    #[serde(default)]
    pub place: DevicePlace,
    /// Bytes and requests completed, `[read, write]`.
    pub done: LayerCounters,
    /// ms that requests spent, `[read, write]`, summed over requests.
    pub request_ms: ReadWrite<u64>,
    /// ms with something in flight.
    pub busy_ms: u64,
    /// ms weighted with the requests in flight: its rate is the average queue depth.
    pub weighted_ms: u64,
    /// Flushes; `None`: the kernel does not count those of this device.
    pub flushes: Option<u64>,
    /// Pages of the file behind a loop device; `None`: there is none, or it is not visible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<CacheCounters>,
}

/// Where a device stands in the stack behind a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DevicePlace {
    /// Nothing but hardware, a hypervisor or a loop device's file below it.
    #[default]
    Leaf,
    /// Made of others (dm, md).
    Above,
    /// Below the file that stands behind a loop device.
    BelowFile,
}

/// What crossed the wire.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WireCounters {
    /// Where the bytes were counted: `nfs mountstats`, `sockets of s3fs (pid 12)`, `interface eth0`.
    pub witness: String,
    /// Bytes from and to the server, `[read, write]`.
    pub bytes: ReadWrite<u64>,
    /// The counter is of this mount or daemon alone; false: of a whole interface.
    pub exclusive: bool,
    /// Per NFS operation.
    pub nfs_operations: Vec<NfsOperation>,
    /// Bytes that applications asked of the NFS mount, `[read, write]`, direct and normal.
    pub nfs_asked_bytes: Option<ReadWrite<u64>>,
    /// Bytes received and sent by the interface towards the server.
    pub interface_bytes: Option<ReadWrite<u64>>,
    /// Bytes that the FUSE daemon and its helpers read from local storage, and of pages that they made dirty there.
    pub daemon_storage_bytes: Option<ReadWrite<u64>>,
    /// Who works for the FUSE daemon; `None`: nobody looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub daemon_helpers: Option<DaemonHelpers>,
    /// Processor time of the FUSE daemon, ns.
    #[serde(default)]
    pub daemon_cpu_ns: Option<u64>,
    /// What the FUSE daemon's own TCP connections moved.
    #[serde(default)]
    pub daemon_sockets: Seen<SocketCounters>,
}

/// Processes that a FUSE daemon has work done by: its children, and the other ends of its sockets on this machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DaemonHelpers {
    /// `nbdkit (pid 12)`.
    pub names: Vec<String>,
    /// No connection leads to anybody else: what the daemon and these read from storage is all.
    pub complete: bool,
}

/// TCP connections of a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SocketCounters {
    /// Bytes received, and sent and acknowledged: `[read, write]`, without headers.
    pub bytes: ReadWrite<u64>,
    /// Connections that are open now.
    pub open: u64,
    /// Connections that were seen and are closed: what they moved after the last look at them is missing, and so is
    /// all of a connection that came and went between two looks.
    pub closed: u64,
}

/// Counters of one NFS operation of one mount.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NfsOperation {
    /// `READ`, `WRITE`, `COMMIT`, `GETATTR`.
    pub name: String,
    /// Requests.
    pub operations: u64,
    /// Transmissions; more than requests: retransmitted.
    pub transmissions: u64,
    /// Major timeouts.
    pub timeouts: u64,
    /// Bytes sent and received, headers included.
    pub bytes_sent: u64,
    /// See `bytes_sent`.
    pub bytes_received: u64,
    /// ms that requests waited on the client, were on the way and at the server, and both together, summed.
    pub queue_ms: u64,
    /// See `queue_ms`.
    pub round_trip_ms: u64,
    /// See `queue_ms`.
    pub execute_ms: u64,
}

/// The whole machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SystemCounters {
    /// Dirty bytes of the page cache now.
    pub dirty_bytes: Option<u64>,
    /// Bytes under write-back now.
    pub writeback_bytes: Option<u64>,
    /// Bytes of memory that programs could still have.
    pub available_bytes: Option<u64>,
    /// Busy, steal and all time of the processors, ms summed over them.
    pub busy_ms: Option<u64>,
    /// See `busy_ms`.
    pub steal_ms: Option<u64>,
    /// See `busy_ms`.
    pub total_ms: Option<u64>,
    /// Times and µs that the control group's processor limit held us.
    pub throttled_count: Option<u64>,
    /// See `throttled_count`.
    pub throttled_us: Option<u64>,
    /// How often the control group met its memory limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_limit_hits: Option<u64>,
    /// µs that some task of the machine waited for I/O (pressure stall information).
    pub io_pressure_us: Option<u64>,
}

/// A file of the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FileEvidence {
    /// The path.
    pub path: String,
    /// Before the first I/O (layout done).
    pub before: Seen<FileState>,
    /// Before the first I/O of each later stage that uses it, by stage: what the stages before made of it.
    #[serde(default)]
    pub before_later: BTreeMap<u32, Seen<FileState>>,
    /// After the last.
    pub after: Seen<FileState>,
}

impl FileEvidence {
    /// Its state before the first I/O of a stage.
    pub fn before_stage(&self, stage: u32) -> &Seen<FileState> {
        self.before_later.get(&stage).unwrap_or(&self.before)
    }
}

/// State of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileState {
    /// Length, bytes.
    pub size_bytes: u64,
    /// Bytes allocated (`st_blocks`).
    pub allocated_bytes: u64,
    /// Bytes in extents that were really written; `None`: the filesystem does not say, or much of the file was dirty
    /// and nobody knows yet what its extents will be.
    pub written_bytes: Option<u64>,
    /// Bytes in extents that were allocated and never written (they read as zeros without the device).
    pub unwritten_bytes: Option<u64>,
    /// Bytes in extents stored in another form: compressed or encrypted.
    pub encoded_bytes: Option<u64>,
    /// Bytes in extents that other files have too (reflinks, snapshots, deduplication): a write does not go there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared_bytes: Option<u64>,
    /// The extents were added up to this offset; less than the size: there are too many. `None`: as `written_bytes`.
    #[serde(default)]
    pub examined_bytes: Option<u64>,
    /// Bytes in the page cache; `None`: not visible.
    pub cached_bytes: Option<u64>,
}

/// What the machine was like.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MachineEvidence {
    /// The kernel's clock source.
    pub clock_source: Option<String>,
    /// Frequency governor of the first processor; `None`: not visible (most virtual machines).
    pub governor: Option<String>,
    /// ns of CPU per I/O that the generator needs against the null engine, when it was calibrated.
    pub generator_floor_ns: Option<f64>,
    /// Bytes per second that others moved on the devices in the look before the run, `[read, write]`.
    pub foreign_bytes_per_s: Seen<ReadWrite<f64>>,
    /// Memory of the machine, bytes.
    pub memory_bytes: Option<u64>,
    /// Memory limit of the control group; `Value(None)`: no limit.
    pub cgroup_memory_bytes: Seen<Option<u64>>,
}
