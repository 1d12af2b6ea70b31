//! Processes: the second process, its end with its parent, commands in groups of their own, and limits of this
//! process.

use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Resource, Rlimit, Signal, WaitOptions, getrlimit, setrlimit};

use super::held_signals::HeldSignals;
pub use super::program::release_program_pages;
use crate::files::Directory;
use crate::process::{Ended, ForkSide};

/// Forks this process. The child must call [`end_with_parent`].
pub fn divide() -> io::Result<ForkSide> {
    let (reader, writer) = io::pipe()?;
    if std::fs::read_dir("/proc/self/task")?.count() != 1 {
        return Err(io::Error::other("other threads are running"));
    }
    let held = HeldSignals::begin();
    // SAFETY: this is the only thread; this was checked just before, and only this thread could change it. So no lock
    // is held by a thread that the new process will not have, and everything may be done in it.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(ForkSide::New { writer }),
        pid => Ok(ForkSide::Old { child: pid as u32, held, reader }),
    }
}

/// Does work in a separate process and waits for it at most `patience`. Storage that does not answer prevents the end
/// of that process, but not of this one.
pub fn apart(work: impl FnOnce(), patience: Duration) -> io::Result<()> {
    // Threads that were told to end need a moment.
    const MOMENT: Duration = Duration::from_millis(20);
    const MOMENTS: u32 = 100;
    let alone = || std::fs::read_dir("/proc/self/task").is_ok_and(|tasks| tasks.count() == 1);
    let _ = (0..MOMENTS).find(|_| {
        alone() || {
            super::clock::sleep(MOMENT);
            false
        }
    });
    match divide()? {
        ForkSide::New { writer } => {
            if end_with_parent(&writer) {
                work();
            }
            // SAFETY: the call takes a number and does not return; nothing of this process runs after it.
            unsafe { libc::_exit(0) }
        }
        ForkSide::Old { child, held, reader } => {
            drop(held);
            if closes_within(&reader, patience) {
                wait_for(child)?;
            }
            Ok(())
        }
    }
}

/// Checks for what this program needs: without it, the standard library would end the program without a sentence.
/// `stack_bytes`: the stack of this thread.
///
/// # Errors
/// The sentence.
pub fn check_needs(stack_bytes: u64) -> Result<(), &'static str> {
    if !ask_for_stack(stack_bytes) {
        return Err(
            "the limit of the stack is too low, and may not be raised: set it to 1 MiB or more (ulimit -s 1024)",
        );
    }
    if !has_random_numbers() {
        return Err(
            "the system gives no random numbers: allow the system call getrandom, or with EPERM and ENOSYS the \
                    file /dev/urandom",
        );
    }
    Ok(())
}

/// Whether the stack of this thread may grow to `bytes`; a lower limit is raised.
fn ask_for_stack(bytes: u64) -> bool {
    let limit = getrlimit(Resource::Stack);
    limit.current.is_none_or(|current| current >= bytes) || {
        let maximum = limit.maximum.map(|maximum| maximum.max(bytes));
        setrlimit(Resource::Stack, Rlimit { current: Some(bytes), maximum }).is_ok()
    }
}

/// The standard library needs random numbers for a hash table, and panics if it gets none.
fn has_random_numbers() -> bool {
    let mut byte = [0u8];
    loop {
        // SAFETY: the call fills the one byte that it is given.
        if unsafe { libc::getrandom(byte.as_mut_ptr().cast(), byte.len(), 0) } == 1 {
            return true;
        }
        match io::Error::last_os_error().raw_os_error() {
            Some(libc::EINTR) => {}
            Some(libc::EPERM | libc::ENOSYS) => return std::fs::File::open("/dev/urandom").is_ok(),
            _ => return false,
        }
    }
}

/// Makes this process end with its parent. False: the parent has already ended. `to_parent` is a pipe that only the
/// parent reads: the kernel closes it before it signals the children, so that one of the two is always seen. (The
/// parent's number has no meaning if the two are in different namespaces.)
pub fn end_with_parent(to_parent: &std::io::PipeWriter) -> bool {
    // The call is never refused for a valid signal.
    let _ = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
    is_read(to_parent)
}

/// The same, with time for an orderly end: it gets SIGTERM, and leads a process group of its own, so that a kill of
/// the parent's group does not reach it.
pub fn hear_end_of_parent(to_parent: &std::io::PipeWriter) -> bool {
    // It does not lead a group or session, because it was just forked, so that neither call is refused.
    let _ = rustix::process::setpgid(None, None);
    let _ = rustix::process::set_parent_process_death_signal(Some(Signal::TERM));
    is_read(to_parent)
}

fn is_read(pipe: &std::io::PipeWriter) -> bool {
    let mut ends = [PollFd::new(pipe, PollFlags::OUT)];
    let seen = poll(&mut ends, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }));
    seen.is_err() || !ends[0].revents().contains(PollFlags::ERR)
}

/// Makes a command that will be started end with the thread that starts it, also if that thread is killed.
pub fn end_with_this_thread(command: &mut std::process::Command) {
    let bind = || Ok(rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?);
    // SAFETY: between fork and exec only this one system call is made: no lock is taken and nothing allocated.
    unsafe { std::os::unix::process::CommandExt::pre_exec(command, bind) };
}

