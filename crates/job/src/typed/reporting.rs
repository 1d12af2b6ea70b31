//! What is measured and how it is shown.

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
