//! One program of tests, or of checks, run to its end.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

use super::output::Ending;
use crate::workspace::target_directory;

pub(crate) struct Program {
    pub(super) title: String,
    pub(super) command: Command,
    pub(super) beside: Beside,
}

/// What may run beside a program of tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Beside {
    /// Nothing: it judges how even a storage is.
    Nothing,
    /// Compilers, at the lowest priority: it judges the limits of stacks, and waits for them most of the time.
    Compilers,
    /// Other tests.
    Tests,
}

impl Program {
    /// How it ended. All that it printed is kept in a file.
    pub(super) fn run(&mut self) -> Ending {
        let begun = Instant::now();
        let output = match self.command.stdin(Stdio::null()).output() {
            Ok(output) => output,
            Err(error) => return Ending::not_run(&error),
        };
        let (stderr, stdout) = (String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout));
        let log = self.log();
        let kept = log.parent().map_or(Ok(()), std::fs::create_dir_all);
        if let Err(error) = kept.and_then(|()| std::fs::write(&log, format!("{stderr}{stdout}"))) {
            println!("cannot keep the output of {} in {}: {error}", self.title, log.display());
        }
        Ending { took: begun.elapsed(), ..Ending::read(&stderr, &stdout, output.status.success()) }
    }

    /// From now on it runs these tests only, one after the other.
    pub(super) fn only(mut self, tests: &[String]) -> Program {
        self.command.args(["--test-threads=1", "--exact"]).args(tests);
        self.title.push_str(", a second try");
        self
    }

    fn log(&self) -> PathBuf {
        let name: String =
            self.title.chars().map(|letter| if letter.is_alphanumeric() { letter } else { '-' }).collect();
        target_directory().join("tests").join(name + ".log")
    }
}

/// A program with SIGHUP as it is by default: where it is ignored, as under nohup, the tests' programs would ignore it too,
/// as they should, and the tests that send it would wait for their end.
pub(super) fn hearing_hangups(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let hearing = ["--default-signal=HUP"];
    let can = Command::new("env").args(hearing).arg("true").stderr(Stdio::null()).status();
    if !can.is_ok_and(|status| status.success()) {
        return Command::new(program);
    }
    let mut command = Command::new("env");
    command.args(hearing).arg(program);
    command
}
