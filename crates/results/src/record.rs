//! The record of one run. Reports, findings and comparisons are functions of it and of nothing else.
//!
//! Unknown is `None`, never 0. The schema number grows whenever a field is added, removed or changes its meaning.

use fsdyno_job::{Access, PerDirection, ReadWrite, SteadyStateMetric};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::nodes::Node;
use crate::object::ObjectRecord;
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
    /// The writer's version of the format.
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
    /// The machines that the run used. There is one, unless records were merged; all have different names.
    pub nodes: Vec<Node>,
    /// How the ranks of a run on several nodes ran together; `None`: a run on one machine, or nobody watched.
    #[serde(default, rename = "together", skip_serializing_if = "Option::is_none")]
    pub ranks_record: Option<RanksRecord>,
    /// One entry per worker, by thread number.
    pub jobs: Vec<JobRecord>,
    /// Notes that the reader must know.
    pub notes: Vec<Note>,
    /// The signal that ended the run.
    pub signal: Option<i32>,
    /// Findings about the numbers. They follow from the other fields, and are stored so that other programs can read
    /// them.
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
    /// Ticks per second, if the clock is a counter.
    pub frequency_hz: Option<u64>,
    /// Drift against CLOCK_MONOTONIC over the run, parts per million.
    pub drift_ppm: Option<f64>,
}

/// Id of the note that the run's directory was removed during the run.
pub const DIRECTORY_LOST: &str = "directory-lost";

/// Id of the note that the record of a study is not stored.
pub const NOT_SAVED: &str = "not-saved";

/// A fact that the reader must know: an option had another effect than asked for, a value was limited.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Note {
    /// Stable name, e.g. `depth-capped`.
    pub id: String,
    /// How much it matters.
    pub severity: Severity,
    /// The name of the node that it concerns; `None`: the only node, or all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// The job that it concerns; `None`: the whole run.
    pub job: Option<String>,
    /// One sentence.
    pub text: String,
}

impl Note {
    /// A note about the whole run.
    pub fn new(id: impl Into<String>, severity: Severity, text: impl Into<String>) -> Note {
        Note { id: id.into(), severity, node: None, job: None, text: text.into() }
    }
}