/// Makes a command begin in an open directory. It uses the descriptor, which the child has until it becomes the
/// command, because another directory may have the path by now.
pub fn begin_in(command: &mut std::process::Command, directory: &Directory) {
    command.current_dir(format!("/proc/self/fd/{}", directory.as_fd().as_raw_fd()));
}

/// Makes a command lead a process group of its own: then this program passes Ctrl-C on.
pub fn lead_group(command: &mut std::process::Command) {
    std::os::unix::process::CommandExt::process_group(command, 0);
}

/// Ends a command that leads a group, with the whole group, and waits only for the command.
pub fn end_group(child: &mut std::process::Child) -> io::Result<()> {
    if let Some(pid) = Pid::from_raw(child.id() as i32) {
        rustix::process::kill_process_group(pid, Signal::KILL)?;
    }
    child.wait().map(drop)
}

/// Waits until this child process has ended.
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

/// The signal that ended a program.
pub fn ended_by_signal(status: std::process::ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

/// Whether the other end of a pipe closes within this time: the kernel closes it when the last thread has ended.
pub fn closes_within(pipe: &io::PipeReader, time: Duration) -> bool {
    let timeout = Timespec { tv_sec: time.as_secs() as i64, tv_nsec: time.subsec_nanos().into() };
    let mut ends = [PollFd::new(pipe, PollFlags::IN)];
    poll(&mut ends, Some(&timeout)).is_ok_and(|count| count > 0)
}

/// Replaces stdin, stdout and stderr by /dev/null: their readers see the end even if this process cannot end.
pub fn close_standard_streams() {
    let Ok(nothing) = std::fs::File::options().read(true).write(true).open("/dev/null") else { return };
    // A stream that cannot be closed stays open: only a reader of a stuck process would notice.
    let _ = rustix::stdio::dup2_stdin(&nothing);
    let _ = rustix::stdio::dup2_stdout(&nothing);
    let _ = rustix::stdio::dup2_stderr(&nothing);
}

/// Writes a last sentence to stderr and ends the process, whatever its threads do. It does not allocate.
pub(crate) fn end_at_once(sentence: &[u8], status: u8) -> ! {
    // A failure cannot be reported to anybody.
    let _ = rustix::io::write(rustix::stdio::stderr(), sentence);
    // SAFETY: the call takes a number and does not return; nothing of the process runs after it.
    unsafe { libc::_exit(status.into()) }
}

/// Sends a signal to a child of this process that has not been waited for.
pub fn signal(child: u32, signal: i32) -> io::Result<()> {
    let pid = Pid::from_raw(child as i32).ok_or(io::ErrorKind::InvalidInput)?;
    let signal = Signal::from_named_raw(signal).ok_or(io::ErrorKind::InvalidInput)?;
    Ok(rustix::process::kill_process(pid, signal)?)
}

/// Whether this process was started with the signal ignored, as `nohup` does with SIGHUP.
pub(crate) fn ignores(signal: i32) -> bool {
    let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: no new action is given, so nothing changes; the old one is written to a place that is large enough, and
    // of a structure for which all zeroes is a value, should the call fail.
    let action = unsafe {
        libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr());
        action.assume_init()
    };
    action.sa_sigaction == libc::SIG_IGN
}

/// Makes SIGXCPU arrive while there is still CPU time for a report. If the soft limit equals the hard one, as after
/// `ulimit -t`, the kernel kills without a warning.
pub(crate) fn warn_before_processor_limit() {
    let limit = getrlimit(Resource::Cpu);
    let Some(hard_s) = limit.maximum else { return };
    let processors = std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
    let soft_s = warning_s(hard_s, processors);
    if limit.current.is_none_or(|current_s| current_s > soft_s) {
        // A limit may always be lowered; if it fails, the run ends as it would without the warning.
        let _ = setrlimit(Resource::Cpu, Rlimit { current: Some(soft_s), maximum: limit.maximum });
    }
}

/// Raises the limit of open files to the hard limit. Programs that this process starts inherit it.
pub fn raise_open_files() -> io::Result<()> {
    let limit = getrlimit(Resource::Nofile);
    Ok(setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit })?)
}

/// When the warning comes, s: two seconds of all processors before the end, but not before half of the time.
fn warning_s(hard_s: u64, processors: u64) -> u64 {
    hard_s - (2 * processors).min(hard_s / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_is_ignored_only_if_someone_said_so() {
        assert!(!ignores(libc::SIGTERM));
        // The standard library ignores this signal from the start.
        assert!(ignores(libc::SIGPIPE));
        assert!(!ignores(-1), "there is no such signal");
    }

    #[test]
    fn the_warning_comes_before_the_end() {
        assert_eq!(warning_s(100, 2), 96);
        assert_eq!(warning_s(100, 128), 50);
        assert_eq!(warning_s(3, 2), 2);
        assert_eq!(warning_s(1, 2), 1, "there is no room");
    }
}
