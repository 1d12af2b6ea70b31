//! Runs one test program, or one check, to its end.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::hang::{self, ProgramEnd};
use super::output::Ending;
use crate::workspace::target_directory;

pub(crate) struct Program {
    pub(super) title: String,
    pub(super) command: Command,
    /// Nothing runs beside it.
    pub(super) alone: bool,
    pub(super) judges_timing: bool,
}

/// Time limit of a program. On an idle machine none takes a third of it; a program that takes longer has hung.
const TIME_MAX: Duration = Duration::from_secs(30 * 60);

impl Program {
    /// Runs the program to its end. Its output goes to files, which a process that it leaves behind cannot block.
    pub(super) fn run(&mut self) -> Ending {
        let begun = Instant::now();
        let log = self.log();
        match self.run_into(&log) {
            Err(error) => Ending::not_run(&error),
            Ok(end) => {
                let [stdout, stderr] = [&log, &stderr_beside(&log)]
                    .map(|file| String::from_utf8_lossy(&std::fs::read(file).unwrap_or_default()).into_owned());
                let read = match end.status {
                    Some(status) => Ending::read(&stderr, &stdout, status.success()),
                    None => Ending::of_hang(&stderr, &stdout, TIME_MAX),
                };
                Ending { took: begun.elapsed(), cpu_time: end.cpu_time, ..read }
            }
        }
    }

    fn run_into(&mut self, log: &Path) -> std::io::Result<ProgramEnd> {
        log.parent().map_or(Ok(()), std::fs::create_dir_all)?;
        let (stdout, stderr) = (File::create(log)?, File::create(stderr_beside(log))?);
        self.command.stdin(Stdio::null()).stdout(stdout).stderr(stderr);
        let mut child = hang::start(&mut self.command, &self.title)?;
        hang::wait(&mut child, &self.title, TIME_MAX)
    }

    /// Limits the program to these tests, one after the other.
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

fn stderr_beside(log: &Path) -> PathBuf {
    log.with_extension("stderr")
}

/// A command with the default action for the signals that a shell ignores for what it starts: SIGHUP under nohup, SIGINT
/// and SIGQUIT in the background of a script. The tests' programs would ignore them as well, and tests that send them
/// would wait for their end.
pub(super) fn hearing_signals(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let hearing = ["--default-signal=HUP,INT,QUIT"];
    let can = Command::new("env").args(hearing).arg("true").stderr(Stdio::null()).status();
    if !can.is_ok_and(|status| status.success()) {
        return Command::new(program);
    }
    let mut command = Command::new("env");
    command.args(hearing).arg(program);
    command
}
