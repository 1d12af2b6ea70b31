//! Engines whose requests do other work than I/O: `cpuio` computes, `exec` runs a program.

use std::process::{Child, Command, Stdio};

use fsdyno_os::clock::Clock;
use fsdyno_os::process::{end_group, end_with_this_thread, lead_group, signal};

use crate::contract::FINISHED;

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
    pub(super) fn new(options: &fsdyno_job::Burn) -> Bursts {
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
    child: Option<Child>,
}

impl Running {
    pub(super) fn new(options: &fsdyno_job::Program) -> Running {
        Running { options: options.clone(), child: None }
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

    fn start(&self) -> std::io::Result<Child> {
        let mut command = Command::new(fsdyno_os::written::os_string(&self.options.name));
        command
            .args(self.options.arguments.split_ascii_whitespace().map(fsdyno_os::written::os_string))
            .stdin(Stdio::null());
        match &self.options.output {
            Some(name) => {
                let file = |ending: &str| std::fs::File::create(fsdyno_os::written::path(&format!("{name}.{ending}")));
                command.stdout(file("stdout")?).stderr(file("stderr")?);
            }
            // Output goes to stderr, so that a report on stdout stays whole.
            None => drop(command.stdout(std::io::stderr())),
        }
        // The program gets a process group of its own: Ctrl-C ends the run, which ends the program.
        lead_group(&mut command);
        end_with_this_thread(&mut command);
        command.spawn()
    }
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
