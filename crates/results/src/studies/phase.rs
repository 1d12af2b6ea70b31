//! The record of a phase: operations on names and small files, which are no reads and writes of a fio job.

use fsdyno_job::ReadWrite;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::evidence::RecordedFact;
use crate::record::{JobError, Latency};

/// The result of one phase: its creates, stats or renames.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseRecord {
    /// `create`, `stat-hot`, `rename`, `fsync-directory`.
    pub name: String,
    /// Number of operations that were done.
    pub operations: u64,
    /// Number of operations that failed.
    pub failures: u64,
    /// The first failure.
    pub error: Option<JobError>,
    /// Number of workers that ran at the same time.
    pub threads: u32,
    /// Bytes written or read, if the operation moves any.
    pub bytes: Option<u64>,
    /// Time from the first operation of the first worker to the last operation of the last worker, ns.
    pub elapsed_ns: u64,
    /// CPU time of the workers, ns.
    pub cpu_ns: u64,
    /// Latency of one operation, over all workers.
    pub latency: Latency,
    /// State of the cache: `cold`, `hot`, or in words why it could not be made so.
    pub cache: Option<String>,
    /// Conditions during the phase; `None`: nobody looked, as for a shell loop or before format 6 of studies.
    #[serde(default)]
    pub conditions: Option<PhaseConditions>,
}

/// The conditions between two looks: one before the first operation of a phase, one after its last. Facts that are
/// not visible are missing, and never 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseConditions {
    /// Time between the two looks, ns.
    pub between_ns: u64,
    /// Time in which workers were runnable and waited for a CPU, ns, summed over them.
    pub run_queue_wait_ns: Option<u64>,
    /// Busy time, steal time and total time of the machine's CPUs, ms, summed over them.
    pub busy_ms: Option<u64>,
    /// See `busy_ms`.
    pub steal_ms: Option<u64>,
    /// See `busy_ms`.
    pub total_ms: Option<u64>,
    /// Time by which the CPU limit of the control group delayed this process, µs.
    pub throttled_us: Option<u64>,
    /// Traffic of the devices below the files, for this process and all others.
    pub device: RecordedFact<DeviceTraffic>,
    /// Traffic of each device if there is a stack: the devices of the files and all devices below them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stack: Vec<DeviceTraffic>,
    /// Traffic of the network or FUSE mount that the files are on; `None`: there is none, or it is not visible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wire: Option<PhaseWire>,
    /// Bytes that this process asked of block storage, `[read, write]`.
    pub own_storage_bytes: Option<ReadWrite<u64>>,
    /// Bytes per second that other programs moved on the devices before the first phase, `[read, write]`.
    pub foreign_bytes_per_s: RecordedFact<ReadWrite<f64>>,
}

/// Traffic of a mount between two looks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseWire {
    /// Where the bytes were counted: `interface eth0`.
    pub witness: String,
    /// Bytes received and sent, `[read, write]`, those of other programs on an interface included.
    pub bytes: ReadWrite<u64>,
    /// Bytes of the TCP connections of the mount's program, `[read, write]`. Connections that were opened and closed
    /// between the looks are missing. `None`: not visible.
    pub daemon_sockets: Option<ReadWrite<u64>>,
    /// Segments with data that these connections sent, without repetitions: one or more for each request of the mount's
    /// program. `None`: not visible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub daemon_segments_sent: Option<u64>,
    /// Bytes that the mount's program read from local storage and wrote there, `[read, write]`; `None`: not visible.
    pub daemon_storage_bytes: Option<ReadWrite<u64>>,
}

/// Traffic of devices between two looks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceTraffic {
    /// `vda`, `sda+sdb`.
    pub name: String,
    /// Bytes, `[read, write]`.
    pub bytes: ReadWrite<u64>,
    /// Number of completed flushes; `None`: a device does not count them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flushes: Option<u64>,
}

impl PhaseRecord {
    /// Operations per second of wall time; `None`: the phase had none.
    pub fn rate_per_s(&self) -> Option<f64> {
        (self.operations > 0 && self.elapsed_ns > 0).then(|| self.operations as f64 * 1e9 / self.elapsed_ns as f64)
    }
}
