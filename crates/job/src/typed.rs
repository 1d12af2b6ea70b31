//! A job with its values parsed, its defaults filled in and its units named. No system call has been made:
//! whether a path exists or a device takes direct I/O is not known here.

use std::path::PathBuf;

use crate::direction::{Direction, PerDirection};

/// One job section (or one `--name`), before cloning by `numjobs`.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// Label; also the stem of generated file names.
    pub name: String,
    /// Free text for the reports.
    pub description: Option<String>,
    /// Clones of this job, each with its own worker (1 to 1,048,576).
    pub clones: u32,
    /// Wait for all earlier jobs, and start a new report group.
    pub stonewall: bool,
    /// Start a new report group without waiting.
    pub new_group: bool,
    /// End the others of this scope when this job ends.
    pub exit_all: bool,
    /// End all jobs when this one fails.
    pub exit_all_on_error: bool,
    /// The section stands first in a job file other than the first source: stonewall and group are implied.
    pub starts_file: bool,
    /// Which files, how large, how made.
    pub files: Files,
    /// Offsets, sizes, directions.
    pub pattern: Pattern,
    /// How requests reach the kernel.
    pub submission: Submission,
    /// When the job begins and ends.
    pub extent: Extent,
    /// What makes written data durable.
    pub durability: Durability,
    /// Slower than flat out.
    pub pacing: Pacing,
    /// What is written.
    pub content: Content,
    /// Check of what is read; `None` without `verify`.
    pub verify: Option<Verify>,
    /// Processors, priority, identity of the workers.
    pub process: Process,
    /// What is measured and how it is shown.
    pub reporting: Reporting,
    /// Which errors are counted and survived.
    pub errors: ErrorPolicy,
    /// Options as written for this job, canonical names, for the reports' `job options`.
    pub options: Vec<(String, String)>,
}

/// Bytes, or a share of the file or device that only probing can turn into bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// An absolute count of bytes.
    Bytes(u64),
    /// Percent of the existing file or device (0 to 100).
    Percent(u32),
}

/// Which files a job uses and how they come to be.
#[derive(Clone, Debug, PartialEq)]
pub struct Files {
    /// `filename=`, split at colons, escapes resolved. Empty: names are generated from `name_format`.
    pub names: Vec<String>,
    /// `directory=`, split at colons; clones take them in turn. Empty: the current directory.
    pub directories: Vec<PathBuf>,
    /// `filename_format`; `None` is `$jobname.$jobnum.$filenum`.
    pub name_format: Option<String>,
    /// Files per clone when names are generated (1 and up).
    pub count: u32,
    /// `filesize=`: smallest and largest size of each file in bytes.
    pub file_size: Option<(u64, u64)>,
    /// `size=`: bytes per clone over all its files. `None`: what exists.
    pub size: Option<Amount>,
    /// Where the used range begins.
    pub offset: Amount,
    /// Added to the offset once per clone index.
    pub offset_increment: Amount,
    /// Which file the next I/O goes to.
    pub service: FileService,
    /// How a new file's space is reserved.
    pub fallocate: Fallocate,
    /// Lay out also for write jobs.
    pub overwrite: bool,
    /// Create each file when it is opened, without a layout.
    pub create_on_open: bool,
    /// Stop after the layout.
    pub create_only: bool,
    /// Off: a missing or short file is an error.
    pub allow_create: bool,
    /// fsync after layout.
    pub create_fsync: bool,
    /// Lay out one job after the other.
    pub create_serialize: bool,
    /// Delete the files at the end.
    pub unlink: bool,
    /// Delete the files at the end of each loop.
    pub unlink_each_loop: bool,
    /// Read the files into the cache first.
    pub pre_read: bool,
    /// Drop cached pages at open and at each wrap.
    pub invalidate: bool,
    /// Advice to the kernel at open.
    pub fadvise: Fadvise,
    /// Run until the device is full; ENOSPC then ends the job without error.
    pub fill_device: bool,
    /// Begin at the end of the file.
    pub append: bool,
    /// A mounted block device may be written.
    pub allow_mounted_write: bool,
}

/// `file_service_type`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FileService {
    /// Each file in turn, `per_file` I/Os each.
    RoundRobin {
        /// I/Os before the next file (1 and up).
        per_file: u32,
    },
    /// A uniform draw, `per_file` I/Os each.
    Random {
        /// I/Os before the next draw (1 and up).
        per_file: u32,
    },
    /// Finish one file before the next.
    Sequential,
}

