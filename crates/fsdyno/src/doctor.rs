//! `fsdyno doctor`: what this machine lets a run do, and when the generator itself would be the limit.
//!
//! Looking fills a [`Findings`]; the text, the JSON document and the judgement are functions of it.

mod floor;
mod json;
mod judgement;
mod look;
mod text;

use std::process::ExitCode;

use job::EngineName;
use probe::{Fact, Limits};

use crate::process::streams::print;

/// What the doctor found.
#[derive(Clone, Debug)]
struct Findings {
    /// Version line of the program.
    version: String,
    /// Made without optimisation: the floor says little about a release.
    debug_build: bool,
    /// uname -sr.
    kernel: Fact<String>,
    /// Processors online.
    processors_online: Fact<u32>,
    /// Processors that this process may use (affinity, control group).
    processors_usable: Fact<u32>,
    /// Memory of the machine, bytes.
    memory_bytes: Fact<u64>,
    /// What the generator costs by itself.
    floors: Vec<Floor>,
    /// The clock that stamps the I/Os.
    clock: ClockFinding,
    /// All engines, in the order of `--enghelp`.
    engines: Vec<EngineFinding>,
    /// Features of io_uring that are used, by the kernel's names; the error says why there are none.
    io_uring_features: Result<Vec<String>, String>,
    /// What the system allows this process.
    limits: Limits,
}

/// What one I/O of the null engine costs.
#[derive(Clone, Debug)]
struct Floor {
    /// I/Os kept in flight.
    iodepth: u32,
    /// Only some I/Os are timed (`gtod_reduce=1`).
    gtod_reduce: bool,
    /// User and system CPU time, ns per I/O: the median of some rounds.
    cpu_ns: Fact<f64>,
}

/// The clock.
#[derive(Clone, Debug)]
struct ClockFinding {
    /// `tsc` or `clock_gettime`.
    source: String,
    /// Cost of one reading, ns.
    cost_ns: f64,
    /// Ticks per second; `None`: not a counter.
    frequency_hz: Option<u64>,
    /// Why the time stamp counter is not used; `None` when it is.
    fallback_reason: Option<String>,
}

/// One engine.
#[derive(Clone, Debug)]
struct EngineFinding {
    /// Its name in fio.
    name: EngineName,
    /// The error says why it cannot be had, and what to do.
    available: Result<(), String>,
}

/// Looks, and prints what was found.
pub(crate) fn answer(as_json: bool) -> ExitCode {
    let findings = look::look();
    let text = if as_json { json::document(&findings) } else { text::page(&findings) };
    if print(&text) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

#[cfg(test)]
mod tests;
