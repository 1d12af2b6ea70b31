//! The facts about the machine that `doctor` shows.

use fsdyno_job::EngineName;
use fsdyno_probe::{Fact, Limits};

/// The facts about the machine.
#[derive(Clone, Debug)]
pub(super) struct Findings {
    /// The program's version line.
    pub(super) version: String,
    /// Whether the program was built without optimisation: then the floor says little about a release.
    pub(super) debug_build: bool,
    /// The output of `uname -sr`.
    pub(super) kernel: Fact<String>,
    /// Number of CPUs online.
    pub(super) processors_online: Fact<u32>,
    /// Number of CPUs that this process may use (affinity, control group).
    pub(super) processors_usable: Fact<u32>,
    /// Memory of the machine, bytes.
    pub(super) memory_bytes: Fact<u64>,
    /// The generator's own cost.
    pub(super) floors: Vec<Floor>,
    /// The clock that timestamps the I/Os.
    pub(super) clock: ClockFinding,
    /// All engines, in the order of `--enghelp`.
    pub(super) engines: Vec<EngineFinding>,
    /// The io_uring features that are used, by the kernel's names; the error says why there are none.
    pub(super) io_uring_features: Result<Vec<String>, String>,
    /// The limits of this process.
    pub(super) limits: Limits,
}

/// The cost of an I/O of the null engine.
#[derive(Clone, Debug)]
pub(super) struct Floor {
    /// The iodepth.
    pub(super) iodepth: u32,
    /// Whether only some I/Os are timed (`gtod_reduce=1`).
    pub(super) gtod_reduce: bool,
    /// User and system CPU time, ns per I/O; the median of several rounds.
    pub(super) cpu_ns: Fact<f64>,
}

/// The clock.
#[derive(Clone, Debug)]
pub(super) struct ClockFinding {
    /// `tsc` or `clock_gettime`.
    pub(super) source: String,
    /// Cost of one reading, ns.
    pub(super) cost_ns: f64,
    /// Ticks per second; `None`: it is no counter.
    pub(super) frequency_hz: Option<u64>,
    /// Why the time stamp counter is not used; `None`: it is.
    pub(super) fallback_reason: Option<String>,
}

/// One engine.
#[derive(Clone, Debug)]
pub(super) struct EngineFinding {
    /// The engine's name in fio.
    pub(super) name: EngineName,
    /// The error says why it is not available, and what to do.
    pub(super) available: Result<(), String>,
}
