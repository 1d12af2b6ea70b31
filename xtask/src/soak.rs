//! `cargo xtask soak`: makes honest runs on all kinds of storage. None of them may be called invalid; a person judges
//! which of the cautions are right.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it talks to a person at a terminal")]

mod lines;
mod table;

use std::path::Path;
use std::process::Command;

use fsdyno_results::{RunRecord, Study};

use crate::agreement::ours;
use crate::workspace::Workspace;
use lines::{LINES, TARGETS, Target};
use table::JudgedRun;

/// The lab's exit status for a stack that cannot be set up here.
const CANNOT_STAND: i32 = 77;

/// Needs root, for the stacks of the lab, and a machine that has nothing else to do. FSDYNO_BIN names another binary.
/// What it prints goes with the release: the counts, and each caution for a person to judge.
#[derive(Debug, clap::Parser)]
#[command(name = "cargo xtask soak")]
struct Arguments {
    /// How often each line runs on each target: once makes some 250 runs in ten minutes.
    #[arg(long, default_value = "1", value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..))]
    rounds: usize,
    /// Only this target; may be repeated.
    #[arg(long, value_name = "NAME")]
    target: Vec<String>,
    /// Names the targets.
    #[arg(long)]
    list: bool,
}

/// Runs everything; `Ok(false)`: an honest run was called invalid.
pub(crate) fn run(words: &[String]) -> Result<bool, String> {
    let Some(asked) = crate::words::asked::<Arguments>(words)? else { return Ok(true) };
    if asked.list {
        TARGETS.iter().for_each(|target| println!("{}", target.name));
        return Ok(true);
    }
    let wanted = crate::words::named(TARGETS, &asked.target, |target| target.name)?;
    let workspace = Workspace::load()?;
    let program = std::env::var_os("FSDYNO_BIN").map_or_else(ours, |program| Ok(program.into()))?;
    let mut judged = Vec::new();
    for target in wanted {
        eprintln!("{} …", target.name);
        judged.extend(soak(&workspace.root, target, &program, asked.rounds)?);
    }
    println!("{}", table::text(&judged));
    Ok(judged.iter().all(|one| !one.invalid()))
}

/// Runs all lines on one target.
fn soak(root: &Path, target: &'static Target, program: &Path, rounds: usize) -> Result<Vec<JudgedRun>, String> {
    let folder = |kind: &str| {
        let path = std::env::temp_dir().join(format!("soak-{kind}-{}-{}", target.name, std::process::id()));
        std::fs::create_dir_all(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok::<_, String>(path)
    };
    let (results, place) = (folder("results")?, folder("place")?);
    let script = lines::script(target, rounds);
    let mut command = match target.stack {
        [] => Command::new("bash"),
        stack => {
            let mut lab = Command::new(root.join("lab/lab"));
            lab.arg("run").args(stack).args(["--timeout", "3600", "--", "bash"]);
            lab
        }
    };
    if target.stack.is_empty() {
        command.env("LAB_TARGET", &place);
    }
    let status =
        command.args(["-c", &script]).env("FSDYNO", program).env("RESULTS", &results).current_dir(root).status();
    let status = status.map_err(|error| format!("the lab cannot be run: {error}"))?;
    let judged = match status.code() {
        Some(0) => Ok(read(target, &results, rounds)),
        Some(CANNOT_STAND) => {
            eprintln!("skipped: {}", target.name);
            Ok(Vec::new())
        }
        _ => Err(format!("{}: the runs failed ({status})", target.name)),
    };
    for path in [&results, &place] {
        std::fs::remove_dir_all(path).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    judged
}

/// The findings of each run. A line that failed has left no record, and has printed its error.
fn read(target: &'static Target, results: &Path, rounds: usize) -> Vec<JudgedRun> {
    let text = |name: String| std::fs::read_to_string(results.join(name)).ok();
    let mut judged = Vec::new();
    for round in 0..rounds {
        for (number, line) in LINES.iter().enumerate() {
            let record = text(format!("{round}-{number}.json")).and_then(|text| RunRecord::from_json(&text).ok());
            // A run that ended with an error is not an honest run.
            let record = record.filter(|record| record.jobs.iter().all(|job| job.error.is_none()));
            judged.extend(record.map(|record| JudgedRun {
                target,
                what: (*line).to_owned(),
                findings: record.findings,
            }));
        }
        let study = text(format!("{round}-study.json")).and_then(|text| Study::from_json(&text).ok());
        let rows = study.map_or_else(Vec::new, |study| study.rows);
        let run = rows.into_iter().filter(|row| row.run.is_some());
        judged.extend(run.map(|row| JudgedRun {
            target,
            what: format!("measure: {}", row.title),
            findings: row.findings,
        }));
    }
    judged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_understood_or_refused() {
        let asked = |words: &str| crate::words::tests::asked::<Arguments>(words);
        assert_eq!(asked("--rounds 3 --target xfs").unwrap().rounds, 3);
        assert!(asked("--rounds 0").unwrap_err().contains("1.."));
        assert!(asked("--fast").unwrap_err().contains("Usage"));
    }

    #[test]
    fn one_round_is_two_hundred_runs() {
        assert!(TARGETS.len() * LINES.len() >= 200);
    }
}
