//! Runs all checks in a row; each also runs alone.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::tests_step::{self, Chore, Counts};
use crate::workspace::{Workspace, cargo, cargo_command, target_directory};
use crate::{USAGE, bench, dist, docs, sanitize, soak, tidy, windows};

/// Whether it passed; an error is outside of what is checked.
type Outcome = Result<bool, String>;

/// One check.
struct Step {
    name: &'static str,
    check: fn() -> Outcome,
}

/// The checks that take no time: they run beside the tests.
const QUICK: &[Step] = &[
    Step { name: "fmt", check: || cargo(&["fmt", "--all", "--check"]) },
    Step { name: "tidy", check: tidy::run },
    Step { name: "deny", check: deny },
    Step { name: "docs", check: || docs::run(&[]) },
];

/// Those that compile as long as all tests together: each push has a machine for them beside that of the tests.
const COMPILING: &[Step] = &[Step { name: "clippy", check: clippy }, Step { name: "gate", check: gate }];

/// The checks that `nightly` runs after its tests, each alone, as they take the whole machine. The tests under Wine
/// have already built what the first of them compiles.
const ALONE: &[Step] = &[
    Step { name: "windows", check: windows::run },
    Step { name: "sentences", check: sentences },
    Step { name: "sanitize", check: || sanitize::run(&[]) },
    Step { name: "without-objects", check: dist::without_objects },
    Step { name: "soak", check: || soak::run(&[]) },
    Step { name: "gate", check: gate },
    Step { name: "bench", check: || bench::run(&["--quick".to_owned()]) },
];

/// Instructions, memory and system calls of the program of a release, and its size.
fn gate() -> Outcome {
    bench::run(&["--gate".to_owned()])
}

/// Lints. `--all-targets` leaves out tests with `test = false`.
fn clippy() -> Outcome {
    let lint = |which: &[&str]| cargo(&[&["clippy", "--workspace"], which, &["--", "-D", "warnings"]].concat());
    Ok(lint(&["--all-targets"])? && lint(&["--test", "*"])?)
}

/// The crates that compute while sentences are checked.
const COMPUTING: [&str; 8] = ["check", "findings", "guide", "job", "present", "results", "stats", "testkit"];

/// Checks the sentences of each question on 5,000 random studies, every form with 50 sets of any texts, the readers of all
/// options with 5,000 texts, and the removal of directories with 5,000 exchanges; the tests of each push draw fewer. The
/// crates are optimised for it, in a folder of their own, and keep their assertions.
fn sentences() -> Outcome {
    let packages =
        ["fsdyno-guide", "fsdyno-check", "fsdyno-job", "fsdyno-present"].map(|package| ["-p", package]).concat();
    let mut command = cargo_command();
    command.arg("test").args(packages).arg("--target-dir").arg(target_directory().join("sentences"));
    for name in COMPUTING {
        let package = if name == "testkit" { name.to_owned() } else { format!("fsdyno-{name}") };
        command.arg(format!("--config=profile.dev.package.{package}.opt-level=3"));
    }
    let drawn = ["denies_its", "drawn::", "quoted", "no_form_passes_on_an_order", "text_is_read_or_refused"];
    command.args(["--lib", "--tests", "--"]).args(drawn).arg("an_exchange_while_it_is_cleaned");
    let status = command.env("FSDYNO_CASES", "5000").status().map_err(|error| format!("cannot run cargo: {error}"))?;
    Ok(status.success())
}

/// Checks dependencies: licences, sources, versions, and advisories where their database is available.
fn deny() -> Outcome {
    let tool = cargo_deny(&Workspace::load()?.root);
    let ran = |words: &[&str]| Command::new("timeout").arg(DENY_SECONDS).arg(&tool).args(words).output();
    let had = match ran(&["fetch", "db"]) {
        Ok(had) if had.status.code() != Some(NOT_FOUND) => had,
        _ => {
            println!("skipped: cargo-deny cannot be run");
            return Ok(true);
        }
    };
    let mut words = vec!["check", "licenses", "bans", "sources"];
    if had.status.success() {
        words.push("advisories");
    } else {
        let stderr = String::from_utf8_lossy(&had.stderr).into_owned();
        let reason = stderr.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("no reason given").trim();
        println!("skipped: advisories: their database cannot be had: {reason}");
    }
    let checked = Command::new(&tool).args(words).status();
    checked.map(|status| status.success()).map_err(|error| format!("cargo-deny: {error}"))
}

fn cargo_deny(root: &Path) -> PathBuf {
    let own = root.join("target/tools/venv/bin/cargo-deny");
    if own.exists() { own } else { "cargo-deny".into() }
}

/// Time limit for the database of advisories, s.
const DENY_SECONDS: &str = "60";

/// Status of `timeout` for a missing program.
const NOT_FOUND: i32 = 127;

/// Runs the tests of these tiers, or of all; with `--no-run` first they are only built.
pub(crate) fn test(words: &[String]) -> Outcome {
    match words.split_first() {
        Some((first, tiers)) if first == "--no-run" => tests_step::build(tiers).map(|_| true),
        _ => end(tests_step::run(words, &[])?),
    }
}

