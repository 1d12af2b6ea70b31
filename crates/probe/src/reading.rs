//! A reading of all layers.

use fsdyno_results::ReadWrite;
use fsdyno_results::evidence::{DeviceCounters, ProcessCounters, Seen, SystemCounters, WireCounters};

/// What the layers counted since the first reading. What is a state and no counter (dirty bytes) is as of now.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// This process.
    pub process: Seen<ProcessCounters>,
    /// Leaf devices behind the files.
    pub devices: Seen<Vec<DeviceCounters>>,
    /// The other devices of the same stacks.
    pub stacked_devices: Vec<DeviceCounters>,
    /// What the leaf devices moved for this process's control group; `None`: others run in it, or nobody counts.
    pub group: Option<ReadWrite<u64>>,
    /// What crossed the network for network and FUSE mounts.
    pub wire: Seen<WireCounters>,
    /// The whole machine.
    pub system: SystemCounters,
}
