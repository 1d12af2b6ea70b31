//! What is measured and how it is shown.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The percentiles that are reported unless `percentile_list` says otherwise.
const DEFAULT_PERCENTILES: [f64; 17] =
    [1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99];

/// What is measured and how it is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Reporting {
    /// `group_reporting`: one block for the whole group.
    pub group: bool,
    /// `job_start_clock_id`: the system's number of the clock that gives the job's start time.
    pub start_clock: u32,
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
    /// Percentiles of clat are shown.
    pub clat_percentiles: bool,
    /// Percentiles of lat are shown.
    pub lat_percentiles: bool,
    /// Percentiles of slat are shown.
    pub slat_percentiles: bool,
    /// The percentiles, ascending, 0 to 100.
    pub percentiles: Vec<f64>,
    /// Window of the bandwidth samples, ms.
    pub bandwidth_window_ms: u32,
    /// Window of the IOPS samples, ms.
    pub iops_window_ms: u32,
    /// `unified_rw_reporting`.
    pub unified: Unified,
    /// When off, the job is left out of the reports.
    pub shown: bool,
    /// Device counters are read.
    pub disk_util: bool,
    /// Digits of the numbers in the normal report (1 to 9).
    pub significant_figures: u32,
    /// 1000 or 1024.
    pub kb_base: u32,
    /// 0: as kb_base implies, 1: bits, 8: bytes.
    pub unit_base: u32,
    /// Log files.
    pub logs: Logs,
    /// Stop when steady; `None` when not asked for.
    pub steady_state: Option<SteadyState>,
}

impl Default for Reporting {
    fn default() -> Reporting {
        Reporting {
            group: false,
            start_clock: 0,
            sampled_clock: false,
            completion_latency: true,
            submission_latency: true,
            total_latency: true,
            bandwidth: true,
            clat_percentiles: true,
            lat_percentiles: false,
            slat_percentiles: false,
            percentiles: DEFAULT_PERCENTILES.to_vec(),
            bandwidth_window_ms: Reporting::WINDOW_MS,
            iops_window_ms: Reporting::WINDOW_MS,
            unified: Unified::None,
            shown: true,
            disk_util: true,
            significant_figures: 4,
            kb_base: 1024,
            unit_base: 0,
            logs: Logs::default(),
            steady_state: None,
        }
    }
}

/// `steadystate` and its companions.
#[derive(Clone, Debug, PartialEq)]
pub struct SteadyState {
    /// What is watched.
    pub metric: SteadyStateMetric,
    /// Slope (true) or largest deviation from the mean (false).
    pub slope: bool,
    /// The limit, in percent, I/Os per second, bytes per second, or ns.
    pub limit: f64,
    /// The limit is a percentage.
    pub percent: bool,
    /// Length of the window, ns; 0: off.
    pub duration_ns: u64,
    /// Wait before the first sample, ns.
    pub ramp_ns: u64,
    /// Between samples, ns.
    pub interval_ns: u64,
}

impl SteadyState {
    /// The number of samples in a window.
    pub fn samples(&self) -> usize {
        usize::try_from(self.duration_ns / self.interval_ns.max(1)).unwrap_or(usize::MAX)
    }
}

/// What `steadystate` watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SteadyStateMetric {
    /// I/Os per second.
    Iops,
    /// Bytes per second.
    Bandwidth,
    /// Mean completion latency, ns.
    Latency,
}

impl SteadyStateMetric {
    /// fio's word.
    pub const fn word(self) -> &'static str {
        match self {
            SteadyStateMetric::Iops => "iops",
            SteadyStateMetric::Bandwidth => "bw",
            SteadyStateMetric::Latency => "lat",
        }
    }
}

impl Reporting {
    /// Window of the bandwidth and IOPS samples unless the job says otherwise, ms.
    pub const WINDOW_MS: u32 = 500;
}

/// Logs over time: which logs are written, and how. An empty stem of a file name means the job's name.
#[derive(Clone, Debug, PartialEq)]
pub struct Logs {
    /// Stem of the bandwidth log; `None`: not written.
    pub bandwidth: Option<String>,
    /// Stem of the logs of submission, completion and total latency.
    pub latency: Option<String>,
    /// Stem of the log of I/Os per second.
    pub iops: Option<String>,
    /// Stem of the log of histograms of completion latency.
    pub histograms: Option<String>,
    /// Time that one histogram of each direction covers, ms; 0: no histograms are logged.
    pub histogram_window_ms: u32,
    /// A logged bucket is the sum of 2^N neighbouring buckets.
    pub histogram_coarseness: u32,
    /// Time that one line of each direction covers, ms; 0: one line for each I/O.
    pub window_ms: u32,
    /// The value that the line of a window shows.
    pub window_value: WindowValue,
    /// Add the offset column.
    pub offset: bool,
    /// The last column is the whole I/O priority, not one bit of it.
    pub priority: bool,
    /// Add the column of issue times.
    pub issue_time: bool,
    /// Times count from the epoch of `epoch_clock`.
    pub alternate_epoch: bool,
    /// The system's number of a clock; 0: the wall clock.
    pub epoch_clock: u32,
    /// One file per clone.
    pub per_job: bool,
    /// Files hold compressed samples.
    pub stored_compressed: bool,
    /// Samples are compressed in pieces of at least this size, bytes.
    pub compressed_bytes: u64,
    /// Processors of the thread that writes logs; empty: any.
    pub compression_cpus: Vec<u32>,
}

impl Default for Logs {
    fn default() -> Self {
        Logs {
            bandwidth: None,
            latency: None,
            iops: None,
            histograms: None,
            histogram_window_ms: 0,
            histogram_coarseness: 0,
            window_ms: 0,
            window_value: WindowValue::Mean,
            offset: false,
            priority: false,
            issue_time: false,
            alternate_epoch: false,
            epoch_clock: 0,
            per_job: true,
            stored_compressed: false,
            compressed_bytes: 0,
            compression_cpus: Vec::new(),
        }
    }
}

impl Logs {
    /// Whether any log is written.
    pub fn any(&self) -> bool {
        self.histograms.is_some() || self.of_requests()
    }

    /// Whether a log needs each I/O. Histograms are differences of counters that are kept in any case.
    pub fn of_requests(&self) -> bool {
        self.bandwidth.is_some() || self.latency.is_some() || self.iops.is_some()
    }
}

/// The value that the line of a log window shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowValue {
    /// The mean.
    Mean,
    /// The largest value.
    Largest,
    /// The mean, and the largest value in a column after it.
    Both,
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
