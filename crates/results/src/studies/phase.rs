//! A phase of operations on names and small files, which are not the reads and writes of a fio job.

use fsdyno_job::ReadWrite;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::evidence::Seen;
use crate::record::{JobError, Latency};

/// What one phase did: its number of creates, stats or renames.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseRecord {
    /// `create`, `stat-hot`, `rename`, `fsync-directory`.
    pub name: String,
    /// Operations done.
    pub operations: u64,
    /// Operations that failed.
    pub failures: u64,
    /// The first failure.
    pub error: Option<JobError>,
    /// Workers at once.
    pub threads: u32,
    /// Bytes written or read, when the operation moves any.
    pub bytes: Option<u64>,
    /// From the first worker's first operation to the last worker's last, ns.
    pub elapsed_ns: u64,
    /// CPU time of the workers, ns.
    pub cpu_ns: u64,
    /// Latency of one operation, all workers.
    pub latency: Latency,
    /// What the cache was: `cold`, `hot`, or in words why that could not be arranged.
    pub cache: Option<String>,
    /// What was seen beside it; `None`: nobody looked, as for a shell loop or before format 6 of studies.
    #[serde(default)]
    pub conditions: Option<PhaseConditions>,
}

/// What two looks saw beside a phase: one before its first operation, one after its last. What a look cannot see is
/// missing, and never 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseConditions {
    /// Time between the looks, ns.
    pub between_ns: u64,
    /// Time that the workers could have run and waited for a CPU, ns, summed over them.
    pub run_queue_wait_ns: Option<u64>,
    /// Busy, steal and all time of the machine's CPUs, ms summed over them.
    pub busy_ms: Option<u64>,
    /// See `busy_ms`.
    pub steal_ms: Option<u64>,
    /// See `busy_ms`.
    pub total_ms: Option<u64>,
    /// Time that the control group's CPU limit held this process, µs.
    pub throttled_us: Option<u64>,
    /// What the devices below the files did, for this process and for all others.
    pub device: Seen<DeviceTraffic>,
    /// Each device by itself where there is a stack: those of the files and all below them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stack: Vec<DeviceTraffic>,
    /// Bytes that this process asked of block storage, `[read, write]`.
    pub own_storage_bytes: Option<ReadWrite<u64>>,
    /// Bytes per second that others moved on the devices in a look before the first phase, `[read, write]`.
    pub foreign_bytes_per_s: Seen<ReadWrite<f64>>,
}

/// What devices did between two looks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceTraffic {
    /// `vda`, `sda+sdb`.
    pub name: String,
    /// Bytes, `[read, write]`.
    pub bytes: ReadWrite<u64>,
    /// Flushes that they completed; `None`: one does not count them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flushes: Option<u64>,
}

impl PhaseRecord {
    /// Operations per second of wall time; `None` for a phase without any.
    pub fn rate_per_s(&self) -> Option<f64> {
        (self.operations > 0 && self.elapsed_ns > 0).then(|| self.operations as f64 * 1e9 / self.elapsed_ns as f64)
    }
}
