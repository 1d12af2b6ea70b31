//! The record of one run. Reports, findings and comparisons are functions of it and of nothing else.
//!
//! Unknown is `None`, never 0. The schema number grows whenever a field is added, removed or changes meaning.

use fsdyno_job::{Access, PerDirection, ReadWrite, SteadyStateMetric};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::nodes::Node;
use crate::ranks::RanksRecord;
use crate::samples::Samples;
use crate::severity::Severity;
use crate::studies::{Finding, PhaseConditions};
use fsdyno_stats::Histogram;
use fsdyno_stats::Moments;

/// Version of the record's format.
pub const SCHEMA_VERSION: u32 = 7;

/// One run of one or more jobs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunRecord {
    /// [`SCHEMA_VERSION`] of the writer.
    #[schemars(extend("const" = SCHEMA_VERSION))]
    pub schema: u32,
    /// Version line of the writer, beginning with `fio-3.42`.
    pub version: String,
    /// When the run's first job started, ms since the epoch.
    pub started_ms: u64,
    /// When this record was made, ms since the epoch.
    pub taken_ms: u64,
    /// Whole seconds since the run began, as fio counts them (at least 1).
    pub elapsed_s: u64,
    /// False for an interim record (`--status-interval`, SIGUSR1), and where ranks sent no results.
    pub complete: bool,
    /// The words of the command line.
    pub command: Vec<String>,
    /// Options given for all jobs, canonical names, texts as typed.
    pub global_options: Vec<(String, String)>,
    /// The machines that it ran on; one, unless records of several were merged. No two have the same name.
    pub nodes: Vec<Node>,
    /// How the ranks of a run on several nodes ran together; `None`: it is of one machine, or nobody watched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub together: Option<RanksRecord>,
    /// One entry per worker, by thread number.
    pub jobs: Vec<JobRecord>,
    /// What the reader must know.
    pub notes: Vec<Note>,
    /// The signal that ended the run.
    pub signal: Option<i32>,
    /// Findings about the numbers: a function of the rest, stored so that they can be read without fsdyno.
    #[serde(default)]
    pub findings: Vec<Finding>,
}

/// Machine and clock of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Host {
    /// uname -sr.
    pub kernel: Option<String>,
    /// Processors online.
    pub cpus: Option<u32>,
    /// Bytes of memory.
    pub memory_bytes: Option<u64>,
    /// The clock that stamped the I/Os.
    pub clock: Option<ClockFacts>,
}

/// The clock of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClockFacts {
    /// `tsc`, `clock_gettime` or `virtual`.
    pub source: String,
    /// Cost of one reading, ns.
    pub cost_ns: f64,
    /// Ticks per second, for a counter.
    pub frequency_hz: Option<u64>,
    /// Drift against CLOCK_MONOTONIC over the run, parts per million.
    pub drift_ppm: Option<f64>,
}

/// Id of the note that the directory of a run was removed during the run.
pub const DIRECTORY_LOST: &str = "directory-lost";

/// Id of the note that nothing keeps the record of a study.
pub const NOT_SAVED: &str = "not-saved";

/// Something the reader must know: an option that had another effect than asked for, a value that was clipped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Note {
    /// Stable name, e.g. `depth-capped`.
    pub id: String,
    /// How much it matters.
    pub severity: Severity,
    /// The node it concerns, by name; `None`: the run's only one, or all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// The job it concerns; `None`: the run.
    pub job: Option<String>,
    /// One sentence.
    pub text: String,
}

impl Note {
    /// Of the whole run.
    pub fn new(id: impl Into<String>, severity: Severity, text: impl Into<String>) -> Note {
        Note { id: id.into(), severity, node: None, job: None, text: text.into() }
    }
}

