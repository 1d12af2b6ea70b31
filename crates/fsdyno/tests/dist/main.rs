//! Tests what `cargo xtask dist` makes where it is used: in an empty root, in a clean Debian, in a container.

mod alone;
mod clustered;
mod contained;
mod deployed;
mod emulated;
mod packaged;
mod recipes;
mod release;
mod workflows;

use std::process::{Command, Stdio};

use testkit::{RunResult, text};

/// Runs a command to its end.
#[track_caller]
fn run(command: &mut Command) -> RunResult {
    let ran = command.stdin(Stdio::null()).output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    RunResult { status: ran.status.code(), stdout: text(&ran.stdout), stderr: text(&ran.stderr) }
}

/// Whether these programs are installed; the first missing one is printed, and the test is skipped.
fn have(tools: &[&str]) -> bool {
    tools.iter().all(|tool| testkit::has(tool))
}
