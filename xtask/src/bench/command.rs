//! Measures what `fsdyno time` adds to a command: `/bin/true` by it, and by fork, exec and wait alone, in turn.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::Value;

use super::pairs::{alternate, median};
use super::tool::{self, RunWrapper, Tool};

/// Runs of the command on each side of a pair.
const RUNS: usize = 20;

/// A command that does nothing.
const PROGRAM: &str = "/bin/true";

/// Medians over the pairs, ms.
pub(super) struct CommandCost {
    /// The command's wall time by `time` beyond that of the bare loop.
    pub(super) beyond_ms: f64,
    /// The wall time of the bare loop.
    pub(super) bare_ms: f64,
    /// Time between two runs: directories, syncs, readings of the devices.
    pub(super) round_ms: f64,
}

/// One side of a pair.
struct Side {
    wall_ms: f64,
    round_ms: f64,
}

pub(super) fn cost(ours: &Tool, directory: &Path, pairs: usize) -> Result<CommandCost, String> {
    let (bare, timed) =
        alternate(pairs, true, |is_ours| if is_ours { timed(ours, directory) } else { bare(directory) })?;
    let of = |values: Vec<f64>| median(&values).ok_or_else(|| "no pair was measured".to_owned());
    Ok(CommandCost {
        beyond_ms: of(timed.iter().zip(&bare).map(|(timed, bare)| timed.wall_ms - bare.wall_ms).collect())?,
        bare_ms: of(bare.iter().map(|side| side.wall_ms).collect())?,
        round_ms: of(timed.iter().map(|side| side.round_ms).collect())?,
    })
}

fn timed(ours: &Tool, directory: &Path) -> Result<Side, String> {
    let words = format!("time . --rounds={RUNS} --memory=none --quiet --no-store --json -- {PROGRAM}");
    let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
    let run = tool::run(ours, &words, directory, RunWrapper::Bare)?;
    let document: Value = serde_json::from_str(&run.stdout).map_err(|error| format!("stdout: {error}"))?;
    let rows = document["rows"].as_array().ok_or("the study has no rows")?;
    let walls = rows.iter().map(|row| Some(row["phase"]["elapsed_ns"].as_f64()? / 1e6)).collect::<Option<Vec<f64>>>();
    let wall_ms = walls.as_deref().and_then(median).ok_or("the study has no times")?;
    Ok(Side { wall_ms, round_ms: run.wall.as_secs_f64() * 1e3 / RUNS as f64 })
}

fn bare(directory: &Path) -> Result<Side, String> {
    let failed = |error: std::io::Error| format!("{PROGRAM}: {error}");
    let mut walls = Vec::new();
    for _ in 0..RUNS {
        let fresh = directory.join("fresh");
        std::fs::create_dir(&fresh).map_err(failed)?;
        let mut command = Command::new(PROGRAM);
        command.current_dir(&fresh).stdin(Stdio::null());
        let begin = Instant::now();
        let ended = command.status();
        walls.push(begin.elapsed().as_secs_f64() * 1e3);
        std::fs::remove_dir(&fresh).map_err(failed)?;
        ended.map_err(failed)?;
    }
    Ok(Side { wall_ms: median(&walls).unwrap_or_default(), round_ms: 0.0 })
}