/// `fallocate`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fallocate {
    /// Not at all.
    None,
    /// fallocate(2), sets the size.
    Native,
    /// posix_fallocate(3).
    Posix,
    /// fallocate(2) with FALLOC_FL_KEEP_SIZE.
    Keep,
    /// ftruncate(2): sparse.
    Truncate,
}

/// `fadvise_hint`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fadvise {
    /// None given.
    Off,
    /// RANDOM or SEQUENTIAL, as the pattern is.
    ByPattern,
    /// POSIX_FADV_RANDOM.
    Random,
    /// POSIX_FADV_SEQUENTIAL.
    Sequential,
    /// POSIX_FADV_NOREUSE.
    NoReuse,
}

/// Offsets, sizes and directions.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    /// `rw=`.
    pub access: Access,
    /// Block sizes of each direction.
    pub block_size: PerDirection<BlockSize>,
    /// `blockalign`: offsets are multiples of this. `None`: the smallest block size.
    pub block_align: Option<PerDirection<u64>>,
    /// `bs_unaligned`: drawn sizes are not rounded.
    pub unaligned_sizes: bool,
    /// `bs_is_seq_rand`: the read size serves sequential I/O, the write size random I/O.
    pub sizes_by_sequence: bool,
    /// Share of reads in a mix, percent (0 to 100).
    pub read_percent: u32,
    /// Share of random offsets in random modes, percent (0 to 100).
    pub random_percent: PerDirection<u32>,
    /// Where the sequence comes from.
    pub seed: Seed,
    /// Each block once per pass (off with `norandommap`).
    pub random_map: bool,
    /// `random_generator` when written; `None`: our O(1) permutation.
    pub generator: Option<RandomGenerator>,
    /// How offsets are spread.
    pub distribution: Distribution,
}

/// `rw=`, with its `:N` suffix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Random offsets.
    pub random: bool,
    /// Reads happen.
    pub reads: bool,
    /// Writes happen.
    pub writes: bool,
    /// Trims happen.
    pub trims: bool,
    /// `trimwrite`: each block is trimmed, then written.
    pub trim_then_write: bool,
    /// The `:N` suffix. Sequential: bytes skipped after each I/O (negative: backwards). Random: I/Os per new random offset.
    pub modifier: Option<i64>,
    /// `rw_sequencer=identical`: the I/Os of one random draw use the same offset.
    pub identical: bool,
}

impl Access {
    /// The canonical word: `read`, `randrw`, ...
    pub fn name(&self) -> &'static str {
        match (self.random, self.reads, self.writes, self.trims) {
            (false, true, false, false) => "read",
            (false, false, true, false) => "write",
            (false, true, true, _) => "rw",
            (true, true, false, false) => "randread",
            (true, false, true, false) => "randwrite",
            (true, true, true, _) => "randrw",
            (false, false, false, _) => "trim",
            (true, false, false, _) => "randtrim",
            (false, _, true, true) => "trimwrite",
            (true, _, true, true) => "randtrimwrite",
            (false, true, false, true) => "readtrim",
            (true, true, false, true) => "randreadtrim",
        }
    }

    /// Whether I/O of this direction can happen.
    pub fn has(&self, direction: Direction) -> bool {
        match direction {
            Direction::Read => self.reads,
            Direction::Write => self.writes,
            Direction::Trim => self.trims,
        }
    }
}

/// `bs`, `bsrange`, `bssplit` of one direction. Sizes are bytes, 1 and up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlockSize {
    /// Always the same.
    Fixed(u32),
    /// Drawn between both, rounded down to a multiple of the smallest.
    Range(u32, u32),
    /// Sizes and their percentages, which sum to 100.
    Split(Vec<(u32, u32)>),
}

impl BlockSize {
    /// The smallest size that can come, in bytes.
    pub fn min(&self) -> u32 {
        match self {
            BlockSize::Fixed(size) => *size,
            BlockSize::Range(min, _) => *min,
            BlockSize::Split(parts) => parts.iter().map(|part| part.0).min().unwrap_or(0),
        }
    }

    /// The largest size that can come, in bytes.
    pub fn max(&self) -> u32 {
        match self {
            BlockSize::Fixed(size) => *size,
            BlockSize::Range(_, max) => *max,
            BlockSize::Split(parts) => parts.iter().map(|part| part.0).max().unwrap_or(0),
        }
    }
}

