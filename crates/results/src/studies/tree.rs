//! The record of a user's command with all processes that it started, and of the storage's work for it.

use fsdyno_job::ReadWrite;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::evidence::RecordedFact;

/// What a command used. The phase of its row has the time until its last process ended, and the CPU time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TreeRecord {
    /// Time from the start until the command itself ended, ns.
    pub own_ns: u64,
    /// Time of the sync after it (`syncfs`), which stores what it had left in memory, ns; `None`: not possible here.
    pub sync_ns: Option<u64>,
    /// Exit status of the command; `None`: a signal ended it.
    pub status: Option<u8>,
    /// The signal that ended it.
    pub signal: Option<u8>,
    /// Number of processes that still ran when the command itself had ended, and the names of the first of them.
    pub left_running: u64,
    /// See `left_running`.
    pub left_names: Vec<String>,
    /// Whether these processes ran for too long and were ended.
    pub left_ended: bool,
    /// Number of processes that could not be ended.
    pub stuck: u64,
    /// User and system CPU time, ns.
    pub user_ns: u64,
    /// See `user_ns`.
    pub system_ns: u64,
    /// Largest memory of one of the processes, bytes.
    pub memory_bytes: u64,
    /// Bytes of read and write calls, also through pipes, but not through mappings. `None`: the kernel does not count
    /// them.
    pub call_bytes: Option<ReadWrite<u64>>,
    /// Bytes that were asked of block storage, and bytes that were made dirty in the page cache.
    pub storage_bytes: Option<ReadWrite<u64>>,
    /// Dirty bytes that were discarded before they were written, because their file was removed or cut.
    pub cancelled_bytes: Option<u64>,
    /// Traffic of the storage from the start until the last process had ended.
    pub during: StorageTraffic,
    /// Traffic of the storage in the sync after that.
    pub in_sync: StorageTraffic,
    /// CPU time of the whole machine while the command ran, ns; `None`: not visible.
    pub machine_busy_ns: Option<u64>,
    /// Total CPU time of the machine in this time, ns.
    pub machine_total_ns: Option<u64>,
    /// CPU time that the hypervisor took away, ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine_steal_ns: Option<u64>,
    /// Time by which the CPU limit of the control group delayed its processes, ns; `None`: there is no visible limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled_ns: Option<u64>,
    /// Bytes that all network interfaces of the machine except `lo` moved meanwhile; `None`: not visible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network_bytes: Option<ReadWrite<u64>>,
    /// Bytes per second that the devices moved before the command began; `None`: nobody looked, or there is no
    /// device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreign_bytes_per_s: Option<u64>,
    /// The output of the command.
    pub printed: PrintedRecord,
}

/// Traffic of the storage of one place.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StorageTraffic {
    /// The block devices below the place together; other programs may have used them, too.
    pub devices: RecordedFact<DeviceWork>,
    /// The network or the daemon behind the place.
    pub wire: RecordedFact<WireTraffic>,
    /// Bytes that these devices moved for the control group of the command; `None`: other processes ran in it, or
    /// nothing counts them (only version 2 does).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<ReadWrite<u64>>,
}

/// Traffic of block devices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceWork {
    /// Completed requests.
    pub requests: ReadWrite<u64>,
    /// Bytes of these requests.
    pub bytes: ReadWrite<u64>,
    /// Number of flushes; `None`: the kernel does not count them.
    pub flushes: Option<u64>,
}

/// Bytes that crossed the network, or went through a daemon.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WireTraffic {
    /// Where the bytes were counted: `nfs mountstats`, `sockets of s3fs (pid 12)`, `interface eth0`.
    pub witness: String,
    /// Whether the counter is of this mount or daemon alone; false: of a whole interface.
    pub exclusive: bool,
    /// Bytes from and to the server.
    pub bytes: ReadWrite<u64>,
    /// NFS operations by kind, the most frequent first; `None`: not an NFS mount.
    pub operations: Option<Vec<WireOperation>>,
    /// CPU time of the FUSE daemon, ns, which is a part of the cost of this storage. `None`: not visible, or shorter
    /// than a step of the clock.
    pub daemon_cpu_ns: Option<u64>,
    /// Bytes that the FUSE daemon itself read from and wrote to storage of this machine.
    pub daemon_bytes: Option<ReadWrite<u64>>,
}

/// One kind of operation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WireOperation {
    /// `GETATTR`, `OPEN`, `WRITE`.
    pub name: String,
    /// Number of operations.
    pub count: u64,
    /// Time until their answers, ms, summed.
    pub round_trip_ms: u64,
}

/// The output of a command on both streams, limited in size.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PrintedRecord {
    /// Number of all bytes.
    pub bytes: u64,
    /// The first bytes, as text.
    pub head: String,
    /// The last bytes, if the head does not hold all.
    pub tail: String,
}

impl StorageTraffic {
    /// Requests that this storage answered: the operations of NFS, otherwise the requests of the devices.
    pub fn requests(&self) -> Option<u64> {
        match self.wire.value() {
            // Behind another network or daemon, visible devices belong to others.
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
