//! Engines whose requests do other work than I/O: `cpuio` computes, `exec` runs a program.

use std::fs::File;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use fsdyno_job::EngineName;
use fsdyno_os::clock::Clock;
use fsdyno_os::process::{end_group, end_with_this_thread, lead_group, signal};

use crate::contract::FINISHED;
use crate::setup::EngineSetupError;

/// Time between two checks of a program, ns.
const LOOK_NS: u64 = 50_000_000;

/// The same after the program was asked to end, ns.
const END_LOOK_NS: u64 = 5_000_000;

/// Count of numbers that are sorted: 1 MiB.
const NUMBERS: usize = 1 << 18;

/// The bursts of `cpuio`.
#[derive(Debug)]
pub(super) struct Bursts {
    length_ns: u64,
    /// The numbers to sort; empty: bursts spin.
    numbers: Box<[u32]>,
}

impl Bursts {
    pub(super) fn new(options: &fsdyno_job::CpuioOptions) -> Bursts {
        let numbers = vec![1; if options.sorts { NUMBERS } else { 0 }].into_boxed_slice();
        Bursts { length_ns: u64::from(options.burst_us) * 1000, numbers }
    }

    /// Does one burst. The pause after it is the worker's think time.
    pub(super) fn burn(&mut self, clock: &impl Clock) -> i64 {
        let end_ns = clock.now_ns().saturating_add(self.length_ns);
        if self.numbers.is_empty() {
            clock.spin_until_ns(end_ns);
        }
        while clock.now_ns() < end_ns {
            shuffle(&mut self.numbers);
            sort_until(&mut self.numbers, || clock.now_ns() >= end_ns);
        }
        0
    }
}

/// Changes the numbers, so that they are unsorted again.
fn shuffle(numbers: &mut [u32]) {
    let mut state = numbers[0] | 1;
    for number in numbers {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        *number = state;
    }
}

/// Sorts by insertion over shrinking distances (Shell sort), and stops when `over` says that the time is over.
fn sort_until(numbers: &mut [u32], over: impl Fn() -> bool) {
    let mut distance = numbers.len() / 2;
    while distance > 0 && !over() {
        for index in distance..numbers.len() {
            let number = numbers[index];
            let mut place = index;
            while place >= distance && numbers[place - distance] > number {
                numbers[place] = numbers[place - distance];
                place -= distance;
            }
            numbers[place] = number;
        }
        distance = if distance > 2 { distance * 5 / 11 } else { distance - 1 };
    }
}

/// The program of `exec`. At the end of its job it gets SIGTERM, and after a time SIGKILL.
#[derive(Debug)]
pub(super) struct Running {
    options: fsdyno_job::Program,
    /// What it prints, until it is started.
    output: Option<[File; 2]>,
    child: Option<Child>,
}

impl Running {
    pub(super) fn new(options: &fsdyno_job::Program) -> Result<Running, EngineSetupError> {
        let output = match &options.output {
            Some(name) => Some([output(name, "stdout")?, output(name, "stderr")?]),
            None => None,
        };
        Ok(Running { options: options.clone(), output, child: None })
    }

    /// Starts the program, or waits some time and checks whether it has ended.
    pub(super) fn look(&mut self, clock: &impl Clock) -> i64 {
        let failed = |error: std::io::Error| -i64::from(error.raw_os_error().unwrap_or(libc::EIO));
        let Some(child) = &mut self.child else {
            return self.start().map_or_else(failed, |child| {
                self.child = Some(child);
                0
            });
        };
        clock.sleep_until_ns(clock.now_ns() + LOOK_NS);
        match child.try_wait() {
            Ok(None) => 0,
            Ok(Some(status)) if status.success() => FINISHED,
            Ok(Some(_)) => -i64::from(libc::EIO),
            Err(error) => failed(error),
        }
    }