/// Where random numbers start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seed {
    /// Repeatable: `randseed`, 0x89 unless given.
    Fixed(u64),
    /// `randrepeat=0`: drawn from the system for each run.
    System,
}

/// `random_generator`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RandomGenerator {
    /// fio's 32-bit sequence, block map included.
    Tausworthe,
    /// fio's shift register, full coverage.
    Lfsr,
    /// fio's 64-bit sequence.
    Tausworthe64,
}

/// `random_distribution`.
#[derive(Clone, Debug, PartialEq)]
pub enum Distribution {
    /// Every block alike.
    Uniform,
    /// Zipf with this theta, and the centre of the hot blocks (share of the range, 0 to 1) if given.
    Zipf(f64, Option<f64>),
    /// Pareto with this h, and the centre if given.
    Pareto(f64, Option<f64>),
    /// Normal with this deviation in percent, and the centre if given.
    Normal(f64, Option<f64>),
    /// `zoned:` percent of I/O to percent of the range, per direction.
    Zoned(PerDirection<Vec<(u32, u32)>>),
    /// `zoned_abs:` percent of I/O to bytes, per direction.
    ZonedAbsolute(PerDirection<Vec<(u32, u64)>>),
}

/// How requests reach the kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Submission {
    /// The engine, by its canonical name.
    pub engine: EngineName,
    /// In flight at most (1 and up), as asked for.
    pub depth: u32,
    /// Submit when so many are queued (1 to depth).
    pub batch: u32,
    /// Reap at least so many per call (0: poll).
    pub batch_complete_min: u32,
    /// Reap at most so many per call.
    pub batch_complete_max: u32,
    /// Refill only after falling to this; `None`: at once.
    pub depth_low: Option<u32>,
    /// O_DIRECT.
    pub direct: bool,
    /// O_SYNC / O_DSYNC at open.
    pub sync_open: SyncOpen,
    /// Alignment of the buffers in bytes, a power of two; 0: the page (always so with direct I/O).
    pub memory_align: u32,
    /// What the memory is made of.
    pub memory: Memory,
    /// Options of the engine.
    pub engine_options: EngineOptions,
}

/// Engines that the job language can name and this build knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EngineName {
    /// No I/O at all.
    Null,
    /// A virtual device on a virtual clock.
    Sim,
    /// lseek + read/write.
    Sync,
    /// pread/pwrite.
    Psync,
    /// preadv/pwritev.
    Pvsync,
    /// preadv2/pwritev2.
    Pvsync2,
    /// readv/writev after lseek.
    Vsync,
    /// Copies from and to a mapping.
    Mmap,
    /// io_setup, io_submit, io_getevents.
    Libaio,
    /// io_uring_setup, io_uring_enter.
    IoUring,
}

impl EngineName {
    /// fio's name for it.
    pub fn name(self) -> &'static str {
        match self {
            EngineName::Null => "null",
            EngineName::Sim => "sim",
            EngineName::Sync => "sync",
            EngineName::Psync => "psync",
            EngineName::Pvsync => "pvsync",
            EngineName::Pvsync2 => "pvsync2",
            EngineName::Vsync => "vsync",
            EngineName::Mmap => "mmap",
            EngineName::Libaio => "libaio",
            EngineName::IoUring => "io_uring",
        }
    }
}

/// `sync=`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncOpen {
    /// Neither flag.
    None,
    /// O_SYNC.
    Sync,
    /// O_DSYNC.
    Dsync,
}

/// `mem=`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Memory {
    /// Anonymous pages (fio's malloc and mmap alike).
    Anonymous,
    /// Anonymous huge pages (`mmaphuge`).
    Huge,
}

/// Options that belong to one engine. Unused ones keep their defaults.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EngineOptions {
    /// io_uring, pvsync2: poll for completions (`hipri`).
    pub hipri: bool,
    /// pvsync2: share of polled I/O in percent; `None`: all.
    pub hipri_percentage: Option<u32>,
    /// io_uring: registered buffers.
    pub fixed_buffers: bool,
    /// io_uring: registered files.
    pub registered_files: bool,
    /// io_uring: a kernel thread polls the submission queue.
    pub sqthread_poll: bool,
    /// io_uring: that thread's processor.
    pub sqthread_poll_cpu: Option<u32>,
    /// io_uring: plain read/write opcodes (true, fio's default) or vectored ones.
    pub nonvectored: Option<bool>,
    /// io_uring: IOSQE_ASYNC on every N-th request; 0: never.
    pub force_async: u32,
    /// libaio, io_uring, pvsync2: RWF_NOWAIT.
    pub nowait: bool,
    /// libaio: read completions from the shared ring.
    pub userspace_reap: bool,
    /// io_uring, pvsync2: RWF_DONTCACHE.
    pub uncached: bool,
    /// sim: the device that is played.
    pub sim: SimDevice,
}

