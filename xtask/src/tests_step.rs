//! Runs the tests in named tiers, shows all they print, and counts them.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use crate::workspace::{cargo_command, target_directory};

/// How the tests ended.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Ran to their end without a failure.
    pub(crate) passed: u64,
    /// Failed, or could not be built; checks that failed are among them.
    pub(crate) failed: u64,
    /// Ended early because something that they need is missing here; each has printed `skipped: REASON`.
    pub(crate) skipped: u64,
}

impl Counts {
    fn add(&mut self, other: &Counts) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped)
    }
}

/// What of the tests runs together. Tests of a tier are cargo's targets of that name; the units are all others.
struct Tier {
    name: &'static str,
    /// Targets of cargo's; none: all that the manifests do not keep apart.
    targets: &'static [&'static str],
    /// Of their tests; none: all.
    choice: &'static [&'static str],
    /// Nothing runs beside it: it judges how even the storage's figures are.
    alone: bool,
}

/// Those that take longest first: they run side by side with those below. What compiles for another system begins early.
const TIERS: &[Tier] = &[
    Tier {
        alone: true,
        choice: &["--skip=nfs::", "--skip=s3fs::caches", "--skip=sockets::"],
        ..tier("disks", &["lab"])
    },
    Tier { alone: true, ..tier("traps", &["traps"]) },
    Tier { choice: &["nfs::", "s3fs::caches", "sockets::"], ..tier("mounts", &["lab"]) },
    tier("faults", &["faults"]),
    tier("wine", &["wine"]),
    tier("dist", &["dist"]),
    tier("oracle", &["oracle", "differential"]),
    tier("faces", &["faces", "installed"]),
    tier("attacker", &["attacker"]),
    tier(CLUSTER, &[CLUSTER]),
    tier("questions", &["check", "compare", "guided", "inspect", "readme", "sentences", "smallfiles", "sweep"]),
    tier("sheet", &["browser"]),
    tier("judgements", &["judgements"]),
    tier("memory", &["memcheck"]),
    tier(UNITS, &[]),
    tier(DOC, &[]),
];

/// All targets that the manifests do not keep apart.
const UNITS: &str = "units";

/// The tests with many ranks, and their target.
const CLUSTER: &str = "cluster";

/// What only another Unix would use is compiled and tested here all the same.
const FEATURES: &str = "--features=fsdyno-engine/posix,fsdyno-probe/posix";

/// The examples in the documentation: no targets of their own.
const DOC: &str = "doc";