    fn start(&mut self) -> std::io::Result<Child> {
        let mut command = Command::new(fsdyno_os::written::os_string(&self.options.name));
        command
            .args(self.options.arguments.split_ascii_whitespace().map(fsdyno_os::written::os_string))
            .stdin(Stdio::null());
        match self.output.take() {
            Some([output, errors]) => drop(command.stdout(output).stderr(errors)),
            // Output goes to stderr, so that a report on stdout stays whole.
            None => drop(command.stdout(std::io::stderr())),
        }
        // The program gets a process group of its own: Ctrl-C ends the run, which ends the program.
        lead_group(&mut command);
        end_with_this_thread(&mut command);
        command.spawn()
    }
}

/// An empty file for what the program prints. In a directory of several users a name may be there already, as a link to a
/// file that is not to be emptied.
fn output(name: &str, ending: &str) -> Result<File, EngineSetupError> {
    let name = format!("{name}.{ending}");
    open_output(&fsdyno_os::written::path(&name)).map_err(|error| EngineSetupError::Refused {
        engine: EngineName::Exec,
        call: "open",
        code: error.raw_os_error().unwrap_or(libc::EPERM),
        advice: format!(
            "{name} is not a plain file of this user that could be emptied: remove what has that name, run in another \
             directory, or give std_redirect=0"
        ),
    })
}

fn open_output(path: &Path) -> std::io::Result<File> {
    let mut options = File::options();
    let file =
        options.write(true).create(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).mode(0o644).open(path)?;
    let found = file.metadata()?;
    let is_own = found.is_file() && found.nlink() == 1 && found.uid() == rustix::process::geteuid().as_raw();
    if !is_own {
        return Err(std::io::ErrorKind::PermissionDenied.into());
    }
    file.set_len(0)?;
    Ok(file)
}

impl Drop for Running {
    fn drop(&mut self) {
        let Some(child) = &mut self.child else { return };
        let ended = |child: &mut Child| !matches!(child.try_wait(), Ok(None));
        if ended(child) {
            return;
        }
        // If the program cannot be asked to end, it is ended below.
        let _ = signal(child.id(), libc::SIGTERM);
        let clock = fsdyno_os::clock::RealClock::shared();
        let until_ns = clock.now_ns() + u64::from(self.options.grace_s) * 1_000_000_000;
        while !ended(child) && clock.now_ns() < until_ns {
            clock.sleep_until_ns(clock.now_ns() + END_LOOK_NS);
        }
        // Also ends the children of the program. An error cannot be reported here.
        let _ = end_group(child);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_file_of_this_user_is_emptied() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        let precious = at("precious");
        let fails = |name: &str| open_output(&at(name)).is_err() && std::fs::read(&precious).unwrap() == b"content";
        std::fs::write(&precious, "content").unwrap();
        std::os::unix::fs::symlink(&precious, at("link")).unwrap();
        std::os::unix::fs::symlink(at("nowhere"), at("dangling")).unwrap();
        std::fs::hard_link(&precious, at("second")).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, at("pipe"), rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        std::fs::create_dir(at("directory")).unwrap();
        for name in ["link", "dangling", "second", "pipe", "directory"] {
            assert!(fails(name), "{name}");
        }
        assert!(!at("nowhere").exists());
        std::fs::write(at("own"), "old").unwrap();
        for name in ["own", "new"] {
            drop(open_output(&at(name)).unwrap());
            assert_eq!(std::fs::read(at(name)).unwrap(), b"", "{name}");
        }
    }

    #[test]
    fn numbers_are_sorted_unless_the_time_is_over() {
        let mut numbers = vec![7; 1000];
        shuffle(&mut numbers);
        let mut expected = numbers.clone();
        sort_until(&mut numbers, || true);
        assert_eq!(numbers, expected, "nothing is done");
        expected.sort_unstable();
        assert_ne!(numbers, expected);
        sort_until(&mut numbers, || false);
        assert_eq!(numbers, expected);
    }
}
