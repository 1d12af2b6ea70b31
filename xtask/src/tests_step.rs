//! Runs the tests in named tiers, shows all they print, and counts them.

use std::fmt;
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::workspace::{cargo, cargo_command};

/// How the tests ended.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Ran to their end without a failure.
    pub(crate) passed: u64,
    /// Failed, or could not be built.
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
    /// Nothing runs beside it: it judges how even the storage's figures are.
    alone: bool,
}

/// Those that take longest first: they run side by side with those below.
const TIERS: &[Tier] = &[
    Tier { alone: true, ..tier("lab", &["lab"]) },
    Tier { alone: true, ..tier("traps", &["traps"]) },
    tier("faults", &["faults"]),
    tier("oracle", &["oracle", "differential"]),
    tier("attacker", &["attacker"]),
    tier("questions", &["check", "compare", "guided", "inspect", "readme", "sentences", "smallfiles", "sweep"]),
    tier("sheet", &["browser"]),
    tier("judgements", &["judgements"]),
    tier("memory", &["memcheck"]),
    tier("faces", &["faces", "installed"]),
    tier(UNITS, &[]),
    tier(DOC, &[]),
];

/// All targets that the manifests do not keep apart.
const UNITS: &str = "units";

/// The examples in the documentation: no targets of their own.
const DOC: &str = "doc";

const fn tier(name: &'static str, targets: &'static [&'static str]) -> Tier {
    Tier { name, targets, alone: false }
}

impl Tier {
    /// Words for cargo test.
    fn words(&self) -> Vec<&'static str> {
        match self.name {
            DOC => vec!["--doc"],
            // All that has not `test = false`; without this word the examples would run here too.
            UNITS => vec!["--tests"],
            _ => self.targets.iter().flat_map(|target| ["--test", target]).collect(),
        }
    }
}

/// So many tiers run at a time: most tests wait for storage or for a clock, and leave the processors to others.
const LANES: usize = 2;

/// Runs the tests of these tiers, of all if none is named. What a tier prints is shown when it has ended.
pub(crate) fn run(names: &[String]) -> Result<Counts, String> {
    let chosen = choose(names)?;
    build(&chosen)?;
    let (alone, beside): (Vec<&Tier>, Vec<&Tier>) = chosen.into_iter().partition(|tier| tier.alone);
    let mut total = side_by_side(&alone, 1);
    total.add(&side_by_side(&beside, LANES));
    Ok(total)
}

fn side_by_side(tiers: &[&Tier], lanes: usize) -> Counts {
    let waiting = Mutex::new(tiers.iter());
    let total = Mutex::new(Counts::default());
    std::thread::scope(|scope| {
        let lane = || {
            // A function of its own: in the loop's head the lock would be held until the tier has ended.
            let next = || lock(&waiting).next();
            while let Some(tier) = next() {
                let (counts, output) = run_tier(tier);
                let mut total = lock(&total);
                println!("== test {}\n{output}== test {}: {counts}", tier.name, tier.name);
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

/// Builds before anything runs: a compiler beside the tests would take their processors.
fn build(chosen: &[&Tier]) -> Result<(), String> {
    for tier in chosen.iter().filter(|tier| tier.name != DOC) {
        let built = cargo(&[["test", "--workspace", "--no-run", "--quiet"].as_slice(), &tier.words()].concat())?;
        if !built {
            return Err(format!("the tests of {} cannot be built", tier.name));
        }
    }
    Ok(())
}

/// Cargo with SIGHUP as it is by default: where it is ignored, as under nohup, the tests' programs would ignore it too, as
/// they should, and the tests that send it would wait for their end.
fn hearing_hangups() -> Command {
    let cargo = cargo_command();
    let hearing = ["--default-signal=HUP"];
    let can = Command::new("env").args(hearing).arg("true").stderr(Stdio::null()).status();
    if !can.is_ok_and(|status| status.success()) {
        return cargo;
    }
    let mut command = Command::new("env");
    command.args(hearing).arg(cargo.get_program());
    command
}

/// The counts of a tier, and what it printed. What passing tests print is shown as well: it holds the reasons of those
/// that were skipped.
fn run_tier(tier: &Tier) -> (Counts, String) {
    let mut command = hearing_hangups();
    command.args(["test", "--workspace", "--no-fail-fast"]).args(tier.words()).args(["--", "--show-output"]);
    let output = match command.stdin(Stdio::null()).output() {
        Ok(output) => output,
        Err(error) => return (Counts { failed: 1, ..Counts::default() }, format!("cannot run cargo test: {error}\n")),
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut counter = Counter::default();
    text.lines().for_each(|line| counter.line(line));
    (counter.finish(output.status.success()), String::from_utf8_lossy(&output.stderr).into_owned() + &text)
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
        assert_eq!(named, apart);
    }

    #[test]
    fn the_last_line() {
        let counts = Counts { passed: 12, failed: 0, skipped: 3 };
        assert_eq!(counts.to_string(), "12 passed, 0 failed, 3 skipped");
    }
}