/// One worker's results.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobRecord {
    /// The job's name.
    pub name: String,
    /// The job's description.
    pub description: Option<String>,
    /// Number of the worker, counted from 1 over all workers.
    pub thread_number: u32,
    /// The machine that it ran on: index into the record's nodes.
    pub node: usize,
    /// Report group, counted from 0.
    pub group: u32,
    /// Number of workers in this record (1 before merging).
    pub members: u32,
    /// Whether the group's workers are merged for the report (`group_reporting`).
    pub group_reporting: bool,
    /// Clone number within its job, counted from 0.
    pub clone: u32,
    /// Process or thread id.
    pub pid: u32,
    /// The worker's setup as the reports show it.
    pub setup: JobSetup,
    /// Options that were written for this job: canonical names, texts as typed.
    pub options: Vec<(String, String)>,
    /// When it started, ms since the epoch of the wall clock, or of the clock of `job_start_clock_id`; `None`: never.
    pub started_ms: Option<u64>,
    /// The first error.
    pub error: Option<JobError>,
    /// Requests that never completed, whatever the first error was; `None`: all completed. A worker that is itself
    /// stuck in a call has an error and no lost requests.
    #[serde(default)]
    pub lost: Option<LostRequests>,
    /// Seconds left when an interim record was made; `None`: unknown, or the run is over.
    pub eta_s: Option<u64>,
    /// Transfers.
    pub directions: PerDirection<DirectionRecord>,
    /// fsync, fdatasync, sync_file_range: count and latency.
    pub sync: SyncRecord,
    /// Number of zones that were reset, for a job that obeys zones; summed when merged; `None`: another job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone_resets: Option<u64>,
    /// Time of the syncs after the last I/O (`end_fsync`, `fsync_on_close`), ns; the longest when merged; `None`:
    /// there were none. The runtime includes them.
    pub final_sync_ns: Option<u64>,
    /// Bytes that were only in memory when the last write had returned, for a job that then stores them and reads
    /// them back; summed when merged; `None`: another job, or not visible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unstored_bytes: Option<u64>,
    /// Time to close the files, ns; the longest when merged; `None`: no file was closed.
    pub close_ns: Option<u64>,
    /// Wall time of the worker, ms (summed when merged).
    pub job_runtime_ms: u64,
    /// User CPU time, ns.
    pub user_ns: u64,
    /// System CPU time, ns.
    pub system_ns: u64,
    /// The part of the CPU time that was spun at the ends of waits, so that requests of a paced job start on time, ns;
    /// `None`: the worker does not spin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spun_ns: Option<u64>,
    /// Time in which its thread was runnable and waited for a processor, ns; `None`: not visible.
    #[serde(default)]
    pub run_queue_wait_ns: Option<u64>,
    /// Voluntary and involuntary context switches.
    pub context_switches: u64,
    /// Major page faults.
    pub major_faults: u64,
    /// Minor page faults.
    pub minor_faults: u64,
    /// I/Os submitted at a depth of 1, 2-3, 4-7, 8-15, 16-31, 32-63, 64 and more.
    pub depth_levels: [u64; 7],
    /// Submit calls that took 0, 1-4, 5-8, 9-16, 17-32, 33-64, more I/Os.
    pub submit_sizes: [u64; 7],
    /// Reap calls that returned 0, 1-4, 5-8, 9-16, 17-32, 33-64, more I/Os.
    pub complete_sizes: [u64; 7],
    /// I/Os whose clat (or lat) was below 2, 4, 10, 20, 50, 100, 250, 500, 750, 1000 ns.
    pub latency_ns_counts: [u64; 10],
    /// The same in us.
    pub latency_us_counts: [u64; 10],
    /// The same in ms; then below 2000 ms; then 2000 ms and more.
    pub latency_ms_counts: [u64; 12],
    /// Errors that the job survived; `None` without `continue_on_error`.
    pub survived_errors: Option<SurvivedErrors>,
    /// Depth that `latency_target` found, otherwise the depth asked for.
    pub latency_depth: u32,
    /// The steady state; `None`: not asked for.
    pub steady_state: Option<SteadyStateRecord>,
    /// How the engine and the loop differ from the plain use of system calls: `ring-reap`, `registered-files`, ...;
    /// `shared-readings` means that one reading of the clock ends a request and starts the next, or ends several.
    pub engine_ways: Vec<String>,
    /// One I/O in this number was timed (64 with gtod_reduce; 1: every I/O).
    pub timed_one_in: u32,
    /// clat of the timed I/Os of a sampled run; fio's formats do not have it.
    pub sampled_latency: Option<Box<PerDirection<Latency>>>,
    /// In a replay, the delays of requests after their recorded times; `None`: no times were recorded, or the job is
    /// no replay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lateness: Option<Box<Latency>>,
    /// The plan of this worker.
    #[serde(default)]
    pub plan: JobPlan,
    /// Latency over time, one entry for each interval (each second); empty: not recorded.
    #[serde(default)]
    pub latency_series: Vec<LatencySlice>,
    /// Conditions on this node during a phase of operations on names; `None`: the job is no phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conditions: Option<Box<PhaseConditions>>,
    /// The answers of an object server; `None` if the engine asks no such server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<Box<ObjectRecord>>,
}

impl JobRecord {
    /// Labels of [`depth_levels`](JobRecord::depth_levels): the smallest depth of each level.
    pub const DEPTH_LABELS: [&str; 7] = ["1", "2", "4", "8", "16", "32", ">=64"];

    /// CPU time for the I/O, ns: without the time that was spun.
    pub fn cpu_of_io_ns(&self) -> u64 {
        self.user_ns.saturating_add(self.system_ns).saturating_sub(self.spun_ns.unwrap_or(0))
    }

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
    /// Number of these requests.
    pub count: u64,
    /// The oldest ones, oldest first, at most 16.
    pub oldest: Vec<LostRequest>,
}

