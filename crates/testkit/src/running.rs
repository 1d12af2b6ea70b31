//! A running program.

use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use fsdyno_os::clock::{Clock, RealClock};
use tempfile::TempDir;

use crate::RunResult;

/// Time after which a program counts as hung, ns: longer than anything may take, whose stated bound is a minute and a
/// half.
const HANG_NS: u64 = 120_000_000_000;

/// Interval of checks, ns. Waits are counted in them: where other programs have the processors, as in a guest of the lab beside
/// a build, each check comes later, as does all that is waited for.
const PAUSE_NS: u64 = 2_000_000;

/// Waits for a condition that another process makes true.
#[track_caller]
pub fn wait_until(what: &str, reached: impl FnMut() -> bool) {
    assert!(is_reached_within(HANG_NS, reached), "no {what}");
}

fn is_reached_within(limit_ns: u64, mut reached: impl FnMut() -> bool) -> bool {
    let clock = RealClock::shared();
    let mut check = || {
        let is_reached = reached();
        if !is_reached {
            clock.sleep_until_ns(clock.now_ns() + PAUSE_NS);
        }
        is_reached
    };
    (0..=limit_ns / PAUSE_NS).any(|_| check())
}

/// Gives a command a process group of its own: fio sends SIGTERM to its whole group if one of its jobs has not begun after
/// five seconds, which happens on a busy machine.
pub fn apart(command: &mut Command) -> &mut Command {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    command
}

/// Runs a command to its end in `directory`, which only it uses. `None`: it hung, and was ended with all processes that
/// work there.
///
/// A worker of fio's has its own session: if it hangs it outlives its program, and a pipe that it holds open would
/// never end.
pub fn run_within(limit: Duration, command: &mut Command, directory: &Path) -> Option<RunResult> {
    let mut running = Running::start(apart(command).current_dir(directory).stdin(Stdio::null()));
    let limit_ns = u64::try_from(limit.as_nanos()).expect("a limit of minutes");
    if is_reached_within(limit_ns, || running.is_over()) {
        return Some(running.finish());
    }
    end_those_in(directory);
    None
}

/// Ends the processes whose working directory is this one.
fn end_those_in(directory: &Path) {
    let Ok(processes) = std::fs::read_dir("/proc") else { return };
    for process in processes.flatten() {
        let works_there = std::fs::read_link(process.path().join("cwd")).is_ok_and(|cwd| cwd == directory);
        if let (true, Some(id)) = (works_there, process.file_name().to_str()) {
            let _ = Command::new("kill").args(["-KILL", id]).status();
        }
    }
}

/// Waits for some time.
pub fn pause(ms: u64) {
    let clock = RealClock::shared();
    clock.sleep_until_ns(clock.now_ns() + ms * 1_000_000);
}

/// A running program. Its output goes to files, so that no pipe has to be read.
pub struct Running {
    child: Child,
    output: TempDir,
}

impl Running {
    /// Starts it with both outputs in files.
    pub fn start(command: &mut Command) -> Running {
        let output = crate::directory();
        let stdout = File::create(output.path().join("stdout")).expect("a file is made");
        Running::start_beside(command.stdout(stdout), output)
    }

    /// Starts a command whose stdout the caller has chosen.
    pub fn start_with_stdout(command: &mut Command, stdout: impl Into<Stdio>) -> Running {
        Running::start_beside(command.stdout(stdout), crate::directory())
    }

    fn start_beside(command: &mut Command, output: TempDir) -> Running {
        let stderr = File::create(output.path().join("stderr")).expect("a file is made");
        let child = command.stderr(stderr).spawn().expect("the program starts");
        Running { child, output }
    }

    /// The process number.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    fn text(&self, name: &str) -> String {
        // The file does not exist yet, or the output goes elsewhere.
        crate::text(&std::fs::read(self.output.path().join(name)).unwrap_or_default())
    }

    /// What it has printed so far.
    pub fn stdout(&self) -> String {
        self.text("stdout")
    }

    /// Its stderr so far.
    pub fn stderr(&self) -> String {
        self.text("stderr")
    }

    /// stdout and stderr so far.
    pub fn output(&self) -> String {
        self.stdout() + &self.stderr()
    }

    /// Sends a signal, such as `INT`.
    pub fn signal(&self, name: &str) {
        self.shell(&format!("kill -{name} {}", self.id()));
    }

    /// Sends a signal, and again after a moment unless the program has ended.
    pub fn signal_twice(&self, name: &str) {
        let kill = format!("kill -{name} {}", self.id());
        // The child was not waited for, so its number is still its own.
        self.shell(&format!("{kill} && sleep 0.002 && {kill}"));
    }

    fn shell(&self, script: &str) {
        let sent = Command::new("sh").args(["-c", script]).status().expect("sh runs");
        assert!(sent.success(), "{script}");
    }

    /// Whether it has ended.
    pub fn is_over(&mut self) -> bool {
        self.child.try_wait().expect("the child can be waited for").is_some()
    }

    /// Waits until `reached` is true, which must be before the program ends.
    #[track_caller]
    pub fn wait_until(&mut self, what: &str, mut reached: impl FnMut(&Running) -> bool) {
        wait_until(what, || {
            let over = self.is_over();
            let reached = reached(self);
            assert!(reached || !over, "it ended before {what}:\n{}\n{}", self.stdout(), self.stderr());
            reached
        });
    }

    /// Waits until stdout holds `text`.
    #[track_caller]
    pub fn wait_for(&mut self, text: &str) {
        self.wait_until(text, |running| running.stdout().contains(text));
    }

    /// Waits for the end.
    #[track_caller]
    pub fn finish(self) -> RunResult {
        self.finish_with_signal().1
    }

    /// The same, with the status as a shell reports it: `128 + N` if signal N has killed it. While a program goes on to
    /// print, it has not hung.
    #[track_caller]
    pub fn finish_with_signal(mut self) -> (i32, RunResult) {
        let mut printed = 0;
        while !is_reached_within(HANG_NS, || self.is_over()) {
            let before = std::mem::replace(&mut printed, self.output().len());
            assert!(printed > before, "no end:\n{}", self.output());
        }
        let status = self.child.wait().expect("it has ended");
        let ran = RunResult { status: status.code(), stdout: self.stdout(), stderr: self.stderr() };
        assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
        let killed = || 128 + fsdyno_os::process::ended_by_signal(status).expect("no status means a signal");
        (ran.status.unwrap_or_else(killed), ran)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // After a failed assertion nothing must go on in the background; after a normal end both calls do nothing. A
        // process that is stuck in the kernel is not waited for.
        let _ = self.child.kill();
        let _ = self.child.try_wait();
    }
}

/// Ends another thread when it is dropped, also if an assertion fails: the scope waits for that thread.
#[derive(Debug)]
pub struct Ends<'a>(pub &'a std::sync::atomic::AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, std::sync::atomic::Ordering::Relaxed);
    }
}
