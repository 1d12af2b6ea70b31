//! Runs the tests in named tiers, shows what failed and what was skipped, and counts the results. cargo-nextest also
//! has groups, retries and limits, but a test cannot report there, while it runs, why it is skipped; a retry runs
//! beside other tests; and tests in separate processes cannot keep their stacks from disturbing each other.

mod counts;
mod cpu_time;
mod examples;
mod hang;
mod others;
mod output;
mod program;
mod tiers;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

pub(crate) use counts::Counts;
use output::Ending;
use program::{Program, hearing_signals};
use serde_json::Value;
pub(crate) use tiers::Chore;
use tiers::{CLUSTER, DOC, MPICH, TIERS, Tier, UNITS, WITH_MPI, WITH_MPICH};

use crate::workspace::{cargo_command, forget_this_package, target_directory};

/// The names of the tiers that a chore runs.
pub(crate) fn tiers(chore: Chore) -> Vec<String> {
    let runs = |tier: &&Tier| tier.chore == chore || chore == Chore::Nightly && tier.judges_timing;
    TIERS.iter().filter(runs).map(|tier| tier.name.to_owned()).collect()
}

/// How many test programs run at a time, first those that take long: most of their tests wait for storage or a clock, and
/// leave the CPUs to others.
const LANES: usize = 5;

/// How many more run beside them, first those that compute.
const COMPUTING_LANES: usize = 2;

/// How many failed tests are run again, alone, as the machine may have been busy. Each is named. If more fail, the
/// machine is not the cause.
const SECOND_TRIES: usize = 5;

/// Programs of which tests failed, with the tests' names.
type Unsteady = Vec<(Program, Vec<String>)>;

/// The sum over all programs so far.
type Total = (Counts, Unsteady);

/// What a run of the tests needs besides its programs.
struct Machine {
    /// Prints a text for the person who runs the tests.
    say: fn(&str),
    /// The number of CPUs that other programs keep busy, if that disturbs the tests.
    busy_cpus: fn() -> Option<f64>,
}

/// This machine, with a person at its terminal.
const HERE: Machine = Machine { say: |text| print!("{text}"), busy_cpus: others::busy_cpus };

/// Runs the tests of these tiers (of all if none is named), with these checks beside them.
pub(crate) fn run(names: &[String], checks: &[&str]) -> Result<Counts, String> {
    let programs = build(names)?;
    let checks = checks.iter().map(|check| checking(check)).collect::<Result<_, _>>()?;
    Ok(to_the_end(programs, checks, &HERE))
}

/// Runs the tests of a chore, with these checks beside them. The night has the time to run each program alone that judges
/// timing.
pub(crate) fn run_chore(chore: Chore, checks: &[&str]) -> Result<Counts, String> {
    let mut programs = build(&tiers(chore))?;
    let checks = checks.iter().map(|check| checking(check)).collect::<Result<_, _>>()?;
    for program in &mut programs {
        program.alone |= program.judges_timing && chore == Chore::Nightly;
    }
    Ok(to_the_end(programs, checks, &HERE))
}

#[expect(clippy::disallowed_methods, reason = "a tool of developers may panic where there is no thread")]
fn to_the_end(programs: Vec<Program>, checks: Vec<Program>, machine: &Machine) -> Counts {
    let total = Mutex::default();
    let (quiet, others): (Vec<Program>, Vec<Program>) = programs.into_iter().partition(|program| program.alone);
    let run = |program| run_one(program, &total, machine.say);
    quiet.into_iter().for_each(run);
    let others = Mutex::new(others.into_iter());
    std::thread::scope(|scope| {
        checks.into_iter().for_each(|check| drop(scope.spawn(move || run(check))));
        (0..LANES).for_each(|_| drop(scope.spawn(|| in_turn(|| lock(&others).next(), run))));
        // These begin at the other end, with programs that compute while those before them wait.
        (0..COMPUTING_LANES).for_each(|_| drop(scope.spawn(|| in_turn(|| lock(&others).next_back(), run))));
    });
    let (mut total, unsteady): Total = total.into_inner().unwrap_or_else(PoisonError::into_inner);
    let few = unsteady.iter().map(|(_, tests)| tests.len()).sum::<usize>() <= SECOND_TRIES;
    if !unsteady.is_empty() && (few || (machine.busy_cpus)().is_some()) {
        unsteady.into_iter().for_each(|(program, tests)| second_try(program, &tests, &mut total, machine));
    }
    total
}