const fn tier(name: &'static str, targets: &'static [&'static str]) -> Tier {
    Tier { name, targets, choice: &[], alone: false }
}

/// One program of tests, or of checks, to be run to its end.
pub(crate) struct Program {
    title: String,
    command: Command,
    alone: bool,
}

/// So many programs run at a time: most tests wait for storage or for a clock, and leave the processors to others.
const LANES: usize = 3;

/// Runs the tests of these tiers, of all if none is named, with these checks beside them. What a program prints is shown
/// when it has ended.
pub(crate) fn run(names: &[String], checks: &[&str]) -> Result<Counts, String> {
    let (alone, beside): (Vec<Program>, Vec<Program>) = build(names)?.into_iter().partition(|program| program.alone);
    let checks = (!checks.is_empty()).then(|| checking(checks)).transpose()?;
    let mut total = side_by_side(alone, 1);
    total.add(&side_by_side(checks.into_iter().chain(beside).collect(), LANES));
    Ok(total)
}

fn side_by_side(programs: Vec<Program>, lanes: usize) -> Counts {
    let waiting = Mutex::new(programs.into_iter());
    let total = Mutex::new(Counts::default());
    std::thread::scope(|scope| {
        let lane = || {
            // A function of its own: in the loop's head the lock would be held until the program has ended.
            let next = || lock(&waiting).next();
            while let Some(mut program) = next() {
                let (counts, output) = program.run();
                let mut total = lock(&total);
                println!("== {}\n{output}== {}: {counts}", program.title, program.title);
                total.add(&counts);
            }
        };
        (0..lanes).for_each(|_| drop(scope.spawn(lane)));
    });
    total.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn choose(names: &[String]) -> Result<Vec<&'static Tier>, String> {
    if names.is_empty() {
        return Ok(TIERS.iter().collect());
    }
    let find = |name: &String| {
        let known = || TIERS.iter().map(|tier| tier.name).collect::<Vec<_>>().join(", ");
        TIERS.iter().find(|tier| tier.name == name).ok_or_else(|| format!("no tier is called {name}: {}", known()))
    };
    names.iter().map(find).collect()
}

/// Builds the programs of these tiers before anything runs: a compiler beside the tests would take their processors. All
/// targets at once, so that the processors are busy to the end.
pub(crate) fn build(names: &[String]) -> Result<Vec<Program>, String> {
    let chosen = choose(names)?;
    // First: what is built last is what stays under the program's name.
    let with_mpi = chosen.iter().any(|tier| tier.name == CLUSTER).then(program_with_mpi).flatten();
    let named: Vec<&str> = chosen.iter().flat_map(|tier| tier.targets).flat_map(|target| ["--test", target]).collect();
    let mut artifacts = if named.is_empty() { Vec::new() } else { artifacts(&named)? };
    // All that has not `test = false`; without this word the examples would be built too.
    if chosen.iter().any(|tier| tier.name == UNITS) {
        artifacts.extend(self::artifacts(&["--tests"])?);
    }
    let mut programs: Vec<Program> = chosen.iter().flat_map(|tier| tier.programs(&artifacts)).collect();
    if let Some(path) = with_mpi {
        for program in &mut programs {
            program.command.env("FSDYNO_MPI", &path);
        }
    }
    Ok(programs)
}

/// The program built with MPI, put by; `None`: the tests of many ranks say what is missing. With the same other features
/// as all, so that few crates are compiled once more.
fn program_with_mpi() -> Option<PathBuf> {
    let there = Command::new("mpicc").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    there.ok().filter(std::process::ExitStatus::success)?;
    let artifacts = artifacts(&["--features=fsdyno/mpi", "--test", CLUSTER]).ok()?;
    let is_program =
        |artifact: &&Value| artifact["target"]["kind"][0] == "bin" && artifact["target"]["name"] == "fsdyno";
    let built = artifacts.iter().filter(|artifact| artifact["profile"]["test"] == false).find(is_program)?;
    let place = target_directory().join("mpi/fsdyno");
    std::fs::create_dir_all(place.parent()?).ok()?;
    std::fs::copy(built["executable"].as_str()?, &place).ok()?;
    Some(place)
}

/// What cargo says of the targets that these words choose, once they are built.
fn artifacts(words: &[&str]) -> Result<Vec<Value>, String> {
    let mut command = cargo_command();
    command
        .args(["test", "--workspace", "--no-run", "--quiet", "--message-format=json-render-diagnostics"])
        .arg(FEATURES)
        .args(words);
    let built = command.stderr(Stdio::inherit()).output().map_err(|error| format!("cannot run cargo: {error}"))?;
    if !built.status.success() {
        return Err(format!("the tests cannot be built: cargo test --workspace --no-run {}", words.join(" ")));
    }
    let lines = String::from_utf8_lossy(&built.stdout).into_owned();
    lines.lines().map(|line| serde_json::from_str(line).map_err(|error| format!("cargo: {error}: {line}"))).collect()
}

impl Tier {
    fn programs(&self, artifacts: &[Value]) -> Vec<Program> {
        if self.name == DOC {
            let mut command = hearing_hangups(cargo_command().get_program());
            command.args(["test", "--workspace", FEATURES, "--doc", "--no-fail-fast", "--", "--show-output"]);
            return vec![Program { title: format!("test {DOC}"), command, alone: self.alone }];
        }
        let tests = artifacts.iter().filter(|artifact| artifact["profile"]["test"] == true && self.has(artifact));
        tests.filter_map(|artifact| self.program(artifact)).collect()
    }

    /// Whether a target is one of its own.
    fn has(&self, artifact: &Value) -> bool {
        let target = &artifact["target"];
        let is_named =
            |tier: &Tier| target["kind"][0] == "test" && tier.targets.iter().any(|&name| target["name"] == name);
        if self.name == UNITS { !TIERS.iter().any(is_named) } else { is_named(self) }
    }

    /// As cargo would run it: in the folder of its package. `None`: what cargo has built is no program.
    fn program(&self, artifact: &Value) -> Option<Program> {
        let folder = Path::new(artifact["manifest_path"].as_str()?).parent()?;
        let mut command = hearing_hangups(artifact["executable"].as_str()?);
        command.arg("--show-output").args(self.choice).current_dir(folder).env("CARGO_MANIFEST_DIR", folder);
        let (package, target) = (folder.file_name()?.to_string_lossy(), artifact["target"]["name"].as_str()?);
        Some(Program { title: format!("test {}: {target} of {package}", self.name), command, alone: self.alone })
    }
}

/// Checks of this program's, in a process of their own. They compile, and leave the processors to the tests.
fn checking(names: &[&str]) -> Result<Program, String> {
    let this = std::env::current_exe().map_err(|error| format!("this program is nowhere: {error}"))?;
    let mut command = Command::new("nice");
    command.args(["-n", "19"]).arg(this).args(names);
    Ok(Program { title: names.join(", "), command, alone: false })
}

/// A program with SIGHUP as it is by default: where it is ignored, as under nohup, the tests' programs would ignore it too,
/// as they should, and the tests that send it would wait for their end.
fn hearing_hangups(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let hearing = ["--default-signal=HUP"];
    let can = Command::new("env").args(hearing).arg("true").stderr(Stdio::null()).status();
    if !can.is_ok_and(|status| status.success()) {
        return Command::new(program);
    }
    let mut command = Command::new("env");
    command.args(hearing).arg(program);
    command
}

impl Program {
    /// The counts of its tests, and what it printed. What passing tests print is shown as well: it holds the reasons of
    /// those that were skipped.
    fn run(&mut self) -> (Counts, String) {
        let output = match self.command.stdin(Stdio::null()).output() {
            Ok(output) => output,
            Err(error) => return (Counts { failed: 1, ..Counts::default() }, format!("it cannot be run: {error}\n")),
        };
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut counter = Counter::default();
        text.lines().for_each(|line| counter.line(line));
        (counter.finish(output.status.success()), String::from_utf8_lossy(&output.stderr).into_owned() + &text)
    }
}

/// Reads the output line by line.
#[derive(Default)]
struct Counter {
    counts: Counts,
    /// Tests that said so; the harness knows no skipping and takes them as passed.
    skipped_as_passed: u64,
    /// The test whose output is being shown has been counted as skipped.
    counted: bool,
}

impl Counter {
    fn line(&mut self, line: &str) {
        if let Some(result) = line.strip_prefix("test result: ") {
            self.counts.passed += number_before(result, " passed");
            self.counts.failed += number_before(result, " failed");
            self.counts.skipped += number_before(result, " ignored");
            self.counted = false;
        } else if line.starts_with("== ") && line.contains(": FAILED") {
            self.counts.failed += 1;
        } else if line.starts_with("---- ") {
            self.counted = false;
        } else if line.starts_with("skipped: ") && !self.counted {
            self.skipped_as_passed += 1;
            self.counted = true;
        }
    }

    fn finish(self, success: bool) -> Counts {
        let mut counts = self.counts;
        counts.skipped += self.skipped_as_passed;
        counts.passed = counts.passed.saturating_sub(self.skipped_as_passed);
        if !success && counts.failed == 0 {
            counts.failed = 1;
        }
        counts
    }
}

/// The number that stands right before `word`; 0 if there is none.
fn number_before(text: &str, word: &str) -> u64 {
    let before = text.split(word).next().filter(|before| before.len() < text.len()).unwrap_or("");
    before.rsplit(' ').next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(output: &str, success: bool) -> Counts {
        let mut counter = Counter::default();
        output.lines().for_each(|line| counter.line(line));
        counter.finish(success)
    }

    #[test]
    fn results_of_all_crates_are_added() {
        let output = "\
running 3 tests
test a ... ok
test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
test result: FAILED. 10 passed; 2 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s
";
        assert_eq!(counts(output, false), Counts { passed: 13, failed: 2, skipped: 1 });
    }

    #[test]
    fn a_skipped_test_counts_once_and_not_as_passed() {
        let output = "\
successes:

---- one stdout ----
skipped: fio is not installed
skipped: nor is strace

---- two stdout ----
some text
skipped: fio is not installed

successes:
    one
    two

test result: ok. 5 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
";
        assert_eq!(counts(output, true), Counts { passed: 3, failed: 0, skipped: 2 });
    }

    #[test]
    fn what_cannot_be_built_has_failed() {
        assert_eq!(counts("", false), Counts { passed: 0, failed: 1, skipped: 0 });
    }

    #[test]
    fn each_failed_check_counts_as_one() {
        let output = "== clippy\n== clippy: FAILED\n== windows\n== windows: ok\n== gate\n== gate: FAILED: no binary\n";
        assert_eq!(counts(output, false), Counts { passed: 0, failed: 2, skipped: 0 });
    }

    /// Cargo names the same target as a library and as a test; only the test is of a tier.
    #[test]
    fn what_cargo_has_built_goes_to_its_tier() {
        let artifact = |kind: &str, test: bool| {
            serde_json::json!({
                "manifest_path": "/w/crates/check/Cargo.toml", "target": {"name": "check", "kind": [kind]},
                "profile": {"test": test}, "executable": "/w/target/check-1",
            })
        };
        let artifacts = [artifact("test", true), artifact("lib", true), artifact("bin", false)];
        let titles = |name: &str| -> Vec<String> {
            let chosen = choose(&[name.to_owned()]).unwrap();
            chosen[0].programs(&artifacts).into_iter().map(|program| program.title).collect()
        };
        assert_eq!(titles("questions"), ["test questions: check of check"]);
        assert_eq!(titles("units"), ["test units: check of check"]);
        assert!(titles("faults").is_empty());
    }

    #[test]
    fn tiers_are_chosen_by_name() {
        assert_eq!(choose(&[]).unwrap().len(), TIERS.len());
        assert_eq!(choose(&["units".to_owned()]).unwrap()[0].name, "units");
        assert!(choose(&["unit".to_owned()]).err().unwrap().contains("units"));
    }

    /// A target that no tier names would run in none: the units leave out what has `test = false`.
    #[test]
    fn every_target_is_in_one_tier() {
        let crates = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates").read_dir().unwrap();
        let manifests =
            crates.map(|folder| std::fs::read_to_string(folder.unwrap().path().join("Cargo.toml")).unwrap());
        let manifests: String = manifests.collect();
        let mut apart: Vec<&str> = manifests
            .split("[[test]]\nname = \"")
            .skip(1)
            .filter_map(|target| target.split_once("\"\ntest = false").map(|(name, _)| name))
            .filter(|name| !name.contains('"'))
            .collect();
        let mut named: Vec<&str> = TIERS.iter().flat_map(|tier| tier.targets).copied().collect();
        apart.sort_unstable();
        named.sort_unstable();
        // Two tiers may choose among the tests of one target.
        named.dedup();
        assert_eq!(named, apart);
    }

    #[test]
    fn the_last_line() {
        let counts = Counts { passed: 12, failed: 0, skipped: 3 };
        assert_eq!(counts.to_string(), "12 passed, 0 failed, 3 skipped");
    }
}
