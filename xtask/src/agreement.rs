//! `cargo xtask agreement`: measures storage whose speed is known, because it was set, with fsdyno and fio in turn.
//! Both must measure the same.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it talks to a person at a terminal")]

mod judge;
mod targets;

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::workspace::{Workspace, cargo_command};
use judge::{Line, MEASURES, Measured};
use targets::{TARGETS, Target};

/// The lab's exit status for a stack that cannot be set up here.
const CANNOT_STAND: i32 = 77;

/// Needs root, for the stacks of the lab. FSDYNO_BIN and FIO_BIN name other binaries.
#[derive(Debug, clap::Parser)]
#[command(name = "cargo xtask agreement")]
struct Arguments {
    /// Pairs of runs of each job; fewer than 5 say nothing about a median.
    #[arg(long, default_value = "7", value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(5..))]
    pairs: usize,
    /// Also writes docs/agreement.md.
    #[arg(long, conflicts_with = "target")]
    write: bool,
    /// Only this target; may be repeated.
    #[arg(long, value_name = "NAME")]
    target: Vec<String>,
    /// Names the targets.
    #[arg(long)]
    list: bool,
}

/// Measures; `Ok(false)`: the tools differ somewhere.
pub(crate) fn run(words: &[String]) -> Result<bool, String> {
    let Some(asked) = crate::words::asked::<Arguments>(words)? else { return Ok(true) };
    if asked.list {
        TARGETS.iter().for_each(|target| println!("{:<16} {}", target.name, target.title));
        return Ok(true);
    }
    let wanted = crate::words::named(TARGETS, &asked.target, |target| target.name)?;
    let workspace = Workspace::load()?;
    let tools = [tool("FIO_BIN", "fio".into())?, tool("FSDYNO_BIN", ours()?)?];
    let mut lines = Vec::new();
    for target in wanted {
        eprintln!("{} …", target.title);
        let measure = || measure(&workspace.root, target, &tools, asked.pairs);
        let mut measured = measure()?;
        if !measured.iter().all(Line::agrees) {
            eprintln!("{} once more …", target.title);
            measured.iter_mut().zip(measure()?).for_each(|(line, again)| line.confirm(&again));
        }
        lines.extend(measured);
    }
    let table = judge::markdown(&lines);
    println!("{table}");
    if asked.write {
        let path = workspace.root.join("docs/agreement.md");
        let text = document(&table, &tools, asked.pairs);
        std::fs::write(&path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    }
    Ok(lines.iter().all(Line::agrees))
}

/// A program with its version.
struct Tool {
    program: PathBuf,
    version: String,
}

fn tool(variable: &str, otherwise: PathBuf) -> Result<Tool, String> {
    let program = std::env::var_os(variable).map_or(otherwise, PathBuf::from);
    let output = Command::new(&program).arg("--version").output();
    let output = output.map_err(|error| format!("{} cannot be run: {error}", program.display()))?;
    Ok(Tool { program, version: String::from_utf8_lossy(&output.stdout).trim().to_owned() })
}

/// The release binary, built now; the path given by `FSDYNO_BIN`, if set.
pub(crate) fn ours() -> Result<PathBuf, String> {
    let folder = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    if std::env::var_os("FSDYNO_BIN").is_none() {
        let status = cargo_command().args(["build", "--release", "--quiet", "-p", "fsdyno"]).status();
        if !status.map_err(|error| format!("cargo cannot be run: {error}"))?.success() {
            return Err("cargo build --release -p fsdyno failed".to_owned());
        }
    }
    std::path::absolute(folder.join("release/fsdyno")).map_err(|error| error.to_string())
}

/// Runs both tools in turn inside the target's stack; every second pair runs in reverse order.
fn measure(root: &Path, target: &Target, tools: &[Tool; 2], pairs: usize) -> Result<Vec<Line>, String> {
    let results = std::env::temp_dir().join(format!("agreement-{}-{}", target.name, std::process::id()));
    std::fs::create_dir_all(&results).map_err(|error| format!("{}: {error}", results.display()))?;
    let status = Command::new(root.join("lab/lab"))
        .arg("run")
        .args(target.stack)
        .args(["--", "bash", "-c", &targets::script(target, pairs)])
        .env("FIO", &tools[0].program)
        .env("FSDYNO", &tools[1].program)
        .env("RESULTS", &results)
        .current_dir(root)
        .status()
        .map_err(|error| format!("the lab cannot be run: {error}"))?;
    let lines = match status.code() {
        Some(0) => read_lines(target, &results, pairs),
        Some(CANNOT_STAND) => {
            eprintln!("skipped: {}", target.name);
            Ok(Vec::new())
        }
        _ => Err(format!("{}: the runs failed ({status})", target.name)),
    };
    std::fs::remove_dir_all(&results).map_err(|error| format!("{}: {error}", results.display()))?;
    lines
}

fn read_lines(target: &Target, results: &Path, pairs: usize) -> Result<Vec<Line>, String> {
    let mut lines = Vec::new();
    for (number, job) in target.jobs.iter().enumerate() {
        let of = |tool: &str| -> Result<Vec<Measured>, String> {
            (0..pairs).map(|pair| read(&results.join(format!("{number}-{tool}-{pair}.json")))).collect()
        };
        let (fio, ours) = (of("fio")?, of("fsdyno")?);
        lines.push(Line::new(target.title, job, &fio, &ours));
    }
    Ok(lines)
}

/// The five measures of one run.
fn read(path: &Path) -> Result<Measured, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let json = text.find('{').map_or("", |begin| &text[begin..]);
    let document: Value = serde_json::from_str(json).map_err(|error| format!("{}: {error}", path.display()))?;
    let job = &document["jobs"][0];
    let direction = if job["read"]["total_ios"].as_u64().unwrap_or_default() > 0 { "read" } else { "write" };
    let value = |pointer: &str| {
        let value = job[direction].pointer(pointer).and_then(Value::as_f64);
        value.ok_or_else(|| format!("{}: no {direction}{pointer}", path.display()))
    };
    let mut measured = [0.0; MEASURES.len()];
    for (slot, measure) in measured.iter_mut().zip(&MEASURES) {
        *slot = value(measure.pointer)?;
    }
    Ok(measured)
}