/// Runs failed tests again, alone. Those that pass count as passed; a test that judges timing and fails beside other
/// programs is not judged.
fn second_try(program: Program, tests: &[String], total: &mut Counts, machine: &Machine) {
    let say = machine.say;
    let mut program = program.only(tests);
    let ending = program.run();
    say(&outcome_text(&program, &ending));
    if ending.counts.passed + ending.counts.failed != tests.len() as u64 {
        return;
    }
    let (failed, passed): (Vec<&String>, Vec<&String>) = tests.iter().partition(|test| ending.failed.contains(test));
    passed.iter().for_each(|test| say(&format!("failed at first, passed alone: {test}\n")));
    total.correct(passed.len() as u64);
    let busy_cpus = if failed.is_empty() || !program.judges_timing { None } else { (machine.busy_cpus)() };
    if let Some(busy) = busy_cpus {
        let reason = format!("cannot be judged here: load {busy:.1} of other programs");
        failed.iter().for_each(|test| say(&format!("   skipped: {test}: {reason}\n")));
        total.not_judged(failed.len() as u64);
    }
}

/// Runs the programs that `next` takes, one after the other.
fn in_turn(next: impl Fn() -> Option<Program>, run: impl Fn(Program)) {
    while let Some(program) = next() {
        run(program);
    }
}

/// Runs a program, adds its counts and its failed tests, and shows failures when it has ended.
fn run_one(mut program: Program, total: &Mutex<Total>, say: fn(&str)) {
    let ending = program.run();
    let mut total = lock(total);
    say(&outcome_text(&program, &ending));
    total.0.add(&ending.counts);
    if !ending.failed.is_empty() {
        total.1.push((program, ending.failed));
    }
}

