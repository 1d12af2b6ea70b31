//! Runs the published shell loops: in the files' directory, or without storage to measure what the shell and its
//! processes cost. Bash runs them unchanged; on Windows cmd runs loops of the same effect.

use std::io::Read;
use std::process::{Child, ChildStderr, Stdio};
use std::thread::JoinHandle;

use fsdyno_os::clock::{Clock, RealClock};
use fsdyno_os::errno;
use fsdyno_os::files::{Directory, EntryKind};
use fsdyno_os::process::{begin_in, end_group, end_with_this_thread, lead_group};
use fsdyno_results::{JobError, Latency, PhaseRecord};
use fsdyno_run::Control;

use crate::Problem;
use crate::work_directory::reason;

#[cfg(not(windows))]
mod bash;
#[cfg(windows)]
mod cmd;
#[cfg(not(windows))]
use bash as system;
#[cfg(windows)]
use cmd as system;

pub(super) use system::{IS_PUBLISHED, OWN_COST, READ_LOOP, TITLES, WRITE_LOOP, words};

/// Number of files of the loops.
pub(super) const FILES: u32 = 1001;

/// Bytes of each file by the rule.
pub(super) const SIZE_BYTES: u64 = 5;

/// Stack of the thread that reads the shell's stderr, bytes.
const STACK_BYTES: usize = 64 * 1024;

/// Interval at which the shell's end is checked, ns.
const LOOK_NS: u64 = 20_000_000;

/// Time that a loop has to end after it was told to, ns.
const FAREWELL_NS: u64 = 2_000_000_000;

/// The result of a loop.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct LoopResult {
    /// Wall-clock time, ns.
    pub(super) elapsed_ns: u64,
    /// CPU time of the shell and its processes, ns.
    pub(super) cpu_ns: u64,
    /// Lines of stderr: one per iteration that failed.
    pub(super) complaints: Vec<String>,
}

/// The time of the loops without storage, ns: writing, and reading.
pub(super) fn cost_ns(control: &Control) -> Result<[u64; 2], Problem> {
    let cost = |(script, iterations): (&str, u32)| {
        let looped = run(script, None, control)?;
        Ok(looped.elapsed_ns * u64::from(FILES) / u64::from(iterations))
    };
    Ok([cost(system::EMPTY_WRITE)?, cost(system::EMPTY_READ)?])
}

/// Runs a loop in a directory, or without one where the loop needs no files.
///
/// # Errors
/// When there is no such shell, or the loop was stopped.
pub(super) fn run(script: &str, directory: Option<&Directory>, control: &Control) -> Result<LoopResult, Problem> {
    let mut shell = system::command(script);
    shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    match directory {
        Some(held) => {
            system::check(held)?;
            begin_in(&mut shell, held);
        }
        None => drop(shell.current_dir("/")),
    }
    // Ctrl-C must end the whole loop, not a single cat.
    lead_group(&mut shell);
    // If this process is killed, the loop must not go on writing into a directory that `clean` removes.
    end_with_this_thread(&mut shell);
    let mut child = shell.spawn().map_err(|error| {
        Problem::new(format!("cannot run {}: {}", system::NAME, reason(&error))).with_next(system::NEXT)
    })?;
    let complaints = match child.stderr.take().map(listen).transpose() {
        Ok(complaints) => complaints,
        Err(error) => {
            // The loop has hardly begun; the caller reports the missing reader, and a failure to end the loop adds
            // nothing.
            let _ = end_group(&mut child);
            return Err(Problem::new(format!(
                "cannot start a thread that reads what {} says: {}",
                system::NAME,
                reason(&error)
            )));
        }
    };
    let ended = wait(&mut child, control);
    match ended {
        Ok(true) => {
            let complaints = complaints.and_then(|thread| thread.join().ok()).unwrap_or_default();
            system::measured(&complaints, &child)
        }
        // The shell may be stuck in the kernel: its stderr is not waited for.
        Ok(false) => Err(Problem::new("the shell loop was stopped")),
        Err(error) => Err(Problem::new(format!("cannot wait for {}: {}", system::NAME, reason(&error)))),
    }
}

/// Reads stderr to its end on a thread, so that the shell never blocks on the pipe.
fn listen(mut stderr: ChildStderr) -> std::io::Result<JoinHandle<String>> {
    fsdyno_os::thread::begin("complaints", STACK_BYTES, move || {
        let mut bytes = Vec::new();
        // After a read error the text read so far is used.
        let _ = stderr.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// Waits for the shell; returns whether it ended by itself.
fn wait(child: &mut Child, control: &Control) -> std::io::Result<bool> {
    let clock = RealClock::shared();
    loop {
        if child.try_wait()?.is_some() {
            return Ok(true);
        }
        if control.stopped() {
            child.kill()?;
            let end_ns = clock.now_ns() + FAREWELL_NS;
            while child.try_wait()?.is_none() && clock.now_ns() < end_ns {
                clock.sleep_until_ns(clock.now_ns() + LOOK_NS);
            }
            return Ok(false);
        }
        clock.sleep_until_ns(clock.now_ns() + LOOK_NS);
    }
}

/// A loop as the record of a phase, with the number of failures.
pub(super) fn record(name: &str, looped: LoopResult, failures: u32, cache: Option<&str>) -> PhaseRecord {
    let failed = failures.max(u32::try_from(looped.complaints.len()).unwrap_or(FILES)).min(FILES);
    let done = u64::from(FILES - failed);
    let text = looped.complaints.first().cloned();
    let error = (failed > 0).then(|| JobError {
        code: errno::EIO,
        function: system::NAME.to_string(),
        text: text.unwrap_or_else(|| format!("{failed} files are missing or have the wrong size")),
    });
    PhaseRecord {
        name: name.to_string(),
        operations: done,
        failures: u64::from(failed),
        error,
        threads: 1,
        bytes: Some(done * system::FILE_BYTES),
        elapsed_ns: looped.elapsed_ns,
        cpu_ns: looped.cpu_ns,
        latency: Latency::default(),
        cache: cache.map(str::to_string),
        conditions: None,
    }
}

/// The number of the loop's files in a directory that are missing or have the wrong size.
pub(super) fn missing(directory: &Directory) -> u32 {
    let right = |index: u32| {
        let entry = directory.look(format!("test{index}.txt").as_ref());
        entry.is_ok_and(|entry| entry.kind == EntryKind::Regular && entry.size_bytes == system::FILE_BYTES)
    };
    (0..FILES).map(|index| u32::from(!right(index))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loops_write_and_read_the_published_files() {
        let place = tempfile::tempdir().unwrap();
        let (control, held) = (Control::default(), Directory::open(place.path()).unwrap());
        let wrote = run(WRITE_LOOP, Some(&held), &control).unwrap();
        assert!(wrote.complaints.is_empty(), "{wrote:?}");
        assert_eq!(missing(&held), 0);
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 1001);
        std::fs::remove_file(place.path().join("test7.txt")).unwrap();
        let read = run(READ_LOOP, Some(&held), &control).unwrap();
        assert_eq!(read.complaints.len(), 1, "{read:?}");
        let record = record("shell-read", read, 0, None);
        assert_eq!((record.operations, record.failures), (1000, 1));
        assert!(record.error.unwrap().text.contains("test7.txt"));
    }

    #[test]
    fn a_stopped_study_ends_the_loop() {
        let control = Control::default();
        control.stop();
        let error = run(system::ENDLESS, None, &control).unwrap_err();
        assert!(error.what.contains("stopped"), "{error}");
    }
}