/// One worker's results.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobRecord {
    /// The job's name.
    pub name: String,
    /// Its description.
    pub description: Option<String>,
    /// Counted from 1 over all workers.
    pub thread_number: u32,
    /// The machine that it ran on: index into the record's nodes.
    pub node: usize,
    /// Report group, counted from 0.
    pub group: u32,
    /// Workers merged into this record (1 before merging).
    pub members: u32,
    /// Merge the group's workers for the report (`group_reporting`).
    pub group_reporting: bool,
    /// Clone number within its job, counted from 0.
    pub clone: u32,
    /// Process or thread id.
    pub pid: u32,
    /// The worker's options as the reports show them.
    pub setup: JobSetup,
    /// Options written for this job, canonical names, texts as typed.
    pub options: Vec<(String, String)>,
    /// When it started, ms since the epoch, or of the clock of `job_start_clock_id`; `None`: it never did.
    pub started_ms: Option<u64>,
    /// The first error.
    pub error: Option<JobError>,
    /// Requests that never completed, whatever the first error was; `None`: all did. A worker that is itself stuck in a
    /// call has an error and nothing here.
    #[serde(default)]
    pub lost: Option<LostRequests>,
    /// Seconds left when an interim record was made; `None` when unknown or over.
    pub eta_s: Option<u64>,
    /// Transfers.
    pub directions: PerDirection<DirectionRecord>,
    /// fsync, fdatasync, sync_file_range: total count and latency.
    pub sync: SyncRecord,
    /// Time of the syncs after the last I/O (`end_fsync`, `fsync_on_close`), ns (the longest when merged); `None`: none.
    /// The runtime ends after them.
    pub final_sync_ns: Option<u64>,
    /// Bytes that were in memory alone when the last write had returned, of a job that then stored them to read back what
    /// it wrote (summed when merged); `None`: it did not, or nobody could see.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unstored_bytes: Option<u64>,
    /// Time to close the files, ns (the longest when merged); `None`: no file was closed.
    pub close_ns: Option<u64>,
    /// Wall time of the worker, ms (summed when merged).
    pub job_runtime_ms: u64,
    /// User CPU time, ns.
    pub user_ns: u64,
    /// System CPU time, ns.
    pub system_ns: u64,
    /// Time that its thread was runnable and waited for a processor, ns; `None`: not visible.
    #[serde(default)]
    pub run_queue_wait_ns: Option<u64>,
    /// Voluntary and involuntary context switches.
    pub context_switches: u64,
    /// Major page faults.
    pub major_faults: u64,
    /// Minor page faults.
    pub minor_faults: u64,
    /// I/Os committed at a depth of 1, 2-3, 4-7, 8-15, 16-31, 32-63, 64 and up.
    pub depth_levels: [u64; 7],
    /// Submit calls that took 0, 1-4, 5-8, 9-16, 17-32, 33-64, more I/Os.
    pub submit_sizes: [u64; 7],
    /// Reap calls that gave 0, 1-4, 5-8, 9-16, 17-32, 33-64, more I/Os.
    pub complete_sizes: [u64; 7],
    /// I/Os whose clat (or lat) fell below 2, 4, 10, 20, 50, 100, 250, 500, 750, 1000 ns.
    pub latency_ns_counts: [u64; 10],
    /// The same in us.
    pub latency_us_counts: [u64; 10],
    /// The same in ms, then below 2000, then 2000 and up.
    pub latency_ms_counts: [u64; 12],
    /// Errors that were counted and survived; `None` without `continue_on_error`.
    pub survived_errors: Option<SurvivedErrors>,
    /// Depth that `latency_target` settled on, else the depth asked for.
    pub latency_depth: u32,
    /// Steady state, when asked for.
    pub steady_state: Option<SteadyStateRecord>,
    /// Ways in which the engine departed from the plain use of its system calls: `ring-reap`, `registered-files`, ...;
    /// and `shared-readings`, where one reading of the clock ends a request and starts the next, or ends several.
    pub engine_ways: Vec<String>,
    /// One I/O in this number was timed (64 with gtod_reduce; 1: every one).
    pub timed_one_in: u32,
    /// clat of the timed I/Os of a sampled run; not part of fio's formats.
    pub sampled_latency: Option<Box<PerDirection<Latency>>>,
    /// The delays of a replay's requests behind their recorded moments; `None`: no moments were recorded, or the job is
    /// no replay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lateness: Option<Box<Latency>>,
    /// The plan of this worker.
    #[serde(default)]
    pub plan: JobPlan,
    /// Latency over time, one entry per interval (each second); empty: not recorded.
    #[serde(default)]
    pub latency_series: Vec<LatencySlice>,
    /// What was seen on this node beside a phase of operations on names; `None`: the job is no phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conditions: Option<Box<PhaseConditions>>,
}

impl JobRecord {
    /// What [`depth_levels`](JobRecord::depth_levels) are called: the smallest depth of each.
    pub const DEPTH_LABELS: [&str; 7] = ["1", "2", "4", "8", "16", "32", ">=64"];

    /// User and system CPU time in percent of the workers' wall time.
    pub fn cpu_percent(&self) -> (f64, f64) {
        if self.job_runtime_ms == 0 {
            return (0.0, 0.0);
        }
        let wall_ns = self.job_runtime_ms as f64 * 1e6;
        (self.user_ns as f64 * 100.0 / wall_ns, self.system_ns as f64 * 100.0 / wall_ns)
    }
}

/// Requests that were in flight when the worker gave them up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LostRequests {
    /// How many.
    pub count: u64,
    /// Each of them, oldest first; the first 16 of many.
    pub oldest: Vec<LostRequest>,
}

impl LostRequests {
    /// Most requests that are listed.
    pub const LISTED_MAX: usize = 16;
}

/// A request that never completed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LostRequest {
    /// `read`, `write`, `trim`, `sync`, ...
    pub kind: String,
    /// The file's path; `-` where there is none.
    pub file: String,
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub bytes: u64,
}

