//! A job while its options are being applied: fio's defaults, then what was written, in the order written.
//!
//! Most options go straight into a field of the [`Job`]. Those that depend on others wait in [`Written`] until
//! [`Draft::finish`](crate::resolve) brings them together.

use crate::access::Access;
use crate::direction::PerDirection;
use crate::typed::*;

/// Seed of the repeatable sequences unless `randseed` says otherwise.
pub const DEFAULT_SEED: u64 = 0x89;

/// The percentiles that are reported unless `percentile_list` says otherwise.
pub const DEFAULT_PERCENTILES: [f64; 17] =
    [1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99];

/// A job under construction.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    /// The job so far.
    pub job: Job,
    /// Values that need others to mean something.
    pub written: Written,
}

/// Values as written, before the rules across options.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Written {
    /// `bs`.
    pub block_size: PerDirection<u32>,
    /// `bsrange`, which outranks `bs` whatever the order.
    pub block_range: PerDirection<Option<(u32, u32)>>,
    /// `bssplit`, which outranks both.
    pub block_split: PerDirection<Option<Vec<(u32, u32)>>>,
    /// `blockalign`.
    pub block_align: PerDirection<Option<u64>>,
    /// `randrepeat`.
    pub repeat_random: bool,
    /// `randseed`.
    pub seed: Option<u64>,
    /// Some `filename` came while a `directory` was set.
    pub named_in_directory: bool,
    /// Some `filename` came while no `directory` was set.
    pub named_without_directory: bool,
    /// `prioclass` and `prio`.
    pub priority: (Option<u8>, Option<u8>),
    /// `verify`.
    pub verify_kind: Option<VerifyKind>,
    /// The companions of `verify`.
    pub verify: Verify,
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
}

impl Default for Draft {
    fn default() -> Self {
        Draft { job: default_job(), written: default_written() }
    }
}

fn default_written() -> Written {
    Written {
        block_size: PerDirection::all(4096),
        repeat_random: true,
        verify: Verify { read_back: true, fresh: true, state_save: true, ..Verify::default() },
        latency_target: LatencyTarget { percentile: 100.0, ..LatencyTarget::default() },
        steady_state: SteadyState {
            iops: true,
            slope: true,
            limit: 0.01,
            percent: true,
            duration_ns: 0,
            ramp_ns: 0,
            interval_ns: 1_000_000_000,
        },
        compress_chunk: 512,
        ..Written::default()
    }
}

fn default_job() -> Job {
    Job {
        name: String::new(),
        description: None,
        clones: 1,
        stonewall: false,
        new_group: false,
        exit_all: false,
        exit_all_on_error: false,
        starts_file: false,
        files: default_files(),
        pattern: default_pattern(),
        submission: default_submission(),
        extent: Extent { loops: 1, ..Extent::default() },
        durability: Durability::default(),
        pacing: Pacing { rate_cycle_ms: 1000, think_blocks: 1, ..Pacing::default() },
        content: Content {
            zero: false,
            refill: false,
            scramble: true,
            pattern: None,
            compress: None,
            dedupe_percent: 0,
        },
        verify: None,
        process: Process::default(),
        reporting: default_reporting(),
        errors: ErrorPolicy::default(),
        options: Vec::new(),
    }
}

fn default_files() -> Files {
    Files {
        names: Vec::new(),
        directories: Vec::new(),
        name_format: None,
        count: 1,
        file_size: None,
        size: None,
        offset: Amount::Bytes(0),
        offset_increment: Amount::Bytes(0),
        service: FileService::RoundRobin { per_file: 1 },
        fallocate: Fallocate::Native,
        overwrite: false,
        create_on_open: false,
        create_only: false,
        allow_create: true,
        read_only: false,
        create_fsync: true,
        create_serialize: true,
        unlink: false,
        unlink_each_loop: false,
        pre_read: false,
        invalidate: true,
        fadvise: Fadvise::ByPattern,
        fill_device: false,
        append: false,
        allow_mounted_write: false,
    }
}

fn default_pattern() -> Pattern {
    Pattern {
        access: Access::READ,
        modifier: None,
        identical: false,
        block_size: PerDirection::all(BlockSize::Fixed(4096)),
        block_align: None,
        unaligned_sizes: false,
        sizes_by_sequence: false,
        read_percent: 50,
        random_percent: PerDirection::all(100),
        seed: Seed::Fixed(DEFAULT_SEED),
        random_map: true,
        generator: None,
        distribution: Distribution::Uniform,
    }
}

fn default_submission() -> Submission {
    Submission {
        engine: EngineName::Psync,
        depth: 1,
        batch: 1,
        batch_complete_min: 1,
        batch_complete_max: 0,
        depth_low: None,
        direct: false,
        sync_open: SyncOpen::None,
        memory_align: 0,
        memory: Memory::Anonymous,
        engine_options: EngineOptions::default(),
    }
}

fn default_reporting() -> Reporting {
    Reporting {
        completion_latency: true,
        submission_latency: true,
        total_latency: true,
        bandwidth: true,
        clat_percentiles: true,
        percentiles: DEFAULT_PERCENTILES.to_vec(),
        bandwidth_window_ms: Reporting::WINDOW_MS,
        iops_window_ms: Reporting::WINDOW_MS,
        shown: true,
        disk_util: true,
        significant_figures: 4,
        kb_base: 1024,
        ..Reporting::default()
    }
}
