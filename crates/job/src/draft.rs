//! A job while its options are being applied: fio's defaults, then what was written, in the order written.
//!
//! Most options go straight into a field of the [`Job`]. Options that depend on others wait in [`WrittenValues`] until
//! [`Draft::finish`](mod@crate::resolve) combines them.

use crate::direction::PerDirection;
use crate::typed::*;

/// A job under construction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Draft {
    /// The job so far.
    pub job: Job,
    /// Values whose meaning depends on other options.
    pub written: WrittenValues,
}

/// Values as written, before the rules across options.
#[derive(Clone, Debug, PartialEq)]
pub struct WrittenValues {
    /// `bs`.
    pub block_size: PerDirection<u64>,
    /// `bsrange`, which outranks `bs` whatever the order.
    pub block_range: PerDirection<Option<(u64, u64)>>,
    /// `bssplit`, which outranks both.
    pub block_split: PerDirection<Option<Vec<(u64, u32)>>>,
    /// `blockalign`.
    pub block_align: PerDirection<Option<u64>>,
    /// `random_sequence_stride`.
    pub sequence_strides: bool,
    /// `zonemode=strided`.
    pub strided: bool,
    /// `zonemode=zbd`.
    pub zoned: bool,
    /// Its companions, but for `zonesize` and `zoneskip`.
    pub zoned_rules: ZonedRules,
    /// `zonesize` and `zonerange`; 0: not written.
    pub zones: StridedZones,
    /// `zoneskip`.
    pub zone_skip: Amount,
    /// `randrepeat`.
    pub repeat_random: bool,
    /// `randseed`.
    pub seed: Option<u64>,
    /// A `filename` was written while a `directory` was set.
    pub named_in_directory: bool,
    /// A `filename` was written while no `directory` was set.
    pub named_without_directory: bool,
    /// `prioclass` and `prio`.
    pub priority: (Option<u8>, Option<u8>),
    /// `cmdprio_percentage` and its companions.
    pub command_priority: CommandPriority,
    /// `priohint`.
    pub priority_hint: Option<u16>,
    /// `buffer_pattern`.
    pub buffer_pattern: Option<BytePattern>,
    /// `verify`; `None`: not written, `Some(None)`: no check.
    pub verify_kind: Option<Option<VerifyKind>>,
    /// The companions of `verify`.
    pub verify: Verify,
    /// `num_range`.
    pub trim_ranges: u32,
    /// `trim_percentage` and its companions.
    pub trims: TrimBacklog,
    /// `thinktime_blocks`; `None`: not written.
    pub think_blocks: Option<u32>,
    /// `flow` (weight 0: none) and its companions.
    pub flow: Flow,
    /// The weight was negative.
    pub flow_negative: bool,
    /// `latency_target` (0: none) and its companions.
    pub latency_target: LatencyTarget,
    /// `steadystate` and its companions (duration 0: off).
    pub steady_state: SteadyState,
    /// `bwavgtime`; `None`: not written.
    pub bandwidth_window_ms: Option<u32>,
    /// `iopsavgtime`; `None`: not written.
    pub iops_window_ms: Option<u32>,
    /// `buffer_compress_percentage`; `None`: not written.
    pub compress_percent: Option<u32>,
    /// `buffer_compress_chunk`, bytes.
    pub compress_chunk: u32,
    /// `dedupe_percentage` (0: none) and its companions.
    pub dedupe: Dedupe,
    /// `dedupe_working_set_percentage`.
    pub working_set_percent: u32,
    /// `merge_blktrace_file` (empty: none) and its companions.
    pub merge: MergedTrace,
}

/// Priorities of requests, as they were written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CommandPriority {
    /// `cmdprio_percentage`.
    pub percent: PerDirection<Option<u64>>,
    /// `cmdprio_class`.
    pub class: PerDirection<Option<u64>>,
    /// `cmdprio`.
    pub level: PerDirection<Option<u64>>,
    /// `cmdprio_hint`.
    pub hint: PerDirection<Option<u64>>,
    /// Priorities by block size. A part of a priority that is left out comes from the three fields above.
    pub split: PerDirection<Vec<(u64, u32, Option<IoPriority>)>>,
}

impl Default for WrittenValues {
    fn default() -> Self {
        WrittenValues {
            block_size: PerDirection::all(4096),
            block_range: PerDirection::default(),
            block_split: PerDirection::default(),
            block_align: PerDirection::default(),
            sequence_strides: false,
            strided: false,
            zoned: false,
            zoned_rules: ZonedRules::default(),
            zones: StridedZones { bytes: 0, range: 0, skip: 0 },
            zone_skip: Amount::Bytes(0),
            repeat_random: true,
            seed: None,
            named_in_directory: false,
            named_without_directory: false,
            priority: (None, None),
            command_priority: CommandPriority::default(),
            priority_hint: None,
            buffer_pattern: None,
            verify_kind: None,
            verify: Verify { read_back: true, fresh: true, state_save: true, ..Verify::default() },
            trim_ranges: 1,
            trims: TrimBacklog { percent: 0, backlog: 0, batch: 0, read_as_zeroes: true },
            think_blocks: None,
            flow: Flow::default(),
            flow_negative: false,
            latency_target: LatencyTarget { percentile: 100.0, ..LatencyTarget::default() },
            steady_state: SteadyState {
                metric: SteadyStateMetric::Iops,
                slope: true,
                limit: 0.01,
                percent: true,
                duration_ns: 0,
                ramp_ns: 0,
                interval_ns: 1_000_000_000,
            },
            bandwidth_window_ms: None,
            iops_window_ms: None,
            compress_percent: None,
            compress_chunk: 512,
            dedupe: Dedupe { percent: 0, working_set_percent: None, global: false },
            working_set_percent: 5,
            merge: MergedTrace::default(),
        }
    }
}
