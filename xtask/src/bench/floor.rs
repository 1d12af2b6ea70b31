//! Compares an engine with a bare loop that counts and times nothing: `crates/engine/examples/bare_ring.rs` for
//! `io_uring`, `bare_get.rs` for `http`.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::pairs::{alternate, median};
use super::tool::{self, Tool};
use crate::workspace::{cargo_command, target_directory};

/// A bare loop: an example of the crate of the engines, and its words.
pub(super) struct BareLoop {
    pub(super) example: &'static str,
    pub(super) words: Vec<String>,
}

/// Medians over the pairs.
pub(super) struct Floor {
    /// Our CPU time for each read divided by that of the bare loop.
    pub(super) times: f64,
    /// That of the bare loop, ns.
    pub(super) bare_ns: f64,
}

/// `words`: those of our job; `processor`: that of both.
pub(super) fn compare(
    ours: &Tool,
    directory: &Path,
    words: &[String],
    bare: &BareLoop,
    processor: usize,
) -> Result<Floor, String> {
    let program = built("fsdyno-engine", bare.example)?;
    let (bare, ours) = alternate(5, true, |is_ours| {
        if is_ours {
            let run = tool::run(ours, words, directory, tool::RunWrapper::Pinned(processor))?;
            return Ok(tool::job_cost(&run.stdout)?.cpu_ns);
        }
        let mut command = Command::new("taskset");
        command.args(["-c", &processor.to_string()]).arg(&program).args(&bare.words);
        let output = command.current_dir(directory).output();
        let output = output.map_err(|error| format!("{}: {error}", program.display()))?;
        let cost = String::from_utf8_lossy(&output.stdout).trim().parse();
        cost.map_err(|_| format!("{}: {}", program.display(), String::from_utf8_lossy(&output.stderr).trim()))
    })?;
    let times: Vec<f64> = ours.iter().zip(&bare).map(|(ours, bare)| ours / bare).collect();
    let of = |values: &[f64]| median(values).ok_or_else(|| "no pair was measured".to_owned());
    Ok(Floor { times: of(&times)?, bare_ns: of(&bare)? })
}

/// How many times the rate of one bare loop of pread two of them reach, on processors 0 and 1: the median of rounds.
pub(super) fn pread_scaling(directory: &Path, seconds: f64, rounds: usize) -> Result<f64, String> {
    let program = built("fsdyno-engine", "bare_pread")?;
    let begin = |processor: &str| {
        let mut command = Command::new("taskset");
        command.args(["-c", processor]).arg(&program).args(["data", &seconds.to_string()]).stdout(Stdio::piped());
        command.current_dir(directory).spawn().map_err(|error| format!("{}: {error}", program.display()))
    };
    let rate = |child: Child| -> Result<f64, String> {
        let output = child.wait_with_output().map_err(|error| error.to_string())?;
        String::from_utf8_lossy(&output.stdout).trim().parse().map_err(|_| format!("{} failed", program.display()))
    };
    let mut times = Vec::new();
    for _ in 0..rounds {
        let one = rate(begin("0")?)?;
        let (first, second) = (begin("0")?, begin("1")?);
        times.push((rate(first)? + rate(second)?) / one);
    }
    median(&times).ok_or_else(|| "no round was measured".to_owned())
}

/// Builds a bare loop, an example of a crate.
pub(super) fn built(package: &str, example: &str) -> Result<PathBuf, String> {
    let words = ["build", "--release", "--quiet", "-p", package, "--example", example];
    let status = cargo_command().args(words).status();
    if !status.map_err(|error| format!("cargo cannot be run: {error}"))?.success() {
        return Err(format!("cargo {} failed", words.join(" ")));
    }
    Ok(target_directory().join("release/examples").join(example))
}