fn outcome_text(program: &Program, ending: &Ending) -> String {
    let [seconds, cpu_seconds] = [ending.took, ending.cpu_time].map(|time| time.as_secs_f64());
    let (shown, title, counts) = (&ending.shown, &program.title, &ending.counts);
    let mut text = format!("{shown}== {title}: {counts} in {seconds:.0} s ({cpu_seconds:.0} s of CPU)\n");
    ending.skipped.iter().for_each(|skipped| text.push_str(&format!("   skipped: {skipped}\n")));
    text
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

/// Builds the programs of these tiers before anything runs, as a compiler would take the tests' CPUs. All targets are
/// built at once, so that the CPUs are busy to the end.
pub(crate) fn build(names: &[String]) -> Result<Vec<Program>, String> {
    let chosen = choose(names)?;
    // Built first: the last build determines the program under the usual name.
    let with_mpi = chosen.iter().any(|tier| WITH_MPI.contains(&tier.name)).then(program_with_mpi).flatten();
    let with_mpich = chosen.iter().any(|tier| WITH_MPICH.contains(&tier.name)).then(program_with_mpich).flatten();
    let named: Vec<&str> = chosen.iter().flat_map(|tier| tier.targets).flat_map(|target| ["--test", target]).collect();
    let mut artifacts = if named.is_empty() { Vec::new() } else { artifacts(&named)? };
    // All targets without `test = false`; without this word the examples would be built, too.
    if chosen.iter().any(|tier| tier.name == UNITS) {
        artifacts.extend(self::artifacts(&["--tests"])?);
    }
    let mut programs: Vec<Program> = Vec::new();
    for tier in &chosen {
        let with_mpich = with_mpich.as_ref().filter(|_| WITH_MPICH.contains(&tier.name));
        if tier.name == MPICH && with_mpich.is_none() {
            println!("skipped: no program is built with MPICH (libmpich-dev)");
            continue;
        }
        for mut program in tier.programs(&artifacts) {
            let built = [("FSDYNO_MPI", with_mpi.as_ref()), ("FSDYNO_MPICH", with_mpich)];
            program.command.envs(built.into_iter().filter_map(|(variable, path)| Some((variable, path?))));
            programs.push(program);
        }
    }
    Ok(programs)
}

/// The program built with MPI, stored separately; `None`: the tests of many ranks report what is missing. Its other
/// features equal those of all, so that few crates are compiled again.
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

/// The program built with MPICH, in a folder of its own, as cargo does not build anew when only the library has changed.
fn program_with_mpich() -> Option<PathBuf> {
    let compiler = "mpicc.mpich";
    let there = Command::new(compiler).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    there.ok().filter(std::process::ExitStatus::success)?;
    let folder = target_directory().join("mpich");
    let words = ["build", "--quiet", "-p=fsdyno", "--bin=fsdyno", "--features=mpi", "--target-dir"];
    let built = cargo_command().args(words).arg(&folder).env("MPICC", compiler).status();
    built.ok().filter(std::process::ExitStatus::success).map(|_| folder.join("debug/fsdyno"))
}

/// cargo's messages on the targets that these words choose, after building them.
fn artifacts(words: &[&str]) -> Result<Vec<Value>, String> {
    let mut command = cargo_command();
    command
        .args(["test", "--workspace", "--no-run", "--quiet", "--message-format=json-render-diagnostics"])
        .args(words);
    let built = command.stderr(Stdio::inherit()).output().map_err(|error| format!("cannot run cargo: {error}"))?;
    if !built.status.success() {
        return Err(format!("the tests cannot be built: cargo test --workspace --no-run {}", words.join(" ")));
    }
    let lines = String::from_utf8_lossy(&built.stdout).into_owned();
    lines.lines().map(|line| serde_json::from_str(line).map_err(|error| format!("cargo: {error}: {line}"))).collect()
}

impl Tier {
    /// A tier whose tests mostly wait for storage or a clock: this number of them runs at a time.
    const fn waits(self, tests: &'static str) -> Tier {
        Tier { at_a_time: Some(tests), ..self }
    }

    fn programs(&self, artifacts: &[Value]) -> Vec<Program> {
        if self.name == DOC {
            let mut command = hearing_signals(cargo_command().get_program());
            forget_this_package(&mut command);
            command.args(["test", "--doc", "--no-fail-fast"]);
            command.args(examples::packages().iter().map(|package| format!("--package={package}")));
            command.args(["--", "--show-output"]);
            return vec![Program { title: format!("test {DOC}"), command, alone: false, judges_timing: false }];
        }
        let tests = artifacts.iter().filter(|artifact| artifact["profile"]["test"] == true && self.has(artifact));
        tests.filter_map(|artifact| self.program(artifact)).collect()
    }

    /// Whether a target belongs to the tier.
    fn has(&self, artifact: &Value) -> bool {
        let target = &artifact["target"];
        let is_named =
            |tier: &Tier| target["kind"][0] == "test" && tier.targets.iter().any(|&name| target["name"] == name);
        if self.name == UNITS { !TIERS.iter().any(is_named) } else { is_named(self) }
    }

    /// The program as cargo would run it, in the folder of its package. `None`: the artifact is no program.
    fn program(&self, artifact: &Value) -> Option<Program> {
        let folder = Path::new(artifact["manifest_path"].as_str()?).parent()?;
        let mut command = hearing_signals(artifact["executable"].as_str()?);
        command.arg("--show-output").args(self.choice).current_dir(folder).env("CARGO_MANIFEST_DIR", folder);
        command.envs(self.at_a_time.map(|tests| ("RUST_TEST_THREADS", tests))).envs(self.variables.iter().copied());
        let (package, target) = (folder.file_name()?.to_string_lossy(), artifact["target"]["name"].as_str()?);
        let title = format!("test {}: {target} of {package}", self.name);
        let alone = self.judges_timing && self.chore != Chore::Ci;
        Some(Program { title, command, alone, judges_timing: self.judges_timing })
    }
}

/// A check of this program's, in a separate process. It compiles, and the tests have priority; with the lowest priority
/// a long link would end long after them.
fn checking(name: &str) -> Result<Program, String> {
    let this = std::env::current_exe().map_err(|error| format!("this program is nowhere: {error}"))?;
    let mut command = Command::new("nice");
    command.args(["-n", "5"]).arg(this).arg(name);
    Ok(Program { title: name.to_owned(), command, alone: false, judges_timing: false })
}

#[cfg(test)]
mod tests {
    use super::tiers::DIST;
    use super::*;

    /// A test program that fails, and ends with `again` when it is called a second time.
    fn failing(title: &str, again: &str) -> Program {
        let first = "printf 'failures:\\n    m::a\\n\\ntest result: FAILED. 4 passed; 1 failed; 0 ignored\\n'; exit 1";
        let script =
            format!("if [ $# = 0 ]; then {first}; fi; [ \"$*\" = '--test-threads=1 --exact m::a' ] && {again}");
        let mut command = Command::new("sh");
        command.args(["-c", &script, "sh"]);
        Program { title: format!("of xtask: {title}"), command, alone: false, judges_timing: false }
    }

    #[test]
    fn a_test_that_fails_has_a_second_try() {
        let passes = |title: &str| failing(title, "echo 'test result: ok. 1 passed; 0 failed'");
        let fails = failing(
            "fails",
            "{ printf 'failures:\\n    m::a\\n\\ntest result: FAILED. 0 passed; 1 failed\\n'; exit 1; }",
        );
        let runs_none = failing("runs none", "echo 'test result: ok. 0 passed; 0 failed'");
        // Its output would be taken for the results of this program's own tests.
        let quiet = Program { alone: true, ..passes("passes") };
        let idle = Machine { say: |_| (), busy_cpus: || None };
        let counts = to_the_end(vec![fails, quiet], vec![runs_none], &idle);
        assert_eq!(counts, Counts { passed: 13, failed: 2, skipped: 0 });
        let many = (0..=SECOND_TRIES).map(|number| passes(&format!("passes {number}"))).collect();
        assert_eq!(to_the_end(many, Vec::new(), &idle).failed, SECOND_TRIES as u64 + 1, "it was not the machine");
    }

    #[test]
    fn what_judges_timing_is_not_judged_on_a_busy_machine() {
        let twice = "{ printf 'failures:\n    m::a\n\ntest result: FAILED. 0 passed; 1 failed\n'; exit 1; }";
        let program = |judges_timing| Program { judges_timing, ..failing("of timing", twice) };
        let [idle, busy] = [|| None, || Some(2.0) as Option<f64>].map(|busy_cpus| Machine { say: |_| (), busy_cpus });
        let counts = |judges_timing, machine| to_the_end(vec![program(judges_timing)], Vec::new(), machine);
        assert_eq!(counts(true, &busy), Counts { passed: 4, failed: 0, skipped: 1 });
        assert_eq!(counts(true, &idle), Counts { passed: 4, failed: 1, skipped: 0 });
        assert_eq!(counts(false, &busy), Counts { passed: 4, failed: 1, skipped: 0 });
    }

    /// cargo reports the same target as a library and as a test; only the test belongs to a tier.
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
    fn each_tier_is_run_by_a_chore() {
        let chores = [Chore::Ci, Chore::Timing, Chore::Nightly].map(tiers);
        assert!(TIERS.iter().all(|tier| chores.iter().flatten().any(|name| name == tier.name)));
        let of = |name: &str| chores.each_ref().map(|names| names.iter().any(|known| known == name));
        assert_eq!([UNITS, DIST, "traps"].map(of), [[true, false, false], [false, false, true], [false, true, true]]);
        assert_eq!(of(CLUSTER), [false, true, false]);
    }

    /// What a tier of each push skips by name is chosen by another tier of its target.
    #[test]
    fn what_each_push_leaves_out_is_run_elsewhere() {
        for tier in TIERS.iter().filter(|tier| tier.chore != Chore::Nightly) {
            for left_out in tier.choice.iter().filter_map(|word| word.strip_prefix("--skip=")) {
                let shared = |other: &&Tier| other.targets.iter().any(|target| tier.targets.contains(target));
                let runs = |other: &&Tier| shared(other) && other.choice.contains(&left_out);
                assert!(TIERS.iter().any(|other| runs(&other)), "{}: {left_out}", tier.name);
            }
        }
    }

    #[test]
    fn tiers_are_chosen_by_name() {
        assert_eq!(choose(&[]).unwrap().len(), TIERS.len());
        assert_eq!(choose(&["units".to_owned()]).unwrap()[0].name, "units");
        assert!(choose(&["unit".to_owned()]).err().unwrap().contains("units"));
    }

    /// A target that no tier names would never run: the units leave out targets with `test = false`.
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
}
