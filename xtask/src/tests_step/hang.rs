//! Ends programs that hang, with everything that they started: a hang is a failure.

use std::fs::DirEntry;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use super::cpu_time;

/// First and longest interval at which a program's end is checked. Each look at a program with many threads takes CPU time
/// from the tests.
const PAUSE: Duration = Duration::from_millis(20);
const PAUSE_MAX: Duration = Duration::from_millis(500);

/// Time in which a killed program ends, unless it is stuck in the kernel.
const DYING: Duration = Duration::from_secs(60);

/// A variable that everything a program starts inherits, whatever session it creates.
const MARK: &str = "FSDYNO_TESTS_OF";

/// How many times the remaining processes are searched, as one may start another meanwhile.
const ROUNDS: usize = 5;

/// Starts a program in such a way that it can be ended with everything that it starts.
pub(super) fn start(command: &mut Command, title: &str) -> std::io::Result<Child> {
    command.env(MARK, mark(title)).spawn()
}

/// The mark of this test program, so that programs beside it are not ended.
fn mark(title: &str) -> String {
    format!("{}: {title}", std::process::id())
}

/// The end of a program.
pub(super) struct ProgramEnd {
    /// `None`: it hung, and was ended.
    pub(super) status: Option<ExitStatus>,
    pub(super) cpu_time: Duration,
}

/// Waits for the end of a program.
pub(super) fn wait(child: &mut Child, title: &str, limit: Duration) -> std::io::Result<ProgramEnd> {
    let mut cpu_time = Duration::ZERO;
    let status = end_within(child, limit, &mut cpu_time)?;
    if status.is_none() {
        end_all_of(title);
        child.kill()?;
        // A process that is stuck in the kernel is not waited for.
        end_within(child, DYING, &mut cpu_time)?;
    }
    Ok(ProgramEnd { status, cpu_time })
}

fn end_within(child: &mut Child, limit: Duration, cpu_time: &mut Duration) -> std::io::Result<Option<ExitStatus>> {
    let begun = Instant::now();
    while begun.elapsed() < limit {
        // The kernel forgets it with the process.
        *cpu_time = cpu_time::of(child.id()).unwrap_or(*cpu_time);
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        // A program that has run for long may be noticed a little later.
        std::thread::sleep((begun.elapsed() / 20).clamp(PAUSE, PAUSE_MAX));
    }
    Ok(None)
}

/// Ends the processes whose environment contains a program's mark.
fn end_all_of(title: &str) {
    let mark = format!("{MARK}={}\0", mark(title));
    for _ in 0..ROUNDS {
        let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let marked: Vec<String> = processes.filter_map(|process| number_of(&process, mark.as_bytes())).collect();
        if marked.is_empty() {
            return;
        }
        let _ = Command::new("kill").arg("-KILL").args(marked).status();
    }
}

/// The process number, if the process has the mark.
fn number_of(process: &DirEntry, mark: &[u8]) -> Option<String> {
    let name = process.file_name().into_string().ok()?;
    name.parse::<u32>().ok()?;
    let environment = std::fs::read(Path::new("/proc").join(&name).join("environ")).ok()?;
    environment.windows(mark.len()).any(|part| part == mark).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_hanging_program_started_ends_with_it() {
        let title = "hangs";
        let place = std::env::temp_dir().join(format!("fsdyno-hang-{}", std::process::id()));
        let worker = "setsid sh -c 'echo $$ > \"$0\"; exec sleep 600' \"$0\" & until [ -s \"$0\" ]; do :; done; wait";
        let mut child = start(Command::new("sh").args(["-c", worker]).arg(&place), title).unwrap();
        while std::fs::read(&place).unwrap_or_default().is_empty() {
            std::thread::sleep(PAUSE);
        }
        let number = std::fs::read_to_string(&place).unwrap();
        std::fs::remove_file(&place).unwrap();
        assert!(wait(&mut child, title, Duration::ZERO).unwrap().status.is_none(), "it was ended");
        let command = Path::new("/proc").join(number.trim()).join("cmdline");
        // An ended process has no command line until its parent has waited for it.
        let is_gone = || std::fs::read(&command).unwrap_or_default().is_empty();
        let begun = Instant::now();
        while !is_gone() && begun.elapsed() < DYING {
            std::thread::sleep(PAUSE);
        }
        assert!(is_gone(), "the worker goes on");
    }

    #[test]
    fn a_program_that_ends_has_its_status() {
        let mut child = start(Command::new("sh").args(["-c", "exit 3"]), "ends").unwrap();
        let end = wait(&mut child, "ends", Duration::from_secs(600)).unwrap();
        assert_eq!(end.status.and_then(|status| status.code()), Some(3));
    }
}
