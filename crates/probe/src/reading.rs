//! A reading of the counters of all layers.

use fsdyno_results::ReadWrite;
use fsdyno_results::evidence::{DeviceCounters, ProcessCounters, RecordedFact, SystemCounters, WireCounters};

/// The growth of all counters since the first reading. Values that are states, such as dirty bytes, are current.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// Counters of this process.
    pub process: RecordedFact<ProcessCounters>,
    /// Leaf devices behind the files.
    pub devices: RecordedFact<Vec<DeviceCounters>>,
    /// The other devices of the same stacks.
    pub stacked_devices: Vec<DeviceCounters>,
    /// Bytes that the leaf devices moved for this process's control group; `None`: other processes run in it, or
    /// nothing counts them.
    pub group: Option<ReadWrite<u64>>,
    /// Bytes that crossed the network, for network and FUSE mounts.
    pub wire: RecordedFact<WireCounters>,
    /// Counters of the whole machine.
    pub system: SystemCounters,
}