/// The virtual device of the `sim` engine. All times are virtual nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct SimDevice {
    /// Service time of each request (`sim_service`), ns.
    pub service_ns: u64,
    /// Requests served at once (`sim_channels`), 1 and up.
    pub channels: u32,
    /// Requests that fit in before the queue is full (`sim_queue`); 0: no limit.
    pub queue: u32,
    /// The script of faults (`sim_faults`), in order of the I/O number.
    pub faults: Vec<SimFault>,
}

impl Default for SimDevice {
    fn default() -> Self {
        SimDevice { service_ns: 100_000, channels: 1, queue: 0, faults: Vec::new() }
    }
}

/// One scripted event of the virtual device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SimFault {
    /// The request it meets, counted from 1 in order of submission.
    pub number: u64,
    /// What happens to it.
    pub kind: SimFaultKind,
}

/// Kinds of scripted events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SimFaultKind {
    /// Fails with this errno.
    Error(i32),
    /// Transfers only so many bytes.
    Short(u32),
    /// Takes so much longer, ns.
    Stall(u64),
    /// Transfers nothing: end of file.
    EndOfFile,
}

/// When a job begins and ends.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Extent {
    /// Upper limit after the ramp, ns; 0: none.
    pub runtime_ns: u64,
    /// Loop over the size until the runtime is over.
    pub time_based: bool,
    /// Warm-up that is not reported, ns.
    pub ramp_ns: u64,
    /// Delay before the start: shortest and longest, ns.
    pub start_delay_ns: (u64, u64),
    /// Repetitions of the whole job (1 and up).
    pub loops: u32,
    /// Stop after so many I/Os; 0: no limit.
    pub number_ios: u64,
    /// `io_size`: bytes to transfer when they differ from the size.
    pub io_size: Option<Amount>,
}

/// Syncs during and after the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Durability {
    /// fsync after so many writes; 0: never.
    pub fsync_every: u32,
    /// fdatasync after so many writes; 0: never.
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

/// Slower than flat out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pacing {
    /// Bytes per second of each direction; `None`: no limit.
    pub rate: PerDirection<Option<u64>>,
    /// I/Os per second of each direction; `None`: no limit.
    pub rate_iops: PerDirection<Option<u32>>,
    /// Fail below so many bytes per second.
    pub rate_min: PerDirection<Option<u64>>,
    /// Fail below so many I/Os per second.
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
    /// Fail the job on an I/O slower than this, ns; per direction.
    pub max_latency_ns: PerDirection<u64>,
    /// `latency_target`: find the depth that keeps it. `None` when not asked for.
    pub latency_target: Option<LatencyTarget>,
}

/// `latency_target` and its companions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LatencyTarget {
    /// The latency to keep, ns.
    pub target_ns: u64,
    /// The sample window, ns.
    pub window_ns: u64,
    /// Share of I/Os that must keep it, percent (0 to 100).
    pub percentile: f64,
    /// Go on searching while the job runs.
    pub run: bool,
}

/// What is written.
#[derive(Clone, Debug, PartialEq)]
pub struct Content {
    /// Only zeroes.
    pub zero: bool,
    /// New random bytes for each write.
    pub refill: bool,
    /// Random once, then changed a little for each write.
    pub scramble: bool,
    /// Repeat these bytes; `None`: random.
    pub pattern: Option<Vec<u8>>,
    /// Percent that compresses (0 to 100) in chunks of so many bytes.
    pub compress: Option<(u32, u32)>,
    /// Percent of blocks that repeat earlier ones (0 to 100).
    pub dedupe_percent: u32,
}

/// `verify=` and its companions.
#[derive(Clone, Debug, PartialEq)]
pub struct Verify {
    /// The checksum or pattern.
    pub kind: VerifyKind,
    /// Read back after writing.
    pub read_back: bool,
    /// Bytes between headers; `None`: the block size.
    pub interval: Option<u32>,
    /// Where the header stands within its interval, bytes.
    pub header_offset: u32,
    /// `verify_pattern`.
    pub pattern: Option<Vec<u8>>,
    /// The first mismatch ends the job.
    pub fatal: bool,
    /// Write the expected and the received block into files.
    pub dump: bool,
    /// Verify after so many writes instead of at the end; 0: at the end.
    pub backlog: u64,
    /// How many to verify at a time from the backlog.
    pub backlog_batch: u64,
    /// Only replay the offsets, no write phase.
    pub only: bool,
    /// Save where the writes stood when the job is cut short.
    pub state_save: bool,
}

