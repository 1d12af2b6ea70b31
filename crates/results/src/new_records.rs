//! Makes empty records, of a run or a worker that has done nothing yet.

use fsdyno_job::{Access, PerDirection};

use crate::nodes::Node;
use crate::record::{JobRecord, JobSetup, RunRecord, SCHEMA_VERSION, UnifiedReporting};

/// The percentiles that fio shows by default.
pub const DEFAULT_PERCENTILES: [f64; 17] =
    [1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99];

impl RunRecord {
    /// A run on one node that has just started, without jobs.
    pub fn new(version: impl Into<String>, started_ms: u64) -> RunRecord {
        RunRecord {
            schema: SCHEMA_VERSION,
            version: version.into(),
            started_ms,
            taken_ms: started_ms,
            elapsed_s: 1,
            nodes: vec![Node::default()],
            ..RunRecord::default()
        }
    }
}

impl JobRecord {
    /// A worker that has done nothing.
    pub fn new(name: impl Into<String>, thread_number: u32, setup: JobSetup) -> JobRecord {
        JobRecord {
            name: name.into(),
            thread_number,
            members: 1,
            latency_depth: setup.depth,
            setup,
            timed_one_in: 1,
            ..JobRecord::default()
        }
    }

    /// Counts a latency in the classes of the `lat (usec)` lines. The class is below 2, 4, 10, 20, 50, 100, 250, 500,
    /// 750 or 1000 of the largest unit (ns, us, ms) in which the latency is at least 1; then below 2000 ms; then the
    /// rest.
    pub fn count_latency_class(&mut self, latency_ns: u64) {
        const BOUNDS: [u64; 11] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000, 2000];
        let class = |value: u64| BOUNDS.partition_point(|bound| *bound <= value);
        match latency_ns {
            0..1_000 => self.latency_ns_counts[class(latency_ns)] += 1,
            1_000..1_000_000 => self.latency_us_counts[class(latency_ns / 1_000)] += 1,
            _ => self.latency_ms_counts[class(latency_ns / 1_000_000)] += 1,
        }
    }
}

impl Default for JobSetup {
    /// fio's defaults.
    fn default() -> JobSetup {
        JobSetup {
            access: Access::READ,
            block_sizes: PerDirection::all((4096, 4096)),
            sizes_by_sequence: false,
            engine: "psync".to_owned(),
            depth: 1,
            clones: 1,
            thread: false,
            clat_percentiles: true,
            lat_percentiles: false,
            slat_percentiles: false,
            percentiles: DEFAULT_PERCENTILES.to_vec(),
            unified: UnifiedReporting::None,
            shown: true,
            significant_figures: 4,
            kb_base: 1024,
            unit_base: 0,
            latency_target_ns: 0,
            latency_window_ns: 0,
            latency_percentile: 100.0,
        }
    }
}
