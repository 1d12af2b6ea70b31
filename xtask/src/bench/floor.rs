//! Compares the engine `io_uring` with a bare loop over a ring, `crates/engine/examples/bare_ring.rs`.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::pairs::{alternate, median};
use super::tool::{self, Tool};
use crate::workspace::target_directory;

/// The iodepth of both.
const DEPTH: u32 = 64;

/// Medians over the pairs.
pub(super) struct Floor {
    /// Our CPU time for each read divided by that of the bare loop.
    pub(super) times: f64,
    /// That of the bare loop, ns.
    pub(super) bare_ns: f64,
}

/// `words`: those of our job, which reads `data`; `processor`: that of both.
pub(super) fn compare(
    ours: &Tool,
    directory: &Path,
    words: &[String],
    direct: bool,
    reads: u32,
    processor: usize,
) -> Result<Floor, String> {
    let bare = built("fsdyno-engine", "bare_ring")?;
    let mut words = words.to_vec();
    words.extend([format!("--iodepth={DEPTH}"), format!("--number_ios={reads}"), "--output-format=json".to_owned()]);
    let (bare, ours) = alternate(5, true, |is_ours| {
        if is_ours {
            let run = tool::run(ours, &words, directory, tool::RunWrapper::Pinned(processor))?;
            return Ok(tool::job_cost(&run.stdout)?.cpu_ns);
        }
        let mut command = Command::new("taskset");
        command.args(["-c", &processor.to_string()]).arg(&bare).arg("data");
        command.args([DEPTH.to_string(), reads.to_string()]).args(direct.then_some("direct"));
        let output = command.current_dir(directory).output();
        let output = output.map_err(|error| format!("{}: {error}", bare.display()))?;
        let cost = String::from_utf8_lossy(&output.stdout).trim().parse();
        cost.map_err(|_| format!("{}: {}", bare.display(), String::from_utf8_lossy(&output.stderr).trim()))
    })?;
    let times: Vec<f64> = ours.iter().zip(&bare).map(|(ours, bare)| ours / bare).collect();
    let of = |values: &[f64]| median(values).ok_or_else(|| "no pair was measured".to_owned());
    Ok(Floor { times: of(&times)?, bare_ns: of(&bare)? })
}

/// Builds a bare loop, an example of a crate.
pub(super) fn built(package: &str, example: &str) -> Result<PathBuf, String> {
    let words = ["build", "--release", "--quiet", "-p", package, "--example", example];
    let status = Command::new(env!("CARGO")).args(words).status();
    if !status.map_err(|error| format!("cargo cannot be run: {error}"))?.success() {
        return Err(format!("cargo {} failed", words.join(" ")));
    }
    Ok(target_directory().join("release/examples").join(example))
}
