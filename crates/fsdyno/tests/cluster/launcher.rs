//! The program built with MPI, and the launcher that starts it several times.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use testkit::{RunResult, Running, Words, skip, text, wait_until, workspace};

/// The program built with MPICH, if that is to be tested instead: see docs/scale.md.
pub(crate) fn with_mpich() -> Option<PathBuf> {
    std::env::var_os("FSDYNO_MPICH").map(PathBuf::from)
}

/// Whether ranks on several hosts find each other. MPICH's launcher tells them this machine's name, which hosts of a
/// test do not know, and waits for hosts that do not answer.
pub(crate) fn hosts_are_found() -> bool {
    if with_mpich().is_some() {
        skip("MPICH's launcher is found by the name of its machine, which the hosts of a test do not know");
    }
    with_mpich().is_none()
}

/// The program with MPI; `None`: it cannot be built here, which is printed.
pub(crate) fn program() -> Option<&'static Path> {
    static PROGRAM: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    match PROGRAM.get_or_init(build) {
        Ok(program) => Some(program),
        Err(reason) => {
            skip(reason);
            None
        }
    }
}

/// Builds the program in its own folder of the build, so that the program without MPI stays there.
fn build() -> Result<PathBuf, String> {
    if let Some(program) = with_mpich().or_else(|| std::env::var_os("FSDYNO_MPI").map(PathBuf::from)) {
        return Ok(program);
    }
    for (tool, package) in [("mpirun", "openmpi-bin"), ("mpicc", "libopenmpi-dev")] {
        let there = Command::new(tool).arg("--version").output().is_ok_and(|ran| ran.status.success());
        there.then_some(()).ok_or(format!("{tool} is not installed ({package})"))?;
    }
    let folder = workspace().join("target/mpi");
    if testkit::stack::is_inside() {
        // It was built before the stack was set up, outside of which compiling takes less time.
        return Ok(folder.join("debug/fsdyno"));
    }
    let words = ["build", "--quiet", "-p=fsdyno", "--features=mpi", "--target-dir"];
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    cargo.args(words).arg(&folder).current_dir(workspace());
    // Compiling takes most of the time of these tests.
    let built = cargo.env("CARGO_PROFILE_DEV_OPT_LEVEL", "0").output().map_err(|error| error.to_string())?;
    match built.status.success() {
        true => Ok(folder.join("debug/fsdyno")),
        false => Err(format!("it cannot be built with MPI: {}", text(&built.stderr))),
    }
}

/// The launcher's command line for this program.
pub(crate) fn command<W: Words + ?Sized>(place: &Path, ranks: u32, program: &Path, words: &W) -> Command {
    let mut command = launcher(place, ranks);
    command.arg(program).args(words.list());
    command
}

/// The launcher without the program.
pub(crate) fn launcher(place: &Path, ranks: u32) -> Command {
    let mut command = Command::new(if with_mpich().is_some() { "mpiexec.hydra" } else { "mpirun" });
    if with_mpich().is_none() {
        command.args(["--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]);
    }
    command.arg("-n").arg(ranks.to_string());
    command.current_dir(place).env("HOME", place).env("XDG_DATA_HOME", place.join("home"));
    // The ranks are on one machine: they must not use interfaces that other stacks add and remove.
    command.env("OMPI_MCA_btl_tcp_if_include", "lo").env("OMPI_MCA_oob_tcp_if_include", "lo");
    command.stdin(std::process::Stdio::null());
    command
}

/// Runs ranks of the program to their end; `None`: skipped.
#[track_caller]
pub(crate) fn ran<W: Words + ?Sized>(place: &Path, ranks: u32, words: &W) -> Option<RunResult> {
    Some(Running::start(&mut command(place, ranks, program()?, words)).finish())
}

/// The processes of a rank below a launcher: its agent, and the worker once it has begun.
fn processes(launcher: u32, rank: u32) -> Vec<u32> {
    let children = |process: u32| {
        let list = std::fs::read_to_string(format!("/proc/{process}/task/{process}/children")).unwrap_or_default();
        list.split_whitespace().map(|child| child.parse().expect("a number")).collect::<Vec<u32>>()
    };
    let variables = ["OMPI_COMM_WORLD_RANK", "PMI_RANK"].map(|name| format!("{name}={rank}"));
    let is_rank = |process: &u32| {
        let environment = std::fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|word| variables.iter().any(|variable| word == variable.as_bytes()))
    };
    let below = children(launcher);
    // MPICH's launcher starts one more process for each host.
    let further: Vec<u32> = below.iter().flat_map(|child| children(*child)).collect();
    let agent = below.into_iter().chain(further).find(is_rank);
    agent.into_iter().flat_map(|agent| std::iter::once(agent).chain(children(agent))).collect()
}

/// Waits for the agent and the worker of a rank.
#[track_caller]
pub(crate) fn agent_and_worker(launcher: u32, rank: u32) -> (u32, u32) {
    let mut found = Vec::new();
    wait_until("worker of the rank", || {
        found = processes(launcher, rank);
        found.len() == 2
    });
    (found[0], found[1])
}

/// Whether a process still runs; an ended one may stay until its parent waits for it.
pub(crate) fn runs(process: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, state)| !state.starts_with(['Z', 'X']))
}

/// Sends a signal.
#[track_caller]
pub(crate) fn signal(process: u32, name: &str) {
    testkit::shell(&format!("kill -{name} {process}"));
}