/// Checksums of `verify=`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the published algorithm of its name")]
pub enum VerifyKind {
    Crc7,
    Crc16,
    Crc32,
    Crc32c,
    Crc64,
    Md5,
    Sha1,
    Sha256,
    Sha512,
    Xxhash,
    Pattern,
    PatternHeader,
    Meta,
    Null,
}

/// Processors, priority and identity of the workers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Process {
    /// `thread` was given. Workers are threads either way; only wording differs.
    pub thread: bool,
    /// Allowed processors; empty: all.
    pub cpus_allowed: Vec<u32>,
    /// Each clone gets one of them instead of the whole set.
    pub cpus_split: bool,
    /// Nice value.
    pub nice: Option<i32>,
    /// I/O priority class (0 to 3) and level (0 to 7).
    pub priority: Option<(u8, u8)>,
    /// Command before the job.
    pub exec_prerun: Option<String>,
    /// Command after the job.
    pub exec_postrun: Option<String>,
}

/// What is measured and how it is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Reporting {
    /// One block for the group.
    pub group: bool,
    /// `gtod_reduce`: time one I/O in 64 only.
    pub sampled_clock: bool,
    /// Completion latency is kept.
    pub completion_latency: bool,
    /// Submission latency is kept.
    pub submission_latency: bool,
    /// Total latency is kept.
    pub total_latency: bool,
    /// Bandwidth samples are kept.
    pub bandwidth: bool,
    /// Percentiles shown for clat, lat, slat.
    pub clat_percentiles: bool,
    /// See `clat_percentiles`.
    pub lat_percentiles: bool,
    /// See `clat_percentiles`.
    pub slat_percentiles: bool,
    /// The percentiles, ascending, 0 to 100.
    pub percentiles: Vec<f64>,
    /// Window of the bandwidth samples, ms.
    pub bandwidth_window_ms: u32,
    /// Window of the IOPS samples, ms.
    pub iops_window_ms: u32,
    /// `unified_rw_reporting`.
    pub unified: Unified,
    /// Off: the job is left out of the reports.
    pub shown: bool,
    /// Device counters are read.
    pub disk_util: bool,
    /// Digits of the numbers in the normal report (1 to 9).
    pub significant_figures: u32,
    /// 1000 or 1024.
    pub kb_base: u32,
    /// 0: as kb_base implies, 1: bits, 8: bytes.
    pub unit_base: u32,
    /// Log files; `None`: not written.
    pub bandwidth_log: Option<String>,
    /// See `bandwidth_log`; makes lat, clat and slat logs.
    pub latency_log: Option<String>,
    /// See `bandwidth_log`.
    pub iops_log: Option<String>,
    /// Histogram log.
    pub histogram_log: Option<String>,
    /// Window of averaged logs, ms; 0: every I/O.
    pub log_window_ms: u32,
    /// Add the offset column.
    pub log_offset: bool,
    /// One file per clone.
    pub per_job_logs: bool,
    /// Stop when steady; `None` when not asked for.
    pub steady_state: Option<SteadyState>,
}

/// `steadystate` and its companions.
#[derive(Clone, Debug, PartialEq)]
pub struct SteadyState {
    /// IOPS (true) or bandwidth (false).
    pub iops: bool,
    /// Slope (true) or deviation (false).
    pub slope: bool,
    /// The limit.
    pub limit: f64,
    /// The limit is a percentage.
    pub percent: bool,
    /// Window, ns; 0: off.
    pub duration_ns: u64,
    /// Wait before the first sample, ns.
    pub ramp_ns: u64,
    /// Between samples, ns.
    pub interval_ns: u64,
}

/// `unified_rw_reporting`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unified {
    /// Each direction by itself.
    None,
    /// Only the sum.
    Mixed,
    /// Both.
    Both,
}

/// Which errors are counted and survived.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ErrorPolicy {
    /// Go on after read errors.
    pub on_read: bool,
    /// Go on after write errors.
    pub on_write: bool,
    /// Go on after verify errors.
    pub on_verify: bool,
    /// Errnos to ignore for reads, writes and verify.
    pub ignored: [Vec<i32>; 3],
}
