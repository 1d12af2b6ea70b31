//! A second process.

use std::io;

use rustix::process::{Pid, Signal, WaitOptions};

use crate::process::{Ended, Side};

/// Divides this process in two. The new one ends with the old one.
pub fn divide() -> io::Result<Side> {
    if std::fs::read_dir("/proc/self/task")?.count() != 1 {
        return Err(io::Error::other("other threads are running"));
    }
    let parent = std::process::id();
    // SAFETY: this is the only thread, as was just seen and only this thread could change. So no lock is held by a
    // thread that the new process will not have, and everything may be done in it.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
            // It may have ended before the line above.
            let orphaned = rustix::process::getppid().is_none_or(|pid| pid.as_raw_nonzero().get() as u32 != parent);
            if orphaned { Err(io::Error::other("the first process has ended")) } else { Ok(Side::New) }
        }
        pid => Ok(Side::Old(pid as u32)),
    }
}

/// Waits until the process, a child of this one, has ended.
pub fn wait_for(child: u32) -> io::Result<Ended> {
    let pid = Pid::from_raw(child as i32).ok_or(io::ErrorKind::InvalidInput)?;
    loop {
        match rustix::process::waitpid(Some(pid), WaitOptions::empty()) {
            Err(rustix::io::Errno::INTR) | Ok(None) => {}
            Err(error) => return Err(error.into()),
            Ok(Some((_, status))) => {
                return Ok(status.terminating_signal().map_or_else(
                    || Ended::Status(status.exit_status().unwrap_or_default() as u8),
                    |signal| Ended::Signal(signal as u8),
                ));
            }
        }
    }
}

/// Sends a signal to a child of this process that has not been waited for.
pub fn signal(child: u32, signal: i32) -> io::Result<()> {
    let pid = Pid::from_raw(child as i32).ok_or(io::ErrorKind::InvalidInput)?;
    let signal = Signal::from_named_raw(signal).ok_or(io::ErrorKind::InvalidInput)?;
    Ok(rustix::process::kill_process(pid, signal)?)
}
