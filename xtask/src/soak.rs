//! `cargo xtask soak`: honest runs on all kinds of storage. Not one of them may be called invalid, and of the cautions
//! a person judges which are right.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it talks to a person at a terminal")]

mod lines;
mod table;

use std::path::Path;
use std::process::Command;

use results::{RunRecord, Study};

use crate::agreement::ours;
use crate::workspace::Workspace;
use lines::{LINES, TARGETS, Target};
use table::Judged;

const USAGE: &str = "usage: cargo xtask soak [--rounds N] [--target NAME]...

  --rounds N     how often each line runs on each target (1 unless said otherwise: some 250 runs in ten minutes)
  --target NAME  only this target; may be repeated; --list names them

  Needs root, for the stacks of the lab, and a machine that has nothing else to do. FSDYNO_BIN names another binary.
  What it prints goes with the release: the counts, and each caution for a person to judge.";

/// The lab's status for a stack that cannot stand here.
const CANNOT_STAND: i32 = 77;

#[derive(Debug)]
struct Asked {
    rounds: usize,
    names: Vec<String>,
}

/// Runs them; `Ok(false)`: an honest run was called invalid.
pub(crate) fn run(words: &[String]) -> Result<bool, String> {
    if words.iter().any(|word| word == "--help") {
        println!("{USAGE}");
        return Ok(true);
    }
    if words.iter().any(|word| word == "--list") {
        TARGETS.iter().for_each(|target| println!("{}", target.name));
        return Ok(true);
    }
    let asked = parse(words)?;
    let wanted: Vec<&'static Target> = TARGETS
        .iter()
        .filter(|target| asked.names.is_empty() || asked.names.iter().any(|name| name == target.name))
        .collect();
    if wanted.is_empty() {
        return Err(format!("no target is called {}; --list names them", asked.names.join(" or ")));
    }
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

fn parse(words: &[String]) -> Result<Asked, String> {
    let mut asked = Asked { rounds: 1, names: Vec::new() };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("{word} needs a value\n{USAGE}"));
        match word.as_str() {
            "--target" => asked.names.push(value()?.clone()),
            "--rounds" => {
                let count = value()?.parse().ok().filter(|count| *count >= 1);
                asked.rounds = count.ok_or("--rounds takes a number from 1 up")?;
            }
            _ => return Err(format!("soak does not know {word}\n{USAGE}")),
        }
    }
    Ok(asked)
}

/// All lines on one target.
fn soak(root: &Path, target: &'static Target, program: &Path, rounds: usize) -> Result<Vec<Judged>, String> {
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

/// What was found in each run. A line that failed has left no record; it has said so itself.
fn read(target: &'static Target, results: &Path, rounds: usize) -> Vec<Judged> {
    let text = |name: String| std::fs::read_to_string(results.join(name)).ok();
    let mut judged = Vec::new();
    for round in 0..rounds {
        for (number, line) in LINES.iter().enumerate() {
            let record = text(format!("{round}-{number}.json")).and_then(|text| RunRecord::from_json(&text).ok());
            // One that ended with an error is no honest run.
            let record = record.filter(|record| record.jobs.iter().all(|job| job.error.is_none()));
            judged.extend(record.map(|record| Judged { target, what: (*line).to_owned(), findings: record.findings }));
        }
        let study = text(format!("{round}-study.json")).and_then(|text| Study::from_json(&text).ok());
        let rows = study.map_or_else(Vec::new, |study| study.rows);
        let run = rows.into_iter().filter(|row| row.run.is_some());
        judged.extend(run.map(|row| Judged {
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
        let asked = |words: &str| parse(&words.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(asked("--rounds 3 --target xfs").unwrap().rounds, 3);
        assert!(asked("--rounds 0").unwrap_err().contains("from 1 up"));
        assert!(asked("--fast").unwrap_err().contains("usage"));
    }

    #[test]
    fn one_round_is_two_hundred_runs() {
        assert!(TARGETS.len() * LINES.len() >= 200);
    }
}