/// What the plan says about a worker, as far as it is needed to judge the numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobPlan {
    /// The stage it runs in: stages are what `stonewall` divides a run into, counted from 0.
    pub stage: u32,
    /// Its files, the resolved paths; the first 16 of many.
    pub files: Vec<String>,
    /// How many files there are.
    pub file_count: u64,
    /// What part of them lies on which storage; empty: an older record, or there are none.
    #[serde(default)]
    pub parts: Vec<FilesPart>,
    /// First byte of each file that it may touch.
    pub offset_bytes: u64,
    /// Bytes that it may touch, all files.
    pub span_bytes: Option<u64>,
    /// Bytes after which it stops; `None`: by time alone.
    pub io_bytes: Option<u64>,
    /// Time after which it stops, ms; `None`: by bytes alone.
    pub runtime_ms: Option<u64>,
    /// Warm-up before anything counts, ms.
    pub ramp_ms: u64,
    /// Stops by time, going over the bytes again if need be.
    pub time_based: bool,
    /// O_DIRECT, as it was done; `None`: the engine has no files.
    pub direct: Option<bool>,
    /// Depth and batches as the engine keeps them, where the setup has what was asked for; `None`: an older record.
    #[serde(default)]
    pub queueing: Option<QueueingPlan>,
    /// Each write waits for the storage (`sync=`).
    pub synchronous: bool,
    /// Number of writes before each sync; 0: no syncs.
    pub sync_every_writes: u64,
    /// A sync at the end.
    pub end_sync: bool,
    /// The cache of its files was dropped before the first I/O.
    pub invalidated: Option<bool>,
    /// The depth cannot exceed 1: the engine returns from a call when the I/O is done.
    pub synchronous_engine: bool,
    /// Paced: I/Os or bytes per second were limited.
    pub paced: bool,
    /// The rate or think time that paces the job; `None`: it has none, or the record is older.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pace: Option<Pace>,
    /// The share of each buffer that compresses away, percent; `None`: random data.
    pub compressible_percent: Option<u32>,
    /// Buffers hold zeros or one repeated pattern.
    pub uniform_data: bool,
    /// The files were made by this run.
    pub laid_out: bool,
}

/// Files of a worker that lie on one storage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FilesPart {
    /// Index into the storages of the job's node.
    pub storage: usize,
    /// How many files.
    pub files: u64,
    /// Bytes of them that the worker may touch; 0 of files whose length is not known before they are filled.
    pub bytes: u64,
}

/// What a job asks for instead of going flat out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pace {
    /// Bytes per second of each direction; `None`: no limit.
    pub bytes_per_s: PerDirection<Option<u64>>,
    /// I/Os per second of each direction; `None`: no limit.
    pub ios_per_s: PerDirection<Option<u64>>,
    /// Pause after each group of I/Os, ns; 0: none.
    pub think_ns: u64,
    /// I/Os of a group.
    pub think_ios: u64,
}

/// How requests are queued, in the engine's effective terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QueueingPlan {
    /// In flight at most.
    pub depth: u64,
    /// Number of staged requests at which they are submitted.
    pub batch: u64,
    /// Completions reaped at a time, at least.
    pub reap_min: u64,
    /// Completions reaped at a time, at most.
    pub reap_max: u64,
    /// Refilled only after falling to this.
    pub depth_low: u64,
}

/// Latency of the I/Os that ended in one interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LatencySlice {
    /// End of the interval, ms since the worker's stage began.
    pub at_ms: u64,
    /// `(class, I/Os)`, the classes with any, ascending: class `4 * e + q` holds 2^e ns up to 2^(e + 1) ns, divided in
    /// four equal parts by `q`. Reads and writes together; clat, or lat where clat is not kept.
    pub classes: Vec<(u16, u64)>,
}

/// What the worker did, in the words of the reports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobSetup {
    /// What it did, written as the canonical `rw` word.
    pub access: Access,
    /// Smallest and largest block size, bytes.
    pub block_sizes: PerDirection<(u64, u64)>,
    /// `bs_is_seq_rand`: the sizes of reads are those of sequential requests, the sizes of writes those of random ones.
    #[serde(default)]
    pub sizes_by_sequence: bool,
    /// Engine.
    pub engine: String,
    /// Depth asked for.
    pub depth: u32,
    /// `numjobs`: shows `...` after the banner line.
    pub clones: u32,
    /// `thread` was given.
    pub thread: bool,
    /// Percentiles shown for clat, lat, slat.
    pub clat_percentiles: bool,
    /// See `clat_percentiles`.
    pub lat_percentiles: bool,
    /// See `clat_percentiles`.
    pub slat_percentiles: bool,
    /// The percentiles, ascending.
    pub percentiles: Vec<f64>,
    /// `none`, `mixed` or `both`.
    pub unified: UnifiedReporting,
    /// Left out of the reports when false.
    pub shown: bool,
    /// Digits of the numbers in the normal report.
    pub significant_figures: u32,
    /// 1000 or 1024.
    pub kb_base: u32,
    /// 0, 1 (bits) or 8 (bytes).
    pub unit_base: u32,
    /// `latency_target`, ns; 0: off.
    pub latency_target_ns: u64,
    /// `latency_window`, ns; 0: off.
    pub latency_window_ns: u64,
    /// `latency_percentile`.
    pub latency_percentile: f64,
}