impl LostRequests {
    /// Largest number of requests that are listed.
    pub const LISTED_MAX: usize = 16;
}

/// A request that never completed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LostRequest {
    /// `read`, `write`, `trim`, `sync`, ...
    pub kind: String,
    /// Path of the file; `-` if there is none.
    pub file: String,
    /// First byte.
    pub offset: u64,
    /// Length, bytes.
    pub bytes: u64,
}

/// The plan of a worker, as far as it is needed to judge the numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobPlan {
    /// The stage that it runs in, counted from 0; `stonewall` begins a new stage.
    pub stage: u32,
    /// Paths of its files, resolved; at most 16.
    pub files: Vec<String>,
    /// Number of its files.
    pub file_count: u64,
    /// How its files are distributed over storages; empty: an older record, or no files.
    #[serde(default)]
    pub parts: Vec<FilesPart>,
    /// First byte of each file that it may use.
    pub offset_bytes: u64,
    /// Bytes that it may use, of all files.
    pub span_bytes: Option<u64>,
    /// Bytes after which it stops; `None`: it stops only by time.
    pub io_bytes: Option<u64>,
    /// Time after which it stops, ms; `None`: it stops only by bytes.
    pub runtime_ms: Option<u64>,
    /// Time of the ramp, in which nothing is measured, ms.
    pub ramp_ms: u64,
    /// Whether it stops by time and starts over in its files until then.
    pub time_based: bool,
    /// Whether it used O_DIRECT; `None`: the engine has no files.
    pub direct: Option<bool>,
    /// Effective iodepth and batches, where the setup has the values asked for; `None`: an older record.
    #[serde(default)]
    pub queueing: Option<QueueingPlan>,
    /// Whether each write waits for the storage (`sync=`).
    pub synchronous: bool,
    /// Number of writes before each sync; 0: no syncs.
    pub sync_every_writes: u64,
    /// Whether it syncs at the end.
    pub end_sync: bool,
    /// Whether the cached pages of its files were dropped before the first I/O.
    pub invalidated: Option<bool>,
    /// Whether the depth is always 1, because a call of the engine returns when the I/O is done.
    pub synchronous_engine: bool,
    /// Whether its I/Os or bytes per second were limited.
    pub paced: bool,
    /// The rate or think time of the job; `None`: it has none, or the record is older.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pace: Option<Pace>,
    /// Percentage of each buffer that can be compressed away; `None`: random data.
    pub compressible_percent: Option<u32>,
    /// Whether buffers contain zeros or one repeated pattern.
    pub uniform_data: bool,
    /// Whether this run made the files.
    pub laid_out: bool,
}

/// The files of a worker that lie on one storage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FilesPart {
    /// Index into the storages of the job's node.
    pub storage: usize,
    /// Number of files.
    pub files: u64,
    /// Bytes of them that the worker may use; 0 for files whose length is not known before they are filled.
    pub bytes: u64,
}

/// The pace that a job asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pace {
    /// Bytes per second of each direction; `None`: no limit.
    pub bytes_per_s: PerDirection<Option<u64>>,
    /// I/Os per second of each direction; `None`: no limit.
    pub ios_per_s: PerDirection<Option<u64>>,
    /// Pause after each group of I/Os, ns; 0: none.
    pub think_ns: u64,
    /// I/Os per group.
    pub think_ios: u64,
}

/// How requests are queued, with the values that the engine really uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QueueingPlan {
    /// Largest number of requests in flight.
    pub depth: u64,
    /// Number of staged requests at which they are submitted.
    pub batch: u64,
    /// Least number of completions that a call waits for.
    pub reap_min: u64,
    /// Largest number of completions that a call takes.
    pub reap_max: u64,
    /// Number in flight at which new requests are submitted again.
    pub depth_low: u64,
}

