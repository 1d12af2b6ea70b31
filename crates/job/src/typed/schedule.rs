//! When a job begins, waits, syncs and ends.

use super::Amount;
use crate::direction::{Direction, PerDirection};

/// When a job begins and ends.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Extent {
    /// Upper limit after the ramp, ns; 0: none.
    pub runtime_ns: u64,
    /// Loop over the size until the runtime is over.
    pub time_based: bool,
    /// Ramp (its I/Os are not reported), ns.
    pub ramp_ns: u64,
    /// Ramp in bytes transferred; 0: the ramp is not in bytes. Only one of the two is given.
    pub ramp_bytes: u64,
    /// Delay before the start: shortest and longest, ns.
    pub start_delay_ns: (u64, u64),
    /// Repetitions of the whole job (1 and up).
    pub loops: u32,
    /// Number of I/Os after which the job stops; 0: no limit.
    pub number_ios: u64,
    /// `io_size`: bytes to transfer when they differ from the size.
    pub io_size: Option<Amount>,
}

/// Syncs during and after the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Durability {
    /// Number of writes after which an fsync comes; 0: never.
    pub fsync_every: u32,
    /// Number of writes after which an fdatasync comes; 0: never.
    pub fdatasync_every: u32,
    /// sync_file_range flags (bit 0 wait before, 1 write, 2 wait after) and its interval in writes.
    pub sync_file_range: Option<(u32, u32)>,
    /// fsync when the I/O phase ends.
    pub end_fsync: bool,
    /// fsync at each close.
    pub fsync_on_close: bool,
    /// syncfs when the I/O phase ends.
    pub end_syncfs: bool,
}

/// Rates, think time and latency limits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pacing {
    /// Bytes per second of each direction; `None`: no limit.
    pub rate: PerDirection<Option<u64>>,
    /// I/Os per second of each direction; `None`: no limit.
    pub rate_iops: PerDirection<Option<u32>>,
    /// Bytes per second below which the job fails.
    pub rate_min: PerDirection<Option<u64>>,
    /// I/Os per second below which the job fails.
    pub rate_iops_min: PerDirection<Option<u32>>,
    /// Window of the minimum checks, ms.
    pub rate_cycle_ms: u32,
    /// Exponential gaps instead of even ones.
    pub poisson: bool,
    /// Do not count think time when catching up.
    pub ignore_think_time: bool,
    /// Pause after each group of blocks, ns.
    pub think_ns: u64,
    /// Part of the pause that burns the processor, ns.
    pub think_spin_ns: u64,
    /// Blocks per group (1 and up).
    pub think_blocks: u32,
    /// Count issued blocks instead of completed ones.
    pub think_on_issue: bool,
    /// Time since the last pause after which the job pauses too, ns; 0: blocks alone decide.
    pub think_interval_ns: u64,
    /// Turns of an empty loop before each request.
    pub think_cycles: u32,
    /// The job's share of the I/Os of a flow; `None`: it belongs to no flow.
    pub flow: Option<Flow>,
    /// Fail the job on an I/O slower than this, ns; per direction.
    pub max_latency_ns: PerDirection<u64>,
    /// `latency_target`: find the depth that keeps it. `None` when not asked for.
    pub latency_target: Option<LatencyTarget>,
}

impl Pacing {
    /// Whether requests have intended starts, because a rate is set.
    pub fn has_rate(&self) -> bool {
        Direction::ALL
            .into_iter()
            .any(|direction| self.rate[direction].is_some() || self.rate_iops[direction].is_some())
    }

    /// Whether requests are delayed on purpose: by a rate, think time, or the other jobs of a flow.
    pub fn is_paced(&self) -> bool {
        self.think_ns > 0 || self.think_cycles > 0 || self.flow.is_some() || self.has_rate()
    }
}

/// `flow` and its companions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flow {
    /// Jobs with the same number share a flow.
    pub id: u32,
    /// Weight of each clone (1 to 1000).
    pub weight: u32,
    /// How long to sleep while the other jobs are behind, ns; 0: check again at once.
    pub sleep_ns: u64,
}

/// `latency_target` and its companions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LatencyTarget {
    /// The latency limit, ns.
    pub target_ns: u64,
    /// The sample window, ns.
    pub window_ns: u64,
    /// Share of I/Os that must stay below the limit, percent (0 to 100).
    pub percentile: f64,
    /// Go on searching while the job runs.
    pub run: bool,
}
