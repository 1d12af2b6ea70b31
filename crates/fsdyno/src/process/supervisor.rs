//! Runs two processes: one does the work, and the one that was called waits for it. A thread that is stuck in the
//! kernel keeps its process from ending, whatever is done; the process that was called can still end.

use std::io::{PipeReader, PipeWriter, Write};
use std::sync::Mutex;
use std::time::Duration;

use fsdyno_os::process::{Ended, ForkSide, close_standard_streams, closes_within, divide, end_with_parent, wait_for};

use super::left_behind::{self, PipeReport};
use super::status::BY_SIGNAL;
use super::streams::{clear_line_of_other, print_stderr, print_stderr_fitted};

/// A working process that has reported its status counts as stuck if it is still there after this time.
const END_WAIT: Duration = Duration::from_secs(2);

/// SIGKILL, SIGBUS and SIGABRT.
const KILL: u8 = 9;
const BUS: u8 = 7;
const ABORT: u8 = 6;

/// The status if it is not known how the work ended.
const LOST: u8 = 1;

/// The status of a process whose parent was killed before it could begin; nobody reads it.
pub(crate) const ORPHANED: u8 = 1;

/// The pipe through which the working process reports its exit status; `None`: no process waits for it.
static STATUS_WRITER: Mutex<Option<PipeWriter>> = Mutex::new(None);

/// Does the work in a separate process; returns its exit status. `work` is called before any thread is started.
pub(crate) fn supervised(work: impl FnOnce() -> u8) -> u8 {
    if status_writer().is_some() {
        // A rank of a run on many nodes: its agent already waits for this process.
        let status = work();
        report_end(status);
        return status;
    }
    match divide() {
        Ok(ForkSide::New { writer }) => {
            if !end_with_parent(&writer) {
                // The caller is gone, so that nobody could end the work.
                return ORPHANED;
            }
            *status_writer() = Some(writer);
            left_behind::tell_of_directories();
            let status = work();
            report_end(status);
            status
        }
        Ok(ForkSide::Old { child, held, reader }) => {
            let relay = fsdyno_run::SignalRelay::begin(child);
            drop(held);
            if let Err(error) = &relay {
                print_stderr(&format!("note: cannot handle signals: {error}; process {child} does the work"));
            }
            let (status, left) = wait(child, reader);
            drop(relay);
            left_behind::remove(&left);
            status
        }
        Err(error) => {
            print_stderr(&format!(
                "note: cannot start a second process: {error}; if the storage never responds, this one \
                               cannot end"
            ));
            work()
        }
    }
}

/// Ends the process from another thread while the working one is stuck in the kernel; the waiting process gets
/// `status`.
#[expect(clippy::exit, clippy::disallowed_methods, reason = "the thread that would return from main is stuck")]
pub(crate) fn abandon(status: u8) -> ! {
    report_end(status);
    std::process::exit(status.into())
}

pub(crate) fn status_writer() -> std::sync::MutexGuard<'static, Option<PipeWriter>> {
    STATUS_WRITER.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Reports the exit status and closes the standard streams, so that readers see the end of the output even if the
/// process cannot end.
fn report_end(status: u8) {
    let Some(mut writer) = status_writer().take() else { return };
    let _ = std::io::stdout().flush();
    crate::nodes::leave();
    close_standard_streams();
    // The write fails if nobody waits.
    let _ = writer.write_all(&left_behind::status_message(status));
    // The kernel closes it with the last thread.
    std::mem::forget(writer);
}

/// Waits for the working process; returns its status, and what it has left.
pub(crate) fn wait(child: u32, mut reader: PipeReader) -> (u8, PipeReport) {
    let told = left_behind::hear(&mut reader);
    if let Some(status) = told.status.filter(|_| !closes_within(&reader, END_WAIT)) {
        print_stderr(&format!(
            "note: process {child} is stuck in the kernel and keeps running; it ends when the storage responds"
        ));
        // The stuck process still uses its directories: they are not removed here.
        return (status, PipeReport::default());
    }
    (ended(child, told.status), told)
}

fn ended(child: u32, told: Option<u8>) -> u8 {
    match wait_for(child) {
        Ok(Ended::Status(status)) => status,
        Ok(Ended::Signal(signal)) => {
            let why = match signal {
                KILL => " (by a user, or by the kernel when memory ran out)",
                BUS => " (a mapped file or the program itself could not be read: its storage failed)",
                ABORT => " (out of memory, or an internal error; see above)",
                _ => "",
            };
            clear_line_of_other();
            let what = format!("the run was ended by signal {signal}{why}; only data that were saved before are kept");
            print_stderr_fitted(&format!("fsdyno: {what}"), 2);
            BY_SIGNAL.saturating_add(signal)
        }
        Err(_) => told.unwrap_or(LOST),
    }
}
