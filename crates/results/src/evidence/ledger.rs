//! The byte ledger: the same bytes counted in five layers. All counters grow from the run's first sample on, so that
//! the difference of two samples is what happened between them. A layer that cannot be read is not visible, with the
//! reason; it is never 0.

use std::collections::BTreeMap;

use fsdyno_job::ReadWrite;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::RecordedFact;

/// Counters of all layers through a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ledger {
    /// Samples at the beginning and the end of each stage, and every second.
    pub samples: Vec<LedgerSample>,
    /// State of the run's files before the first I/O and after the last; only the first 64 files.
    pub files: Vec<FileEvidence>,
    /// Number of further files; their pages are not in the samples either.
    #[serde(default)]
    pub files_left_out: u64,
    /// Number of samples that were due while the previous one had not returned: a hung mount, or no free processor.
    #[serde(default)]
    pub missed: u64,
    /// Limits of the control groups on the devices when the last stage ended. The storage has the limits before the
    /// run; somebody may have changed them meanwhile.
    #[serde(default)]
    pub io_limits_after: RecordedFact<Vec<String>>,
    /// Cost of taking the samples: CPU time of the sampler, ns.
    pub cost_ns: u64,
    /// Facts about the machine.
    pub machine: MachineEvidence,
}

/// One sample of all layers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LedgerSample {
    /// Time since the first stage began, ms.
    pub at_ms: u64,
    /// The current stage, counted from 0; `stonewall` begins a new stage.
    pub stage: u32,
    /// Whether it was taken at the beginning of the stage, during it, or at its end.
    pub moment: Moment,
    /// Counters of the workers, read and write, the ramp included.
    pub application: LayerCounters,
    /// Counters of this process.
    pub process: RecordedFact<ProcessCounters>,
    /// Pages of the run's files in the page cache.
    pub cache: RecordedFact<CacheCounters>,
    /// Block devices behind the files that lie on no other device; empty for files in memory or behind a network.
    pub devices: RecordedFact<Vec<DeviceCounters>>,
    /// Other devices of the same stack, with their place. They count the same bytes again.
    #[serde(default)]
    pub stacked_devices: Vec<DeviceCounters>,
    /// Bytes that the leaf devices moved for the control group of this process; `None`: other processes run in it, or
    /// nothing counts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<ReadWrite<u64>>,
    /// Bytes that crossed the network, for network mounts.
    pub wire: RecordedFact<WireCounters>,
    /// Counters of the whole machine.
    pub system: SystemCounters,
}

/// When a sample was taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Moment {
    /// Before the stage's first I/O.
    Begin,
    /// While the stage ran.
    #[default]
    During,
    /// After the stage's last I/O, its syncs at the end and its closes: no call has waited for bytes that are still
    /// dirty.
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
    /// Bytes of read and write calls; the kernel does not count libaio and io_uring here.
    pub call_bytes: ReadWrite<u64>,
    /// Bytes that this process asked of block storage (not reliable for network and FUSE mounts). Reads and direct
    /// writes count when they are submitted, buffered writes when they make a page dirty.
    pub storage_bytes: ReadWrite<u64>,
    /// User and system CPU time, ns.
    pub cpu_ns: u64,
}

/// Pages in the page cache, of the stage's files as far as the ledger has them, or of the file behind a loop device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CacheCounters {
    /// Bytes cached now.
    pub cached_bytes: u64,
    /// Bytes dirty now; `None`: not visible with mincore.
    pub dirty_bytes: Option<u64>,
    /// Bytes under write-back now; `None`: not visible with mincore.
    pub writeback_bytes: Option<u64>,
    /// Bytes that were cached before and are not now, as far as the kernel remembers; `None`: not visible with
    /// mincore.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evicted_bytes: Option<u64>,
}

/// Counters of a block device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceCounters {
    /// Kernel name.
    pub name: String,
    /// Its place in the stack.
    #[serde(default)]
    pub place: DevicePlace,
    /// Bytes and requests completed, `[read, write]`.
    pub done: LayerCounters,
    /// Time of all requests, `[read, write]`, ms, summed over requests.
    pub request_ms: ReadWrite<u64>,
    /// Time with at least one request in flight, ms.
    pub busy_ms: u64,
    /// Time weighted with the number of requests in flight, ms: its rate is the average queue depth.
    pub weighted_ms: u64,
    /// Number of flushes; `None`: the kernel does not count flushes of this device.
    pub flushes: Option<u64>,
    /// Cached pages of the file behind a loop device; `None`: there is no such file, or it is not visible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<CacheCounters>,
}

/// The place of a device in the stack behind a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DevicePlace {
    /// It lies on no other block device (only on hardware, a hypervisor, or the file of a loop device).
    #[default]
    Leaf,
    /// It lies on other devices (dm, md).
    Above,
    /// It lies below the file of a loop device.
    BelowFile,
}

