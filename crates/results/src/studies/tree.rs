//! A command of the user's with all processes that it started, and what the storage of its place did for it.

use fsdyno_job::ReadWrite;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::evidence::Seen;

/// What a command used, beside the phase of its row: that has the time until its last process ended, and the CPU time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TreeRecord {
    /// From the start until the command itself had ended, ns.
    pub own_ns: u64,
    /// How long it took after that to make everything durable that it had left in memory (`syncfs`), ns; `None`: not
    /// possible here.
    pub sync_ns: Option<u64>,
    /// Exit status of the command; `None`: a signal ended it.
    pub status: Option<u8>,
    /// The signal that ended it.
    pub signal: Option<u8>,
    /// Processes that still ran when the command itself had ended, and the names of the first of them.
    pub left_running: u64,
    /// See `left_running`.
    pub left_names: Vec<String>,
    /// They ran for too long, and were ended.
    pub left_ended: bool,
    /// Processes that could not be ended.
    pub stuck: u64,
    /// User and system CPU time, ns.
    pub user_ns: u64,
    /// See `user_ns`.
    pub system_ns: u64,
    /// The most memory that one of the processes held, bytes.
    pub memory_bytes: u64,
    /// Bytes that read and write calls moved, also through pipes; not what was mapped. `None`: the kernel does not count.
    pub call_bytes: Option<ReadWrite<u64>>,
    /// Bytes that block storage was asked for, and that were made dirty in the page cache.
    pub storage_bytes: Option<ReadWrite<u64>>,
    /// Of the dirty ones those that were given up before they were written, because their file was removed or cut.
    pub cancelled_bytes: Option<u64>,
    /// What the storage did from the start until the last process had ended.
    pub during: StorageTraffic,
    /// What the storage did in the sync after that.
    pub in_sync: StorageTraffic,
    /// CPU time of the whole machine while the command ran, ns; `None`: not visible.
    pub machine_busy_ns: Option<u64>,
    /// CPU time that there was in all, ns.
    pub machine_total_ns: Option<u64>,
    /// CPU time that the hypervisor took, ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine_steal_ns: Option<u64>,
    /// How long the CPU limit of the control group held its processes, ns; `None`: there is none that is visible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled_ns: Option<u64>,
    /// Bytes that all network interfaces of the machine but `lo` moved while the command ran; `None`: not visible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network_bytes: Option<ReadWrite<u64>>,
    /// Bytes a second that the devices moved before the command began, when nothing of it was running; `None`: nobody
    /// looked, or there is no device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreign_bytes_per_s: Option<u64>,
    /// What it printed.
    pub printed: PrintedRecord,
}

/// What the storage of one place did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StorageTraffic {
    /// The block devices below the place, together; others may have used them too.
    pub devices: Seen<DeviceWork>,
    /// The network or the daemon behind the place.
    pub wire: Seen<WireTraffic>,
    /// Bytes that these devices moved for the control group of the command, in which nobody else ran; `None`: others did,
    /// or nobody counts (version 2 does).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<ReadWrite<u64>>,
}

/// What block devices did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceWork {
    /// Requests that were completed.
    pub requests: ReadWrite<u64>,
    /// Bytes of them.
    pub bytes: ReadWrite<u64>,
    /// Flushes; `None`: the kernel does not count them.
    pub flushes: Option<u64>,
}

/// What crossed the network, or went through a daemon.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WireTraffic {
    /// Where the bytes were counted: `nfs mountstats`, `sockets of s3fs (pid 12)`, `interface eth0`.
    pub witness: String,
    /// The counter is of this mount or daemon alone; false: of a whole interface.
    pub exclusive: bool,
    /// Bytes from and to the server.
    pub bytes: ReadWrite<u64>,
    /// Operations of NFS by kind, the most frequent first; `None`: it is no NFS mount.
    pub operations: Option<Vec<WireOperation>>,
    /// CPU time of the FUSE daemon, ns: a part of what the place costs.
    pub daemon_cpu_ns: Option<u64>,
    /// Bytes that the FUSE daemon itself read from and wrote to storage of this machine.
    pub daemon_bytes: Option<ReadWrite<u64>>,
}

/// One kind of operation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WireOperation {
    /// `GETATTR`, `OPEN`, `WRITE`.
    pub name: String,
    /// How many.
    pub count: u64,
    /// Time until their answers, summed, ms.
    pub round_trip_ms: u64,
}

/// What a command printed on both streams, bounded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PrintedRecord {
    /// All bytes.
    pub bytes: u64,
    /// The first of them, as text.
    pub head: String,
    /// The last of them, where the head does not hold all.
    pub tail: String,
}

impl StorageTraffic {
    /// Requests that this storage answered: of NFS its operations, else those of the devices.
    pub fn requests(&self) -> Option<u64> {
        match self.wire.value() {
            // Behind another wire or a daemon there are devices of others, if any.
            Some(wire) => wire.operations.as_ref().map(|all| all.iter().map(|operation| operation.count).sum()),
            None => self.devices.value().map(|devices| devices.requests.sum()),
        }
    }

    /// Bytes that crossed the network, or that the devices moved.
    pub fn bytes(&self) -> Option<ReadWrite<u64>> {
        match self.wire.value() {
            Some(wire) => Some(wire.bytes).filter(|_| wire.exclusive),
            None => self.devices.value().map(|devices| devices.bytes),
        }
    }
}

impl TreeRecord {
    /// Requests of the command and of the sync after it.
    pub fn requests(&self) -> Option<u64> {
        Some(self.during.requests()? + self.in_sync.requests()?)
    }

    /// Bytes of the command and of the sync after it.
    pub fn bytes(&self) -> Option<u64> {
        Some(self.during.bytes()?.sum() + self.in_sync.bytes()?.sum())
    }
}