/// Latency of the I/Os that ended in one interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LatencySlice {
    /// End of the interval, ms since the worker's stage began.
    pub at_ms: u64,
    /// `(class, I/Os)` for each class with I/Os, ascending. Class `4 * e + q` is the quarter `q` of the range from
    /// 2^e ns to 2^(e + 1) ns. Reads and writes together; clat, or lat if clat is not kept.
    pub classes: Vec<(u16, u64)>,
}

/// A worker's setup, as the reports show it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobSetup {
    /// Directions and order, written as the canonical `rw` word.
    pub access: Access,
    /// Smallest and largest block size, bytes.
    pub block_sizes: PerDirection<(u64, u64)>,
    /// `bs_is_seq_rand`: sequential requests have the sizes of reads, random requests those of writes.
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
    /// False: the job is left out of the reports.
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
    /// Each direction separately.
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
    /// The function that failed: `io_u error`, `total_file_size`, ... (fio's `func=`).
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
    /// Number of short transfers.
    pub short_ios: u64,
    /// I/Os never issued.
    pub dropped_ios: u64,
    /// Duration of the I/O phase for this direction, ms rounded up.
    pub runtime_ms: u64,
    /// Latency from start to issue.
    pub slat: Latency,
    /// Latency from issue to reap.
    pub clat: Latency,
    /// Latency from start to reap.
    pub lat: Latency,
    /// Response time, from intended start to reap, for paced jobs: no coordinated omission.
    pub response: Option<Latency>,
    /// Bandwidth samples, KiB/s.
    pub bandwidth_samples: Samples,
    /// IOPS samples.
    pub iops_samples: Samples,
    /// Latencies by I/O priority, if requests have several (`cmdprio_percentage` and its companions).
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
    /// Hint for the device.
    pub hint: u16,
    /// Latency from start to reap if that distribution was asked for (`lat_percentiles`), otherwise from issue to
    /// reap.
    pub latency: Latency,
}

/// Moments of one latency, and its histogram if one was kept.
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
    /// Number of fsync, fdatasync and sync_file_range calls (`issued rwts`).
    pub ios: u64,
    /// Their latency.
    pub lat: Latency,
}

/// Errors that were survived with `continue_on_error`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SurvivedErrors {
    /// Number of errors.
    pub total: u64,
    /// errno of the first error; 0: none.
    pub first: i32,
}

/// The steady state at the end of the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SteadyStateRecord {
    /// The metric that is watched.
    pub metric: SteadyStateMetric,
    /// Whether the slope is watched; false: the largest deviation from the mean.
    pub by_slope: bool,
    /// The limit, in percent if `percent`, otherwise in the metric's unit.
    pub limit: f64,
    /// Length of the window, s.
    pub duration_s: u64,
    /// Whether the steady state was reached.
    pub attained: bool,
    /// The measured deviation or slope, in the limit's unit; `None`: too few intervals.
    pub criterion: Option<f64>,
    /// The same in the metric's unit.
    pub value: Option<f64>,
    /// Whether limit and criterion are percentages of the mean.
    pub percent: bool,
    /// Number of intervals in the window.
    pub intervals: u64,
    /// Bandwidth of the last intervals, oldest first, B/s; fewer than `intervals` if the run was shorter.
    pub bandwidth: Vec<u64>,
    /// IOPS of the same intervals.
    pub iops: Vec<u64>,
    /// Mean completion latency of the same intervals, ns; empty unless it is watched.
    pub lat_ns: Vec<u64>,
}

/// Counters of one block device over the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DiskRecord {
    /// Kernel name.
    pub name: String,
    /// Completed reads and writes.
    pub ios: ReadWrite<u64>,
    /// 512-byte sectors that were read and written.
    pub sectors: ReadWrite<u64>,
    /// Requests that were merged, reads and writes.
    pub merges: ReadWrite<u64>,
    /// Time spent reading and writing, ms.
    pub ticks_ms: ReadWrite<u64>,
    /// Time weighted with the number of requests in the queue, ms.
    pub in_queue_ms: u64,
    /// Share of the run in which it was busy, percent (0 to 100).
    pub util_percent: f64,
    /// Devices below (dm, md, loop).
    pub slaves: Vec<DiskRecord>,
}