/// Bytes that crossed the network.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WireCounters {
    /// Where the bytes were counted: `nfs mountstats`, `sockets of s3fs (pid 12)`, `interface eth0`.
    pub witness: String,
    /// Bytes from and to the server, `[read, write]`.
    pub bytes: ReadWrite<u64>,
    /// Whether the counter is of this mount or daemon alone; false: of a whole interface.
    pub exclusive: bool,
    /// Counters of each NFS operation.
    pub nfs_operations: Vec<NfsOperation>,
    /// Bytes that applications asked of the NFS mount, `[read, write]`, direct and buffered.
    pub nfs_asked_bytes: Option<ReadWrite<u64>>,
    /// Bytes that the interface towards the server received and sent.
    pub interface_bytes: Option<ReadWrite<u64>>,
    /// Bytes that the FUSE daemon and its helpers read from local storage, and bytes of pages that they made dirty
    /// there.
    pub daemon_storage_bytes: Option<ReadWrite<u64>>,
    /// The helpers of the FUSE daemon; `None`: nobody looked for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub daemon_helpers: Option<DaemonHelpers>,
    /// CPU time of the FUSE daemon, ns.
    #[serde(default)]
    pub daemon_cpu_ns: Option<u64>,
    /// Bytes of the FUSE daemon's own TCP connections.
    #[serde(default)]
    pub daemon_sockets: RecordedFact<SocketCounters>,
}

/// Processes that work for a FUSE daemon: its children, and the peers of its sockets on this machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DaemonHelpers {
    /// `nbdkit (pid 12)`.
    pub names: Vec<String>,
    /// Whether no connection leads to another process: then the daemon and these processes did all reads from
    /// storage.
    pub complete: bool,
}

/// TCP connections of a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SocketCounters {
    /// Bytes received, then bytes sent and acknowledged: `[read, write]`, without headers.
    pub bytes: ReadWrite<u64>,
    /// Number of connections that are open now.
    pub open: u64,
    /// Number of connections that were seen and are closed. Bytes after the last look at them are missing, and so are
    /// connections that were opened and closed between two looks.
    pub closed: u64,
    /// Segments with data that they sent, without repetitions; `None`: not visible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_segments_sent: Option<u64>,
}

/// Counters of one NFS operation of one mount.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NfsOperation {
    /// `READ`, `WRITE`, `COMMIT`, `GETATTR`.
    pub name: String,
    /// Number of requests.
    pub operations: u64,
    /// Number of transmissions; more than requests: some were sent again.
    pub transmissions: u64,
    /// Number of major timeouts.
    pub timeouts: u64,
    /// Bytes sent and received, headers included.
    pub bytes_sent: u64,
    /// See `bytes_sent`.
    pub bytes_received: u64,
    /// Time that requests waited on the client, then time on the way and at the server, then both together; ms,
    /// summed.
    pub queue_ms: u64,
    /// See `queue_ms`.
    pub round_trip_ms: u64,
    /// See `queue_ms`.
    pub execute_ms: u64,
}

/// Counters of the whole machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SystemCounters {
    /// Dirty bytes of the page cache now.
    pub dirty_bytes: Option<u64>,
    /// Bytes under write-back now.
    pub writeback_bytes: Option<u64>,
    /// Bytes of memory that programs can still get.
    pub available_bytes: Option<u64>,
    /// Busy time, steal time and total time of the processors, ms, summed over them.
    pub busy_ms: Option<u64>,
    /// See `busy_ms`.
    pub steal_ms: Option<u64>,
    /// See `busy_ms`.
    pub total_ms: Option<u64>,
    /// How often, and for how many µs, the processor limit of the control group has delayed this process.
    pub throttled_count: Option<u64>,
    /// See `throttled_count`.
    pub throttled_us: Option<u64>,
    /// How often the control group has reached its memory limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_limit_hits: Option<u64>,
    /// Time in which some task of the machine waited for I/O, µs (pressure stall information).
    pub io_pressure_us: Option<u64>,
}

/// Evidence about a file of the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FileEvidence {
    /// The path.
    pub path: String,
    /// State before the first I/O, after the layout.
    pub before: RecordedFact<FileState>,
    /// State before the first I/O of each later stage that uses the file, by stage.
    #[serde(default)]
    pub before_later: BTreeMap<u32, RecordedFact<FileState>>,
    /// State after the last I/O.
    pub after: RecordedFact<FileState>,
}

impl FileEvidence {
    /// The state before the first I/O of a stage.
    pub fn before_stage(&self, stage: u32) -> &RecordedFact<FileState> {
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
    /// Bytes in extents that were really written; `None`: the filesystem does not report it, or much of the file was
    /// dirty, so that its extents were not decided yet.
    pub written_bytes: Option<u64>,
    /// Bytes in extents that were allocated and never written (they read as zeros without I/O on the device).
    pub unwritten_bytes: Option<u64>,
    /// Bytes in extents that are stored compressed or encrypted.
    pub encoded_bytes: Option<u64>,
    /// Bytes in extents that other files share (reflinks, snapshots, deduplication): a write goes to a new place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared_bytes: Option<u64>,
    /// The extents were added up to this offset; less than the size: there were too many. `None`: as for
    /// `written_bytes`.
    #[serde(default)]
    pub examined_bytes: Option<u64>,
    /// Bytes in the page cache; `None`: not visible.
    pub cached_bytes: Option<u64>,
}

/// Facts about the machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MachineEvidence {
    /// The kernel's clock source.
    pub clock_source: Option<String>,
    /// Frequency governor of the first processor; `None`: not visible (most virtual machines).
    pub governor: Option<String>,
    /// CPU time per I/O that the generator needs with the null engine, ns, if it was calibrated.
    pub generator_floor_ns: Option<f64>,
    /// Bytes per second that other programs moved on the devices before the run, `[read, write]`.
    pub foreign_bytes_per_s: RecordedFact<ReadWrite<f64>>,
    /// Memory of the machine, bytes.
    pub memory_bytes: Option<u64>,
    /// Memory limit of the control group; `Value(None)`: no limit.
    pub cgroup_memory_bytes: RecordedFact<Option<u64>>,
}