/// The checks for use while working: structure, lints, and the tests that need nothing else.
pub(crate) fn quick() -> Outcome {
    let tidy = checks(&["tidy"])?;
    Ok(end(tests_step::run(&["units".to_owned()], &["clippy"])?)? && tidy)
}

/// Runs the checks of these names, one after the other, whatever fails.
pub(crate) fn checks(names: &[&str]) -> Outcome {
    let find = |name: &&str| {
        let known = QUICK.iter().chain(COMPILING).chain(ALONE).find(|step| step.name == *name);
        known.ok_or_else(|| format!("no chore is called {name}\n\n{USAGE}"))
    };
    let steps = names.iter().map(find).collect::<Result<Vec<_>, _>>()?;
    Ok(failed(steps) == 0)
}

/// Runs these steps; returns the number that failed.
fn failed<'step>(steps: impl IntoIterator<Item = &'step Step>) -> u64 {
    steps.into_iter().filter(|step| step.run() != Ok(true)).count() as u64
}

/// Prints the last line, with the numbers of tests; each failed check counts as one.
fn end(counts: Counts) -> Outcome {
    println!("{counts}");
    Ok(counts.failed == 0)
}

impl Step {
    /// Runs the step and prints its result.
    fn run(&self) -> Outcome {
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

/// Runs the tests of a chore and these checks beside or after them, whatever fails on the way. With `--no-run` it only
/// builds the tests.
fn all(chore: Chore, words: &[String], beside: &[Step], last: &[Step]) -> Outcome {
    if only_builds(words)? {
        return tests_step::build(&tests_step::tiers(chore)).map(|_| true);
    }
    let before = files()?;
    let names: Vec<&str> = beside.iter().map(|step| step.name).collect();
    let mut counts = tests_step::run_chore(chore, &names).unwrap_or_else(|message| {
        println!("== test: FAILED: {message}");
        Counts { failed: 1, ..Counts::default() }
    });
    counts.failed += failed(last) + files_left(&before, &files()?);
    end(counts)
}

/// The checks that take no time, beside the tests of each push.
pub(crate) fn run(words: &[String]) -> Outcome {
    all(Chore::Ci, words, QUICK, &[])
}

/// The tests of each push that need a machine of their own.
pub(crate) fn timing(words: &[String]) -> Outcome {
    all(Chore::Timing, words, &[], &[])
}

/// What takes long, then what takes the whole machine.
pub(crate) fn nightly(words: &[String]) -> Outcome {
    all(Chore::Nightly, words, &[], ALONE)
}

/// Whether the words contain `--no-run`; other words are refused.
fn only_builds(words: &[String]) -> Outcome {
    match words {
        [] => Ok(false),
        [word] if word == "--no-run" => Ok(true),
        _ => Err(format!("of these words --no-run alone is known here: {}", words.join(" "))),
    }
}

/// The changed and new files that git sees in the work tree; empty where there is none.
fn files() -> Result<Vec<String>, String> {
    let root = Workspace::load()?.root;
    let seen = Command::new("git").args(["status", "--porcelain", "--untracked-files=all"]).current_dir(root).output();
    Ok(seen
        .map_or_else(|_| Vec::new(), |seen| String::from_utf8_lossy(&seen.stdout).lines().map(str::to_owned).collect()))
}

/// Tests must not leave files in the work tree: returns 1, with a message, if they left or changed some.
fn files_left(before: &[String], after: &[String]) -> u64 {
    let new = new_of(before, after);
    if !new.is_empty() {
        println!("== files: FAILED: left in the work tree, or changed there:\n{}", new.join("\n"));
    }
    u64::from(!new.is_empty())
}

fn new_of<'a>(before: &[String], after: &'a [String]) -> Vec<&'a str> {
    after.iter().filter(|line| !before.contains(line)).map(String::as_str).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A crate that a build with MPI alone has is found where deny.toml bans it.
    #[test]
    fn cargo_deny_sees_the_crates_of_a_build_with_mpi() {
        let root = crate::workspace::folder();
        let rules = std::fs::read_to_string(root.join("deny.toml")).unwrap();
        let config = crate::workspace::target_directory().join(format!("deny-{}.toml", std::process::id()));
        std::fs::write(&config, rules.replace("[bans]\n", "[bans]\ndeny = [{ crate = \"mpi-sys\" }]\n")).unwrap();
        let ran = Command::new(cargo_deny(&root))
            .arg("--config")
            .arg(&config)
            .args(["check", "bans"])
            .current_dir(&root)
            .output();
        std::fs::remove_file(config).unwrap();
        let Ok(ran) = ran else { return println!("skipped: cargo-deny cannot be run") };
        let stderr = String::from_utf8_lossy(&ran.stderr);
        assert!(!ran.status.success() && stderr.contains("crate 'mpi-sys = "), "{stderr}");
    }

    #[test]
    fn what_tests_leave_is_seen() {
        let lines = |words: &[&str]| -> Vec<String> { words.iter().map(|word| (*word).to_owned()).collect() };
        let before = lines(&[" M a"]);
        assert!(new_of(&before, &before).is_empty(), "what was there before is somebody's work");
        assert_eq!(new_of(&before, &lines(&[" M a", "?? b", "?? c"])), ["?? b", "?? c"]);
    }
}