fn document(table: &str, tools: &[Tool; 2], pairs: usize) -> String {
    format!(
        "# Agreement with fio on known storage\n\n\
         Measured on storage of a known, configured speed: a loop device limited by a control group, a FUSE daemon \
         with a delay, a disk delayed by the device mapper, an NFS server behind a link with a set round trip. {ours} \
         and {fio} ran the same jobs in turn ({pairs} pairs of {seconds} s each, in reversed order in every second \
         pair). Each cell shows fio's median, fsdyno's median and their difference.\n\n\
         Two medians **agree** when they differ by at most {limit} %. Where runs vary by more than that, they also \
         agree when the range of the pairs' ratios, from the smallest to the largest, overlaps these {limit} % \
         (marked `~`). With seven pairs that range misses the true ratio in 1.6 of 100 cells, and there are more than \
         60 cells: storage with a cell that does not agree is measured a second time, and `again` shows the second \
         difference. `NO` marks a cell that agreed neither time. Latency is completion latency.\n\n\
         A control group's limit lets the requests of a window of 100 ms pass at once: with few requests in flight \
         the median latency is that of the device without the limit, which is not configured. Requests then complete \
         faster than fio reaps them, one at a time by default, and its latencies include the wait until they are \
         reaped (its median was 13 to 16 % above fsdyno's). Where that matters, jobs set `iodepth_batch_complete_max`, \
         with which fio reaps all completed requests, as fsdyno does.\n\n\
         Made by `cargo xtask agreement --write`; do not edit.\n\n{table}",
        ours = tools[1].version,
        fio = tools[0].version,
        seconds = targets::SECONDS,
        limit = judge::LIMIT * 100.0,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_understood_or_refused() {
        let asked = |words: &str| crate::words::tests::asked::<Arguments>(words);
        assert_eq!(asked("--pairs 9 --target nfs").unwrap().pairs, 9);
        assert!(asked("--pairs 4").unwrap_err().contains("5.."));
        assert!(asked("--target").unwrap_err().contains("value is required"));
        assert!(asked("--fast").unwrap_err().contains("Usage"));
    }
}