/// `unified_rw_reporting`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum UnifiedReporting {
    /// Each direction by itself.
    #[default]
    None,
    /// Only the sum.
    Mixed,
    /// Both.
    Both,
}

/// The first error of a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobError {
    /// errno.
    pub code: i32,
    /// What failed: `io_u error`, `total_file_size`, ... (fio's `func=`).
    pub function: String,
    /// The system's text for the code.
    pub text: String,
}

/// Transfers of one direction.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DirectionRecord {
    /// Bytes transferred.
    pub bytes: u64,
    /// I/Os issued.
    pub ios: u64,
    /// I/Os that came back short.
    pub short_ios: u64,
    /// I/Os never issued.
    pub dropped_ios: u64,
    /// Duration of the I/O phase for this direction, ms rounded up.
    pub runtime_ms: u64,
    /// Start to issue.
    pub slat: Latency,
    /// Issue to reap.
    pub clat: Latency,
    /// Start to reap.
    pub lat: Latency,
    /// Intended start to reap, for paced jobs: no coordinated omission.
    pub response: Option<Latency>,
    /// Bandwidth samples, KiB/s.
    pub bandwidth_samples: Samples,
    /// IOPS samples.
    pub iops_samples: Samples,
    /// Latencies by I/O priority, when requests have several (`cmdprio_percentage` and its companions).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub priorities: Vec<PriorityRecord>,
}

/// The transfers of one I/O priority.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PriorityRecord {
    /// 0 none, 1 real time, 2 best effort, 3 idle.
    pub class: u8,
    /// 0 (first) to 7 (last).
    pub level: u8,
    /// For the device.
    pub hint: u16,
    /// From start to reap where that distribution was asked for (`lat_percentiles`), else from issue to reap.
    pub latency: Latency,
}

/// Moments of one latency, and its histogram when one was kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Latency {
    /// Count, min, max, mean, deviation, in ns.
    pub moments: Moments,
    /// fio's 1,856 buckets; `None`: not kept.
    pub histogram: Option<Histogram>,
}

/// Syncs of a job.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SyncRecord {
    /// fsync, fdatasync, sync_file_range calls counted as I/Os (`issued rwts`).
    pub ios: u64,
    /// Their latency.
    pub lat: Latency,
}

/// `continue_on_error` counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SurvivedErrors {
    /// How many.
    pub total: u64,
    /// errno of the first; 0: none.
    pub first: i32,
}

/// `steadystate` as it ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SteadyStateRecord {
    /// What is watched.
    pub metric: SteadyStateMetric,
    /// The slope is watched; false: the largest deviation from the mean.
    pub by_slope: bool,
    /// The limit, in percent when `percent`, else in the metric's unit.
    pub limit: f64,
    /// Window, s.
    pub duration_s: u64,
    /// Reached.
    pub attained: bool,
    /// The measured deviation or slope, in the limit's unit; `None`: too few intervals.
    pub criterion: Option<f64>,
    /// The same in the metric's unit.
    pub value: Option<f64>,
    /// Limit and criterion are percentages of the mean.
    pub percent: bool,
    /// Intervals of the window.
    pub intervals: u64,
    /// Bandwidth of the last of them, oldest first, B/s; fewer than `intervals` when the run was shorter.
    pub bandwidth: Vec<u64>,
    /// IOPS of the same.
    pub iops: Vec<u64>,
    /// Mean completion latency of the same, ns; empty unless it is judged.
    pub lat_ns: Vec<u64>,
}

/// Counters of one block device over the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DiskRecord {
    /// Kernel name.
    pub name: String,
    /// Reads, writes.
    pub ios: ReadWrite<u64>,
    /// 512-byte sectors read, written.
    pub sectors: ReadWrite<u64>,
    /// Merged requests read, written.
    pub merges: ReadWrite<u64>,
    /// ms spent reading, writing.
    pub ticks_ms: ReadWrite<u64>,
    /// Weighted ms in the queue.
    pub in_queue_ms: u64,
    /// Busy share of the run, percent (0 to 100).
    pub util_percent: f64,
    /// Devices below (dm, md, loop).
    pub slaves: Vec<DiskRecord>,
}
