//! A phase of operations on names and small files, which are not the reads and writes of a fio job.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::record::{JobError, Latency};

/// What one phase did: so many creates, stats, renames.
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
}

impl PhaseRecord {
    /// Operations per second of wall time; `None` for a phase without any.
    pub fn rate_per_s(&self) -> Option<f64> {
        (self.operations > 0 && self.elapsed_ns > 0).then(|| self.operations as f64 * 1e9 / self.elapsed_ns as f64)
    }
}
