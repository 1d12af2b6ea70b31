//! What the doctor found.

use fsdyno_job::EngineName;
use fsdyno_probe::{Fact, Limits};

/// What the doctor found.
#[derive(Clone, Debug)]
pub(super) struct Findings {
    /// Version line of the program.
    pub(super) version: String,
    /// Made without optimisation: the floor says little about a release.
    pub(super) debug_build: bool,
    /// uname -sr.
    pub(super) kernel: Fact<String>,
    /// Processors online.
    pub(super) processors_online: Fact<u32>,
    /// Processors that this process may use (affinity, control group).
    pub(super) processors_usable: Fact<u32>,
    /// Memory of the machine, bytes.
    pub(super) memory_bytes: Fact<u64>,
    /// What the generator costs by itself.
    pub(super) floors: Vec<Floor>,
    /// The clock that stamps the I/Os.
    pub(super) clock: ClockFinding,
    /// All engines, in the order of `--enghelp`.
    pub(super) engines: Vec<EngineFinding>,
    /// Features of io_uring that are used, by the kernel's names; the error says why there are none.
    pub(super) io_uring_features: Result<Vec<String>, String>,
    /// What the system allows this process.
    pub(super) limits: Limits,
}

/// What one I/O of the null engine costs.
#[derive(Clone, Debug)]
pub(super) struct Floor {
    /// I/Os kept in flight.
    pub(super) iodepth: u32,
    /// Only some I/Os are timed (`gtod_reduce=1`).
    pub(super) gtod_reduce: bool,
    /// User and system CPU time, ns per I/O: the median of some rounds.
    pub(super) cpu_ns: Fact<f64>,
}

/// The clock.
#[derive(Clone, Debug)]
pub(super) struct ClockFinding {
    /// `tsc` or `clock_gettime`.
    pub(super) source: String,
    /// Cost of one reading, ns.
    pub(super) cost_ns: f64,
    /// Ticks per second; `None`: not a counter.
    pub(super) frequency_hz: Option<u64>,
    /// Why the time stamp counter is not used; `None` when it is.
    pub(super) fallback_reason: Option<String>,
}

/// One engine.
#[derive(Clone, Debug)]
pub(super) struct EngineFinding {
    /// Its name in fio.
    pub(super) name: EngineName,
    /// The error says why it cannot be had, and what to do.
    pub(super) available: Result<(), String>,
}
